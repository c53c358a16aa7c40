"""Paths of a rare event: runs from the start, or from a mark of another path with another future, bit for bit."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from cbsim.errors import CbsimError, UsageError, did_you_mean
from cbsim.evaluation.judge import Judge
from cbsim.evaluation.outcome import Digest, execute
from cbsim.planner import Driver, Operator, PlannerIsolation, drivers_of
from cbsim.simulation.checkpoints import NO_MEMORIES, NONE_PASSED, memory_of
from cbsim.simulation.loop import Run, RunObserver, drive, step_count
from cbsim.spec.scenario import Expectation
from cbsim.sweep.plan import Plan
from cbsim.sweep.runs.row import LONGEST_TEXT, Runner, bots_of, measured
from cbsim.sweep.runs.streams import require_streams
from cbsim.sweep.space import Point
from cbsim.sweep.splitting import Mark
from cbsim.world.forks import fork
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World

__all__ = ["LEVELS", "LONGEST_CHAIN", "Past", "Path", "PathRunner", "marks_of"]

LEVELS = {"margin.ttc": False, "margin.thw": False, "margin.drac": True, "standoff.clearance": False,
          "speed.fastest": True}  # fmt: skip
"""Metrics that are extremes of moments, so that a run has a level at any time; True for largest values."""
LONGEST_CHAIN = 64  # forks
LOWEST = -1.7976931348623157e308  # level of a run in which there was nothing to measure yet


class Past(NamedTuple):
    """What a path continues from.

    Attributes
    ----------
    snapshot : bytes
    memories, passed : mapping
        Object name → memory of its planner, and checkpoints that it has passed.
    """

    snapshot: bytes
    memories: Mapping[str, bytes]
    passed: Mapping[str, int]


class Path(NamedTuple):
    """A path to be run.

    Attributes
    ----------
    row : int
    repetition : int
    seed : int
    parent : int or None
        Row of the path that it has its past from.
    forks : tuple of (int, int)
        Step and branch of every fork; the last is its own.
    level : float
        Level that it has at its beginning.
    past : Past or None
        Where it begins; None where that is not known, and the path is run from step 0.
    """

    row: int
    repetition: int
    seed: int
    parent: int | None = None
    forks: tuple[tuple[int, int], ...] = ()
    level: float = LOWEST
    past: Past | None = None

    @property
    def values(self) -> tuple[()]:
        """Values of varied keys: none."""
        return ()


class PathRunner(Runner):
    """Runs paths of a plan in this process.

    Parameters
    ----------
    plan : Plan
        With the `search` of `cbsim.sweep.rare_events.rare`.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        how = plan.search
        self.column, self.rises, self.target = how["column"], bool(how["rises"]), float(how["target"])
        self._kept: tuple[int, World] | None = None

    def load(self, settings: Mapping[str, str], seed: int | None) -> World:
        """Load a World that can be forked."""
        return self._loaded(settings, seed, forks=LONGEST_CHAIN)

    def world(self, point: Point | Path) -> tuple[World, tuple[Expectation, ...], int | None]:
        """World of a path, the rule that measures its level, and its seed."""
        seed = point.seed if isinstance(point, Path) else self.plan.seed
        world, rules = self.world_of(dict(self.plan.settings), seed)
        return world, rules, seed

    def _measuring(self, world: World) -> tuple[Expectation, ...]:
        """Find the rule of the level.

        Raises
        ------
        UsageError
            If there is no such metric, or none of a moment.
        """
        name, _, metric = self.column.rpartition(": ")
        bots = bots_of(world)
        if not bots:
            raise UsageError("there is no autonomous object whose metric could be the level of a rare event")
        if name and name not in bots:
            raise UsageError(f"there is no autonomous object '{name}' ({did_you_mean(name, bots) or ', '.join(bots)})")
        if metric not in LEVELS:
            hint = did_you_mean(metric, LEVELS) or f"these are {', '.join(LEVELS)}"
            raise UsageError(f"'{metric}' is no metric that is the extreme of a moment ({hint})")
        if LEVELS[metric] != self.rises:
            way = "a largest value: give --at-least" if LEVELS[metric] else "a smallest value: give --at-most"
            raise UsageError(f"'{metric}' is {way}")
        rules = tuple(one for one in super()._measuring(world) if one.rule == metric.partition(".")[0])
        rules = tuple(one for one in rules if one["object"] == (name or bots[0]))
        if not rules:
            raise UsageError(f"'{self.column}' cannot be measured in this scenario")
        return rules

    def columns(self, point: Point) -> tuple[list[str], list[str]]:
        """Name the columns of checks, which there are none of, and of the metric that is the level."""
        world, _, _ = self.world(point)
        require_streams(world)
        return [], [self.column]

    def require_planner(self, world: World) -> None:
        """Refuse a planner that cannot be continued.

        Raises
        ------
        UsageError
            If it has no `save` or no `restore`.
        """
        with PlannerIsolation() as isolation:
            for driver in drivers_of(world, None, isolation):
                missing = [one for one in ("save", "restore") if not callable(getattr(driver.planner, one, None))]
                if isinstance(driver, Operator) or missing:
                    lack = "is a controller of a model" if isinstance(driver, Operator) else (
                        f"has no method {' and no '.join(missing)}"
                    )  # fmt: skip
                    raise UsageError(f"runs are forked while they run: the planner of '{driver.name}' {lack}")

    def run(self, point: Any, record: str | None = None) -> dict[str, Any]:
        """Run a path, and return its row; a recording is made by a run from step 0.

        Raises
        ------
        UsageError
            If the path cannot be begun at all.
        """
        path: Path = point
        began = time.perf_counter()
        row: dict[str, Any] = {"row": path.row, "seed": path.seed, "repetition": path.repetition}
        at, branch = path.forks[-1] if path.forks else (0, 0)
        row |= {"parent": path.parent, "fork_step": at, "branch": branch, "forks": json.dumps(path.forks)}
        try:
            row |= self._run(path)
            if record is not None:
                world, _, _ = self.world(path)
                execute(world, seed=path.seed, record=record, start=_started(world, path.seed, path.forks))
        except CbsimError as error:
            row |= {"verdict": "error", "failure": str(error)[:LONGEST_TEXT]}
        return row | {"wall_time": time.perf_counter() - began, "host": platform.node()}

    def _run(self, path: Path) -> dict[str, Any]:
        world, rules, _ = self.world(path)
        if path.forks:
            past = path.past or self._past(world, path)
            start = _forked(world.restore(past.snapshot), *path.forks[-1])
        else:
            past, start = Past(b"", NO_MEMORIES, NONE_PASSED), _started(world, path.seed, ())
        first = start.step
        judge, digest = Judge(rules, world.scene.roadmap, world.scene.mission), Digest(world)
        total = step_count(world.settings.duration, world.step)
        run = Run(world, start, [], [judge, digest], record_scans=False)
        watch = _Levels(self, world, judge, path.level)
        with suppress(_Reached):
            drive(run, total - first, None, None, watch, past.memories, past.passed)
        value = self.value_of(watch.marks[-1].level)
        return {
            "verdict": "fail" if watch.marks[-1].level >= self.target else "pass",
            "failure": "", self.column: value, "digest": digest.text, "steps": run.snapshot.step,
            "time": run.snapshot.time, "cost": (run.snapshot.step - first) / max(total, 1),
            "marks": json.dumps(watch.marks), "pasts": watch.pasts,
        }  # fmt: skip

    def _past(self, world: World, path: Path) -> Past:
        """Make anew what a path continues from, by a run from step 0."""
        at, _ = path.forks[-1]
        run = Run(world, _started(world, path.seed, path.forks[:-1]), [], [], record_scans=False)
        found: list[Past] = []
        with suppress(_Reached):
            drive(run, at, None, None, _Until(at, found))
        return found[0] if found else Past(run.snapshot.to_bytes(), NO_MEMORIES, NONE_PASSED)

    def level_of(self, value: float | None) -> float:
        """Level of a value of the metric: the larger, the nearer to the event."""
        return LOWEST if value is None else value if self.rises else -value

    def value_of(self, level: float) -> float | None:
        """Value of the metric at a level."""
        return None if level == LOWEST else level if self.rises else -level


