"""Conflict areas of lanelets, and who yields: ways in of those who do in one colour, of those who go first in another.

Where the order of arrival decides, both approaches have the colour of those who yield, to the one that came first.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.palette import SERIES
from cbsim.road.lanelets import build_lanelets
from cbsim.road.right_of_way import Conflicts, Rule, conflict_areas, find_conflicts
from cbsim.road.roadmap import RoadMap
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.drawing.polyline_batch import PolylineBatch
from cbsim.viewer.view import View

__all__ = ["draw"]

YIELDS, FIRST, AREA = SERIES[1], SERIES[2], SERIES[4]
LEAD = 6.0  # [m] of the way in that is drawn before a conflict area
BROAD = 0.5  # [m]
SMALLEST = 0.8  # [pixels per metre] below, nothing of it could be told apart


class _Pictured:
    """Conflicts in bundles, made once for each network."""

    def __init__(self, conflicts: Conflicts) -> None:
        self.areas = PolylineBatch([corners for corners in conflict_areas(conflicts) if len(corners)])
        yielding: list[Floats] = []
        first: list[Floats] = []
        for row in range(len(conflicts)):
            side = int(conflicts.yields[row])
            by_arrival = conflicts.rules[row] == Rule.ARRIVAL
            yielding.append(_way_in(conflicts, row, side))
            (yielding if by_arrival else first).append(_way_in(conflicts, row, 1 - side))
        self.yielding, self.first = (PolylineBatch([way for way in ways if len(way)]) for ways in (yielding, first))


def _way_in(conflicts: Conflicts, row: int, side: int) -> Floats:
    """Centreline before a conflict area, on its own lanelet, shape (n, 2) [m]; empty where there is none."""
    lanelets = conflicts.lanelets
    part = lanelets.samples_of(int(conflicts.pairs[row, side]))
    stations, end = lanelets.stations[part], float(conflicts.begins[row, side])
    begin = max(0.0, end - LEAD)
    if end - begin < 0.1:
        return np.empty((0, 2))
    where = np.concatenate([[begin], stations[(stations > begin) & (stations < end)], [end]])
    return np.stack([np.interp(where, stations, lanelets.points[part, axis]) for axis in (0, 1)], axis=1)


@lru_cache(maxsize=4)
def _pictured(roadmap: RoadMap) -> _Pictured | None:
    """Bundle the conflicts of a network; None where there is too much to look at."""
    try:
        return _Pictured(find_conflicts(build_lanelets(roadmap)))
    except ModelError:
        return None


def draw(canvas: Canvas, view: View) -> Iterator[None]:
    """Fill conflict areas, and draw the ways in."""
    roadmap, camera = view.stage.roadmap, view.camera
    if roadmap is None or camera.scale < SMALLEST:
        return
    found = _pictured(roadmap)
    if found is None:
        return
    canvas.areas(found.areas.visible(camera, area=True), AREA)
    yield
    width = max(BROAD * camera.scale, 1.5 * canvas.points)
    for ways, colour in ((found.first, FIRST), (found.yielding, YIELDS)):
        canvas.strokes(ways.visible(camera), colour, width)
        yield
