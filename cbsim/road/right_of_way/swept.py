"""Overlaps of the areas swept by vehicles on two lanelets, by strips of a few metres."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Bools, Floats, Ints
from cbsim.errors import ModelError
from cbsim.geometry.elementary import square
from cbsim.geometry.polyline import direction, left_of, wrap
from cbsim.road.lanelets import Lanelets

__all__ = ["PAIR_LIMIT", "SWEPT_WIDTH", "Overlaps", "overlaps", "swept_widths"]

SWEPT_WIDTH = 2.75  # [m] 2.5 m, the widest vehicle of the class, plus 0.25 m
STRETCH = 4  # sample intervals in one strip
PAIR_LIMIT = 200_000  # largest number of pairs of strips with overlapping boxes; the largest real networks have 20 000
PAIRS_EACH = 3  # the same per strip, in networks for which that is more; cities have one
BATCH = 256  # strips per query, to bound memory
MANY = 65_536  # number of strips from which a network is tested part by part first
TURNS_BACK, WHEELBASE = np.radians(120.0), 2.7  # change of heading within so many metres by which a way turns back
SWINGS = 1.5  # [m] by which a car that follows such a way swings out of the strip: its bumpers, as it swaps its ends
TOUCH = 1e-4  # [m²] smallest overlap: strips that just touch do not overlap
CELL = 8.0  # [m] least width of the cells in which near strips are searched
CELLS_EACH = 8  # largest mean number of cells of a strip; otherwise cells are made wider
CELL_PAIRS = 50  # pairs within cells per strip above which the index of shapely is used
CHUNK = 1 << 20  # strips, or pairs, per pass


class Overlaps(NamedTuple):
    """Strips of two lanelets that overlap, one row each.

    Attributes
    ----------
    one, other : ndarray of int, shape (k,)
        The lanelets, the smaller row first.
    one_from, one_to, other_from, other_to : ndarray, shape (k,)
        Stations of the overlap on each [m].
    """

    one: Ints
    other: Ints
    one_from: Floats
    one_to: Floats
    other_from: Floats
    other_to: Floats


def swept_widths(lanelets: Lanelets) -> Floats:
    """Width that vehicles sweep on each lanelet, shape (n,): 2.75 m, or the lanelet's where that is less [m]."""
    return np.minimum(SWEPT_WIDTH, lanelets.widths)


def overlaps(lanelets: Lanelets) -> Overlaps:
    """Find where swept areas overlap.

    Raises
    ------
    ModelError
        If more than 200 000 pairs of strips overlap, and more than 3 per strip, as only in a hostile file.
    """
    import shapely

    owners = _owners(lanelets)
    crowded = len(owners) > MANY and _near(lanelets, owners[:MANY]) is None  # told by the first lanelets, sooner
    near = None if crowded else _near(lanelets, owners)
    if near is None:
        strips = _strips(lanelets)
        one, other = _candidates(lanelets, strips)
    else:
        chosen, rows = np.unique(near, return_inverse=True)
        strips = _Strips(lanelets, chosen)
        one, other = _meeting(strips, *rows.reshape(2, -1))
    areas = shapely.intersection(strips.areas[one], strips.areas[other])
    meet = shapely.area(areas) > TOUCH
    one, other, areas = one[meet], other[meet], areas[meet]
    corners, owner = shapely.get_coordinates(areas, return_index=True)
    ranges = [strips.stations(strip, corners, owner) for strip in (one, other)]
    return Overlaps(strips.lanelets[one], strips.lanelets[other], *ranges[0], *ranges[1])


def _strips(lanelets: Lanelets) -> _Strips:
    """Make the strips of all lanelets; of large networks, test the first lanelets alone before.

    Notes
    -----
    The number of lanelets doubles with each test, so that a valid network takes twice as long at most.
    """
    count = np.cumsum(_strip_counts(lanelets))
    drawn = MANY
    while len(count) and drawn < count[-1]:
        some = int(np.searchsorted(count, drawn))
        _candidates(lanelets, _Strips(lanelets, np.arange(count[some - 1] if some else 0)))
        drawn *= 2
    return _Strips(lanelets, np.arange(count[-1] if len(count) else 0))


