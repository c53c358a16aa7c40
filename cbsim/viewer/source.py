"""Where pictures come from: a network alone, a recording, or a run that goes on while one looks.

All three are a `Source`. Time in it goes from `first` to `last`; a run grows when it is asked for a later time. What a
source shows is read from its tape: looking back, stepping back and scrubbing never touch the run itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from cbsim.errors import StepError
from cbsim.evaluation.judge import Judge, judge, scene_of
from cbsim.evaluation.rules import Check
from cbsim.planner import PlannerError, PlannerIsolation, drivers_of
from cbsim.recording.batch import Batch, Header, header_of
from cbsim.recording.recording import Recording
from cbsim.road.roadmap import RoadMap
from cbsim.simulation.annotations import Thoughts
from cbsim.simulation.loop import Run, step_count
from cbsim.viewer.stage import Stage, empty_stage, stage_of
from cbsim.viewer.steering import Controls
from cbsim.viewer.tape import Mark, Tape
from cbsim.world.world import World

__all__ = ["Feed", "Live", "Source", "Still", "Taped"]


class Source(Protocol):
    """What pictures are made of."""

    @property
    def stage(self) -> Stage:
        """What never changes."""

    @property
    def tape(self) -> Tape:
        """What is known of the motion."""

    @property
    def end(self) -> float:
        """When it ends [s]; infinite where nobody knows."""

    @property
    def trouble(self) -> str:
        """What keeps it from going on; empty where nothing does."""

    @property
    def complaints(self) -> Sequence[str]:
        """What went wrong without keeping it from going on: planners that failed to draw."""

    @property
    def controls(self) -> Controls | None:
        """What a user may work in it; None where nothing is to be worked."""

    def reach(self, time: float) -> float:
        """Make known what is up to a time [s], as far as there is; the time until which it is."""


class Still:
    """A network with nothing on it."""

    trouble = ""
    end = 0.0
    controls = None
    complaints: Sequence[str] = ()

    def __init__(self, roadmap: RoadMap) -> None:
        self.stage = empty_stage(roadmap)
        self.tape = Tape(self.stage)

    def reach(self, _time: float) -> float:
        """There is no time in it."""
        return 0.0


class Taped:
    """A recording, read once; one of any size, because a tape leaves out steps where memory would run out.

    Parameters
    ----------
    recording : Recording
    """

    controls = None
    complaints: Sequence[str] = ()

    def __init__(self, recording: Recording) -> None:
        self.recording, self.trouble = recording, ""
        scene = scene_of(recording) if recording.sources else None
        self.stage = stage_of(recording.header, scene)
        self.tape = Tape(self.stage)
        for batch in recording.batches():
            self.tape.take(batch)
        if scene is not None:
            for check in _failures_last(judge(recording, scene).checks):
                _note(self.tape, check)
        if recording.ending:
            self.trouble = f"the recording {recording.ending}"
        self.end = self.tape.last

    def reach(self, time: float) -> float:
        """All of it is known."""
        return min(time, self.end)


class Live:
    """A run of a World, with its judge and its planners, that goes on as far as it is looked at.

    Parameters
    ----------
    world : World
    planner : object, optional
        As in `cbsim.run`.
    """

    def __init__(self, world: World, planner: object = None) -> None:
        self.world, self.trouble = world, ""
        self.stage = stage_of(header_of(world, world.settings.seed), world.scene)
        self.tape = Tape(self.stage)
        self.end = step_count(world.settings.duration, world.step) * world.step
        self.controls = Controls(world)
        self.thoughts = Thoughts(0.0)
        self.feed = Feed(self.tape, world)
        self.run = Run(world, world.start, [], [self.feed], thoughts=self.thoughts)
        self._isolation = PlannerIsolation()
        self._planner = planner
        self._over = False

    def __enter__(self) -> Live:
        self._isolation.__enter__()
        self.run.begin()
        self.run.advance(0)  # hands on what it begins with
        try:
            self.run.seat(drivers_of(self.world, self._planner, self._isolation))
        except PlannerError as error:
            self._fail(error)
        return self

    def __exit__(self, *what: object) -> None:
        self._isolation.__exit__(None, None, None)

    def reach(self, time: float) -> float:
        """Simulate up to a time [s], unless the run is over or has failed before."""
        goal = math.ceil(min(time, self.end) / self.world.step - 1e-9)  # a frame between two steps needs the later one
        while self.run.snapshot.step < goal and not self.trouble:
            self.controls.give(self.run)
            try:
                self.run.advance(1)
            except (PlannerError, StepError) as error:
                self._fail(error)
                break
        if self.tape.last >= self.end - 1e-9 or self.trouble:
            self._finish()
        return self.tape.last

    @property
    def complaints(self) -> Sequence[str]:
        """Of planners that failed to draw."""
        return self.thoughts.complaints

    def _finish(self) -> None:
        """Let the judge decide what only the end of a run decides, once."""
        if not self._over:
            self._over = True
            self.run.end()

    def _fail(self, error: PlannerError | StepError) -> None:
        self.trouble = str(error).strip().splitlines()[-1]
        self.run.fault(error)


class Feed:
    """The listener that puts a run on a tape and has it judged step by step."""

    def __init__(self, tape: Tape, world: World) -> None:
        scene = world.scene
        self.tape = tape
        self.judge = Judge(scene.expectations, scene.roadmap, scene.mission)
        self._told = set[Check]()

    def begin(self, header: Header, snapshot: bytes, sources: Mapping[str, bytes]) -> None:
        """Set the rules up."""
        self.judge.begin(header, snapshot, sources)

    def take(self, batch: Batch) -> None:
        """Put steps on the tape, and what the judge decided of them."""
        self.tape.take(batch)
        self.judge.take(batch)
        self._tell(self.judge.decided)

    def fault(self, name: str, time: float, message: str) -> None:
        """Take a planner's failure in."""
        self.judge.fault(name, time, message)
        self._tell(self.judge.decided)

    def end(self) -> None:
        """Tell what only the end decides."""
        self.judge.end()
        self._tell(self.judge.checks)

    def _tell(self, checks: Sequence[Check]) -> None:
        for check in _failures_last(checks):
            if check not in self._told:
                self._told.add(check)
                _note(self.tape, check)


def _failures_last(checks: Sequence[Check]) -> list[Check]:
    """Put failures behind what passed: of a short list of what is new, they are the last to go."""
    return sorted(checks, key=lambda check: not check.passed)


def _note(tape: Tape, check: Check) -> None:
    """Mark a check at the time and the place where it was decided; what the end decides, at the end."""
    time = tape.last if check.time is None else check.time
    _, _, name = check.name.partition(" ")
    row = next(iter(tape.stage.rows_of(name)), -1)
    place = None
    if row >= 0:
        x, y, _ = tape.at(time).position[row].tolist()
        place = (x, y)
    kind = "passed" if check.passed else "failed"
    tape.note(Mark(time, kind, check.name, check.message, row, place))
