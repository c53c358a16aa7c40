"""`EventTables`: conditions and actions as kernels take them, with codes and columns by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, get_type_hints

import numpy as np

from cbsim.arrays import Floats, Ints

__all__ = [
    "ABOVE",
    "ACTIONS",
    "ANY_LANE",
    "BELOW",
    "CAR",
    "CAR_LANE",
    "CAR_LINK",
    "CAR_ORDER",
    "CAR_RATE",
    "CLASS",
    "COMING_TRUE",
    "CONDITIONS",
    "DELAY",
    "DURATION",
    "EVENT",
    "FIRST",
    "FREESPACE",
    "GUIDED",
    "HEADING",
    "IS_ABSENT",
    "IS_ON_ITS_WAY",
    "IS_PLACED",
    "KEEPS_LANE",
    "KIND",
    "LANELET",
    "LAST",
    "LIGHT",
    "LINK",
    "MEMORY",
    "NO_EVENTS",
    "OFFSET",
    "ORDER",
    "ORDER_RATE",
    "ORIENTATION",
    "OTHER",
    "OTHER_BODY",
    "OTHER_X",
    "OTHER_Y",
    "PACE",
    "PLACE_X",
    "PLACE_Y",
    "POSITION",
    "PRESENCE",
    "QUEUED",
    "QUEUED_END",
    "RATE",
    "SEGMENT",
    "SLOT",
    "SPEED",
    "STATE",
    "STATION",
    "STEPS_BACK",
    "SUBJECT",
    "TARGET",
    "TRANSITION",
    "TURN",
    "VEHICLE",
    "WAITING_FOR",
    "WAITS",
    "WITHIN",
    "EventTables",
    "Events",
    "SensorFault",
    "X",
    "Y",
]  # fmt: skip


CONDITIONS = (
    "time", "distance", "time_to_collision", "speed", "standstill", "region", "waypoint", "event", "all", "any", "after"
)  # fmt: skip
"""Kinds of conditions, by their codes."""
ACTIONS = (
    "run_state", "speed", "stop", "resume", "synchronise", "appear", "leave", "block", "light", "restart",
    "lane_change",
)  # fmt: skip
"""Kinds of actions, by their codes."""
COMING_TRUE = 1e-9
"""Times count as reached so much earlier [s]: they are products of the step, whose last bit is rounded."""
WAITING_FOR = -1
"""Value of the column `event` while an event waits; else the step in which it came true."""

# columns of `EventTables.nodes`: code, rows of bodies (-1 for none; `OTHER` of an event: its number), rows of
# `corners` or how many conditions are combined, row of `State.condition` (-1 for none), whether gaps are measured
# between outlines
KIND, SUBJECT, OTHER, FIRST, LAST, MEMORY, FREESPACE = range(7)
# columns of `EventTables.values`: place, heading of a lane, bounds, duration, reach to the side; of a region first its
# least x and y and its largest
X, Y, HEADING, BELOW, ABOVE, DURATION, WITHIN = range(7)
# columns of `EventTables.actions` beside `KIND`: number of the event, row of what is acted on in its table, number of
# what two actions of one step must not both change, a state, which table the target is a row of, row of another body,
# lanelet
EVENT, TARGET, SLOT, STATE, CLASS, OTHER_BODY, LANELET = range(1, 8)
# values of `CLASS`: which table `TARGET` is a row of
VEHICLE, GUIDED, CAR, LIGHT = range(4)
# columns of `EventTables.action_values`: speed and rate of its change, or the time that it takes; a place and a
# heading; a place of another object; a station, and an offset
SPEED, RATE, TRANSITION, PLACE_X, PLACE_Y, TURN, OTHER_X, OTHER_Y, STATION, OFFSET = range(10)
# of them, of the action `restart`: position and orientation, rows of `State.command_queue` from one up to another
POSITION, ORIENTATION, QUEUED, QUEUED_END = 0, 3, 7, 8
# columns of `State.guided`, and of `State.order` the middle ones: how late it is [s], its speed and an ordered one (-1
# for none) [m/s], the rate of its change [m/s²], row of the action by which it synchronises (-1 for none), presence,
# row of its segment
DELAY, PACE, ORDER, ORDER_RATE, LINK, PRESENCE, SEGMENT = range(7)
CAR_ORDER, CAR_RATE, CAR_LINK, CAR_LANE = range(4)
# values of the last one: none ordered; else 1 for a change to the left and -1 for one to the right, twice that where
# both gaps have to hold; or the lane of an ordered change that has been made, which is kept but for the way
ANY_LANE, KEEPS_LANE = 0, 3
# values of `LINK` of people who wait at the kerb or before a vehicle, or go back to make room for one that turns
WAITS, STEPS_BACK = -2.0, -3.0
# values of the presence
IS_ABSENT, IS_ON_ITS_WAY, IS_PLACED = range(3)


class EventTables(NamedTuple):
    """Conditions and actions of all events, in an order in which each event waits for earlier ones only.

    Attributes
    ----------
    offsets : (events + 1,) int64
        First node of each event; its last node is its condition as a whole.
    nodes, values : (nodes, 7) int64, (nodes, 7)
        Conditions, each after those that it combines.
    corners : (k, 2) [m]
        Corners of polygons.
    actions, action_values : (actions, 8) int64, (actions, 10)
        In the order of lines in the scenario.
    """

    offsets: Ints
    nodes: Annotated[Ints, (7,)]
    values: Annotated[Floats, (7,)]
    corners: Annotated[Floats, (2,)]
    actions: Annotated[Ints, (8,)]
    action_values: Annotated[Floats, (10,)]


class SensorFault(NamedTuple):
    """A fault of sensors that an event begins.

    Attributes
    ----------
    event : int
        Number of the event.
    sensors : tuple of int
        Numbers of the sensors in the World.
    kind : str
        ``outage`` or ``frozen``.
    duration : float
        [s]
    """

    event: int
    sensors: tuple[int, ...]
    kind: str
    duration: float


@dataclass(frozen=True, slots=True)
class Events:
    """Events of a World.

    Attributes
    ----------
    names : tuple of str
        By their numbers, which need not be the order of the scenario.
    tables : EventTables
    memory : ndarray, shape (conditions,)
        What conditions remember at the start.
    run_states : int
        Rows of the column `run_state`: as many as there are vehicles if an event sets it, else none.
    ordered : int
        Rows of the column `order`: as many as there are reactive cars if an event acts on one, else none.
    absent : tuple of int
        Rows of bodies that are not there at the start: an event makes them appear.
    faults : tuple of SensorFault
    lights : int
        Rows of the column `light`: as many as there are traffic lights if an event sets one, else none.
    held : tuple of int
        Vehicles that are in PAUSE at the start.
    """

    names: tuple[str, ...]
    tables: EventTables
    memory: Floats
    run_states: int = 0
    ordered: int = 0
    absent: tuple[int, ...] = ()
    faults: tuple[SensorFault, ...] = ()
    lights: int = 0
    held: tuple[int, ...] = ()


def _empty() -> EventTables:
    """Tables without rows."""
    columns: dict[str, Any] = {}
    for name, hint in get_type_hints(EventTables, include_extras=True).items():
        row = getattr(hint, "__metadata__", ((),))[0]
        columns[name] = np.zeros((0, *row), np.int64 if "int64" in str(hint) else np.float64)
    return EventTables(**columns)


NO_EVENTS = Events((), _empty(), np.zeros(0))
