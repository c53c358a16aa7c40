"""Obstacle check: free distance along the path by laser returns, without tracking or prediction."""

from __future__ import annotations

import math

from cbsim.planner.pilot.kernels.look import first_return
from cbsim.planner.pilot.path import Path, Run
from cbsim.planner.pilot.vehicle_geometry import VehicleGeometry
from cbsim.spec.command import Observation

__all__ = ["ObstacleCheck"]

GROUND_HEIGHT = 0.3  # [m] above the ground; lower returns count as ground
CLEARANCE = 0.25  # [m] clearance on either side
STOP_DISTANCE = 2.5  # [m] distance to keep from an obstacle
DECELERATION = 2.0  # [m/s²] deceleration
STRIDE = 4  # stride over rows of the path: one per metre


class ObstacleCheck:
    """Free distance along the path ahead.

    Parameters
    ----------
    geometry : VehicleGeometry
        Vehicle whose width and height must be free.
    """

    def __init__(self, geometry: VehicleGeometry) -> None:
        self.geometry = geometry
        self._half = 0.5 * geometry.vehicle.width + CLEARANCE
        self._seen: dict[str, tuple[float, float]] = {}

    def free_distance(self, observation: Observation, path: Path, row: int, run: Run) -> float:
        """Distance that may be driven before stopping clear of an obstacle [m]; infinite if there is none.

        Parameters
        ----------
        observation : Observation
        path : Path
        row : int
            Row of the path at which the vehicle is.
        run : Run
            Current run; in reverse, nothing is checked.
        """
        if run.reverse:
            return math.inf
        speed = observation.speed
        reach = self.geometry.nose + STOP_DISTANCE + 0.5 * speed * speed / DECELERATION + 0.5 * speed + 1.0
        nose, height = self.geometry.nose, self.geometry.vehicle.height
        stop = min(run.last, row + int(4.0 * reach)) + 1
        rows, ground = (row, stop, STRIDE), float(observation.position[2]) - 0.5 * height
        body = ground + GROUND_HEIGHT, ground + height, self._half, 0.25 * (stop - row) + 2.0 * nose, nose - 0.5
        nearest = math.inf
        for key, scan in observation.scans.items():
            time, blocked = self._seen.get(key, (-1.0, math.inf))
            if scan.time != time:
                seen, (place, attitude) = (scan.ranges, scan.returned, scan.directions), scan.pose
                blocked = first_return(*seen, place, attitude, path.table, rows, body)  # station of the first [m]
                self._seen[key] = scan.time, blocked
            nearest = min(nearest, blocked)
        return nearest - path.station.item(row) - nose - STOP_DISTANCE
