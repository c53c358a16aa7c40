"""Lint rules for the events of a scenario: names, circles, times, actions (82x, 83x)."""

from __future__ import annotations

from collections.abc import Iterator

from cbsim.errors import Location, did_you_mean
from cbsim.formats.values import quote
from cbsim.lint.rule import Finding, unknown
from cbsim.lint.scenario_context import ScenarioContext
from cbsim.lint.scenario_traffic import unknown_car
from cbsim.road.light_names import light_names
from cbsim.spec.event_order import circle_of, earliest_times
from cbsim.spec.events import Argument, Condition, Outline, Place
from cbsim.spec.objects import Kind, TrafficObject
from cbsim.spec.road import PointId
from cbsim.spec.scenario import Scenario

__all__ = [
    "circle_of_events", "crossed_region", "event_too_late", "points_of_events", "reason_against", "unfit_action",
    "unknown_in_events",
    "unknown_light_in_events",
]  # fmt: skip

OBJECTS = ("object", "to", "with")
"""Arguments that name objects."""
SENSORS = ("sensor_fault", "gps_outage")
"""Actions on the sensors of an autonomous object."""
ON_FOOT = ("speed", "stop", "resume", "synchronise")
OF_BOTS, PRESENCE = ("run_state", *SENSORS), ("appear", "leave", "block")
Arguments = tuple[tuple[str, Argument], ...]


def _conditions(scenario: Scenario) -> Iterator[Condition]:
    """Yield the conditions of events, and of pauses of the mission, with what they combine."""
    pauses = () if scenario.clock is None else scenario.clock.pauses
    for when in (*(event.when for event in scenario.events), *(pause.when for pause in pauses)):
        yield from when.walk()


def _said(scenario: Scenario) -> Iterator[tuple[Arguments, Location]]:
    """Yield the arguments of all conditions and actions."""
    yield from ((one.arguments, one.location) for one in _conditions(scenario))
    for event in scenario.events:
        yield from ((one.arguments, one.location) for one in event.do)


def points_of_events(scenario: Scenario) -> Iterator[tuple[PointId, Location]]:
    """Yield the waypoints that events name."""
    for arguments, location in _said(scenario):
        for _, value in arguments:
            places = [value] if isinstance(value, Place) else value.corners if isinstance(value, Outline) else ()
            yield from ((place.waypoint, location) for place in places if place.waypoint is not None)


def unknown_in_events(context: ScenarioContext) -> Iterator[Finding]:
    """E821: an event names an object or an event that does not exist, or a rule such an event."""
    scenario = context.scenario
    for arguments, location in _said(scenario) if context.complete else ():
        for name, value in arguments:
            if name in OBJECTS and isinstance(value, str):
                yield from _unknown_object(context, value, location)
    known = [event.name for event in scenario.events]
    for condition in _conditions(scenario):
        if condition.kind == "event":
            yield from unknown(str(condition["name"]), known, "event", condition.location)
    for expectation in scenario.expect:
        asked = dict(expectation.arguments).get("name")
        if expectation.rule == "event" and isinstance(asked, str):
            yield from unknown(asked, known, "event", expectation.location)


def _unknown_object(context: ScenarioContext, name: str, place: Location) -> Iterator[Finding]:
    models = [model.name for model in context.scenario.models]
    if name.rpartition("/")[0] in models:  # a model's bodies are not known here
        return
    stem, _, number = name.rpartition(" ")
    pool = next((one for one in context.scenario.traffic if one.name == stem and number.isdecimal()), None)
    if pool is not None and not pool.count:
        message = f"{quote(name)} is a car of a flow: events are about objects, and cars that are there from the start"
        yield Finding(message, place)
        return
    named = [item.name for item in (*context.named, *context.added)]
    everyone = [*named, *(person.name for person in context.scenario.people)]
    yield from unknown_car(context.scenario.traffic, name, everyone, place, flows=False)


