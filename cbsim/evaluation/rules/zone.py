"""``zone``: an object stays inside the perimeter of a zone."""

from __future__ import annotations

import numpy as np

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.corridors import corridors
from cbsim.evaluation.rules.rule import Check, Invariant
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation

__all__ = ["Zone"]

TOLERANCE = 0.3  # [m] as in ``lane``


class Zone(Invariant):
    """While the centre is in a zone, every corner of the footprint is in it, or in the ways in and out (D.6).

    Ways in and out are exits at perimeter points and their lanes, as wide as these and extended by a car's length.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.roadmap = self.require_roadmap("zones need")
        self.tolerance = self.number("tolerance", TOLERANCE)
        self.corridors = corridors(self.roadmap)
        self.inside = -1
        self.visits = 0

    def see(self, batch: Batch) -> None:
        """Find the first corner outside."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        zones = self.roadmap.zone_at(track.centres[1:])
        before = np.concatenate([[self.inside], zones[:-1]])
        self.inside = int(zones[-1])
        rows = np.flatnonzero(zones >= 0)
        entered = (zones >= 0) & (zones != before)
        outside = np.zeros(len(zones), bool)
        if len(rows):
            outside[rows] = ~self._fits(track.corners(1 + rows).reshape(-1, 2), np.repeat(zones[rows], 4))
        if outside.any():
            step = int(np.argmax(outside))
            self.visits += int(entered[: step + 1].sum())
            time, (x, y) = float(track.times[1 + step]), track.centres[1 + step].tolist()
            number = self.roadmap.network.zones[int(zones[step])].number
            told = f"stuck out of zone {number} at {time:.2f} s at ({x:.2f}, {y:.2f})"
            self.fail(time, f"{told}, expected to stay inside within {self.tolerance:g} m")
            return
        self.visits += int(entered.sum())

    def forget(self) -> None:
        """Forget the zone that the object was in."""
        self.inside = -1

    def _fits(self, corners: np.ndarray, zones: np.ndarray) -> np.ndarray:
        """Whether all four corners are in the zone or in a way in or out, shape (k,)."""
        import shapely

        inside = np.zeros(len(corners), bool)
        for zone in np.unique(zones).tolist():
            here = zones == zone
            gap = shapely.distance(self.roadmap.zone_areas[zone], shapely.points(corners[here]))
            inside[here] = gap <= self.tolerance + 1e-9
        if not inside.all():
            out = np.flatnonzero(~inside)
            inside[out] = self.corridors.widened(self.tolerance, self.length).match(corners[out]).lane >= 0
        return np.asarray(inside.reshape(-1, 4).all(axis=1))

    def kept(self) -> Check:
        """Pass if no corner was outside, and there were enough visits."""
        told = f"{self.visits} visit{'' if self.visits == 1 else 's'} to zones"
        return self.enough(self.visits, told, told)
