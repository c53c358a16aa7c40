"""Verdicts: every expectation of a scenario watched over the batches of a run, live or from a recording."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from cbsim.errors import RecordingError
from cbsim.evaluation.rules import RULES, Check, Context, Rule
from cbsim.evaluation.summary import Summary, Verdict
from cbsim.loading.load import load_scene
from cbsim.loading.request import Request
from cbsim.paths import StoredFiles
from cbsim.recording.batch import Batch, Header
from cbsim.recording.messages import SIMULATOR
from cbsim.recording.recording import Recording
from cbsim.road.roadmap import RoadMap
from cbsim.spec.mission import Mission
from cbsim.spec.scenario import Expectation
from cbsim.world.scene import Scene

__all__ = ["Judge", "Verdict", "judge", "scene_of"]

GATHER = 128  # steps shown to the rules at once, where they come one by one: a look costs as much for one as for many


class Judge:
    """A listener of a run that decides its expectations.

    Parameters
    ----------
    expectations : tuple of Expectation
    roadmap : RoadMap, optional
        Lanes, waypoints and stop lines.
    mission : Mission, optional
        Checkpoints and speed limits.
    """

    def __init__(
        self, expectations: tuple[Expectation, ...], roadmap: RoadMap | None = None, mission: Mission | None = None
    ) -> None:
        self._expectations = expectations
        self._roadmap, self._mission = roadmap, mission
        self._rules: list[Rule] = []
        self._waiting: list[Batch] = []
        self._gathered = 0
        self._scenario, self._step, self._steps = "", 0.0, 0
        self._names: list[str] = []
        self._moving: list[int] = []
        self._broken: Check | None = None
        self.faults: list[Check] = []

    def begin(self, header: Header, _snapshot: bytes, _sources: Mapping[str, bytes]) -> None:
        """Set up the rules."""
        self._scenario, self._step = header.scenario, header.step
        context = Context(header, self._roadmap, self._mission)
        self._names, self._moving = context.names, list(header.moving)
        self._rules = [RULES[e.rule](e, context) for e in self._expectations]

    def take(self, batch: Batch) -> None:
        """Gather steps, and show them to every rule that is not decided yet."""
        self._waiting.append(batch)
        self._gathered += len(batch.hashes)
        self._steps = batch.first_step + len(batch.hashes) - 1
        if self._gathered >= GATHER:
            self._look()

    def end(self) -> None:
        """Show the last steps."""
        self._look()

    def _look(self) -> None:
        waiting, self._waiting, self._gathered = self._waiting, [], 0
        if not waiting or self._broken is not None:
            return
        batch = self._finite(_joined(waiting))
        open_rules = [rule for rule in self._rules if not rule.decided]
        if len(batch.hashes) and open_rules:
            with np.errstate(
                divide="warn", over="warn", under="ignore", invalid="warn"
            ):  # a planner may have changed it
                for rule in open_rules:
                    rule.see(batch)

    def _finite(self, batch: Batch) -> Batch:
        """Cut off what comes after the last step that is made of finite numbers: nothing follows from it."""
        sound = np.asarray(np.isfinite(batch.motion).all(axis=2))
        contacts = np.isfinite(batch.contacts).all()
        if contacts and sound.all():
            return batch
        last = int(np.argmin(sound.all(axis=1))) if contacts else 0
        time = float(batch.steps[last] * self._step)
        who = f"the motion of '{self._names[self._moving[int(np.argmin(sound[last]))]]}'" if contacts else "a contact"
        self._broken = Check(SIMULATOR, False, time, f"{who} is not finite at {time:.2f} s: nothing follows from that")
        before = batch.contacts[:, 0] <= (batch.first_step + last - 1 + 1e-9) * self._step
        return Batch(batch.first_step, batch.hashes[:last], batch.motion[:last], contacts=batch.contacts[before])

    def fault(self, name: str, time: float, message: str) -> None:
        """Note a failure of the driver itself, which counts against it, or of the simulator, which does not."""
        self.faults.append(Check(name, False, time, message))

    @property
    def checks(self) -> list[Check]:
        """Results, in the order of the scenario; failures of the driver and of the simulator last."""
        self._look()
        broken = [] if self._broken is None else [self._broken]
        return [*(self._result(rule) for rule in self._rules), *self.faults, *broken]

    @property
    def _failures(self) -> list[Check]:
        """What the simulator failed with."""
        told = [fault for fault in self.faults if fault.name == SIMULATOR]
        return told if self._broken is None else [self._broken, *told]

    def _result(self, rule: Rule) -> Check:
        """Decide a rule; where the simulator failed, only what was decided before that holds."""
        failures = self._failures
        if rule.decided or not failures:
            return rule.result()
        return Check(rule.name, False, failures[0].time, "cannot be judged: the simulator failed")

    @property
    def decided(self) -> list[Check]:
        """Results that nothing can change any more, as they are known after the last step that was taken."""
        self._look()
        return [*(rule.result() for rule in self._rules if rule.decided), *self.faults]

    @property
    def verdict(self) -> Verdict:
        """``pass`` if every check passed; ``error`` if the simulator failed; else ``fail``."""
        checks = self.checks
        if self._failures:
            return "error"
        return "pass" if all(check.passed for check in checks) else "fail"

    @property
    def summary(self) -> Summary:
        """What people see of it."""
        took = f"{self._steps * self._step:g} s in {self._steps} steps"
        return Summary(self._scenario, self.verdict, took, tuple(self.checks))

    def __repr__(self) -> str:
        return self.summary.text

    def _repr_html_(self) -> str:
        return self.summary.html


def _joined(batches: list[Batch]) -> Batch:
    """Put consecutive batches together, as far as rules look at them."""
    if len(batches) == 1:
        return batches[0]
    return Batch(
        batches[0].first_step,
        np.concatenate([batch.hashes for batch in batches]),
        np.concatenate([batch.motion for batch in batches]),
        contacts=np.concatenate([batch.contacts for batch in batches]),
    )


def judge(recording: Recording | str | Path, scene: Scene | None = None) -> Judge:
    """Decide from a recording alone what its scenario expects.

    Parameters
    ----------
    recording : Recording or path
        A file is opened.
    scene : Scene, optional
        Whose expectations count; by default that of the files which the recording carries.

    Returns
    -------
    Judge
        With its `checks` and its `verdict`, the same as those of the run, a planner's own failures included.

    Raises
    ------
    RecordingError
        If it carries no files, or breaks off before its first Snapshot.
    """
    recording = recording if isinstance(recording, Recording) else Recording.open(recording)
    scene = scene_of(recording) if scene is None else scene
    found = Judge(scene.expectations, scene.roadmap, scene.mission)
    found.begin(recording.header, recording.snapshot, recording.sources)
    for batch in recording.batches():
        found.take(batch)
    for fault in recording.faults:
        found.fault(*fault)
    found.end()
    return found


def scene_of(recording: Recording) -> Scene:
    """Read the files that a recording carries.

    Raises
    ------
    RecordingError
        If it carries none, or breaks off before its first Snapshot.
    FileError
        If one of them is missing or has errors.
    """
    recording.require_snapshot()
    if not recording.sources:
        raise RecordingError("this recording carries no source files: it was made of a World built by hand")
    try:
        request = Request(**recording.header.request)
    except TypeError as reason:
        raise RecordingError(f"{recording.path}: error: the header's request is damaged: {reason}") from None
    return load_scene(request, files=StoredFiles(recording.sources, request.environment))
