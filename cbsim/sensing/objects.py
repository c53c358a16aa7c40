"""Object lists: the bodies that are visible from a device on the car, as the output of a tracker.

An object is listed if enough of it is visible, by rays from the device against all other bodies. Errors follow the
fourth noise model of scenario_simulator_v2 (its documentation, "Parameters"): by elliptical bins of distance,
autocorrelated along the line of sight to the nearest point of the object, across it, and in heading about that point;
misses and flipped headings are Markov chains. All of them use counted random numbers, so that readings can be taken in
any order, and probabilities and deviations remain exact when an object changes its bin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.geometry import elementary as math
from cbsim.geometry.kernels.bvh import DEPTH
from cbsim.geometry.linear import norm
from cbsim.geometry.pose import Pose, heading, rotate
from cbsim.sensing.faults import in_outage
from cbsim.sensing.kernels.poses import bodies_at_into
from cbsim.sensing.kernels.visible import visible_into
from cbsim.sensing.noise import binned, bins_of
from cbsim.sensing.reading import flat
from cbsim.spec.sensor import SensorConf
from cbsim.world.forks import branch_at_time, gauss_markov, occasion, renewals
from cbsim.world.kernels import motion_at_into
from cbsim.world.snapshot import Snapshot
from cbsim.world.streams import Key, stream_key, uniforms
from cbsim.world.world import Sensor, World

__all__ = ["ObjectList", "take_objects"]

COLUMNS = 12  # numbers per object in a recording
BLOCKS = 8  # blocks of the stream per body: noise 0 and 1, detection 2, flip 3, velocity 4
PHANTOM_SIZE = (1.8, 4.5, 1.5)  # [m] size of a false detection: that of a car
MOST_PHANTOMS = 1000


@dataclass(frozen=True, slots=True)
class ObjectList:
    """Objects that a device reports: real ones in the order of their rows, then false detections.

    Attributes
    ----------
    key : str
        ``<object name>/<conf file stem>``.
    time : float
        Time of the reading [s].
    rows : (n,) int64
        Rows of the bodies; -1 for a false detection.
    positions : (n, 3) [m]
        Centres, in the world.
    headings : (n,) [rad]
    velocities : (n, 3) [m/s]
        Velocities in the world.
    sizes : (n, 3) [m]
        Width, length, height.
    visible : (n,)
        Visible share of the object's outline, 0 to 1.
    """

    key: str
    time: float
    rows: Ints
    positions: Floats
    headings: Floats
    velocities: Floats
    sizes: Floats
    visible: Floats

    def __len__(self) -> int:
        return len(self.rows)

    def values(self) -> Floats:
        """Numbers of all objects in a row (n · 12,)."""
        columns = (self.rows, self.positions, self.headings, self.velocities, self.sizes, self.visible)
        return flat(np.column_stack(columns)) if len(self.rows) else np.zeros(0)

    @classmethod
    def of(cls, key: str, time: float, values: Floats) -> ObjectList:
        """Restore the list from its numbers (n · 12,)."""
        v = values.reshape(-1, COLUMNS)
        return cls(key, time, v[:, 0].astype(np.int64), v[:, 1:4], v[:, 4], v[:, 5:8], v[:, 8:11], v[:, 11])


def take_objects(world: World, snapshot: Snapshot, sensor: Sensor, index: int) -> ObjectList | None:
    """Take the reading with a number; None in an outage."""
    conf, time = sensor.conf, index / sensor.conf.rate
    if in_outage(conf, index):
        return None
    state, n = snapshot.columns, len(snapshot.columns.position)
    positions, orientations, velocities, rates = np.empty((n, 3)), np.empty((n, 4)), np.empty((n, 3)), np.empty(n)
    bodies_at_into(world.constants, world.first.columns, state, time, positions, orientations)
    motion_at_into(world.constants, state, time, velocities, rates)
    pose = Pose(positions[sensor.body], orientations[sensor.body]) @ sensor.mount
    key = stream_key(snapshot.seed, "objects", sensor.key)
    shapes = world.shapes
    away = norm(positions - pose.position, axis=1) - shapes.radius
    rows = np.flatnonzero((away <= conf.max_range) & (shapes.solid != 0) & (np.arange(n) != sensor.body))
    bins = _bins(conf, pose, positions[rows])
    rows, bins = _detected(conf, snapshot, key, index, rows, bins)
    view = np.array([conf.start_angle, conf.end_angle, conf.min_range, conf.max_range])
    shares, stack = np.empty(len(rows)), np.empty(DEPTH, np.int64)
    visible_into(*pose, view, sensor.body, rows, positions, orientations, shapes, stack, shares)
    keep = (shares > 0.0) & (shares >= conf.min_visible)
    rows, shares, bins = rows[keep], shares[keep], bins[keep]
    places, headings = positions[rows], np.asarray(heading(orientations[rows]))
    speeds = norm(velocities[rows], axis=1)
    places, headings = _disturbed(
        conf, snapshot, key, index, pose, (rows, bins, shapes.size[rows], speeds), places, headings
    )
    moved = velocities[rows]
    if conf.velocity_sigma and len(rows):
        moved[:, :2] += conf.velocity_sigma * gauss_markov(snapshot, key, index, conf.rate, 0.0, 2, BLOCKS * rows + 4)
    found = ObjectList(sensor.key, time, rows, places, headings, moved, shapes.size[rows], shares)
    return _with_phantoms(conf, snapshot, index, pose, found) if conf.false_positives else found


def _bins(conf: SensorConf, pose: Pose, places: Floats) -> NDArray[np.int64]:
    """Bin of each object, by the elliptical distance of its centre in the frame of the device."""
    if not conf.bins:
        return np.zeros(len(places), np.int64)
    w, x, y, z = pose.orientation
    local = rotate(np.array([w, -x, -y, -z]), places - pose.position)
    return bins_of(conf, math.hypot(local[:, 0], local[:, 1] / conf.bin_ratio))


def _detected(
    conf: SensorConf, snapshot: Snapshot, key: Key, index: int, rows: Ints, bins: NDArray[np.int64]
) -> tuple[Ints, NDArray[np.int64]]:
    """Remove missed objects; misses are correlated in time."""
    if not conf.detection_rate:
        return rows, bins
    lags = conf.detection_time * conf.rate
    keep = renewals(snapshot, key, index, conf.rate, lags, BLOCKS * rows + 2) < binned(conf.detection_rate, bins, 1.0)
    return rows[keep], bins[keep]


def _disturbed(
    conf: SensorConf,
    snapshot: Snapshot,
    key: Key,
    index: int,
    pose: Pose,
    objects: tuple[Ints, NDArray[np.int64], Floats, Floats],
    places: Floats,
    headings: Floats,
) -> tuple[Floats, Floats]:
    """Move each object along and across the line of sight to its nearest point, and rotate it about that point.

    `objects` are rows, bins, sizes [m] and speeds [m/s]. An object that contains the device is not moved.
    """
    rows, bins, sizes, speeds = objects
    named = (conf.radial_sigma, conf.tangential_sigma, conf.yaw_sigma)
    biases = (conf.radial_bias, conf.tangential_bias, conf.yaw_bias)
    if len(rows) and (any(map(any, named)) or any(map(any, biases))):
        unit = np.zeros((len(rows), 3))
        if any(map(any, named)):
            lags = conf.correlation_time * conf.rate
            unit = gauss_markov(snapshot, key, index, conf.rate, lags, 3, BLOCKS * rows)
        sigma = np.stack([np.broadcast_to(binned(v, bins, 0.0), len(rows)) for v in named], axis=1)
        bias = np.stack([np.broadcast_to(binned(v, bins, 0.0), len(rows)) for v in biases], axis=1)
        error = bias + sigma * unit
        near = _nearest(pose.position[:2], places[:, :2], headings, sizes)
        sight = near - pose.position[:2]
        gap = norm(sight, axis=1)
        error[gap < 1e-6] = 0.0
        along = sight / np.maximum(gap, 1e-6)[:, None]
        across = np.stack([-along[:, 1], along[:, 0]], axis=1)
        c, s = math.cos(error[:, 2]), math.sin(error[:, 2])
        arm = places[:, :2] - near
        arm = np.stack([c * arm[:, 0] - s * arm[:, 1], s * arm[:, 0] + c * arm[:, 1]], axis=1)
        places = np.column_stack([near + error[:, :1] * along + error[:, 1:2] * across + arm, places[:, 2]])
        headings = headings + error[:, 2]
    if conf.flip_rate and len(rows):
        lags = conf.detection_time * conf.rate
        drawn = renewals(snapshot, key, index, conf.rate, lags, BLOCKS * rows + 3)
        headings = headings + math.pi * ((drawn < conf.flip_rate) & (speeds < conf.flip_speed))
    return places, math.atan2(math.sin(headings), math.cos(headings)) if conf.flip_rate or any(named) else headings


def _nearest(eye: Floats, centres: Floats, headings: Floats, sizes: Floats) -> Floats:
    """Nearest point (n, 2) of each object's rectangle to the device, in the plane."""
    c, s = math.cos(headings), math.sin(headings)
    away = eye - centres
    local = np.stack([c * away[:, 0] + s * away[:, 1], -s * away[:, 0] + c * away[:, 1]], axis=1)
    local = np.clip(local, -0.5 * sizes[:, :2], 0.5 * sizes[:, :2])
    return centres + np.stack([c * local[:, 0] - s * local[:, 1], s * local[:, 0] + c * local[:, 1]], axis=1)


