"""Files replaced in one go: at every moment a file is whole, the old one or the new one; rights and links stay."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from cbsim.errors import UsageError

__all__ = ["replace_file"]

PREFIX = ".cbsim-edit."  # of a file that is being written; its own name could be too long to stand in another
NO_PROMISES = {errno.EINVAL, errno.ENODEV, errno.ENOSYS, errno.EOPNOTSUPP}  # of disks that keep no room for a file


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that at every moment it is whole, the old one or the new one; rights and links stay.

    A file with several names, one that belongs to somebody else, or one in a folder in which none can be made cannot be
    replaced by another. It is written over where it stands, after all of it has been on the disk once, if there is a
    place for that, and the disk has promised the room; if that fails all the same, the draft stays and is named.

    Parameters
    ----------
    path : Path
        A regular file, a link to one, or the name of a new one.
    data : bytes
        What it is to hold.

    Raises
    ------
    UsageError
        If it cannot be written; what was there is untouched, unless the message says that it may not be.
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
    draft = _draft(target, data, there)
    whole = False
    try:
        if draft is not None and _may_take_place(draft, target, there):
            draft.replace(target)
            whole = True
        else:
            _reserve(target, len(data))
    except BaseException:
        if draft is not None:
            with suppress(OSError):
                draft.unlink()
        raise
    if whole:
        _settle(target.parent)
        return
    _write_over(target, data, draft)  # where this ends early, the draft is all that is whole
    if draft is not None:
        with suppress(OSError):
            draft.unlink()


def _draft(target: Path, data: bytes, there: os.stat_result | None) -> Path | None:
    """Put all of it on the disk as a new file; in the system's folder where the file's own takes none, or nowhere."""
    try:
        handle, name = tempfile.mkstemp(prefix=PREFIX, suffix=".tmp", dir=target.parent)
    except PermissionError:
        if there is None:
            raise
        try:
            handle, name = tempfile.mkstemp(prefix=PREFIX, suffix=".tmp", dir=tempfile.gettempdir())
        except OSError:
            return None
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    return Path(name)


def _may_take_place(draft: Path, target: Path, there: os.stat_result | None) -> bool:
    """Make a draft what its file is to be; False where the file cannot be replaced by another."""
    if there is None:
        draft.chmod(0o666 & ~_umask())
        return True
    return draft.parent == target.parent and there.st_nlink == 1 and _take_over_rights(draft, target, there)


def _reserve(target: Path, size: int) -> None:
    """Have the disk promise the room of a file that is to be written over, before the first byte of it is lost."""
    with target.open("r+b") as stream:
        before = os.fstat(stream.fileno()).st_size
        try:
            os.posix_fallocate(stream.fileno(), 0, size)
        except AttributeError:  # not every system can
            pass
        except OSError as reason:
            if reason.errno not in NO_PROMISES:
                os.ftruncate(stream.fileno(), before)
                raise


def _write_over(target: Path, data: bytes, draft: Path | None) -> None:
    try:
        with target.open("r+b") as stream:
            stream.write(data)
            stream.truncate()
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as reason:
        kept = "" if draft is None else f"; all of it is in '{draft}'"
        raise UsageError(f"'{target}' may be damaged, it was not written whole: {reason.strerror}{kept}") from None


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
            with suppress(OSError):  # one that cannot be given keeps none of the others away
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
