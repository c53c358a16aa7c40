"""Time to collision of two footprints at constant velocity, without rotation.

Source: Hayward, "Near-miss determination through use of a scale of danger", Highway Research Record 384, 1972, for the
measure; separating axes of two rectangles, each an interval in time, for the footprints (Gottschalk, Lin and Manocha,
"OBBTree", SIGGRAPH 1996, with Ericson, "Real-Time Collision Detection", 2005, §5.5.8 for moving ones).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.polyline import direction, left_of

__all__ = ["HORIZON", "Footprint", "time_to_collision"]

HORIZON = 10.0  # [s] what is later is not a danger


@dataclass(frozen=True, eq=False)
class Footprint:
    """A rectangle that moves.

    Attributes
    ----------
    centre, velocity : ndarray, shape (n, 2)
        [m], [m/s].
    heading : ndarray, shape (n,)
        [rad]
    width, length : float or ndarray, shape (n,)
        [m]
    low, high : ndarray, shape (n,)
        Heights between which it is [m].
    """

    centre: Floats
    velocity: Floats
    heading: Floats
    width: float | Floats
    length: float | Floats
    low: Floats
    high: Floats

    def at(self, rows: NDArray[np.intp]) -> Footprint:
        """Take some of the rows."""
        return Footprint(
            self.centre[rows],
            self.velocity[rows],
            self.heading[rows],
            self.width if isinstance(self.width, float) else self.width[rows],
            self.length if isinstance(self.length, float) else self.length[rows],
            self.low[rows],
            self.high[rows],
        )


def time_to_collision(one: Footprint, other: Footprint) -> Floats:
    """Time until two footprints touch, shape (n,) [s]; 0 while they do, nan where they will not within `HORIZON`.

    Notes
    -----
    On each of the four axes across their edges, the gap of the centres changes evenly, so the shadows overlap from one
    time to another; the rectangles touch while all four overlap. What passes above or below is not a collision.
    """
    found = np.full(len(one.centre), np.nan)
    apart, closing = other.centre - one.centre, other.velocity - one.velocity
    reach = 0.5 * (math.hypot(one.width, one.length) + math.hypot(other.width, other.length))
    near = math.hypot(*apart.T) <= reach + HORIZON * math.hypot(*closing.T)
    near &= (one.low < other.high) & (other.low < one.high)
    rows = np.flatnonzero(near)
    if not len(rows):
        return found
    enter, leave = _overlap(one.at(rows), other.at(rows), apart[rows], closing[rows])
    meets = (enter <= leave) & (leave >= 0.0) & (enter <= HORIZON)
    found[rows[meets]] = np.maximum(enter[meets], 0.0)
    return found


def _overlap(one: Footprint, other: Footprint, apart: Floats, closing: Floats) -> tuple[Floats, Floats]:
    """From when to when all shadows overlap, each (n,) [s]."""
    enter, leave = np.full(len(apart), -np.inf), np.full(len(apart), np.inf)
    ahead = direction(one.heading), direction(other.heading)
    for axis in (ahead[0], left_of(ahead[0]), ahead[1], left_of(ahead[1])):
        half = sum(
            0.5 * body.length * np.abs((axis * forward).sum(axis=1))
            + 0.5 * body.width * np.abs((axis * left_of(forward)).sum(axis=1))
            for body, forward in zip((one, other), ahead, strict=True)
        )
        gap, rate = (axis * apart).sum(axis=1), (axis * closing).sum(axis=1)
        still = np.abs(rate) < 1e-12
        rate = np.where(still, 1.0, rate)
        first, second = (-half - gap) / rate, (half - gap) / rate
        inside = np.abs(gap) <= half
        first, second = np.where(first < second, first, second), np.where(first < second, second, first)
        enter = np.maximum(enter, np.where(still, np.where(inside, -np.inf, np.inf), first))
        leave = np.minimum(leave, np.where(still, np.where(inside, np.inf, -np.inf), second))
    return enter, leave
