"""Laser scanners: all scans of a step cast in one call, each beam at its own instant, noise from the scanner's stream.

See docs/lasers.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.pose import Pose, rotate
from cbsim.jit import wrapping
from cbsim.sensing.bench import Plan, bench_of, give_back, take_scratch
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


class Taken(NamedTuple):
    """What scans that were taken in one call share.

    Attributes
    ----------
    plan : Plan
        What of the blocks belongs to which.
    readings, seen : (rays,) [m], (rays,) bool
    poses, sweeps : (n, 7), (k, 7) [m], 1
        As `cbsim.sensing.kernels.scans.scans_into` writes them.
    """

    plan: Plan
    readings: Floats
    seen: NDArray[np.bool_]
    poses: Floats
    sweeps: Floats


class Fresh:
    """A scan as it was taken: its fields are cut out of what its call has made when somebody asks for one."""

    __slots__ = ("_source",)
    _source: tuple[Sensor, int, int, Taken]

    if not TYPE_CHECKING:  # a name that no scan has is an error

        def __getattr__(self, name: str) -> Any:
            """Fill all fields, none of which is there yet."""
            if name not in Scan.__slots__:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            for field, value in zip(Scan.__slots__, _fields(*self._source), strict=True):
                object.__setattr__(self, field, value)
            return object.__getattribute__(self, name)


_give_source = Fresh.__dict__["_source"].__set__  # past the refusal of a frozen class to be written to


@dataclass(frozen=True, slots=True)
class Scan(Fresh):
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
    bench, standing = bench_of(world), world.static_caches.of(snapshot)
    plan = bench.plan([bench.rows[sensor.key] for sensor, _ in due])
    jobs = plan.jobs.copy()
    contents = [content_index(s.conf, k) if s.conf.freezes else k for s, k in due]  # a frozen scan shows an earlier one
    jobs[:, 1] = contents
    times = jobs[:, 1] / plan.rates
    if not plan.is_alike or min(contents) != max(contents):  # scans of one instant share the poses of all bodies
        order = np.argsort(times, kind="stable")
        jobs, times = jobs[order], times[order]
    errors = [_azimuth_errors(snapshot, due[n][0], contents[n]) for n in plan.inexact]
    taken = Taken(
        plan,
        np.empty(plan.rays),
        np.empty(plan.rays, bool),
        np.empty((len(due), 7)),
        np.empty((plan.swept, 7)),
    )
    scratch = take_scratch(world, standing, plan.width)
    with wrapping():
        scans_into(
            *(world.pack, world.layout.sizes, world.first.blocks, snapshot.blocks, bench.pack),
            *(surroundings_of(world, standing, bench.groups), jobs, bench.keys(snapshot.seed), times),
            *(np.concatenate(errors) if errors else NOTHING, scratch, taken.poses, taken.sweeps),
            *(taken.readings, taken.seen),
        )
    give_back(scratch, standing)
    return [_fresh(sensor, index, n, taken) for n, (sensor, index) in enumerate(due)]


def _fresh(sensor: Sensor, index: int, n: int, taken: Taken) -> Scan:
    """Make scan number n of those taken in one call, without its fields."""
    made = object.__new__(Scan)
    _give_source(made, (sensor, index, n, taken))
    return made


def _fields(sensor: Sensor, index: int, n: int, taken: Taken) -> tuple[object, ...]:
    """Cut the fields of a scan out of what was made for all of its call."""
    shape, out, sweep = sensor.directions.shape[:2], taken.plan.out[n], taken.plan.sweep[n]
    return (
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
    """Draw by how much each beam is off its azimuth (beams,) [rad]."""
    key, count = stream_key(snapshot.seed, "laser", sensor.key), sensor.directions.shape[0] * sensor.directions.shape[1]
    return sensor.conf.angle_sigma * normals(key, index, len(sensor.azimuths), first=ANGLE * count)
