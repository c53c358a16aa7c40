"""Speed limits of lanelets: the mission's, else the network's, else the default."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.road.roadmap import RoadMap
from cbsim.spec.mission import Mission

__all__ = ["UNKNOWN_LIMIT", "speed_limits"]

UNKNOWN_LIMIT = 13.4112  # [m/s] 30 mph, the highest limit that DARPA set


def speed_limits(roadmap: RoadMap, ends: Ints, mission: Mission | None, limit: float) -> Floats:
    """Find the speed limit of paths between two points.

    Parameters
    ----------
    roadmap : RoadMap
        The network; segments of RNDF 1.1 may have a limit.
    ends : ndarray of int, shape (n, 2)
        Rows of their first and last points.
    mission : Mission or None
        Its limits override those of the network. A maximum of 0 means none.
    limit : float
        Default limit [m/s].

    Returns
    -------
    ndarray, shape (n,)
        The lower one of both ends [m/s].
    """
    known = {segment.number: segment.speed_limit for segment in roadmap.network.segments if segment.speed_limit}
    given = () if mission is None else mission.speed_limits or ()
    known |= {one.segment: one.maximum for one in given if one.maximum > 0.0}
    of_point = np.array([known.get(point.segment, limit) for point in roadmap.ids], float)
    return np.asarray(of_point[ends].min(axis=1, initial=np.inf))
