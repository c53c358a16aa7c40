"""`Judge`: evaluation of a scenario's expectations over the batches of a run, live or from a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cbsim.errors import RecordingError
from cbsim.evaluation.rules import RULES, Check, Context, Rule
from cbsim.evaluation.score import ScoreResult, gate_line, term_line
from cbsim.evaluation.summary import Summary, Verdict
from cbsim.loading.load import load_scene
from cbsim.loading.request import Request
from cbsim.paths import StoredFiles
from cbsim.recording.batch import Batch, Header
from cbsim.recording.messages import SIMULATOR
from cbsim.recording.recording import Recording
from cbsim.road.roadmap import RoadMap
from cbsim.spec.mission import Mission
from cbsim.spec.scenario import NO_SCORE, Expectation, Score
from cbsim.world.scene import Scene

__all__ = ["Judge", "Verdict", "judge", "scene_of"]

GATHER = 256  # steps are collected at least up to this number: rules take as long for one step as for many,
MOST_STEPS = 2048  # and beyond it up to that many,
MOST_NUMBERS = 1 << 18  # as long as their motion has few numbers (2 MiB)


class Judge:
    """A recorder that evaluates the expectations of a run.

    Parameters
    ----------
    expectations : tuple of Expectation
    roadmap : RoadMap, optional
        Lanes, waypoints and stop lines.
    mission : Mission, optional
        Checkpoints and speed limits.
    score : Score, optional
        Number for the whole run.
    measured : tuple of Expectation, optional
        Rules that measure besides; their results count for nothing.
    """

    def __init__(
        self,
        expectations: tuple[Expectation, ...],
        roadmap: RoadMap | None = None,
        mission: Mission | None = None,
        score: Score = NO_SCORE,
        measured: tuple[Expectation, ...] = (),
    ) -> None:
        self._expectations, self._score, self._to_measure = expectations, score, measured
        self._scored: list[Rule] = []  # rules of the score, in its order
        self._roadmap, self._mission = roadmap, mission
        self._rules: list[Rule] = []
        self._measured: list[Rule] = []
        self._waiting: list[Batch] = []
        self._gathered = self._numbers = 0  # steps that wait, and numbers of their motion
        self._scenario, self._step, self._steps = "", 0.0, 0
        self._names: Sequence[str] = []
        self._moving = np.zeros(0, np.int64)
        self._context: Context | None = None
        self._broken: Check | None = None
        self._restarts: list[tuple[int, int]] = []  # not shown yet: step before it, and row
        self.faults: list[Check] = []
        self._checked: list[Check] | None = None  # results of the rules, as long as nothing new is known

    @property
    def rules(self) -> list[Rule]:
        """Rules of the run, in the order of the expectations."""
        self._look()
        return self._rules

    @property
    def measured(self) -> list[Rule]:
        """Rules that measure besides, in their order."""
        self._look()
        return self._measured

    def begin(self, header: Header, _snapshot: bytes, _sources: Mapping[str, bytes]) -> None:
        """Create the rules."""
        self._scenario, self._step = header.scenario, header.step
        context = Context(header, self._roadmap, self._mission)
        self._names, self._moving = header.objects.names, np.array(header.moving, np.int64)
        self._context = context
        self._rules, self._checked = [RULES[e.rule](e, context) for e in self._expectations], None
        made: list[Rule] = list(self._rules)
        self._scored = []
        for one in self._score.expectations:  # equal rules are evaluated once
            rule = next((rule for rule in made if rule.expectation == one), None)
            rule = RULES[one.rule](one, context) if rule is None else rule
            made.append(rule)
            self._scored.append(rule)
        self._measured = [RULES[one.rule](one, context) for one in self._to_measure]

    def take(self, batch: Batch) -> None:
        """Collect steps, and pass them to all undecided rules."""
        if batch.scans or batch.readings:  # no rule looks at these, and they are large
            batch = replace(batch, scans=[], readings=[])
        self._waiting.append(batch)
        self._gathered += len(batch.hashes)
        self._numbers += batch.motion.size
        self._steps = batch.first_step + len(batch.hashes) - 1
        if self._gathered >= GATHER and (self._gathered >= MOST_STEPS or self._numbers >= MOST_NUMBERS):
            self._look()

    def end(self) -> None:
        """Pass on the last steps."""
        self._look()

    def _look(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._gathered = self._numbers = 0
        if not waiting or self._broken is not None:
            return
        self._checked = None
        joined = Batch.joined(waiting)
        sound = self._finite(joined)
        if self._context is None:  # not begun: there are no rules
            return
        self._context.roster.take(joined.events)
        self._restarts += self._context.run_states.take(joined.events)
        self._find_cars(self._context)
        self._show(sound)

    def _find_cars(self, context: Context) -> None:
        """Create the rules about cars of flows anew when these have appeared, and their rows are known."""
        for rule in self._open_rules:
            if rule.has_appeared or not context.is_of_flow(rule.subject) or context.roster.span(rule.subject) is None:
                continue
            found = RULES[rule.expectation.rule](rule.expectation, context)
            self._rules = [found if one is rule else one for one in self._rules]
            self._scored = [found if one is rule else one for one in self._scored]
            self._measured = [found if one is rule else one for one in self._measured]

    @property
    def _open_rules(self) -> list[Rule]:
        """Rules that are undecided, each once."""
        every = {id(rule): rule for rule in (*self._rules, *self._scored, *self._measured)}
        return [rule for rule in every.values() if not rule.decided]

    def _show(self, batch: Batch) -> None:
        """Pass steps to the rules that are undecided, in parts in which no object appears, leaves or is restarted."""
        first, count = batch.first_step, len(batch.hashes)
        presence = [(rule, rule.presence(batch)) for rule in self._open_rules]
        ends = {step + 1 - first for step, _ in self._restarts} | {count}
        for present in {id(one): one for _, one in presence}.values():  # rules about one object share theirs
            ends.update((1 + np.flatnonzero(present[1:] != present[:-1])).tolist())
        begin = 0
        for end in sorted(end for end in ends if 0 < end <= count):
            part = batch
            if end < count:
                part, batch = parted(batch, end - begin, self._step)
            self._show_part(part, [(rule, bool(present[begin])) for rule, present in presence if not rule.decided])
            begin = end

    def _show_part(self, batch: Batch, presence: list[tuple[Rule, bool]]) -> None:
        """Pass steps to rules whose objects are there at all of them, or at none."""
        assert self._context is not None
        for _, row in [one for one in self._restarts if one[0] < batch.first_step]:
            self._context.begin_anew(row)  # the step after it is the first at the other place
            for rule, _ in presence:
                if row in rule.rows:
                    rule.forget()
        self._restarts = [one for one in self._restarts if one[0] >= batch.first_step]
        for rule, is_present in presence:
            if is_present and not rule.is_present and rule.rows:
                self._context.begin_anew(rule.row)
            rule.is_present, rule.has_appeared = is_present, rule.has_appeared or is_present
        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):  # a planner may have changed it
            for rule, is_present in presence:
                if is_present:
                    rule.see(batch)
                else:
                    rule.see_absent(batch)

    def _finite(self, batch: Batch) -> Batch:
        """Truncate a batch after its last step of finite numbers."""
        finite = np.isfinite(batch.motion)
        contacts = np.isfinite(batch.contacts).all()
        if contacts and finite.all():
            return batch
        sound = np.asarray(finite.all(axis=2))
        last = int(np.argmin(sound.all(axis=1))) if contacts else 0
        time = float(batch.steps[last] * self._step)
        rows = self._moving if batch.rows is None else batch.rows
        what = f"the motion of '{self._names[int(rows[np.argmin(sound[last])])]}'" if contacts else "a contact"
        message = f"{what} is not finite at {time:.2f} s; the run is not judged from there on"
        self._broken = Check(SIMULATOR, False, time, message)
        before = batch.contacts[:, 0] <= (batch.first_step + last - 1 + 1e-9) * self._step
        return replace(batch.part(0, last), contacts=batch.contacts[before])

    def fault(self, name: str, time: float, message: str) -> None:
        """Note a failure of the planner, which fails the run, or of the simulator, which makes the verdict an error."""
        self.faults.append(Check(name, False, time, message))
        self._checked = None

    @property
    def checks(self) -> list[Check]:
        """Results in the order of the scenario, then failures of planner and simulator."""
        self._look()
        broken = [] if self._broken is None else [self._broken]
        if self._checked is None:
            self._checked = [self._result(rule) for rule in self._rules]
        return [*self._checked, *self.faults, *broken]

    @property
    def _failures(self) -> list[Check]:
        """Failures of the simulator."""
        told = [fault for fault in self.faults if fault.name == SIMULATOR]
        return told if self._broken is None else [self._broken, *told]

    def _result(self, rule: Rule) -> Check:
        """Evaluate a rule; if the simulator failed, only rules decided before that have a result."""
        failures = self._failures
        if rule.decided or not failures:
            check = rule.result()
            if rule.has_appeared or not self._steps:
                return check
            return replace(check, message=f"{check.message}; '{rule.subject}' was never there")
        return Check(rule.name, False, failures[0].time, "cannot be judged: the simulator failed")

    @property
    def decided(self) -> list[Check]:
        """Final results, as known after the last step."""
        self._look()
        return [*(rule.result() for rule in self._rules if rule.decided), *self.faults]

    @property
    def verdict(self) -> Verdict:
        """``pass`` if every check passed, ``fail`` if one failed.

        ``error`` if the simulator failed, or if none failed and one is undecided.
        """
        checks = self.checks
        if self._failures:
            return "error"
        if any(check.passed is False for check in checks):
            return "fail"
        return "pass" if all(check.passed for check in checks) else "error"

    @property
    def score(self) -> ScoreResult | None:
        """Score of the run; None if the scenario has none, or the simulator failed."""
        self._look()
        if not self._scored or self._failures:
            return None
        count = len(self._score.gates)
        terms = zip(self._scored[count:], self._score.mean, strict=True)
        return ScoreResult(
            tuple(gate_line(rule) for rule in self._scored[:count]), tuple(term_line(*one) for one in terms)
        )

    @property
    def summary(self) -> Summary:
        """Summary for people."""
        took = f"{self._steps * self._step:g} s in {self._steps} steps"
        return Summary(self._scenario, self.verdict, took, tuple(self.checks), score=self.score)

    def __repr__(self) -> str:
        return self.summary.text

    def _repr_html_(self) -> str:
        return self.summary.html


def parted(batch: Batch, count: int, step: float) -> tuple[Batch, Batch]:
    """Part a batch after some steps, with the contacts, events and commands of each part."""
    last = (batch.first_step + count - 1 + 1e-9) * step
    early, told = batch.contacts[:, 0] <= last, batch.events[:, 0] < batch.first_step + count - 1
    given = [one for one in batch.commands if one[0] < batch.first_step + count - 1]
    before = replace(batch.part(0, count), contacts=batch.contacts[early], events=batch.events[told], commands=given)
    rest = batch.commands[len(given) :]
    return before, replace(
        batch.part(count), contacts=batch.contacts[~early], events=batch.events[~told], commands=rest
    )


def judge(recording: Recording | str | Path, scene: Scene | None = None) -> Judge:
    """Evaluate the expectations of a recording's scenario.

    Parameters
    ----------
    recording : Recording or path
        A path is opened.
    scene : Scene, optional
        Scene with the expectations; by default that of the files in the recording.

    Returns
    -------
    Judge
        With `checks` and `verdict` equal to those of the run, including failures of planners.

    Raises
    ------
    RecordingError
        If it has no source files, or is truncated before its first Snapshot.
    """
    recording = recording if isinstance(recording, Recording) else Recording.open(recording)
    scene = scene_of(recording) if scene is None else scene
    found = Judge(scene.expectations, scene.roadmap, scene.mission, scene.score)
    found.begin(recording.header, recording.snapshot, recording.sources)
    for batch in recording.batches():
        found.take(batch)
    for fault in recording.faults:
        found.fault(*fault)
    found.end()
    return found


def scene_of(recording: Recording) -> Scene:
    """Read the Scene of a recording from its source files.

    Raises
    ------
    RecordingError
        If it has none, or is truncated before its first Snapshot.
    FileError
        If one of them is missing or has errors.
    """
    recording.require_snapshot()
    if not recording.sources:
        raise RecordingError("this recording has no source files: its World was built in Python")
    try:
        request = Request(**recording.header.request)
    except TypeError as reason:
        raise RecordingError(f"{recording.path}: error: the header's request is damaged: {reason}") from None
    return load_scene(request, files=StoredFiles(recording.sources, request.environment))
