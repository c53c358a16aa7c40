"""Lint rules for scenarios: the files that they name, names, references to waypoints, and expectations (82x).

The files of a scenario are read and linted, too; of their problems, those that stop a run are reported.
``docs/formats/scenario.md`` documents the codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cbsim.errors import FileError, Location, Problem, Problems, Severity, did_you_mean
from cbsim.formats.scenario import KINDS, find_named
from cbsim.formats.scenario import RULES as EXPECTATIONS
from cbsim.formats.values import quote
from cbsim.lint.mission import lint_mission
from cbsim.lint.objects import lint_objects
from cbsim.lint.rule import Finding, Rule, apply_rules
from cbsim.models import MODELS, read_file
from cbsim.paths import Files, shipped_names
from cbsim.road.address import Addresses, point_sets
from cbsim.spec.mission import Mission
from cbsim.spec.objects import Controller, Kind, ObjectFile, TrafficObject
from cbsim.spec.road import PointId, RoadNetwork
from cbsim.spec.scenario import Placement, Scenario

__all__ = ["RULES", "lint_scenario"]

FORMATS_OF = {
    "network": ("rndf",),
    "mission": ("mdf",),
    "objects": ("objects-v1", "objects-v2"),
    "models": tuple(MODELS),
}
READER_WARNINGS = ("W642",)  # warnings of readers that are reported for the scenario, too
OBJECT_WARNINGS = ("W655", "W669")  # warnings of object files that are reported, too: missing conf, odd values
SPEC: dict[str, type] = {"network": RoadNetwork, "mission": Mission, "objects": ObjectFile, "models": object}


@dataclass
class ScenarioContext:
    """A scenario and the files that it names, each read when first used."""

    scenario: Scenario
    files: Files
    problems: Problems
    given_network: RoadNetwork | None
    given_mission: Mission | None
    given_objects: Sequence[ObjectFile] | None
    strict: bool

    @property
    def folder(self) -> Path:
        return Path(self.scenario.location.path).parent

    def find(self, kind: str, name: str, place: Location) -> Path | None:
        """Find a named file; report a missing one with the nearest name."""
        path = find_named(kind, name, self.folder, self.files)
        if path is None:
            shipped, suffixes = KINDS[kind]
            beside = self.folder.glob("*") if self.files.allows(self.folder) else ()
            names = (name for one in beside if one.suffix in suffixes for name in (one.stem, one.name))
            near = [*names, *shipped_names(shipped, suffixes)]
            self.problems.error("E011", f"no such file '{name}'", place, did_you_mean(name, near))
        return path

    def read(self, kind: str, name: str | None, place: Location) -> Any:
        """Read a named file and report its errors; None if it does not exist or is not usable."""
        path = None if name is None else self.find(kind, name, place)
        if path is None:
            return None
        try:
            reading = read_file(path, self.files, asked_at=place)
        except FileError as error:
            self.problems.extend(error.problems)
            return None
        if reading.format.name not in FORMATS_OF[kind]:
            wanted = " or ".join(FORMATS_OF[kind])
            message = f"this is a file of format '{reading.format.name}', expected {wanted}"
            self.problems.error("E891" if kind == "models" else "E002", message, place)
            return None
        self.problems.extend(
            [*reading.problems.errors, *(p for p in reading.problems.warnings if p.code in READER_WARNINGS)]
        )
        return reading.spec if isinstance(reading.spec, SPEC[kind]) else None

    @cached_property
    def network(self) -> RoadNetwork | None:
        if self.given_network is not None:
            return self.given_network
        network: RoadNetwork | None = self.read("network", self.scenario.network, self.scenario.at("network"))
        return network

    @property
    def roadless(self) -> bool:
        """Whether no network is given at all, as opposed to an unreadable one."""
        return self.scenario.network is None and self.given_network is None

    @property
    def present(self) -> set[str]:
        """Which of network and mission are given, readable or not."""
        road = set() if self.roadless else {"network"}
        given = self.scenario.mission is not None or self.given_mission is not None
        return road | ({"mission"} if given else set())

    @cached_property
    def addresses(self) -> Addresses | None:
        if self.network is None:
            return None
        sets = point_sets(self.network)
        return Addresses(PointId(*key, number) for key, points, _ in sets for number in points.numbers)

    @cached_property
    def object_files(self) -> list[ObjectFile | None]:
        if self.given_objects is not None:
            return list(self.given_objects)
        at = self.scenario.at
        return [self.read("objects", name, at(f"objects.{k}")) for k, name in enumerate(self.scenario.objects)]

    @property
    def named(self) -> list[TrafficObject]:
        """Objects of the object files."""
        return [item for file in self.object_files if file is not None for item in file.objects]

    @property
    def added(self) -> list[TrafficObject]:
        """Objects of the scenario itself."""
        return [addition.object for addition in self.scenario.add]

    @property
    def complete(self) -> bool:
        """Whether all object files were read, so that other names are errors."""
        return all(file is not None for file in self.object_files)


# --- problems of the files that a scenario names ---------------------------------------------------------------------
def _add_problems_of_files(context: ScenarioContext, problems: Problems) -> None:
    """Read the files of a scenario; add the problems of each that concern a run."""
    scenario = context.scenario
    mission = context.read("mission", scenario.mission, scenario.at("mission"))
    if mission is not None and context.network is not None:
        found = Problems()
        lint_mission(mission, context.network, found)
        problems.extend(found.errors)
    inline = ObjectFile("", tuple(context.added), location=scenario.location)
    for file in (*context.object_files, inline):
        if file is not None:
            found = Problems()
            lint_objects(file, context.network, context.files, found, strict=context.strict)
            problems.extend(one for one in found if one.severity is Severity.ERROR or one.code in OBJECT_WARNINGS)
    for number, model in enumerate(scenario.models):
        context.read("models", model.file, scenario.at(f"models.{number}"))


# --- rules -----------------------------------------------------------------------------------------------------------
def _mission_without_network(context: ScenarioContext) -> Iterator[Finding]:
    """E820: a mission without a network."""
    if context.scenario.mission is not None and context.roadless:
        yield Finding("a mission needs a network", context.scenario.at("mission"))


def _duplicates(context: ScenarioContext) -> Iterator[tuple[str, Location, Location]]:
    """Yield names that several entries use, with the place and the first one's."""
    seen: dict[str, Location] = {}
    models = ((model.name, model.location) for model in context.scenario.models)
    objects = ((item.name, item.location) for item in (*context.named, *context.added))
    for name, place in (*objects, *models):
        if name in seen:
            yield name, place, seen[name]
        seen.setdefault(name, place)


