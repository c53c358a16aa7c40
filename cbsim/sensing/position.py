"""Satellite receivers (`gps`) and inertial units (`ins`): position, velocity and heading of the device, with errors.

Errors are white noise, a constant bias, and a bias that follows a Gauss–Markov process (Farrell, "Aided Navigation",
McGraw-Hill 2008, §4.6). In an outage a receiver has no fix; an inertial unit continues unaided, and its position error
grows in proportion to the time since, in a random direction for each outage.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.sensing.faults import outage_at
from cbsim.sensing.kernels.device import device_at_into
from cbsim.sensing.reading import flat
from cbsim.spec.sensor import SensorConf
from cbsim.world.forks import branch_at_time, gauss_markov, occasion
from cbsim.world.snapshot import Snapshot
from cbsim.world.streams import Key, normals, stream_key
from cbsim.world.world import Sensor, World

__all__ = ["Fix", "take_gps", "take_ins"]

NOTHING = np.full(3, np.nan)
NOTHING.flags.writeable = False  # shared by all readings without a fix
WANDER, TURN, LOST = (
    np.array([8]),
    np.array([10]),
    16,
)  # first blocks of the stream for these draws; white noise begins at 0


@dataclass(frozen=True, slots=True)
class Fix:
    """Position and motion of a device, as it reports them.

    Attributes
    ----------
    key : str
        ``<object name>/<conf file stem>``.
    time : float
        Time of the reading [s].
    valid : bool
        Whether satellites were received.
    position : (3,) [m]
        Position of the device (not of the body's centre): east, north, up from the network's origin.
    latitude, longitude : float
        [deg]; nan without a road network.
    velocity : (3,) [m/s]
        East, north, up.
    heading : float
        [rad] 0 = north, counter-clockwise. A receiver gives the course of its velocity.
    yaw_rate : float
        [rad/s]; nan from a receiver, which has no gyroscope.
    """

    key: str
    time: float
    valid: bool
    position: Floats
    latitude: float
    longitude: float
    velocity: Floats
    heading: float
    yaw_rate: float

    def values(self) -> Floats:
        """All fields except key and time (11,)."""
        return flat(
            self.valid, self.position, self.latitude, self.longitude, self.velocity, self.heading, self.yaw_rate
        )

    @classmethod
    def of(cls, key: str, time: float, values: Floats) -> Fix:
        """Restore the reading from its numbers (11,)."""
        if len(values) != 11:
            raise ValueError(f"a fix has 11 numbers, not {len(values)}")
        v = [float(x) for x in values]
        return cls(key, time, v[0] != 0.0, values[1:4].copy(), v[4], v[5], values[6:9].copy(), v[9], v[10])


def take_gps(world: World, snapshot: Snapshot, sensor: Sensor, index: int) -> Fix:
    """Take a reading, by number, of a satellite receiver."""
    conf, time = sensor.conf, index / sensor.conf.rate
    if outage_at(conf, index) is not None:
        return Fix(sensor.key, time, False, NOTHING, math.nan, math.nan, NOTHING, math.nan, math.nan)
    motion = _truth(world, snapshot, sensor, time)
    _disturb(conf, snapshot, stream_key(snapshot.seed, "gps", sensor.key), index, motion)
    course = math.atan2(-motion[3], motion[4])
    position = motion[:3]
    return Fix(sensor.key, time, True, position, *_degrees(world, position), motion[3:6], course, math.nan)


def take_ins(world: World, snapshot: Snapshot, sensor: Sensor, index: int) -> Fix:
    """Take a reading, by number, of an inertial unit that satellites aid."""
    conf, time = sensor.conf, index / sensor.conf.rate
    motion = _truth(world, snapshot, sensor, time)
    key = stream_key(snapshot.seed, "ins", sensor.key)
    _disturb(conf, snapshot, key, index, motion)
    position = motion[:3]
    outage = outage_at(conf, index)
    if outage is not None and conf.outage_drift > 0.0:
        which = conf.outages.index(outage)
        position[:2] += (
            conf.outage_drift
            * (time - outage[0])
            * normals(key, occasion(which, branch_at_time(snapshot, outage[0])), 2, first=LOST)
        )
    angle, rate = float(motion[6]) + conf.heading_bias, float(motion[7]) + conf.yaw_rate_bias
    if conf.heading_sigma or conf.yaw_rate_sigma:
        white = normals(key, occasion(index, branch_at_time(snapshot, time)), 2, first=2)
        angle, rate = angle + conf.heading_sigma * white[0], rate + conf.yaw_rate_sigma * white[1]
    if conf.heading_drift or conf.yaw_rate_drift:
        slow = gauss_markov(snapshot, key, index, conf.rate, conf.drift_time * conf.rate, 2, TURN)[0]
        angle, rate = angle + conf.heading_drift * slow[0], rate + conf.yaw_rate_drift * slow[1]
    angle = math.remainder(angle, 2.0 * math.pi)
    return Fix(sensor.key, time, outage is None, position, *_degrees(world, position), motion[3:6], angle, float(rate))


def _truth(world: World, snapshot: Snapshot, sensor: Sensor, time: float) -> Floats:
    """Position and velocity of the device, heading and yaw rate of its body (8,)."""
    motion, orientation = np.empty(8), np.empty(4)
    placed, mount = world.first.columns, sensor.mount.position
    device_at_into(world.constants, placed, snapshot.columns, sensor.body, mount, time, orientation, motion)
    return motion


def _disturb(conf: SensorConf, snapshot: Snapshot, key: Key, index: int, motion: Floats) -> None:
    """Add the errors of position and velocity in place; without noise, no random numbers are drawn."""
    position, velocity = motion[:3], motion[3:6]
    if conf.position_sigma or conf.altitude_sigma or conf.velocity_sigma:
        white = normals(key, occasion(index, branch_at_time(snapshot, index / conf.rate)), 6)
        position += white[:3] * (conf.position_sigma, conf.position_sigma, conf.altitude_sigma)
        velocity += conf.velocity_sigma * white[3:]
    if any(conf.position_bias):
        position += conf.position_bias
    if conf.position_drift:
        slow = gauss_markov(snapshot, key, index, conf.rate, conf.drift_time * conf.rate, 3, WANDER)[0]
        position += conf.position_drift * slow
    if conf.position_resolution:
        position[:] = np.round(position / conf.position_resolution) * conf.position_resolution


def _degrees(world: World, position: Floats) -> tuple[float, float]:
    if world.scene.roadmap is None:
        return math.nan, math.nan
    latitude, longitude = world.scene.roadmap.plane.to_geodetic(position[:2])
    return float(latitude), float(longitude)
