"""``following``: an object keeps between two distances behind a vehicle that moves."""

from __future__ import annotations

import math

import numpy as np

from cbsim.arrays import Floats
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.leader import Ahead
from cbsim.evaluation.rules.separation import Gaps
from cbsim.evaluation.rules.track import Track
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation
from cbsim.units import MPH

__all__ = ["Following"]

LEAST_PACE, MOST_PACE = 14.0 * MPH, 16.0 * MPH  # [m/s] of the leader, about 15 mph, at which `least` and `most` hold


class Following(Gaps):
    """Never closer than `least`, nor further than `most`, behind a leader of 15 mph; per 10 mph `lengths` (B.3).

    *Rules 2006* ask for 15 m and 40 m behind a leader at 15 mph, *Criteria 2007* for a length per 10 mph behind any
    that moves. `most` holds from the first time on that the object was so near to that leader.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.nearer, self.further = self.number("least"), self.number("most")
        self.lengths = self.number("lengths")
        self.follows = -1

    def least(self, track: Track, ahead: Ahead) -> Floats:
        """Least gap at each step."""
        steady = (ahead.speed >= LEAST_PACE) & (ahead.speed <= MOST_PACE)
        moves = ahead.speed > 0.5
        by_speed = self.lengths * self.length * track.speeds[1:] / (10.0 * MPH)
        return np.where(moves, np.maximum(by_speed, np.where(steady, self.nearer, 0.0)), 0.0)

    def see(self, batch: Batch) -> None:
        """Compare each gap with the least and the most."""
        if math.isfinite(self.further):
            self._far(batch)
        failed = self.failure
        super().see(batch)
        if failed is not None and (self.failure is None or failed[0] <= self.failure[0]):
            self.failure = failed
        self.decided = self.failure is not None

    def forget(self) -> None:
        """Forget the leader."""
        self.follows = -1

    def _far(self, batch: Batch) -> None:
        track = self.track(batch)
        ahead = self.leader.ahead(track, batch)
        columns = (track.times[1:], ahead.row, ahead.gap, ahead.speed)
        for step, (time, row, gap, pace) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
            if row != self.follows and not (row >= 0 and gap <= self.further):
                self.follows = -1
            elif gap <= self.further:
                self.follows = row
            elif LEAST_PACE <= pace <= MOST_PACE:
                x, y = track.centres[1 + step].tolist()
                who = self.context.name(row, time)
                found = f"fell {gap:.2f} m behind '{who}' at {time:.2f} s at ({x:.2f}, {y:.2f})"
                self.failure = time, f"{found}, expected {self.further:g} m at most"
                return