def _name_in_several_files(context: ScenarioContext) -> Iterator[Finding]:
    """W824: entries of several files have the same name."""
    for name, place, first in _duplicates(context):
        if first.path != place.path:
            yield Finding(f"the name {quote(name)} is used twice; the later one is renamed in a run", place, also=first)


def _duplicate_name(context: ScenarioContext) -> Iterator[Finding]:
    """E824: entries of the scenario have the same name."""
    for name, place, first in _duplicates(context):
        if first.path == place.path == context.scenario.location.path:
            yield Finding(f"the name {quote(name)} is used twice", place, also=first)


def _unknown_name(context: ScenarioContext) -> Iterator[Finding]:
    """E821: ``place``, ``planner`` or ``expect`` names an object that does not exist."""
    if context.complete:
        yield from _unknown_in_place(context)
        yield from _unknown_in_expect(context)
        yield from _unknown_in_planner(context)


def _unknown_in_place(context: ScenarioContext) -> Iterator[Finding]:
    scenario, movable = context.scenario, [item.name for item in context.named]
    described = {*(item.name for item in context.added), *(model.name for model in scenario.models)}
    for name, _ in scenario.place:
        place = scenario.at(f"place.{name}")
        if name in described and name not in movable:
            message = f"{quote(name)} is described in this scenario, not in an object file"
            yield Finding(message, place, "give its position there")
        else:
            yield from _unknown(name, movable, "object of the object files", place)


