"""Laser scanners: all scans of a step in one call, each beam at its own instant, noise from the scanner's stream.

See docs/lasers.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.pose import Pose, rotate
from cbsim.jit import wrapping
from cbsim.sensing.faults import displayed_scan
from cbsim.sensing.kernels.noise import ANGLE
from cbsim.sensing.kernels.scans import scans_into
from cbsim.sensing.laser_tables import BatchLayout, acquire_scratch, laser_tables_of, release_scratch
from cbsim.sensing.scenery import static_scenery_of
from cbsim.world.forks import branch_at_time, occasion
from cbsim.world.snapshot import Snapshot
from cbsim.world.streams import normals, stream_key
from cbsim.world.tables import Floats
from cbsim.world.world import Sensor, World

__all__ = ["Scan", "scan", "scans"]

NOTHING = np.zeros(0)


class ScanBatch(NamedTuple):
    """Output of one call, shared by its scans.

    Attributes
    ----------
    layout : BatchLayout
        Offsets of each scan in the arrays.
    readings, seen : (rays,) [m], (rays,) bool
    poses, sweeps : (n, 7), (k, 7) [m], 1
        Output of `cbsim.sensing.kernels.scans.scans_into`.
    """

    layout: BatchLayout
    readings: Floats
    seen: NDArray[np.bool_]
    poses: Floats
    sweeps: Floats


@dataclass(frozen=True, slots=True)
class Scan:
    """One sweep of one laser.

    Attributes
    ----------
    key : str
        ``<object name>/<conf file stem>``.
    time : float
        Time of the last beam [s].
    ranges : (layers, beams) [m]
        Distance to the first return; the conf's `no_return` where there is none.
    angles : (beams,) [rad]
        Azimuths in the sensor frame, 0 forward, counter-clockwise; the first points to the right.
    pose : Pose
        Pose of the sensor in the world at that time.
    directions : (layers, beams, 3)
        Nominal unit vectors of the beams in the sensor frame.
    returned : (layers, beams) bool
        Whether there was a return.
    scan_time : float
        Time from the first beam to the last [s]; 0 if all are fired at once.
    sweep : (beams, 7) [m], 1, or None
        Position and orientation of the sensor at the instant of each beam; None if that is `pose`.
    """

    key: str
    time: float
    ranges: Floats
    angles: Floats
    pose: Pose
    directions: Floats
    returned: NDArray[np.bool_]
    scan_time: float = 0.0
    sweep: Floats | None = None

    @property
    def times(self) -> Floats:
        """Time of each beam (beams,) [s], in the order of the readings."""
        beams = len(self.angles)
        return self.time - self.scan_time * (np.arange(beams - 1, -1, -1) / max(beams - 1, 1))

    @property
    def poses(self) -> Floats:
        """Position [m] and orientation of the sensor at the instant of each beam (beams, 7)."""
        if self.sweep is not None:
            return self.sweep
        return np.tile(np.concatenate([self.pose.position, self.pose.orientation]), (len(self.angles), 1))

    @property
    def points(self) -> Floats:
        """Returns in the world (layers, beams, 3) [m], by the pose at each beam's instant; nan without a return."""
        local = self.directions * np.where(self.returned, self.ranges, np.nan)[..., None]
        if self.sweep is None:
            return self.pose.apply(local)
        return rotate(self.sweep[:, 3:], local) + self.sweep[:, :3]


def scan(world: World, snapshot: Snapshot, sensor: Sensor, index: int) -> Scan:
    """Take the scan with a number, whose time must not be later than the Snapshot's."""
    return scans(world, snapshot, [(sensor, index)])[0]


def scans(world: World, snapshot: Snapshot, due: Sequence[tuple[Sensor, int]]) -> list[Scan]:
    """Take several scans in one call, such as all those of a step.

    Parameters
    ----------
    world : World
    snapshot : Snapshot
        Its time must not be earlier than that of any scan.
    due : sequence of (Sensor, int)
        Lasers and scan numbers; number k is taken at k / rate.
    """
    if not due:
        return []
    tables, standing = laser_tables_of(world), world.static_caches.of(snapshot)
    layout = tables.layout([tables.rows[sensor.key] for sensor, _ in due])
    jobs = layout.jobs.copy()
    contents = [
        displayed_scan(s.conf, k) if s.conf.freezes else k for s, k in due
    ]  # a frozen scan displays an earlier one
    jobs[:, 1] = contents
    # scans of one instant share the poses of all bodies
    instants = [k / s.conf.rate for k, (s, _) in zip(contents, due, strict=True)]
    if any(after < before for before, after in pairwise(instants)):
        order = sorted(range(len(due)), key=instants.__getitem__)
        jobs, instants = jobs[order], [instants[n] for n in order]
    times = np.array(instants)
    if len(snapshot.columns.fork):
        jobs[:, 1] = [
            occasion(k, branch_at_time(snapshot, at)) for k, at in zip(jobs[:, 1].tolist(), instants, strict=True)
        ]
    errors = [_azimuth_errors(snapshot, due[n][0], contents[n]) for n in layout.inexact]
    taken = ScanBatch(
        layout,
        np.empty(layout.rays),
        np.empty(layout.rays, bool),
        np.empty((len(due), 7)),
        np.empty((layout.swept, 7)),
    )
    scratch = acquire_scratch(world, standing, layout.width)
    with wrapping():
        scans_into(
            *(world.pack, world.layout.sizes, world.first.blocks, snapshot.blocks, tables.pack),
            *(static_scenery_of(world, standing, tables.groups), jobs, tables.keys(snapshot.seed), times),
            *(np.concatenate(errors) if errors else NOTHING, tuple(scratch), taken.poses, taken.sweeps),
            *(taken.readings, taken.seen),
        )
    release_scratch(scratch, standing)
    return [_scan(sensor, index, n, taken) for n, (sensor, index) in enumerate(due)]


def _scan(sensor: Sensor, index: int, n: int, taken: ScanBatch) -> Scan:
    """Slice scan n out of the output of its call."""
    shape, out, sweep = sensor.directions.shape[:2], taken.layout.out[n], taken.layout.sweep[n]
    return Scan(
        sensor.key,
        index / sensor.conf.rate,
        np.ndarray(shape, float, taken.readings, 8 * out),
        sensor.azimuths,
        Pose(taken.poses[n, :3], taken.poses[n, 3:]),
        sensor.directions,
        np.ndarray(shape, bool, taken.seen, out),
        sensor.conf.scan_time,
        taken.sweeps[sweep : sweep + sensor.conf.beams] if sweep >= 0 else None,
    )


def _azimuth_errors(snapshot: Snapshot, sensor: Sensor, index: int) -> Floats:
    """Draw the error of azimuth of each beam (beams,) [rad]."""
    key, count = stream_key(snapshot.seed, "laser", sensor.key), sensor.directions.shape[0] * sensor.directions.shape[1]
    number = occasion(index, branch_at_time(snapshot, index / sensor.conf.rate))
    return sensor.conf.angle_sigma * normals(key, number, len(sensor.azimuths), first=ANGLE * count)
