"""`kernel`: numba's compiler with a cache that notices every edit.

numba's own cache looks at the one file a function stands in, so an edit of a callee in another file leaves callers
stale. Here the cache folder is named by a digest of *all* kernel sources plus the versions of Python, numba and the
CPU's name: any edit, any upgrade, another CPU: another folder. Kernels must run unchanged with
``NUMBA_DISABLE_JIT=1``.
"""

from __future__ import annotations

import hashlib
import os
import platform
import stat
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import config

from cbsim.parts import Door, Inlined, Inside, NarrowDoor, Wide
from cbsim.parts.cache import warn_once

__all__ = [
    "bits_of",
    "cache_folder",
    "float_of",
    "inlined",
    "inner",
    "kernel",
    "kernel_digest",
    "multiply_high",
    "narrow",
    "wide",
    "wrapping",
]

NOTHING = nullcontext()
PACKAGE = Path(__file__).resolve().parent


def kernel_digest() -> str:
    """Digest every ``kernels`` source of the package, with the versions that the machine code depends on."""
    digest = hashlib.blake2b(digest_size=8)
    own = [*PACKAGE.glob("jit.py"), *PACKAGE.glob("parts/*.py"), *PACKAGE.rglob("tables.py")]
    for source in sorted([*PACKAGE.rglob("kernels.py"), *PACKAGE.rglob("kernels/*.py"), *own]):
        digest.update(source.relative_to(PACKAGE).as_posix().encode())
        digest.update(source.read_bytes())
    for version in (platform.python_version(), numba.__version__, platform.machine(), cpu_name()):
        digest.update(version.encode())
    return digest.hexdigest()


def cpu_name() -> str:
    """Name the CPU type that machine code is made for; part of a recording's header."""
    from llvmlite import binding

    return str(binding.get_host_cpu_name())  # type: ignore[no-untyped-call]


def cache_folder() -> Path:
    """Folder of this digest's machine code: ``$CBSIM_CACHE``, else the user's cache folder, else a temporary one.

    Machine code from there is run as it is found, so a folder that anyone else owns or can write to is not used.
    """
    base = os.environ.get("CBSIM_CACHE") or os.environ.get("XDG_CACHE_HOME")
    folder = (Path(base) if base else Path.home() / ".cache").absolute()
    target = folder / "cbsim" / kernel_digest()
    try:
        _make(target)
        if os.access(target, os.W_OK) and _is_safe(folder, target):
            return target
    except OSError:
        pass  # a read-only home: fall through to a folder that can be written
    return _make(_private_folder() / target.name)


def _make(folder: Path) -> Path:
    """Make a folder, and those above it that are missing, which nobody else can write to whatever the umask."""
    for missing in [*reversed(folder.parents), folder]:
        if not missing.exists():
            missing.mkdir(mode=0o700, exist_ok=True)
    return folder


def _is_safe(base: Path, target: Path) -> bool:
    """Tell whether nobody else can have written what is in a folder, nor can put another in its place; else say so."""
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
    """Tell whether nobody but the system can replace what the user has in a folder, as in the temporary one."""
    if os.name == "nt":
        return True
    status = folder.lstat()
    return status.st_uid in (0, os.getuid()) and bool(status.st_mode & stat.S_ISVTX or not _others_write(status))


def _others_write(status: os.stat_result) -> bool:
    """Tell whether others can write; a group that has the user's number is that user alone, as Debian and Fedora do."""
    is_private_group = status.st_gid == status.st_uid != 0
    return bool(status.st_mode & (stat.S_IWOTH if is_private_group else stat.S_IWGRP | stat.S_IWOTH))


@cache
def _private_folder() -> Path:
    """Folder among temporary files that nobody else can write: machine code from there is run as it is found."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"cbsim-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder if _is_own(folder) else Path(tempfile.mkdtemp(prefix="cbsim-"))


config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function of arrays and numbers to machine code at its first call, and keep the code on disk.

    No fast math, so that the bits of a run do not depend on how the compiler felt about the order of a sum.
    """
    return _compiled(Door, function)


def narrow(function: Callable[..., Any]) -> Any:
    """Compile as `kernel`, with loops that run a round at a time, but for those of `wide` parts.

    For kernels that are large and do whatever they do to three or six numbers: their loops are no slower so, and
    linearising a step compiles in three quarters of the time.
    """
    return _compiled(NarrowDoor, function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile as `kernel`, and put the code wherever a kernel calls it.

    A table that a kernel hands on costs a copy of the description of each of its arrays. That is nothing for a loop
    over bodies, and more than the work itself for what is done to each of them.
    """
    return _compiled(Inlined, function)


def inner(function: Callable[..., Any]) -> Any:
    """Compile what only kernels call as a part of each of them: `cbsim.parts` says how."""
    return _compiled(Inside, function)


def wide(function: Callable[..., Any]) -> Any:
    """Compile as `inner`, with loops that run several rounds at a time in `narrow` kernels too: for long rows.

    Each number is what it would be by itself: no sum is taken in another order.
    """
    return _compiled(Wide, function)


def _compiled(kind: Callable[..., Any], function: Callable[..., Any]) -> Any:
    return function if config.DISABLE_JIT else kind(function)  # type: ignore[attr-defined]


def wrapping() -> AbstractContextManager[object]:
    """Let whole numbers wrap, as hashes and random numbers mean to: plain Python warns of it, machine code does not."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        import numpy as np

        return np.errstate(over="ignore")
    return NOTHING


if config.DISABLE_JIT:  # type: ignore[attr-defined]
    import numpy as np

    def multiply_high(one: Any, two: Any) -> Any:
        """Return the upper 64 bits of the product of two whole numbers of 64 bits."""
        return np.uint64((int(one) * int(two)) >> 64)

    def bits_of(number: Any) -> Any:
        """Return the 64 bits of a real number."""
        return np.float64(number).view(np.uint64)

    def float_of(bits: Any) -> Any:
        """Return the real number that has these 64 bits."""
        return np.uint64(bits).view(np.float64)

else:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    WORD, WIDE, REAL = ir.IntType(64), ir.IntType(128), ir.DoubleType()  # type: ignore[no-untyped-call]

    @intrinsic
    def multiply_high(_context: Any, _one: Any, _two: Any) -> Any:
        """Return the upper 64 bits of the product of two whole numbers of 64 bits: one instruction, said like this."""

        def build(_: Any, builder: Any, __: Any, values: Any) -> Any:
            one, two = (builder.zext(value, WIDE) for value in values)
            return builder.trunc(builder.lshr(builder.mul(one, two), WIDE(64)), WORD)

        return types.uint64(types.uint64, types.uint64), build

    @intrinsic
    def bits_of(_context: Any, _number: Any) -> Any:
        """Return the 64 bits of a real number."""
        return types.uint64(types.float64), lambda _, builder, __, values: builder.bitcast(values[0], WORD)

    @intrinsic
    def float_of(_context: Any, _bits: Any) -> Any:
        """Return the real number that has these 64 bits."""
        return types.float64(types.uint64), lambda _, builder, __, values: builder.bitcast(values[0], REAL)
