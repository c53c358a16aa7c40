"""``mission_time``: the mission is finished in time, without excess delay."""

from __future__ import annotations

import math

import numpy as np

from cbsim.errors import UsageError
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.progress import STILL, Progress
from cbsim.evaluation.rules.rule import Check, Rule
from cbsim.evaluation.rules.track import Track
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation
from cbsim.world.tables import Floats

__all__ = ["MissionTime"]

CLEAR = 30.0  # [m] DARPA's safety area: nothing within it moves during excess delay


class MissionTime(Rule):
    """Time from the start until the last checkpoint is passed.

    Excess delay (A.6) is the longest time at rest before the finish while nothing within 30 m is moving.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.at_most, self.delay = self.number("at_most", math.inf), self.number("delay", math.inf)
        try:
            self.progress = Progress(context)
        except UsageError as reason:
            raise self.wrong(str(reason)) from None
        self.time = 0.0
        self.standing: float | None = None  # start of the current rest [s]
        self.longest = (0.0, 0.0)  # longest rest [s] and its end

    def see(self, batch: Batch) -> None:
        """Follow the object to the finish."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        self.progress.follow(track)
        if math.isfinite(self.delay):
            finish = self.progress.times[-1] if self.progress.passed else math.inf
            finished = track.times[1:] > finish
            self._wait(track, finished | self._disturbed(track, batch))
        self.decided = self.progress.passed or self.longest[0] > self.delay

    def _wait(self, track: Track, disturbed: np.ndarray) -> None:
        """Update the time at rest in which nothing else moved nearby."""
        waits = (track.speeds[1:] < STILL) & ~disturbed
        for time, waiting in zip(track.times[1:].tolist(), waits.tolist(), strict=True):
            if not waiting or self.longest[0] > self.delay:
                self.standing = None
            elif self.standing is None:
                self.standing = time
            elif time - self.standing > self.longest[0]:
                self.longest = time - self.standing, time

    def _disturbed(self, track: Track, batch: Batch) -> np.ndarray:
        """Find the steps at which something else moves within 30 m, shape (n,)."""
        disturbed = np.zeros(len(track.steps) - 1, bool)
        rests = np.flatnonzero(track.speeds[1:] < STILL)  # only there it is needed
        if len(rests):
            motion: Floats = batch.motion[rests][:, self.context.others(self.row, batch)]
            near = np.linalg.norm(motion[:, :, 0:2] - track.centres[1 + rests, None], axis=2) <= CLEAR
            moves = np.linalg.norm(motion[:, :, 7:10], axis=2) > STILL
            disturbed[rests] = np.any(moves & near, axis=1)
        return disturbed

    def result(self) -> Check:
        """Pass if the finish was passed in time and the excess delay was within bounds."""
        progress = self.progress
        if self.longest[0] > self.delay:
            waited, until = self.longest
            message = f"stood still for {waited:.1f} s until {until:.2f} s with a clear way, expected {self.delay:g} s"
            return self.check(False, until, f"{message} at most")
        limit = f", expected within {self.at_most:g} s" if math.isfinite(self.at_most) else ""
        if not progress.passed:
            count = f"{len(progress.times)} of {len(progress.points)} checkpoints"
            return self.check(False, self.time, f"not finished after {self.time:.2f} s ({count}){limit}")
        finish = progress.times[-1]
        return self.check(finish <= self.at_most + 1e-9, finish, f"finished at {finish:.2f} s{limit}")
