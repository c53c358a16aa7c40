"""``checkpoints``: the object passes the mission's checkpoints in order, and stops at the last."""

from __future__ import annotations

import math

from cbsim.errors import UsageError
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.progress import Progress
from cbsim.evaluation.rules.rule import Check, Measure, Rule
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation

__all__ = ["Checkpoints"]

STOP_WITHIN = 30.0  # [m] of the finish line, within which the object comes to rest


class Checkpoints(Rule):
    """Checkpoints in the mission's order, passed as `Progress` defines; later ones don't count before their turn.

    The last is the finish line: the object comes to rest within 30 m of it (docs/formats/mdf.md).
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.before = self.number("before", math.inf)
        self.stop_within = self.number("stop_within", STOP_WITHIN)
        self.must_stop = bool(expectation["stop"])
        try:
            self.progress = Progress(context)
        except UsageError as reason:
            raise self.wrong(str(reason)) from None
        self.time = 0.0

    def see(self, batch: Batch) -> None:
        """Follow the object from checkpoint to checkpoint."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        self.progress.follow(track)
        self.decided = self.progress.passed and (self.progress.stopped is not None or not self.must_stop)

    def measures(self) -> list[Measure]:
        """Return what was measured."""
        return [Measure("checkpoints", float(len(self.progress.times)))]

    def result(self) -> Check:
        """Pass if all were passed in time and the object stopped."""
        done, progress = len(self.progress.times), self.progress
        count = f"{len(progress.points)} checkpoint{'s' if len(progress.points) > 1 else ''}"
        if not progress.passed:
            due = f"{progress.numbers[done]} ({progress.points[done]})"
            last = f" at {progress.times[-1]:.2f} s" if done else ""
            return self.check(False, self.time, f"passed {done} of {count}{last}, not number {done + 1}: {due}")
        finish = progress.times[-1]
        if finish > self.before + 1e-9:
            message = f"passed the last of {count} at {finish:.2f} s, expected before {self.before:g} s"
            return self.check(False, finish, message)
        if self.must_stop and progress.stopped is None:
            return self.check(False, self.time, f"passed the last of {count} at {finish:.2f} s and never stopped there")
        if self.must_stop and progress.stop_distance > self.stop_within:
            message = f"stopped {progress.stop_distance:.1f} m from the finish, expected {self.stop_within:g} m at most"
            return self.check(False, progress.stopped, message)
        return self.check(True, finish, f"passed {count} in order, the last at {finish:.2f} s")
