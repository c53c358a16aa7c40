"""Intersections, inferred from the network: junctions of conflicts, with their approaches.

The stop lines of the approaches determine who must stop.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.polyline import wrap
from cbsim.road.lanelets import build_lanelets
from cbsim.road.right_of_way import Conflicts, Junction, find_conflicts, find_junctions
from cbsim.road.roadmap import RoadMap
from cbsim.spec.road import PointId

__all__ = ["Approach", "Intersection", "intersections"]

SAME_WAY = np.radians(45.0)  # largest difference of headings of lanes in one approach
WAYS = {1: "one-way", 2: "two-way", 3: "three-way", 4: "four-way"}


@dataclass(frozen=True, slots=True)
class Approach:
    """Lanes that enter an intersection from one side.

    Attributes
    ----------
    points : tuple of PointId
        Last waypoint before the intersection on each lane.
    stops : bool
        True if each of them has a stop line.
    """

    points: tuple[PointId, ...]
    stops: bool


@dataclass(frozen=True, slots=True, eq=False)
class Intersection:
    """A junction with at least two approaches.

    Attributes
    ----------
    position : ndarray, shape (2,)
        Centre of all points of entry and departure [m].
    approaches : tuple of Approach
        In the order of their first point, at least two.
    departures : tuple of PointId
        First waypoint after the intersection on each departing lane.
    junction : Junction
        The conflicts.
    """

    position: Floats
    approaches: tuple[Approach, ...]
    departures: tuple[PointId, ...]
    junction: Junction

    @property
    def pattern(self) -> str:
        """Pattern of stops: ``all-way stop``, ``no stop``, or for example ``two-way stop``."""
        stopping = sum(approach.stops for approach in self.approaches)
        if stopping == len(self.approaches):
            return "all-way stop"
        return f"{WAYS.get(stopping, f'{stopping}-way')} stop" if stopping else "no stop"


def intersections(roadmap: RoadMap) -> tuple[Intersection, ...]:
    """Infer the intersections of a map: junctions with at least two approaches.

    Returns
    -------
    tuple of Intersection
        In the order of their first approach.

    Raises
    ------
    ModelError
        If the network has too many exits or overlapping lanes.
    """
    conflicts = find_conflicts(build_lanelets(roadmap))
    stops = {stop.point for lane in roadmap.network.lanes for stop in lane.stops}
    found = (_intersection(conflicts, junction, stops) for junction in find_junctions(conflicts))
    return tuple(sorted((each for each in found if each is not None), key=lambda each: each.approaches[0].points))


def _intersection(conflicts: Conflicts, junction: Junction, stops: set[PointId]) -> Intersection | None:
    """Make an intersection of a junction; None where it has fewer than two approaches."""
    roadmap = conflicts.lanelets.roadmap
    sources, targets = _ends(conflicts, junction)
    groups: list[list[tuple[int, float]]] = []
    for row, heading in sorted(sources.items(), key=lambda item: roadmap.ids[item[0]]):
        for group in groups:
            same = roadmap.ids[group[0][0]].segment == roadmap.ids[row].segment
            if same and abs(wrap(np.asarray(group[0][1] - heading))) < SAME_WAY:
                group.append((row, heading))
                break
        else:
            groups.append([(row, heading)])
    ids = [tuple(roadmap.ids[row] for row, _ in group) for group in groups]
    if len(ids) < 2:
        return None  # a lane and an exit that turns back over it may have none
    approaches = tuple(Approach(points, all(point in stops for point in points)) for points in ids)
    departures = tuple(sorted(roadmap.ids[row] for row in targets))
    position = roadmap.positions[sorted(targets | set(sources))].mean(axis=0)
    return Intersection(position, approaches, departures, junction)


def _ends(conflicts: Conflicts, junction: Junction) -> tuple[dict[int, float], set[int]]:
    """Rows of the points of entry, with their headings [rad], and of those of departure."""
    lanelets = conflicts.lanelets
    ends = lanelets.ends[list(junction.lanelets)]
    connects = lanelets.roadmap.lane_of_row >= 0  # paths into and out of a zone at one point do not
    inside = {end: set(ends[connects[ends[:, end]], end].tolist()) for end in (0, 1)}
    sources: dict[int, float] = {}
    targets: set[int] = set()
    for row, (begin, end) in _ranges(conflicts, junction).items():
        before, after = _points_around(conflicts, row, begin, end)
        source, target = lanelets.ends[row].tolist()
        if before != source or source not in inside[1]:
            sources.setdefault(before, float(lanelets.headings[lanelets.offsets[row]]))
        if after != target or target not in inside[0]:
            targets.add(after)
    return sources, targets


def _ranges(conflicts: Conflicts, junction: Junction) -> dict[int, tuple[float, float]]:
    """Range of stations of the conflicts of a junction on each of its lanelets [m]."""
    found: dict[int, tuple[float, float]] = {}
    for row in junction.conflicts:
        for side, lanelet in enumerate(conflicts.pairs[row].tolist()):
            begin, end = float(conflicts.begins[row, side]), float(conflicts.ends[row, side])
            first, last = found.get(lanelet, (begin, end))
            found[lanelet] = min(first, begin), max(last, end)
    return dict(sorted(found.items()))


def _points_around(conflicts: Conflicts, row: int, begin: float, end: float) -> tuple[int, int]:
    """Rows of the last point before a stretch of a lanelet, and the first one behind it."""
    lanelets = conflicts.lanelets
    source, target = lanelets.ends[row].tolist()
    lane = int(lanelets.lanes[row])
    if lane < 0:
        return source, target
    first = int(lanelets.roadmap.offsets[lane])
    stations = lanelets.roadmap.lanes[lane].waypoint_stations - lanelets.begins[row]
    last = target - first if target > source else len(stations)  # piece across the seam of a closed lane
    inner = stations[source - first : last]
    before = source + int(np.searchsorted(inner, begin, side="right")) - 1
    after = source + int(np.searchsorted(inner, end, side="left"))
    return max(before, source), target if after >= first + last else max(after, source + 1)
