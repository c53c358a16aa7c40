"""`Trial`: one scenario run as a test, with its own planners or others."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cbsim.errors import CbsimError, Problems, UsageError
from cbsim.spec.planner import named_planner

if TYPE_CHECKING:
    from cbsim.evaluation.outcome import Outcome
    from cbsim.world.world import World

__all__ = ["FailedError", "Trial", "run_trial"]


class FailedError(CbsimError):
    """A scenario's verdict is not ``pass``; its text lists the checks."""


@dataclass
class Trial:
    """Parameters and results of a run.

    Attributes
    ----------
    path : Path
        The scenario.
    planners : tuple of str
        ``[NAME=]module:Class``: planner of a bot by name, or of the first; ignored without such a bot.
    seed, step, deadline : optional
        In place of the scenario's; step and deadline in seconds.
    settings : dict
        Texts of `--set`: of a point of the scenario's sweep.
    record : Path or None
        File of the recording.
    keep : bool
        Keep recordings of runs that pass, too.
    properties : list of (str, object)
        Seed, step, digest and the like, once it has run.
    warnings : list of str
        Warnings about the scenario's files.
    objects : tuple of str
        Names of its objects, once it has been loaded.
    """

    path: Path
    planners: tuple[str, ...] = ()
    seed: int | None = None
    step: float | None = None
    deadline: float | None = None
    settings: dict[str, str] = field(default_factory=dict)
    record: Path | None = None
    keep: bool = False
    properties: list[tuple[str, object]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    objects: tuple[str, ...] = ()


def run_trial(trial: Trial) -> Outcome:
    """Run a scenario.

    Raises
    ------
    FailedError
        If a check, or the planner, fails.
    FileError, UsageError
        If its files, or the planner's name, are unacceptable.
    """
    from cbsim.evaluation.outcome import execute
    from cbsim.loading.load import load

    problems = Problems()
    try:
        world = load(
            trial.path, seed=trial.seed, step=trial.step, deadline=trial.deadline, settings=trial.settings,
            problems=problems,
        )  # fmt: skip
    finally:
        trial.warnings += map(str, problems.warnings)
    trial.objects = tuple(body.name for body in world)
    if trial.record is not None:
        trial.record.parent.mkdir(parents=True, exist_ok=True)
    outcome = execute(world, record=trial.record, planner=planners_of(world, trial.planners))
    trial.properties += [
        ("seed", outcome.snapshot.seed),
        ("step", world.step),
        ("digest", outcome.digest),
        ("verdict", outcome.verdict),
        ("real_time_factor", round(outcome.real_time_factor, 1)),
    ]
    if outcome.verdict != "pass":
        raise FailedError(failure_report(trial, outcome))
    if trial.record is not None and not trial.keep:
        trial.record.unlink(missing_ok=True)
    return outcome


def planners_of(world: World, planners: tuple[str, ...]) -> dict[str, str]:
    """Planner of each bot: that of the command line, else that of the scenario; unknown bots are ignored.

    Raises
    ------
    UsageError
        If two are named for one bot.
    """
    from cbsim.planner.driver import default_driven_object

    first = default_driven_object(world)
    planned = {name or first or "": planner for name, planner in world.settings.planners}
    chosen: dict[str, str] = {}
    for text in planners:
        name, planner = named_planner(text)
        bot = name or first
        if bot is None or bot not in {body.name for body in world} | {instance.name for instance in world.instances}:
            continue
        if bot in chosen:
            raise UsageError(f"two planners for '{bot}': '{chosen[bot]}' and '{planner}'")
        chosen[bot] = planner
    return planned | chosen


def failure_report(trial: Trial, outcome: Outcome) -> str:
    """List the checks of a run that failed, and the command that repeats it."""
    world, snapshot = outcome.world, outcome.snapshot
    ran = f"{outcome.verdict} after {snapshot.time:g} s of {world.settings.duration:g} s"
    lines = [f"{world.name}: {ran} (seed {snapshot.seed}, step {world.step:g} s, digest {outcome.digest})"]
    for check in outcome.checks:
        first, *rest = check.message.splitlines() or [""]
        lines.append(f"  {check.status}  {check.name}: {first}")
        lines += [f"    {line}" for line in rest]
    if trial.record is not None:
        lines.append(f"  recorded to {trial.record}")
    options = [f"--planner {text}" for text in trial.planners]
    options += [f"--{key} {value}" for key in ("seed", "step") if (value := getattr(trial, key)) is not None]
    options += [f"--set {shlex.quote(f'{key}={text}')}" for key, text in trial.settings.items()]
    lines.append(f"  again: {' '.join(['cbsim run', str(trial.path), *options])}")
    return "\n".join(lines)
