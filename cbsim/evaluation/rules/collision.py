"""``collision``: an object touches nothing, or only below a given speed, with the class of fault."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.collision.contacts import CONTACT
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.rule import Check, Invariant, Measure
from cbsim.evaluation.rules.track import Track
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation
from cbsim.world.traffic.events import HAPPENED, KINDS, LEFT

__all__ = ["Collision"]

A, B, SPEED = (CONTACT.index(column) for column in ("body_a", "body_b", "closing_speed"))
STILL = 0.1  # [m/s] slower counts as rest
ERRED = 10.0  # [s] for which a mistake of the partner's driver is told
OWN_FAULT = ("active front", "active lateral")


class Collision(Invariant):
    """The first contact of the object fails; one slower than `impact_below` does not count.

    Ground and drivable meshes do not count. DARPA's rules of 2006 and 2007 (A.7) ask for no collision at all. Contacts
    of an object with a footprint have a class, as in nuPlan: *stopped* if it was at rest; else by the side that is
    nearest to the place, *active front*, *active lateral* or *rear-ended*. With `at_fault`, only active ones count.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.impact_below = self.number("impact_below", 0.0)
        self.at_fault = bool(expectation["at_fault"])
        self.touches = 0
        self.hardest = 0.0
        self.mistakes: dict[int, tuple[float, str]] = {}
        self._last: Track | None = None  # until the object is absent

    def see(self, batch: Batch) -> None:
        """Look for contacts of the object."""
        self.time = float(batch.steps[-1] * self.step)
        self._last = self.track(batch)
        self._look(batch, batch.contacts)

    def see_absent(self, batch: Batch) -> None:
        """Look for contacts within the step in which the object was taken away."""
        until = (batch.first_step + 1e-9) * self.step if self._last is not None else -np.inf
        self._look(batch, batch.contacts[batch.contacts[:, 0] <= until])
        self._last = None

    def _look(self, batch: Batch, contacts: Floats) -> None:
        """Find the first contact of the object that counts."""
        track = self._last if self.width and self.length else None
        mine = np.isin(contacts[:, (A, B)], self.rows)
        for row in contacts[mine[:, 0] != mine[:, 1]]:  # that bodies of a model touch one another is its own affair
            fault = "" if track is None else self._fault(track, row)
            if self.at_fault and fault and fault not in OWN_FAULT:
                continue
            self.touches += 1
            self.hardest = max(self.hardest, float(row[SPEED]))
            if row[SPEED] >= self.impact_below:
                self._note(batch, float(row[0]))
                self._fail(row, fault)
                return
        self._note(batch, np.inf)

    def _note(self, batch: Batch, until: float) -> None:
        """Note the mistakes of drivers."""
        kinds = batch.events[:, 1]
        for step, kind, row, _ in batch.events[(kinds > LEFT) & (kinds < HAPPENED)].tolist():  # later ones have no row
            if step * self.step <= until:
                self.mistakes[row] = step * self.step, KINDS[kind].replace("_", " ")

    def _fault(self, track: Track, row: Floats) -> str:
        """Class of a contact, by the pose at the step before it."""
        at = max(int(np.searchsorted(track.times, float(row[0]) - 1e-9)) - 1, 0)
        if track.speeds[at] < STILL:
            return "stopped"
        way = row[3:5] - track.centres[at]
        ahead = track.ahead[at]
        along, aside = float(way @ ahead), float(ahead[0] * way[1] - ahead[1] * way[0])
        if 0.5 * self.length - abs(along) > 0.5 * self.width - abs(aside):
            return "active lateral"
        return "active front" if along > 0.0 else "rear-ended"

    def _fail(self, row: np.ndarray, fault: str) -> None:
        time, a, b, x, y, z = (float(value) for value in row[:6])
        other = int(b) if int(a) in self.rows else int(a)
        at = f"at {time:.2f} s at ({x:.2f}, {y:.2f}, {z:.2f}) with {row[SPEED]:.2f} m/s"
        told = f" ({fault})" if fault else ""
        when, mistake = self.mistakes.get(other, (-np.inf, ""))
        erred = f", whose driver {mistake} since {when:.2f} s" if time - when <= ERRED else ""
        self.fail(time, f"hit '{self.context.name(other, time)}'{erred} {at}{told}{self._allowed()}")

    def _allowed(self) -> str:
        return f", expected less than {self.impact_below:g} m/s" if self.impact_below else ", expected no contact"

    def measures(self) -> list[Measure]:
        """Return what was measured."""
        return [Measure("contacts", float(self.touches)), Measure("hardest_impact", self.hardest, "m/s")]

    def kept(self) -> Check:
        """Pass if nothing was touched too hard."""
        if not self.touches:
            return self.check(True, self.time, "touched nothing")
        plural = "s" if self.touches > 1 else ""
        return self.check(True, self.time, f"{self.touches} contact{plural}, the hardest with {self.hardest:.2f} m/s")
