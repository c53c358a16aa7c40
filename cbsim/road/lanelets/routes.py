"""Routes as lanelets: stretches of lanelets from point to point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.road.lanelets.table import Lanelets
from cbsim.road.route import Kind, Route

__all__ = ["LaneletRoute", "route_lanelets", "stretches_between"]


class LaneletRoute(NamedTuple):
    """Stretches of lanelets, in the order of travel.

    Attributes
    ----------
    lanelets : ndarray of int, shape (k,)
        Rows of `Lanelets`.
    begins, ends : ndarray, shape (k,)
        Stations of the stretch on each [m].
    entered : ndarray of int, shape (k,)
        `Kind` of the move onto each: `LANE` and `EXIT` continue from the one before, `LANE_CHANGE` comes from the side,
        and `ZONE` means that a zone lies between. The first has `LANE`.
    """

    lanelets: Ints
    begins: Floats
    ends: Floats
    entered: Ints

    @property
    def length(self) -> float:
        """Sum of the stretches [m]; lane changes and zones have none of their own."""
        return float(np.sum(self.ends - self.begins))


def route_lanelets(lanelets: Lanelets, way: Route) -> LaneletRoute:
    """Express a route by lanelets.

    Parameters
    ----------
    lanelets : Lanelets
    way : Route
        From `cbsim.road.route.route` or `mission_legs`.
    """
    found: list[list[float]] = []  # lanelet, begin, end, entered
    entered = Kind.LANE
    for source, target, kind in zip(way.points, way.points[1:], way.kinds, strict=False):
        if kind in (Kind.LANE_CHANGE, Kind.ZONE):
            entered = kind
            continue
        pair = lanelets.roadmap.row(source), lanelets.roadmap.row(target)
        for row, begin, end in stretches_between(lanelets, *pair, is_lane=kind is Kind.LANE):
            goes_on = found and found[-1][0] == row and found[-1][2] == begin and entered is Kind.LANE
            if goes_on:
                found[-1][2] = end
            else:
                found.append([row, begin, end, entered if entered is not Kind.LANE else kind])
            entered = Kind.LANE
    if found:
        found[0][3] = Kind.LANE
    table = np.array(found, float).reshape(-1, 4)
    return LaneletRoute(table[:, 0].astype(np.int64), table[:, 1], table[:, 2], table[:, 3].astype(np.int64))


def stretches_between(lanelets: Lanelets, source: int, target: int, *, is_lane: bool) -> list[tuple[int, float, float]]:
    """Find the lanelets of one move of a route.

    Parameters
    ----------
    lanelets : Lanelets
    source, target : int
        Rows of `RoadMap.ids`.
    is_lane : bool
        True along a lane, False by an exit. Exits to the next waypoint of a lane, and over the seam of a closed one,
        count as the lane.

    Returns
    -------
    list of (int, float, float)
        Rows of the lanelets and the stations of the stretch on each [m]; empty for lane changes and zones.
    """
    roadmap = lanelets.roadmap
    row = lanelets.by_ends.get((int(lanelets.nodes[source]), int(lanelets.nodes[target])))
    if row is not None and (not is_lane or lanelets.lanes[row] >= 0):
        return [(row, 0.0, float(lanelets.lengths[row]))]
    lane = int(roadmap.lane_of_row[source])
    if lane < 0 or lane != roadmap.lane_of_row[target]:
        return []
    stations, first = roadmap.lanes[lane].waypoint_stations, int(roadmap.offsets[lane])
    begin, end = float(stations[source - first]), float(stations[target - first])
    if end < begin:  # over the seam of a closed lane
        end = roadmap.lanes[lane].length
    pieces = np.flatnonzero(lanelets.lanes == lane)
    starts = lanelets.begins[pieces]
    stops = starts + lanelets.lengths[pieces]
    inside = (starts < end - 1e-9) & (stops > begin + 1e-9)
    kept = zip(pieces[inside].tolist(), starts[inside].tolist(), stops[inside].tolist(), strict=True)
    return [(piece, max(begin, start) - start, min(end, stop) - start) for piece, start, stop in kept]
