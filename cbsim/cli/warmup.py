"""``cbsim warmup``: compile every kernel ahead, so that no run has to wait."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable
from multiprocessing import get_context
from typing import Annotated

import typer

from cbsim.cli.output import emit, say

__all__ = ["warmup"]


def warmup(quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False) -> None:
    """Compile every kernel and keep the machine code on disk."""
    began = time.perf_counter()
    # models in traffic come last: the steps of mechanisms that they need are there by then, from the other process
    aside = get_context("spawn").Process(target=_compile_traffic, args=(quiet,), daemon=True)  # ends if this one does
    aside.start()
    _compile_mechanisms(quiet)
    aside.join()
    if aside.exitcode:  # killed, for want of memory perhaps: what is left is done here, where errors are told
        _compile_stages(quiet)
    if not quiet:
        from cbsim.jit import cache_folder

        emit(f"compiled in {time.perf_counter() - began:.1f} s, kept in {cache_folder()}")


def _compile_traffic(quiet: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # an interrupted process has nothing to say: the other one does
    _compile_stages(quiet)


def _compile_stages(quiet: bool) -> None:
    from cbsim.simulation.warmup import STAGES

    _compile(STAGES, quiet)


def _compile_mechanisms(quiet: bool) -> None:
    from cbsim.multibody.warmup import every_mechanism

    _compile((("mechanisms", every_mechanism),), quiet)


def _compile(stages: Iterable[tuple[str, Callable[[], object]]], quiet: bool) -> None:
    for name, compile_stage in stages:
        if not quiet:
            say(f"{name} …")
        compile_stage()