def _unknown_in_expect(context: ScenarioContext) -> Iterator[Finding]:
    models = [model.name for model in context.scenario.models]
    everyone = [*(item.name for item in (*context.named, *context.added)), *models]
    for expectation in context.scenario.expect:
        subject = dict(expectation.arguments).get("object")
        if not isinstance(subject, str) or subject.rpartition("/")[0] in models:  # a model's bodies are not known here
            continue
        if not _is_car(context.scenario, subject):
            yield from _unknown(subject, everyone, "object", expectation.location)


def _is_car(scenario: Scenario, name: str) -> bool:
    """Whether a name is that of a car of a pool; how many a flow has is not known here."""
    stem, _, number = name.rpartition(" ")
    counts = {pool.name: pool.count for pool in scenario.traffic}
    return stem in counts and number.isdecimal() and 1 <= int(number) <= (counts[stem] or int(number))


def _unknown_in_planner(context: ScenarioContext) -> Iterator[Finding]:
    scenario = context.scenario
    models = {model.name for model in scenario.models}
    everyone = {item.name for item in (*context.added, *context.named)}
    for name, _ in scenario.planner:
        if name and name not in models and name not in everyone:
            yield from _unknown(name, _drivable(context), "object", scenario.at(f"planner.{name}"))


def _unknown(name: str, known: Sequence[str], noun: str, place: Location) -> Iterator[Finding]:
    if name not in known:
        listed = f"there is {', '.join(known[:10])}{', …' if len(known) > 10 else ''}" if known else ""
        yield Finding(f"no {noun} {quote(name)}", place, did_you_mean(name, known) or listed)


def _nothing_to_drive(context: ScenarioContext) -> Iterator[Finding]:
    """E825: a planner has nothing to drive, or an object that no planner can drive."""
    bots = _drivable(context)
    models = [model.name for model in context.scenario.models]  # whether they have controls, their files say
    everyone = {item.name for item in (*context.added, *context.named)}
    for name, _ in context.scenario.planner if context.complete else ():
        place = context.scenario.at(f"planner.{name}")
        if not name and not bots and not models:
            yield Finding("there is no autonomous object that a planner could drive", place)
        elif name in everyone and name not in bots and name not in models:
            message = f"object {quote(name)} is not autonomous with controller 'sensor'; a planner cannot drive it"
            yield Finding(message, place, f"there is {', '.join(bots)}" if bots else "")


def _drivable(context: ScenarioContext) -> list[str]:
    """List the objects that a planner can drive."""
    everyone = {item.name: item for item in (*context.added, *context.named)}
    return [
        one.name for one in everyone.values() if one.kind is Kind.AUTONOMOUS and one.controller is Controller.SENSOR
    ]


def _missing_waypoint(context: ScenarioContext) -> Iterator[Finding]:
    """E822: a waypoint is not in the network; `lint_objects` checks those of objects."""
    for point, place in _waypoints(context.scenario, inline=context.roadless):
        if context.roadless:
            yield Finding(f"there is no road network to look up '{point}' in", place)
        elif context.addresses is not None and point not in context.addresses:
            name = context.network.name if context.network is not None else ""
            message = f"waypoint '{point}' is not in network {quote(name)}"
            yield Finding(message, place, context.addresses.hint(point))


