"""Laser scanners: all scans of a step in one call, each beam at its own instant, noise from the scanner's stream.

See docs/lasers.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry.pose import Pose, rotate
from cbsim.jit import wrapping
from cbsim.sensing.faults import displayed_scan
from cbsim.sensing.kernels.noise import ANGLE
from cbsim.sensing.kernels.scans import scans_into
from cbsim.sensing.laser_tables import BatchLayout, LaserTables, acquire_scratch, laser_tables_of, release_scratch
from cbsim.sensing.scan_store import ScanBlock, ScanStore
from cbsim.sensing.scenery import static_scenery_of
from cbsim.world.forks import branch_at_time, occasion
from cbsim.world.snapshot import Snapshot
from cbsim.world.streams import normals, stream_key
from cbsim.world.world import Sensor, World

__all__ = ["Scan", "ScanBatch", "scan", "scans", "take_scans"]

NOTHING, NO_SWEEPS = np.zeros(0), np.zeros(0)
REAL, FLAG = np.dtype(float), np.dtype(bool)


@dataclass(frozen=True)  # without slots, so that `of` can give all values at once
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

    @classmethod
    def of(cls, **values: Any) -> Scan:
        """Make it of all its values, in a third of the time that its constructor takes."""
        made = object.__new__(cls)
        object.__setattr__(made, "__dict__", values)
        return made

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


class ScanBatch:
    """Scans of one call, which share its arrays; each is cut from them when it is asked for.

    Parameters
    ----------
    tables : LaserTables
    due : sequence of (Sensor, int)
    layout : BatchLayout
    block : ScanBlock, optional
        Where scans with heads are written.

    Attributes
    ----------
    due : sequence of (Sensor, int)
        Lasers and scan numbers.
    layout : BatchLayout
        Places of each scan in the arrays.
    readings, seen : (n,) [m], (rays,) bool
    poses, sweeps : (n, 7), (k,) [m], 1
        Output of `cbsim.sensing.kernels.scans.scans_into`.
    """

    __slots__ = ("_begins", "_bytes", "_tables", "due", "layout", "poses", "readings", "seen", "sweeps")

    def __init__(
        self, tables: LaserTables, due: Sequence[tuple[Sensor, int]], layout: BatchLayout, block: ScanBlock | None
    ) -> None:
        self.due, self._tables, self.layout = due, tables, layout
        self.seen, self.poses = np.empty(layout.rays, bool), np.empty((len(due), 7))
        self._begins: list[int] | None = None
        if block is None:
            self.readings = np.empty(layout.rays)
            self.sweeps = np.empty(layout.swept) if layout.swept else NO_SWEEPS
        else:
            self.readings = self.sweeps = block.words
            self._begins = block.filled.tolist()
        self._bytes: tuple[bytes, bytes, bytes] | None = None

    def places(self, n: int) -> tuple[int, int]:
        """Where the readings and the poses of the sweep of scan n begin; -1 for no sweep."""
        layout = self.layout
        out, sweep = layout.out[n], layout.sweep[n]
        if self._begins is None:
            return out, sweep
        begin = self._begins[layout.rows[n]]
        return begin + out, begin + sweep if sweep >= 0 else -1

    def ranges(self, n: int) -> Floats:
        """Ranges (layers, beams) [m] of scan n."""
        return np.ndarray(self.due[n][0].directions.shape[:2], float, self.readings, 8 * self.places(n)[0])

    def sweep(self, n: int) -> Floats | None:
        """Poses (beams, 7) of the sensor at the instants of the beams of scan n; None where all are fired at once."""
        begin = self.places(n)[1]
        return np.ndarray((self.due[n][0].conf.beams, 7), float, self.sweeps, 8 * begin) if begin >= 0 else None

    def forget(self) -> None:
        """Drop the copies that were made for planners."""
        self._bytes = None

    def scan(self, n: int) -> Scan:
        """Return scan n."""
        sensor, index = self.due[n]
        return Scan(
            sensor.key,
            index / sensor.conf.rate,
            self.ranges(n),
            sensor.azimuths,
            Pose(self.poses[n, :3], self.poses[n, 3:]),
            sensor.directions,
            np.ndarray(sensor.directions.shape[:2], bool, self.seen, self.layout.seen[n]),
            sensor.conf.scan_time,
            self.sweep(n),
        )

    def told_newest(self, key: str) -> Scan:
        """Return the last scan of a laser, as `told`."""
        return self.told(self.layout.newest[key])

    def told(self, n: int) -> Scan:
        """Return scan n with arrays that nobody can write to, and a pose of its own: for planners."""
        sensor, index = self.due[n]
        azimuths, directions, shape, rate, scan_time = self._tables.told(sensor)
        layout, pose = self.layout, self.poses[n].copy()
        shown = layout.seen[n]
        if self._begins is None:
            out, sweep = layout.out[n], layout.sweep[n]
            if self._bytes is None:  # arrays of the bytes of all scans are copied once
                swept = self.sweeps.tobytes() if layout.swept else b""
                self._bytes = self.readings.tobytes(), self.seen.tobytes(), swept
            ranges, seen, sweeps = self._bytes
        else:  # few of those that are recorded
            out, sweep = self.places(n)
            rays = shape[0] * shape[1]
            ranges, seen = self.readings[out : out + rays].tobytes(), self.seen[shown : shown + rays].tobytes()
            sweeps = self.sweeps[sweep : sweep + 7 * shape[1]].tobytes() if sweep >= 0 else b""
            out, shown, sweep = 0, 0, min(sweep, 0)
        return Scan.of(
            key=sensor.key,
            time=index / rate,
            ranges=np.ndarray(shape, REAL, ranges, 8 * out),
            angles=azimuths,
            pose=Pose(pose[:3], pose[3:]),
            directions=directions,
            returned=np.ndarray(shape, FLAG, seen, shown),
            scan_time=scan_time,
            sweep=np.ndarray((shape[1], 7), REAL, sweeps, 8 * sweep) if sweep >= 0 else None,
        )


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
    taken = take_scans(world, snapshot, due)
    return [taken.scan(n) for n in range(len(due))]


def take_scans(
    world: World, snapshot: Snapshot, due: Sequence[tuple[Sensor, int]], store: ScanStore | None = None
) -> ScanBatch:
    """Take at least one scan, as `scans`; into a store as they are recorded, unless any may show an earlier one."""
    tables, standing = laser_tables_of(world), world.static_caches.of(snapshot)
    freezes = tables.may_freeze and any(sensor.conf.freezes for sensor, _ in due)
    layout = tables.layout(tuple([sensor.key for sensor, _ in due]), store is not None and not freezes)
    contents = [displayed_scan(s.conf, k) for s, k in due] if freezes else [k for _, k in due]
    numbers = indices = np.array(contents, np.int64)
    errors = [_azimuth_errors(snapshot, due[n][0], contents[n]) for n in layout.inexact] if layout.inexact else []
    if world.layout.forks:
        of_fork = zip(contents, (indices / layout.rates).tolist(), strict=True)
        numbers = np.array([occasion(k, branch_at_time(snapshot, time)) for k, time in of_fork], np.int64)
    block = store.room(tables, layout) if store is not None and layout.has_heads else None
    taken, scratch = ScanBatch(tables, due, layout, block), acquire_scratch(world, standing)
    with wrapping():
        scans_into(
            *(world.pack, world.layout.sizes, world.first.blocks, snapshot.blocks, tables.pack),
            static_scenery_of(world, standing, tables.groups),
            (layout.jobs, tables.begins if block is None else block.filled, indices, layout.rates, numbers),
            *(tables.keys(snapshot.seed), np.concatenate(errors) if errors else NOTHING, scratch),
            (taken.poses, taken.sweeps, taken.readings, taken.seen),
        )
    if block is not None:
        block.filled += layout.grow
    release_scratch(scratch, standing)
    return taken


def _azimuth_errors(snapshot: Snapshot, sensor: Sensor, index: int) -> Floats:
    """Draw the error of azimuth of each beam (beams,) [rad]."""
    key, count = stream_key(snapshot.seed, "laser", sensor.key), sensor.directions.shape[0] * sensor.directions.shape[1]
    number = occasion(index, branch_at_time(snapshot, index / sensor.conf.rate))
    return sensor.conf.angle_sigma * normals(key, number, len(sensor.azimuths), first=ANGLE * count)
