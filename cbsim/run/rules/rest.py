"""``rest``: an object stands still from a time to the end."""

from __future__ import annotations

import numpy as np

from cbsim.road.roadmap import RoadMap
from cbsim.run.batch import Batch, Header
from cbsim.run.rules.rule import Check, Rule
from cbsim.spec.scenario import Expectation

__all__ = ["Rest"]

STILL = 0.01  # [m/s]


class Rest(Rule):
    """Any speed above 1 cm/s after the given time fails; so does a run that ends before it."""

    def __init__(self, expectation: Expectation, header: Header, roadmap: RoadMap | None) -> None:
        super().__init__(expectation, header, roadmap)
        self.since = float(expectation["from"])  # type: ignore[arg-type]
        self.moved: float | None = None
        self.time = 0.0

    def see(self, batch: Batch) -> None:
        """Note the first motion after the time."""
        times = batch.steps * self.step
        moving = np.flatnonzero((times >= self.since - 1e-9) & (self.speeds(batch) > STILL))
        if self.moved is None and len(moving):
            self.moved = float(times[moving[0]])
        self.time = float(times[-1])

    def result(self) -> Check:
        """Pass if it stood still and the run lasted long enough to tell."""
        if self.time < self.since - 1e-9:
            return self.check(False, self.time, f"the run ended at {self.time:.2f} s, before {self.since:g} s")
        if self.moved is not None:
            return self.check(False, self.moved, f"moved at {self.moved:.2f} s, expected rest from {self.since:g} s")
        return self.check(True, self.time, f"at rest from {self.since:g} s")
