"""The kernel cache: one file per entry, checked against its digest before anything in it is unpickled.

numba's own cache keeps an index per function and unpickles whatever it finds. A power cut leaves empty or truncated
files, and two processes that compile overloads of one function at once may swap their entries. Here an entry's name
is a digest of its key, so that no index is needed; a damaged entry is reported once, compiled again and written anew.
"""

from __future__ import annotations

import contextlib
import pickle
import sys
import uuid
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar

from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.core.serialize import dumps

__all__ = ["KernelCache", "cache_of", "warn_once"]

DIGEST = 32  # [bytes] a file begins with the digest of the rest
SPOKEN: set[str] = set()  # kinds of warnings that have been printed


class InFolder(CompileResultCacheImpl):
    """Where entries are kept: in the folder of the digest of all sources or nowhere.

    numba falls back to folders that are keyed by one source file only, where an edited callee leaves entries stale.
    """

    _locator_classes: ClassVar[list[Any]] = [UserProvidedCacheLocator]  # type: ignore[misc]


class KernelCache(FunctionCache):
    """The entries of one kernel."""

    _impl_class = InFolder

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = Entries(Path(self._cache_path), self._impl.filename_base, stamp)  # type: ignore[assignment]

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save an entry; a run goes on without it if the disk is full or the folder has gone."""
        try:
            super().save_overload(sig, data)
        except OSError as reason:
            warn_once(f"compiled kernels cannot be kept in '{self._cache_path}': {reason.strerror or reason}")


class Entries:
    """The files of one kernel's entries; takes the place of numba's index and data files.

    Parameters
    ----------
    folder : Path
        Where they are.
    base : str
        How their names begin.
    stamp : bytes
        Digest of the kernel's source file.
    """

    def __init__(self, folder: Path, base: str, stamp: bytes) -> None:
        self.folder, self.base, self.stamp = folder, base, stamp

    def path(self, key: Any) -> Path:
        """Name the file of an entry."""
        digest = blake2b(repr((self.stamp, key)).encode(), digest_size=12).hexdigest()
        return self.folder / f"{self.base}.{digest}.nbc"

    def load(self, key: Any) -> Any:
        """Load an entry; None if there is none, or none that can be trusted."""
        path = self.path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        if _digest(content[DIGEST:]) != content[:DIGEST]:
            warn_once(f"the kernel cache is damaged ('{path}'); what is damaged is compiled again")
            return None
        stored, payload = pickle.loads(content[DIGEST:])
        return payload if stored == key else None  # another key with the same text

    def save(self, key: Any, payload: Any) -> None:
        """Save an entry under its name at once or not at all; what a power cut leaves of it, its digest gives away."""
        body = dumps((key, payload))
        path = self.path(key)
        draft = path.with_name(f"{path.name}.tmp.{uuid.uuid4().hex[:16]}")
        try:
            draft.write_bytes(_digest(body) + body)
            draft.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise

    def flush(self) -> None:
        """Delete all entries."""
        for path in self.folder.glob(f"{self.base}.*.nbc"):
            path.unlink(missing_ok=True)


def cache_of(py_func: Callable[..., Any]) -> KernelCache | None:
    """Open the cache of a kernel; None, with a warning, if its folder cannot be used."""
    try:
        return KernelCache(py_func)
    except RuntimeError as reason:  # numba found no folder
        warn_once(f"compiled kernels are not kept: {reason}")
        return None


def warn_once(text: str) -> None:
    """Print a warning on standard error, one of each kind in a process; what is in quotes may differ."""
    kind = text.partition("'")[0]
    if kind in SPOKEN:
        return
    SPOKEN.add(kind)
    # not by `warnings`, which shows a line of source; a closed standard error is no reason to stop
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"warning: {text}\n")
        sys.stderr.flush()


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=DIGEST).digest()
