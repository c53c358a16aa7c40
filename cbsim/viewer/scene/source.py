"""Sources of the viewer: a static network, a recording, or a live run.

All are a `Source`. A live run is simulated further when a later time is requested. Everything shown is read from the
source's timeline, so going back and scrubbing never affect the run.
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
from cbsim.simulation.annotations import PlannerAnnotations
from cbsim.simulation.loop import Run, step_count
from cbsim.viewer.scene.model_controls import ModelControls
from cbsim.viewer.scene.stage import Stage, empty_stage, stage_of
from cbsim.viewer.scene.timeline import Timeline, TimelineEvent
from cbsim.world.motion import ABSENT_BELOW
from cbsim.world.world import World

__all__ = ["LiveSource", "NetworkSource", "RecordingSource", "Source", "TimelineRecorder"]


class Source(Protocol):
    """Data shown by the viewer."""

    @property
    def stage(self) -> Stage:
        """Static part."""

    @property
    def timeline(self) -> Timeline:
        """Recorded motion."""

    @property
    def end(self) -> float:
        """End time [s]; infinite if unknown."""

    @property
    def error(self) -> str:
        """Error that stopped the source; empty if there is none."""

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings that did not stop it, such as planners whose ``draw`` failed."""

    @property
    def controls(self) -> ModelControls | None:
        """Model inputs, or None if there are none."""

    def advance_to(self, time: float) -> float:
        """Make data available up to a time [s] if possible; returns the latest available time [s]."""


class NetworkSource:
    """A network without objects."""

    error = ""
    end = 0.0
    controls = None
    warnings: Sequence[str] = ()

    def __init__(self, roadmap: RoadMap) -> None:
        self.stage = empty_stage(roadmap)
        self.timeline = Timeline(self.stage)

    def advance_to(self, _time: float) -> float:
        """Return 0: a network has no time."""
        return 0.0


class RecordingSource:
    """A recording, read once; long ones are thinned to fit into memory.

    Parameters
    ----------
    recording : Recording
    """

    controls = None
    warnings: Sequence[str] = ()

    def __init__(self, recording: Recording) -> None:
        self.recording, self.error = recording, ""
        scene = scene_of(recording) if recording.sources else None
        self.stage = stage_of(recording.header, scene)
        self.timeline = Timeline(self.stage)
        for batch in recording.batches():
            self.timeline.add(batch)
        if scene is not None:
            for check in _failures_last(judge(recording, scene).checks):
                _note(self.timeline, check)
        if recording.ending:
            self.error = f"the recording {recording.ending}"
        self.end = self.timeline.last

    def advance_to(self, time: float) -> float:
        """Return the time, at most the end; everything is loaded."""
        return min(time, self.end)


class LiveSource:
    """A run of a World with its planners and checks, simulated on demand.

    Parameters
    ----------
    world : World
    planner : object, optional
        As in `cbsim.run`.
    """

    def __init__(self, world: World, planner: object = None) -> None:
        self.world, self.error = world, ""
        self.stage = stage_of(header_of(world, world.settings.seed), world.scene)
        self.timeline = Timeline(self.stage)
        self.end = step_count(world.settings.duration, world.step) * world.step
        self.controls = ModelControls(world)
        self.annotations = PlannerAnnotations(0.0)
        self.feed = TimelineRecorder(self.timeline, world)
        self.run = Run(world, world.start, annotations=self.annotations, onlookers=[self.feed])
        self._isolation = PlannerIsolation()
        self._planner = planner
        self._over = False

    def __enter__(self) -> LiveSource:
        self._isolation.__enter__()
        self.run.begin()
        self.run.advance(0)  # delivers the initial state
        try:
            self.run.seat(drivers_of(self.world, self._planner, self._isolation))
        except PlannerError as error:
            self._fail(error)
        return self

    def __exit__(self, *what: object) -> None:
        self._isolation.__exit__(None, None, None)

    def advance_to(self, time: float) -> float:
        """Simulate up to a time [s], unless the run has ended or failed."""
        goal = math.ceil(min(time, self.end) / self.world.step - 1e-9)  # a frame between two steps needs the later one
        while self.run.snapshot.step < goal and not self.error and not self.run.is_over:
            self.controls.apply(self.run)
            try:
                self.run.advance(1)
            except (PlannerError, StepError) as error:
                self._fail(error)
                break
        if self.run.is_over:
            self.end = self.timeline.last  # a mission whose vehicles are disabled ends before its time
        if self.timeline.last >= self.end - 1e-9 or self.error:
            self._finish()
        return self.timeline.last

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings of planners whose ``draw`` failed."""
        return self.annotations.warnings

    def _finish(self) -> None:
        """Evaluate the checks that are decided at the end of the run, once."""
        if not self._over:
            self._over = True
            self.run.end()

    def _fail(self, error: PlannerError | StepError) -> None:
        self.error = str(error).strip().splitlines()[-1]
        self.run.fault(error)


class TimelineRecorder:
    """Recorder that fills a timeline and evaluates checks step by step."""

    def __init__(self, timeline: Timeline, world: World) -> None:
        scene = world.scene
        self.timeline = timeline
        self.judge = Judge(scene.expectations, scene.roadmap, scene.mission)
        self._told = set[Check]()

    def begin(self, header: Header, snapshot: bytes, sources: Mapping[str, bytes]) -> None:
        """Start the evaluation."""
        self.judge.begin(header, snapshot, sources)

    def take(self, batch: Batch) -> None:
        """Add steps, and the checks that they decide."""
        self.timeline.add(batch)
        self.judge.take(batch)
        self._tell(self.judge.decided)

    def fault(self, name: str, time: float, message: str) -> None:
        """Record a planner's failure."""
        self.judge.fault(name, time, message)
        self._tell(self.judge.decided)

    def end(self) -> None:
        """Add the checks that only the end decides."""
        self.judge.end()
        self._tell(self.judge.checks)

    def _tell(self, checks: Sequence[Check]) -> None:
        for check in _failures_last(checks):
            if check not in self._told:
                self._told.add(check)
                _note(self.timeline, check)


def _failures_last(checks: Sequence[Check]) -> list[Check]:
    """Sort failed checks last, and undecided ones before them: a short list of recent events drops them last."""
    return sorted(checks, key=lambda check: (check.passed is None) + 2 * (check.passed is False))


def _note(timeline: Timeline, check: Check) -> None:
    """Add a check as an event at its time and position; checks decided at the end are placed at the last time."""
    time = timeline.last if check.time is None else check.time
    _, _, name = check.name.partition(" ")
    row = next(iter(timeline.stage.rows_of(name)), -1)
    place = None
    if row >= 0:
        x, y, z = timeline.at(time).position[row].tolist()
        place = (x, y) if z > ABSENT_BELOW else None
    kind = "undecided" if check.passed is None else "passed" if check.passed else "failed"
    timeline.add_event(TimelineEvent(time, kind, check.name, check.message, row, place))
