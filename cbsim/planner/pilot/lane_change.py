"""Lane changes of a planned path: smooth transitions from one curve to the other, where both lanes are there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.road.curve import LaneCurve
from cbsim.road.lane_change import smooth_step

__all__ = ["LaneChange", "lane_change"]

LENGTH = (8.0, 45.0)  # [m] least and greatest length of a lane change
TIME = 2.5  # [s] duration of a lane change where there is room


class LaneChange(NamedTuple):
    """A lane change.

    Attributes
    ----------
    points : ndarray, shape (m, 2)
        [m]
    headings : ndarray, shape (m,)
        [rad]
    early, late : float
        Lengths by which it begins before the one waypoint, and ends past the other [m].
    """

    points: Floats
    headings: Floats
    early: float
    late: float


def lane_change(
    curves: tuple[LaneCurve, LaneCurve],
    stations: tuple[float, float],
    span: float,
    speed: float,
    room: tuple[float, float],
) -> LaneChange:
    """Change from one lane to another between two waypoints.

    Where the other lane begins too close to its waypoint, the transition continues past that; where this lane ends too
    close to its own, it begins before it.

    Parameters
    ----------
    curves : pair of LaneCurve
        This lane and the other.
    stations : pair of float
        Of the waypoint on each [m].
    span : float
        Distance between the waypoints [m].
    speed : float
        [m/s]
    room : pair of float
        Greatest lengths before the one waypoint and past the other [m].
    """
    (here, there), (begin, end), (before, past) = curves, stations, room
    wanted = max(LENGTH[0], TIME * speed)
    late = max(0.0, min(wanted - end, past - 1.0, here.length - begin - span))
    early = max(0.0, min(wanted - (here.length - begin), before, end - span))
    first = max(0.0, span - end)  # where the other lane begins
    begin, end, length = begin - early, end + late, span + early + late
    last = min(length, here.length - begin)  # where this lane ends
    if last - first < LENGTH[0]:
        first, last = 0.0, length
    share = np.linspace(0.0, 1.0, max(8, math.ceil(length)) + 1)
    part = np.clip((share * length - first) / min(last - first, LENGTH[1]), 0.0, 1.0)
    one, other = here.at(begin + share * length)[0], there.at(end - (1.0 - share) * length)[0]
    points = one + smooth_step(part)[:, None] * (other - one)
    heading = math.atan2(-np.gradient(points[:, 0]), np.gradient(points[:, 1]))
    return LaneChange(points, np.unwrap(heading), early, late)
