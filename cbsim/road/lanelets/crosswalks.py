"""Crosswalks of RNDF 1.1 on lanelets, with their stations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.geometry import elementary as math
from cbsim.geometry.polyline import left_of
from cbsim.road.lanelets.table import Lanelets
from cbsim.road.roadmap import RoadMap

__all__ = ["Crosswalks", "find_crosswalks"]

DEFAULT_WIDTH = 3.0  # [m] of crosswalks without a width


class Crosswalks(NamedTuple):
    """Overlaps of crosswalks and lanelets, in the order of lanelet and station.

    Attributes
    ----------
    names : tuple of str
        Of the crosswalks, ``9.1`` for crosswalk 1 of segment 9.
    areas : ndarray, shape (crosswalks, 4, 2)
        Corners [m].
    lanelets, crosswalks : ndarray of int, shape (k,)
        Rows of the lanelets, and of `names`.
    begins, ends : ndarray, shape (k,)
        Stations of the lanelet's centreline between which the crosswalk lies [m].
    """

    names: tuple[str, ...]
    areas: Floats
    lanelets: Ints
    crosswalks: Ints
    begins: Floats
    ends: Floats


def find_crosswalks(lanelets: Lanelets) -> Crosswalks:
    """Find the crosswalks on the lanelets of a network."""
    import shapely

    names, areas = _areas(lanelets.roadmap)
    none = np.empty(0, np.int64)
    long_enough = np.flatnonzero(np.diff(lanelets.offsets) > 1)
    if not names or not len(long_enough):
        return Crosswalks(names, areas, none, none, np.empty(0), np.empty(0))
    rows = np.isin(lanelets.owners, long_enough)
    numbers = np.searchsorted(long_enough, lanelets.owners[rows])
    lines = np.asarray(shapely.linestrings(lanelets.points[rows], indices=numbers), object)
    polygons = np.asarray(shapely.polygons(areas), object)
    line, area = shapely.STRtree(polygons).query(lines, predicate="intersects")
    parts, owner = shapely.get_parts(shapely.intersection(lines[line], polygons[area]), return_index=True)
    ends, part = shapely.get_coordinates(parts, return_index=True)
    stations = shapely.line_locate_point(lines[line][owner[part]], shapely.points(ends))
    starts = np.searchsorted(part, np.arange(len(parts)))
    begins, finishes = np.minimum.reduceat(stations, starts), np.maximum.reduceat(stations, starts)
    own, crossed = long_enough[line[owner]], area[owner]
    order = np.lexsort((begins, own))
    return Crosswalks(names, areas, own[order], crossed[order], begins[order], finishes[order])


def _areas(roadmap: RoadMap) -> tuple[tuple[str, ...], Floats]:
    """Names and corners of the crosswalks with two distinct ends."""
    names, areas = [], [np.empty((0, 4, 2))]
    for segment in roadmap.network.segments:
        for crosswalk in segment.crosswalks:
            ends = roadmap.plane.to_local(crosswalk.ends.latitude, crosswalk.ends.longitude)
            length = math.hypot(*(ends[-1] - ends[0])) if len(ends) == 2 else 0.0
            if not (np.isfinite(ends).all() and length > 0.0):
                continue
            aside = 0.5 * (crosswalk.width or DEFAULT_WIDTH) * left_of((ends[1] - ends[0]) / length)
            names.append(f"{crosswalk.segment}.{crosswalk.number}")
            areas.append(np.stack([ends[0] + aside, ends[1] + aside, ends[1] - aside, ends[0] - aside])[None])
    return tuple(names), np.concatenate(areas)
