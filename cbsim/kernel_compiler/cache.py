"""Kernel cache: one file per entry, checked against its digest before anything in it is unpickled.

numba's own cache keeps an index per function and unpickles whatever it finds. A power cut leaves empty or truncated
files, and two processes that compile overloads of one function at once may swap their entries. Here the name of an
entry is a digest of its key, so no index is needed; a damaged entry is reported once, compiled again and rewritten.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar

from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator

from cbsim.kernel_compiler import shared
from cbsim.kernel_compiler.entries import READ_ONLY, read_entry, write_entry
from cbsim.kernel_compiler.messages import warn_once

__all__ = ["PACKAGE", "KernelCache", "SharedCache", "cache_of", "module_folder"]

PACKAGE = Path(__file__).resolve().parents[1]


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

    def reduce(self, cres: Any) -> Any:
        """Return the content of an entry: shared and deferred functions that the code calls, and what numba keeps."""
        return shared.needs_of(cres.library), super().reduce(cres)

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Load shared functions, then the code; None if one of them is missing."""
        needed, own = payload
        return super().rebuild(target_context, own) if shared.are_loaded(needed) else None


class SharedCacheImpl(FolderCacheImpl):
    """Location and content of the entries of a shared device function."""

    def reduce(self, cres: Any) -> Any:
        """Return the content of an entry."""
        return shared.reduced(cres)


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


class SharedCache(KernelCache):
    """Cache of one shared device function."""

    _impl_class = SharedCacheImpl

    def place(self, sig: Any, target_context: Any) -> shared.Place:
        """Return where the entry of an overload is, in any of the folders."""
        path = self._cache_file.path(self._index_key(sig, target_context.codegen()))  # type: ignore[attr-defined]
        return path.parent.name, path.name


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
        for folder in (*self.others, self.folder):
            entry = read_entry(folder / path.name)
            if entry is not None and entry[0] == key:  # another key may have the same text
                return entry[1]
        return None

    def save(self, key: Any, payload: Any) -> None:
        """Save an entry."""
        write_entry(self.path(key), key, payload)

    def flush(self) -> None:
        """Delete all entries."""
        for path in self.folder.glob(f"{self.base}.*.nbc"):
            path.unlink(missing_ok=True)


def cache_of(py_func: Callable[..., Any], kind: type[KernelCache] = KernelCache) -> Any:
    """Open the cache of a kernel; None, with a warning, if its folder is unusable."""
    try:
        return kind(py_func)
    except RuntimeError as reason:  # numba found no folder
        warn_once(f"compiled kernels are not kept: {reason}")
        return None
