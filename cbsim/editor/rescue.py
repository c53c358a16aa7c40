"""`Rescue`: a copy of unsaved work that outlives a crash, one for each editor that is at work on a file.

A copy stands beside its file, as ``.NAME.cbsim-edits``, or in the user's state folder where that cannot be written;
those of further editors are numbered. An editor holds a lock on its copy as long as it lives, which the system takes
away however it ends: so a copy without a lock is work that nobody saved, and a copy with one is left alone.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import stat
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

if sys.platform != "win32":  # where there are no such locks, a copy that goes is written again
    import fcntl

__all__ = ["Found", "Rescue", "Rescued", "digest"]

LIMIT = 512 * 2**20  # [bytes] of a copy that is read back
SLOTS = 32  # copies of one file in one folder
SUFFIX = ".cbsim-edits"
STALE = 3600.0  # [s] after which nobody is still about to write into what is empty, or to name what has no place yet
LOOKING = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))
"""How a copy is opened that anybody may have put there: links are not followed, pipes not waited for."""

Identity = tuple[int, int, int]


def digest(data: bytes | None) -> str:
    """Tell what a file holds in few signs; nothing where there is no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class Rescued:
    """Unsaved work that was found.

    Attributes
    ----------
    data : bytes
        The file as it was to become.
    version : int
        Of its format.
    when : str
        Local time of the last step.
    base : str
        Digest of the file that the work began with.
    place : Path
        Where the copy stands.
    """

    data: bytes
    version: int
    when: str
    base: str
    place: Path
    identity: Identity

    def discard(self) -> None:
        """Take the copy away, unless something else has come in its place."""
        with suppress(OSError):
            if _identity(self.place.lstat()) == self.identity:
                self.place.unlink()

    def set_aside(self) -> Path:
        """Keep its text as a file of its own, which nothing here touches again; where that is."""
        path = _free(self.place.with_name(f"{self.place.name.removesuffix(SUFFIX)}.bad"))
        path.write_bytes(self.data)
        self.discard()
        return path


class Found(NamedTuple):
    """Copies of unsaved work: those that nobody holds, the newest first; damaged ones that were put aside; others'."""

    work: list[Rescued]
    damaged: list[Path]
    held: int


class Rescue:
    """A copy of one editor's unsaved work on a file.

    Parameters
    ----------
    path : Path
        The file; links to it have the same copies.
    state : Path, optional
        A folder for copies that cannot stand beside their files; by default the user's own, where there is one.
    """

    def __init__(self, path: Path, state: Path | None = None) -> None:
        self._own: tuple[Path, int] | None = None  # the place, and a handle that holds its lock
        self.path = Path(os.path.realpath(path))
        stems = [self.path.with_name(f".{self.path.name}")]
        with suppress(RuntimeError):  # somebody who has no home
            home = os.environ.get("XDG_STATE_HOME") or (Path.home() / ".local" / "state" if state is None else "")
            folder = state or Path(home) / "cbsim" / "edits"
            stems.append(folder / hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16])
        self.places = [[_slot(stem, k) for k in range(1, SLOTS + 1)] for stem in stems]

    # --- one's own ---------------------------------------------------------------------------------------------------
    def keep(self, data: bytes, base: str, version: int = 2) -> str:
        """Keep unsaved work, with the digest of the file that it began with; a complaint where it cannot be kept."""
        kept = {
            "path": str(self.path),
            "time": time.strftime("%Y-%m-%d %H:%M:%S"),
            "base": base,
            "version": version,
            "data": base64.b64encode(data).decode("ascii"),
        }
        text = json.dumps(kept).encode("ascii")
        reasons = list[str]()
        for places in self.places:
            try:
                self._put(places, text)
            except (OSError, ValueError) as reason:
                reasons.append(getattr(reason, "strerror", None) or str(reason))
                continue
            return ""
        if len(self.places) == 1:
            reasons.append("there is none")
        return f"unsaved work cannot be kept, neither beside the file nor in the state folder: {'; '.join(reasons)}"

    def _put(self, places: list[Path], text: bytes) -> None:
        """Write the copy into a place of one's own among some."""
        old = self._own
        mine = old is not None and old[0] in places and self.is_there()
        if mine and old is not None:
            place = old[0]
        else:
            if places[0].parent != self.path.parent:  # one's own folder may be made, that of the file is there or not
                places[0].parent.mkdir(parents=True, exist_ok=True)
            place = _claim(places)
        try:
            handle = _written(place, text)
        except BaseException:
            if not mine:
                with suppress(OSError):
                    place.unlink()
            raise
        if not mine:
            self.forget()
        elif old is not None:
            os.close(old[1])
        self._own = place, handle

    def is_there(self) -> bool:
        """Tell whether one's own copy stands where it was put."""
        if self._own is None:
            return False
        place, handle = self._own
        try:
            here, ours = place.lstat(), os.fstat(handle)
        except OSError:
            return False
        return (here.st_dev, here.st_ino) == (ours.st_dev, ours.st_ino)

    def forget(self) -> None:
        """Take one's own copy away: the work is saved, or given up."""
        if self._own is not None:
            if self.is_there():
                with suppress(OSError):
                    self._own[0].unlink()
            self.release()

    def release(self) -> None:
        """Let one's own copy go, so that another editor finds it."""
        if self._own is not None:
            os.close(self._own[1])
            self._own = None

    def __del__(self) -> None:
        self.release()

    # --- those of others ---------------------------------------------------------------------------------------------
    def find(self, held: bytes) -> Found:
        """Find work that was not saved and that no editor holds; what is as the file (its bytes) goes.

        What an editor left that was killed before there was a copy goes too: a place without a word, a file on its way.
        """
        found = Found([], [], 0)
        for k, places in enumerate(self.places):
            for place in places:
                found = self._look(place, held, found, beside=k == 0)
            _sweep(places[0].parent)
        found.work.sort(key=lambda one: one.identity[2], reverse=True)
        return found

    def _look(self, place: Path, held: bytes, found: Found, *, beside: bool) -> Found:
        """Look at one place, and add what is there."""
        try:
            handle = os.open(place, LOOKING)
        except (OSError, ValueError):
            return found
        with os.fdopen(handle, "rb") as stream:
            there = os.fstat(handle)
            if not stat.S_ISREG(there.st_mode) or there.st_size > LIMIT or self._is_own(there):
                return found
            if not _lock(handle, shared=True):
                return found._replace(held=found.held + 1)
            data = stream.read()
        if not data:  # a place that was just taken, or by an editor that did not live to write into it
            _clear(place)
            return found
        work = _read(data, place, _identity(there))
        if work is None:
            with suppress(OSError):
                path = _free(place.with_name(f"{place.name}.bad"))
                place.rename(path)
                found.damaged.append(path)
        elif Path(work[0]).name == self.path.name if beside else work[0] == str(self.path):
            if work[1].data == held:
                work[1].discard()
            else:
                found.work.append(work[1])
        return found

    def _is_own(self, there: os.stat_result) -> bool:
        if self._own is None:
            return False
        ours = os.fstat(self._own[1])
        return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)


