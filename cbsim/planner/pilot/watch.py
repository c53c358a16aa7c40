"""A look ahead with the lasers: how far the way is free. No model of what is there, no prediction."""

from __future__ import annotations

import math

import numpy as np

from cbsim.planner.pilot.path import Path, Run
from cbsim.planner.pilot.rig import Rig
from cbsim.spec.command import Observation

__all__ = ["Watch"]

LOW = 0.3  # [m] above the ground: what is lower is the ground
ASIDE = 0.25  # [m] of room on either side
SHORT = 2.5  # [m] to stay away from what stands there
BRAKE = 2.0  # [m/s²]
EVERY = 4  # rows of the path: a metre


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
        station = path.station[row]
        nearest = math.inf
        for key, scan in observation.scans.items():
            time, blocked = self._seen.get(key, (-1.0, math.inf))
            if scan.time != time:
                blocked = self._look(scan, observation, path, row, run, reach)
                self._seen[key] = scan.time, blocked
            nearest = min(nearest, blocked)
        return nearest - station - self.rig.nose - SHORT

    def _look(self, scan: object, observation: Observation, path: Path, row: int, run: Run, reach: float) -> float:
        """Station of the path where the first return lies in the way [m]; infinite if none does."""
        near = scan.returned & (scan.ranges < reach + self.rig.arm)  # type: ignore[attr-defined]
        if not near.any():
            return math.inf
        points = scan.pose.apply(scan.directions[near] * scan.ranges[near][:, None])  # type: ignore[attr-defined]
        ground = float(observation.position[2]) - 0.5 * self.rig.vehicle.height
        height = points[:, 2] - ground
        points = points[(height > LOW) & (height < self.rig.vehicle.height), :2]
        rows = range(row, min(run.last, row + int(4.0 * reach)) + 1, EVERY)
        if not len(points) or not rows:
            return math.inf
        places = np.array([[path.x[k], path.y[k], path.sine[k], path.cosine[k], path.station[k]] for k in rows])
        away = points[:, None, :] - places[None, :, :2]
        along = away[..., 1] * places[:, 3] - away[..., 0] * places[:, 2]
        aside = away[..., 0] * places[:, 3] + away[..., 1] * places[:, 2]
        hit = (np.abs(along) <= 0.6) & (np.abs(aside) <= self._half)
        stations = np.where(hit, places[:, 4] + along, math.inf)
        stations[stations < path.station[row] + self.rig.nose - 0.5] = math.inf
        return float(stations.min())