class _Reached(Exception):  # noqa: N818 - no error: a run has come to where it is to end
    """A run has come to where it is to end."""


class _Levels(RunObserver):
    """Notes when the running level rises, and ends the run at the target.

    Attributes
    ----------
    marks : list of Mark
    pasts : list of Past
        What a path continues from that leaves this one there.
    """

    listeners = ()

    def __init__(self, runner: PathRunner, world: World, judge: Judge, level: float) -> None:
        self._runner, self._world, self._judge = runner, world, judge
        self._every = max(1, round(float(runner.plan.search["every"]) / world.step))
        self._last = step_count(world.settings.duration, world.step)
        self._level = level
        self.marks: list[Mark] = []
        self.pasts: list[Past] = []

    def on_start(self, run: Run) -> None:
        self._mark(run)

    def on_step(self, run: Run) -> None:
        step = run.snapshot.step
        if step % self._every and step != self._last:
            return
        value = measured(self._judge.rules, self._world)[self._runner.column]
        level = self._runner.level_of(value)
        if level > self._level:
            self._level = level
            self._mark(run)
            if level >= self._runner.target:
                raise _Reached

    def _mark(self, run: Run) -> None:
        self.marks.append(Mark(run.snapshot.step, self._level))
        self.pasts.append(_past_of(run))


class _Until(RunObserver):
    """Takes what a path continues from at a step, and ends the run there."""

    listeners = ()

    def __init__(self, step: int, found: list[Past]) -> None:
        self._step, self._found = step, found

    def on_start(self, run: Run) -> None:
        self.on_step(run)

    def on_step(self, run: Run) -> None:
        if run.snapshot.step == self._step:
            self._found.append(_past_of(run))
            raise _Reached


def _past_of(run: Run) -> Past:
    """Take Snapshot and memories of a run between two steps."""
    memories, passed = memory_of(run.snapshot, [one for one in run.drivers if isinstance(one, Driver)], run.views)
    return Past(run.snapshot.to_bytes(), memories, passed)


def _started(world: World, seed: int, forks: Sequence[tuple[int, int]]) -> Snapshot:
    """Start of a run that will be forked at some steps."""
    start = world.start.copy()
    start.columns.seed[0] = seed
    for step, branch in forks:
        start = fork(start, branch, step)
    return start


def _forked(snapshot: Snapshot, step: int, branch: int) -> Snapshot:
    """Fork a Snapshot, in place of a fork at the same step: nothing has happened in that one."""
    rows = snapshot.columns.fork
    rows[rows[:, 0] >= step] = 0
    return fork(snapshot, branch)


def marks_of(row: Mapping[str, Any]) -> list[Mark]:
    """Read the marks of a row."""
    return [Mark(int(step), float(level)) for step, level in json.loads(row["marks"] or "[]")]
