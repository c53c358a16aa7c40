"""A look ahead with the lasers: how far the way is free. No model of what is there, no prediction."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.planner.pilot.path import Path, Run
from cbsim.planner.pilot.rig import Rig
from cbsim.spec.command import Observation

__all__ = ["Watch"]

Floats = NDArray[np.float64]

LOW = 0.3  # [m] above the ground: what is lower is the ground
ASIDE = 0.25  # [m] of room on either side
SHORT = 2.5  # [m] to stay away from what stands there
BRAKE = 2.0  # [m/s²]
EVERY, HALF_ROW = 4, 0.6  # rows of the path that are looked at: one each metre, and what lies half a metre about it [m]
LEVEL = 1e-4  # change of a laser's attitude that matters


class Watch:
    """Which part of the way ahead is free.

    Parameters
    ----------
    rig : Rig
        The vehicle, whose own width and height the way must have.
    """

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self._half = 0.5 * rig.vehicle.width + ASIDE
        self._seen: dict[str, tuple[float, float]] = {}
        self._rises: dict[str, tuple[tuple[float, float, float], Floats]] = {}
        self._table: Floats = np.empty((0, 5))
        self._path: Path | None = None

    def free(self, observation: Observation, path: Path, row: int, run: Run) -> float:
        """Distance that may be driven before standing clear of what is in the way [m]; infinite if nothing is.

        Parameters
        ----------
        observation : Observation
        path : Path
        row : int
            Where the vehicle is on it.
        run : Run
            What is driven now; backwards, nothing is looked at.
        """
        if run.reverse:
            return math.inf
        speed = observation.speed
        reach = self.rig.nose + SHORT + 0.5 * speed * speed / BRAKE + 0.5 * speed + 1.0
        nearest = math.inf
        for key, scan in observation.scans.items():
            time, blocked = self._seen.get(key, (-1.0, math.inf))
            if scan.time != time:
                blocked = self._look(
                    key, scan, observation, path, slice(row, min(run.last, row + int(4.0 * reach)) + 1)
                )
                self._seen[key] = scan.time, blocked
            nearest = min(nearest, blocked)
        return nearest - path.station[row] - self.rig.nose - SHORT

    def _look(self, key: str, scan: Any, observation: Observation, path: Path, ahead: slice) -> float:
        """Station of the path where the first return lies in the way [m]; infinite if none does.

        Most returns are of the ground: the heights of all are looked at first, by a table of how much each beam rises.
        """
        ranges = scan.ranges
        ground = float(observation.position[2]) - 0.5 * self.rig.vehicle.height
        with np.errstate(invalid="ignore"):  # no return may read as infinity
            height = ranges * self._rise(key, scan) + (float(scan.pose.position[2]) - ground)
        far = 0.25 * (ahead.stop - ahead.start) + 2.0 * self.rig.nose
        near = (height > LOW) & (height < self.rig.vehicle.height) & (ranges < far)
        if not near.any():
            return math.inf
        near &= scan.returned
        points = scan.pose.apply(scan.directions[near] * ranges[near][:, None])[:, :2]
        places = self._places(path)[ahead.start : ahead.stop : EVERY]
        low, high = places[:, :2].min(axis=0) - self._half, places[:, :2].max(axis=0) + self._half
        points = points[np.all((points >= low) & (points <= high), axis=1)]
        if not len(points):
            return math.inf
        away = points[:, None, :] - places[None, :, :2]
        along = away[..., 1] * places[:, 3] - away[..., 0] * places[:, 2]
        aside = away[..., 0] * places[:, 3] + away[..., 1] * places[:, 2]
        hit = (np.abs(along) <= HALF_ROW) & (np.abs(aside) <= self._half)
        stations = np.where(hit, places[:, 4] + along, math.inf)
        stations[stations < places[0, 4] + self.rig.nose - 0.5] = math.inf
        return float(stations.min())

    def _rise(self, key: str, scan: Any) -> Floats:
        """Tell how much each beam rises per metre, (layers, beams); the same until the vehicle pitches or rolls."""
        w, x, y, z = scan.pose.orientation.tolist()
        up = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
        known = self._rises.get(key)
        if known is None or max(abs(a - b) for a, b in zip(known[0], up, strict=True)) > LEVEL:
            known = self._rises[key] = up, np.asarray(scan.directions @ np.array(up))
        return known[1]

    def _places(self, path: Path) -> Floats:
        """Rows of a path as a table: x, y, sine, cosine, station."""
        if self._path is not path:
            self._path = path
            self._table = np.column_stack([path.x, path.y, path.sine, path.cosine, path.station])
        return self._table
