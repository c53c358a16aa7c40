"""``preparation``: an object stands until RUN, and through the alarm after it."""

from __future__ import annotations

import math

import numpy as np

from cbsim.arrays import Floats
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.rule import Check, Invariant
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation

__all__ = ["Preparation"]

STILL = 0.1  # [m/s] slower counts as rest


class Preparation(Invariant):
    """Until RUN and `alarm` after it, the object is slower than 0.1 m/s, and no further than `within` from its start.

    A mission without a clock, which is RUN from the start, asks nothing.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.alarm, self.within = self.number("alarm"), self.number("within")
        self.until = math.inf
        self.place: Floats | None = None

    def see(self, batch: Batch) -> None:
        """Find the first motion before the end of the alarm."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        self.place = track.centres[0].copy() if self.place is None else self.place
        run = self.context.run_states.run(self.row)
        self.until = run + self.alarm if run is not None else 0.0
        away = np.hypot(*(track.centres[1:] - self.place).T)
        moves = (track.speeds[1:] >= STILL) | (away > self.within + 1e-9)
        rows = np.flatnonzero(moves & (track.times[1:] <= self.until + 1e-9) & (self.until > 0.0))
        if len(rows):
            first = 1 + int(rows[0])
            time, (x, y) = float(track.times[first]), track.centres[first].tolist()
            when = f"in the alarm after RUN at {run:.2f} s" if run is not None and run < time - 1e-9 else "before RUN"
            found = f"moved {when}: at {time:.2f} s it drove {track.speeds[first]:.2f} m/s at ({x:.2f}, {y:.2f}),"
            found += f" {away[first - 1]:.2f} m from its start"
            self.fail(time, f"{found}; expected rest until {self.alarm:g} s after RUN")
        self.decided |= self.time > self.until + 1e-9

    def kept(self) -> Check:
        """Pass if it stood."""
        if self.until <= 0.0:
            return self.check(True, 0.0, "RUN from the start, without an alarm")
        if self.time < self.until - 1e-9:
            told = f"undecided: the run ends at {self.time:.2f} s, before {self.alarm:g} s after RUN"
            return self.check(None, self.time, told)
        return self.check(True, self.until, f"stood until {self.until:.2f} s, {self.alarm:g} s after RUN")
