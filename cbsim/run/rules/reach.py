"""``reach``: an object comes within a radius of a place, in a window of time."""

from __future__ import annotations

import math

import numpy as np

from cbsim.errors import UsageError
from cbsim.road.roadmap import RoadMap
from cbsim.run.batch import Batch, Header
from cbsim.run.rules.rule import Check, Rule
from cbsim.spec.road import PointId
from cbsim.spec.scenario import Expectation
from cbsim.world.tables import Floats

__all__ = ["Reach"]


class Reach(Rule):
    """First entry into the radius counts, and must lie in the window [after, before]."""

    def __init__(self, expectation: Expectation, header: Header, roadmap: RoadMap | None) -> None:
        super().__init__(expectation, header, roadmap)
        self.radius = float(expectation["radius"])  # type: ignore[arg-type]
        after, before = expectation["after"], expectation["before"]
        self.after = 0.0 if after is None else float(after)  # type: ignore[arg-type]
        self.before = math.inf if before is None else float(before)  # type: ignore[arg-type]
        self.place = self._place()
        self.entered: float | None = None
        self.nearest = math.inf

    def _place(self) -> Floats:
        waypoint = self.expectation["waypoint"]
        if not isinstance(waypoint, PointId):
            position = np.asarray(self.expectation["position"], float)
            return position[:2]
        if self.roadmap is None or not self.roadmap.has(waypoint):
            hint = f" (did you mean '{self.roadmap.nearest(waypoint)}'?)" if self.roadmap is not None else ""
            raise UsageError(f"{self.expectation.location}: error: no waypoint '{waypoint}' to reach{hint}")
        return self.roadmap.position(waypoint)

    def see(self, batch: Batch) -> None:
        """Note the first time inside the radius, and the nearest approach."""
        if self.entered is not None:
            return
        gaps = np.linalg.norm(self.positions(batch)[:, :2] - self.place, axis=1)
        self.nearest = min(self.nearest, float(gaps.min(initial=math.inf)))
        inside = np.flatnonzero(gaps <= self.radius)
        if len(inside):
            self.entered = float(batch.steps[inside[0]] * self.step)

    def result(self) -> Check:
        """Pass if the first entry lies in the window."""
        window = f"expected between {self.after:g} s and {self.before:g} s"
        if self.entered is None:
            return self.check(
                False, None, f"never came within {self.radius:g} m (nearest {self.nearest:.2f} m), {window}"
            )
        passed = self.after - 1e-9 <= self.entered <= self.before + 1e-9
        return self.check(passed, self.entered, f"came within {self.radius:g} m at {self.entered:.2f} s, {window}")
