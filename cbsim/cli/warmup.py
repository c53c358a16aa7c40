"""``cbsim warmup``: compilation of all kernels in advance."""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import typer

from cbsim.cli.output import print_result, print_status
from cbsim.collector import collector_at_rest
from cbsim.errors import UsageError

__all__ = ["warmup"]


def warmup(
    export: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Copy the machine code to a folder that serves as $CBSIM_CACHE elsewhere."),
    ] = None,
    times: Annotated[bool, typer.Option("--times", help="Print the CPU time that each kernel took.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    """Compile all kernels and cache the machine code on disk."""
    with _without_collection():
        if times:
            _print_times()
        else:
            _compile_everything(quiet)
    if export is not None:
        _export(Path(export), quiet)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Collect no garbage: what the compiler leaves is looked through in vain as long as this process lasts."""
    with collector_at_rest():
        try:
            yield
        finally:
            gc.freeze()  # nor at its end


def _print_times() -> None:
    """Compile in one process, so that no kernel waits for another."""
    from cbsim.kernel_compiler.times import compile_times

    with compile_times() as taken:
        _compile_mechanisms(quiet=True)
        _compile_stages(quiet=True)
    for name, seconds in sorted(taken.items(), key=lambda each: -sum(each[1])):
        overloads = f" in {len(seconds)} overloads" if len(seconds) > 1 else ""
        print_result(f"{sum(seconds):8.2f} s  {name}{overloads}")
    print_result(f"{sum(map(sum, taken.values())):8.2f} s  of CPU time; kernels that were in the cache took none")


def _export(folder: Path, quiet: bool) -> None:
    from cbsim.jit import export_cache

    try:
        count = export_cache(folder)
    except OSError as reason:
        raise UsageError(f"'{folder}' cannot be written: {reason.strerror or reason}") from None
    if not quiet:
        print_result(f"{count} entries in '{folder}': set CBSIM_CACHE to it")


def _compile_everything(quiet: bool) -> None:
    """Compile in two processes at once."""
    began = time.perf_counter()
    # models in traffic come last: by then, the other process has compiled the steps of mechanisms that they need
    aside = get_context("spawn").Process(target=_compile_traffic, args=(quiet,), daemon=True)  # ends with this process
    aside.start()
    _compile_mechanisms(quiet)
    aside.join()
    if aside.exitcode:  # killed, perhaps for lack of memory: compile the rest here, where errors are reported
        _compile_stages(quiet)
    if not quiet:
        from cbsim.jit import cache_folder, target_name

        took = time.perf_counter() - began
        print_result(f"compiled for {target_name()} in {took:.1f} s, kept in {cache_folder()}")


def _compile_traffic(quiet: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # only the main process reports an interrupt
    with _without_collection():
        _compile_stages(quiet)


def _compile_stages(quiet: bool) -> None:
    from cbsim.simulation.warmup import STAGES

    _compile(STAGES, quiet)
    if find_spec("gymnasium") is not None:  # the extra `gym`, whose kernels nobody needs without it
        from cbsim.gym.warmup import every_environment

        _compile((("environments", every_environment),), quiet)


def _compile_mechanisms(quiet: bool) -> None:
    from cbsim.multibody.warmup import every_mechanism

    _compile((("mechanisms", every_mechanism),), quiet)


def _compile(stages: Iterable[tuple[str, Callable[[], object]]], quiet: bool) -> None:
    for name, compile_stage in stages:
        if not quiet:
            print_status(f"{name} …")
        compile_stage()
