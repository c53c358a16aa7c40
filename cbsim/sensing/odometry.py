"""Odometry: way and speed counted at the wheels, and a gyroscope; worn, noisy, in ticks, wrong where wheels slip."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cbsim.geometry.pose import rotate
from cbsim.sensing.faults import is_out
from cbsim.sensing.kernels.poses import bodies_at_into
from cbsim.sensing.reading import flat
from cbsim.world.kernels import motion_at_into
from cbsim.world.snapshot import Snapshot
from cbsim.world.streams import gauss_markov, normals, stream_key
from cbsim.world.tables import Floats
from cbsim.world.world import Sensor, World

__all__ = ["Odometry", "take_odometry"]

SPEED, WAY = 11, 12  # columns of `State.past`: speed of the wheels [m/s] and way that they have rolled [m]
DRIFT = np.array([8])  # block of the stream where the draws of the gyroscope's bias begin; white noise begins at 0


@dataclass(frozen=True, slots=True)
class Odometry:
    """What the wheels and a gyroscope say.

    Attributes
    ----------
    key : str
        ``<object name>/<conf file stem>``.
    time : float
        When it was taken [s].
    distance : float
        Way that the wheels have rolled since the start [m], negative backwards; in whole ticks if there are any.
    speed : float
        Of the wheels [m/s], negative backwards; with ticks, those since the reading before.
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
        """Make the reading again from its numbers (3,)."""
        distance, speed, rate = (float(x) for x in values)
        return cls(key, time, distance, speed, rate)


def take_odometry(world: World, snapshot: Snapshot, sensor: Sensor, index: int) -> Odometry | None:
    """Take the reading number `index`; none in an outage."""
    conf, time = sensor.conf, index / sensor.conf.rate
    if is_out(conf, index):
        return None
    n = len(snapshot.state.position)
    velocities, rates = np.empty((n, 3)), np.empty(n)
    motion_at_into(world.constants, snapshot.state, time, velocities, rates)
    key, rate = stream_key(snapshot.seed, "odometry", sensor.key), float(rates[sensor.body]) + conf.yaw_rate_bias
    scale = conf.speed_scale * (conf.wheel_radius / sensor.wheel_radius if conf.wheel_radius else 1.0)
    speed, way = _rolled(world, snapshot, sensor, time, velocities)
    speed, way = scale * speed, scale * way
    if conf.ticks:
        tick = 2.0 * math.pi * scale * sensor.wheel_radius / conf.ticks
        counted = math.floor(way / tick + 1e-9)
        earlier = max(index - 1, 0) / conf.rate
        before = scale * _rolled(world, snapshot, sensor, earlier, velocities)[1]
        speed = (counted - math.floor(before / tick + 1e-9)) * tick * conf.rate
        way = counted * tick
    if conf.velocity_sigma or conf.yaw_rate_sigma:
        white = normals(key, index, 2)
        speed, rate = speed + conf.velocity_sigma * white[0], rate + conf.yaw_rate_sigma * white[1]
    if conf.yaw_rate_drift:
        lags = conf.drift_time * conf.rate
        rate += conf.yaw_rate_drift * gauss_markov(key, index, lags, 1, DRIFT)[0, 0]
    return Odometry(sensor.key, time, float(way), float(speed), float(rate))


def _rolled(world: World, snapshot: Snapshot, sensor: Sensor, time: float, velocities: Floats) -> tuple[float, float]:
    """Speed of the wheels [m/s] and way that they have rolled [m] at a time; a literal mover rolls without slip."""
    vehicle = world.vehicle_rows.get(sensor.body)
    if vehicle is None:
        return _along_legs(world, snapshot, sensor.body, time, velocities)
    memory, clock = world.constants.memory, snapshot.step
    rows = snapshot.state.past[vehicle * memory : (vehicle + 1) * memory]
    before = min(max(math.floor(time / world.step + 1e-9), clock - memory + 1, 0), clock)
    part = max(time / world.step - before, 0.0) if before < clock else 0.0
    one, two = rows[before % memory], rows[(before + 1) % memory]
    part = 0.0 if part < 1e-9 else part
    return one[SPEED] + part * (two[SPEED] - one[SPEED]), one[WAY] + part * (two[WAY] - one[WAY])


def _along_legs(world: World, snapshot: Snapshot, body: int, time: float, velocities: Floats) -> tuple[float, float]:
    constants = world.constants
    where = np.flatnonzero(constants.mover_body == body)
    if not len(where):
        return 0.0, 0.0
    legs = slice(constants.mover_first[where[0]], constants.mover_last[where[0]] + 1)
    starts, speeds = constants.leg_start[legs], np.linalg.norm(constants.leg_velocity[legs], axis=1)
    ends = np.append(starts[1:], np.inf)
    way = float(speeds @ np.clip(np.minimum(ends, time) - starts, 0.0, None))
    positions, orientations = np.empty_like(snapshot.state.position), np.empty_like(snapshot.state.orientation)
    bodies_at_into(constants, world.first.state, snapshot.state, time, positions, orientations)
    return float(rotate(orientations[body], [0.0, 1.0, 0.0]) @ velocities[body]), way
