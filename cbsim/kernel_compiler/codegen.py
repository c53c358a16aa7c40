"""Code generator for the fixed compile target, beside numba's own, which serves the CPU of this machine."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from typing import Any

from numba.core.codegen import JITCPUCodegen
from numba.core.funcdesc import default_mangler
from numba.core.registry import cpu_target

from cbsim.kernel_compiler.target import compile_target

__all__ = ["lasting_name", "target_context"]

LONGEST_NAME = 120  # [characters]


class TargetCodegen(JITCPUCodegen):
    """numba's code generator with the CPU and the extensions of `compile_target`."""

    def _get_host_cpu_name(self) -> str:
        return compile_target().cpu

    def _get_host_cpu_features(self) -> str:
        return compile_target().features


def short_name(name: str, kinds: Any, *, abi_tags: Any = (), uid: Any = None) -> str:
    """Return the name of a function in machine code: numba's, with a digest in place of what makes it too long.

    numba spells out the types of all arguments, which takes kilobytes for tables, wherever the function is named.
    """
    whole = str(default_mangler(name, kinds, abi_tags=abi_tags, uid=uid))
    if len(whole) <= LONGEST_NAME:
        return whole
    digest = blake2b(whole.encode(), digest_size=8).hexdigest()
    return str(default_mangler(name, (), abi_tags=(digest,), uid=uid))


def lasting_name(descriptor: Any) -> str:
    """Return the name of a shared function, the same in every process: without numba's count of functions."""
    name = f"{descriptor.modname}.{descriptor.qualname}"
    digest = blake2b(repr(descriptor.argtypes).encode(), digest_size=16).hexdigest()
    return str(default_mangler(name, (), abi_tags=(digest,)))


@cache
def target_context() -> Any:
    """Return numba's target context with this code generator; kernels of other packages keep numba's own."""
    context: Any = cpu_target.target_context
    return context.subtarget(_internal_codegen=TargetCodegen("cbsim.kernels"), mangler=short_name)
