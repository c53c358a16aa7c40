"""A look ahead with the lasers: how far the way is free. No model of what is there, no prediction."""

from __future__ import annotations

import math
from typing import Any

from cbsim.planner.pilot.kernels.look import first_return
from cbsim.planner.pilot.path import Path, Run
from cbsim.planner.pilot.rig import Rig
from cbsim.spec.command import Observation

__all__ = ["Watch"]

LOW = 0.3  # [m] above the ground: what is lower is the ground
ASIDE = 0.25  # [m] of room on either side
SHORT = 2.5  # [m] to stay away from what stands there
BRAKE = 2.0  # [m/s²]
EVERY = 4  # rows of the path: one each metre is looked at


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
        nearest = math.inf
        for key, scan in observation.scans.items():
            time, blocked = self._seen.get(key, (-1.0, math.inf))
            if scan.time != time:
                blocked = self._look(scan, observation, path, row, min(run.last, row + int(4.0 * reach)) + 1)
                self._seen[key] = scan.time, blocked
            nearest = min(nearest, blocked)
        return nearest - path.station[row] - self.rig.nose - SHORT

    def _look(self, scan: Any, observation: Observation, path: Path, first: int, stop: int) -> float:
        """Station of the path where the first return lies in the way [m]; infinite if none does."""
        car, nose = self.rig.vehicle, self.rig.nose
        ground = float(observation.position[2]) - 0.5 * car.height
        body = ground + LOW, ground + car.height, self._half, 0.25 * (stop - first) + 2.0 * nose, nose - 0.5
        place, attitude = scan.pose
        rows = first, stop, EVERY
        return float(first_return(scan.ranges, scan.returned, scan.directions, place, attitude, path.table, rows, body))
