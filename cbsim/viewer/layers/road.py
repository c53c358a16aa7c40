"""Road: zones, surface, markings, stop lines and parking spots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from cbsim.arrays import Floats
from cbsim.palette import MARKINGS, SCENE
from cbsim.road.drawing import Road
from cbsim.viewer.drawing.canvas import Canvas, Line
from cbsim.viewer.drawing.polyline_batch import PolylineBatch, dashes_of
from cbsim.viewer.view import View

__all__ = ["box_of", "draw_markings", "draw_spots", "draw_stops", "draw_surface", "draw_zones"]

LINE, STOP = 0.12, 0.4  # [m] widths of painted lines
THINNEST = 0.22  # [pixels] thinner markings are omitted
SMOOTH = 2.0  # [pixels per metre] below, crossings are not anti-aliased
DASHED = 1.5  # [pixels per metre] below, dashed markings are drawn solid
PIECE = 100  # lines or areas per drawing step


class RoadBatches:
    """Polyline batches of a road."""

    def __init__(self, road: Road) -> None:
        self.lanes = PolylineBatch([np.concatenate([lane.left, lane.right[::-1]]) for lane in road.lanes])
        self.ways = PolylineBatch(road.ways)
        self.zones = PolylineBatch([corners for _, corners in road.zones])
        self.spots = PolylineBatch([corners for _, corners in road.spots])
        self.stops = PolylineBatch(road.stops)
        self.line, self.stop = LINE * road.paint, STOP * road.paint  # [m]
        edges = dict[str, list[Floats]]()
        for lane in road.lanes:
            for mark, edge in zip(lane.marks, (lane.left, lane.right), strict=True):
                edges.setdefault(mark, []).append(edge)
        self.edges = {mark: PolylineBatch(lines) for mark, lines in edges.items()}
        self._dashes: dict[str, PolylineBatch] = {}

    def dashes(self, mark: str, dash: tuple[float, float]) -> PolylineBatch:
        """Return the dashes of the edges with a marking, cached."""
        if mark not in self._dashes:
            edges = self.edges.get(mark)
            self._dashes[mark] = PolylineBatch([] if edges is None else dashes_of(edges.lines, *dash))
        return self._dashes[mark]


@lru_cache(maxsize=8)
def road_batches(road: Road) -> RoadBatches:
    """Return the batches of a road, cached."""
    return RoadBatches(road)


def box_of(road: Road) -> tuple[Floats, Floats] | None:
    """Corners (2,) of the bounding box of all lanes and zones [m], or None."""
    shown = road_batches(road)
    boxes = [bundle.box for bundle in (shown.lanes, shown.zones)]
    corners = np.array([box for box in boxes if box is not None])
    return (corners[:, 0].min(axis=0), corners[:, 1].max(axis=0)) if len(corners) else None


def _in_pieces(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    return (lines[start : start + PIECE] for start in range(0, len(lines), PIECE))


def draw_zones(canvas: Canvas, view: View) -> Iterator[None]:
    """Fill zones, and draw their dashed perimeters."""
    if view.stage.road is None:
        return
    zones = road_batches(view.stage.road).zones.visible(view.camera, area=True)
    canvas.areas(zones, SCENE.zone)
    for corners in zones:
        on, off = 7.0 * canvas.points, 5.0 * canvas.points
        canvas.dashes(np.array([*corners, corners[0]]), SCENE.ink, canvas.points, on, off)
        yield


def draw_surface(canvas: Canvas, view: View) -> Iterator[None]:
    """Fill the connections through intersections, then the lanes."""
    if view.stage.road is None:
        return
    road, camera = road_batches(view.stage.road), view.camera
    for bundle, colour in ((road.ways, SCENE.crossing), (road.lanes, SCENE.asphalt)):
        smooth = bundle is road.lanes or camera.scale > SMOOTH
        for areas in _in_pieces(bundle.simplified(camera.scale).visible(camera, area=True)):
            canvas.areas(areas, colour, smooth=smooth)
            yield


def draw_markings(canvas: Canvas, view: View) -> Iterator[None]:
    """Draw lane markings: yellow or white, solid or dashed, single or double; faint if the file states none."""
    if view.stage.road is None:
        return
    road, camera = road_batches(view.stage.road), view.camera
    width = road.line * camera.scale
    if width < THINNEST:
        return
    for mark in (*(mark for mark in road.edges if mark not in MARKINGS), *MARKINGS):
        look = MARKINGS.get(mark)
        bundle = road.edges.get(mark)
        if look is not None and look.dash is not None and camera.scale > DASHED:
            bundle = road.dashes(mark, look.dash)
        if bundle is None:
            continue
        if look is None:
            strokes = [(SCENE.unmarked, 1.0)]
        elif look.lines == 2 and width > 0.8:
            strokes = [(look.colour, 3.0 * width), (SCENE.asphalt, width)]
        else:
            strokes = [(look.colour, width * look.lines)]
        lines = bundle.simplified(camera.scale).visible(camera)
        for colour, broad in strokes:
            for some in _in_pieces(lines):
                canvas.strokes(some, colour, broad)
                yield


def draw_spots(canvas: Canvas, view: View) -> None:
    """Draw the edges of parking spots, open at their entries."""
    if view.stage.road is None:
        return
    road, camera = road_batches(view.stage.road), view.camera
    canvas.strokes(road.spots.visible(camera), SCENE.paint, road.line * camera.scale)


def draw_stops(canvas: Canvas, view: View) -> None:
    """Draw stop lines; from far away they keep a width of two points."""
    if view.stage.road is None or view.camera.scale < 0.6:
        return
    road, camera = road_batches(view.stage.road), view.camera
    width = max(road.stop * camera.scale, 2.0 * canvas.points if camera.scale > 2.0 else 1.0)
    canvas.strokes(road.stops.visible(camera), SCENE.paint, width)
