"""Neighbours of lanelets: pieces of the lane beside, their direction, and permission to change over."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry import elementary as math
from cbsim.road.lane_change import ALONG, ASIDE, is_solid, marking_between
from cbsim.road.lanelets.table import Lanelets

__all__ = ["Neighbours", "find_neighbours"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Neighbours(NamedTuple):
    """Lanelets that run side by side, one row for each lanelet and neighbour, in the order of lanelet and station.

    Attributes
    ----------
    lanelets, others : ndarray of int, shape (k,)
        A lanelet and its neighbour.
    begins, ends : ndarray, shape (k,)
        Stations of the lanelet between which the neighbour runs beside it [m].
    other_begins, other_ends : ndarray, shape (k,)
        Stations of the neighbour beside `begins` and `ends`; the first is the larger one where it is oncoming [m].
    left : ndarray of bool, shape (k,)
        True where the neighbour is on the left.
    same_direction : ndarray of bool, shape (k,)
        False where it is oncoming.
    may_cross : ndarray of bool, shape (k,)
        False where the marking between is solid, or unknown and the neighbour oncoming.
    """

    lanelets: Ints
    others: Ints
    begins: Floats
    ends: Floats
    other_begins: Floats
    other_ends: Floats
    left: Bools
    same_direction: Bools
    may_cross: Bools


def find_neighbours(lanelets: Lanelets) -> Neighbours:
    """Find the neighbours of all pieces of lanes.

    Neighbouring lanes have consecutive numbers in one segment. They are neighbours where their centrelines are
    at most 2.5 lane widths apart, as for lane changes, and parallel within 45°.
    """
    found: list[Neighbours] = []
    ordered = sorted(lanelets.roadmap.lane_rows.items())
    for (address, one), (following, other) in itertools.pairwise(ordered):
        if following == (address[0], address[1] + 1):
            found += [_beside(lanelets, one, other), _beside(lanelets, other, one)]
    table = Neighbours._make(np.concatenate(column) for column in zip(_nothing(), *found, strict=True))
    order = np.lexsort((table.begins, table.lanelets))
    return Neighbours._make(column[order] for column in table)


def _beside(lanelets: Lanelets, lane: int, other: int) -> Neighbours:
    """Rows for the pieces of one lane, by the samples at which pieces of another are beside them."""
    import shapely

    here, there = lanelets.roadmap.lanes[lane], lanelets.roadmap.lanes[other]
    pieces = np.flatnonzero(lanelets.lanes == lane)
    theirs = np.flatnonzero(lanelets.lanes == other)
    if not len(pieces) or not len(theirs):
        return _nothing()
    samples = np.concatenate([np.arange(*lanelets.offsets[piece : piece + 2]) for piece in pieces])
    points, own = lanelets.points[samples], lanelets.owners[samples]
    line = shapely.LineString(there.samples)
    marks = shapely.points(points)
    foot = shapely.line_locate_point(line, marks)
    near = np.asarray(shapely.distance(line, marks)) <= ASIDE * 0.5 * (here.width + there.width)
    partner = theirs[np.clip(np.searchsorted(lanelets.begins[theirs], foot, side="right") - 1, 0, None)]
    row = np.clip(np.searchsorted(there.stations, foot), 0, len(there.stations) - 1)
    turned = math.cos(lanelets.headings[samples] - there.headings[row])
    aside = shapely.get_coordinates(shapely.line_interpolate_point(line, foot)) - points
    along = np.stack([-math.sin(lanelets.headings[samples]), math.cos(lanelets.headings[samples])], axis=1)
    left = along[:, 0] * aside[:, 1] - along[:, 1] * aside[:, 0] > 0.0
    inner = (foot > 0.0) & (foot < line.length)
    wanted = near & (np.abs(turned) > ALONG) & inner
    keys = np.stack([own, partner, left, turned > 0.0, wanted], axis=1).astype(np.int64)
    first = np.flatnonzero(np.concatenate([[True], np.any(np.diff(keys, axis=0) != 0, axis=1)]))
    last = np.append(first[1:], len(keys)) - 1
    kept = wanted[first] & (lanelets.stations[samples[last]] > lanelets.stations[samples[first]])
    first, last = first[kept], last[kept]
    sides = left[first].astype(np.int64)
    solid = np.array([is_solid(lanelets.roadmap, lane, other, side) for side in (False, True)])[sides]
    known = np.array([bool(marking_between(lanelets.roadmap, lane, other, side)) for side in (False, True)])[sides]
    along = turned[first] > 0.0
    theirs_first, theirs_last = _feet_at_ends(foot, lanelets.stations[samples], first, last)
    return Neighbours(
        own[first],
        partner[first],
        lanelets.stations[samples[first]],
        lanelets.stations[samples[last]],
        theirs_first - lanelets.begins[partner[first]],
        theirs_last - lanelets.begins[partner[first]],
        left[first],
        along,
        ~solid & (along | known),
    )


def _feet_at_ends(foot: Floats, stations: Floats, first: Ints, last: Ints) -> tuple[Floats, Floats]:
    """Stations of the neighbour beside the first and the last sample of each row.

    They are continued from the samples after and before: where a lane closes on itself, the foot of an end may be found
    at the other one.
    """
    one, other = np.minimum(first + 1, last), np.maximum(last - 1, first)
    few = other <= one
    one, other = np.where(few, first, one), np.where(few, last, other)
    slope = (foot[other] - foot[one]) / (stations[other] - stations[one])
    begin = foot[one] + slope * (stations[first] - stations[one])
    return begin, foot[other] + slope * (stations[last] - stations[other])


def _nothing() -> Neighbours:
    return Neighbours._make(np.empty(0, kind) for kind in (int, int, *[float] * 4, *[bool] * 3))