def _waypoints(scenario: Scenario, *, inline: bool) -> Iterator[tuple[PointId, Location]]:
    placements: Iterable[Placement] = (
        *(placement for _, placement in scenario.place),
        *(model.placement for model in scenario.models),
        *(addition.placement for addition in scenario.add if inline),
    )
    yield from ((one.waypoint, one.location) for one in placements if one.waypoint is not None)
    for pool in scenario.traffic:
        ends = [point for point, _ in pool.destinations]
        yield from ((point, pool.location) for point in ([] if pool.origin is None else [pool.origin]) + ends)
    for expectation in scenario.expect:
        points = (value for _, value in expectation.arguments if isinstance(value, PointId))
        yield from ((point, expectation.location) for point in points)


def _expectation_after_end(context: ScenarioContext) -> Iterator[Finding]:
    """W827: an expectation begins after the end of the run."""
    duration = context.scenario.duration
    for expectation in context.scenario.expect if duration is not None else ():
        arguments = dict(expectation.arguments)
        begin = arguments.get("after", arguments.get("from"))
        if isinstance(begin, float) and duration is not None and begin > duration:
            message = f"this begins at {begin:g} s, but the run ends at {duration:g} s"
            yield Finding(message, expectation.location)


def _traffic_without_road(context: ScenarioContext) -> Iterator[Finding]:
    """E830: something is reactive where there is no road, or has a script."""
    for pool in context.scenario.traffic if context.roadless else ():
        yield Finding(f"the traffic {quote(pool.name)} needs a road network", pool.location, "'network: …' names one")
    for item in context.added:
        if item.reactive and context.roadless:
            yield Finding(f"{quote(item.name)} is reactive, but there is no road network", item.location)


def _unknown_driver(context: ScenarioContext) -> Iterator[Finding]:
    """E823: traffic names a driver that the scenario does not describe."""
    known = [driver.name for driver in context.scenario.drivers]
    for pool in context.scenario.traffic:
        for name, _ in pool.drivers:
            yield from _unknown(name, known, "driver", pool.location)


def _missing_needs(context: ScenarioContext) -> Iterator[Finding]:
    """E826: a rule of ``expect`` needs a network or a mission, and the scenario has none."""
    for expectation in context.scenario.expect:
        needed = EXPECTATIONS[expectation.rule].needed(dict(expectation.arguments))
        missing = [thing for thing in needed if thing not in context.present]
        if missing:
            message = f"the rule '{expectation.rule}' needs a {' and a '.join(missing)}"
            yield Finding(message, expectation.location, f"'{missing[0]}: …' names one")


RULES: tuple[Rule[ScenarioContext], ...] = (
    Rule("E820", _mission_without_network),
    Rule("E821", _unknown_name),
    Rule("E822", _missing_waypoint),
    Rule("E823", _unknown_driver),
    Rule("E824", _duplicate_name),
    Rule("W824", _name_in_several_files),
    Rule("E825", _nothing_to_drive),
    Rule("E826", _missing_needs),
    Rule("E830", _traffic_without_road),
    Rule("W827", _expectation_after_end),
)


def lint_scenario(
    scenario: Scenario,
    files: Files,
    problems: Problems,
    *,
    network: RoadNetwork | None = None,
    mission: Mission | None = None,
    objects: Sequence[ObjectFile] | None = None,
    strict: bool = False,
) -> None:
    """Apply all rules to a scenario that has been read.

    Parameters
    ----------
    scenario : Scenario
        The scenario as read.
    files : Files
        Access to the files that it names.
    problems : Problems
        Collects the findings that it does not hold yet.
    network, mission, objects : optional
        Replacements for the files that the scenario names.
    strict : bool
        A missing sensor conf is an error.
    """
    found = Problems()
    context = ScenarioContext(scenario, files, found, network, mission, objects, strict)
    _add_problems_of_files(context, found)
    apply_rules(RULES, context, found)
    known = {_key(problem) for problem in problems}
    problems.extend(problem for problem in found if _key(problem) not in known)


def _key(problem: Problem) -> tuple[str, str, int | None, str]:
    return problem.code, problem.location.path, problem.location.line, problem.message
