"""Kernel cache: one file per entry, checked against its digest before anything in it is unpickled.

numba's own cache keeps an index per function and unpickles whatever it finds. A power cut leaves empty or truncated
files, and two processes that compile overloads of one function at once may swap their entries. Here the name of an
entry is a digest of its key, so no index is needed; a damaged entry is reported once, compiled again and rewritten.
"""

from __future__ import annotations

import contextlib
import pickle
import uuid
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar

from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.core.serialize import dumps

from cbsim.kernel_compiler.messages import warn_once

__all__ = ["PACKAGE", "READ_ONLY", "KernelCache", "cache_of", "module_folder"]

DIGEST = 32  # [bytes] of the digest at the start of a file, over the rest of it
PACKAGE = Path(__file__).resolve().parents[1]
READ_ONLY: list[Path] = []
"""Folders that are searched before the user's cache and never written: code in the package, caches taken along."""


def module_folder(function: Callable[..., Any]) -> str | None:
    """Name the folder of a kernel's entries, the same in every checkout; None for kernels outside the package."""
    try:
        return ".".join(Path(function.__code__.co_filename).resolve().relative_to(PACKAGE).with_suffix("").parts)
    except ValueError:
        return None


class ModuleLocator(UserProvidedCacheLocator):
    """Names folders by modules and not by their paths, so that checkouts of the same sources share entries."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        super().__init__(py_func, py_file)
        folder = module_folder(py_func)
        if folder is not None:
            self._cache_path = str(Path(config.CACHE_DIR) / folder)  # type: ignore[attr-defined]
        self.is_own = folder is not None

    def get_source_stamp(self) -> Any:
        """Return a digest of the source; the folder is keyed by those of the package."""
        return b"" if self.is_own else blake2b(Path(self._py_file).read_bytes(), digest_size=16).digest()

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Any:
        """Make a locator; whether its folder can be written matters only once something is."""
        return cls(py_func, py_file) if Path(py_file).exists() else None


class FolderCacheImpl(CompileResultCacheImpl):
    """Location of cache entries: the folder keyed by the digest of all kernel sources, and no other.

    numba falls back to folders keyed by a single source file, where an edited callee leaves entries stale.
    """

    _locator_classes: ClassVar[list[Any]] = [ModuleLocator]  # type: ignore[misc]


class KernelCache(FunctionCache):
    """Cache of one kernel."""

    _impl_class = FolderCacheImpl

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)
        stamp = self._impl.locator.get_source_stamp()
        folder = Path(self._cache_path)
        others = [each / folder.name for each in READ_ONLY] if self._impl.locator.is_own else []
        self._cache_file = Entries(folder, self._impl.filename_base, stamp, others)  # type: ignore[assignment]

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save an entry; if the disk is full or the folder is gone, warn and carry on without it."""
        try:
            super().save_overload(sig, data)
        except OSError as reason:
            warn_once(f"compiled kernels cannot be kept in '{self._cache_path}': {reason.strerror or reason}")


class Entries:
    """Entry files of one kernel, in place of numba's index and data files.

    Parameters
    ----------
    folder : Path
        Folder of the files.
    base : str
        Prefix of their names.
    stamp : bytes
        Digest of the kernel's source file.
    others : sequence of Path
        Folders to search first; they are never written.
    """

    def __init__(self, folder: Path, base: str, stamp: bytes, others: Sequence[Path] = ()) -> None:
        self.folder, self.base, self.stamp, self.others = folder, base, stamp, others

    def path(self, key: Any) -> Path:
        """Return the file of an entry."""
        digest = blake2b(repr((self.stamp, key)).encode(), digest_size=12).hexdigest()
        return self.folder / f"{self.base}.{digest}.nbc"

    def load(self, key: Any) -> Any:
        """Load an entry; None if it does not exist or cannot be trusted."""
        path = self.path(key)
        found = (self._read(folder / path.name, key) for folder in (*self.others, self.folder))
        return next((payload for payload in found if payload is not None), None)

    @staticmethod
    def _read(path: Path, key: Any) -> Any:
        try:
            content = path.read_bytes()
        except OSError:
            return None
        if _digest(content[DIGEST:]) != content[:DIGEST]:
            warn_once(f"the kernel cache is damaged ('{path}'); damaged entries are compiled again")
            return None
        stored, payload = pickle.loads(content[DIGEST:])
        return payload if stored == key else None  # another key with the same text

    def save(self, key: Any, payload: Any) -> None:
        """Save an entry atomically; the digest reveals one that a power cut truncated."""
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
    """Open the cache of a kernel; None, with a warning, if its folder is unusable."""
    try:
        return KernelCache(py_func)
    except RuntimeError as reason:  # numba found no folder
        warn_once(f"compiled kernels are not kept: {reason}")
        return None


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=DIGEST).digest()
