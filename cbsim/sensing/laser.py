"""Laser scanners: all scans of a step cast in one call, each beam at its own instant, noise from the scanner's stream.

See docs/lasers.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.pose import Pose, rotate
from cbsim.jit import wrapping
from cbsim.sensing.bench import bench_of, give_back, take_scratch
from cbsim.sensing.faults import content_index
from cbsim.sensing.kernels.noise import ANGLE
from cbsim.sensing.kernels.scans import scans_into
from cbsim.sensing.scenery import surroundings_of
from cbsim.world.snapshot import Snapshot
from cbsim.world.streams import normals, stream_key
from cbsim.world.tables import Floats
from cbsim.world.world import Sensor, World

__all__ = ["Scan", "scan", "scans"]

NOTHING = np.zeros(0)


@dataclass(frozen=True, slots=True)
class Scan:
    """One sweep of one laser.

    Attributes
    ----------
    key : str
        ``<object name>/<conf file stem>``.
    time : float
        When it was taken [s]: at its last beam.
    ranges : (layers, beams) [m]
        Distance to the first return; what the conf's `no_return` says where there is none.
    angles : (beams,) [rad]
        Azimuth in the sensor frame, 0 forward, counter-clockwise: the first looks right.
    pose : Pose
        Of the sensor in the world at that time.
    directions : (layers, beams, 3)
        Nominal unit vectors of the beams in the sensor frame.
    returned : (layers, beams) bool
        Whether there was a return.
    scan_time : float
        From the first beam to the last [s]; 0 where all are fired at once.
    sweep : (beams, 7) [m], 1, or None
        Position and orientation of the sensor at the instant of each beam; None where that is `pose`.
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
        """When each beam was fired (beams,) [s], in the order of the readings."""
        beams = len(self.angles)
        return self.time - self.scan_time * (np.arange(beams - 1, -1, -1) / max(beams - 1, 1))

    @property
    def poses(self) -> Floats:
        """Position [m] and orientation of the sensor when each beam was fired (beams, 7)."""
        if self.sweep is not None:
            return self.sweep
        return np.tile(np.concatenate([self.pose.position, self.pose.orientation]), (len(self.angles), 1))

    @property
    def points(self) -> Floats:
        """Returns in the world (layers, beams, 3) [m], from where each beam was fired; nan where there is none."""
        local = self.directions * np.where(self.returned, self.ranges, np.nan)[..., None]
        if self.sweep is None:
            return self.pose.apply(local)
        return rotate(self.sweep[:, 3:], local) + self.sweep[:, :3]


def scan(world: World, snapshot: Snapshot, sensor: Sensor, index: int) -> Scan:
    """Take the scan number `index`, whose time must not be later than the Snapshot's."""
    return scans(world, snapshot, [(sensor, index)])[0]


def scans(world: World, snapshot: Snapshot, due: Sequence[tuple[Sensor, int]]) -> list[Scan]:
    """Take several scans in one call, which is what a step of a closed loop wants.

    Parameters
    ----------
    world : World
    snapshot : Snapshot
        Not earlier than any of them.
    due : sequence of (Sensor, int)
        Lasers, and the number of the scan of each: number k is taken at k / rate.
    """
    if not due:
        return []
    bench, standing = bench_of(world), world.standings.of(snapshot)
    surroundings = surroundings_of(world, standing, bench.groups)
    jobs: list[tuple[int, ...]] = []
    times: list[float] = []
    errors: list[Floats] = []
    width = rays = beams = wrong = 0
    for n, (sensor, index) in enumerate(due):
        conf, row = sensor.conf, bench.rows[sensor.key]
        content = content_index(conf, index) if conf.freezes else index  # a frozen scan shows an earlier one
        off, swept = (wrong if conf.angle_sigma > 0.0 else -1), (beams if conf.scan_time > 0.0 else -1)
        jobs.append((row, content, n, width, rays, off, swept))
        times.append(content / conf.rate)
        width, rays = width + bench.sizes[row], rays + bench.rays[row]
        beams += conf.beams if swept >= 0 else 0
        if off >= 0:
            errors.append(_azimuth_errors(snapshot, sensor, content))
            wrong += conf.beams
    readings, seen, poses, sweeps = np.empty(rays), np.empty(rays, bool), np.empty((len(due), 7)), np.empty((beams, 7))
    order = np.argsort(times, kind="stable")  # scans of one instant share the poses of all bodies
    scratch = take_scratch(world, standing, width)
    with wrapping():
        scans_into(
            *(world.pack, world.layout.sizes, world.first.blocks, snapshot.blocks, bench.pack, surroundings),
            *(np.array(jobs)[order], bench.keys(snapshot.seed), np.array(times)[order]),
            *(np.concatenate(errors) if errors else NOTHING, scratch, poses, sweeps, readings, seen),
        )
    give_back(scratch, standing)
    return [
        Scan(
            sensor.key,
            index / sensor.conf.rate,
            np.ndarray(sensor.directions.shape[:2], float, readings, 8 * job[4]),
            sensor.azimuths,
            Pose(pose[:3], pose[3:]),
            sensor.directions,
            np.ndarray(sensor.directions.shape[:2], bool, seen, job[4]),
            sensor.conf.scan_time,
            sweeps[job[6] : job[6] + sensor.conf.beams] if job[6] >= 0 else None,
        )
        for (sensor, index), job, pose in zip(due, jobs, poses, strict=True)
    ]


def _azimuth_errors(snapshot: Snapshot, sensor: Sensor, index: int) -> Floats:
    """Draw by how much each beam is off its azimuth (beams,) [rad]."""
    key, count = stream_key(snapshot.seed, "laser", sensor.key), sensor.directions.shape[0] * sensor.directions.shape[1]
    return sensor.conf.angle_sigma * normals(key, index, len(sensor.azimuths), first=ANGLE * count)
