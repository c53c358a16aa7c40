"""Connected places where two lanelets overlap, and the relation of the two there."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np

from cbsim.arrays import Bools, Floats, Ints
from cbsim.geometry import elementary as math
from cbsim.geometry.polyline import wrap
from cbsim.road.lanelets import Graph, Lanelets
from cbsim.road.right_of_way.swept import Overlaps, overlaps

__all__ = ["Place", "Relation", "network_places", "places"]

JOIN = 1.0  # [m] distance on both lanelets up to which overlaps form one place
AT_END = 0.75  # [m] distance from an end of a lanelet up to which an overlap reaches it
OVER = 1.9  # [m] between the centrelines of lanes of a segment up to which two cars, 1.8 m wide, would touch
PASS = 2.2  # [m] between them, before and behind that, up to which two cars can't pass each other
PARALLEL = math.cos(np.radians(45.0))  # difference from equal or opposite directions up to which lanes are parallel
TURNED = -0.5  # cosine of the directions of two lanelets, one of which leads into the other, from which it turns back


class Relation(IntEnum):
    """Relation of two lanelets where they overlap."""

    NONE = 0
    FORK = 1  # both begin at the same point
    FOLLOW = 2  # one leads into the other
    MERGE = 3  # both end at the same point


@dataclass(slots=True)
class Place:
    """Two lanelets, and the stations between which they overlap [m]."""

    lanelets: tuple[int, int]
    ranges: tuple[tuple[float, float], tuple[float, float]]
    relation: Relation = Relation.NONE


@lru_cache(maxsize=1)
def network_places(lanelets: Lanelets) -> tuple[Place, ...]:
    """Find all places of a network, as `places` tells them; conflicts and forks are made of them, one after another."""
    return tuple(places(lanelets, overlaps(lanelets)))


def places(lanelets: Lanelets, found: Overlaps) -> list[Place]:
    """Join overlaps to places, without those of parallel lanes of a segment, and find the relation at each.

    Lanes of a segment that are parallel, and too close for two cars, are no neighbours there: two cars can't pass each
    other, or drive side by side, from where the centrelines are too close for that.
    Where one leads into the other, but that turns back over it, the two are strangers: others drive there both ways.
    Overlaps continue past the ends of short lanelets: those beside a fork belong to the fork even where one of the two
    paths is already on the next lanelet; likewise for paths that merge or follow each other.
    """
    joined = _join(_rows(found, ~_parallel_lanes(lanelets, found)))
    joined += _over_each_other(lanelets, found)
    lengths = lanelets.lengths.tolist()
    ends = lanelets.ends.tolist()
    on_lane = (lanelets.roadmap.lane_of_row >= 0).tolist()
    by_pair: dict[tuple[int, int], list[Place]] = defaultdict(list)
    for place in joined:
        by_pair[place.lanelets].append(place)
        place.relation = _seed(place, lengths, ends, on_lane)
    _propagate(lanelets, joined, by_pair, lengths)
    for place in _turning_back(lanelets, joined):
        place.relation = Relation.NONE
    return joined


def _turning_back(lanelets: Lanelets, joined: list[Place]) -> list[Place]:
    """Find the places where one lanelet leads into another one that turns back over it, soon or further on."""
    following = [place for place in joined if place.relation is Relation.FOLLOW]
    columns = [(*place.lanelets, *place.ranges[0], *place.ranges[1]) for place in following]
    if not columns:
        return []
    one, other, *stations = np.array(columns).T
    alike = _alike(lanelets, Overlaps(one.astype(np.int64), other.astype(np.int64), *stations))
    return [place for place, cosine in zip(following, alike.tolist(), strict=True) if cosine < TURNED]


def _rows(found: Overlaps, kept: Bools) -> Overlaps:
    return Overlaps._make(column[kept] for column in found)


def _parallel_lanes(lanelets: Lanelets, found: Overlaps) -> Bools:
    """Find the overlaps of parallel lanes of one segment."""
    segments = np.array([curve.id[0] for curve in lanelets.roadmap.lanes] + [-1])
    lanes = lanelets.lanes[np.stack([found.one, found.other])]
    beside = (lanes.min(axis=0) >= 0) & (lanes[0] != lanes[1]) & (segments[lanes[0]] == segments[lanes[1]])
    beside[beside] = np.abs(_alike(lanelets, _rows(found, beside))) > PARALLEL
    return np.asarray(beside)


def _over_each_other(lanelets: Lanelets, found: Overlaps) -> list[Place]:
    """Places of parallel lanes of a segment that are too close for two cars."""
    rows = _rows(found, _parallel_lanes(lanelets, found))
    one, other = _middles(lanelets, rows)
    between, heading = lanelets.points[other] - lanelets.points[one], lanelets.headings[one]
    apart = np.abs(between[:, 0] * math.cos(heading) + between[:, 1] * math.sin(heading))
    over = _join(_rows(rows, apart < OVER))
    return [place for place in _join(_rows(rows, apart < PASS)) if any(_holds(place, each) for each in over)]


def _holds(place: Place, other: Place) -> bool:
    """Tell whether a place holds another one of the same lanelets."""
    return place.lanelets == other.lanelets and all(
        a <= c and d <= b for (a, b), (c, d) in zip(place.ranges, other.ranges, strict=True)
    )


def _middles(lanelets: Lanelets, found: Overlaps) -> tuple[Ints, Ints]:
    """Find the samples in the middle of overlaps on both lanelets."""
    one = _samples_at(lanelets, found.one, 0.5 * (found.one_from + found.one_to))
    return one, _samples_at(lanelets, found.other, 0.5 * (found.other_from + found.other_to))


def _alike(lanelets: Lanelets, found: Overlaps) -> Floats:
    """Cosine between the directions of two lanelets where they overlap."""
    one, other = _middles(lanelets, found)
    return np.asarray(math.cos(wrap(lanelets.headings[one]) - wrap(lanelets.headings[other])))


def headings_at(lanelets: Lanelets, rows: Ints, stations: Floats) -> Floats:
    """Headings of lanelets at stations on them, shape (k,) [rad]."""
    return np.asarray(wrap(lanelets.headings[_samples_at(lanelets, rows, stations)]))


def _samples_at(lanelets: Lanelets, rows: Ints, stations: Floats) -> Ints:
    """Find the samples of lanelets at stations on them."""
    lengths = np.concatenate([[0.0], np.cumsum(lanelets.lengths + 1.0)])  # stations that increase over all lanelets
    along = lanelets.stations + lengths[lanelets.owners]
    where = lengths[rows] + np.clip(stations, 0.0, lanelets.lengths[rows])
    return np.clip(np.searchsorted(along, where), 0, max(len(along) - 1, 0))


def _join(found: Overlaps) -> list[Place]:
    """Join overlaps that touch on both lanelets."""
    rows = zip(*(column.tolist() for column in found), strict=True)
    pairs: dict[tuple[int, int], list[tuple[float, float, float, float]]] = defaultdict(list)
    for one, other, *stations in rows:
        pairs[one, other].append(tuple(stations))
    return [Place(pair, ((a, b), (c, d))) for pair, boxes in pairs.items() for a, b, c, d in _clusters(boxes)]


def _clusters(boxes: list[tuple[float, float, float, float]]) -> list[tuple[float, float, float, float]]:
    """Bounds of the sets of boxes that touch each other."""
    done: list[tuple[float, float, float, float]] = []
    for box in sorted(boxes):
        grown = box
        while True:
            near = [old for old in done if _touch(old, grown)]
            if not near:
                break
            done = [old for old in done if old not in near]
            columns = list(zip(grown, *near, strict=True))
            grown = min(columns[0]), max(columns[1]), min(columns[2]), max(columns[3])
        done.append(grown)
    return sorted(done)


def _touch(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return (
        one[0] <= other[1] + JOIN
        and other[0] <= one[1] + JOIN
        and one[2] <= other[3] + JOIN
        and other[2] <= one[3] + JOIN
    )


def _seed(place: Place, lengths: list[float], ends: list[list[int]], on_lane: list[bool]) -> Relation:
    """Find the relation of two lanelets that share an end.

    A lanelet into a zone does not lead into one out of it at the same point.
    """
    (one, other), ((a, b), (c, d)) = place.lanelets, place.ranges
    starts = a <= AT_END, c <= AT_END
    finishes = b >= lengths[one] - AT_END, d >= lengths[other] - AT_END
    if all(starts) and ends[one][0] == ends[other][0]:
        return Relation.FORK
    leads = (finishes[0] and starts[1] and ends[one][1] == ends[other][0] and on_lane[ends[one][1]]) or (
        finishes[1] and starts[0] and ends[other][1] == ends[one][0] and on_lane[ends[other][1]]
    )
    if leads:
        return Relation.FOLLOW
    return Relation.MERGE if all(finishes) and ends[one][1] == ends[other][1] else Relation.NONE


def _propagate(
    lanelets: Lanelets, joined: list[Place], by_pair: dict[tuple[int, int], list[Place]], lengths: list[float]
) -> None:
    """Propagate relations past the ends of lanelets, as far as the overlap continues."""
    for relation, onward in ((Relation.MERGE, False), (Relation.FORK, True), (Relation.FOLLOW, True)):
        work = [place for place in joined if place.relation is relation]
        while work:
            place = work.pop()
            for side in (0, 1):
                for ahead in (True, False) if relation is Relation.FOLLOW else (onward,):
                    fresh = _beyond(lanelets, place, side, ahead, by_pair, lengths)
                    for one in fresh:
                        one.relation = relation
                    work += fresh


def _beyond(
    lanelets: Lanelets,
    place: Place,
    side: int,
    ahead: bool,
    by_pair: dict[tuple[int, int], list[Place]],
    lengths: list[float],
) -> list[Place]:
    """Places without a relation where the overlap continues, past the end (or start) of one of its lanelets."""
    row, partner = place.lanelets[side], place.lanelets[1 - side]
    (first, last), other = place.ranges[side], place.ranges[1 - side]
    if (last < lengths[row] - AT_END) if ahead else (first > AT_END):
        return []
    graph: Graph = lanelets.successors if ahead else lanelets.predecessors
    found = []
    for following in graph[row].tolist():
        for one in by_pair.get((min(following, partner), max(following, partner)), []):
            own = one.lanelets.index(following)
            begin, end = one.ranges[own]
            reaches = begin <= AT_END if ahead else end >= lengths[following] - AT_END
            theirs = one.ranges[1 - own]
            goes_on = theirs[0] <= other[1] + JOIN and other[0] <= theirs[1] + JOIN
            if one.relation is Relation.NONE and following != partner and reaches and goes_on:
                found.append(one)
    return found
