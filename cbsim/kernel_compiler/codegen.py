"""Code generator for the fixed compile target, beside numba's own, which serves the CPU of this machine."""

from __future__ import annotations

from functools import cache
from typing import Any

from numba.core.codegen import JITCPUCodegen
from numba.core.registry import cpu_target

from cbsim.kernel_compiler.target import compile_target

__all__ = ["target_context"]


class TargetCodegen(JITCPUCodegen):
    """numba's code generator with the CPU and the extensions of `compile_target`."""

    def _get_host_cpu_name(self) -> str:
        return compile_target().cpu

    def _get_host_cpu_features(self) -> str:
        return compile_target().features


@cache
def target_context() -> Any:
    """Return numba's target context with this code generator; kernels of other packages keep numba's own."""
    context: Any = cpu_target.target_context
    return context.subtarget(_internal_codegen=TargetCodegen("cbsim.kernels"))