def _slot(stem: Path, k: int) -> Path:
    return stem.with_name(f"{stem.name}{'' if k == 1 else f'.{k}'}{SUFFIX}")


def _identity(there: os.stat_result) -> Identity:
    return there.st_dev, there.st_ino, there.st_mtime_ns


def _sweep(folder: Path) -> None:
    """Take away copies that were never put into their places."""
    with suppress(OSError, ValueError):
        for path in list(folder.glob(f"{SUFFIX}*.tmp")):
            _clear(path)


def _clear(path: Path) -> None:
    """Take a file away that nobody holds, and that has been so for long."""
    with suppress(OSError, ValueError):
        handle = os.open(path, LOOKING)
        try:
            there = os.fstat(handle)
            old = stat.S_ISREG(there.st_mode) and time.time() - there.st_mtime > STALE
            if old and _lock(handle, shared=True) and _identity(path.lstat()) == _identity(there):
                path.unlink()
        finally:
            os.close(handle)


def _claim(places: list[Path]) -> Path:
    """Take the first place in which nothing stands."""
    for place in places:
        with suppress(FileExistsError):
            os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            return place
    raise OSError(f"there are {SLOTS} copies already")


def _written(place: Path, text: bytes) -> int:
    """Put a new file in the place of what stands there; its handle, with a lock from before anybody could see it."""
    handle, name = tempfile.mkstemp(prefix=SUFFIX, suffix=".tmp", dir=place.parent)
    try:
        _lock(handle, shared=False)
        with os.fdopen(os.dup(handle), "wb") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(handle)
        Path(name).replace(place)
    except BaseException:
        os.close(handle)
        with suppress(OSError):
            Path(name).unlink()
        raise
    return handle


def _lock(handle: int, *, shared: bool) -> bool:
    """Lock a file; False where another holds it. Disks without locks give none, and hold none."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def _read(data: bytes, place: Path, identity: Identity) -> tuple[str, Rescued] | None:
    """Read a copy: the file that it is of, and the work; None where it is damaged."""
    try:
        kept = json.loads(data)
        work = base64.b64decode(kept["data"], validate=True)
        when = "".join(sign for sign in str(kept["time"])[:32] if sign.isprintable())
        version = 1 if kept.get("version") == 1 else 2
        return str(kept["path"]), Rescued(work, version, when, str(kept["base"]), place, identity)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, binascii.Error):
        return None


def _free(path: Path) -> Path:
    """Find a name that is free: a path, or one with a number."""
    names = (path if k == 1 else path.with_name(f"{path.name}.{k}") for k in range(1, 1000))
    return next((name for name in names if not os.path.lexists(name)), path)
