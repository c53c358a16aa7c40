"""Records of traffic in recordings: cars that appear, leave and make mistakes, and events of the scenario."""

from __future__ import annotations

import numpy as np

__all__ = [
    "APPEARED",
    "BRAKES_HARD",
    "EVENT",
    "HAPPENED",
    "IGNORES_RIGHT_OF_WAY",
    "KINDS",
    "LEFT",
    "NO_EVENTS",
    "OVERRULED",
    "RUNS_STOPS",
    "TAILGATES",
]

EVENT = ("step", "kind", "row", "number")
"""Columns of a row: the step after which it is so, one of `KINDS`, the row of the body, and the number of the car: of a
flow, the how manieth to appear, of another pool its place in it, 0 for objects. For events of the scenario, in place of
the row, their number."""
KINDS = ("appeared", "left", "runs_stops", "ignores_right_of_way", "tailgates", "brakes_hard", "event", "overruled")
"""Names of the kinds; those of mistakes are the keys of a driver's `errors`. The last two are those of events of the
scenario: one came true, or an action of it was overruled by a later line in the same step."""
APPEARED, LEFT, RUNS_STOPS, IGNORES_RIGHT_OF_WAY, TAILGATES, BRAKES_HARD, HAPPENED, OVERRULED = range(8)

NO_EVENTS = np.zeros((0, len(EVENT)), np.int64)
