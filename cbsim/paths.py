"""Where files are found and which may be read: shipped data, ``$CBCONF``, and the allowed folders.

Every read of a user's file goes through `Files`, which refuses anything outside its folders, bounds the size, and
remembers the bytes, so that a recording can carry them and a replay can read them back from `StoredFiles`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from cbsim.errors import FileError, Location, Problem, Severity, did_you_mean

__all__ = ["SIZE_LIMIT", "Files", "StoredFiles", "data_folder", "find_shipped", "sensor_folders", "shipped_names"]

SIZE_LIMIT = 256 * 2**20  # [bytes] the largest file that any reader accepts

PACKAGE = Path(__file__).resolve().parent
DATA = ("rndf", "scenarios", "sensors")
SHIPPED = "shipped:"
VARIABLES = ("CBCONF", "CBBOTNAME")


def data_folder(kind: str) -> Path:
    """Locate shipped data: inside an installed wheel, else beside the source tree.

    Parameters
    ----------
    kind : str
        ``rndf``, ``scenarios`` or ``sensors``.
    """
    installed = PACKAGE / "_data" / kind
    return installed if installed.is_dir() else PACKAGE.parent / kind


def stored_name(path: str | Path) -> str:
    """Name a file as a recording keeps it: shipped data by its place there, so that any installation finds it."""
    for kind in DATA:
        folder = data_folder(kind)
        if Path(path).is_relative_to(folder):
            return f"{SHIPPED}{kind}/{Path(path).relative_to(folder).as_posix()}"
    return str(path)


def shipped_names(kind: str, suffixes: Iterable[str]) -> dict[str, Path]:
    """Map the bare names of shipped files to their paths, in sorted order."""
    folder = data_folder(kind)
    wanted = tuple(suffixes)
    return {p.stem: p for p in sorted(folder.rglob("*")) if p.is_file() and p.suffix in wanted}


def find_shipped(name: str, kind: str = "scenarios", suffixes: Iterable[str] = (".yaml", ".yml")) -> Path | None:
    """Find a shipped file by its bare name, or by its path below the data folder; None where there is none."""
    folder = data_folder(kind)
    candidate = folder / name
    if ".." not in Path(name).parts and candidate.is_file():
        return candidate
    return shipped_names(kind, suffixes).get(name)


def sensor_folders(bot: str, object_folder: Path, environment: Mapping[str, str]) -> list[Path]:
    """List the folders in which a sensor conf is looked for, best first (DESIGN §3).

    Parameters
    ----------
    bot : str
        Name of the autonomous object; in lower case it stands for an unset ``$CBBOTNAME``.
    object_folder : Path
        Folder of the object file.
    environment : mapping
        ``CBCONF`` and ``CBBOTNAME``, where set; `Files.environment`.
    """
    root = Path(environment["CBCONF"]) if environment.get("CBCONF") else data_folder("sensors")
    name = environment.get("CBBOTNAME") or bot.lower()
    inside = [root / name] if name and Path(name).name == name else []
    return [*inside, root, object_folder, Path()]


class Files:
    """Reads files inside allowed folders, of bounded size, and remembers what it read.

    Parameters
    ----------
    named : iterable of path
        Files or folders that the user named; each file allows its folder.
    size_limit : int
        Largest file [bytes].
    environment : mapping, optional
        Where ``CBCONF`` and ``CBBOTNAME`` are looked up; the process's own by default.
    """

    def __init__(
        self,
        named: Iterable[str | Path] = (),
        *,
        size_limit: int = SIZE_LIMIT,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.size_limit = size_limit
        self.seen: dict[str, bytes] = {}
        variables = os.environ if environment is None else environment
        self.environment = {name: variables[name] for name in VARIABLES if variables.get(name)}
        self._roots = [Path.cwd().resolve(), *(data_folder(kind).resolve() for kind in DATA)]
        if "CBCONF" in self.environment:
            self._roots.append(Path(self.environment["CBCONF"]).resolve())
        for path in named:
            self.allow(path)

    def allow(self, path: str | Path) -> None:
        """Allow the folder of a file that the user named, or a named folder itself."""
        resolved = Path(path).resolve()
        self._roots.append(resolved if resolved.is_dir() else resolved.parent)

    def allows(self, path: str | Path) -> bool:
        """Tell whether a path lies in an allowed folder once links and ``..`` are resolved."""
        resolved = Path(path).resolve()
        return any(resolved.is_relative_to(root) for root in self._roots)

    def exists(self, path: str | Path) -> bool:
        """Tell whether a readable file is there; outside the allowed folders nothing exists."""
        try:
            return self.allows(path) and Path(path).is_file()
        except (OSError, ValueError):
            return False

    def find(self, name: str, folders: Iterable[Path]) -> Path | None:
        """Return the first existing ``folder / name``; an absolute name is taken as it is."""
        return next((folder / name for folder in folders if self.exists(folder / name)), None)

    def read(self, path: str | Path, *, asked_at: Location | None = None) -> bytes:
        """Read a file.

        Parameters
        ----------
        path : str or Path
            The file.
        asked_at : Location, optional
            The line that asked for it; complaints point there, else to the file itself.

        Raises
        ------
        FileError
            If it is missing, outside the allowed folders, not a regular file, or too large.
        """
        key = stored_name(path)
        if key not in self.seen:
            self.seen[key] = self._load(Path(path), asked_at or Location(str(path)))
        return self.seen[key]

    def _load(self, path: Path, place: Location) -> bytes:
        def refuse(code: str, message: str, hint: str = "") -> FileError:
            return FileError(Problem(Severity.ERROR, code, message, place, hint))

        try:
            if not self.allows(path):
                raise refuse("E010", f"'{path}' is outside the folders that may be read")
            if not path.exists():
                siblings = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
                raise refuse("E011", f"no such file '{path}'", did_you_mean(path.name, siblings))
            if not path.is_file():
                raise refuse("E012", f"'{path}' is not a regular file")
            size = path.stat().st_size
            if size > self.size_limit:
                raise refuse("E013", f"'{path}' has {size} bytes, more than the {self.size_limit} that are read")
            return path.read_bytes()
        except (OSError, ValueError) as reason:
            raise refuse("E014", f"'{str(path)[:200]!s}' cannot be read: {reason}") from None


class StoredFiles(Files):
    """The files of a recording: nothing but what it carries can be read.

    Parameters
    ----------
    contents : mapping
        `stored_name` → bytes, as `Files.seen` had it.
    environment : mapping
        ``CBCONF`` and ``CBBOTNAME`` as they were.
    """

    def __init__(self, contents: Mapping[str, bytes], environment: Mapping[str, str]) -> None:
        super().__init__(environment=environment)
        self.seen = dict(contents)

    def allows(self, path: str | Path) -> bool:
        """Allow exactly the stored paths."""
        return stored_name(path) in self.seen

    def exists(self, path: str | Path) -> bool:
        """Tell whether the recording carries that file."""
        return stored_name(path) in self.seen
