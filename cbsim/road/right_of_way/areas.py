"""Conflict areas for drawing: intersections of the swept strips of two lanelets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.polyline import direction, left_of
from cbsim.road.lanelets import Lanelets
from cbsim.road.right_of_way.conflicts import Conflicts
from cbsim.road.right_of_way.swept import swept_widths

if TYPE_CHECKING:
    from shapely import Polygon

__all__ = ["conflict_areas"]


def conflict_areas(conflicts: Conflicts) -> list[Floats]:
    """Draw the area of each conflict.

    Returns
    -------
    list of ndarray, each (n, 2)
        Corners [m]; of several parts the largest, and none where the swept strips barely touch.
    """
    import shapely

    widths = swept_widths(conflicts.lanelets)
    found = []
    for pair, begins, ends in zip(conflicts.pairs.tolist(), conflicts.begins, conflicts.ends, strict=True):
        one, other = (
            _strip(conflicts.lanelets, row, begin, end, float(widths[row]))
            for row, begin, end in zip(pair, begins.tolist(), ends.tolist(), strict=True)
        )
        parts = [part for part in shapely.get_parts(one.intersection(other)) if isinstance(part, shapely.Polygon)]
        best = max(parts, key=lambda part: part.area, default=None)
        found.append(np.empty((0, 2)) if best is None else np.asarray(best.exterior.coords)[:-1])
    return found


def _strip(lanelets: Lanelets, row: int, begin: float, end: float, width: float) -> Polygon:
    """Area swept between two stations of a lanelet."""
    import shapely

    part = lanelets.samples_of(row)
    stations = lanelets.stations[part]
    inner = stations[(stations > begin) & (stations < end)]
    where = np.concatenate([[begin], inner, [end]])
    centre = np.stack([np.interp(where, stations, lanelets.points[part, axis]) for axis in (0, 1)], axis=1)
    aside = 0.5 * width * left_of(direction(np.interp(where, stations, lanelets.headings[part])))
    strip = shapely.Polygon(np.concatenate([centre + aside, (centre - aside)[::-1]]))
    return strip if strip.is_valid else strip.buffer(0.0)
