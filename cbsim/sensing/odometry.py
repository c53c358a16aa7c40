"""Odometry: wheel encoders and a gyroscope, with scale errors, noise, ticks, and errors from wheel slip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import norm, times
from cbsim.sensing.faults import in_outage
from cbsim.sensing.kernels.device import device_at_into
from cbsim.sensing.reading import flat
from cbsim.world.forks import branch_at_time, gauss_markov, occasion
from cbsim.world.kernels import HISTORY_ROLLING, HISTORY_WAY
from cbsim.world.snapshot import Snapshot
from cbsim.world.streams import normals, stream_key
from cbsim.world.world import Sensor, World

__all__ = ["Odometry", "take_odometry"]

DRIFT = np.array([8])  # first block of the stream for the gyroscope's bias; white noise begins at 0
CENTRE = np.zeros(3)  # [m] centre of the body, where the reading is taken
CENTRE.setflags(write=False)  # read-only like the mounts of other devices: one overload of the kernel for all


@dataclass(frozen=True, slots=True)
class Odometry:
    """Reading of wheel encoders and a gyroscope.

    Attributes
    ----------
    key : str
        ``<object name>/<conf file stem>``.
    time : float
        Time of the reading [s].
    distance : float
        Distance that the wheels have rolled since the start [m], negative in reverse; in whole ticks if there are any.
    speed : float
        Speed of the wheels [m/s], negative in reverse; with ticks, from those since the previous reading.
    yaw_rate : float
        [rad/s], counter-clockwise positive.
    """

    key: str
    time: float
    distance: float
    speed: float
    yaw_rate: float

    def values(self) -> Floats:
        """Distance, speed and yaw rate (3,)."""
        return flat(self.distance, self.speed, self.yaw_rate)

    @classmethod
    def of(cls, key: str, time: float, values: Floats) -> Odometry:
        """Restore the reading from its numbers (3,)."""
        distance, speed, rate = (float(x) for x in values)
        return cls(key, time, distance, speed, rate)


def take_odometry(world: World, snapshot: Snapshot, sensor: Sensor, index: int) -> Odometry | None:
    """Take the reading with a number; None in an outage."""
    conf, time = sensor.conf, index / sensor.conf.rate
    if in_outage(conf, index):
        return None
    motion, turn = np.empty(8), np.empty(4)
    placed = world.first.columns
    device_at_into(world.constants, placed, snapshot.columns, sensor.body, CENTRE, time, turn, motion)
    key, rate = stream_key(snapshot.seed, "odometry", sensor.key), float(motion[7]) + conf.yaw_rate_bias
    scale = conf.speed_scale * (conf.wheel_radius / sensor.wheel_radius if conf.wheel_radius else 1.0)
    speed, way = _rolled(world, snapshot, sensor, time)
    if sensor.body not in world.vehicle_rows:  # a literal mover rolls without slip
        speed = math.cos(motion[6]) * motion[4] - math.sin(motion[6]) * motion[3]
    speed, way = scale * speed, scale * way
    if conf.ticks:
        tick = 2.0 * math.pi * scale * sensor.wheel_radius / conf.ticks
        counted = math.floor(way / tick + 1e-9)
        before = scale * _rolled(world, snapshot, sensor, max(index - 1, 0) / conf.rate)[1]
        speed = (counted - math.floor(before / tick + 1e-9)) * tick * conf.rate
        way = counted * tick
    if conf.velocity_sigma or conf.yaw_rate_sigma:
        white = normals(key, occasion(index, branch_at_time(snapshot, time)), 2)
        speed, rate = speed + conf.velocity_sigma * white[0], rate + conf.yaw_rate_sigma * white[1]
    if conf.yaw_rate_drift:
        lags = conf.drift_time * conf.rate
        rate += conf.yaw_rate_drift * gauss_markov(snapshot, key, index, conf.rate, lags, 1, DRIFT)[0, 0]
    return Odometry(sensor.key, time, float(way), float(speed), float(rate))


def _rolled(world: World, snapshot: Snapshot, sensor: Sensor, time: float) -> tuple[float, float]:
    """Speed of the wheels [m/s] and distance rolled [m] at a time; for a literal mover, the distance only."""
    vehicle = world.vehicle_rows.get(sensor.body)
    if vehicle is None:
        return 0.0, _along_legs(world, sensor.body, time)
    memory, clock = world.constants.memory, snapshot.step
    rows = snapshot.columns.pose_history[vehicle * memory : (vehicle + 1) * memory]
    before = min(max(math.floor(time / world.step + 1e-9), clock - memory + 1, 0), clock)
    part = time / world.step - before if before < clock else 0.0
    part = part if part > 1e-9 else 0.0
    one, two = rows[before % memory], rows[(before + 1) % memory]
    speed, way = one[HISTORY_ROLLING], one[HISTORY_WAY]
    return speed + part * (two[HISTORY_ROLLING] - speed), way + part * (two[HISTORY_WAY] - way)


def _along_legs(world: World, body: int, time: float) -> float:
    """Length of a literal mover's path [m] up to a time; 0 for static bodies."""
    constants = world.constants
    where = np.flatnonzero(constants.mover_body == body)
    if not len(where):
        return 0.0
    legs = slice(constants.mover_first[where[0]], constants.mover_last[where[0]] + 1)
    starts, speeds = constants.segment_start[legs], norm(constants.segment_velocity[legs], axis=1)
    ends = np.append(starts[1:], np.inf)
    return float(times(speeds, np.clip(np.minimum(ends, time) - starts, 0.0, None)))
