"""`Pilot`: the example planner. It plans the whole mission before it starts, then looks up what to do, step by step."""

from __future__ import annotations

import math

import numpy as np

from cbsim.planner.pilot.controls import Controls, Motion, controls_of
from cbsim.planner.pilot.itinerary import Itinerary
from cbsim.planner.pilot.path import Halt, Path, Run, finish
from cbsim.planner.pilot.rig import Rig, rig_of
from cbsim.planner.pilot.watch import Watch
from cbsim.road.roadmap import RoadMap
from cbsim.spec.command import Command, Observation, Vehicle
from cbsim.spec.drawing import Dots, Drawing, Line, Text
from cbsim.spec.mission import Mission

__all__ = ["Pilot"]

AT_REST = 0.02  # [m/s]
LOOK_LEAST, LOOK_TIME = 2.5, 0.9  # [m], [s]: a distance to the path is made good over this way
DAMPING = 0.8
STEER_PREVIEW = 0.15  # [s] that the wheels need to follow
SPEED_PREVIEW = 0.3  # [s] that the pedals need
COURSE = 1.5  # [m/s] from which on the way it goes counts, not where it points
SHOWN = 160  # points of the way that are shown: 40 m
CREEP = 0.45  # [m/s] to close a last gap to a stop line


class Pilot:
    """A driver for road networks with nobody else on them.

    It keeps its lane and the mission's limits, stops at stop lines, changes lanes, turns round in three points where
    the road is too narrow for less, parks, backs out, and rests at the last checkpoint. It knows no right of way; it
    stops for what its lasers see in its way, and goes on when it is gone.

    Parameters
    ----------
    dwell : float
        How long to rest at a stop line [s].
    look_out : bool
        Whether to watch the lasers.

    Attributes
    ----------
    reason : str
        Why the way ends before the mission does; empty if it does not.
    done : bool
        At rest at the end of the way.
    path : Path or None
        The way, once the first observation has come.

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

    def start(self, mission: Mission | None, network: RoadMap | None, vehicle: Vehicle) -> None:
        """Plan what does not depend on where the car stands.

        Parameters
        ----------
        mission : Mission or None
            None: follow the lane to its end.
        network : RoadMap or None
            None: stay where it is.
        vehicle : Vehicle
        """
        self.rig: Rig = rig_of(vehicle)
        self.path, self.reason, self.done = None, "", False
        self._itinerary = None if network is None else Itinerary(network, mission, self.rig)
        if self._itinerary is not None:
            self._itinerary.prepare()
        self._watch = Watch(self.rig) if self.look_out else None
        self._row, self._run, self._halt = 0, 0, 0
        self._rest_since, self._stood = math.inf, 0.0
        self._time, self._place = 0.0, (math.inf, math.inf)
        self._controls: Controls = controls_of(self.rig)

    def plan(self, observation: Observation) -> Command:
        """Follow the path."""
        x, y, _ = observation.position.tolist()
        heading = observation.heading
        sine, cosine = math.sin(heading), math.cos(heading)
        x, y = x + self.rig.arm * sine, y - self.rig.arm * cosine
        if self.path is None and not self._draw((x, y, heading)):
            return self._controls.stand(0.0, False)
        path = self.path
        assert path is not None
        run = path.runs[self._run]
        row = self._advance(path, run, x, y)
        px, py, ps, pc = path.x[row], path.y[row], path.sine[row], path.cosine[row]
        along = (y - py) * pc - (x - px) * ps
        aside = -(x - px) * pc - (y - py) * ps
        station = path.station[row] + along
        gear = -1.0 if run.reverse else 1.0
        speed = gear * observation.speed
        moved = observation.time - self._time
        self._controls.feel(Motion(speed, observation.yaw_rate, moved))
        self._time = observation.time
        halt = path.halts[self._halt]
        off = gear * (sine * pc - cosine * ps)
        if speed > COURSE:  # where tyres slip, the car does not go where it points
            dx, dy = x - self._place[0], y - self._place[1]
            way = math.hypot(dx, dy)
            if 0.0 < way < 2.0:
                off = -(dx * pc + dy * ps) / way + 0.5 * observation.yaw_rate * moved
        self._place = x, y
        curvature = self._curvature(path, run, row, aside, off, speed)
        if speed < AT_REST and halt.station - station < 0.6:
            return self._rest(observation.time, halt, curvature * gear, run)
        wanted, push = self._speed(path, run, row, halt.station - station, speed)
        if self._watch is not None and observation.scans:
            free = self._watch.free(observation, path, row, run)
            if free < math.inf:
                wanted = min(wanted, math.sqrt(2.0 * max(free, 0.0)))
                push = min(push, 0.0)
        self._rest_since = math.inf
        return self._controls.drive(gear * curvature, wanted, push, run.reverse)

    def draw(self) -> list[Drawing]:
        """Show people the way ahead with the speed it is planned with, and the next halt; of one for good, why."""
        path = self.path
        if path is None:
            return []
        ahead = path.table[self._row : self._row + SHOWN]
        if len(ahead) < 2:
            return []
        end = min(self._row + SHOWN, len(path.speed)) - 1
        shown: list[Drawing] = [Line(ahead[::4, :2], width=3.0), Text(ahead[-1, :2], text=f"{path.speed[end]:.1f} m/s")]
        halt = path.halts[self._halt]
        if halt.station <= ahead[-1, 4]:
            place = path.table[int(np.searchsorted(path.table[:, 4], halt.station)), :2]
            text = f"halt in {max(halt.station - ahead[0, 4], 0.0):.1f} m"
            if halt.dwell == math.inf and self.reason:
                text += f": {self.reason}"
            shown[1:] = [Dots(place, size=7.0), Text(place, text=text)]
        return shown

    def _draw(self, pose: tuple[float, float, float]) -> bool:
        """Plan the whole way from where the car stands; False if there is none."""
        if self._itinerary is None:
            self.reason = "there is no road network"
            return False
        draft = self._itinerary.draft(pose)
        self.reason = self._itinerary.reason
        if not draft.stretches:
            return False
        self.path = finish(draft, self.rig, self.dwell)
        return True

    def _advance(self, path: Path, run: Run, x: float, y: float) -> int:
        """Move on to the last row of the path that has been passed."""
        row = self._row
        while row < run.last:
            n = row + 1
            if (y - path.y[n]) * path.cosine[n] - (x - path.x[n]) * path.sine[n] < 0.0:
                break
            row = n
        self._row = row
        return row

    def _curvature(self, path: Path, run: Run, row: int, aside: float, off: float, speed: float) -> float:
        """Curvature to steer in the sense of travel: the path's a little ahead, and back to it where it was left.

        `off` is the sine of the heading error. Seen along the path, the distance from it obeys e'' = κ − κ_path: the
        feedback makes that a damped return over the look-ahead distance.
        """
        ahead = min(run.last, row + 1 + int(max(speed, 0.0) * STEER_PREVIEW * 4.0))
        look = max(LOOK_LEAST, LOOK_TIME * speed)
        back = aside / (look * look)
        back = max(-0.5 / look, min(0.5 / look, back))
        return path.curvature[ahead] - back - 2.0 * DAMPING * off / look

    def _speed(self, path: Path, run: Run, row: int, left: float, speed: float) -> tuple[float, float]:
        """Speed wanted and the acceleration that the plan has there."""
        ahead = min(run.last, row + 2 + int(max(speed, 0.0) * SPEED_PREVIEW * 4.0))
        wanted = path.speed[ahead]
        apart = path.station[ahead] - path.station[row]
        planned = path.speed[row]
        if speed < planned and wanted < planned:
            planned = max(speed, wanted)  # slow enough already: no need to brake as planned
        push = (wanted * wanted - planned * planned) / (2.0 * apart) if apart > 0.1 else 0.0
        if left < 2.0:
            wanted = 0.0 if left < 0.05 + 0.1 * speed else max(min(wanted, math.sqrt(2.0 * left)), CREEP)
            push = 0.0 if speed < 1.0 else min(push, 0.0)
        elif wanted < CREEP:  # from a rest a little short of its place
            wanted = CREEP
        return wanted, max(-2.5, min(2.0, push))

    def _rest(self, time: float, halt: Halt, curvature: float, run: Run) -> Command:
        """Stand at a halt, turn the wheels to where they are needed next, and go on when it is time."""
        path = self.path
        assert path is not None
        if self._rest_since == math.inf:
            self._rest_since, self._stood = time, curvature
        ends_run = self._run + 1 < len(path.runs) and halt.station >= path.station[run.last] - 1e-6
        if ends_run:
            following = path.runs[self._run + 1]
            curvature = path.curvature[following.first] * (-1.0 if following.reverse else 1.0)
        ready = 1.1 * abs(curvature - self._stood) / self.rig.curvature_rate if ends_run else 0.0
        if halt.dwell == math.inf:
            self.done = True
        elif time - self._rest_since >= max(halt.dwell, ready) - 1e-9:
            self._halt += 1
            self._rest_since = math.inf
            if ends_run:
                self._run += 1
                self._row = path.runs[self._run].first
        return self._controls.stand(curvature, run.reverse)
