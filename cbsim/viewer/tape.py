"""`Tape`: the motion of a run so far, grown batch by batch, and `Moment`: what there is to see at one time of it.

Memory is bounded: when the motion takes more than its budget, every second step is dropped, and the picture goes
straight between those that are left. So a run of any length can be scrubbed, and the newest is always there.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cbsim.collision.contacts import CONTACT
from cbsim.recording.batch import Batch, ScanRow
from cbsim.recording.drawings import size_of
from cbsim.sensing import Scan
from cbsim.spec.drawing import Drawing
from cbsim.viewer.series import Series
from cbsim.viewer.stage import Stage
from cbsim.world.motion import MOTION, MOTION_WIDTH
from cbsim.world.sensors import beam_directions

__all__ = ["BUDGET", "Mark", "Moment", "Tape"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BUDGET = 256 * 2**20  # [bytes] of motion; as much again of scans, and of drawings
BODY, PARTNER = CONTACT.index("body_a"), CONTACT.index("body_b")
MARKS = 10_000  # contacts that are kept
TOLD = 20_000  # commands of a vehicle, and drawings, that are kept


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened: a contact, or a check that failed or passed; `place` (2,) [m] where it has one."""

    time: float
    kind: str
    name: str
    message: str
    row: int
    place: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Moment:
    """What there is to see at one time.

    Attributes
    ----------
    time : float
        [s]
    position, orientation, velocity, spin : ndarray, shape (n, 3), (n, 4), (n, 3), (n, 3)
        Of all bodies [m], [m/s], [rad/s].
    steering : mapping
        Row of a vehicle → what was last asked of its steering, full left is 1.
    scans : mapping
        Key → the newest scan of each laser.
    drawings : sequence of Drawing
        What planners show of their thoughts.
    marks : list of Mark
        What happened up to now.
    """

    time: float
    position: Floats
    orientation: Floats
    velocity: Floats
    spin: Floats
    steering: Mapping[int, float] = field(default_factory=dict)
    scans: Mapping[str, Scan] = field(default_factory=dict)
    drawings: tuple[Drawing, ...] = ()
    marks: list[Mark] = field(default_factory=list)


