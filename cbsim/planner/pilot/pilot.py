"""Example planner, which plans the whole path before the first step and then follows it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry import elementary as math
from cbsim.planner.pilot.controls import Controls, Motion, controls_of
from cbsim.planner.pilot.kernels.follow import follow_path
from cbsim.planner.pilot.mission_path import mission_path, prepared_itinerary
from cbsim.planner.pilot.obstacle_check import ObstacleCheck
from cbsim.planner.pilot.path import Halt, Path, Run
from cbsim.planner.pilot.vehicle_geometry import VehicleGeometry, vehicle_geometry
from cbsim.road.roadmap import RoadMap
from cbsim.spec.command import Command, Observation, Vehicle
from cbsim.spec.drawing import Dots, Drawing, Line, Text
from cbsim.spec.mission import Mission

__all__ = ["Pilot"]

AT_REST = 0.02  # [m/s]
AT_FIRST = Motion(0.0, 0.0, 0.0)
SHOWN = 160  # points of the path that are drawn: 40 m


class Pilot:
    """A planner for road networks without other traffic.

    It keeps its lane and the mission's speed limits, stops at stop lines, changes lanes, makes U-turns (three-point
    turns where the road is narrow), parks, backs out, and stops at the last checkpoint. It does not observe right of
    way; it stops for obstacles that its lasers detect on its path, and continues when they are gone. It does not move
    before the end of the mission's alarm, and brakes and stands in PAUSE. Set to another start, it plans from there.

    Parameters
    ----------
    dwell : float
        Time at rest at a stop line [s].
    look_out : bool
        Whether to stop for obstacles that lasers detect.

    Attributes
    ----------
    reason : str
        Why the path ends before the mission does; empty if it does not.
    done : bool
        Whether it is at rest at the end of the path.
    path : Path or None
        The path, from the first observation on.

    Examples
    --------
    >>> import cbsim
    >>> from cbsim.planner.pilot import Pilot
    >>> world = cbsim.load("four_way_stop")
    >>> recording = cbsim.run(world, duration=5.0, planner=Pilot())
    """

    def __init__(self, dwell: float = 1.0, look_out: bool = True) -> None:
        self.dwell, self.look_out = dwell, look_out
        self.path: Path | None = None
        self.reason, self.done = "", False
        self._drawn: Path | None = None

    def start(self, mission: Mission | None, network: RoadMap | None, vehicle: Vehicle) -> None:
        """Plan everything that does not depend on the initial pose.

        Parameters
        ----------
        mission : Mission or None
            None: follow the lane to its end.
        network : RoadMap or None
            None: stay at rest.
        vehicle : Vehicle
        """
        self.geometry: VehicleGeometry = vehicle_geometry(vehicle)
        self.path, self.reason, self.done = None, "", False
        self._network, self._mission = network, mission
        if network is not None:
            prepared_itinerary(network, mission, self.geometry)
        self._obstacle_check = ObstacleCheck(self.geometry) if self.look_out else None
        self._row, self._run, self._halt, self._begin = 0, 0, 0, 0
        self._rest_since, self._stood = math.inf, 0.0
        self._time, self._place = 0.0, (math.inf, math.inf)
        self._restarts = 0
        self._controls: Controls = controls_of(self.geometry)

    def plan(self, observation: Observation) -> Command:
        """Follow the path."""
        x, y, _ = observation.position.tolist()
        heading = observation.heading
        if observation.restarts != self._restarts:
            self._begin_anew(observation.restarts)
        arm = self.geometry.arm
        if self.path is None:
            place = x + arm * math.sin(heading), y - arm * math.cos(heading), heading
            if not self._draw(place):
                return self._controls.stand(AT_FIRST, 0.0, False)
        path = self.path
        assert path is not None
        run, halt = path.runs[self._run], path.halts[self._halt]
        gear = -1.0 if run.reverse else 1.0
        motion = Motion(gear * observation.speed, observation.yaw_rate, observation.time - self._time)
        speed, _, moved = motion
        self._time = observation.time
        self._row, px, py, station, curvature, target_speed, planned_acceleration = follow_path(
            *(path.table, self._row, self._begin, run.last, gear, halt.station, (x, y, heading)),
            *((observation.speed, observation.yaw_rate, moved), arm, self._place),
        )
        self._place, curvature = (px, py), gear * curvature
        if observation.run_state != "RUN" or observation.alarm > 0.0:
            return self._obey(motion, curvature, run)
        if speed < AT_REST and halt.station - station < 0.6:
            return self._rest(observation.time, motion, halt, curvature, run)
        if self._obstacle_check is not None and observation.scans:
            free = self._obstacle_check.free_distance(observation, path, self._row, run)
            if free < math.inf:
                target_speed = min(target_speed, math.sqrt(2.0 * max(free, 0.0)))
                planned_acceleration = min(planned_acceleration, 0.0)
        self._rest_since = math.inf
        return self._controls.drive(motion, curvature, target_speed, planned_acceleration, run.reverse)

    def draw(self) -> list[Drawing]:
        """Draw the path ahead with its planned speed, and the next halt, with the reason if it is final."""
        path = self.path
        if path is None:
            return []
        if self._drawn is not path:
            self._drawn, self._trace = path, _trace_of(path)
        table, row, trace = path.table, self._row, self._trace
        end = min(row + SHOWN, len(table)) - 1
        if end < row + 1:
            return []
        halt, line = path.halts[self._halt], Line.of(trace[row : end + 1 : 4], width=3.0)
        if halt.station > table.item(end, 4):
            return [line, Text.of(trace[end : end + 1], text=f"{table.item(end, 7):.1f} m/s")]
        at = path.station.searchsorted(halt.station)
        place, text = trace[at : at + 1], f"halt in {max(halt.station - table.item(row, 4), 0.0):.1f} m"
        dots = Dots.of(place, size=7.0)
        if halt.dwell == math.inf and self.reason:
            return [line, dots, Text(place, text=f"{text}: {self.reason}")]
        return [line, dots, Text.of(place, text=text)]

    def _draw(self, pose: tuple[float, float, float]) -> bool:
        """Plan the whole path from a pose; return False if there is none."""
        if self._network is None:
            self.reason = "there is no road network"
            return False
        task = self._network, self._mission, self.geometry
        found, self.reason = mission_path(*task, pose, self._restarts, self.dwell)
        self.path = None if found is None else found.copy()
        return self.path is not None

    def _begin_anew(self, restarts: int) -> None:
        """Forget the path: the car has been set to where another part of the mission begins."""
        self._restarts, self.path, self.done = restarts, None, False
        self._row, self._run, self._halt, self._begin = 0, 0, 0, 0
        self._rest_since, self._place = math.inf, (math.inf, math.inf)
        self._controls = controls_of(self.geometry)

    def _obey(self, motion: Motion, curvature: float, run: Run) -> Command:
        """Brake, or stand, while the car may not move; what it waits for at a halt begins anew."""
        self._rest_since = math.inf
        if motion.speed < AT_REST:
            return self._controls.stand(motion, curvature, run.reverse)
        return self._controls.drive(motion, curvature, 0.0, -self.geometry.vehicle.max_deceleration, run.reverse)

    def _rest(self, time: float, motion: Motion, halt: Halt, curvature: float, run: Run) -> Command:
        """Stay at a halt, turn the wheels for the next run, and continue after the dwell time."""
        path = self.path
        assert path is not None
        if self._rest_since == math.inf:
            self._rest_since, self._stood = time, curvature
        ends_run = self._run + 1 < len(path.runs) and halt.station >= path.station.item(run.last) - 1e-6
        if ends_run:
            following = path.runs[self._run + 1]
            curvature = path.curvature.item(following.first) * (-1.0 if following.reverse else 1.0)
        ready = 1.1 * abs(curvature - self._stood) / self.geometry.curvature_rate if ends_run else 0.0
        if halt.dwell == math.inf:
            self.done = True
        elif time - self._rest_since >= max(halt.dwell, ready) - 1e-9:
            self._halt += 1
            self._begin = int(np.searchsorted(path.station, halt.station))  # where the plan begins to go on
            self._rest_since = math.inf
            if ends_run:
                self._run += 1
                self._row = path.runs[self._run].first
        return self._controls.stand(motion, curvature, run.reverse)


def _trace_of(path: Path) -> NDArray[np.float32]:
    """Points of a path (n, 3) [m], as drawings keep them."""
    trace = np.zeros((len(path.table), 3), np.float32)
    trace[:, :2] = path.table[:, :2]
    trace.flags.writeable = False
    return trace