def _strip_counts(lanelets: Lanelets) -> Ints:
    """Count the strips of each lanelet, shape (n,); a lanelet of one sample has none."""
    return np.asarray(-(-(np.diff(lanelets.offsets) - 1) // STRETCH))


def _owners(lanelets: Lanelets) -> Ints:
    """Lanelet of each strip."""
    return np.repeat(np.arange(len(lanelets)), _strip_counts(lanelets))


def _outlines(lanelets: Lanelets, chosen: Ints, owners: Ints) -> tuple[Floats, Ints]:
    """Corners of some strips, shape (n, 2 · STRETCH + 2, 2) [m], and the rows of their samples."""
    count = _strip_counts(lanelets)
    step = chosen - (np.cumsum(count) - count)[owners]
    first = lanelets.offsets[owners] + STRETCH * step
    last = np.minimum(first + STRETCH, lanelets.offsets[owners + 1] - 1)
    rows = np.minimum(first[:, None] + np.arange(STRETCH + 1), last[:, None])
    half = 0.5 * swept_widths(lanelets)[owners][:, None, None]
    points = lanelets.points[rows]
    aside = half * left_of(direction(lanelets.headings[rows]))
    return np.concatenate([points + aside, (points - aside)[:, ::-1]], axis=1), rows


@lru_cache(maxsize=1)
def _turning_back(lanelets: Lanelets) -> Bools:
    """Find the samples at which a lanelet turns back on the spot, or does so against the one before or behind it."""
    headings, last = lanelets.headings, lanelets.offsets[1:] - 1
    # stations that increase over all lanelets
    rooms = lanelets.lengths + 2.0 * WHEELBASE
    along = lanelets.stations + np.repeat(np.cumsum(rooms) - rooms, np.diff(lanelets.offsets))
    until = np.searchsorted(along, along + WHEELBASE, side="right")
    sharp = np.flatnonzero(np.abs(headings[until - 1] - headings) > TURNS_BACK)
    marks = np.zeros(len(along) + 1, np.int64)
    np.add.at(marks, sharp, 1)
    np.add.at(marks, until[sharp], -1)
    found = np.cumsum(marks[:-1]) > 0
    after = lanelets.successors
    ends, begins = last[np.repeat(np.arange(len(lanelets)), np.diff(after.offsets))], lanelets.offsets[after.items]
    kinks = np.abs(wrap(headings[begins] - headings[ends])) > TURNS_BACK
    found[ends[kinks]] = found[begins[kinks]] = True
    return np.asarray(found)


def _near(lanelets: Lanelets, owners: Ints) -> Ints | None:
    """Pairs of strips of different lanelets whose boxes overlap, shape (2, k), the lanelet with the smaller row first.

    Parameters
    ----------
    lanelets : Lanelets
    owners : ndarray of int
        Lanelet of each strip, of all strips or the first of them.

    Returns
    -------
    ndarray or None
        None where so many strips are close together that an index is needed to find them.
    """
    if not len(owners):
        return np.empty((2, 0), np.int64)
    low, high, back = np.empty((len(owners), 2)), np.empty((len(owners), 2)), _turning_back(lanelets)
    for start in range(0, len(owners), CHUNK):
        some = np.arange(start, min(start + CHUNK, len(owners)))
        corners, rows = _outlines(lanelets, some, owners[some])
        more = np.where(back[rows].any(axis=1), SWINGS, 0.0)[:, None]
        low[some], high[some] = corners.min(axis=1) - more, corners.max(axis=1) + more
    origin, width = low.min(axis=0), CELL
    while np.prod(np.floor((high - origin) / width) - np.floor((low - origin) / width) + 1.0, axis=1).sum() > (
        CELLS_EACH * len(owners)
    ):
        width *= 2.0
    first, last = (np.floor((bound - origin) / width).astype(np.int64) for bound in (low, high))
    columns = int(last[:, 0].max()) + 1
    spans = last - first + 1
    strips = np.repeat(np.arange(len(owners)), spans.prod(axis=1))
    place = np.arange(len(strips)) - np.repeat(np.cumsum(spans.prod(axis=1)) - spans.prod(axis=1), spans.prod(axis=1))
    aside, along = place % spans[strips, 0], place // spans[strips, 0]
    cells = (first[strips, 1] + along) * columns + first[strips, 0] + aside
    order = np.argsort(cells, kind="stable")
    cells, strips = cells[order], strips[order]
    after = np.searchsorted(cells, cells, side="right") - np.arange(len(cells)) - 1  # others behind it in its cell
    if after.sum() > max(CELL_PAIRS * len(owners), CHUNK):
        return None
    limit, found, total = _pair_limit(len(owners)), list[Ints](), 0
    stops = np.cumsum(after)
    begin = 0
    while begin < len(cells):
        stop = max(int(np.searchsorted(stops, (stops[begin - 1] if begin else 0) + CHUNK)), begin + 1)
        one = np.repeat(np.arange(begin, stop), after[begin:stop])
        before = np.cumsum(after[begin:stop]) - after[begin:stop]
        other = one + 1 + np.arange(len(one)) - np.repeat(before, after[begin:stop])
        cell, one, other = cells[one], strips[one], strips[other]
        corner = np.maximum(first[one], first[other])
        wanted = (owners[one] != owners[other]) & (corner[:, 1] * columns + corner[:, 0] == cell)
        wanted &= np.all((low[one] <= high[other]) & (low[other] <= high[one]), axis=1)
        found.append(np.sort(np.stack([one[wanted], other[wanted]]), axis=0))
        total += int(wanted.sum())
        if total > limit:
            raise _too_many(lanelets, limit)
        begin = stop
    return np.concatenate(found, axis=1)


def _pair_limit(strips: int) -> int:
    return max(PAIR_LIMIT, PAIRS_EACH * strips)


def _too_many(lanelets: Lanelets, limit: int) -> ModelError:
    text = f"the road network '{lanelets.roadmap.name}' has lanes and exits that overlap in more than {limit} places"
    return ModelError(text, location=lanelets.roadmap.network.location)


class _Strips:
    """Swept areas of lanelets, cut across every few samples: those of some strips, in order."""

    def __init__(self, lanelets: Lanelets, chosen: Ints) -> None:
        import shapely

        self.lanelets = _owners(lanelets)[chosen]
        rings, rows = _outlines(lanelets, chosen, self.lanelets)
        self.areas = np.asarray(shapely.polygons(rings), object)
        crossed = ~shapely.is_valid(self.areas)
        self.areas[crossed] = shapely.convex_hull(self.areas[crossed])  # on the inner side of a tight bend
        back = _turning_back(lanelets)[rows].any(axis=1)
        self.areas[back] = shapely.buffer(self.areas[back], SWINGS)
        self._points = lanelets.points[rows]
        self._stations = lanelets.stations[rows]

    def stations(self, strips: Ints, corners: Floats, owner: Ints) -> tuple[Floats, Floats]:
        """Project corners (c, 2), which belong to `strips[owner]`, on the centrelines: first and last stations."""
        if not len(strips):
            return np.empty(0), np.empty(0)
        rows = strips[owner]
        best, along = np.full(len(rows), np.inf), np.zeros(len(rows))
        for k in range(STRETCH):  # nearest point of each chord; chords that repeat the last sample have zero length
            here, chord = self._points[rows, k], self._points[rows, k + 1] - self._points[rows, k]
            away, size = corners - here, np.maximum(np.sum(chord * chord, axis=1), 1e-12)
            share = np.clip(np.sum(away * chord, axis=1) / size, 0.0, 1.0)
            gap = square(away - share[:, None] * chord).sum(axis=1)
            nearer = gap < best - 1e-12
            begin, end = self._stations[rows, k], self._stations[rows, k + 1]
            best, along = np.where(nearer, gap, best), np.where(nearer, begin + share * (end - begin), along)
        starts = np.searchsorted(owner, np.arange(len(strips)))
        return np.minimum.reduceat(along, starts), np.maximum.reduceat(along, starts)


def _candidates(lanelets: Lanelets, strips: _Strips) -> tuple[Ints, Ints]:
    """Pairs of strips of different lanelets whose areas intersect, the lanelet with the smaller row first."""
    import shapely

    tree = shapely.STRtree(strips.areas)
    limit, found, total = _pair_limit(len(strips.areas)), [np.empty((2, 0), np.int64)], 0
    for start in range(0, len(strips.areas), BATCH):
        one, other = tree.query(strips.areas[start : start + BATCH])
        one = one + start
        wanted = strips.lanelets[one] < strips.lanelets[other]
        total += int(wanted.sum())
        if total > limit:
            raise _too_many(lanelets, limit)
        found.append(np.stack([one[wanted], other[wanted]]))
    return _meeting(strips, *np.concatenate(found, axis=1))


def _meeting(strips: _Strips, one: Ints, other: Ints) -> tuple[Ints, Ints]:
    """Of pairs of strips those whose areas intersect, in order."""
    import shapely

    order = np.lexsort((other, one, strips.lanelets[other], strips.lanelets[one]))
    one, other = one[order], other[order]
    meet = shapely.intersects(strips.areas[one], strips.areas[other])
    return one[meet], other[meet]
