"""Autosave: a copy of unsaved work that survives a crash, one for each editor of a file.

A copy is ``.NAME.cbsim-edits`` beside its file, or in the user's state folder if that is not writable; copies of
further editors are numbered. An editor holds a lock on its copy, which the system releases however the process ends. A
copy without a lock is therefore abandoned work, and a locked copy belongs to a running editor.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import stat
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cbsim.editor.atomic_write import write_temporary

if sys.platform != "win32":  # without locks, a copy that another editor removes is written again
    import fcntl

__all__ = ["Autosave", "Found", "RecoveredWork", "digest"]

LIMIT = 512 * 2**20  # [bytes] largest copy that is read
SLOTS = 32  # copies of one file per folder
SUFFIX = ".cbsim-edits"
STALE = 3600.0  # [s] age from which empty and temporary copies are leftovers
FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))
"""How copies are opened: links are not followed, and pipes do not block."""

Identity = tuple[int, int, int]


def digest(data: bytes | None) -> str:
    """Hash of a file's contents; empty if there is no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class RecoveredWork:
    """Unsaved work from an abandoned copy.

    Attributes
    ----------
    data : bytes
        Contents of the file with the work.
    version : int
        Version of the file's format.
    when : str
        Local time of the last step.
    base : str
        Digest of the file that the work started from.
    place : Path
        Path of the copy.
    """

    data: bytes
    version: int
    when: str
    base: str
    place: Path
    identity: Identity

    def discard(self) -> None:
        """Remove the copy, unless it has been replaced by another one."""
        _remove(self.place, self.identity)

    def set_aside(self) -> Path:
        """Store the contents in a file of their own, which autosave never touches again; returns its path."""
        path = _free(self.place.with_name(f"{self.place.name.removesuffix(SUFFIX)}.bad"))
        path.write_bytes(self.data)
        self.discard()
        return path


class Found(NamedTuple):
    """Abandoned work, latest first; damaged copies, renamed; and the number of copies held by other editors."""

    work: list[RecoveredWork]
    damaged: list[Path]
    held: int


class Autosave:
    """A copy of one editor's unsaved work on a file.

    Parameters
    ----------
    path : Path
        The file; symbolic links to it share its copies.
    state : Path, optional
        Folder for copies that cannot be written beside their files; by default the user's state folder.
    """

    def __init__(self, path: Path, state: Path | None = None) -> None:
        self._own: tuple[Path, int] | None = None  # path and locked handle of the copy
        self.path = Path(os.path.realpath(path))
        stems = [self.path.with_name(f".{self.path.name}")]
        with suppress(RuntimeError):  # a user without a home folder
            home = os.environ.get("XDG_STATE_HOME") or (Path.home() / ".local" / "state" if state is None else "")
            folder = state or Path(home) / "cbsim" / "edits"
            stems.append(folder / hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16])
        numbers = ("" if k == 1 else f".{k}" for k in range(1, SLOTS + 1))
        suffixes = [f"{number}{SUFFIX}" for number in numbers]
        self.places = [[stem.with_name(stem.name + suffix) for suffix in suffixes] for stem in stems]

    def keep(self, data: bytes, base: str, version: int = 2) -> str:
        """Write unsaved work, with the digest of the file it started from; returns an error message or ``""``."""
        now, text = time.strftime("%Y-%m-%d %H:%M:%S"), base64.b64encode(data).decode("ascii")
        copy = {"path": str(self.path), "time": now, "base": base, "version": version, "data": text}
        reasons = list[str]()
        for places in self.places:
            try:
                self._write(places, json.dumps(copy).encode("ascii"))
            except (OSError, ValueError) as reason:
                reasons.append(getattr(reason, "strerror", None) or str(reason))
                continue
            return ""
        reasons += ["there is none"] if len(self.places) == 1 else []
        return f"unsaved work cannot be kept, neither beside the file nor in the state folder: {'; '.join(reasons)}"

    def _write(self, places: list[Path], text: bytes) -> None:
        """Write the copy into its own place, or into the first free one."""
        if places[0].parent != self.path.parent:
            places[0].parent.mkdir(parents=True, exist_ok=True)
        own = self._own[0] if self._own is not None and self._own[0] in places and self.is_there() else None
        place = own or _claim(places)
        with ExitStack() as undo:
            if own is None:
                undo.callback(place.unlink, missing_ok=True)
            handle, draft = write_temporary(place.parent, SUFFIX, text)
            undo.callback(os.close, handle)
            undo.callback(draft.unlink, missing_ok=True)
            _lock(handle, shared=False)
            draft.replace(place)
            undo.pop_all()
        if own is None:
            self.forget()
        self.release()
        self._own = place, handle

    def is_there(self) -> bool:
        """Return whether the editor's copy still exists."""
        if self._own is None:
            return False
        try:
            return _identity(self._own[0].lstat())[:2] == _identity(os.fstat(self._own[1]))[:2]
        except OSError:
            return False

    def forget(self) -> None:
        """Remove the editor's copy: the work is saved or discarded."""
        if self._own is not None and self.is_there():
            with suppress(OSError):
                self._own[0].unlink()
        self.release()

    def release(self) -> None:
        """Unlock the editor's copy, so that another editor can find it."""
        if self._own is not None:
            os.close(self._own[1])
            self._own = None

    def __del__(self) -> None:
        self.release()

    def find(self, current: bytes) -> Found:
        """Find abandoned work; copies equal to the file's current contents and leftovers of crashes are removed."""
        work, damaged, held = list[RecoveredWork](), list[Path](), 0
        own = None if self._own is None else _identity(os.fstat(self._own[1]))[:2]
        for places in self.places:
            for place in places:
                there = _inspect(place)
                if there is None or there[0][:2] == own:
                    continue
                identity, data = there
                copy = _parse(data, place, identity) if data else None
                if data is None:
                    held += 1
                elif not data:
                    _remove_stale(place)
                elif copy is None:
                    with suppress(OSError):
                        damaged.append(place.rename(_free(place.with_name(f"{place.name}.bad"))))
                elif copy[1].data == current and self._owns(copy[0], places):
                    copy[1].discard()
                elif self._owns(copy[0], places):
                    work.append(copy[1])
            with suppress(OSError, ValueError):
                for path in list(places[0].parent.glob(f"{SUFFIX}*.tmp")):
                    _remove_stale(path)
        return Found(sorted(work, key=lambda one: one.identity[2], reverse=True), damaged, held)

    def _owns(self, file: str, places: list[Path]) -> bool:
        """Return whether a copy is of this file; beside it only the name counts, because folders may be moved."""
        return Path(file).name == self.path.name if places is self.places[0] else file == str(self.path)