def unknown_light_in_events(context: ScenarioContext) -> Iterator[Finding]:
    """E822: an event sets a light that no lane has."""
    assert context.network is not None  # as the table requires
    known = sorted(light_names(context.network))
    for event in context.scenario.events:
        for action in event.do:
            light = action["light"]
            if isinstance(light, str) and light not in known:
                there = did_you_mean(light, known) or (f"lights are {', '.join(known)}" if known else "it has none")
                message = f"no lane of network {quote(context.network.name)} has the light '{light}'"
                yield Finding(message, action.location, there)


def circle_of_events(context: ScenarioContext) -> Iterator[Finding]:
    """E832: an event waits for itself, directly or round a circle."""
    events = context.scenario.events
    circle = [events[number] for number in circle_of(events)]
    if len(circle) == 1:
        yield Finding(f"the event {quote(circle[0].name)} waits for itself", circle[0].location)
    elif circle:
        names = " for ".join(quote(event.name) for event in (*circle, circle[0]))
        yield Finding(f"events wait for each other in a circle: {names}", circle[0].location)


def unfit_action(context: ScenarioContext) -> Iterator[Finding]:
    """E833: an object cannot do what an action asks for."""
    everyone = {item.name: item for item in (*context.added, *context.named)}
    models = {model.name for model in context.scenario.models}
    people = {person.name for person in context.scenario.people}
    for event in context.scenario.events:
        for action in event.do:
            if action["object"] is None:
                continue
            name = str(action["object"])
            item = everyone.get(name)
            if name in people:
                if action.kind not in (*ON_FOOT, *PRESENCE):
                    yield Finding(f"{quote(name)} is on foot: '{action.kind}' is for others", action.location)
                continue
            reason = (
                "is a model"
                if name.rpartition("/")[0] in models or name in models
                else reason_against(action.kind, item)
            )
            if reason:
                yield Finding(f"{quote(name)} {reason}", action.location)


def reason_against(kind: str, item: TrafficObject | None) -> str:
    """Return why an object cannot do what a kind of action asks for; empty if it can."""
    what = "a car of traffic" if item is None else item.kind.value
    is_autonomous, is_static = what == Kind.AUTONOMOUS, what == Kind.STATIC
    is_reactive = item is None or item.reactive
    reasons = (
        (kind == "run_state" and not is_autonomous, f"has no run state: it is {what}, not autonomous"),
        (kind in SENSORS and not is_autonomous, f"has no sensors: it is {what}, not autonomous"),
        (is_autonomous and kind not in OF_BOTS, f"is autonomous: it has run states, and '{kind}' is for others"),
        (what == Kind.MESH, f"is a mesh, which stays where it is: '{kind}' is for boxes, cylinders and spheres"),
        (is_static and kind not in PRESENCE, f"is static, and '{kind}' is for what moves"),
        (not is_reactive and kind == "lane_change", f"is {what}: '{kind}' is for reactive cars"),
        (is_reactive and kind == "block", "is a car of traffic: it cannot be put in the way"),
    )
    return next((reason for is_so, reason in reasons if is_so), "")


def event_too_late(context: ScenarioContext) -> Iterator[Finding]:
    """W827: an event cannot come true by its times before the run ends."""
    scenario, duration = context.scenario, context.scenario.duration
    for number, begin in earliest_times(scenario.events).items() if duration is not None else ():
        event = scenario.events[number]
        if duration is not None and begin >= duration:
            message = f"the event {quote(event.name)} comes true at {begin:g} s at the earliest, but the run ends at"
            yield Finding(f"{message} {duration:g} s", event.location)


def crossed_region(context: ScenarioContext) -> Iterator[Finding]:
    """E805: the outline of a region crosses or touches itself; corners at waypoints are known when a World is made."""
    for condition in _conditions(context.scenario):
        polygon = condition["polygon"]
        if not isinstance(polygon, Outline):
            continue
        from shapely.geometry import Polygon  # of what scenarios without regions have no need

        at_waypoints = any(place.waypoint is not None for place in polygon.corners)
        if not at_waypoints and not Polygon([(place.x, place.y) for place in polygon.corners]).is_valid:
            hint = "give its corners in the order in which they stand around it"
            yield Finding("the region crosses or touches itself", condition.location, hint)
