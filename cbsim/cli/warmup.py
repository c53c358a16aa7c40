"""``cbsim warmup``: compilation of all kernels in advance."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable
from multiprocessing import get_context
from typing import Annotated

import typer

from cbsim.cli.output import print_result, print_status

__all__ = ["warmup"]


def warmup(quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False) -> None:
    """Compile all kernels and cache the machine code on disk."""
    began = time.perf_counter()
    # models in traffic come last: by then, the other process has compiled the steps of mechanisms that they need
    aside = get_context("spawn").Process(target=_compile_traffic, args=(quiet,), daemon=True)  # ends with this process
    aside.start()
    _compile_mechanisms(quiet)
    aside.join()
    if aside.exitcode:  # killed, perhaps for lack of memory: compile the rest here, where errors are reported
        _compile_stages(quiet)
    if not quiet:
        from cbsim.jit import cache_folder

        print_result(f"compiled in {time.perf_counter() - began:.1f} s, kept in {cache_folder()}")


def _compile_traffic(quiet: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # only the main process reports an interrupt
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
            print_status(f"{name} …")
        compile_stage()
