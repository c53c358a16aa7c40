"""Mesh files of a robot, searched beside it and in its package, and read by trimesh."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from cbsim.errors import FileError, Problems, did_you_mean
from cbsim.formats.triangles import MeshData, parse_triangles
from cbsim.formats.values import quote
from cbsim.paths import Files
from cbsim.spec.urdf import Collision, Geometry, Robot, Visual

__all__ = ["candidates", "read_meshes"]

URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?://([^/]*))?/?(.*)", re.DOTALL)  # a drive's letter is not a scheme
PARENTS = 8  # folders above the file in which a package is looked for


def candidates(filename: str, folder: Path) -> Iterator[Path]:
    """List where a mesh may be.

    Parameters
    ----------
    filename : str
        As the file has it: relative to it, absolute, ``file://…``, or ``package://NAME/…`` (also ``model://``), whose
        package is a folder of that name above the file or beside a folder above it; or it lies in the folder itself.
    folder : Path
        Of the file.
    """
    plain = filename.replace("\\", "/")  # as files from Windows have it
    url = URL.match(plain)
    if url is None:
        yield folder / plain
        return
    scheme, package, rest = url[1].lower(), unquote(url[2] or ""), unquote(url[3])
    if scheme in ("package", "model"):
        inside = PurePosixPath(rest.lstrip("/"))
        near = [folder, *folder.absolute().parents][:PARENTS]
        yield from (above / inside for above in near if above.name == package)
        yield from (above / package / inside for above in near)
        yield from (above / inside for above in near)
    elif scheme == "file":
        yield Path(f"{'' if package in ('', 'localhost') else package}/{rest}")


def read_meshes(
    robot: Robot, folder: Path, files: Files, problems: Problems, *, strict: bool = False
) -> dict[str, MeshData]:
    """Read the meshes that a robot names, each once.

    Parameters
    ----------
    robot : Robot
    folder : Path
        Of its file.
    files : Files
        Readable files.
    problems : Problems
        Gets a warning for each that cannot be had: W920 for looks, W921 for collision geometry.
    strict : bool
        The latter are errors (E921).

    Returns
    -------
    dict
        File name as the robot has it → vertices (n, 3) [m] and triangles (m, 3).
    """
    found: dict[str, MeshData | None] = {}
    looks: list[Visual | Collision] = []
    for link in robot.links:
        looks += [*link.visuals, *link.collisions]
    for look in looks:
        geometry = look.geometry
        if geometry.kind != "mesh" or geometry.filename in found:
            continue
        reason, data = _read(geometry, folder, files)
        found[geometry.filename] = data
        if reason:
            _tell(look, reason, problems, strict=strict)
    return {name: data for name, data in found.items() if data is not None}


def _tell(look: Visual | Collision, reason: str, problems: Problems, *, strict: bool) -> None:
    text = f"mesh {quote(look.geometry.filename)} {reason}"
    if isinstance(look, Visual):
        problems.warning("W920", f"{text}; it is not drawn", look.geometry.location)
    elif strict:
        problems.error("E921", f"{text}; nothing would touch it", look.geometry.location)
    else:
        problems.warning("W921", f"{text}; nothing touches it", look.geometry.location)


def _read(geometry: Geometry, folder: Path, files: Files) -> tuple[str, MeshData | None]:
    """Read a mesh: what is wrong with it, or nothing, and its data."""
    places = list(candidates(geometry.filename, folder))
    path = next((place for place in places if files.exists(place)), None)
    if path is None:
        if not places:
            return "is no file of this machine", None
        outside = not any(map(files.allows, places))
        return "is outside the folders that may be read" if outside else f"is not there{_alike(places, files)}", None
    try:
        return parse_triangles(files.read(path, asked_at=geometry.location), path.suffix.lower().lstrip("."))
    except FileError as error:
        return f"cannot be read: {error.problems.errors[0].message}", None


def _alike(places: Iterable[Path], files: Files) -> str:
    """Suggest a file that lies where one of the places is, and is called nearly so, if only in other cases."""
    for place in places:
        names = _names_beside(place) if files.allows(place) else []
        same = [name for name in names if name.lower() == place.name.lower()]
        hint = f"did you mean '{same[0]}'?" if same else did_you_mean(place.name, names)
        if hint:
            return f" ({hint})"
    return ""


def _names_beside(place: Path) -> list[str]:
    try:
        return sorted(other.name for other in place.parent.iterdir())
    except (OSError, ValueError):  # no such folder, or no name that a folder can have
        return []
