"""What planners show of their thoughts, asked for while somebody looks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cbsim.errors import UsageError
from cbsim.planner import Driver, Operator, PlannerError
from cbsim.spec.drawing import Drawing, drawings_of

__all__ = ["Thoughts"]


def draw(planner: Any) -> object:
    """Ask a planner what it shows."""
    return planner.draw()


class Thoughts:
    """Asks planners that have a ``draw``; one that fails to draw is told once and not asked again: it still drives."""

    def __init__(self) -> None:
        self._silent: set[str] = set()
        self.complaints: list[str] = []

    def of(self, drivers: Sequence[Driver | Operator]) -> tuple[Drawing, ...]:
        """Ask them all."""
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
            self.complaints.append(f"{driver.name}: draw() failed: {reason.strip().splitlines()[-1]}")
            return ()
