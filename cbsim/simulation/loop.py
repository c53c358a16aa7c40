"""The loop: `step` advances a World by one step, `run` repeats it and passes batches to recorders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from cbsim.arrays import Ints
from cbsim.collision.kernels.workspace import HORIZON
from cbsim.coupling.diagnostics import Diagnostic, Diagnostics
from cbsim.errors import StepError
from cbsim.planner import Driver, Interrupts, Operator, PlannerError, PlannerIsolation, drivers_of
from cbsim.recording.batch import header_of, motion_of_rows
from cbsim.recording.messages import SIMULATOR
from cbsim.recording.recorder import MemoryRecorder, Recorder
from cbsim.recording.recording import Recording
from cbsim.sensing import sense
from cbsim.simulation import checkpoints as recall
from cbsim.simulation.advance import advance
from cbsim.simulation.annotations import PlannerAnnotations
from cbsim.simulation.batch_builder import BatchBuilder, CommandRow, ControlRow
from cbsim.simulation.ending import is_over, step_count
from cbsim.simulation.newest_readings import NewestReadings
from cbsim.simulation.observations import watch
from cbsim.simulation.recorded_readings import take_readings
from cbsim.simulation.recorded_rows import RecordedRows
from cbsim.simulation.seat_view import SeatView
from cbsim.simulation.steering import places_of
from cbsim.spec.command import Command
from cbsim.traffic.notes import TrafficNotes
from cbsim.world.command_queue import tell
from cbsim.world.forks import forks_of
from cbsim.world.motion import MOTION_WIDTH, motion_of
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World, expect_world

__all__ = ["Run", "RunObserver", "drive", "run", "step", "step_count"]

BATCH_STEPS = 256  # largest number of quiet steps in one kernel call
BATCH_NUMBERS = 49152  # largest number of values of motion in one batch: 384 KiB
MOST_NUMBERS = 1 << 20  # of a batch of as many steps as candidates of collisions are kept for


def step(world: World, snapshot: Snapshot, commands: Mapping[str, Command] | None = None) -> Snapshot:
    """Advance by one step; the given Snapshot is unchanged.

    Parameters
    ----------
    world : World
    snapshot : Snapshot
    commands : mapping, optional
        Object name → `Command`, held until the next one; it acts after the latency of the object's planner.

    Raises
    ------
    UsageError
        If a commanded object does not exist or takes no commands.
    StepError
        If the step has no solution, or its result is not finite.
    """
    expect_world(world, "step").require(snapshot)
    following = snapshot.copy()
    following.set_static_cache(world.static_caches.of(snapshot))
    for name, command in (commands or {}).items():
        tell(world.queues, following, world.vehicle(name), command.row(), world.step)
    try:
        advance(world, following, 1)
    except StepError as error:
        error.snapshot = snapshot if error.snapshot is None else error.snapshot
        raise
    return following


@dataclass
class Run:
    """A run in progress: the World, the current Snapshot, planners and listeners.

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
        False omits scans that only listeners would receive.
    annotations : PlannerAnnotations or None
        Collector of planner annotations for listeners; None if they are not needed.
    onlookers : list of Recorder
        Listeners that take the motion of everybody, whatever is recorded: viewers.
    diagnostics : Diagnostics
        Of steps of models solved with fallback settings.
    interrupts : Interrupts
        Deferred while listeners are called, so that their output is complete.
    """

    world: World
    snapshot: Snapshot
    drivers: list[Driver | Operator] = field(default_factory=list)
    listeners: list[Recorder] = field(default_factory=list)
    record_scans: bool = True
    annotations: PlannerAnnotations | None = None
    onlookers: list[Recorder] = field(default_factory=list)
    newest: NewestReadings = field(init=False)
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    interrupts: Interrupts = field(default_factory=Interrupts)
    _set: list[ControlRow] = field(default_factory=list)
    _gathered: BatchBuilder = field(default_factory=BatchBuilder)
    _room: int = 0

    def __post_init__(self) -> None:
        self.recorded = RecordedRows(self.world)
        self.notes = TrafficNotes(self.world)
        self.newest = NewestReadings(self.world)
        self.views: dict[str, SeatView] = {}
        self._remembers = self._is_always_asked = False
        self._rows: Ints | None = None

    def begin(self) -> None:
        """Call `begin` of the listeners, and pass them the state before the first step."""
        self._flush()
        world, seed = self.world, self.snapshot.seed
        with self.interrupts.deferred():
            for listeners, recorded in ((self.listeners, self.recorded.header), (self.onlookers, None)):
                if not listeners:
                    continue
                header = header_of(world, seed, recorded, forks_of(self.snapshot))
                for listener in listeners:
                    listener.begin(header, self.snapshot.to_bytes(), world.scene.sources)
        self._gathered.rows = self._rows = self.recorded.at(self.snapshot)
        self.notes.begin(world, self.snapshot)
        motion = motion_of(self.snapshot, self._wanted_rows)[None]
        hashes = np.array([self.snapshot.hash], np.uint64)
        sensed = self._sense(self.snapshot.time - world.step)
        self._gathered.add(self.snapshot.step, (hashes, motion), False)
        self._give(motion.size + 1 + sensed)

    def seat(self, drivers: list[Driver | Operator], since: recall.Continued = recall.AFRESH) -> None:
        """Assign planners to vehicles and start them; those with a memory get it back."""
        self.drivers = drivers
        self.views = {one.name: SeatView(self.world, one.name, one.seat) for one in drivers if isinstance(one, Driver)}
        self._remembers = any(isinstance(one, Driver) and one.checkpoint for one in drivers)
        self._is_always_asked = any(one.period == 1 for one in drivers)
        for driver in drivers:
            driver.start(self.world)
        recall.give_back(since, drivers, self.views, self.snapshot.time)
        if drivers:
            self.newest = NewestReadings(self.world, sense(self.world, self.snapshot))

    def advance(self, steps: int) -> None:
        """Take a number of steps: quiet ones in batches, others one by one with planners and sensors between them."""
        world, snapshot, gathered, drivers = self.world, self.snapshot, self._gathered, self.drivers
        now = snapshot.step
        until = now + steps
        while now < until and not (world.may_end and self.is_over):
            before, rows = now * snapshot.step_length, self._wanted_rows
            checkpoints = recall.checkpoints_at(snapshot, drivers, self.views) if self._remembers else []
            commands = self._decide(now) if drivers else []
            drawings = [] if self.annotations is None else self.annotations.rows(now, before, drivers)
            asked = n = 1
            if not self._is_always_asked:
                asked = min([recall.until_asked(driver, now) for driver in drivers], default=1)
                n = self._quiet(now, until - now, asked)
            if self.recorded.may_change and self.recorded.steps_left(now) == self.recorded.period:
                self._rows = self.recorded.at(snapshot)
                if self._rows is not gathered.rows:
                    self._flush()
                    gathered.rows, rows = self._rows, self._wanted_rows
            self.newest.settle(now + asked)
            diagnostics: list[Diagnostic] = []
            room = gathered.room(n, len(rows), BATCH_NUMBERS)
            hashes, motion, contacts = advance(world, snapshot, n, rows, diagnostics, self.notes, room)
            if diagnostics:
                self.diagnostics.take(diagnostics)
            gathered.add(now + 1, (hashes, motion), hashes is room[0])
            if commands or self._set or drawings or checkpoints or len(contacts):
                gathered.add_rows(commands, self._set, drawings, checkpoints, contacts)
                self._set = []
            self._give(motion.size + len(hashes) + self._sense(before))
            now += len(hashes)
        self._flush()

    @property
    def is_over(self) -> bool:
        """Whether a mission with a clock has ended: all of its vehicles are disabled, and at rest."""
        return is_over(self.world, self.snapshot)

    def steer(self, controls: Mapping[str, float]) -> None:
        """Set controls of models for the next step and those after it, as `cbsim.steer` does; it is recorded."""
        self._place(places_of(self.world, controls))

    def fault(self, error: PlannerError | StepError) -> None:
        """Report the failure of a planner or of the simulator to the listeners."""
        self._flush()
        name = f"planner {error.planner}" if isinstance(error, PlannerError) else SIMULATOR
        with self.interrupts.deferred():
            for listener in (*self.listeners, *self.onlookers):
                listener.fault(name, error.time, error.reason)

    def end(self) -> None:
        """Call `end` of the listeners."""
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

    def _quiet(self, now: int, left: int, asked: int) -> int:
        """Count the quiet steps ahead, without planner or sensor, given those until a planner is asked."""
        if self.world.may_end:
            return 1
        if self.drivers:
            left = min(left, asked)
        if self._wants_scans and left > 1:
            left = min(left, 1 if self.record_scans else self.newest.steps_until_due(now, now + asked))
        if left == 1:
            return 1
        width = MOTION_WIDTH * max(1, len(self._wanted_rows))
        room = max(1, BATCH_NUMBERS // width)
        if room < HORIZON and width * HORIZON <= MOST_NUMBERS:  # among many cars, each call looks for candidates anew
            room = HORIZON - now % HORIZON
        return min(left, BATCH_STEPS, room, self.recorded.steps_left(now))

    def _sense(self, after: float) -> int:
        """Take the scans and readings delivered since a time [s], for planners and listeners; count their numbers."""
        if not self._wants_scans:
            return 0
        if self.record_scans:
            return take_readings(self.world, self.snapshot, after, self.newest, self._gathered)
        self.newest.deliver(self.snapshot, after)
        return 0

    def _place(self, controls: Mapping[int, float]) -> None:
        """Write controls that differ, by their rows, and record them."""
        state = self.snapshot.columns.controller_state
        for place, value in controls.items():
            if state[place] != value:
                state[place] = value
                self._set.append((self.snapshot.step, place, value))

    def _decide(self, now: int) -> list[CommandRow]:
        """Call every planner; write and record the commands and controls that differ."""
        noted: list[CommandRow] = []
        snapshot = self.snapshot
        for driver in self.drivers:
            if isinstance(driver, Operator):
                self._place(driver.decide(watch(snapshot, driver.instance)))
                continue
            if driver.period > 1 and now % driver.period:
                continue
            view = self.views[driver.name]
            row = driver.decide(view.observe(snapshot, self.newest), view.truth)
            view.truth = None  # nobody else looks at its scans
            if driver.is_late or tuple(snapshot.columns.command[driver.vehicle].tolist()) != row:
                tell(self.world.queues, snapshot, driver.vehicle, row, self.world.step)
                noted.append((now, driver.vehicle, row))
        return noted

    def _give(self, numbers: int) -> None:
        """Take what cars and events have done, and pass everything on once as many numbers have been gathered."""
        events = self.notes.drain()
        if len(events):
            self._gathered.add_events(events)
        self._room -= numbers
        if self._room <= 0:
            self._flush()

    def _flush(self) -> None:
        self._room = BATCH_NUMBERS
        if self._gathered:
            with self.interrupts.deferred():
                batch = whole = self._gathered.drain()
                rows = batch.rows
                if rows is not None and self.onlookers:
                    whole = replace(batch, rows=None)
                    batch = replace(whole, motion=motion_of_rows(whole.motion, self.world.moving, rows), rows=rows)
                for listener in self.listeners:
                    listener.take(batch)
                for onlooker in self.onlookers:
                    onlooker.take(whole)


class RunObserver(Protocol):
    """Observer of a run, called step by step without affecting its results."""

    @property
    def listeners(self) -> Sequence[Recorder]:
        """Recorders that receive the run's output; if there are any, scans are taken even if nothing records them."""

    def on_start(self, run: Run) -> None:
        """Handle the start of a run, before the first step and after the planners have started."""

    def on_step(self, run: Run) -> None:
        """Handle the end of a step; the next one begins when this returns."""


