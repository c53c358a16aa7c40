"""``progress``: an object has done a share of its mission's way."""

from __future__ import annotations

import math

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import UsageError
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.progress import Progress
from cbsim.evaluation.rules.rule import Check, Measure, Rule
from cbsim.geometry.polyline import dot
from cbsim.recording.batch import Batch
from cbsim.road.restarts import restarts_of
from cbsim.road.route import mission_legs
from cbsim.spec.scenario import Expectation

__all__ = ["WayDone"]


class WayDone(Rule):
    """The way done, as a share of the mission's, is at least `at_least`.

    The way of a mission is the sum of the shortest routes between its checkpoints. Done are the legs between passed
    checkpoints, and of the current one the way from its begin to the point of its route that is nearest to the front
    bumper, at its furthest.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.at_least = self.number("at_least", 1.0)
        try:
            self.progress = Progress(context)
        except UsageError as reason:
            raise self.wrong(str(reason)) from None
        assert context.roadmap is not None
        assert context.mission is not None
        self.ways: list[Floats] = []
        has_restarts = bool(context.header.run_control.restarts)
        parts = {one.leg: one for one in restarts_of(context.roadmap, context.mission)} if has_restarts else {}
        for number, leg in enumerate(mission_legs(context.roadmap, context.mission)):
            if number in parts:  # begins anew on the lane of the next checkpoint
                way = parts[number].route
                points = (parts[number].start,) * 2 if way is None else way.points
                self.ways.append(np.array([context.roadmap.position(point) for point in points]))
                continue
            if leg.route is None:
                raise self.wrong(f"no route from checkpoint {leg.numbers[0]} to {leg.numbers[1]}: {leg.reason}")
            self.ways.append(np.array([context.roadmap.position(point) for point in leg.route.points]))
        self.lengths = [float(np.hypot(*np.diff(way, axis=0).T).sum()) for way in self.ways]
        self.furthest = 0.0
        self.leg = 0
        self.time = 0.0

    def see(self, batch: Batch) -> None:
        """Follow the object along its legs."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        self.progress.follow(track)
        passed = self.progress.times
        legs = np.searchsorted(np.array(passed), track.times[1:], side="right")  # checkpoints passed by each step
        for leg in np.unique(legs).tolist():
            if 0 < leg <= len(self.ways):
                if leg != self.leg:
                    self.leg, self.furthest = leg, 0.0
                done = _along(self.ways[leg - 1], track.fronts[1:][legs == leg])
                self.furthest = max(self.furthest, float(done.max()))

    @property
    def share(self) -> float:
        """Share of the way that has been done, 0 to 1."""
        whole = math.fsum(self.lengths)
        if self.progress.passed or not whole:
            return float(self.progress.passed)
        done = max(len(self.progress.times) - 1, 0)
        current = self.furthest if self.leg == done + 1 and self.progress.times else 0.0
        return (math.fsum(self.lengths[:done]) + min(current, self.lengths[done])) / whole

    def measures(self) -> list[Measure]:
        """Return what was measured."""
        return [Measure("share", self.share)]

    def result(self) -> Check:
        """Pass if enough has been done."""
        whole = math.fsum(self.lengths)
        told = f"did {100.0 * self.share:.1f} % of the way of {whole:.0f} m"
        passed = self.share >= self.at_least - 1e-9
        return self.check(passed, self.time, f"{told}, expected {100.0 * self.at_least:g} % at least")


def _along(way: Floats, places: Floats) -> Floats:
    """Distance along a polyline (m, 2) of the points on it that are nearest to places (n, 2), shape (n,) [m]."""
    start, side = way[:-1], np.diff(way, axis=0)
    square = np.maximum(dot(side, side), 1e-18)
    share = np.clip(dot(places[:, None] - start, side) / square, 0.0, 1.0)
    gaps = np.hypot(*np.moveaxis(places[:, None] - start - share[..., None] * side, 2, 0))
    best = np.argmin(gaps, axis=1)
    lengths = np.sqrt(square)
    before = np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
    return np.asarray(before[best] + share[np.arange(len(places)), best] * lengths[best])
