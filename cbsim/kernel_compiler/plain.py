"""Kernels compiled by `numba.njit` alone, without numba's internals: slower to compile, the same bits.

Used with ``CBSIM_PLAIN_NUMBA=1``, and where a version of numba lacks an internal hook that the package relies on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core import config

from cbsim.kernel_compiler.target import compile_target

__all__ = [
    "Deferred",
    "DeviceDispatcher",
    "DeviceFunction",
    "EntryPoint",
    "Inlined",
    "ScalarEntryPoint",
    "Shared",
    "Vectorized",
    "View",
    "njit",
]


def njit(function: Callable[..., Any], **options: Any) -> Any:
    """Compile with public options only, and cache in the folder of `cbsim.jit`; without a source file, in no folder."""
    target = compile_target()
    settings: Any = config
    if settings.CPU_NAME is None:  # read by numba when its first function is made
        settings.CPU_NAME, settings.CPU_FEATURES = target.cpu, target.features
    make = numba.njit(fastmath=False, error_model="numpy", nogil=True, cache=True, **options)
    try:
        return make(function)
    except RuntimeError:  # numba found no folder for its cache
        return numba.njit(fastmath=False, error_model="numpy", nogil=True, **options)(function)


class EntryPoint:
    """A kernel that Python calls."""

    options: dict[str, Any] = {}  # noqa: RUF012 (never written)

    def __new__(cls, py_func: Callable[..., Any]) -> Any:
        """Return numba's own dispatcher."""
        return njit(py_func, **cls.options)


class ScalarEntryPoint(EntryPoint):
    """A kernel that Python calls; plain numba vectorises its loops like any other."""


class DeviceFunction(EntryPoint):
    """A kernel that kernels call."""


class Shared(EntryPoint):
    """A kernel that several kernels call."""


class Deferred(EntryPoint):
    """A kernel that others call under certain conditions only; plain numba compiles it with them."""

    def __new__(cls, py_func: Callable[..., Any], returns: object = None) -> Any:  # noqa: ARG004 (numba infers it)
        """Return numba's own dispatcher."""
        return super().__new__(cls, py_func)


class Vectorized(EntryPoint):
    """A kernel with long loops."""


class View(EntryPoint):
    """A kernel that returns views of its arguments; plain numba counts their references."""


class Inlined(EntryPoint):
    """A kernel that is inlined into its callers."""

    options = {"forceinline": True}  # noqa: RUF012


class DeviceDispatcher:
    """Stand-in for the dispatcher of device functions, of which there are none here."""
