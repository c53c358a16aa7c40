"""Lane changes: to the next lane of the segment in the same direction, where the marking allows it.

Network files never contain lane changes as exits, yet three of DARPA's own missions need them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Bools, Floats, Ints
from cbsim.geometry import elementary as math
from cbsim.geometry.polyline import direction, left_of
from cbsim.road.curve import LaneCurve
from cbsim.road.roadmap import RoadMap

__all__ = [
    "ALONG",
    "LaneChanges",
    "PairOfLanes",
    "is_solid",
    "lane_changes",
    "marking_between",
    "nearest_on",
    "pairs_of_lanes",
    "smooth_step",
]

RUN = 10.0  # [m] least length of a lane change
TINY = 1e-9  # [m] length of a segment that is taken for a point
ALONG = math.cos(np.radians(45.0))  # largest difference of directions of neighbours
ASIDE = 2.5  # largest distance of the centre lines of neighbours, in lane widths; real files reach 2.2
SOLID = frozenset({"double_yellow", "solid_yellow", "solid_white"})  # not to be crossed (UT-Austin's reading)


class LaneChanges(NamedTuple):
    """Lane changes from a waypoint to the first waypoint of the next lane at least 10 m ahead.

    Attributes
    ----------
    source, target : ndarray of int, shape (c,)
        Rows of the map's points.
    allowed : ndarray of bool, shape (c,)
        False where the marking between is solid.
    """

    source: Ints
    target: Ints
    allowed: Bools


def smooth_step(part: Floats) -> Floats:
    """Share of a lane change that is done at parts of its length, 0 to 1: 10 u³ − 15 u⁴ + 6 u⁵.

    Slope and curvature vanish at both ends. Kernels have it in `cbsim.road.kernels.smooth_step`.
    """
    return part * part * part * (10.0 - 15.0 * part + 6.0 * part * part)


def lane_changes(roadmap: RoadMap) -> LaneChanges:
    """Find every lane change, those across solid marking included."""
    found = [LaneChanges(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, bool))]
    for pair in pairs_of_lanes(roadmap):
        found += [_changes(roadmap, pair), _changes(roadmap, pair.reversed())]
    return LaneChanges(*(np.concatenate(column) for column in zip(*found, strict=True)))


class PairOfLanes(NamedTuple):
    """Two lanes of a segment that may run side by side.

    Attributes
    ----------
    source, target : int
        Rows of the map's lanes.
    aside : float
        Largest distance of their centre lines where they are neighbours [m].
    others : tuple of int
        The other lanes of the segment: where one of them runs between, the two are no neighbours.
    """

    source: int
    target: int
    aside: float
    others: tuple[int, ...]

    def reversed(self) -> PairOfLanes:
        """Return the pair as seen from the other lane."""
        return PairOfLanes(self.target, self.source, self.aside, self.others)

    def is_apart(self, roadmap: RoadMap, points: Floats, feet: Floats) -> Bools:
        """Tell for points of one lane, and those nearest to them on the other, whether another lane runs between."""
        import shapely

        found = np.zeros(len(points), bool)
        ways = np.asarray(shapely.linestrings(np.stack([points, feet], axis=1)))
        for row in self.others:
            line = shapely.LineString(roadmap.lanes[row].samples)
            shapely.prepare(line)
            found |= shapely.intersects(line, ways)
        return found


def pairs_of_lanes(roadmap: RoadMap) -> Iterator[PairOfLanes]:
    """Find lanes that may run side by side: those of a segment with consecutive numbers.

    Lanes are numbered across the road. In some files they are not, and the third lies between the first and the second.
    """
    for _, group in itertools.groupby(sorted(roadmap.lane_rows.items()), key=lambda one: one[0][0]):
        usable = [(number, row) for (_, number), row in group if len(roadmap.lanes[row].samples) > 1]
        for (number, one), (following, other) in itertools.pairwise(usable):
            if following == number + 1:
                aside = ASIDE * 0.5 * (roadmap.lanes[one].width + roadmap.lanes[other].width)
                yield PairOfLanes(one, other, aside, tuple(row for _, row in usable if row not in (one, other)))


def _changes(roadmap: RoadMap, pair: PairOfLanes) -> LaneChanges:
    """Find the changes from one lane to one beside it."""
    import shapely

    source, target = pair.source, pair.target
    here, there = roadmap.lanes[source], roadmap.lanes[target]
    along_here, along_there = (direction(lane.headings[lane.waypoint_rows]) for lane in (here, there))
    near = shapely.STRtree(np.asarray(shapely.points(there.points))).nearest(shapely.points(here.points))
    gap = here.points - there.points[near]
    foot = there.waypoint_stations[near] + np.sum(gap * along_there[near], axis=1)
    goal = np.searchsorted(there.waypoint_stations, foot + RUN)
    possible = (goal < len(there.points)) & (np.sum(along_here * along_there[near], axis=1) > ALONG)
    rows = np.flatnonzero(possible)
    goal = goal[rows]
    beside = _is_beside(there, here.points[rows], pair) | _is_beside(here, there.points[goal], pair)
    rows, goal = rows[beside], goal[beside]
    kept = ~pair.is_apart(roadmap, here.points[rows], nearest_on(there.samples, here.points[rows])[1])
    rows, goal = rows[kept], goal[kept]
    is_left = np.sum((there.points[goal] - here.points[rows]) * left_of(along_here[rows]), axis=1) > 0.0
    solid = [is_solid(roadmap, source, target, left) for left in (False, True)]
    allowed = ~np.where(is_left, solid[1], solid[0])
    return LaneChanges(rows + roadmap.offsets[source], goal + roadmap.offsets[target], allowed)


def _is_beside(lane: LaneCurve, points: Floats, pair: PairOfLanes) -> Bools:
    """Whether points are near enough to a lane."""
    import shapely

    line = shapely.LineString(lane.samples)
    shapely.prepare(line)
    return np.asarray(shapely.dwithin(line, shapely.points(points), pair.aside))


def nearest_on(samples: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Points of a polyline nearest to others, by an index of its segments: distances along it [m], and places."""
    import shapely

    chords = np.diff(samples, axis=0)
    lengths = np.sqrt(np.sum(chords * chords, axis=1))
    tree = shapely.STRtree(np.asarray(shapely.linestrings(np.stack([samples[:-1], samples[1:]], axis=1))))
    _, near = tree.query_nearest(shapely.points(points), all_matches=False)
    first, chord, length = samples[near], chords[near], np.maximum(lengths[near], TINY)
    share = np.clip(np.sum((points - first) * chord, axis=1) / (length * length), 0.0, 1.0)
    before = np.concatenate([[0.0], np.cumsum(lengths)])[near]
    return before + share * length, first + share[:, None] * chord


def marking_between(roadmap: RoadMap, source: int, target: int, left: bool) -> str:
    """Tell the marking between two lanes: the lane's own, or else the neighbour's; empty where neither is known."""
    here, there = roadmap.lane_specs[source], roadmap.lane_specs[target]
    own, facing = (here.left_boundary, there.right_boundary) if left else (here.right_boundary, there.left_boundary)
    return own or facing or ""


def is_solid(roadmap: RoadMap, source: int, target: int, left: bool) -> bool:
    """Whether the marking between two lanes is solid."""
    return marking_between(roadmap, source, target, left) in SOLID
