"""`SeatView`: input of the planner of a seat: the ground truth or sensor estimates, and the objects around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.pose import rotate
from cbsim.jit import wrapping
from cbsim.sensing import Fix, Odometry, Reading, Scan
from cbsim.sensing.kernels.observed import COLUMNS, SENSORS, observed_into
from cbsim.simulation.mission_progress import MissionProgress
from cbsim.simulation.observations import observe_row
from cbsim.spec.command import Observation, ObservedObjects
from cbsim.spec.planner import FIDELITIES, Seat
from cbsim.world.snapshot import SEED, Snapshot
from cbsim.world.streams import stream_key
from cbsim.world.world import World

__all__ = ["SEEING", "SeatView"]

SEEING = ("ladar", "radar", "objects")  # types of sensors that see objects
REACH = 200.0  # [m] within which objects are told
STREAM = "observed objects"


class SeatView:
    """View of one planner.

    Parameters
    ----------
    world : World
    name : str
        Of the object that it drives.
    seat : Seat

    Attributes
    ----------
    truth : Observation or None
        The newest observation with the ground truth.
    progress : MissionProgress
    """

    def __init__(self, world: World, name: str, seat: Seat) -> None:
        self._world, self._name, self._seat = world, name, seat
        self._row = world[name].row
        self.truth: Observation | None = None
        self.progress = MissionProgress(world, self._row)
        self._sensors = sensor_table(world, self._row)
        self._mode = FIDELITIES.index(seat.fidelity) if seat.fidelity else 0
        self._where = world.pack, world.layout.sizes
        self._bodies = world.layout.bodies
        self._seed = world.first.seed
        self._key = stream_key(self._seed, STREAM, name)
        self._mounts = {one.key: one.mount.position for one in world.sensors if one.body == self._row}

    def observe(self, snapshot: Snapshot, newest: Mapping[str, Scan | Reading]) -> Observation:
        """Make the observation at a Snapshot.

        Parameters
        ----------
        snapshot : Snapshot
        newest : mapping
            Newest reading of each sensor.
        """
        told = self.truth = observe_row(self._world, snapshot, self._row, newest)
        object.__setattr__(told, "checkpoints", self._passed(told))  # it is ours; a copy would cost 3 µs
        if not self._seat.truth:
            told = replace(told, **self._measured(told))
        if self._seat.fidelity:
            object.__setattr__(told, "objects", self._objects(snapshot))
        return told

    def note(self, snapshot: Snapshot) -> int:
        """Note the vehicle's place before its planner is asked; return how many checkpoints it has passed."""
        return self._passed(observe_row(self._world, snapshot, self._row, {}))

    def _passed(self, told: Observation) -> int:
        x, y, _ = told.position.tolist()
        return self.progress.see(x, y, told.heading, told.restarts)

    def _measured(self, told: Observation) -> dict[str, Any]:
        """Position and motion as its receiver or inertial unit and its wheels give them; nan where they do not."""
        fixes = [one for one in told.readings.values() if isinstance(one, Fix)]
        inertial = next((one for one in fixes if not math.isnan(one.yaw_rate)), None)
        fix = inertial or next((one for one in fixes if one.valid), None)
        wheels = next((one for one in told.readings.values() if isinstance(one, Odometry)), None)
        position, heading, speed, rate = np.full(3, math.nan), math.nan, math.nan, math.nan
        if fix is not None:
            heading, rate = float(fix.heading), float(fix.yaw_rate)
            half = 0.5 * heading
            turn = np.array([math.cos(half), 0.0, 0.0, math.sin(half)])
            position = fix.position - rotate(turn, self._mounts[fix.key])
            speed = float(fix.velocity[1] * math.cos(heading) - fix.velocity[0] * math.sin(heading))
        if wheels is not None:
            speed = float(wheels.speed)
            rate = float(wheels.yaw_rate) if math.isnan(rate) else rate
        return {"position": position, "heading": heading, "speed": speed, "yaw_rate": rate}

    def _objects(self, snapshot: Snapshot) -> ObservedObjects:
        ids, rows = np.empty(self._bodies, np.int64), np.empty((self._bodies, COLUMNS))
        floats, ints = snapshot.blocks
        if ints[SEED] != self._seed:
            self._seed, self._key = int(ints[SEED]), stream_key(int(ints[SEED]), STREAM, self._name)
        where = *self._where, floats, ints, self._row, self._sensors, REACH, self._mode
        with wrapping():
            count = observed_into(*where, *self._key, ids, rows)
        return ObservedObjects.of(ids, rows, count)


def sensor_table(world: World, row: int) -> Floats:
    """Mounts, fields of view [rad] and ranges [m] (k, 11) of the sensors of a bot that see objects."""
    seeing = [one for one in world.sensors if one.body == row and one.conf.type in SEEING]
    table = np.empty((len(seeing), SENSORS))
    for line, one in zip(table, seeing, strict=True):
        conf = one.conf
        line[:3], line[3:7] = one.mount
        line[7:] = conf.start_angle, conf.end_angle, conf.min_range, conf.max_range
    return table
