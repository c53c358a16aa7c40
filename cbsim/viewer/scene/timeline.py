"""Timeline: recorded motion, scans and events of a run, in bounded memory.

When the motion exceeds its budget, every second step is dropped, and frames are interpolated between the remaining
ones. A run of any length can be scrubbed, and the latest step is always available.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.collision.contacts import CONTACT
from cbsim.recording.batch import Batch, ScanRow
from cbsim.recording.drawings import size_of
from cbsim.recording.roster import Roster
from cbsim.road.lights import LightSwitch, held_lights, light_switches
from cbsim.road.signals import SignalState
from cbsim.sensing import Scan
from cbsim.spec.drawing import Drawing
from cbsim.viewer.scene.bounded_series import BoundedSeries
from cbsim.viewer.scene.stage import Stage
from cbsim.world.motion import ABSENT_BELOW, ABSENT_MOTION, MOTION, MOTION_WIDTH
from cbsim.world.sensors import beam_directions
from cbsim.world.traffic.events import HAPPENED, KINDS

__all__ = ["BUDGET", "SceneState", "Timeline", "TimelineEvent"]

LEAST = 64  # steps that are kept in any case
BUDGET = 256 * 2**20  # [bytes] of motion; the same again of scans, and of drawings
BODY, PARTNER = CONTACT.index("body_a"), CONTACT.index("body_b")
MAX_CONTACTS = 10_000  # contacts kept at most
MAX_COMMANDS = 20_000  # commands per vehicle, and drawings, kept at most


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """A contact, a check that failed or passed, or an event of the scenario; `place` (2,) [m] if it has a position."""

    time: float
    kind: str
    name: str
    message: str
    row: int
    place: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class SceneState:
    """State of a scene at one time.

    Attributes
    ----------
    time : float
        [s]
    position, orientation, velocity, spin : ndarray, shape (n, 3), (n, 4), (n, 3), (n, 3)
        Of all bodies [m], [m/s], [rad/s].
    steering : mapping
        Row of a vehicle → its last steering command; full left is 1.
    scans : mapping
        Sensor key → latest scan of each laser.
    drawings : sequence of Drawing
        Planner annotations.
    events : list of TimelineEvent
        Events up to this time.
    lights : mapping
        Name of a traffic light → state that an event holds it in.
    """

    time: float
    position: Floats
    orientation: Floats
    velocity: Floats
    spin: Floats
    steering: Mapping[int, float] = field(default_factory=dict)
    scans: Mapping[str, Scan] = field(default_factory=dict)
    drawings: tuple[Drawing, ...] = ()
    events: list[TimelineEvent] = field(default_factory=list)
    lights: Mapping[str, SignalState] = field(default_factory=dict)


class Timeline:
    """Recorded motion of a run.

    Parameters
    ----------
    stage : Stage
        Whose run it is.
    budget : int
        Memory limit [bytes] of motion, of scans, and of drawings.

    Attributes
    ----------
    events : list of TimelineEvent
        Events in order of time: all checks, those of the scenario that came true, and at most `MAX_CONTACTS` contacts,
        thinned evenly.
    dropped_contacts : int
        Number of contacts that were dropped.
    """

    def __init__(self, stage: Stage, budget: int = BUDGET) -> None:
        self.stage, self.budget, self.stride = stage, budget, 1
        self.events: list[TimelineEvent] = []
        self.dropped_contacts = self._contact_count = 0
        self._count = 0
        self.roster = Roster(stage.objects)
        self._steps = np.zeros(LEAST, np.int64)
        self._motion = np.zeros((LEAST, 0, MOTION_WIDTH), np.float32)
        self._rows = np.zeros(0, np.int64)  # of the columns of the motion, in the order in which they were first held
        self._columns: dict[int, int] = {}
        self._commands: dict[int, BoundedSeries[float]] = {}
        self._scans: dict[str, BoundedSeries[ScanRow]] = {}
        self._scan_bytes = 0
        self._drawings = BoundedSeries[tuple[Drawing, ...]](MAX_COMMANDS, lambda shown: not shown)
        self._drawn_bytes = 0
        self._switches: list[LightSwitch] = []

    def __len__(self) -> int:
        return self._count

    @property
    def steps(self) -> Ints:
        """Step numbers (n,) that are kept."""
        return self._steps[: self._count]

    @property
    def first(self) -> float:
        """Time of the first step [s]."""
        return float(self._steps[0]) * self.stage.step if self._count else 0.0

    @property
    def last(self) -> float:
        """Time of the latest step [s]."""
        return float(self._steps[self._count - 1]) * self.stage.step if self._count else 0.0

    def add(self, batch: Batch) -> None:
        """Add a batch of steps."""
        self.roster.take(batch.events)
        columns = self._columns_of(np.array(self.stage.moving, np.int64) if batch.rows is None else batch.rows)
        for step, motion in zip(batch.steps.tolist(), batch.motion, strict=True):
            self._put(step, columns, motion)
        for step, vehicle, row in batch.commands:
            self._commands.setdefault(vehicle, BoundedSeries(MAX_COMMANDS)).insert(step, row[1])
        for scan in batch.scans:
            self._scans.setdefault(scan.key, BoundedSeries(self.budget)).insert(scan.time / self.stage.step, scan)
            self._scan_bytes += scan.ranges.nbytes
        if self._scan_bytes > self.budget:
            self._thin_scans()
        for shown in batch.drawings:
            self._drawings.insert(shown.step, shown.drawings)
            self._drawn_bytes += _bytes_of(shown.drawings)
        while self._drawn_bytes > self.budget and len(self._drawings) > 2:
            self._drawings.thin()
            self._drawn_bytes = sum(map(_bytes_of, self._drawings.values))
        for contact in batch.contacts:
            self._add_contact(contact)
        self._add_scenario_events(batch.events)

    def add_event(self, event: TimelineEvent) -> None:
        """Add an event."""
        insort(self.events, event, key=lambda one: one.time)

    def _add_scenario_events(self, rows: Ints) -> None:
        """Add events of the scenario that came true, and the states of lights that they set."""
        happened = rows[rows[:, 1] >= HAPPENED]
        for step, kind, number, _ in happened.tolist():
            names = self.stage.event_names
            name = names[number] if number < len(names) else f"event {number}"
            self.add_event(TimelineEvent(step * self.stage.step, KINDS[kind], name, "", -1))
        self._switches += light_switches(self.stage.events, happened[happened[:, 1] == HAPPENED][:, [0, 2]].tolist())

    def _add_contact(self, contact: Floats) -> None:
        one, other = int(contact[BODY]), int(contact[PARTNER])
        names = self.name(one, float(contact[0])), self.name(other, float(contact[0]))
        said, place = f"{contact[9]:.1f} m/s, {contact[10]:.0f} N s", (float(contact[3]), float(contact[4]))
        self.add_event(
            TimelineEvent(float(contact[0]), "contact", f"{names[0]} and {names[1]} touch", said, one, place)
        )
        self._contact_count += 1
        if self._contact_count > MAX_CONTACTS:
            self._thin_contacts()

    def _thin_contacts(self) -> None:
        """Drop every second contact, never the latest."""
        places = [place for place, event in enumerate(self.events) if event.kind == "contact"]
        for place in places[-2::-2]:
            del self.events[place]
        self.dropped_contacts += len(places[-2::-2])
        self._contact_count -= len(places[-2::-2])

    def name(self, row: int, time: float) -> str:
        """Name of a body at a time [s]: a row of a flow holds one car after another."""
        if self.roster.is_flow(row):
            return self.roster.name(row, int(time / self.stage.step + 1e-9))
        return self.stage.bodies[row].name

    def _columns_of(self, rows: Ints) -> NDArray[np.intp]:
        """Columns of the motion of some rows, which get new ones where they have none."""
        new = [row for row in rows.tolist() if row not in self._columns]
        if new:
            width = len(self._rows) + len(new)
            if width > self._motion.shape[1]:
                room = max(width, len(self._rows) * 5 // 4) if len(self._rows) else width
                added = np.tile(ABSENT_MOTION.astype(np.float32), (len(self._motion), room - self._motion.shape[1], 1))
                self._motion = np.concatenate([self._motion, added], axis=1)
            self._columns |= {row: len(self._rows) + k for k, row in enumerate(new)}
            self._rows = np.concatenate([self._rows, np.array(new, np.int64)])
            while self._motion.nbytes > self.budget and len(self._steps) > LEAST:
                self._thin()
                half = max(len(self._steps) // 2, self._count)
                self._steps, self._motion = self._steps[:half].copy(), self._motion[:half].copy()
        return np.array([self._columns[row] for row in rows.tolist()], np.intp)

    def _put(self, step: int, columns: NDArray[np.intp], motion: Floats) -> None:
        if self._count and self._steps[self._count - 1] % self.stride:
            self._count -= 1  # the latest step off the stride is replaced by the next one
        if self._count == len(self._steps):
            self._grow()
        self._steps[self._count] = step
        if len(columns) < self._motion.shape[1]:
            self._motion[self._count] = ABSENT_MOTION
        self._motion[self._count, columns] = motion
        self._count += 1

    def _grow(self) -> None:
        """Double the capacity, or drop every second step if the budget is exhausted."""
        if 2 * self._motion.nbytes <= self.budget:
            self._steps = np.concatenate([self._steps, np.zeros_like(self._steps)])
            self._motion = np.concatenate([self._motion, np.zeros_like(self._motion)])
            return
        self._thin()

    def _thin(self) -> None:
        """Drop every second step."""
        self.stride *= 2
        kept = np.flatnonzero(self.steps % self.stride == 0)
        self._count = len(kept)
        self._steps[: self._count], self._motion[: self._count] = self._steps[kept], self._motion[kept]

    def _thin_scans(self) -> None:
        for rows in self._scans.values():
            rows.thin()
        self._scan_bytes = sum(row.ranges.nbytes for rows in self._scans.values() for row in rows.values)

    def at(self, time: float) -> SceneState:
        """Return the state at a time [s], interpolated between steps."""
        stage = self.stage
        position, orientation = stage.position.copy(), stage.orientation.copy()
        velocity, spin = np.zeros_like(position), np.zeros_like(position)
        if self._count and len(self._rows):
            motion, rows = self._between(time), self._rows
            position[rows], orientation[rows] = motion[:, MOTION["position"]], motion[:, MOTION["orientation"]]
            velocity[rows], spin[rows] = motion[:, MOTION["velocity"]], motion[:, MOTION["angular_velocity"]]
        step = time / stage.step + 1e-9
        newest = {key: rows.latest(step) for key, rows in self._scans.items()}
        scans = {key: self._scan(row) for key, row in newest.items() if row is not None}
        shown = self._drawings.latest(step) or ()
        events = self.events[: bisect_right(self.events, time + 1e-9, key=lambda one: one.time)]
        steering, lights = self._steering(step), held_lights(self._switches, step)
        return SceneState(time, position, orientation, velocity, spin, steering, scans, shown, events, lights)

    def _between(self, time: float) -> Floats:
        """Motion (columns, 13) at a time [s]; who is absent before or after, or is another car, does not move yet."""
        steps, at = self.steps, time / self.stage.step
        after = int(np.clip(np.searchsorted(steps, at - 1e-9), 0, self._count - 1))
        before = max(after - 1, 0)
        if after == before or at >= steps[after] - 1e-9:
            return np.asarray(self._motion[after, : len(self._rows)], float)
        share = float((at - steps[before]) / (steps[after] - steps[before]))
        one, other = (self._motion[k, : len(self._rows)].astype(float) for k in (before, after))
        turned = other[:, 3:7] * np.where((one[:, 3:7] * other[:, 3:7]).sum(axis=1) < 0.0, -1.0, 1.0)[:, None]
        other[:, 3:7] = turned
        mixed = one + share * (other - one)
        mixed[:, 3:7] /= np.maximum(np.linalg.norm(mixed[:, 3:7], axis=1), 1e-12)[:, None]
        apart = (one[:, 2] < ABSENT_BELOW) | (other[:, 2] < ABSENT_BELOW) | self._changed(int(steps[before]), after)
        mixed[apart] = one[apart]
        return np.asarray(mixed)

    def _changed(self, before: int, after: int) -> NDArray[np.bool_]:
        """Which columns hold another car at a kept step than at the step before it."""
        found = np.zeros(len(self._rows), bool)
        if self.stride > 1:
            last, name = int(self.steps[after]), self.roster.name
            for row in self.roster.reused:
                if row in self._columns:
                    found[self._columns[row]] = name(row, before) != name(row, last)
        return found

    def _scan(self, row: ScanRow) -> Scan:
        beams = self.stage.beams[row.key]
        return row.scan(beams.angles, beam_directions(beams.angles, beams.pitches), beams.nothing)

    def _steering(self, step: float) -> dict[int, float]:
        found = dict[int, float]()
        for vehicle, commands in self._commands.items():
            steering = commands.latest(step)
            if steering is not None and vehicle < len(self.stage.vehicles):
                found[self.stage.vehicles[vehicle]] = steering
        return found

    def path(self, row: int, start: float, stop: float) -> Floats:
        """Positions (k, 3) [m] of a body from `start` to `stop` [s], inclusive, since it was last absent."""
        column = self._columns.get(row)
        if column is None or not self._count:
            return self.stage.position[row : row + 1]
        first, last = np.searchsorted(self.steps * self.stage.step, [start - 1e-9, stop + 1e-9])
        places = np.asarray(self._motion[first:last, column, :3], float)
        absent = np.flatnonzero(places[:, 2] < ABSENT_BELOW)
        return places[absent[-1] + 1 :] if len(absent) else places

    def neighbour(self, time: float, ahead: int) -> float:
        """Time [s] of the step that lies a number of kept steps after (or before) a time [s]."""
        if not self._count:
            return 0.0
        at, steps = time / self.stage.step, self.steps
        if ahead > 0:
            row = int(np.searchsorted(steps, at + 1e-6)) + ahead - 1
        else:
            row = int(np.searchsorted(steps, at - 1e-6)) + ahead
        return float(steps[int(np.clip(row, 0, self._count - 1))] * self.stage.step)


def _bytes_of(drawings: Sequence[Drawing]) -> int:
    """Size of drawings in memory [bytes]: double precision takes twice the size of a recording."""
    return 2 * sum(map(size_of, drawings))
