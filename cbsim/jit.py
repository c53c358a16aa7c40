"""Decorators that compile kernels with numba, and the folder of the compiled code.

numba's own cache checks only the file that defines a function, so an edit of a callee in another file leaves callers
stale. Here the cache folder is named by a digest of *all* kernel sources, the versions of Python, numba and llvmlite
and the compile target, so an edit, an upgrade or another target leads to another folder. Kernels must run unchanged
with ``NUMBA_DISABLE_JIT=1``.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba
from numba.core import config

from cbsim.kernel_compiler import (
    IS_PLAIN,
    Deferred,
    DeviceFunction,
    EntryPoint,
    Inlined,
    ScalarEntryPoint,
    Shared,
    Vectorized,
    View,
)
from cbsim.kernel_compiler.deferred import compile_deferred, failure
from cbsim.kernel_compiler.entries import READ_ONLY
from cbsim.kernel_compiler.intrinsics import bits_of, block_view, float_of, multiply_high, prefetch
from cbsim.kernel_compiler.messages import announce_compilation, warn_once
from cbsim.kernel_compiler.target import CHECKS_INDICES, compile_target

__all__ = [
    "bits_of",
    "block_view",
    "cache_folder",
    "cause_of",
    "compile_deferred",
    "deferred",
    "export_cache",
    "float_of",
    "inlined",
    "inner",
    "kernel",
    "kernel_digest",
    "kernel_sources",
    "multiply_high",
    "narrow",
    "prefetch",
    "shared",
    "target_name",
    "view",
    "wide",
    "wrapping",
]

F = TypeVar("F", bound=Callable[..., Any])  # so that type checkers see the signature of the Python function

NO_CONTEXT = nullcontext()
PACKAGE = Path(__file__).resolve().parent


def kernel_sources() -> list[Path]:
    """List the files whose text is part of `kernel_digest`: kernels, what compiles them, and tables of columns."""
    own = [*PACKAGE.glob("jit.py"), *PACKAGE.glob("kernel_compiler/*.py"), *PACKAGE.rglob("tables.py")]
    return sorted([*PACKAGE.rglob("kernels.py"), *PACKAGE.rglob("kernels/**/*.py"), *own])


def kernel_digest() -> str:
    """Digest of every kernel source of the package and of the versions that the machine code depends on."""
    digest = hashlib.blake2b(digest_size=8)
    for source in kernel_sources():
        digest.update(source.relative_to(PACKAGE).as_posix().encode())
        digest.update(source.read_bytes())
    target = compile_target()
    mode = [name for name, is_on in (("plain", IS_PLAIN), ("indices", CHECKS_INDICES)) if is_on]
    versions = (str(sys.implementation.cache_tag), numba.__version__, llvmlite.__version__)
    for version in (*versions, platform.system(), platform.machine(), target.cpu, target.features, *mode):
        digest.update(version.encode() + b"\0")
    return digest.hexdigest()


def target_name() -> str:
    """Return the name of the CPU that machine code is compiled for; part of a recording's header."""
    return compile_target().name


def cpu_name() -> str:
    """Return the name of the CPU of this machine; part of a recording's header."""
    from llvmlite import binding

    return str(binding.get_host_cpu_name())  # type: ignore[no-untyped-call]


def cache_folder() -> Path:
    """Folder of this digest's machine code: ``$CBSIM_CACHE``, else the user's cache folder, else a temporary one.

    Cached machine code is executed as found, so a folder that another user owns or can write to is not used.
    """
    folder = _base_folder()
    target = folder / "cbsim" / kernel_digest()
    try:
        _make(target)
        if os.access(target, os.W_OK) and _is_safe(folder, target):
            return target
    except OSError:
        pass  # a read-only home: fall through to a folder that can be written
    return _make(_private_folder() / target.name)


def _base_folder() -> Path:
    base = os.environ.get("CBSIM_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").absolute()


def read_only_folders() -> list[Path]:
    """Folders of this digest's machine code that are searched first: in the package, and a cache that is read-only.

    The package is as trusted as the machine code of its libraries. A cache must belong to the user or to the system.
    """
    name, base = kernel_digest(), _base_folder()
    found = [PACKAGE / "_kernels" / name]
    taken = base / "cbsim" / name
    if taken.is_dir() and not os.access(taken, os.W_OK) and all(map(_is_trusted, (base, taken.parent, taken))):
        found.append(taken)
    return [folder for folder in found if folder.is_dir()]


def _is_trusted(folder: Path) -> bool:
    """Tell whether a folder belongs to the user or the system and no other user can replace what is in it."""
    return stat.S_ISDIR(folder.lstat().st_mode) and _keeps_own(folder)


def export_cache(folder: Path) -> int:
    """Copy this digest's machine code to a folder that can serve as ``$CBSIM_CACHE`` elsewhere.

    Parameters
    ----------
    folder : Path
        Made if it does not exist.

    Returns
    -------
    count : int
        Number of entries in the folder afterwards.
    """
    target = folder.absolute() / "cbsim" / kernel_digest()
    for source in [*READ_ONLY, Path(config.CACHE_DIR)]:  # type: ignore[attr-defined]
        for path in source.glob("*/*.nbc"):
            if (PACKAGE / Path(*path.parent.name.split("."))).with_suffix(".py").exists():  # kernels of the package
                copy = _make(target / path.parent.name) / path.name
                if not copy.exists():
                    shutil.copyfile(path, copy)
    return sum(1 for _ in target.glob("*/*.nbc"))


