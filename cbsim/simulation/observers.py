"""Run observers: watch or pace a run step by step without affecting its results."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from cbsim.errors import UsageError

if TYPE_CHECKING:
    from cbsim.recording.recorder import Recorder
    from cbsim.simulation.loop import Run

__all__ = ["Pace", "RunObserver"]


class RunObserver(Protocol):
    """Observer of a run."""

    @property
    def listeners(self) -> Sequence[Recorder]:
        """Recorders that receive the run's output; if there are any, scans are taken even if nothing records them."""

    def on_start(self, run: Run) -> None:
        """Handle the start of a run, before the first step and after the planners have started."""

    def on_step(self, run: Run) -> None:
        """Handle the end of a step; the next one begins when this returns."""


class Pace:
    """Keeps a run in step with the wall clock.

    Parameters
    ----------
    factor : float
        Simulated time per wall time.

    Raises
    ------
    UsageError
        If the factor is not positive and finite.
    """

    listeners: Sequence[Recorder] = ()

    def __init__(self, factor: float) -> None:
        if not 0.0 < factor < math.inf:
            raise UsageError(f"realtime is {factor!r}, expected a number above 0")
        self.factor = factor
        self._began = (0.0, 0.0)

    def on_start(self, run: Run) -> None:
        """Start the clock."""
        self._began = time.perf_counter(), run.snapshot.time

    def on_step(self, run: Run) -> None:
        """Wait until the step's time has come; a run that is late is not delayed."""
        due = self._began[0] + (run.snapshot.time - self._began[1]) / self.factor
        wait = due - time.perf_counter()
        if wait > 0.0:
            time.sleep(wait)
