"""The loop: `step` is the whole simulator on one screen, `run` repeats it and hands batches to a recorder."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from cbsim.collision.kernels.workspace import HORIZON
from cbsim.coupling.diagnostics import Diagnostic, Diagnostics
from cbsim.errors import StepError, UsageError
from cbsim.planner import Driver, Interrupts, Operator, PlannerError, PlannerIsolation, drivers_of
from cbsim.recording.batch import Batch, ReadingRow, ScanRow, header_of, motion_of_rows
from cbsim.recording.messages import SIMULATOR
from cbsim.recording.recorder import MemoryRecorder, Recorder
from cbsim.recording.recording import Recording
from cbsim.sensing import Reading, Scan, readings_between, sense
from cbsim.simulation.advance import advance
from cbsim.simulation.annotations import PlannerAnnotations
from cbsim.simulation.observations import observe, watch
from cbsim.simulation.recorded_rows import RecordedRows
from cbsim.simulation.steering import places_of
from cbsim.spec.command import Command
from cbsim.traffic.notes import TrafficNotes
from cbsim.world.motion import MOTION_WIDTH, motion_of
from cbsim.world.snapshot import Snapshot
from cbsim.world.tables import Ints
from cbsim.world.world import World

if TYPE_CHECKING:
    from cbsim.simulation.observers import RunObserver

__all__ = ["Run", "drive", "run", "step", "step_count"]

BATCH_STEPS = 256  # quiet steps in one kernel call at most
BATCH_NUMBERS = 32768  # numbers of motion in one batch: 256 KiB, the size of a chunk
MOST_NUMBERS = 1 << 20  # of a batch of as many steps as candidates of collisions are kept for


def step(world: World, snapshot: Snapshot, commands: Mapping[str, Command] | None = None) -> Snapshot:
    """Advance by one step; the old Snapshot is still good.

    Parameters
    ----------
    world : World
    snapshot : Snapshot
    commands : mapping, optional
        Object name → `Command`, held until another one comes.

    Raises
    ------
    UsageError
        If a commanded object does not exist or takes no commands.
    StepError
        If the step cannot be made, or its result is not made of finite numbers.
    """
    world.require(snapshot)
    following = snapshot.copy()
    following.hand_on(world.static_caches.of(snapshot))
    for name, command in (commands or {}).items():
        following.tell(world.vehicle(name), command.row())
    try:
        advance(world, following, 1)
    except StepError as error:
        error.snapshot = snapshot if error.snapshot is None else error.snapshot
        raise
    return following


Told = tuple[int, int, tuple[float, ...]]
Control = tuple[int, int, float]


def step_count(duration: float, step_length: float) -> int:
    """Count the steps of a duration [s]: n = ceil(duration / step − 1e-9), at least one."""
    if not (math.isfinite(duration) and duration >= 0.0):
        raise UsageError(f"duration is {duration!r} s, expected a finite number ≥ 0")
    return max(1, math.ceil(duration / step_length - 1e-9))


@dataclass
class Run:
    """One run in progress: the World, the current Snapshot, the planners, and who listens.

    Attributes
    ----------
    world : World
    snapshot : Snapshot
        The newest; written in place.
    drivers : list of Driver or Operator
        Planners at the wheel, and controllers of models.
    listeners : list of Recorder
        Recorders and judges.
    record_scans : bool
        False leaves out scans that only a listener would see.
    annotations : PlannerAnnotations or None
        Who asks planners what they show, for listeners; None where nobody wants to see it.
    onlookers : list of Recorder
        Listeners that take the motion of everybody, whatever is recorded: viewers.
    diagnostics : Remarks
        On steps of models that could not be made as they should have been.
    interrupts : Interrupts
        Held back while listeners are told, so that what they have written is whole.
    """

    world: World
    snapshot: Snapshot
    drivers: list[Driver | Operator] = field(default_factory=list)
    listeners: list[Recorder] = field(default_factory=list)
    record_scans: bool = True
    annotations: PlannerAnnotations | None = None
    onlookers: list[Recorder] = field(default_factory=list)
    newest: dict[str, Scan | Reading] = field(default_factory=dict)
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    interrupts: Interrupts = field(default_factory=Interrupts)
    _set: list[Control] = field(default_factory=list)
    _waiting: list[Batch] = field(default_factory=list)
    _room: int = 0

    def __post_init__(self) -> None:
        self.recorded = RecordedRows(self.world)
        self.notes = TrafficNotes(self.world)
        self._rows: Ints | None = None

    def begin(self) -> None:
        """Tell the listeners what the run starts from, and give them the state before the first step."""
        self._flush()
        world, seed = self.world, self.snapshot.seed
        with self.interrupts.deferred():
            for listeners, recorded in ((self.listeners, self.recorded.header), (self.onlookers, None)):
                if not listeners:
                    continue
                header = header_of(world, seed, recorded)
                for listener in listeners:
                    listener.begin(header, self.snapshot.to_bytes(), world.scene.sources)
        self._rows = self.recorded.at(self.snapshot)
        self.notes.begin(world, self.snapshot)
        motion = motion_of(self.snapshot, self._wanted_rows)[None]
        hashes = np.array([self.snapshot.hash], np.uint64)
        scans, readings = self._sense(self.snapshot.time - self.world.step)
        batch = Batch(self.snapshot.step, hashes, motion, [], scans, readings=readings)
        self._give(replace(batch, rows=self._rows, events=self.notes.drain()))

    def seat(self, drivers: list[Driver | Operator]) -> None:
        """Put planners at the wheel, and introduce them to their task."""
        self.drivers = drivers
        for driver in drivers:
            driver.start(self.world)
        if drivers:
            self.newest = sense(self.world, self.snapshot)

    def advance(self, steps: int) -> None:
        """Take some steps: quiet ones together, else one by one with planners and sensors between them."""
        until = self.snapshot.step + steps
        while self.snapshot.step < until:
            commands = self._decide()
            before = self.snapshot.time
            drawings = (
                [] if self.annotations is None else self.annotations.rows(self.snapshot.step, before, self.drivers)
            )
            n = self._quiet(until - self.snapshot.step)
            first = self.snapshot.step + 1
            diagnostics: list[Diagnostic] = []
            if self.recorded.steps_left(self.snapshot.step) == self.recorded.period:
                self._rows = self.recorded.at(self.snapshot)
            found = advance(self.world, self.snapshot, n, self._wanted_rows, diagnostics, self.notes)
            hashes, motion, contacts = found
            self.diagnostics.take(diagnostics)
            scans, readings = self._sense(before)
            controls, self._set = self._set, []
            batch = Batch(first, hashes, motion, commands, scans, contacts, readings, controls, drawings)
            self._give(replace(batch, rows=self._rows, events=self.notes.drain()))
        self._flush()

    def steer(self, controls: Mapping[str, float]) -> None:
        """Set controls of models for the next step and those after it, as `cbsim.steer` does; it is recorded."""
        self._place(places_of(self.world, controls))

    def fault(self, error: PlannerError | StepError) -> None:
        """Tell the listeners what a planner, or the simulator itself, failed with."""
        self._flush()
        name = f"planner {error.planner}" if isinstance(error, PlannerError) else SIMULATOR
        with self.interrupts.deferred():
            for listener in (*self.listeners, *self.onlookers):
                listener.fault(name, error.time, error.reason)

    def end(self) -> None:
        """Tell the listeners that it is over."""
        self._flush()
        with self.interrupts.deferred():
            for listener in (*self.listeners, *self.onlookers):
                listener.end()

    @property
    def _wanted_rows(self) -> Ints:
        """Rows whose motion is taken: those that are recorded, or all if somebody looks on."""
        return self.world.moving if self._rows is None or self.onlookers else self._rows

    @property
    def _wants_scans(self) -> bool:
        return bool(self.world.sensors) and (self.record_scans or bool(self.drivers))

    def _quiet(self, left: int) -> int:
        """How many steps may go without Python in between."""
        if self.drivers or self._wants_scans:
            return 1
        width = MOTION_WIDTH * max(1, len(self._wanted_rows))
        room = max(1, BATCH_NUMBERS // width)
        if room < HORIZON and width * HORIZON <= MOST_NUMBERS:  # among many cars, each call looks for candidates anew
            room = HORIZON - self.snapshot.step % HORIZON
        return min(left, BATCH_STEPS, room, self.recorded.steps_left(self.snapshot.step))

    def _sense(self, after: float) -> tuple[list[ScanRow], list[ReadingRow]]:
        """Take the scans and readings that have come since a time [s], for planners and listeners."""
        scans: list[ScanRow] = []
        readings: list[ReadingRow] = []
        if not self._wants_scans:
            return scans, readings
        for key, taken in readings_between(self.world, self.snapshot, after):
            if taken is None:  # silent: what it said before is not its newest word any more
                self.newest.pop(key, None)
                continue
            self.newest[key] = taken
            if not self.record_scans:
                continue
            if isinstance(taken, Scan):
                scans.append(ScanRow.of(taken))
            else:
                readings.append(ReadingRow.of(taken))
        return scans, readings

    def _place(self, controls: Mapping[int, float]) -> None:
        """Write controls that change something, by their places, and note them."""
        state = self.snapshot.columns.controller_state
        for place, value in controls.items():
            if state[place] != value:
                state[place] = value
                self._set.append((self.snapshot.step, place, value))

    def _decide(self) -> list[Told]:
        """Ask every planner; commands and controls that change something are written and noted."""
        noted: list[Told] = []
        for driver in self.drivers:
            if isinstance(driver, Operator):
                self._place(driver.decide(watch(self.snapshot, driver.instance)))
                continue
            row = driver.decide(observe(self.world, self.snapshot, driver.name, self.newest))
            held = self.snapshot.columns.command[driver.vehicle]
            if tuple(held) != row:
                held[:] = row
                noted.append((self.snapshot.step, driver.vehicle, row))
        return noted

    def _give(self, batch: Batch) -> None:
        """Pass a batch on; those of single steps wait to be put together, which spares every listener its own cost."""
        if self._waiting and self._waiting[0].rows is not batch.rows:
            self._flush()
        self._waiting.append(batch)
        self._room -= _size(batch)
        if self._room <= 0:
            self._flush()

    def _flush(self) -> None:
        self._room = BATCH_NUMBERS
        if self._waiting:
            with self.interrupts.deferred():
                rows, batches = self._waiting[0].rows, self._waiting
                self._waiting = []
                if rows is not None and self.onlookers:
                    whole = Batch.joined([replace(batch, rows=None) for batch in batches])
                    batch = replace(whole, motion=motion_of_rows(whole.motion, self.world.moving, rows), rows=rows)
                else:
                    batch = whole = Batch.joined(batches)
                for listener in self.listeners:
                    listener.take(batch)
                for onlooker in self.onlookers:
                    onlooker.take(whole)


def _size(batch: Batch) -> int:
    """Count the numbers of a batch."""
    sensed = sum(scan.ranges.size for scan in batch.scans) + sum(row.values.size for row in batch.readings)
    return batch.hashes.size + batch.motion.size + sensed


def drive(
    run: Run,
    steps: int,
    progress: Callable[[int], None] | None = None,
    planner: object = None,
    observer: RunObserver | None = None,
) -> None:
    """Carry a run through a number of steps; its listeners hear of the end even when a planner fails on the way.

    Parameters
    ----------
    run : Run
    steps : int
    progress : callable, optional
        Told the number of steps done.
    planner : object or mapping, optional
        As in `run`.
    observer : RunObserver, optional
        Goes along, step by step; the bits are the same.

    Raises
    ------
    PlannerError
        If a planner fails.
    StepError
        If a step cannot be made.
    """
    together = BATCH_STEPS if observer is None else 1
    with PlannerIsolation() as isolation:
        run.interrupts = isolation.interrupts
        try:
            run.begin()
            run.seat(drivers_of(run.world, planner, isolation))
            if observer is not None:
                observer.on_start(run)
            for done in range(0, steps, together):
                run.advance(min(together, steps - done))
                if progress is not None:
                    progress(min(done + together, steps))
                if observer is not None:
                    observer.on_step(run)
        except (PlannerError, StepError) as error:
            run.fault(error)
            raise
        finally:
            run.end()


def run(
    world: World,
    duration: float | None = None,
    planner: object = None,
    seed: int | None = None,
    snapshot: Snapshot | None = None,
) -> Recording:
    """Run a World and return what happened.

    Parameters
    ----------
    world : World
    duration : float, optional
        [s]; the scenario's own by default.
    planner : object or mapping, optional
        A planner for the first autonomous object, or object name → planner. By default those the scenario names. A
        model with controls takes a controller: its `plan` returns a mapping from their names to numbers, or None.
    seed : int, optional
        The scenario's own by default.
    snapshot : Snapshot, optional
        Where to start from; the World's first by default.

    Returns
    -------
    Recording
        In memory; `Recording.save` writes it to a file.
    """
    memory = MemoryRecorder()
    start = snapshot if snapshot is not None else world.start
    world.require(start)
    if seed is not None:
        start = start.copy()
        start.columns.seed[0] = seed
    steps = step_count(world.settings.duration if duration is None else duration, world.constants.step)
    drive(Run(world, start.copy(), [], [memory], annotations=PlannerAnnotations()), steps, planner=planner)
    return Recording(memory)
