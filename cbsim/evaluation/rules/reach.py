"""``reach``: an object comes within a radius of a place, in a window of time, at a step or between two."""

from __future__ import annotations

import math

import numpy as np

from cbsim.arrays import Floats
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.rule import Check, Rule
from cbsim.evaluation.rules.track import Track
from cbsim.evaluation.rules.way import SLACK, refined
from cbsim.geometry.polyline import dot
from cbsim.recording.batch import Batch
from cbsim.spec.road import PointId
from cbsim.spec.scenario import Expectation

__all__ = ["Reach"]


class Reach(Rule):
    """First entry into the radius counts, and must lie in the window [after, before].

    The path between two steps is reconstructed from their velocities (`refined`), so that the verdict hardly depends
    on the length of a step.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.radius = self.number("radius", 1.0)
        self.after, self.before = self.number("after", 0.0), self.number("before", math.inf)
        self.place = self._place()
        self.entered: float | None = None
        self.nearest = math.inf

    def _place(self) -> Floats:
        waypoint = self.expectation["waypoint"]
        if not isinstance(waypoint, PointId):
            position = np.asarray(self.expectation["position"], float)
            return position[:2]
        roadmap = self.context.roadmap
        if roadmap is None or not roadmap.has(waypoint):
            hint = f" (did you mean '{roadmap.nearest(waypoint)}'?)" if roadmap is not None else ""
            raise self.wrong(f"no waypoint '{waypoint}' to reach{hint}")
        return roadmap.position(waypoint)

    def see(self, batch: Batch) -> None:
        """Note the first time inside the radius and the nearest approach, between steps too."""
        track = self.track(batch)
        part = self._near(track)
        times, way = refined(track.times[part], (track.centres - self.place)[part], track.motion[part, 7:9])
        gaps = nearest_on_way(way)
        self.nearest = min(self.nearest, float(gaps.min()))
        inside = np.flatnonzero(gaps <= self.radius)
        if len(inside):
            k = int(inside[0])
            share = entry(way[k], way[k + 1] - way[k], self.radius)
            self.entered = float(times[k] + share * (times[k + 1] - times[k]))
            self.decided = True

    def _near(self, track: Track) -> slice:
        """Find the steps of a track among which its nearest place is, and all places within the radius."""
        away = np.linalg.norm(track.centres - self.place, axis=1)
        # no place on the way of a step is farther from its begin than the straight way, or the first velocity takes it
        straight = np.linalg.norm(np.diff(track.centres, axis=0), axis=1)
        moved = np.maximum(straight, np.diff(track.times) * np.hypot(*track.motion[:-1, 7:9].T))
        least, bound = away[:-1] - moved * (1.0 + SLACK) - SLACK, max(self.radius, min(self.nearest, float(away.min())))
        steps = np.flatnonzero(least <= bound)
        return slice(int(steps[0]), int(steps[-1]) + 2) if len(steps) else slice(0, 2)

    def result(self) -> Check:
        """Pass if the first entry lies in the window."""
        window = f"expected after {self.after:g} s" if self.after > 0.0 else "expected once"
        if math.isfinite(self.before):
            window = f"expected between {self.after:g} s and {self.before:g} s"
        if self.entered is None:
            nearest = f" (nearest {self.nearest:.2f} m)" if math.isfinite(self.nearest) else ""
            return self.check(False, None, f"never came within {self.radius:g} m{nearest}, {window}")
        passed = self.after - 1e-9 <= self.entered <= self.before + 1e-9
        return self.check(passed, self.entered, f"came within {self.radius:g} m at {self.entered:.2f} s, {window}")


def nearest_on_way(way: Floats) -> Floats:
    """Distances (n,) [m] of the origin from each segment of a polyline (n + 1, 2) [m]."""
    start, along = way[:-1], np.diff(way, axis=0)
    square = dot(along, along)
    part = -dot(start, along) / np.where(square > 0.0, square, 1.0)
    return np.asarray(np.linalg.norm(start + np.clip(part, 0.0, 1.0)[:, None] * along, axis=1))


def entry(start: Floats, along: Floats, radius: float) -> float:
    """Fraction of a segment, 0 to 1, before it comes within a radius [m] of the origin, given that it does.

    This is the smaller root s of |start + s along|² = radius², and 0 for a segment that begins inside.
    """
    inside = float(start @ start) - radius * radius
    if inside <= 0.0:
        return 0.0
    half, square = float(start @ along), float(along @ along)
    root = math.sqrt(max(half * half - square * inside, 0.0))
    return min(max(inside / (root - half), 0.0), 1.0)  # (-half - root) / square, without cancellation
