"""Events of a scene to tables: names become rows, places become coordinates, conditions stand after their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from shapely.geometry import Polygon

from cbsim.errors import Location, ModelError, did_you_mean
from cbsim.road.roadmap import RoadMap
from cbsim.spec.event_order import order_of
from cbsim.spec.events import RUN_STATES, Action, Condition, Event, Outline, Place
from cbsim.world.bodies import Bodies
from cbsim.world.events.tables import ACTIONS, CONDITIONS, NO_EVENTS, Events, EventTables
from cbsim.world.tables import Ints

__all__ = ["compile_events"]

REMEMBERS = {"standstill": -1.0, "waypoint": 1.0, "after": -1.0}
"""Kinds of conditions that remember a number, and what it is at the start: not since a time, and beyond the line."""


class _Context(NamedTuple):
    """What names and places refer to."""

    bodies: Bodies
    vehicles: list[int]
    roadmap: RoadMap | None
    numbers: dict[str, int]

    def row(self, name: object, at: Location) -> int:
        """Row of the body of that name; -1 without a name."""
        if name is None:
            return -1
        row = self.bodies.row(str(name))
        if row is None:
            hint = did_you_mean(str(name), self.bodies.names)
            raise ModelError(f"no object '{name}'" + (f" ({hint})" if hint else ""), location=at)
        return row

    def place(self, place: object, at: Location) -> tuple[float, float, float]:
        """Coordinates [m] of a place, and the heading [rad] of the lane there."""
        if not isinstance(place, Place):
            return 0.0, 0.0, 0.0
        if place.waypoint is None:
            return place.x, place.y, 0.0
        if self.roadmap is None or not self.roadmap.has(place.waypoint):
            raise ModelError(f"no waypoint '{place.waypoint}' in the network", location=at)
        x, y = self.roadmap.position(place.waypoint).tolist()
        return x, y, float(self.roadmap.heading(place.waypoint))


def compile_events(events: Sequence[Event], bodies: Bodies, vehicle_rows: Ints, roadmap: RoadMap | None) -> Events:
    """Lay out the tables of events.

    Parameters
    ----------
    events : sequence of Event
        In the order of the scenario.
    bodies : Bodies
        Of the World.
    vehicle_rows : ndarray of int
        Rows of the bodies of vehicles.
    roadmap : RoadMap or None

    Raises
    ------
    ModelError
        If a name or a place does not exist, or events wait for each other.
    """
    if not events:
        return NO_EVENTS
    order = order_of(events)
    if len(order) < len(events):
        stuck = next(event for number, event in enumerate(events) if number not in order)
        raise ModelError(f"the event '{stuck.name}' waits for itself", location=stuck.location)
    numbers = {events[k].name: number for number, k in enumerate(order)}
    context = _Context(bodies, vehicle_rows.tolist(), roadmap, numbers)
    nodes, values = list[list[int]](), list[list[float]]()
    corners, memory, offsets = list[tuple[float, float]](), list[float](), [0]
    for k in order:
        for condition in events[k].when.walk():
            row, numbers_of = _condition(condition, context, corners, memory)
            nodes.append(row)
            values.append(numbers_of)
        offsets.append(len(nodes))
    actions = [_action(action, numbers[event.name], context) for event in events for action in event.do]
    tables = EventTables(
        offsets=np.array(offsets, np.int64),
        nodes=np.array(nodes, np.int64).reshape(-1, 7),
        values=np.array(values, float).reshape(-1, 7),
        corners=np.array(corners, float).reshape(-1, 2),
        actions=np.array(actions, np.int64).reshape(-1, 5),
    )
    for table in tables:
        table.flags.writeable = False
    used = {action.kind for event in events for action in event.do}
    return Events(
        tuple(events[k].name for k in order),
        tables,
        np.array(memory, float),
        len(vehicle_rows) if "run_state" in used else 0,
    )


def _condition(
    condition: Condition, context: _Context, corners: list[tuple[float, float]], memory: list[float]
) -> tuple[list[int], list[float]]:
    """Rows of `EventTables.nodes` and `values`; corners and what is remembered are appended."""
    kind, at = condition.kind, condition.location
    first, last, other, remembered = 0, 0, context.row(condition["to"], at), -1
    if condition.parts:
        first = len(condition.parts)
    polygon = condition["polygon"]
    if isinstance(polygon, Outline):
        first = len(corners)
        outline = [context.place(corner, at)[:2] for corner in polygon.corners]
        if not Polygon(outline).is_valid:
            raise ModelError("the region crosses or touches itself", location=at)
        corners += outline
        last = len(corners)
        bounds = [*map(min, zip(*outline, strict=True)), *map(max, zip(*outline, strict=True))]
        node = [CONDITIONS.index(kind), context.row(condition["object"], at), -1, first, last, -1, 0]
        return node, [*bounds, 0.0, 0.0, 0.0]
    if kind == "event":
        name = str(condition["name"])
        if name not in context.numbers:
            raise ModelError(f"no event '{name}'", location=at)
        other = context.numbers[name]
    if kind in REMEMBERS:
        remembered = len(memory)
        memory.append(REMEMBERS[kind])
    place = condition["waypoint"] if kind == "waypoint" else condition["place"]
    x, y, heading = context.place(place, at)
    duration = next((value for key in ("at", "for", "delay") if (value := condition[key]) is not None), 0.0)
    subject = context.row(condition["object"], at)
    freespace = int(condition["freespace"] is True)
    node = [CONDITIONS.index(kind), subject, other, first, last, remembered, freespace]
    below, above = _number(condition["below"], -np.inf), _number(condition["above"], np.inf)
    return node, [x, y, heading, below, above, _number(duration, 0.0), _number(condition["within"], 0.0)]


def _number(value: object, default: float) -> float:
    return float(value) if isinstance(value, int | float) else default


def _action(action: Action, event: int, context: _Context) -> list[int]:
    """Row of `EventTables.actions`."""
    row = context.row(action["object"], action.location)
    if row not in context.vehicles:
        raise ModelError(f"'{action['object']}' is not autonomous: it has no run state", location=action.location)
    target = context.vehicles.index(row)
    return [ACTIONS.index(action.kind), event, target, target, RUN_STATES.index(str(action["state"]))]
