"""Constants of sensors from their confs: mounting, beam directions, keys."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.pose import Pose, mounting_quaternion
from cbsim.spec.sensor import SensorConf
from cbsim.world.world import Sensor

__all__ = ["beam_azimuths", "beam_directions", "mount_pose", "sensor_of"]


def beam_azimuths(conf: SensorConf) -> Floats:
    """Azimuth of each beam (beams,) [rad] in the order of the readings; a full turn leaves out its last beam.

    The order is counter-clockwise from the start angle; a unit mounted upside down is read in reverse, so that its
    readings run counter-clockwise seen from above as well.
    """
    full = conf.end_angle - conf.start_angle >= 2.0 * math.pi - 1e-9
    steps = conf.beams if full else max(conf.beams - 1, 1)
    azimuths = conf.start_angle + (conf.end_angle - conf.start_angle) / steps * np.arange(conf.beams)
    return np.asarray(azimuths[::-1].copy() if conf.upside_down else azimuths)


def beam_directions(azimuths: Floats, pitches: tuple[float, ...]) -> Floats:
    """Compute unit vectors (layers, beams, 3) in the sensor frame: x right, y forward, z up."""
    pitch = np.asarray(pitches)[:, None]
    forward = math.cos(pitch)
    directions = [-math.sin(azimuths) * forward, math.cos(azimuths) * forward, math.sin(pitch) + 0.0 * azimuths]
    return np.ascontiguousarray(np.stack(directions, axis=-1))


def mount_pose(conf: SensorConf, size: Floats, wheelbase: float) -> Pose:
    """Pose of the sensor relative to the centre of a bot of that size [m]."""
    footprint = np.array([0.0, 0.0, -0.5 * size[2]])
    origins = {
        "footprint": footprint,
        "rear_axle": footprint + np.array([0.0, -0.5 * wheelbase, 0.0]),
        "center": np.zeros(3),
    }
    roll = conf.roll + (math.pi if conf.upside_down else 0.0)
    return Pose(origins[conf.origin] + np.asarray(conf.position), mounting_quaternion(conf.pitch, roll, conf.yaw))


def sensor_of(key: str, body: int, conf: SensorConf, size: Floats, wheelbase: float, wheel_radius: float) -> Sensor:
    """Assemble one sensor."""
    azimuths = beam_azimuths(conf)
    directions = beam_directions(azimuths, conf.layer_pitches)
    return Sensor(key, body, conf, mount_pose(conf, size, wheelbase), azimuths, directions, wheel_radius)
