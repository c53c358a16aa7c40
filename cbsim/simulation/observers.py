"""`Company`: who goes along with a run step by step, to look or to slow it down; it never changes a bit of the run."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from cbsim.errors import UsageError

if TYPE_CHECKING:
    from cbsim.recording.recorder import Recorder
    from cbsim.simulation.loop import Run

__all__ = ["Company", "Pace"]


class Company(Protocol):
    """Goes along with a run."""

    @property
    def listeners(self) -> Sequence[Recorder]:
        """Who wants to hear what the run gives; with any, scans are taken even if nobody records them."""

    def meet(self, run: Run) -> None:
        """Be introduced before the first step, when planners sit at their wheels."""

    def after(self, run: Run) -> None:
        """Look at what a step has made; the next one begins when this returns."""


class Pace:
    """Keeps a run to the clock on the wall.

    Parameters
    ----------
    factor : float
        Times as fast as the world.

    Raises
    ------
    UsageError
        If it is no number above 0.
    """

    listeners: Sequence[Recorder] = ()

    def __init__(self, factor: float) -> None:
        if not 0.0 < factor < math.inf:
            raise UsageError(f"realtime is {factor!r}, expected a number above 0")
        self.factor = factor
        self._began = (0.0, 0.0)

    def meet(self, run: Run) -> None:
        """Look at the clock."""
        self._began = time.perf_counter(), run.snapshot.time

    def after(self, run: Run) -> None:
        """Wait until the step's time has come; a run that is late is not waited for."""
        due = self._began[0] + (run.snapshot.time - self._began[1]) / self.factor
        wait = due - time.perf_counter()
        if wait > 0.0:
            time.sleep(wait)
