"""Autosave: a copy of unsaved work that survives a crash, one for each editor of a file.

A copy is ``.NAME.TOKEN.cbsim-edits`` beside its file. An editor holds a lock on its copy, which the system releases
however the process ends: a copy without a lock is abandoned work, a locked one belongs to a running editor.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from cbsim.editor.saving.atomic_write import lock, replace

__all__ = ["Autosave", "Found", "RecoveredWork", "digest"]

SUFFIX = ".cbsim-edits"
COPY = re.compile(rb"([12]) ([0-9a-f]*)\n(.*)", re.DOTALL)  # version, digest of the base, contents


def digest(data: bytes | None) -> str:
    """Hash of a file's contents; empty if there is no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


class RecoveredWork(NamedTuple):
    """Unsaved work from an abandoned copy."""

    data: bytes  # contents of the file with the work
    version: int  # of the file's format
    base: str  # digest of the file that the work started from
    changed: float  # time of the last step [s since the epoch]
    place: Path  # of the copy

    @property
    def when(self) -> str:
        """Local time of the last step."""
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.changed))

    def discard(self) -> None:
        """Remove the copy."""
        with suppress(OSError):
            self.place.unlink()


class Found(NamedTuple):
    """Abandoned work, latest first, and the number of copies held by other editors."""

    work: list[RecoveredWork]
    held: int


class Autosave:
    """A copy of one editor's unsaved work on a file; symbolic links to the file share its copies."""

    def __init__(self, path: Path) -> None:
        self._held: IO[bytes] | None = None  # the copy, open and locked
        self.path = Path(os.path.realpath(path))
        self.place = self.path.with_name(f".{self.path.name}.{uuid.uuid4().hex[:8]}{SUFFIX}")

    def keep(self, data: bytes, base: str, version: int = 2) -> str:
        """Write unsaved work, with the digest of the file it started from; returns an error message or ``""``."""
        try:
            held = replace(self.place, f"{version} {base}\n".encode() + data, 0o600)
        except (OSError, ValueError) as reason:
            return f"unsaved work cannot be kept beside the file: {getattr(reason, 'strerror', None) or reason}"
        self.release()
        self._held = held
        return ""

    def is_there(self) -> bool:
        """Return whether the editor's copy still exists."""
        return self._held is not None and self.place.exists()

    def forget(self) -> None:
        """Remove the editor's copy: the work is saved or discarded."""
        if self._held is not None:
            with suppress(OSError):
                self.place.unlink()
        self.release()

    def release(self) -> None:
        """Unlock the editor's copy, so that another editor can find it."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def __del__(self) -> None:
        self.release()

    def find(self, current: bytes) -> Found:
        """Find abandoned work; copies equal to the file's current contents are removed, damaged ones stay."""
        work, held = list[RecoveredWork](), 0
        name = re.compile(rf"\.{re.escape(self.path.name)}\.[0-9a-f]+{re.escape(SUFFIX)}")
        for place in self.path.parent.glob(f".*{SUFFIX}"):
            if place == self.place or not name.fullmatch(place.name) or place.is_symlink() or not place.is_file():
                continue
            with suppress(OSError), place.open("rb") as stream:
                if not lock(stream, shared=True):
                    held += 1
                elif parts := COPY.fullmatch(stream.read()):
                    changed = os.fstat(stream.fileno()).st_mtime
                    copy = RecoveredWork(parts[3], int(parts[1]), parts[2].decode(), changed, place)
                    if copy.data == current:
                        copy.discard()
                    else:
                        work.append(copy)
        return Found(sorted(work, key=lambda copy: copy.changed, reverse=True), held)
