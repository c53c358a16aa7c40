"""``reach``: an object comes within a radius of a place, in a window of time, at a step or between two."""

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
    """First entry into the radius counts, and must lie in the window [after, before].

    Between two steps the object is taken to go straight and evenly, so that the verdict hardly depends on the step.
    """

    def __init__(self, expectation: Expectation, header: Header, roadmap: RoadMap | None) -> None:
        super().__init__(expectation, header, roadmap)
        self.radius = float(expectation["radius"])  # type: ignore[arg-type]
        after, before = expectation["after"], expectation["before"]
        self.after = 0.0 if after is None else float(after)  # type: ignore[arg-type]
        self.before = math.inf if before is None else float(before)  # type: ignore[arg-type]
        self.place = self._place()
        self.entered: float | None = None
        self.nearest = math.inf
        self.last: tuple[float, Floats] | None = None

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
        """Note the first time inside the radius, and the nearest approach, on the way between steps too."""
        if self.entered is not None:
            return
        way = self.positions(batch)[:, :2] - self.place
        steps = batch.steps.astype(float)
        if self.last is None:
            self.last = steps[0], way[0]  # a way of no length: the start may lie inside
        steps, way = np.concatenate([[self.last[0]], steps]), np.vstack([self.last[1], way])
        self.last = steps[-1], way[-1]
        gaps = nearest_on_way(way)
        self.nearest = min(self.nearest, float(gaps.min()))
        inside = np.flatnonzero(gaps <= self.radius)
        if len(inside):
            k = int(inside[0])
            part = entry(way[k], way[k + 1] - way[k], self.radius)
            self.entered = float((steps[k] + part * (steps[k + 1] - steps[k])) * self.step)

    def result(self) -> Check:
        """Pass if the first entry lies in the window."""
        window = f"expected between {self.after:g} s and {self.before:g} s"
        if self.entered is None:
            return self.check(
                False, None, f"never came within {self.radius:g} m (nearest {self.nearest:.2f} m), {window}"
            )
        passed = self.after - 1e-9 <= self.entered <= self.before + 1e-9
        return self.check(passed, self.entered, f"came within {self.radius:g} m at {self.entered:.2f} s, {window}")


def nearest_on_way(way: Floats) -> Floats:
    """Distances (n,) [m] of the origin from each straight piece of a way (n + 1, 2) [m]."""
    start, along = way[:-1], np.diff(way, axis=0)
    square = (along * along).sum(axis=1)
    part = -(start * along).sum(axis=1) / np.where(square > 0.0, square, 1.0)
    return np.asarray(np.linalg.norm(start + np.clip(part, 0.0, 1.0)[:, None] * along, axis=1))


def entry(start: Floats, along: Floats, radius: float) -> float:
    """Part of a straight piece, 0 to 1, after which it is within a radius [m] of the origin, given that it ever is.

    |start + s along|² = radius² is solved for its smaller root; a piece that begins inside has entered at 0.
    """
    inside = float(start @ start) - radius * radius
    if inside <= 0.0:
        return 0.0
    half, square = float(start @ along), float(along @ along)
    root = math.sqrt(max(half * half - square * inside, 0.0))
    return min(max(inside / (root - half), 0.0), 1.0)  # (-half - root) / square, without its cancellation
