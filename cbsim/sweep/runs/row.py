"""`Runner`: runs of single points, with Worlds kept while only the seed changes."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from cbsim.errors import CbsimError, Problem, Problems, UsageError, did_you_mean
from cbsim.evaluation.judge import Judge
from cbsim.evaluation.metrics import measuring_rules
from cbsim.evaluation.outcome import Outcome, execute
from cbsim.evaluation.rules import Check, Rule
from cbsim.loading.load import load
from cbsim.planner import PlannerError, PlannerIsolation, drivers_of
from cbsim.recording.header import header_of
from cbsim.spec.metrics import METRICS
from cbsim.spec.scenario import Expectation
from cbsim.sweep.plan import Plan
from cbsim.sweep.space import Point, setting_text
from cbsim.world.world import World

__all__ = ["FORKED", "OUTSIDE", "Runner", "recording_file"]

KEPT_WORLDS = 4
LONGEST_TEXT = 4000  # characters of a failure
FORKED = (
    ("repetition", "int64"), ("parent", "int64"), ("fork_step", "int64"), ("branch", "int64"),
    ("cost", "float64"), ("forks", "string"), ("marks", "string"),
)  # fmt: skip
"""Columns that the rows of rare events have besides those of other sweeps."""
OUTSIDE = ("wall_time", "host")  # columns that differ from run to run


class Runner:
    """Runs points of a plan in this process.

    Parameters
    ----------
    plan : Plan
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.names = tuple(one.key for one in plan.variations)
        self.warnings: list[Problem] = []  # of the last World that was loaded
        self._worlds: dict[tuple[str, ...], tuple[World, tuple[Expectation, ...]]] = {}

    def run(self, point: Point, record: str | None = None) -> dict[str, Any]:
        """Run a point, and return its row; failures of any kind are in the row.

        Parameters
        ----------
        point : Point
        record : str, optional
            File of the recording.
        """
        began = time.perf_counter()
        outcome: Outcome | None = None
        judge: Judge | None = None
        failure, verdict = "", "error"
        try:
            world, rules, seed = self.world(point)
            judge = judge_of(world, rules)
            outcome = execute(world, seed=seed, record=record, judge=judge)
            verdict, failure = outcome.verdict, failure_text(outcome.checks)
        except CbsimError as error:
            failure = str(error)
        except (OSError, MemoryError):
            raise
        except Exception as error:  # a defect in one row is that row's, not the sweep's
            failure = f"a defect of cbsim: {type(error).__name__}: {error}"
        row: dict[str, Any] = {"row": point.row, "verdict": verdict, "failure": failure[:LONGEST_TEXT]}
        row |= {parameter_column(name): value for name, value in zip(self.names, point.values, strict=True)}
        row["seed"] = self.seed_of(point)
        if outcome is not None:
            row |= {"digest": outcome.digest, "steps": outcome.snapshot.step, "time": outcome.snapshot.time}
            row["seed"] = outcome.snapshot.seed
            row["score"] = None if outcome.score is None else outcome.score.value
            row |= {f"check.{name}": check.passed for name, check in named_checks(outcome)}
            if judge is not None:
                row |= measured(judge.measured, outcome.world)
        return row | {"wall_time": time.perf_counter() - began, "host": platform.node()}

    def seed_of(self, point: Point) -> int | None:
        """Seed of a point, where the plan says so."""
        if "seed" in self.names:
            value = point.values[self.names.index("seed")]
            return value if isinstance(value, int) else None
        return self.plan.seed

    def settings(self, point: Point) -> dict[str, str]:
        """Texts of `--set` of a point, without its seed."""
        pairs = zip(self.names, point.values, strict=True)
        return dict(self.plan.settings) | {name: setting_text(value) for name, value in pairs if name != "seed"}

    def world(self, point: Point) -> tuple[World, tuple[Expectation, ...], int | None]:
        """World of a point, rules that measure its bots, and the seed to start it with."""
        if "seed" in self.names and self.seed_of(point) is None:
            raise UsageError(f"the seed is {point.values[self.names.index('seed')]!r}, expected a whole number")
        seed = self.seed_of(point)
        return *self.world_of(self.settings(point), seed), seed

    def world_of(self, settings: dict[str, str], seed: int | None) -> tuple[World, tuple[Expectation, ...]]:
        """World of some settings, kept while they are asked for, and rules that measure its bots."""
        key = tuple(settings.values())
        found = self._worlds.pop(key, None)
        if found is not None and _depends_on_seed(found[0]) and found[0].settings.seed != seed:
            found = None
        if found is None:
            world = self.load(settings, seed)
            found = world, self._measuring(world)
        self._worlds[key] = found
        if len(self._worlds) > KEPT_WORLDS:
            self._worlds.pop(next(iter(self._worlds)))
        return found

    def load(self, settings: Mapping[str, str], seed: int | None) -> World:
        """Load a World of the plan."""
        return self._loaded(settings, seed)

    def _loaded(self, settings: Mapping[str, str], seed: int | None, forks: int = 0) -> World:
        plan = self.plan
        planner = dict(plan.planner) or None
        problems = Problems()
        world = load(
            plan.scenario, settings=settings, planner=planner, seed=seed, problems=problems,
            step=plan.step, duration=plan.duration, deadline=plan.deadline, forks=forks,
        )  # fmt: skip
        self.warnings = problems.warnings
        return world

    def _measuring(self, world: World) -> tuple[Expectation, ...]:
        chosen = self.plan.metrics
        known = [rule for rule, _ in METRICS]
        for name in chosen or ():
            if name not in known:
                hint = did_you_mean(name, known) or f"known are {', '.join(known)}, and 'none'"
                raise UsageError(f"no rule '{name}' that measures ({hint})")
        names = bots_of(world)
        if not names or chosen == ():
            return ()
        rules = measuring_rules(header_of(world, world.settings.seed), world.scene, names)
        return tuple(one for one in rules if chosen is None or one.rule in chosen)

    def columns(self, point: Point) -> tuple[list[str], list[str]]:
        """Name the columns of checks and of metrics that the runs have."""
        world, rules, _ = self.world(point)
        header = header_of(world, world.settings.seed)
        judge = judge_of(world, rules)
        judge.begin(header, b"", {})
        checks = unique([rule.name for rule in judge.rules])
        return [f"check.{name}" for name in checks], list(measured(judge.measured, world))

    def require_planner(self, world: World) -> None:
        """Refuse a planner that does not exist before anything runs; one that fails does so in its rows."""
        with suppress(PlannerError), PlannerIsolation() as isolation:
            drivers_of(world, None, isolation)


