"""Lint rules for scenarios: the files that they name, names, references to waypoints, and expectations (82x).

The files of a scenario are read and linted, too; of their problems, those that stop a run are reported.
``docs/formats/scenario.md`` documents the codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cbsim.errors import Location, Problem, Problems, Severity
from cbsim.formats.scenario import RULES as EXPECTATIONS
from cbsim.formats.values import quote
from cbsim.lint.mission import PAIRING, lint_mission
from cbsim.lint.objects import lint_objects
from cbsim.lint.rule import Finding, Rule, apply_rules, unknown
from cbsim.lint.scenario_context import ScenarioContext
from cbsim.lint.scenario_events import (
    circle_of_events,
    crossed_region,
    event_too_late,
    points_of_events,
    unfit_action,
    unknown_in_events,
    unknown_light_in_events,
)
from cbsim.lint.scenario_planner import unfit_seat
from cbsim.lint.scenario_traffic import (
    no_exits,
    traffic_without_road,
    unknown_car,
    unknown_driver,
    unknown_lane,
    unknown_light,
    unknown_zone,
    unreachable,
)
from cbsim.paths import Files
from cbsim.spec.mission import Mission
from cbsim.spec.objects import Controller, Kind, ObjectFile
from cbsim.spec.road import PointId, RoadNetwork
from cbsim.spec.scenario import Placement, Scenario

__all__ = ["RULES", "lint_scenario"]

OBJECT_WARNINGS = ("W655", "W669")  # warnings of object files that are reported, too: missing conf, odd values


# --- problems of the files that a scenario names ---------------------------------------------------------------------
def _add_problems_of_files(context: ScenarioContext, problems: Problems) -> None:
    """Read the files of a scenario; add the problems of each that concern a run."""
    scenario = context.scenario
    mission = context.read("mission", scenario.mission, scenario.at("mission"))
    if mission is not None and context.network is not None:
        found = Problems()
        restart = scenario.clock is not None and scenario.clock.restart
        lint_mission(mission, context.network, found, restart=restart)
        problems.extend(one for one in found if one.severity is Severity.ERROR or one.code in PAIRING)
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
    people = ((person.name, person.location) for person in context.scenario.people)
    for name, place in (*objects, *people, *models):
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
            yield from unknown(name, movable, "object of the object files", place)


def _unknown_in_expect(context: ScenarioContext) -> Iterator[Finding]:
    models = [model.name for model in context.scenario.models]
    people = [person.name for person in context.scenario.people]
    everyone = [*(item.name for item in (*context.named, *context.added)), *people, *models]
    for expectation in context.scenario.judged:
        subject = dict(expectation.arguments).get("object")
        if not isinstance(subject, str) or subject.rpartition("/")[0] in models:  # a model's bodies are not known here
            continue
        yield from unknown_car(context.scenario.traffic, subject, everyone, expectation.location)


def _unknown_in_planner(context: ScenarioContext) -> Iterator[Finding]:
    scenario = context.scenario
    models = {model.name for model in scenario.models}
    everyone = {item.name for item in (*context.added, *context.named)}
    for name, _ in scenario.planner:
        if name and name not in models and name not in everyone:
            yield from unknown(name, _drivable(context), "object", scenario.at(f"planner.{name}"))


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
    bots = [one for one in everyone.values() if one.kind is Kind.AUTONOMOUS and not one.reactive]
    return [one.name for one in bots if one.controller is Controller.SENSOR]


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
        ends = [point for point, _ in (*pool.destinations, *pool.thens)]
        yield from ((point, pool.location) for point in ([] if pool.origin is None else [pool.origin]) + ends)
    yield from points_of_events(scenario)
    for person in scenario.people:
        yield from ((place.waypoint, person.location) for place in person.path if place.waypoint is not None)
    for expectation in scenario.judged:
        points = (value for _, value in expectation.arguments if isinstance(value, PointId))
        yield from ((point, expectation.location) for point in points)


def _expectation_after_end(context: ScenarioContext) -> Iterator[Finding]:
    """W827: an expectation begins after the end of the run."""
    duration = context.scenario.duration
    for expectation in context.scenario.judged if duration is not None else ():
        arguments = dict(expectation.arguments)
        begin = arguments.get("after", arguments.get("from"))
        if isinstance(begin, float) and duration is not None and begin > duration:
            message = f"this begins at {begin:g} s, but the run ends at {duration:g} s"
            yield Finding(message, expectation.location)


def _missing_needs(context: ScenarioContext) -> Iterator[Finding]:
    """E826: a rule of ``expect`` needs a network or a mission, and the scenario has none."""
    for expectation in context.scenario.judged:
        needed = EXPECTATIONS[expectation.rule].needed(dict(expectation.arguments))
        missing = [thing for thing in needed if thing not in context.present]
        if missing:
            message = f"the rule '{expectation.rule}' needs a {' and a '.join(missing)}"
            yield Finding(message, expectation.location, f"'{missing[0]}: …' names one")


RULES: tuple[Rule[ScenarioContext], ...] = (
    Rule("E820", _mission_without_network),
    Rule("E821", _unknown_name),
    Rule("E821", unknown_in_events),
    Rule("E822", _missing_waypoint),
    Rule("E823", unknown_driver),
    Rule("E824", _duplicate_name),
    Rule("W824", _name_in_several_files),
    Rule("E825", _nothing_to_drive),
    Rule("E826", _missing_needs),
    Rule("E822", unknown_lane, requires="network"),
    Rule("E822", unknown_zone, requires="network"),
    Rule("E822", unknown_light, requires="network"),
    Rule("E829", unreachable),
    Rule("E830", traffic_without_road),
    Rule("W831", no_exits, requires="network"),
    Rule("W827", _expectation_after_end),
    Rule("W827", event_too_late),
    Rule("E822", unknown_light_in_events, requires="network"),
    Rule("E832", circle_of_events),
    Rule("E833", unfit_action),
    Rule("E805", crossed_region),
    Rule("E805", unfit_seat),
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
