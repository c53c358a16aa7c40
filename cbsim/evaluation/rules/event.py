"""``event``: an event of the scenario comes true, between two times."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import did_you_mean
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.rule import Check, Rule
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation
from cbsim.world.traffic.events import HAPPENED

__all__ = ["EventRule"]


class EventRule(Rule):
    """The event comes true once, and that must lie in the window [after, before]."""

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.after, self.before = self.number("after", 0.0), self.number("before", math.inf)
        self.found: float | None = None
        self.time = 0.0

    def _find_subject(self) -> None:
        """Find the number of the event."""
        self.subject = str(self.expectation["name"])
        known = self.context.header.events
        if self.subject not in known:
            hint = did_you_mean(self.subject, known)
            raise self.wrong(f"no event '{self.subject}' to wait for" + (f" ({hint})" if hint else ""))
        self.event = known.index(self.subject)

    def presence(self, batch: Batch) -> NDArray[np.bool_]:
        """All steps: the rule is about no object."""
        return np.ones(len(batch.hashes), bool)

    def see(self, batch: Batch) -> None:
        """Look for the event."""
        self.time = float(batch.steps[-1] * self.step)
        for number, kind, event, _ in batch.events.tolist():
            if kind == HAPPENED and event == self.event:
                self.found, self.decided = number * self.step, True
                return
        self.decided = self.time > self.before + self.step

    def result(self) -> Check:
        """Pass if the event came true in the window."""
        window = f"expected after {self.after:g} s" if self.after > 0.0 else "expected once"
        if math.isfinite(self.before):
            window = f"expected between {self.after:g} s and {self.before:g} s"
        if self.found is None:
            return self.check(False, None, f"never came true, {window}")
        passed = self.after - 1e-9 <= self.found <= self.before + 1e-9
        return self.check(passed, self.found, f"came true at {self.found:.2f} s, {window}")