def _identity(there: os.stat_result) -> Identity:
    return there.st_dev, there.st_ino, there.st_mtime_ns


def _inspect(path: Path) -> tuple[Identity, bytes | None] | None:
    """Read a regular file that is not locked; the data are None if it is, the result None if there is no such file."""
    try:
        handle = os.open(path, FLAGS)
    except (OSError, ValueError):
        return None
    with os.fdopen(handle, "rb") as stream:
        there = os.fstat(handle)
        if not stat.S_ISREG(there.st_mode) or there.st_size > LIMIT:
            return None
        return _identity(there), stream.read() if _lock(handle, shared=True) else None


def _remove(path: Path, identity: Identity) -> None:
    with suppress(OSError):
        if _identity(path.lstat()) == identity:
            path.unlink()


def _remove_stale(path: Path) -> None:
    """Remove an old file that nobody has locked."""
    there = _inspect(path)
    if there is not None and there[1] is not None and time.time() - there[0][2] * 1e-9 > STALE:
        _remove(path, there[0])


def _claim(places: list[Path]) -> Path:
    """Create an empty file in the first free place."""
    for place in places:
        with suppress(FileExistsError):
            os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            return place
    raise OSError(f"there are {SLOTS} copies already")


def _lock(handle: int, *, shared: bool) -> bool:
    """Lock a file; False if another process holds it. File systems without locks always succeed."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def _parse(data: bytes, place: Path, identity: Identity) -> tuple[str, RecoveredWork] | None:
    """Parse a copy into the path of its file and the work; None if it is damaged."""
    try:
        copy = json.loads(data)
        work = base64.b64decode(copy["data"], validate=True)
        when = "".join(sign for sign in str(copy["time"])[:32] if sign.isprintable())
        version = 1 if copy.get("version") == 1 else 2
        return str(copy["path"]), RecoveredWork(work, version, when, str(copy["base"]), place, identity)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, binascii.Error):
        return None


def _free(path: Path) -> Path:
    """Return a free name: the path, or the path with a number."""
    names = (path if k == 1 else path.with_name(f"{path.name}.{k}") for k in range(1, 1000))
    return next((name for name in names if not os.path.lexists(name)), path)
