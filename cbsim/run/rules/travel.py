"""``travel``: the length of an object's path lies between two bounds."""

from __future__ import annotations

import math

import numpy as np

from cbsim.road.roadmap import RoadMap
from cbsim.run.batch import Batch, Header
from cbsim.run.rules.rule import Check, Rule
from cbsim.spec.scenario import Expectation
from cbsim.world.tables import Floats

__all__ = ["Travel"]


class Travel(Rule):
    """Sums the distances between the positions of consecutive steps.

    A corner taken inside a step is cut: the length falls short of the path, the more so the longer the step.
    """

    def __init__(self, expectation: Expectation, header: Header, roadmap: RoadMap | None) -> None:
        super().__init__(expectation, header, roadmap)
        low, high = expectation["at_least"], expectation["at_most"]
        self.at_least = 0.0 if low is None else float(low)  # type: ignore[arg-type]
        self.at_most = math.inf if high is None else float(high)  # type: ignore[arg-type]
        self.length = 0.0
        self.last: Floats | None = None
        self.time = 0.0

    def see(self, batch: Batch) -> None:
        """Add the path of these steps."""
        positions = self.positions(batch)
        path = positions if self.last is None else np.vstack([self.last, positions])
        self.length += float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
        self.last, self.time = path[-1], float(batch.steps[-1] * self.step)

    def result(self) -> Check:
        """Pass if the length is within the bounds."""
        passed = self.at_least <= self.length <= self.at_most
        wanted = f"expected {self.at_least:g} m to {self.at_most:g} m"
        return self.check(passed, self.time, f"travelled {self.length:.2f} m, {wanted}")
