"""Bodies and the road as scene entities, sent once; bodies in frames of their own, which move."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.foxglove.messages import HERE, MAP, QUARTER, Fields, colour, entity, frame_of, pose, vector
from cbsim.geometry.polyline import direction, left_of
from cbsim.geometry.pose import Pose
from cbsim.palette import KINDS, MARKINGS, PAINT, SCENE
from cbsim.recording.batch import Header
from cbsim.road.drawing import Label, Road
from cbsim.world.tables import Shapes

__all__ = ["bodies", "road"]

LINE_LIST = 2
GRAIN = 6  # decimals of points of meshes in metres
ROAD_GRAIN = 3  # of the road: edges are simplified by a centimetre
PAINT_WIDTH, STOP_WIDTH = 0.12, 0.4  # [m]
APART = 0.12  # offset of the lines of a double line from their middle [m]
TEXT = 1.0  # height of the numbers of checkpoints [m]
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
ASIDE = np.array([math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0])  # turns the axis of a cylinder, z, into that of a wheel, x


def bodies(
    header: Header, time: float, shapes: Shapes | None, named: Iterable[tuple[int, str]] | None = None
) -> list[Fields]:
    """Return an entity for each body: in its own frame if it moves, else in the map.

    Parameters
    ----------
    header : Header
    time : float
        Start [s].
    shapes : Shapes, optional
        Triangles of meshes; without them a mesh is drawn as its box.
    named : iterable of (int, str), optional
        Rows and names; by default all.
    """
    moving = set(header.moving)
    found = []
    for row, name in enumerate(header.objects.names) if named is None else named:
        item = header.objects[row]
        kind = str(item.get("type", "static"))
        size = np.asarray(item.get("size") or (0.0, 0.0, 0.0), float)
        placed = np.array([*item["position"], *item["orientation"]])
        if not (np.isfinite(placed).all() and np.isfinite(size).all()):
            continue
        primitives = _body(str(item.get("shape", "box")), size, kind, _triangles(shapes, row))
        if row not in moving:
            for one in (one for group in primitives.values() for one in group):
                one["pose"] = _placed(placed, one["pose"])
        frame = frame_of("body", name) if row in moving else MAP
        found.append(entity(time, frame, name, {"kind": kind, "size": "{:g} {:g} {:g} m".format(*size)}, **primitives))
    return found


def _placed(placed: Floats, own: Fields) -> Fields:
    """Transform a pose from a body's frame to the map, given the body's position and orientation (7,)."""
    at, turned = own["position"], own["orientation"]
    inner = Pose(np.array([at["x"], at["y"], at["z"]]), np.array([turned["w"], turned["x"], turned["y"], turned["z"]]))
    return pose(*(Pose(placed[:3], placed[3:]) @ inner))


def _triangles(shapes: Shapes | None, row: int) -> Floats:
    if shapes is None or row >= len(shapes.first):
        return np.zeros((0, 3, 3))
    return np.asarray(shapes.triangles[shapes.first[row] : shapes.last[row]])


def _body(shape: str, size: Floats, kind: str, triangles: Floats) -> dict[str, list[Fields]]:
    """Draw one body in its own axes."""
    look = KINDS.get(kind, KINDS["static"])
    paint = colour(look.fill)
    width, length, height = map(float, size)
    drawn: dict[str, list[Fields]] = {}
    if len(triangles):
        drawn["triangles"] = [_mesh(triangles, paint)]
    elif shape == "sphere":
        drawn["spheres"] = [{"pose": HERE, "size": vector(size), "color": paint}]
    elif shape in {"cylinder", "wheel"}:
        wheel = shape == "wheel"
        own = np.array([length, height, width]) if wheel else size
        turned = pose(np.zeros(3), ASIDE if wheel else UPRIGHT)
        round_ = {"pose": turned, "size": vector(own), "bottom_scale": 1.0, "top_scale": 1.0, "color": paint}
        drawn["cylinders"] = [round_]
    elif size.any():
        drawn["cubes"] = [{"pose": HERE, "size": vector(size), "color": paint}]
    if look.front and length > 0.0:
        drawn["arrows"] = [_arrow(width, length, height)]
    return drawn


def _arrow(width: float, length: float, height: float) -> Fields:
    """Return an arrow on the roof that points to the front."""
    thick = 0.3 * min(width, length)
    return {
        "pose": pose(np.array([0.0, 0.0, 0.5 * height]), QUARTER),
        "shaft_length": 0.25 * length,
        "shaft_diameter": 0.5 * thick,
        "head_length": 0.25 * length,
        "head_diameter": thick,
        "color": colour(SCENE.paint),
    }


def _mesh(triangles: Floats, paint: Fields) -> Fields:
    """Return triangles (n, 3, 3) as an indexed mesh without duplicate vertices."""
    corners, indices = np.unique(triangles.reshape(-1, 3).round(GRAIN), axis=0, return_inverse=True)
    return {
        "pose": HERE,
        "points": [vector(corner) for corner in corners],
        "color": paint,
        "colors": [],
        "indices": indices.ravel().tolist(),
    }


def road(drawn: Road, time: float) -> list[Fields]:
    """Draw a network: edges of lanes as they are marked, stop lines, zones and spots, numbers of checkpoints.

    Lines of one colour form one list of segments: viewers draw few long lists faster than many short lines.
    """
    marks: dict[tuple[int, int, int], list[Floats]] = {}
    for lane in drawn.lanes:
        for edge, mark in zip((lane.left, lane.right), lane.marks, strict=True):
            look = MARKINGS.get(mark)
            segments = marks.setdefault(SCENE.unmarked if look is None else look.colour, [])
            if look is None:
                segments.append(_segments(edge))
            elif look.dash is not None:
                segments.append(_dashes(edge, *look.dash))
            else:
                aside = APART * drawn.paint * left_of(_directions(edge)) if look.lines > 1 else np.zeros_like(edge)
                sides = (edge - aside, edge + aside) if look.lines > 1 else (edge,)
                segments += [_segments(side) for side in sides]
    stops = [_segments(stop) for stop in drawn.stops]
    areas = [_segments(np.concatenate([corners, corners[:1]])) for _, corners in (*drawn.zones, *drawn.spots)]
    notes, thin, broad = {"network": drawn.name}, PAINT_WIDTH * drawn.paint, STOP_WIDTH * drawn.paint
    return [
        entity(time, MAP, "lanes", notes, lines=[_lines(found, paint, thin) for paint, found in marks.items()]),
        entity(
            time,
            MAP,
            "stop lines",
            notes,
            lines=[_lines(stops, SCENE.paint, broad)] if stops else [],
        ),
        entity(time, MAP, "zones", notes, lines=[_lines(areas, SCENE.zone, thin)] if areas else []),
        entity(time, MAP, "checkpoints", notes, texts=[_text(label) for label in drawn.checkpoints]),
    ]


def _directions(edge: Floats) -> Floats:
    """Return the unit tangents (n, 2) of a line at its points."""
    if len(edge) < 2:
        return np.zeros_like(edge)
    along = np.gradient(edge, axis=0)
    return np.asarray(direction(np.arctan2(-along[:, 0], along[:, 1])))


def _segments(line: Floats) -> Floats:
    """List the ends (k, 2) of the segments of a line (n, 2) in pairs."""
    return np.repeat(line, 2, axis=0)[1:-1]


def _dashes(line: Floats, dash: float, gap: float) -> Floats:
    """List the ends (k, 2) of dashes [m] along a line; dashes are straight, as they are short against its curves."""
    run = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    starts = np.arange(0.0, run[-1], dash + gap)
    ends = np.stack([starts, np.minimum(starts + dash, run[-1])], axis=1).ravel()
    return np.stack([np.interp(ends, run, line[:, 0]), np.interp(ends, run, line[:, 1])], axis=1)


def _lines(segments: list[Floats], paint: tuple[int, int, int], width: float) -> Fields:
    points = np.concatenate(segments).round(ROAD_GRAIN).tolist()
    return {
        "type": LINE_LIST,
        "pose": HERE,
        "thickness": width,
        "scale_invariant": False,
        "points": [{"x": x, "y": y, "z": 0.0} for x, y in points],
        "color": colour(paint),
        "colors": [],
        "indices": [],
    }


def _text(label: Label) -> dict[str, Any]:
    return {
        "pose": pose(np.array([*label.place, TEXT]), UPRIGHT),
        "billboard": True,
        "font_size": TEXT,
        "scale_invariant": False,
        "color": colour(PAINT.checkpoint),
        "text": label.text,
    }
