"""Compile times of kernels: CPU time per kernel (``cbsim warmup --times``), and wall-clock time per thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

__all__ = ["compile_seconds", "compile_times"]


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


class _ThreadClock(event.Listener):
    """Takes the wall-clock time that each thread spends compiling kernels of this package."""

    def __init__(self) -> None:
        self.total: dict[int, float] = {}
        self.began: dict[int, float] = {}
        self._depth: dict[int, int] = {}

    def on_start(self, begun: event.Event) -> None:
        function: Any = getattr(begun.data["dispatcher"], "py_func", None)
        thread = threading.get_ident()
        if thread in self._depth:
            self._depth[thread] += 1
        elif (getattr(function, "__module__", None) or "").startswith("cbsim."):
            self._depth[thread], self.began[thread] = 1, time.monotonic()

    def on_end(self, _ended: event.Event) -> None:
        thread = threading.get_ident()
        if thread not in self._depth:
            return
        self._depth[thread] -= 1
        if not self._depth[thread]:
            self.total[thread] = compile_seconds(thread)
            del self._depth[thread], self.began[thread]


_CLOCK = _ThreadClock()
event.register("numba:compile", _CLOCK)


def compile_seconds(thread: int) -> float:
    """Return the wall-clock time [s] that a thread has spent compiling kernels, including one that it compiles now.

    Parameters
    ----------
    thread : int
        As `threading.get_ident` returns it.
    """
    began = _CLOCK.began.get(thread)
    return _CLOCK.total.get(thread, 0.0) + (0.0 if began is None else time.monotonic() - began)
