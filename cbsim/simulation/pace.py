"""`Pace`: a run observer that synchronizes a run with the wall clock, without affecting its results."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cbsim.errors import UsageError

if TYPE_CHECKING:
    from cbsim.recording.recorder import Recorder
    from cbsim.simulation.loop import Run

__all__ = ["Pace"]


class Pace:
    """Synchronizes a run with the wall clock.

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
        """Wait until the wall time of the step; a late run is not delayed."""
        due = self._began[0] + (run.snapshot.time - self._began[1]) / self.factor
        wait = due - time.perf_counter()
        if wait > 0.0:
            time.sleep(wait)
