"""Atomic file replacement that preserves symbolic links, hard links, owner, permissions and extended attributes."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from cbsim.errors import UsageError

__all__ = ["atomic_write", "write_temporary"]

PREFIX = ".cbsim-edit."  # of temporary files; with the file's own name they could exceed the length limit of names


def atomic_write(path: Path, data: bytes) -> None:
    """Write a file so that it always holds either the old or the new contents.

    The data are written to a temporary file in the same folder, flushed to disk, and moved into place. A file with
    several hard links, of another owner, or in a folder where no file can be created is overwritten in place instead.
    If that fails half-way, the temporary file is kept and named in the message.

    Parameters
    ----------
    path : Path
        A regular file, a link to one, or the name of a new file.
    data : bytes
        New contents.

    Raises
    ------
    UsageError
        If the file cannot be written; it is unchanged unless the message says that it may be damaged.
    """
    try:
        target = path.resolve()
        old = target.stat() if target.exists() else None
        if old is not None and not stat.S_ISREG(old.st_mode):
            raise UsageError(f"cannot write '{path}': it is not a regular file")
        if old is not None and not (old.st_mode & 0o222 and os.access(target, os.W_OK)):
            raise UsageError(f"cannot write '{path}': it is read-only")
        draft = _draft(target, data, old)
        try:
            if draft is not None and _can_replace(draft, target, old):
                draft.replace(target)
                _fsync_folder(target.parent)
                return
        except BaseException:
            _unlink(draft)
            raise
        _overwrite(target, data, draft)
        _unlink(draft)
    except (OSError, ValueError, RuntimeError) as reason:
        raise UsageError(f"cannot write '{path}': {getattr(reason, 'strerror', None) or reason}") from None


def write_temporary(folder: Path | str, prefix: str, data: bytes) -> tuple[int, Path]:
    """Write data to a new temporary file and flush it to disk; returns an open handle and the path."""
    handle, name = tempfile.mkstemp(prefix=prefix, suffix=".tmp", dir=folder)
    try:
        with os.fdopen(os.dup(handle), "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(handle)
    except BaseException:
        os.close(handle)
        _unlink(Path(name))
        raise
    return handle, Path(name)


def _draft(target: Path, data: bytes, old: os.stat_result | None) -> Path | None:
    """Write a temporary file, in the system's folder if the target's folder refuses one, or None if both do."""
    for folder in (target.parent, tempfile.gettempdir()):
        try:
            handle, draft = write_temporary(folder, PREFIX, data)
        except PermissionError:
            if old is None:
                raise
            continue
        os.close(handle)
        return draft
    return None


def _can_replace(draft: Path, target: Path, old: os.stat_result | None) -> bool:
    """Copy owner and permissions to a temporary file; returns False if it cannot take the target's place."""
    if old is None:
        mask = os.umask(0o022)
        os.umask(mask)
        draft.chmod(0o666 & ~mask)
        return True
    if draft.parent != target.parent or old.st_nlink != 1:
        return False
    try:
        os.chown(draft, old.st_uid, old.st_gid)
    except OSError:  # only the superuser can change owners
        return False
    except AttributeError:  # Windows
        pass
    with suppress(OSError):  # extended attributes are best effort
        shutil.copystat(target, draft)
    draft.chmod(old.st_mode & 0o7777)
    os.utime(draft)
    return True


def _overwrite(target: Path, data: bytes, draft: Path | None) -> None:
    try:
        with target.open("r+b") as stream:
            stream.write(data)
            stream.truncate()
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as reason:
        kept = "" if draft is None else f"; the complete contents are in '{draft}'"
        raise UsageError(f"'{target}' may be damaged, writing was interrupted: {reason.strerror}{kept}") from None


def _fsync_folder(folder: Path) -> None:
    with suppress(OSError):  # not possible on every system
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _unlink(path: Path | None) -> None:
    if path is not None:
        with suppress(OSError):
            path.unlink()
