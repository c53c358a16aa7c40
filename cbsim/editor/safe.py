"""Files replaced in one go: at every moment a file is whole, the old one or the new one; rights and links stay."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from cbsim.errors import UsageError

__all__ = ["replace_file"]

PREFIX = ".cbsim-edit."  # of a file that is being written; its own name could be too long to stand in another


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that at every moment it is whole, the old one or the new one; rights and links stay.

    A file with several names, one that belongs to somebody else, or one in a folder in which none can be made cannot be
    replaced by another. It is written over where it stands, after all of it has been on the disk once, if there is a
    place for that.

    Parameters
    ----------
    path : Path
        A regular file, a link to one, or the name of a new one.
    data : bytes
        What it is to hold.

    Raises
    ------
    UsageError
        If it cannot be written; what was there is untouched.
    """
    try:
        target = path.resolve()
        there = target.stat() if target.exists() else None
        if there is not None and not stat.S_ISREG(there.st_mode):
            raise UsageError(f"cannot write '{path}': it is no regular file")
        if there is not None and not (there.st_mode & 0o222 and os.access(target, os.W_OK)):
            raise UsageError(f"cannot write '{path}': it is read-only")
        _write(target, data, there)
    except (OSError, ValueError, RuntimeError) as reason:
        raise UsageError(f"cannot write '{path}': {getattr(reason, 'strerror', None) or reason}") from None


def _write(target: Path, data: bytes, there: os.stat_result | None) -> None:
    try:
        handle, name = tempfile.mkstemp(prefix=PREFIX, suffix=".tmp", dir=target.parent)
    except PermissionError:
        if there is None:
            raise
        _write_over(target, data)
        return
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if there is None:
            Path(name).chmod(0o666 & ~_umask())
        elif there.st_nlink > 1 or not _take_over_rights(Path(name), target, there):
            _write_over(target, data)
            Path(name).unlink()
            return
        Path(name).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    _settle(target.parent)


def _write_over(target: Path, data: bytes) -> None:
    with target.open("r+b") as stream:
        stream.write(data)
        stream.truncate()
        stream.flush()
        os.fsync(stream.fileno())


def _take_over_rights(new: Path, target: Path, there: os.stat_result) -> bool:
    """Give a new file owner, mode and lists of rights of the one in whose place it comes; False where it may not."""
    try:
        os.chown(new, there.st_uid, there.st_gid)
    except OSError:  # only the system's keeper can give files away
        return False
    except AttributeError:  # where files have no owners
        pass
    new.chmod(there.st_mode & 0o7777)
    with suppress(OSError, AttributeError):  # not every system, and not every disk, has such lists
        for name in os.listxattr(target):
            os.setxattr(new, name, os.getxattr(target, name))
    return True


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _settle(folder: Path) -> None:
    """Have the change of a name written down, so that a power cut finds it done."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
