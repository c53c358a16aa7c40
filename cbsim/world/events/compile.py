"""Events of a scene to tables: names become rows, places become coordinates, conditions stand after their parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from shapely.geometry import Polygon

from cbsim.errors import ModelError
from cbsim.geometry import elementary as math
from cbsim.spec.event_order import order_of
from cbsim.spec.events import Condition, Event, Outline
from cbsim.world.events.actions import EventContext, absent_rows, action_row
from cbsim.world.events.sensor_faults import FAULTS, sensor_fault
from cbsim.world.events.tables import (
    ACTIONS,
    CAR,
    CLASS,
    CONDITIONS,
    KIND,
    NO_EVENTS,
    TARGET,
    Events,
    EventTables,
)

__all__ = ["compile_events"]

RUN_STATE = ACTIONS.index("run_state")
REMEMBERS = {"standstill": -1.0, "waypoint": 1.0, "after": -1.0}
"""Kinds of conditions that remember a number, and what it is at the start: not since a time, and beyond the line."""


def compile_events(events: Sequence[Event], context: EventContext, *, is_held: bool = False) -> Events:
    """Lay out the tables of events, given in the order of the scenario.

    Parameters
    ----------
    events : sequence of Event
    context : EventContext
    is_held : bool
        Whether vehicles whose run state an event sets are in PAUSE at the start.

    Raises
    ------
    ModelError
        If a name or a place does not exist, events wait for each other, or an object cannot do what is asked for.
    """
    if not events:
        return NO_EVENTS
    order = order_of(events)
    if len(order) < len(events):
        stuck = next(event for number, event in enumerate(events) if number not in order)
        raise ModelError(f"the event '{stuck.name}' waits for itself", location=stuck.location)
    numbers = {events[k].name: number for number, k in enumerate(order)}
    nodes, values = list[list[int]](), list[list[float]]()
    corners, memory, offsets = list[tuple[float, float]](), list[float](), [0]
    for k in order:
        for condition in events[k].when.walk():
            row, numbers_of = _condition(condition, context, numbers, corners, memory)
            nodes.append(row)
            values.append(numbers_of)
        offsets.append(len(nodes))
    named = [(action, numbers[event.name]) for event in events for action in event.do]
    actions = [action_row(action, event, context) for action, event in named if action.kind not in FAULTS]
    faults = [
        sensor_fault(action, event, context.sensors, context.bodies) for action, event in named if action.kind in FAULTS
    ]
    tables = EventTables(
        offsets=np.array(offsets, np.int64),
        nodes=np.array(nodes, np.int64).reshape(-1, 7),
        values=np.array(values, float).reshape(-1, 7),
        corners=np.array(corners, float).reshape(-1, 2),
        actions=np.array([row for row, _ in actions], np.int64).reshape(-1, 8),
        action_values=np.array([row for _, row in actions], float).reshape(-1, 10),
    )
    for table in tables:
        table.flags.writeable = False
    used = {action.kind for event in events for action in event.do}
    return Events(
        tuple(events[k].name for k in order),
        tables,
        np.array(memory, float),
        len(context.constants.vehicle_body) if "run_state" in used else 0,
        len(context.car_rows) if (tables.actions[:, CLASS] == CAR).any() else 0,
        tuple(absent_rows(events, context.bodies)),
        tuple(faults),
        len(context.light_names) if "light" in used else 0,
        tuple(np.unique(tables.actions[tables.actions[:, KIND] == RUN_STATE, TARGET]).tolist()) if is_held else (),
    )


def _condition(
    condition: Condition,
    context: EventContext,
    numbers: dict[str, int],
    corners: list[tuple[float, float]],
    memory: list[float],
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
        if name not in numbers:
            raise ModelError(f"no event '{name}'", location=at)
        other = numbers[name]
    if kind in REMEMBERS:
        remembered = len(memory)
        memory.append(REMEMBERS[kind])
    place = condition["waypoint"] if kind == "waypoint" else condition["place"]
    x, y, heading = context.place(place, at)
    before = _number(condition["before"], 0.0)
    if before:
        x, y = x + before * math.sin(heading), y - before * math.cos(heading)
    duration = next((value for key in ("at", "for", "delay") if (value := condition[key]) is not None), 0.0)
    subject = context.row(condition["object"], at)
    freespace = int(condition["freespace"] is True)
    node = [CONDITIONS.index(kind), subject, other, first, last, remembered, freespace]
    below, above = _number(condition["below"], -np.inf), _number(condition["above"], np.inf)
    return node, [x, y, heading, below, above, _number(duration, 0.0), _number(condition["within"], 0.0)]


def _number(value: object, default: float) -> float:
    return float(value) if isinstance(value, int | float) else default
