"""Shipped scenarios, whole and broken: a `Break` is one change to one of them, and what has to come of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import cbsim
from cbsim.evaluation.outcome import Outcome, execute
from cbsim.planner.pilot import Pilot
from cbsim.spec.scenario import Expectation
from tests.common import ROOT

FOLDER = ROOT / "scenarios"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


@dataclass(frozen=True)
class Break:
    """One thing that a scenario shows, broken.

    Attributes
    ----------
    scenario : str
        Its name.
    what : str
        What is broken, in a few words.
    fails : tuple of str
        Labels of the expectations that must fail, and of no others.
    may : tuple of str
        Labels of those that may fail besides: what a crash brings with it is no matter of this test.
    settings : dict
        As `--set` takes them.
    edits : tuple of (file, old, new)
        Replacements in a copy of the scenario and its object files.
    driver : callable or None
        Makes the planner that drives the first bot instead.
    """

    scenario: str
    what: str
    fails: tuple[str, ...]
    settings: dict[str, object] = field(default_factory=dict)
    edits: tuple[tuple[str, str, str], ...] = ()
    driver: Callable[[], Pilot] | None = None
    may: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.scenario}-{self.what.replace(' ', '_')}"


def label(expectation: Expectation) -> str:
    """Rule, object or event, and place of an expectation: ``reach Taxi 1.1.8``."""
    arguments = dict(expectation.arguments)
    position = arguments.get("position")
    at = "" if position is None else "({:g}, {:g})".format(*position[:2])
    parts = [expectation.rule, arguments.get("object"), arguments.get("name"), arguments.get("waypoint"), at]
    return " ".join(str(part) for part in parts if part)


def labels(outcome: Outcome) -> list[str]:
    """Of all expectations, in the order of the checks."""
    return [label(expectation) for expectation in outcome.world.scene.expectations]


def failing(outcome: Outcome) -> set[str]:
    """Labels of the expectations that did not come true."""
    pairs = zip(labels(outcome), outcome.checks, strict=True)
    return {name for name, check in pairs if not check.passed}


def run_broken(case: Break, folder: Path) -> Outcome:
    """Run a scenario with its change, in a copy of the scenarios if a file is edited."""
    path: str | Path = case.scenario
    if case.edits:
        copy = folder / "scenarios"
        shutil.copytree(FOLDER, copy)
        for name, old, new in case.edits:
            file = copy / name
            text = file.read_text(encoding="utf-8")
            assert text.count(old) == 1, f"{name} has {text.count(old)} times {old!r}"
            file.write_text(text.replace(old, new), encoding="utf-8")
        path = copy / f"{case.scenario}.yaml"
    planner = None if case.driver is None else case.driver()
    return execute(cbsim.load(path, settings=case.settings), planner=planner)
