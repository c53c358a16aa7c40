"""`Batch`: consecutive steps of a run, shared by recorders, judges and readers; with the `Header` they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.collision.contacts import NO_CONTACTS
from cbsim.geometry.pose import Pose
from cbsim.recording.checkpoints import CheckpointRow
from cbsim.recording.drawings import DrawingRow
from cbsim.recording.header import Header, RecordedTraffic, header_of
from cbsim.sensing import READINGS, Reading, Scan
from cbsim.sensing.laser import ScanBatch
from cbsim.world.motion import ABSENT_MOTION
from cbsim.world.traffic.events import NO_EVENTS

__all__ = [
    "Batch", "Header", "ReadingRow", "RecordedTraffic", "ScanRow", "TakenScans", "header_of", "motion_of_rows",
    "scan_rows",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScanRow:
    """A recorded scan: time [s], sensor pose (7,), ranges (layers, beams) [m]; of a sweep, its duration and poses."""

    key: str
    time: float
    pose: Floats
    ranges: Floats
    scan_time: float = 0.0
    sweep: Floats | None = None

    @classmethod
    def of(cls, scan: Scan) -> ScanRow:
        """Make the row of a scan."""
        pose = np.concatenate([scan.pose.position, scan.pose.orientation])
        return cls(scan.key, scan.time, pose, scan.ranges, scan.scan_time, scan.sweep)

    def scan(self, angles: Floats, directions: Floats, nothing: float) -> Scan:
        """Rebuild the scan.

        Parameters
        ----------
        angles, directions : (beams,) [rad], (layers, beams, 3)
            Of the sensor's beams.
        nothing : float
            Range of a beam without return.
        """
        returned = np.isfinite(self.ranges) & (self.ranges != nothing)
        pose = Pose(self.pose[:3], self.pose[3:])
        sweep = self.scan_time, self.sweep
        return Scan(self.key, self.time, self.ranges, angles, pose, directions, returned, *sweep)


def scan_rows(batch: ScanBatch) -> list[ScanRow]:
    """Make the rows of the scans of one call."""
    poses = batch.poses
    return [
        ScanRow(sensor.key, index / sensor.conf.rate, poses[n], batch.ranges(n), sensor.conf.scan_time, batch.sweep(n))
        for n, (sensor, index) in enumerate(batch.due)
    ]


class TakenScans(Sequence[ScanRow]):
    """Scans that stand in memory as they are recorded, one after another; their rows are made when somebody looks.

    Parameters
    ----------
    calls : list of ScanBatch
        Scans with heads, call by call.
    parts : dict
        Key of each laser → parts of its scans as they are recorded, in order; each begins with the time of a scan.

    Attributes
    ----------
    calls : list of ScanBatch
    parts : dict
    """

    def __init__(self, calls: list[ScanBatch], parts: dict[str, list[Floats]]) -> None:
        self.calls, self.parts = calls, parts
        for call in calls:
            call.forget()

    def __len__(self) -> int:
        return sum(len(call.due) for call in self.calls)

    @overload
    def __getitem__(self, index: int) -> ScanRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[ScanRow]: ...
    def __getitem__(self, index: int | slice) -> ScanRow | list[ScanRow]:
        return self._rows[index]

    def __iter__(self) -> Iterator[ScanRow]:
        return iter(self._rows)

    @cached_property
    def _rows(self) -> list[ScanRow]:
        return [row for call in self.calls for row in scan_rows(call)]

    @classmethod
    def joined(cls, several: Sequence[Sequence[ScanRow]]) -> Sequence[ScanRow]:
        """Put scans one after another; rows are made if they stand in memory in another way."""
        told = [scans for scans in several if len(scans)]
        taken = [scans for scans in told if isinstance(scans, TakenScans)]
        if told and len(taken) == len(told):
            parts: dict[str, list[Floats]] = {}
            for key, some in (item for scans in taken for item in scans.parts.items()):
                parts.setdefault(key, []).extend(some)
            return cls([call for scans in taken for call in scans.calls], parts)
        return [scan for scans in told for scan in scans]


@dataclass(frozen=True, slots=True)
class ReadingRow:
    """A recorded reading of a sensor other than a laser: time [s] and values (n,)."""

    key: str
    time: float
    values: Floats

    @classmethod
    def of(cls, reading: Reading) -> ReadingRow:
        """Make the row of a reading."""
        return cls(reading.key, reading.time, reading.values())

    def reading(self, kind: str) -> Reading:
        """Rebuild the reading, given the type of its sensor; raises ValueError if the number of values is wrong."""
        return READINGS[kind].of(self.key, self.time, self.values)


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive steps of a run.

    Attributes
    ----------
    first_step : int
        Number of the first; 0 is the state before any step.
    hashes : (steps,) uint64
        Hash of each Snapshot.
    motion : (steps, recorded, 13)
        Position, orientation, velocity and angular velocity of each recorded body, as in `cbsim.world.motion.MOTION`.
        The centre of a car that is absent is below `cbsim.world.motion.ABSENT_BELOW`.
    commands : list of (step, vehicle, row)
        Commands that took effect in the step after that number; row as `Command.row`.
    scans : sequence of ScanRow
        Scans delivered in these steps.
    contacts : (n, 12)
        One row per begin of touching, columns as in `cbsim.collision.contacts.CONTACT`.
    readings : list of ReadingRow
        Readings of all other sensors, delivered in these steps.
    controls : list of (step, place, value)
        Controls of models that were set before the step after that number; row in the column `controller_state`.
    drawings : list of DrawingRow
        Annotations of planners that have a method ``draw``, taken after they planned.
    rows : (recorded,) int64 or None
        Rows whose motion it holds, in order; None for all moving rows of the header.
    events : (n, 4) int64
        What cars of traffic did, columns as in `cbsim.world.traffic.events.EVENT`.
    checkpoints : list of CheckpointRow
        Memory of planners, taken before they were asked.
    """

    first_step: int
    hashes: NDArray[np.uint64]
    motion: Floats
    commands: list[tuple[int, int, tuple[float, ...]]] = field(default_factory=list)
    scans: Sequence[ScanRow] = field(default_factory=list)
    contacts: Floats = field(default_factory=lambda: NO_CONTACTS)
    readings: list[ReadingRow] = field(default_factory=list)
    controls: list[tuple[int, int, float]] = field(default_factory=list)
    drawings: list[DrawingRow] = field(default_factory=list)
    rows: Ints | None = None
    events: Ints = field(default_factory=lambda: NO_EVENTS)
    checkpoints: list[CheckpointRow] = field(default_factory=list)

    @property
    def steps(self) -> Ints:
        """Step numbers (steps,)."""
        return np.arange(self.first_step, self.first_step + len(self.hashes))

    @classmethod
    def joined(cls, batches: Sequence[Batch]) -> Batch:
        """Put consecutive batches together; a row that one of them does not hold is absent there."""
        if len(batches) == 1:
            return batches[0]
        rows, motion = _joined_motion(batches)
        return cls(
            batches[0].first_step,
            np.concatenate([batch.hashes for batch in batches]),
            motion,
            [command for batch in batches for command in batch.commands],
            TakenScans.joined([batch.scans for batch in batches]),
            np.concatenate([batch.contacts for batch in batches]),
            [reading for batch in batches for reading in batch.readings],
            [control for batch in batches for control in batch.controls],
            [row for batch in batches for row in batch.drawings],
            rows,
            np.concatenate([batch.events for batch in batches]),
            [row for batch in batches for row in batch.checkpoints],
        )

    def part(self, start: int, stop: int | None = None) -> Batch:
        """Return hashes and motion of some steps, counted from the first, without commands, scans and contacts."""
        return Batch(self.first_step + start, self.hashes[start:stop], self.motion[start:stop], rows=self.rows)

    def of_rows(self, rows: Ints, moving: Ints) -> Floats:
        """Motion (steps, n, 13) of some rows of a run, given all its moving rows; absent where it is not held."""
        return motion_of_rows(self.motion, moving if self.rows is None else self.rows, rows)


def motion_of_rows(motion: Floats, held: Ints, rows: Ints) -> Floats:
    """Select columns of motion (steps, held, 13) by rows, both in order; absent for rows that are not held."""
    if len(held) == len(rows) and np.array_equal(held, rows):
        return motion
    found = np.tile(ABSENT_MOTION, (len(motion), len(rows), 1))
    if len(held):
        at = np.minimum(np.searchsorted(held, rows), len(held) - 1)
        known = held[at] == rows
        found[:, known] = motion[:, at[known]]
    return found


def _joined_motion(batches: Sequence[Batch]) -> tuple[Ints | None, Floats]:
    """Rows and motion of consecutive batches."""
    first = batches[0].rows
    if all(batch.rows is first for batch in batches):
        return first, np.concatenate([batch.motion for batch in batches])
    held = [batch.rows for batch in batches]
    known = [rows for rows in held if rows is not None]
    if len(known) < len(held):
        raise ValueError("batches of all rows and batches of some cannot be joined")
    rows = np.unique(np.concatenate(known))
    return rows, np.concatenate([motion_of_rows(b.motion, r, rows) for b, r in zip(batches, known, strict=True)])