def drive(
    run: Run,
    steps: int,
    progress: Callable[[int], None] | None = None,
    planner: object = None,
    observer: RunObserver | None = None,
    memories: recall.Memories = recall.NO_MEMORIES,
    passed: recall.Passed = recall.NONE_PASSED,
) -> None:
    """Run a number of steps; the listeners' `end` is called even if a planner fails.

    Parameters
    ----------
    run : Run
    steps : int
    progress : callable, optional
        Called with the number of steps done.
    planner : object or mapping, optional
        As in `run`.
    observer : RunObserver, optional
        Called after every step; the bits are the same.
    memories, passed : mapping, optional
        Object name → memory of its planner at a checkpoint, from which the run continues; and checkpoints passed.

    Raises
    ------
    PlannerError
        If a planner fails.
    StepError
        If a step has no solution.
    """
    together = BATCH_STEPS if observer is None else 1
    with PlannerIsolation() as isolation:
        run.interrupts = isolation.interrupts
        try:
            run.begin()
            run.seat(drivers_of(run.world, planner, isolation), recall.Continued(memories, passed))
            if observer is not None:
                observer.on_start(run)
            for done in range(0, steps, together):
                if run.is_over:
                    break
                run.advance(min(together, steps - done))
                if progress is not None:
                    progress(steps if run.is_over else min(done + together, steps))
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
    """Run a World and return its recording.

    Parameters
    ----------
    world : World
    duration : float, optional
        [s]; that of the scenario by default.
    planner : object or mapping, optional
        A planner for the first autonomous object, or object name → planner. By default those that the scenario names. A
        model with controls takes a controller: its `plan` returns a mapping from their names to numbers, or None.
    seed : int, optional
        That of the scenario by default.
    snapshot : Snapshot, optional
        Start; that of the World by default.

    Returns
    -------
    Recording
        In memory; `Recording.save` writes it to a file.
    """
    memory = MemoryRecorder()
    expect_world(world, "run")
    start = snapshot if snapshot is not None else world.start
    world.require(start)
    if seed is not None:
        start = start.copy()
        start.columns.seed[0] = seed
    steps = step_count(world.settings.duration if duration is None else duration, world.constants.step)
    drive(Run(world, start.copy(), [], [memory], annotations=PlannerAnnotations()), steps, planner=planner)
    return Recording(memory)