def _make(folder: Path) -> Path:
    """Make a folder and its missing parents with mode 0700, whatever the umask."""
    for missing in [*reversed(folder.parents), folder]:
        if not missing.exists():
            missing.mkdir(mode=0o700, exist_ok=True)
    return folder


def _is_safe(base: Path, target: Path) -> bool:
    """Tell whether no other user can write to a folder or replace it; otherwise warn."""
    suspect = next((each for each in (target, target.parent) if not _is_own(each)), None)
    if suspect is None and _keeps_own(base.resolve()):
        return True
    warn_once(f"compiled kernels are not kept in '{suspect or base}', which others own or can write to (chmod go-w)")
    return False


def _is_own(folder: Path) -> bool:
    """Tell whether a folder is the user's and nobody else can write to it."""
    if os.name == "nt":
        return True
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not _others_write(status)


def _keeps_own(folder: Path) -> bool:
    """Tell whether no other user can rename or replace entries of a folder (sticky directories pass)."""
    if os.name == "nt":
        return True
    status = folder.lstat()
    return status.st_uid in (0, os.getuid()) and bool(status.st_mode & stat.S_ISVTX or not _others_write(status))


def _others_write(status: os.stat_result) -> bool:
    """Tell whether other users can write; a group with the user's own number is private (Debian, Fedora)."""
    is_private_group = status.st_gid == status.st_uid != 0
    return bool(status.st_mode & (stat.S_IWOTH if is_private_group else stat.S_IWGRP | stat.S_IWOTH))


@cache
def _private_folder() -> Path:
    """Temporary folder that no other user can write to."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"cbsim-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder if _is_own(folder) else Path(tempfile.mkdtemp(prefix="cbsim-"))


def _searched() -> str:
    """Message about compilation, with the folders that were searched for machine code."""
    shipped = PACKAGE / "_kernels"
    package = (
        "with this package, machine code of another build; "
        if shipped.is_dir() and shipped not in {folder.parent for folder in READ_ONLY}
        else ""
    )
    where = f"({package}none in '{config.CACHE_DIR}')"  # type: ignore[attr-defined]
    return f"compiling kernels for {target_name()}, once for this machine; 'cbsim warmup' does it ahead … {where}"


config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]
READ_ONLY.extend(read_only_folders())
if not config.DISABLE_JIT:  # type: ignore[attr-defined]
    announce_compilation(_searched)


def kernel(function: F) -> F:
    """Compile a function of arrays and numbers at its first call and cache the machine code on disk.

    There is no fast math: results must not depend on the compiler's reassociation.
    """
    return _compiled(EntryPoint, function)


def narrow(function: F) -> F:
    """Compile as `kernel` without vectorising loops, except those of `wide` device functions.

    For large kernels whose loops run over three or six numbers: they are no slower, and the linearisation of a step
    compiles in three quarters of the time.
    """
    return _compiled(ScalarEntryPoint, function)


def inlined(function: F) -> F:
    """Compile as `kernel`, and inline the code wherever a kernel calls it.

    Passing a table to a function copies the descriptor of each of its arrays. That is negligible for a loop over
    bodies, but costs more than the work itself in a function called for each of them.
    """
    return _compiled(Inlined, function)


def inner(function: F) -> F:
    """Compile a device function, which only kernels call, as part of each of them (see `cbsim.kernel_compiler`)."""
    return _compiled(DeviceFunction, function)


def shared(function: F) -> F:
    """Compile as `inner`, but once for all kernels that call it, which is never inlined, and without vectorising loops.

    For large functions that several entry points link, and only where a call more takes no time worth counting.
    """
    return _compiled(Shared, function)


def deferred(returns: str | Callable[..., Any]) -> Callable[[F], F]:
    """Compile as `inner`, but apart, and only when a kernel calls it for the first time.

    For large functions that few Worlds need. A call costs as much as one of a `shared` function whose tuples are passed
    whole, so it takes packed blocks rather than tables.

    Parameters
    ----------
    returns : str or callable
        Name of numba's type of what the function returns, or what gives that type for those of the arguments: callers
        are compiled without it.
    """
    return lambda function: _compiled(partial(Deferred, returns=returns), function)


def cause_of(error: SystemError) -> BaseException:
    """Return what kept a `deferred` function from being compiled, an interruption for one, where a kernel called it.

    Of that numba knows only that a kernel has ended with a code that it has never seen; of other errors, the error.
    """
    return failure() or error


def view(function: F) -> F:
    """Compile as `inner` a function that returns views of its arguments, and count no references in its callers.

    Only for views of arrays that come from Python: they exist until the kernel returns, whatever refers to them.
    """
    return _compiled(View, function)


def wide(function: F) -> F:
    """Compile as `inner` with vectorised loops, in `narrow` kernels too: for long rows.

    Each element gets the bits that a scalar loop gives it: no sum is reordered.
    """
    return _compiled(Vectorized, function)


def _compiled(kind: Callable[[F], Any], function: F) -> F:
    return function if config.DISABLE_JIT else kind(function)  # type: ignore[attr-defined]


def wrapping() -> AbstractContextManager[object]:
    """Let integers wrap around, as hashes and random numbers need: NumPy warns of it, machine code does not."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        import numpy as np

        return np.errstate(over="ignore")
    return NO_CONTEXT
