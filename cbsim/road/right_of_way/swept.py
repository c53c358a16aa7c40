"""Overlaps of the areas swept by vehicles on two lanelets, by strips of a few metres."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import ModelError
from cbsim.geometry.elementary import square
from cbsim.geometry.polyline import direction, left_of
from cbsim.road.lanelets import Lanelets

__all__ = ["PAIR_LIMIT", "SWEPT_WIDTH", "Overlaps", "overlaps", "swept_widths"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

SWEPT_WIDTH = 2.75  # [m] 2.5 m, the widest vehicle of the class, plus 0.25 m
STRETCH = 4  # sample intervals in one strip
PAIR_LIMIT = 200_000  # largest number of pairs of strips with overlapping boxes; the largest real networks have 20 000
PAIRS_A_STRIP = 4  # the same per strip, for networks so large that this allows more; a grid of streets has 0.7
BATCH = 256  # strips per query, to bound memory
MANY = 65_536  # number of strips from which a network is tested part by part first
TOUCH = 1e-4  # [m²] smallest overlap: strips that just touch do not overlap


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
        If more than 200 000 pairs of strips overlap, and more than four per strip, as only in a hostile file.
    """
    import shapely

    strips = _strips(lanelets)
    one, other = _candidates(lanelets, strips)
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
        _candidates(lanelets, _Strips(lanelets, int(np.searchsorted(count, drawn))))
        drawn *= 2
    return _Strips(lanelets, len(lanelets))


def _strip_counts(lanelets: Lanelets) -> Ints:
    """Count the strips of each lanelet, shape (n,); a lanelet of one sample has none."""
    return np.asarray(-(-(np.diff(lanelets.offsets) - 1) // STRETCH))


class _Strips:
    """Swept areas of the first `stop` lanelets, cut across every few samples."""

    def __init__(self, lanelets: Lanelets, stop: int) -> None:
        import shapely

        count = _strip_counts(lanelets)[:stop]
        self.lanelets = np.repeat(np.arange(stop), count)
        step = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        first = lanelets.offsets[self.lanelets] + STRETCH * step
        last = np.minimum(first + STRETCH, lanelets.offsets[self.lanelets + 1] - 1)
        rows = np.minimum(first[:, None] + np.arange(STRETCH + 1), last[:, None])
        half = 0.5 * swept_widths(lanelets)[self.lanelets][:, None, None]
        points = lanelets.points[rows]
        aside = half * left_of(direction(lanelets.headings[rows]))
        rings = np.concatenate([points + aside, (points - aside)[:, ::-1]], axis=1)
        self.areas = np.asarray(shapely.polygons(rings), object)
        crossed = ~shapely.is_valid(self.areas)
        self.areas[crossed] = shapely.convex_hull(self.areas[crossed])  # on the inner side of a tight bend
        self._points = points
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
    limit = max(PAIR_LIMIT, PAIRS_A_STRIP * len(strips.areas))
    found, total = [np.empty((2, 0), np.int64)], 0
    for start in range(0, len(strips.areas), BATCH):
        one, other = tree.query(strips.areas[start : start + BATCH])
        one = one + start
        wanted = strips.lanelets[one] < strips.lanelets[other]
        total += int(wanted.sum())
        if total > limit:
            name = lanelets.roadmap.name
            text = f"the road network '{name}' has lanes and exits that overlap in more than {limit} places"
            raise ModelError(text, location=lanelets.roadmap.network.location)
        found.append(np.stack([one[wanted], other[wanted]]))
    one, other = np.concatenate(found, axis=1)
    order = np.lexsort((other, one, strips.lanelets[other], strips.lanelets[one]))
    one, other = one[order], other[order]
    meet = shapely.intersects(strips.areas[one], strips.areas[other])
    return one[meet], other[meet]
