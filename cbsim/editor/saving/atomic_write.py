"""Atomic file replacement, through symbolic links and with the permissions of what is replaced."""

from __future__ import annotations

import os
import stat
import sys
import uuid
from contextlib import suppress
from pathlib import Path
from typing import IO

from cbsim.errors import UsageError
from cbsim.paths import UNREADABLE, resolved

if sys.platform != "win32":  # there, files are not locked
    import fcntl

__all__ = ["atomic_write", "lock", "replace"]


def atomic_write(path: Path, data: bytes) -> None:
    """Write a file so that it always holds either the old or the new contents; other hard links keep the old ones.

    Raises
    ------
    UsageError
        If the file cannot be written; it is unchanged.
    """
    try:
        target = resolved(path)
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            raise UsageError(f"cannot write '{path}': it is not a regular file")
        if mode is not None and not (mode & 0o222 and os.access(target, os.W_OK)):
            raise UsageError(f"cannot write '{path}': it is read-only")
        replace(target, data, mode).close()
        with suppress(OSError):  # the new name is on disk once its folder is; not every system can flush folders
            folder = os.open(target.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
    except UNREADABLE as reason:
        raise UsageError(f"cannot write '{path}': {getattr(reason, 'strerror', None) or reason}") from None


def replace(target: Path, data: bytes, mode: int | None) -> IO[bytes]:
    """Write data to a new file, flush it to disk and move it into the place of a file; returns it open and locked.

    On Windows, where no open file can be moved, it is returned closed.
    """
    draft = target.with_name(f".cbsim-edit.{uuid.uuid4().hex}.tmp")  # a name made of the file's could be too long
    stream = draft.open("xb")
    try:
        if mode is not None:
            draft.chmod(stat.S_IMODE(mode))
        lock(stream, shared=False)
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
        if sys.platform == "win32":
            stream.close()
        draft.replace(target)
    except BaseException:
        stream.close()
        draft.unlink(missing_ok=True)
        raise
    return stream


def lock(stream: IO[bytes], *, shared: bool) -> bool:
    """Lock a file; False if another process holds it. File systems without locks always succeed."""
    if sys.platform != "win32":
        try:
            fcntl.flock(stream, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass
    return True
