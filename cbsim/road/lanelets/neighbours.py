"""Neighbours of lanelets: pieces of the lane beside, their direction, and permission to change over."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Bools, Floats, Ints
from cbsim.geometry import elementary as math
from cbsim.road.lane_change import ALONG, PairOfLanes, is_solid, marking_between, nearest_on, pairs_of_lanes
from cbsim.road.lanelets.table import Lanelets

__all__ = ["Neighbours", "find_neighbours"]


class Neighbours(NamedTuple):
    """Lanelets that run side by side, one row for each lanelet and neighbour, in the order of lanelet and station.

    Attributes
    ----------
    lanelets, others : ndarray of int, shape (k,)
        A lanelet and its neighbour.
    begins, ends : ndarray, shape (k,)
        Stations of the lanelet between which the neighbour runs beside it [m].
    left : ndarray of bool, shape (k,)
        True where the neighbour is on the left.
    same_direction : ndarray of bool, shape (k,)
        False where it is oncoming.
    may_cross : ndarray of bool, shape (k,)
        False where the marking between is solid, or unknown and the neighbour oncoming.
    place_offsets : ndarray of int, shape (k + 1,)
        First of the `places` of each row.
    places : ndarray
        Stations of the neighbour at equal distances from `begins` to `ends`, two of them on straight roads [m]. In
        bends the outer lane is longer: between them, interpolated stations are beside each other to about 0.1 m. They
        decrease where it is oncoming.
    """

    lanelets: Ints
    others: Ints
    begins: Floats
    ends: Floats
    left: Bools
    same_direction: Bools
    may_cross: Bools
    place_offsets: Ints
    places: Floats


# columns of one row each, and the places of each row
Rows = tuple[tuple[NDArray[np.generic], ...], list[Floats]]
CLOSE = 0.1  # [m] error of interpolated places
DENSEST = 2.5  # [m] between places


def find_neighbours(lanelets: Lanelets) -> Neighbours:
    """Find the neighbours of all pieces of lanes.

    Neighbouring lanes have consecutive numbers in one segment. They are neighbours where their centrelines are at most
    2.5 lane widths apart, as for lane changes, parallel within 45°, and no third lane runs between.
    """
    found = [_nothing()]
    for pair in pairs_of_lanes(lanelets.roadmap):
        found += [_beside(lanelets, pair), _beside(lanelets, pair.reversed())]
    table = [np.concatenate(column) for column in zip(*(columns for columns, _ in found), strict=True)]
    places = list(itertools.chain.from_iterable(each for _, each in found))
    lanelet, _, begin = table[:3]
    order = np.lexsort((begin, lanelet))
    offsets = np.concatenate([[0], np.cumsum([len(places[row]) for row in order])]).astype(np.int64)
    flat = np.concatenate([np.zeros(0), *(places[row] for row in order)])
    return Neighbours._make([*(column[order] for column in table), offsets, flat])


def _beside(lanelets: Lanelets, pair: PairOfLanes) -> Rows:
    """Rows for the pieces of one lane, by the samples at which pieces of another are beside them."""
    import shapely

    lane, other = pair.source, pair.target
    there = lanelets.roadmap.lanes[other]
    pieces = np.flatnonzero(lanelets.lanes == lane)
    theirs = np.flatnonzero(lanelets.lanes == other)
    if not len(pieces) or not len(theirs):
        return _nothing()
    samples = np.concatenate([np.arange(*lanelets.offsets[piece : piece + 2]) for piece in pieces])
    points, own = lanelets.points[samples], lanelets.owners[samples]
    line = shapely.LineString(there.samples)
    shapely.prepare(line)
    near = np.flatnonzero(shapely.dwithin(line, shapely.points(points), pair.aside))
    foot, partner = np.zeros(len(samples)), np.zeros(len(samples), np.int64)
    left, turned, wanted = np.zeros(len(samples), bool), np.zeros(len(samples)), np.zeros(len(samples), bool)
    foot[near], feet = nearest_on(there.samples, points[near])
    partner[near] = theirs[np.clip(np.searchsorted(lanelets.begins[theirs], foot[near], side="right") - 1, 0, None)]
    row = np.clip(np.searchsorted(there.stations, foot[near]), 0, len(there.stations) - 1)
    headings = lanelets.headings[samples[near]]
    turned[near] = math.cos(headings - there.headings[row])
    aside = feet - points[near]
    along = np.stack([-math.sin(headings), math.cos(headings)], axis=1)
    left[near] = along[:, 0] * aside[:, 1] - along[:, 1] * aside[:, 0] > 0.0
    inner = (foot[near] > 0.0) & (foot[near] < line.length)
    parallel = (np.abs(turned[near]) > ALONG) & inner
    parallel[parallel] = ~pair.is_apart(lanelets.roadmap, points[near[parallel]], feet[parallel])
    wanted[near] = parallel
    keys = np.stack([own, partner, left, turned > 0.0, wanted], axis=1).astype(np.int64)
    first = np.flatnonzero(np.concatenate([[True], np.any(np.diff(keys, axis=0) != 0, axis=1)]))
    last = np.append(first[1:], len(keys)) - 1
    kept = wanted[first] & (lanelets.stations[samples[last]] > lanelets.stations[samples[first]])
    first, last = first[kept], last[kept]
    sides = left[first].astype(np.int64)
    solid = np.array([is_solid(lanelets.roadmap, lane, other, side) for side in (False, True)])[sides]
    known = np.array([bool(marking_between(lanelets.roadmap, lane, other, side)) for side in (False, True)])[sides]
    along = turned[first] > 0.0
    stations, begins = lanelets.stations[samples], lanelets.begins[partner[first]]
    theirs_first, theirs_last = _feet_at_ends(foot, stations, first, last)
    places = [
        _places(stations[i : j + 1], np.concatenate([[one], foot[i + 1 : j], [two]]) - begin)
        for i, j, one, two, begin in zip(first, last, theirs_first, theirs_last, begins, strict=True)
    ]
    columns = (
        own[first],
        partner[first],
        stations[first],
        stations[last],
        left[first],
        along,
        ~solid & (along | known),
    )
    return columns, places


def _places(stations: Floats, beside: Floats) -> Floats:
    """Places of a row, from the stations of its samples and those of the neighbour beside them: as few as will do."""
    count, length = 1, stations[-1] - stations[0]
    while True:
        knots = np.linspace(stations[0], stations[-1], count + 1)
        places = np.interp(knots, stations, beside)
        if np.abs(np.interp(stations, knots, places) - beside).max() <= CLOSE or length < 2 * count * DENSEST:
            return places
        count *= 2


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


def _nothing() -> Rows:
    return tuple(np.empty(0, kind) for kind in (int, int, float, float, *[bool] * 3)), []
