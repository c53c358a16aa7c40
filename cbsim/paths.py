"""Search paths and read permissions: shipped data, ``$CBCONF`` and allowed folders.

Every read of a user's file goes through `Files`, which refuses anything outside its folders, bounds the size, and
remembers the bytes, so that a recording can carry them and a replay can read them back from `StoredFiles`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cbsim.errors import FileError, Location, Problem, Severity, UsageError, did_you_mean

__all__ = [
    "SIZE_LIMIT",
    "Files",
    "StoredFiles",
    "data_folder",
    "find_shipped",
    "is_regular",
    "resolved",
    "scenario_name",
    "sensor_folders",
    "shipped_names",
    "stored_name",
    "stored_path",
    "writing",
]

SIZE_LIMIT = 256 * 2**20  # [bytes] the largest file that any reader accepts

PACKAGE = Path(__file__).resolve().parent
DATA = ("rndf", "scenarios", "sensors")
SHIPPED = "shipped:"
VARIABLES = ("CBCONF", "CBBOTNAME")
UNREADABLE = (OSError, ValueError, RuntimeError)  # too long a path, a NUL in it, a loop of links, no working directory


def data_folder(kind: str) -> Path:
    """Locate shipped data: inside an installed wheel, else beside the source tree.

    Parameters
    ----------
    kind : str
        ``rndf``, ``scenarios`` or ``sensors``.
    """
    installed = PACKAGE / "_data" / kind
    return installed if installed.is_dir() else PACKAGE.parent / kind


def is_regular(path: str | Path) -> bool:
    """Tell whether a path is a regular file; invalid paths are not."""
    try:
        return Path(path).is_file()
    except UNREADABLE:
        return False


def resolved(path: str | Path) -> Path:
    """Resolve links and ``..``, as `Path.resolve`, which leaves circular links as they are from Python 3.13 on.

    Raises
    ------
    OSError, ValueError, RuntimeError
        If the path is too long, holds a NUL, has circular links, or there is no working directory.
    """
    target = Path(path).resolve()
    try:
        is_link = stat.S_ISLNK(target.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return target
    if is_link:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return target


def _resolved(path: str | Path) -> Path | None:
    """As `resolved`; None for an invalid path."""
    try:
        return resolved(path)
    except UNREADABLE:
        return None


def stored_name(path: str | Path) -> str:
    """Name of a file in recordings: for shipped data relative to the data folder, so that any installation finds it.

    Undecodable bytes of a name are escaped.
    """
    for kind in DATA:
        folder = data_folder(kind)
        if Path(path).is_relative_to(folder):
            return f"{SHIPPED}{kind}/{Path(path).relative_to(folder).as_posix()}"
    return str(path).encode("utf-8", "backslashreplace").decode()


def stored_path(name: str) -> Path:
    """Path of a file with a given name in recordings; the inverse of `stored_name`."""
    if not name.startswith(SHIPPED):
        return Path(name)
    kind, _, rest = name.removeprefix(SHIPPED).partition("/")
    return data_folder(kind) / rest


def shipped_names(kind: str, suffixes: Iterable[str]) -> dict[str, Path]:
    """Map the bare names of shipped files to their paths, in sorted order."""
    folder = data_folder(kind)
    wanted = tuple(suffixes)
    return {p.stem: p for p in sorted(folder.rglob("*")) if p.is_file() and p.suffix in wanted}


def scenario_name(path: str | Path) -> str:
    """Name of a scenario: its file name without ``.yaml`` or ``.scenario.yaml``.

    >>> scenario_name("tests/left_turn.scenario.yaml"), scenario_name("four_way_stop")
    ('left_turn', 'four_way_stop')
    """
    return Path(path).stem.removesuffix(".scenario")


def find_shipped(name: str, kind: str = "scenarios", suffixes: Iterable[str] = (".yaml", ".yml")) -> Path | None:
    """Find a shipped file by its name, with or without suffix, or its path below the data folder; None if not found."""
    folder = data_folder(kind)
    candidate = folder / name
    if ".." not in Path(name).parts and is_regular(candidate):
        return candidate
    found = shipped_names(kind, suffixes).get(name)
    return found or next((p for p in sorted(folder.rglob("*")) if p.name == name and p.is_file()), None)


def sensor_folders(bot: str, object_folder: Path, environment: Mapping[str, str]) -> list[Path]:
    """List the folders that are searched for sensor confs, in order (docs/formats/sensor_conf.md).

    Parameters
    ----------
    bot : str
        Name of the autonomous object; in lower case it replaces an unset ``$CBBOTNAME``.
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
    """Reads files of bounded size in allowed folders, and keeps their contents.

    Parameters
    ----------
    named : iterable of path
        Files or folders that the user named; each file allows its folder.
    size_limit : int
        Largest file [bytes].
    environment : mapping, optional
        Where ``CBCONF`` and ``CBBOTNAME`` are looked up; by default that of the process.
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
        folders = [Path(), *map(data_folder, DATA), *map(Path, filter(None, [self.environment.get("CBCONF")]))]
        self._roots = [root for folder in folders if (root := _resolved(folder)) is not None]
        for path in named:
            self.allow(path)

    def allow(self, path: str | Path) -> None:
        """Allow the folder of a file that the user named, or a named folder itself."""
        target = _resolved(path)
        if target is not None:  # otherwise reading it raises with the reason
            self._roots.append(target if _is_folder(target) else target.parent)

    def allows(self, path: str | Path) -> bool:
        """Tell whether a path, with links and ``..`` resolved, lies in an allowed folder."""
        target = _resolved(path)
        return target is not None and any(target.is_relative_to(root) for root in self._roots)

    def exists(self, path: str | Path) -> bool:
        """Tell whether a path is a readable file; outside the allowed folders nothing exists."""
        return self.allows(path) and is_regular(path)

    def find(self, name: str, folders: Iterable[Path]) -> Path | None:
        """Return the first existing ``folder / name``; an absolute name is used unchanged."""
        return next((folder / name for folder in folders if self.exists(folder / name)), None)

    def read(self, path: str | Path, *, asked_at: Location | None = None) -> bytes:
        """Read a file.

        Parameters
        ----------
        path : str or Path
            The file.
        asked_at : Location, optional
            The line that refers to the file; problems are located there, or else at the file itself.

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
        self.require(path, asked_at=place)
        try:
            size = path.stat().st_size
            if size > self.size_limit:
                raise _refusal(
                    "E013", f"'{path}' has {size} bytes, more than the {self.size_limit} that are read", place
                )
            return path.read_bytes()
        except OSError as reason:
            raise _unreadable(path, reason, place) from None

    def require(self, path: str | Path, *, asked_at: Location | None = None) -> None:
        """Refuse a path that is not a regular file inside the allowed folders, without opening it.

        Raises
        ------
        FileError
            As `read`.
        """
        place, path = asked_at or Location(str(path)), Path(path)
        try:
            resolved(path)
        except UNREADABLE as reason:
            raise _unreadable(path, reason, place) from None
        try:
            if not self.allows(path):
                raise _refusal("E010", f"'{path}' is outside the folders that may be read", place)
            if not path.exists():
                siblings = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
                raise _refusal("E011", f"no such file '{path}'", place, did_you_mean(path.name, siblings))
            if not path.is_file():
                raise _refusal("E012", f"'{path}' is not a regular file", place)
        except UNREADABLE as reason:
            raise _unreadable(path, reason, place) from None


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except UNREADABLE:
        return False


def _refusal(code: str, message: str, place: Location, hint: str = "") -> FileError:
    return FileError(Problem(Severity.ERROR, code, message, place, hint))


def _unreadable(path: Path, reason: Exception, place: Location) -> FileError:
    words = getattr(reason, "strerror", None) or str(reason)
    return _refusal("E014", f"'{str(path)[:200]}' cannot be read: {words}", place)


class StoredFiles(Files):
    """The files of a recording; no others can be read.

    Parameters
    ----------
    contents : mapping
        `stored_name` → bytes, as in `Files.seen`.
    environment : mapping
        ``CBCONF`` and ``CBBOTNAME`` of the recorded run.
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


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Write a file; what the disk refuses is a `UsageError` with its name and the reason."""
    try:
        yield
    except OSError as reason:
        raise UsageError(f"cannot write '{path}': {reason.strerror or reason}") from None
