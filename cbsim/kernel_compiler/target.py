"""CPU that kernels are compiled for: one fixed target per architecture, so that machine code is the same everywhere.

``CBSIM_CPU`` selects another one: ``native`` for this CPU with all its extensions, or a name of `X86_LEVELS`.
``CBSIM_CHECK_INDICES=1`` has kernels look at every index of an array.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from functools import cache

from llvmlite import binding

from cbsim.kernel_compiler.messages import warn_once

__all__ = ["CHECKS_INDICES", "Target", "compile_target"]

V2 = ("cx16", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2")
V3 = (*V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
X86_LEVELS = {
    "x86-64-v3": V3,
    "x86-64-v2": V2,
    "x86-64-v4": (*V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
}
"""Levels of the x86-64 psABI, the preferred ones first, and the extensions that each requires, as LLVM names them."""
DEFAULTS = ("x86-64-v3", "x86-64-v2")
ARM_EXTENSIONS = ("lse", "rdm")  # extensions of ARMv8.1 that tell a CPU of ARMv8.2 from older ones


CHECKS_INDICES = os.environ.get("CBSIM_CHECK_INDICES", "0") not in ("", "0")
"""Whether kernels end the process at an index out of range; by default they look at none, as C does."""


@dataclass(frozen=True)
class Target:
    """A CPU to compile for.

    Attributes
    ----------
    name : str
        Name in a recording's header and in the key of the kernel cache.
    cpu : str
        LLVM's name of the CPU.
    features : str
        LLVM's list of extensions besides those of the CPU.
    """

    name: str
    cpu: str
    features: str = ""


@cache
def compile_target() -> Target:
    """Return the target of this process."""
    machine = platform.machine().lower()
    wanted = os.environ.get("CBSIM_CPU", "")
    if wanted == "native":
        return _native()
    if machine in ("x86_64", "amd64"):
        return _x86(wanted)
    if wanted and wanted != "generic":
        warn_once(f"CBSIM_CPU is '{wanted}', expected 'native' or 'generic' on this architecture; it is ignored")
    if machine in ("aarch64", "arm64"):
        has = _extensions()
        return (
            Target("armv8.2-a", "generic", "+v8.2a") if has.issuperset(ARM_EXTENSIONS) else Target("armv8-a", "generic")
        )
    return _native()


def _x86(wanted: str) -> Target:
    """Return a level of x86-64: the one that is wanted, if the CPU has it, else the best default."""
    has = _extensions()
    fitting = [name for name, extensions in X86_LEVELS.items() if has.issuperset(extensions)]
    if wanted in fitting:
        return Target(wanted, wanted)
    if wanted:
        why = "this CPU lacks" if wanted in X86_LEVELS else f"expected native, {', '.join(sorted(X86_LEVELS))}, not"
        warn_once(f"CBSIM_CPU: {why} '{wanted}'; it is ignored")
    for name in DEFAULTS:
        if name in fitting:
            return Target(name, name)
    warn_once("this CPU is older than x86-64-v2: kernels are compiled for this CPU alone")
    return _native()


def _native() -> Target:
    name = str(binding.get_host_cpu_name())
    return Target(f"native {name}", name, binding.get_host_cpu_features().flatten())


def _extensions() -> set[str]:
    return {name for name, present in binding.get_host_cpu_features().items() if present}
