"""``mission_time``: the mission is finished in time, without excess delay."""

from __future__ import annotations

import math

from cbsim.errors import UsageError
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.excess_delay import Delays
from cbsim.evaluation.rules.progress import Progress
from cbsim.evaluation.rules.rule import Check, Measure, Rule
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation

__all__ = ["MissionTime"]


class MissionTime(Rule):
    """Time from the start of the mission until the last checkpoint is passed, without pauses.

    `delay` is that of the rule ``excess_delay``.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.at_most, self.delay = self.number("at_most", math.inf), self.number("delay", math.inf)
        try:
            self.progress = Progress(context)
        except UsageError as reason:
            raise self.wrong(str(reason)) from None
        self.time = 0.0
        self.delays = Delays(context, self.row, self.delay) if math.isfinite(self.delay) else None

    def see(self, batch: Batch) -> None:
        """Follow the object to the finish."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        self.progress.follow(track)
        if self.delays is not None:
            self.delays.follow(track, batch, self.progress.times[-1] if self.progress.passed else math.inf)
        self.decided = self.progress.passed or (self.delays is not None and self.delays.too_long)

    def forget(self) -> None:
        """End the piece of time that is lost."""
        if self.delays is not None:
            self.delays.end_piece()

    def measures(self) -> list[Measure]:
        """Return what was measured."""
        return [Measure("mission_time", self._clock(self.progress.times[-1]) if self.progress.passed else None, "s")]

    def _clock(self, time: float) -> float:
        """Time of the mission's clock at a time of the run [s]."""
        return self.context.run_states.mission_time(self.row, time)

    def result(self) -> Check:
        """Pass if the finish was passed in time and the excess delay was within bounds."""
        progress = self.progress
        if self.delays is not None and self.delays.too_long:
            return self.check(False, self.delays.until, f"{self.delays.told()}, expected {self.delay:g} s at most")
        limit = f", expected within {self.at_most:g} s" if math.isfinite(self.at_most) else ""
        if not progress.passed:
            count = f"{len(progress.times)} of {len(progress.points)} checkpoints"
            message = f"not finished after {self._clock(self.time):.2f} s ({count}){limit}"
            return self.check(False, self.time, message)
        finish = progress.times[-1]
        took = self._clock(finish)
        at = "" if took == finish else f" of the mission's clock, at {finish:.2f} s"
        return self.check(took <= self.at_most + 1e-9, finish, f"finished at {took:.2f} s{at}{limit}")
