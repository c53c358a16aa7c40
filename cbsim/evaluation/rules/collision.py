"""``collision``: an object touches nothing, or only below a given speed."""

from __future__ import annotations

import numpy as np

from cbsim.collision.contacts import CONTACT
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.rule import Check, Rule
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation

__all__ = ["Collision"]

A, B, SPEED = (CONTACT.index(column) for column in ("body_a", "body_b", "closing_speed"))


class Collision(Rule):
    """The first contact of the object fails; one slower than `impact_below` does not count.

    Ground and drivable meshes do not count. DARPA's rules of 2006 and 2007 (A.7) ask for no collision at all.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.impact_below = self.number("impact_below", 0.0)
        self.touches = 0
        self.hardest = 0.0
        self.first: tuple[float, str] | None = None
        self.time = 0.0

    def see(self, batch: Batch) -> None:
        """Look for contacts of the object."""
        self.time = float(batch.steps[-1] * self.step)
        contacts = batch.contacts
        mine = np.isin(contacts[:, (A, B)], self.rows)
        for row in contacts[mine[:, 0] != mine[:, 1]]:  # that bodies of a model touch one another is its own affair
            self.touches += 1
            self.hardest = max(self.hardest, float(row[SPEED]))
            if row[SPEED] >= self.impact_below:
                self._fail(row)
                return

    def _fail(self, row: np.ndarray) -> None:
        time, a, b, x, y, z = (float(value) for value in row[:6])
        partner = self.context.name(int(b) if int(a) in self.rows else int(a), time)
        at = f"at {time:.2f} s at ({x:.2f}, {y:.2f}, {z:.2f}) with {row[SPEED]:.2f} m/s"
        self.first = time, f"hit '{partner}' {at}{self._allowed()}"
        self.decided = True

    def _allowed(self) -> str:
        return f", expected less than {self.impact_below:g} m/s" if self.impact_below else ", expected no contact"

    def result(self) -> Check:
        """Pass if nothing was touched too hard."""
        if self.first is not None:
            return self.check(False, *self.first)
        if not self.touches:
            return self.check(True, self.time, "touched nothing")
        plural = "s" if self.touches > 1 else ""
        return self.check(True, self.time, f"{self.touches} contact{plural}, the hardest with {self.hardest:.2f} m/s")
