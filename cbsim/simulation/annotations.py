"""What planners show of their thoughts, asked for while somebody looks or records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cbsim.errors import UsageError
from cbsim.planner import Driver, Operator, PlannerError
from cbsim.recording.drawings import PERIOD, DrawingRow
from cbsim.spec.drawing import Drawing, drawings_of

__all__ = ["Thoughts"]


def draw(planner: Any) -> object:
    """Ask a planner what it shows."""
    return planner.draw()


class Thoughts:
    """Asks planners that have a ``draw``; one that fails to draw is told once and not asked again: it still drives.

    Parameters
    ----------
    period : float
        Between two times that they are asked at least [s]; 0 asks at every step.

    Attributes
    ----------
    complaints : list of str
        Who failed to draw, and how.
    """

    def __init__(self, period: float = PERIOD) -> None:
        self.period = period
        self.complaints: list[str] = []
        self._silent: set[str] = set()
        self._due = 0.0
        self._shown: tuple[Drawing, ...] = ()

    def rows(self, step: int, time: float, drivers: Sequence[Driver | Operator]) -> list[DrawingRow]:
        """Ask them all at a step, if it is time to; a row if they show something, or cease to.

        Parameters
        ----------
        step : int
            At which they have just planned.
        time : float
            Of that step [s].
        drivers : sequence of Driver or Operator
        """
        if time < self._due - 1e-9:
            return []
        self._due = time + self.period
        before, self._shown = self._shown, self._of(drivers)
        return [DrawingRow(step, self._shown)] if self._shown or before else []

    def _of(self, drivers: Sequence[Driver | Operator]) -> tuple[Drawing, ...]:
        found: list[Drawing] = []
        for driver in drivers:
            if driver.name not in self._silent and callable(getattr(driver.planner, "draw", None)):
                found.extend(self._ask(driver))
        return tuple(found)

    def _ask(self, driver: Driver | Operator) -> tuple[Drawing, ...]:
        try:
            return drawings_of(
                driver.isolation.call(type(driver.planner).__name__, 0.0, driver.deadline, draw, driver.planner)
            )
        except (PlannerError, UsageError) as error:
            reason = error.reason if isinstance(error, PlannerError) else str(error)
            self._silent.add(driver.name)
            self.complaints.append(f"{driver.name}: draw() failed: {reason.strip().splitlines()[-1]}")
            return ()
