"""Compile times of kernels, as ``cbsim warmup --times`` prints them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event

__all__ = ["compile_times"]


class _Clock(event.Listener):
    """Takes the CPU time of each compilation that Python asked for, with everything that it links."""

    def __init__(self, times: dict[str, list[float]]) -> None:
        self._times, self._began, self._depth = times, 0.0, 0

    def on_start(self, _begun: event.Event) -> None:
        if self._depth == 0:
            self._began = time.process_time()
        self._depth += 1

    def on_end(self, ended: event.Event) -> None:
        self._depth -= 1
        if self._depth == 0:
            function = ended.data["dispatcher"].py_func
            name = f"{function.__module__}.{function.__qualname__}"
            self._times.setdefault(name, []).append(time.process_time() - self._began)


@contextmanager
def compile_times() -> Iterator[dict[str, list[float]]]:
    """Measure compilation meanwhile.

    Yields
    ------
    times : dict
        Name of a kernel → CPU time [s] of each of its overloads.
    """
    times: dict[str, list[float]] = {}
    clock = _Clock(times)
    event.register("numba:compile", clock)
    try:
        yield times
    finally:
        event.unregister("numba:compile", clock)
