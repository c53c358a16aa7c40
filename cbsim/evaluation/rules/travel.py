"""``travel``: the length of an object's path lies between two bounds."""

from __future__ import annotations

import math

import numpy as np

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.path_lengths import PathLengths
from cbsim.evaluation.rules.rule import Check, Measure, Rule
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation

__all__ = ["Travel"]


class Travel(Rule):
    """Sums the distances between consecutive steps, including one corner inside a step (`cbsim.evaluation.rules.way`).

    Further corners inside a step are cut off.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.at_least, self.at_most = self.number("at_least", 0.0), self.number("at_most", math.inf)
        self.paths = PathLengths.of(context, self.row)
        self.length = 0.0
        self.time = 0.0

    def see(self, batch: Batch) -> None:
        """Add the path of these steps."""
        lengths = np.concatenate([[self.length], self.paths.among(self.row, batch)])
        self.length = float(np.add.accumulate(lengths)[-1])  # one by one, however steps are cut
        self.time = (batch.first_step + len(batch.hashes) - 1) * self.step

    def measures(self) -> list[Measure]:
        """Return what was measured."""
        return [Measure("distance", self.length, "m")]

    def result(self) -> Check:
        """Pass if the length is within the bounds."""
        passed = self.at_least <= self.length <= self.at_most
        wanted = f"expected at least {self.at_least:g} m"
        if math.isfinite(self.at_most):
            wanted = f"expected {self.at_least:g} m to {self.at_most:g} m"
        return self.check(passed, self.time, f"travelled {self.length:.2f} m, {wanted}")
