"""Linting of several files together: reading, and the rules of each format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cbsim import models
from cbsim.errors import FileError, Problem, Problems, Severity, bounded_hints
from cbsim.formats import Reading, read_as
from cbsim.paths import Files
from cbsim.spec.objects import Controller, TrafficObject
from cbsim.spec.road import RoadNetwork
from cbsim.spec.scenario import Scenario

if TYPE_CHECKING:
    from cbsim.formats.companions import Companions

__all__ = ["lint_files"]

OBJECTS = ("objects-v1", "objects-v2")


def lint_files(
    paths: Iterable[str | Path],
    rndf: str | Path | None,
    problems: Problems,
    *,
    strict: bool,
    progress: Callable[[int], None] = lambda _done: None,
) -> None:
    """Lint files together.

    Parameters
    ----------
    paths : iterable of path
        The files.
    rndf : path or None
        Network of the missions and object files among them; None uses the first network among the files. Its own
        errors are reported, too.
    problems : Problems
        Collects the findings.
    strict : bool
        Missing sensor confs are errors.
    progress : callable, optional
        Called with the number of files read plus the number of files linted: up to twice the number of `paths`.
    """
    named = list(paths)
    files = Files([*named, *([rndf] if rndf is not None else [])])
    readings = []
    for done, path in enumerate(named, 1):
        readings.append(_read(path, files, problems))
        progress(done)
    found = [reading for reading in readings if reading is not None]
    network = _network(rndf, found, files, problems)
    for done, reading in enumerate(readings, len(named) + 1):
        if reading is not None and reading.spec is not None:
            with bounded_hints():
                _lint(reading, network, files, problems, strict=strict)
        progress(done)
    companions = _companions(found, files)
    _extend(problems, (problem for problem in companions if problem.severity is not Severity.INFO))


def _read(path: str | Path, files: Files, problems: Problems) -> Reading | None:
    try:
        reading = models.read_file(path, files)
    except FileError as error:
        problems.extend(error.problems)
        return None
    problems.extend(reading.problems)
    return reading


def _network(rndf: str | Path | None, found: list[Reading], files: Files, problems: Problems) -> RoadNetwork | None:
    """Choose the network that the other files refer to; if it is not among them, report its errors."""
    if rndf is None:
        return next((reading.spec for reading in found if reading.format.name == "rndf"), None)
    own = Problems()
    reading = read_as(("rndf",), rndf, files, own)
    if reading is not None and reading.spec is not None:
        _lint(reading, None, files, own, strict=False)
    if all(one.source.path != str(rndf) or one.format.name != "rndf" for one in found):
        _extend(problems, own.errors)
    return None if reading is None else reading.spec


def _lint(reading: Reading, network: RoadNetwork | None, files: Files, problems: Problems, *, strict: bool) -> None:
    """Apply the rules of one format, imported on demand: checking a conf does not import a geometry library."""
    match reading.format.name:
        case "rndf":
            from cbsim.lint.network import lint_network

            lint_network(reading.spec, problems)
        case "mdf":
            from cbsim.lint.mission import lint_mission

            lint_mission(reading.spec, network, problems)
        case "objects-v1" | "objects-v2":
            from cbsim.lint.objects import lint_objects

            lint_objects(reading.spec, network, files, problems, strict=strict)
        case "scenario":
            from cbsim.lint.planner_modules import lint_planners
            from cbsim.lint.scenario import lint_scenario

            lint_planners(reading.spec, problems)
            lint_scenario(reading.spec, files, problems, strict=strict)
        case name if name in models.MODELS:
            models.lint(reading, files, problems, strict=strict)


def _companions(found: list[Reading], files: Files) -> Problems:
    """Read the confs and meshes that objects refer to, as a run does; return their problems."""
    from cbsim.formats.companions import Companions

    companions = Companions(files, Problems())
    for reading in found:
        if reading.spec is None:
            continue
        if reading.format.name in OBJECTS:
            companions.read(reading.spec.objects, reading.source.folder)
        elif reading.format.name == "scenario":
            companions.read((one.object for one in reading.spec.add), reading.source.folder)
            parts = [(part.spec.objects, part.source.folder) for part in _object_files(reading, files)]
            for items, folder in parts:
                companions.read(items, folder)
            added = tuple(one.object for one in reading.spec.add), reading.source.folder
            _tell_blind_seats(reading.spec, [*parts, added], companions)
    return companions.problems


def _tell_blind_seats(
    scenario: Scenario, parts: list[tuple[tuple[TrafficObject, ...], Path]], companions: Companions
) -> None:
    """Tell planners without truth and receiver, by the confs of the sensors of their bots."""
    from cbsim.lint.scenario_planner import tell_blind_seats

    sensors: dict[str, list[str]] = {}
    for items, folder in parts if scenario.seats else ():
        for item in items:
            if item.controller is Controller.SENSOR:
                confs = (companions.conf(item, mount, folder) for mount in item.sensors)
                sensors[item.name] = [conf.type for conf in confs if conf is not None]
    tell_blind_seats(scenario, sensors, companions.problems)


def _object_files(of: Reading, files: Files) -> Iterator[Reading]:
    """Read the object files that a scenario names; `lint_scenario` reports their problems."""
    from cbsim.formats.scenario import find_named

    for name in of.spec.objects:
        path = find_named("objects", name, of.source.folder, files)
        reading = None if path is None else read_as(OBJECTS, path, files, Problems())
        if reading is not None and reading.spec is not None:
            yield reading


def _extend(problems: Problems, found: Iterable[Problem]) -> None:
    """Add problems that are not reported yet: a conf may be named directly and by an object."""
    known = set(map(str, problems))
    problems.extend(problem for problem in found if str(problem) not in known)
