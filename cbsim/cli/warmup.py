"""``cbsim warmup``: compile every kernel ahead, so that no run has to wait."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from cbsim.cli.output import emit, say

__all__ = ["warmup"]


def warmup(quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False) -> None:
    """Compile every kernel and keep the machine code on disk."""
    from cbsim.multibody.warmup import every_mechanism
    from cbsim.run.warmup import STAGES

    began = time.perf_counter()
    stages = (*STAGES, ("mechanisms", every_mechanism))
    for number, (name, compile_stage) in enumerate(stages, 1):
        if not quiet:
            say(f"[{number}/{len(stages)}] {name} …")
        compile_stage()
    if not quiet:
        from cbsim.jit import cache_folder

        emit(f"compiled in {time.perf_counter() - began:.1f} s, kept in {cache_folder()}")
