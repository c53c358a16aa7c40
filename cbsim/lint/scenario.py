"""Rules for scenarios: the files they name exist and fit together, and so do the names and waypoints they mention.

The files a scenario names are read, and what is wrong in them is told as well, as far as it stops a run: a scenario is
as good as its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
MISSPELT = ("W642",)  # warnings of readers that are told of the scenario too
TOLD = ("W655", "W669")  # warnings about objects that are told of the scenario too: no sensor conf, odd values
SPEC: dict[str, type] = {"network": RoadNetwork, "mission": Mission, "objects": ObjectFile, "models": object}


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
    """Apply every rule to a scenario that has been read.

    Parameters
    ----------
    scenario : Scenario
        What it says.
    files : Files
        What may be read.
    problems : Problems
        Gets what is found and is not in it yet.
    network, mission, objects : optional
        In place of what the scenario names, for a caller who was given others.
    strict : bool
        A missing sensor conf is an error.
    """
    found = Problems()
    survey = _Survey(scenario, files, found, network, mission, objects, strict)
    for rule in RULES:
        rule(survey, found)
    told = {_key(problem) for problem in problems}
    problems.extend(problem for problem in found if _key(problem) not in told)


def _key(problem: Problem) -> tuple[str, str, int | None, str]:
    return problem.code, problem.location.path, problem.location.line, problem.message


@dataclass
class _Survey:
    """A scenario and the files it names, each read when first asked for."""

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
        """Find a named file, or complain with the nearest one there is."""
        path = find_named(kind, name, self.folder, self.files)
        if path is None:
            shipped, suffixes = KINDS[kind]
            beside = self.folder.glob("*") if self.files.allows(self.folder) else ()
            names = (name for one in beside if one.suffix in suffixes for name in (one.stem, one.name))
            near = [*names, *shipped_names(shipped, suffixes)]
            self.problems.error("E011", f"no such file '{name}'", place, did_you_mean(name, near))
        return path

    def read(self, kind: str, name: str | None, place: Location) -> Any:
        """Read a named file and pass on its errors; None where there is none, or nothing of it can be used."""
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
        self.problems.extend([*reading.problems.errors, *(p for p in reading.problems.warnings if p.code in MISSPELT)])
        return reading.spec if isinstance(reading.spec, SPEC[kind]) else None

    @cached_property
    def network(self) -> RoadNetwork | None:
        if self.given_network is not None:
            return self.given_network
        network: RoadNetwork | None = self.read("network", self.scenario.network, self.scenario.at("network"))
        return network

    @property
    def roadless(self) -> bool:
        """True where there is no network at all, rather than one that cannot be read."""
        return self.scenario.network is None and self.given_network is None

    @property
    def present(self) -> set[str]:
        """Which of the things that a rule may need there are, readable or not."""
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
        """Whether every object is known, so that a name not among them is wrong."""
        return all(file is not None for file in self.object_files)


Rule = Callable[[_Survey, Problems], None]


def _check_mission(survey: _Survey, problems: Problems) -> None:
    """Check that the mission is there and can be driven on the network."""
    scenario = survey.scenario
    if scenario.mission is not None and survey.roadless:
        problems.error("E820", "a mission needs a network", scenario.at("mission"))
    mission = survey.read("mission", scenario.mission, scenario.at("mission"))
    if mission is not None and survey.network is not None:
        found = Problems()
        lint_mission(mission, survey.network, found)
        problems.extend(found.errors)


def _check_objects(survey: _Survey, problems: Problems) -> None:
    """Check that the objects, inline ones too, find their waypoints, meshes and sensor confs."""
    inline = ObjectFile("", tuple(survey.added), location=survey.scenario.location)
    for file in (*survey.object_files, inline):
        if file is not None:
            found = Problems()
            lint_objects(file, survey.network, survey.files, found, strict=survey.strict)
            problems.extend(one for one in found if one.severity is Severity.ERROR or one.code in TOLD)


def _check_models(survey: _Survey, _: Problems) -> None:
    """Check that model files are there and hold models without errors."""
    for number, model in enumerate(survey.scenario.models):
        survey.read("models", model.file, survey.scenario.at(f"models.{number}"))


def _check_names(survey: _Survey, problems: Problems) -> None:
    """Tell of names that several files or entries use."""
    seen: dict[str, Location] = {}
    models = ((model.name, model.location) for model in survey.scenario.models)
    objects = ((item.name, item.location) for item in (*survey.named, *survey.added))
    for name, place in (*objects, *models):
        if name in seen and seen[name].path != place.path:
            message = f"the name {quote(name)} is used twice; the later one is renamed in a run"
            problems.warning("W824", message, place, also=seen[name])
        elif name in seen and place.path == survey.scenario.location.path:
            problems.error("E824", f"the name {quote(name)} is used twice", place, also=seen[name])
        seen.setdefault(name, place)


def _check_mentions(survey: _Survey, problems: Problems) -> None:
    """Check the objects that ``place`` and ``expect`` mention."""
    if not survey.complete:
        return
    scenario = survey.scenario
    movable = [item.name for item in survey.named]
    models = [model.name for model in scenario.models]
    everyone = [*movable, *(item.name for item in survey.added), *models]
    for name, _ in scenario.place:
        place = scenario.at(f"place.{name}")
        if name in everyone and name not in movable:
            message = f"{quote(name)} is described in this scenario, not in an object file"
            problems.error("E821", message, place, "say there where it stands")
        else:
            _check_name(name, movable, "object of the object files", place, problems)
    for expectation in scenario.expect:
        subject = dict(expectation.arguments).get("object")
        if isinstance(subject, str) and subject.rpartition("/")[0] not in models:  # whose bodies only its file knows
            _check_name(subject, everyone, "object", expectation.location, problems)


def _check_name(name: str, known: Sequence[str], noun: str, place: Location, problems: Problems) -> None:
    if name not in known:
        listed = f"there is {', '.join(known[:10])}{', …' if len(known) > 10 else ''}" if known else ""
        problems.error("E821", f"no {noun} {quote(name)}", place, did_you_mean(name, known) or listed)


def _check_planners(survey: _Survey, problems: Problems) -> None:
    """Check that planners have something to drive."""
    everyone = {item.name: item for item in (*survey.added, *survey.named)}
    bots = [one.name for one in everyone.values() if _is_bot(one)]
    models = [model.name for model in survey.scenario.models]  # whether they have controls, their files say
    for name, _ in survey.scenario.planner if survey.complete else ():
        place = survey.scenario.at(f"planner.{name}")
        if name in models or (not name and models):
            continue
        if not name and not bots:
            problems.error("E825", "there is no autonomous object that a planner could drive", place)
        elif name and name not in everyone:
            _check_name(name, bots, "object", place, problems)
        elif name and name not in bots:
            message = f"object {quote(name)} is not autonomous with controller 'sensor'; a planner cannot drive it"
            problems.error("E825", message, place, f"there is {', '.join(bots)}" if bots else "")


def _is_bot(item: TrafficObject) -> bool:
    return item.kind is Kind.AUTONOMOUS and item.controller is Controller.SENSOR


def _check_waypoints(survey: _Survey, problems: Problems) -> None:
    """Check the waypoints that the scenario itself mentions; those of objects are checked with the objects."""
    for point, place in _waypoints(survey.scenario, inline=survey.roadless):
        if survey.roadless:
            problems.error("E822", f"there is no road network to look up '{point}' in", place)
        elif survey.addresses is not None and point not in survey.addresses:
            name = survey.network.name if survey.network is not None else ""
            message = f"waypoint '{point}' is not in network {quote(name)}"
            problems.error("E822", message, place, survey.addresses.hint(point))


def _waypoints(scenario: Scenario, *, inline: bool) -> Iterator[tuple[PointId, Location]]:
    placements: Iterable[Placement] = (
        *(placement for _, placement in scenario.place),
        *(model.placement for model in scenario.models),
        *(addition.placement for addition in scenario.add if inline),
    )
    yield from ((one.waypoint, one.location) for one in placements if one.waypoint is not None)
    for expectation in scenario.expect:
        points = (value for _, value in expectation.arguments if isinstance(value, PointId))
        yield from ((point, expectation.location) for point in points)


def _check_times(survey: _Survey, problems: Problems) -> None:
    """Tell of expectations that begin when the run is over."""
    duration = survey.scenario.duration
    for expectation in survey.scenario.expect if duration is not None else ():
        arguments = dict(expectation.arguments)
        begin = arguments.get("after", arguments.get("from"))
        if isinstance(begin, float) and duration is not None and begin > duration:
            message = f"this begins at {begin:g} s, but the run ends at {duration:g} s"
            problems.warning("W827", message, expectation.location)


def _check_needs(survey: _Survey, problems: Problems) -> None:
    """Check that there is what the rules of ``expect`` are about: stop lines need a network, checkpoints a mission."""
    for expectation in survey.scenario.expect:
        needed = EXPECTATIONS[expectation.rule].needed(dict(expectation.arguments))
        missing = [thing for thing in needed if thing not in survey.present]
        if missing:
            message = f"the rule '{expectation.rule}' needs a {' and a '.join(missing)}"
            problems.error("E826", message, expectation.location, f"'{missing[0]}: …' names one")


RULES: tuple[Rule, ...] = (
    _check_mission,
    _check_objects,
    _check_models,
    _check_names,
    _check_mentions,
    _check_planners,
    _check_waypoints,
    _check_times,
    _check_needs,
)
"""What is looked at, in this order."""
