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
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import config

from cbsim.parts import Door, Inlined, Inside, NarrowDoor, Wide

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
    """Folder of this digest's machine code: ``$CBSIM_CACHE``, else the user's cache folder, else a temporary one."""
    base = os.environ.get("CBSIM_CACHE") or os.environ.get("XDG_CACHE_HOME")
    folder = Path(base) if base else Path.home() / ".cache"
    target = folder / "cbsim" / kernel_digest()
    try:
        target.mkdir(parents=True, exist_ok=True)
        if os.access(target, os.W_OK):
            return target
    except OSError:
        pass  # a read-only home: fall through to a folder that can be written
    return _private_folder() / target.name


@cache
def _private_folder() -> Path:
    """Folder among temporary files that nobody else can write: machine code from there is run as it is found."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"cbsim-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    is_own = status.st_uid == user and not status.st_mode & 0o022 and not folder.is_symlink()
    return folder if is_own or os.name == "nt" else Path(tempfile.mkdtemp(prefix="cbsim-"))


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