def _depends_on_seed(world: World) -> bool:
    """Whether the start of a World depends on its seed in more than the seed itself."""
    return any(pool.is_random for pool in world.scene.pools)


def bots_of(world: World) -> list[str]:
    """Names of the autonomous objects."""
    return [body.name for body in world.bodies.single if str(body.kind) == "autonomous"]


def parameter_column(name: str) -> str:
    """Column of a varied key; a parameter that is called as another column is keeps its whole path."""
    return f"parameters.{name}" if name in TAKEN else name


TAKEN = {"row", "verdict", "failure", "digest", "steps", "time", "score", "version", *OUTSIDE}


def failure_text(checks: Sequence[Check]) -> str:
    """List failed and undecided checks, one a line."""
    return "\n".join(f"{check.name}: {check.message}" for check in checks if not check.passed)


def named_checks(outcome: Outcome) -> list[tuple[str, Check]]:
    """Return the checks of the expectations, with names that are unique."""
    count = len(outcome.world.scene.expectations)
    names = unique([check.name for check in outcome.checks[:count]])
    return list(zip(names, outcome.checks[:count], strict=True))


def unique(names: Sequence[str]) -> list[str]:
    """Add numbers to repeated names.

    >>> unique(["reach Bus", "rest Bus", "reach Bus"])
    ['reach Bus', 'rest Bus', 'reach Bus (2)']
    """
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def judge_of(world: World, rules: tuple[Expectation, ...]) -> Judge:
    """Make the judge of a run, which measures by some rules besides."""
    scene = world.scene
    return Judge(scene.expectations, scene.roadmap, scene.mission, scene.score, rules)


def measured(rules: Sequence[Rule], world: World) -> dict[str, float | None]:
    """Metrics by column: ``margin.ttc`` of the first bot, ``Other: margin.ttc`` of others."""
    first = next(iter(bots_of(world)), "")
    return {
        f"{'' if rule.subject == first else rule.subject + ': '}{rule.expectation.rule}.{one.metric}": one.value
        for rule in rules
        for one in rule.measures()
    }


def recording_file(folder: str | Path, row: int) -> Path:
    """File of the recording of a row."""
    return Path(folder) / "recordings" / f"row-{row}.mcap"
