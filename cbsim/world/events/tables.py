"""`EventTables`: conditions and actions as kernels take them, with codes and columns by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ABOVE",
    "ACTIONS",
    "BELOW",
    "COMING_TRUE",
    "CONDITIONS",
    "DURATION",
    "EVENT",
    "FIRST",
    "FREESPACE",
    "HEADING",
    "KIND",
    "LAST",
    "MEMORY",
    "NO_EVENTS",
    "OTHER",
    "SLOT",
    "STATE",
    "SUBJECT",
    "TARGET",
    "WAITING_FOR",
    "WITHIN",
    "EventTables",
    "Events",
    "X",
    "Y",
]  # fmt: skip

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CONDITIONS = (
    "time", "distance", "time_to_collision", "speed", "standstill", "region", "waypoint", "event", "all", "any", "after"
)  # fmt: skip
"""Kinds of conditions, by their codes."""
ACTIONS = ("run_state",)
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
# what two actions of one step must not both change, a state
EVENT, TARGET, SLOT, STATE = range(1, 5)


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
    actions : (actions, 5) int64
        In the order of lines in the scenario.
    """

    offsets: Ints
    nodes: Annotated[Ints, (7,)]
    values: Annotated[Floats, (7,)]
    corners: Annotated[Floats, (2,)]
    actions: Annotated[Ints, (5,)]


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
    """

    names: tuple[str, ...]
    tables: EventTables
    memory: Floats
    run_states: int = 0


def _empty() -> EventTables:
    """Tables without rows."""
    columns: dict[str, Any] = {}
    for name, hint in get_type_hints(EventTables, include_extras=True).items():
        row = getattr(hint, "__metadata__", ((),))[0]
        columns[name] = np.zeros((0, *row), np.int64 if "int64" in str(hint) else np.float64)
    return EventTables(**columns)


NO_EVENTS = Events((), _empty(), np.zeros(0))
