"""``standoff``: an object that moves keeps a distance from everything."""

from __future__ import annotations

import math

import numpy as np

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.footprints import clearance
from cbsim.evaluation.rules.neighbours import Neighbours
from cbsim.evaluation.rules.rule import Check, Invariant, Measure
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation

__all__ = ["Standoff"]

STILL = 0.1  # [m/s] slower counts as rest
BODY = 25.0  # [m] sum of half diagonals, at most: trucks of 25 m and their like


class Standoff(Invariant):
    """The footprint of the object, while it moves, is at least `least` from all others (A.7).

    Zones are exempt: spots are hardly wider than cars.
    """

    needs_others = True

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.least = self.number("least")
        self.neighbours = Neighbours.of(context, self.row)
        self.nearest = math.inf

    def see(self, batch: Batch) -> None:
        """Find the first step at which something is too near."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        moves = track.speeds[1:] >= STILL
        if self.context.roadmap is not None:
            moves &= self.context.roadmap.zone_at(track.centres[1:]) < 0
        pairs = self.neighbours.pairs(track, batch, self.least + BODY, moves)
        if not len(pairs.step):
            return
        gaps = clearance(pairs.own, pairs.other)
        self.nearest = min(self.nearest, float(gaps.min()))
        close = np.flatnonzero(gaps < self.least - 1e-9)
        if len(close):
            first = int(close[0])
            step, gap = int(pairs.step[first]), float(gaps[first])
            time, (x, y) = float(track.times[1 + step]), track.centres[1 + step].tolist()
            who = self.context.name(int(pairs.row[first]), time)
            speed = float(track.speeds[1 + step])
            found = f"was {gap:.2f} m from '{who}' at {time:.2f} s at ({x:.2f}, {y:.2f}) with {speed:.2f} m/s"
            self.fail(time, f"{found}, expected {self.least:g} m at least")

    def measures(self) -> list[Measure]:
        """Return what was measured."""
        return [Measure("clearance", self.nearest if math.isfinite(self.nearest) else None, "m")]

    def kept(self) -> Check:
        """Pass if nothing was too near."""
        told = f"{self.nearest:.2f} m from the nearest" if math.isfinite(self.nearest) else "nothing came near"
        return self.check(True, self.time, told)