def _with_phantoms(conf: SensorConf, snapshot: Snapshot, index: int, pose: Pose, found: ObjectList) -> ObjectList:
    """Add false detections: Poisson-distributed in number, uniform over the field of view, at rest."""
    key = stream_key(snapshot.seed, "phantoms", found.key)
    number = occasion(index, branch_at_time(snapshot, index / conf.rate))
    chance, count = uniforms(key, number, 1)[0], 0
    term = total = math.exp(-conf.false_positives)
    while chance >= total and count < MOST_PHANTOMS:
        count += 1
        term *= conf.false_positives / count
        total += term
    if not count:
        return found
    drawn = uniforms(key, number, 3 * count, first=1).reshape(count, 3)
    least, most = math.square(conf.min_range), math.square(conf.max_range)
    away = np.sqrt(least + (most - least) * drawn[:, 0])
    bearing = pose.heading + conf.start_angle + (conf.end_angle - conf.start_angle) * drawn[:, 1]
    x, y = pose.position[0] - away * math.sin(bearing), pose.position[1] + away * math.cos(bearing)
    z = np.full(count, 0.5 * PHANTOM_SIZE[2])
    return ObjectList(
        found.key,
        found.time,
        np.concatenate([found.rows, np.full(count, -1)]),
        np.concatenate([found.positions, np.column_stack([x, y, z])]),
        np.concatenate([found.headings, math.pi * (2.0 * drawn[:, 2] - 1.0)]),
        np.concatenate([found.velocities, np.zeros((count, 3))]),
        np.concatenate([found.sizes, np.tile(PHANTOM_SIZE, (count, 1))]),
        np.concatenate([found.visible, np.ones(count)]),
    )
