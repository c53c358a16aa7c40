"""Mesh files of a Shift model, searched in its folder and the folders that it includes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from cbsim.errors import FileError, Location, Problems
from cbsim.formats.triangles import MeshData, parse_triangles
from cbsim.formats.values import quote
from cbsim.models.shift.network import Network
from cbsim.paths import Files
from cbsim.spec.shift.model import Geometry, ShiftModel

__all__ = ["find", "read_meshes"]


def find(name: str, model: ShiftModel, folder: Path, files: Files) -> tuple[Path | None, str]:
    """Find a file that a model names: its path, or an error message.

    The search path is the model's folder and those that it lists. Real files list folders relative to their parent
    folder too, so a listed folder also matches by its last name if that is the model's folder.
    """
    places = list(_places(name, model, folder))
    found = next((place for place in places if files.exists(place)), None)
    if found is not None:
        return found, ""
    inside = [place for place in places if files.allows(place)]
    return None, "is not there" if inside else "is outside the folders that may be read"


def _places(name: str, model: ShiftModel, folder: Path) -> Iterator[Path]:
    given = PurePosixPath(name.replace("\\", "/").removeprefix(":/"))
    yield folder / given
    for include in model.folders:
        yield folder / include / given
    for include in model.folders:
        yield folder.parent / include / given


def read_meshes(
    model: ShiftModel, network: Network, folder: Path, files: Files, problems: Problems, *, strict: bool
) -> dict[str, MeshData]:
    """Read the meshes of all bodies, each once; one warning for all that cannot be read.

    Parameters
    ----------
    problems : Problems
        Collects W992 for missing meshes, or E992 if ``strict``.

    Returns
    -------
    dict
        File name → vertices (n, 3) in the file's length, and triangles (m, 3).
    """
    found: dict[str, MeshData] = {}
    missing: list[tuple[str, str, Location]] = []
    told: set[str] = set()
    for geometry in _geometries(network):
        name = geometry.filename
        if name in found or name in told:
            continue
        path, reason = find(name, model, folder, files)
        data = None
        if path is not None:
            reason, data = _read(path, geometry.location, files)
        if data is None:
            told.add(name)
            missing.append((name, reason, geometry.location))
        else:
            found[name] = data
    if missing:
        name, reason, place = missing[0]
        more = f", and {len(missing) - 1} more like it" if len(missing) > 1 else ""
        tell = problems.error if strict else problems.warning
        tell("E992" if strict else "W992", f"mesh {quote(name)} {reason}{more}; not drawn", place)
    return found


def _geometries(network: Network) -> Iterable[Geometry]:
    return (geometry for link in network.links for geometry in link.body.geometry)


def _read(path: Path, place: Location, files: Files) -> tuple[str, MeshData | None]:
    try:
        return parse_triangles(files.read(path, asked_at=place), path.suffix.lower().lstrip("."))
    except FileError as error:
        return f"cannot be read: {error.problems.errors[0].message}", None
