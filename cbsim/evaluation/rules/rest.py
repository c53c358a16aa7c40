"""``rest``: an object is at rest from a time to the end."""

from __future__ import annotations

import numpy as np

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.rule import Check, Rule
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation

__all__ = ["Rest"]

STILL = 0.01  # [m/s]


class Rest(Rule):
    """Any speed above 1 cm/s after the given time fails; so does a run that ends before it."""

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.since = self.number("from", 0.0)
        self.moved: float | None = None
        self.time, self.seen = 0.0, -np.inf  # [s] of the last step, and of the last at which the object was there

    def see(self, batch: Batch) -> None:
        """Find the first motion after the time."""
        track = self.track(batch)
        moving = np.flatnonzero((track.times[1:] >= self.since - 1e-9) & (track.speeds[1:] > STILL))
        self.time = self.seen = float(track.times[-1])
        if len(moving):
            self.moved = float(track.times[1 + moving[0]])
            self.decided = True

    def see_absent(self, batch: Batch) -> None:
        """Note how long the run lasts."""
        self.time = float(batch.steps[-1] * self.step)

    def result(self) -> Check:
        """Pass if the object stood still and the run lasted long enough."""
        if self.moved is not None:
            return self.check(False, self.moved, f"moved at {self.moved:.2f} s, expected rest from {self.since:g} s")
        if self.time < self.since - 1e-9:
            return self.check(False, self.time, f"the run ended at {self.time:.2f} s, before {self.since:g} s")
        if self.seen < self.since - 1e-9:
            return self.check(False, self.time, f"was not there from {self.since:g} s on, expected rest")
        return self.check(True, self.time, f"at rest from {self.since:g} s")
