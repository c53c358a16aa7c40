"""Laser scanners, first form: all beams of a scan at one instant, true mounting and rate, noise from a stream."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.pose import Pose
from cbsim.sensing.faults import content_index
from cbsim.sensing.kernels.fan import fan_of
from cbsim.sensing.kernels.poses import bodies_at_into
from cbsim.sensing.kernels.still import cast_still_into, scratch_for
from cbsim.sensing.noise import measure
from cbsim.world.snapshot import Snapshot
from cbsim.world.streams import normals, stream_key
from cbsim.world.tables import Floats
from cbsim.world.world import Sensor, World

__all__ = ["Scan", "scan"]


@dataclass(frozen=True, slots=True)
class Scan:
    """One sweep of one laser.

    Attributes
    ----------
    key : str
        ``<object name>/<conf file stem>``.
    time : float
        When it was taken [s].
    ranges : (layers, beams) [m]
        Distance to the first return; what the conf's `no_return` says where there is none.
    angles : (beams,) [rad]
        Azimuth in the sensor frame, 0 forward, counter-clockwise: the first looks right.
    pose : Pose
        Of the sensor in the world.
    directions : (layers, beams, 3)
        Nominal unit vectors of the beams in the sensor frame.
    returned : (layers, beams) bool
        Whether there was a return.
    """

    key: str
    time: float
    ranges: Floats
    angles: Floats
    pose: Pose
    directions: Floats
    returned: NDArray[np.bool_]

    @property
    def points(self) -> Floats:
        """Returns in the world (layers, beams, 3) [m]; nan where there is none."""
        ranges = np.where(self.returned, self.ranges, np.nan)
        return self.pose.apply(self.directions * ranges[..., None])


def scan(world: World, snapshot: Snapshot, sensor: Sensor, index: int) -> Scan:
    """Take the scan number `index`, whose time must not be later than the Snapshot's."""
    conf, taken = sensor.conf, index / sensor.conf.rate
    index = content_index(conf, index)  # a frozen scan shows an earlier one
    time = index / conf.rate
    positions, orientations = np.empty_like(snapshot.state.position), np.empty_like(snapshot.state.orientation)
    bodies_at_into(world.constants, world.first.state, snapshot.state, time, positions, orientations)
    pose = Pose(positions[sensor.body], orientations[sensor.body]) @ sensor.mount
    layers, beams = sensor.directions.shape[:2]
    key = stream_key(snapshot.seed, "laser", sensor.key)
    directions, azimuths = sensor.directions, sensor.azimuths
    if conf.angle_sigma > 0.0:
        azimuths = azimuths + conf.angle_sigma * normals(key, index, beams, first=2 * layers * beams)
        directions = _turned(sensor, azimuths)
    fan = fan_of(azimuths, directions, np.asarray(conf.layer_pitches))
    true = np.empty(layers * fan.width)
    scratch = scratch_for(len(world))
    cast_still_into(
        *(pose.position, pose.orientation, fan, sensor.body, conf.max_range, positions, orientations),
        *(world.shapes, *scratch, true),
    )
    ranges, seen = measure(sensor, true.reshape(layers, -1)[:, :beams], key, index)
    return Scan(sensor.key, taken, ranges, sensor.azimuths, pose, sensor.directions, seen)


def _turned(sensor: Sensor, azimuths: Floats) -> Floats:
    """Directions (layers, beams, 3) at disturbed azimuths, the layers' pitches kept."""
    level = np.hypot(sensor.directions[..., 0], sensor.directions[..., 1])
    return np.stack([-np.sin(azimuths) * level, np.cos(azimuths) * level, sensor.directions[..., 2]], axis=-1)
