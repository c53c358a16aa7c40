"""What cars of traffic do, as recordings hold it: they appear, leave, and their drivers make mistakes."""

from __future__ import annotations

import numpy as np

__all__ = [
    "APPEARED",
    "BRAKES_HARD",
    "EVENT",
    "IGNORES_RIGHT_OF_WAY",
    "KINDS",
    "LEFT",
    "NO_EVENTS",
    "RUNS_STOPS",
    "TAILGATES",
]

EVENT = ("step", "kind", "row", "number")
"""Columns of a row: the step after which it is so, one of `KINDS`, the row of the body, and the number of the car: of a
flow, the how manieth to appear, of another pool its place in it, 0 for objects."""
KINDS = ("appeared", "left", "runs_stops", "ignores_right_of_way", "tailgates", "brakes_hard")
"""Names of the kinds; those of mistakes are the keys of a driver's `errors`."""
APPEARED, LEFT, RUNS_STOPS, IGNORES_RIGHT_OF_WAY, TAILGATES, BRAKES_HARD = range(6)

NO_EVENTS = np.zeros((0, len(EVENT)), np.int64)
