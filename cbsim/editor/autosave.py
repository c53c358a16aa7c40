"""Autosave: a copy of unsaved work that survives a crash, one for each editor of a file.

A copy is ``.NAME.TOKEN.cbsim-edits`` beside its file, or in the user's state folder if that is not writable. An editor
holds a lock on its copy, which the system releases however the process ends. A copy without a lock is therefore
abandoned work, and a locked copy belongs to a running editor.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import stat
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cbsim.editor.atomic_write import write_temporary

if sys.platform != "win32":  # without locks, copies of running editors are offered too
    import fcntl

__all__ = ["Autosave", "Found", "RecoveredWork", "digest"]

LIMIT = 512 * 2**20  # [bytes] largest copy that is read
SUFFIX = ".cbsim-edits"
STALE = 3600.0  # [s] age from which temporary copies are leftovers
FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))
"""How copies are opened: links are not followed, and pipes do not block."""


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
    file, place : Path
        Paths of the file and of the copy.
    """

    data: bytes
    version: int
    when: str
    base: str
    file: Path
    place: Path

    def discard(self) -> None:
        """Remove the copy."""
        with suppress(OSError):
            self.place.unlink()

    def set_aside(self) -> Path:
        """Store the contents in a file of their own, which autosave never touches again; returns its path."""
        path = self.place.with_suffix(".bad")
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
        self._token = uuid.uuid4().hex[:8]
        self.path = Path(os.path.realpath(path))
        self._stems = [self.path.with_name(f".{self.path.name}")]
        with suppress(RuntimeError):  # a user without a home folder
            home = os.environ.get("XDG_STATE_HOME") or (Path.home() / ".local" / "state" if state is None else "")
            folder = state or Path(home) / "cbsim" / "edits"
            self._stems.append(folder / hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16])

    def keep(self, data: bytes, base: str, version: int = 2) -> str:
        """Write unsaved work, with the digest of the file it started from; returns an error message or ``""``."""
        now, text = time.strftime("%Y-%m-%d %H:%M:%S"), base64.b64encode(data).decode("ascii")
        copy = {"path": str(self.path), "time": now, "base": base, "version": version, "data": text}
        reasons = list[str]()
        for stem in self._stems:
            try:
                self._write(stem.with_name(f"{stem.name}.{self._token}{SUFFIX}"), json.dumps(copy).encode("ascii"))
            except (OSError, ValueError) as reason:
                reasons.append(getattr(reason, "strerror", None) or str(reason))
                continue
            return ""
        reasons += ["there is none"] if len(self._stems) == 1 else []
        return f"unsaved work cannot be kept, neither beside the file nor in the state folder: {'; '.join(reasons)}"

    def _write(self, place: Path, text: bytes) -> None:
        if place.parent != self.path.parent:
            place.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = write_temporary(place.parent, SUFFIX, text)
        try:
            _lock(handle, shared=False)
            draft.replace(place)
        except BaseException:
            os.close(handle)
            draft.unlink(missing_ok=True)
            raise
        if self._own is not None and self._own[0] != place:
            self.forget()
        self.release()
        self._own = place, handle

    def is_there(self) -> bool:
        """Return whether the editor's copy still exists."""
        with suppress(OSError):
            return self._own is not None and os.path.samestat(self._own[0].lstat(), os.fstat(self._own[1]))
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
        work, damaged, held = list[tuple[float, RecoveredWork]](), list[Path](), 0
        for stem in self._stems:
            name = re.compile(rf"{re.escape(stem.name)}(\.[0-9a-f]+)?{re.escape(SUFFIX)}")
            for place, changed, data in _copies(stem.parent, f"*{SUFFIX}"):
                if not name.fullmatch(place.name) or (self._own is not None and place == self._own[0]):
                    continue
                copy = _parse(data, place) if data is not None else None
                if data is None:
                    held += 1
                elif copy is None:
                    with suppress(OSError):
                        damaged.append(place.replace(place.with_name(f"{place.name}.bad")))
                elif copy.file.name != self.path.name or (stem is not self._stems[0] and copy.file != self.path):
                    continue  # beside the file only its name counts, because folders may be moved
                elif copy.data == current:
                    copy.discard()
                else:
                    work.append((changed, copy))
            for place, changed, data in _copies(stem.parent, f"{SUFFIX}*.tmp"):
                if data is not None and time.time() - changed > STALE:
                    place.unlink(missing_ok=True)
        return Found([copy for _, copy in sorted(work, key=lambda one: one[0], reverse=True)], damaged, held)


def _copies(folder: Path, pattern: str) -> Iterator[tuple[Path, float, bytes | None]]:
    """Yield path, time of change [s] and contents of regular files; contents are None where another process locks."""
    for path in sorted(folder.glob(pattern)):
        with suppress(OSError), os.fdopen(os.open(path, FLAGS), "rb") as stream:
            there = os.fstat(stream.fileno())
            if stat.S_ISREG(there.st_mode) and there.st_size <= LIMIT:
                yield path, there.st_mtime, stream.read() if _lock(stream.fileno(), shared=True) else None


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


def _parse(data: bytes, place: Path) -> RecoveredWork | None:
    """Parse a copy; None if it is damaged."""
    try:
        copy = json.loads(data)
        work = base64.b64decode(copy["data"], validate=True)
        when = "".join(sign for sign in str(copy["time"])[:32] if sign.isprintable())
        version = 1 if copy.get("version") == 1 else 2
        return RecoveredWork(work, version, when, str(copy["base"]), Path(str(copy["path"])), place)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