class Tape:
    """Motion of a run.

    Parameters
    ----------
    stage : Stage
        Whose run it is.
    budget : int
        Bytes of motion, of scans and of drawings, each, that are kept.

    Attributes
    ----------
    marks : list of Mark
        What happened, in the order of time: all checks, and at most `MARKS` contacts, of older ones every so many.
    forgotten : int
        Contacts that are not kept.
    """

    def __init__(self, stage: Stage, budget: int = BUDGET) -> None:
        self.stage, self.budget, self.stride = stage, budget, 1
        self.marks: list[Mark] = []
        self.forgotten = self._touched = 0
        self._count = 0
        self._steps = np.zeros(64, np.int64)
        self._motion = np.zeros((64, len(stage.moving), MOTION_WIDTH), np.float32)
        self._commands: dict[int, Series[float]] = {}
        self._scans: dict[str, Series[ScanRow]] = {}
        self._scanned = 0
        self._drawings = Series[tuple[Drawing, ...]](TOLD, lambda shown: not shown)
        self._drawn = 0

    def __len__(self) -> int:
        return self._count

    @property
    def steps(self) -> Ints:
        """Numbers (n,) of the steps that are kept."""
        return self._steps[: self._count]

    @property
    def first(self) -> float:
        """Time of the first step [s]."""
        return float(self._steps[0]) * self.stage.step if self._count else 0.0

    @property
    def last(self) -> float:
        """Time of the newest step [s]."""
        return float(self._steps[self._count - 1]) * self.stage.step if self._count else 0.0

    def take(self, batch: Batch) -> None:
        """Take the next steps in."""
        for step, motion in zip(batch.steps.tolist(), batch.motion, strict=True):
            self._put(step, motion)
        for step, vehicle, row in batch.commands:
            self._commands.setdefault(vehicle, Series(TOLD)).put(step, row[1])
        for scan in batch.scans:
            self._scans.setdefault(scan.key, Series(self.budget)).put(scan.time / self.stage.step, scan)
            self._scanned += scan.ranges.nbytes
        if self._scanned > self.budget:
            self._thin_scans()
        for shown in batch.drawings:
            self._drawings.put(shown.step, shown.drawings)
            self._drawn += _bytes_of(shown.drawings)
        while self._drawn > self.budget and len(self._drawings) > 2:
            self._drawings.thin()
            self._drawn = sum(map(_bytes_of, self._drawings.values))
        for contact in batch.contacts:
            self._touch(contact)

    def note(self, mark: Mark) -> None:
        """Take in something that happened."""
        insort(self.marks, mark, key=lambda one: one.time)

    def _touch(self, contact: Floats) -> None:
        one, other = int(contact[BODY]), int(contact[PARTNER])
        names = self.stage.bodies[one].name, self.stage.bodies[other].name
        said, place = f"{contact[9]:.1f} m/s, {contact[10]:.0f} N s", (float(contact[3]), float(contact[4]))
        self.note(Mark(float(contact[0]), "contact", f"{names[0]} and {names[1]} touch", said, one, place))
        self._touched += 1
        if self._touched > MARKS:
            self._thin_contacts()

    def _thin_contacts(self) -> None:
        """Forget every second contact, never the newest."""
        places = [place for place, mark in enumerate(self.marks) if mark.kind == "contact"]
        for place in places[-2::-2]:
            del self.marks[place]
        self.forgotten += len(places[-2::-2])
        self._touched -= len(places[-2::-2])

    def _put(self, step: int, motion: Floats) -> None:
        if self._count and self._steps[self._count - 1] % self.stride:
            self._count -= 1  # the newest stood in for one that is left out
        if self._count == len(self._steps):
            self._grow()
        self._steps[self._count], self._motion[self._count] = step, motion
        self._count += 1

    def _grow(self) -> None:
        """Make room: twice as much, or by leaving out every second step."""
        if 2 * self._motion.nbytes <= self.budget:
            self._steps = np.concatenate([self._steps, np.zeros_like(self._steps)])
            self._motion = np.concatenate([self._motion, np.zeros_like(self._motion)])
            return
        self.stride *= 2
        kept = np.flatnonzero(self.steps % self.stride == 0)
        self._count = len(kept)
        self._steps[: self._count], self._motion[: self._count] = self._steps[kept], self._motion[kept]

    def _thin_scans(self) -> None:
        for rows in self._scans.values():
            rows.thin()
        self._scanned = sum(row.ranges.nbytes for rows in self._scans.values() for row in rows.values)

    def at(self, time: float) -> Moment:
        """Gather what there is to see at a time [s], between two steps in the middle of both."""
        stage = self.stage
        position, orientation = stage.position.copy(), stage.orientation.copy()
        velocity, spin = np.zeros_like(position), np.zeros_like(position)
        if self._count and stage.moving:
            motion = self._between(time)
            rows = stage.moving
            position[rows], orientation[rows] = motion[:, MOTION["position"]], motion[:, MOTION["orientation"]]
            velocity[rows], spin[rows] = motion[:, MOTION["velocity"]], motion[:, MOTION["angular_velocity"]]
        step = time / stage.step + 1e-9
        newest = {key: rows.newest(step) for key, rows in self._scans.items()}
        scans = {key: self._scan(row) for key, row in newest.items() if row is not None}
        shown = self._drawings.newest(step) or ()
        marks = self.marks[: bisect_right(self.marks, time + 1e-9, key=lambda one: one.time)]
        return Moment(time, position, orientation, velocity, spin, self._steering(step), scans, shown, marks)

    def _between(self, time: float) -> Floats:
        """Motion (moving, 13) at a time."""
        steps, at = self.steps, time / self.stage.step
        after = int(np.clip(np.searchsorted(steps, at - 1e-9), 0, self._count - 1))
        before = max(after - 1, 0)
        if after == before or at >= steps[after] - 1e-9:
            return np.asarray(self._motion[after], float)
        share = float((at - steps[before]) / (steps[after] - steps[before]))
        one, other = self._motion[before].astype(float), self._motion[after].astype(float)
        turned = other[:, 3:7] * np.where((one[:, 3:7] * other[:, 3:7]).sum(axis=1) < 0.0, -1.0, 1.0)[:, None]
        other[:, 3:7] = turned
        mixed = one + share * (other - one)
        mixed[:, 3:7] /= np.maximum(np.linalg.norm(mixed[:, 3:7], axis=1), 1e-12)[:, None]
        return np.asarray(mixed)

    def _scan(self, row: ScanRow) -> Scan:
        beams = self.stage.beams[row.key]
        return row.scan(beams.angles, beam_directions(beams.angles, beams.pitches), beams.nothing)

    def _steering(self, step: float) -> dict[int, float]:
        found = dict[int, float]()
        for vehicle, told in self._commands.items():
            steering = told.newest(step)
            if steering is not None and vehicle < len(self.stage.vehicles):
                found[self.stage.vehicles[vehicle]] = steering
        return found

    def path(self, row: int, start: float, stop: float) -> Floats:
        """Places (k, 3) [m] of a body between two times, both included."""
        if row not in self.stage.moving or not self._count:
            return self.stage.position[row : row + 1]
        column = self.stage.moving.index(row)
        first, last = np.searchsorted(self.steps * self.stage.step, [start - 1e-9, stop + 1e-9])
        return np.asarray(self._motion[first:last, column, :3], float)

    def paths(self, start: float, stop: float) -> Floats:
        """Places (k, moving, 2) [m] of all moving bodies between two times."""
        first, last = np.searchsorted(self.steps * self.stage.step, [start - 1e-9, stop + 1e-9])
        return np.asarray(self._motion[first:last, :, :2], float)

    def neighbour(self, time: float, ahead: int) -> float:
        """Time of the step that many kept steps before or after a time [s]."""
        if not self._count:
            return 0.0
        at, steps = time / self.stage.step, self.steps
        if ahead > 0:
            row = int(np.searchsorted(steps, at + 1e-6)) + ahead - 1
        else:
            row = int(np.searchsorted(steps, at - 1e-6)) + ahead
        return float(steps[int(np.clip(row, 0, self._count - 1))] * self.stage.step)


def _bytes_of(drawings: Sequence[Drawing]) -> int:
    """Count the bytes of drawings in memory: in double precision, twice what a recording takes."""
    return 2 * sum(map(size_of, drawings))
