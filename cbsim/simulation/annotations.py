"""Planner annotations, collected while a run is watched or recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cbsim.errors import UsageError
from cbsim.planner import Driver, Operator, PlannerError
from cbsim.recording.drawings import PERIOD, DrawingRow
from cbsim.spec.drawing import Drawing, drawings_of

__all__ = ["PlannerAnnotations"]


def draw(planner: Any) -> object:
    """Call a planner's ``draw``."""
    return planner.draw()


class PlannerAnnotations:
    """Collects annotations from planners that have a ``draw``; one that fails is reported once and not called again.

    Parameters
    ----------
    period : float
        Minimum time between two calls [s]; 0 calls at every step.

    Attributes
    ----------
    warnings : list of str
        Planners whose ``draw`` failed, and why.
    """

    def __init__(self, period: float = PERIOD) -> None:
        self.period = period
        self.warnings: list[str] = []
        self._silent: set[str] = set()
        self._due = 0.0
        self._shown: tuple[Drawing, ...] = ()

    def rows(self, step: int, time: float, drivers: Sequence[Driver | Operator]) -> list[DrawingRow]:
        """Collect annotations if the period has elapsed; returns a row if something is drawn or has just been cleared.

        Parameters
        ----------
        step : int
            Step at which the drivers have just planned.
        time : float
            Time of that step [s].
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
                driver.guard.call(type(driver.planner).__name__, 0.0, driver.deadline, draw, driver.planner)
            )
        except (PlannerError, UsageError) as error:
            reason = error.reason if isinstance(error, PlannerError) else str(error)
            self._silent.add(driver.name)
            self.warnings.append(f"{driver.name}: draw() failed: {reason.strip().splitlines()[-1]}")
            return ()
