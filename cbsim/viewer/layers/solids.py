"""Shaded solids, painted back to front."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.pose import rotate
from cbsim.palette import SCENE
from cbsim.spec.mechanism.shapes import Box, Cylinder, Sphere
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.scene.stage import Stage
from cbsim.viewer.view import View, kind_of
from cbsim.world.figures import triangles_of

__all__ = ["draw_solids", "draw_solids_in_pieces", "solid_of"]

LIGHT = np.array([-0.35, 0.45, 0.82])  # unit vector towards the light: left, up and towards the viewer
PIECE = 100  # triangles per drawing step
DARKEST = 0.45  # brightness of a face turned away from the light


@lru_cache(maxsize=4096)
def _shape(kind: str, size: tuple[float, float, float]) -> Floats:
    width, length, height = size
    if kind == "sphere":
        return triangles_of(Sphere(0.5 * width))
    if kind == "cylinder":
        return triangles_of(Cylinder(0.5 * width, height))
    if kind == "wheel":
        return np.asarray(triangles_of(Cylinder(0.5 * height, width))[..., [2, 0, 1]])  # the axle points right
    return triangles_of(Box(width, length, height))


def solid_of(stage: Stage, row: int) -> Floats:
    """Triangles (k, 3, 3) [m] of a body in its own frame."""
    found = stage.solids.get(row)
    body = stage.bodies[row]
    return _shape(body.shape, body.size) if found is None else found


def draw_solids(canvas: Canvas, view: View, rows: Sequence[int]) -> None:
    """Draw bodies as shaded solids, the farthest first."""
    for _ in draw_solids_in_pieces(canvas, view, rows):
        pass


def draw_solids_in_pieces(canvas: Canvas, view: View, rows: Sequence[int]) -> Iterator[None]:
    """Draw as `draw_solids` does, yielding after some triangles."""
    state = view.state
    for row in sorted(rows, key=lambda row: float(view.projection.depth(state.position[row]))):
        triangles = solid_of(view.stage, row)
        if not len(triangles) or view.stage.radius[row] <= 0.0:
            continue
        placed = rotate(state.orientation[row], triangles) + state.position[row]
        yield from _draw(canvas, view, placed, view.stage.colours.get(row) or kind_of(view.stage.bodies[row].kind).fill)


def _draw(canvas: Canvas, view: View, triangles: Floats, colour: tuple[int, int, int]) -> Iterator[None]:
    """Draw the front-facing triangles among (k, 3, 3) [m], back to front."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    towards = view.projection.depth(normals)
    front = np.flatnonzero(towards > 1e-9 * np.maximum(lengths, 1e-12))
    if not len(front):
        front = np.arange(len(triangles))  # an open surface seen from behind
    pixels = view.to_screen(triangles[front])
    if view.letter:
        _ghost(canvas, pixels, colour)
        return
    lamp = LIGHT @ np.stack([view.projection.right, view.projection.up, view.projection.near])
    bright = np.maximum(normals[front] @ lamp, 0.0) / np.maximum(lengths[front], 1e-12)
    shade = DARKEST + (1.0 - DARKEST) * bright
    shades = np.clip(shade[:, None] * np.asarray(colour, float), 0, 255).astype(int)
    order = np.argsort(view.projection.depth(triangles[front]).mean(axis=1), kind="stable")
    for count, (corners, (red, green, blue)) in enumerate(zip(pixels[order], shades[order].tolist(), strict=True), 1):
        canvas.area(corners, (red, green, blue))
        if count % PIECE == 0:
            yield
    _outline(canvas, pixels)


def _outline(canvas: Canvas, pixels: Floats) -> None:
    """Draw the silhouette: edges of triangles (k, 3, 2) that belong to only one of them."""
    if len(pixels) > 4000:
        return
    edges = np.concatenate([pixels[:, [0, 1]], pixels[:, [1, 2]], pixels[:, [2, 0]]])
    rounded = np.round(edges, 3)
    flip = (rounded[:, 0, 0] > rounded[:, 1, 0]) | (
        (rounded[:, 0, 0] == rounded[:, 1, 0]) & (rounded[:, 0, 1] > rounded[:, 1, 1])
    )
    rounded[flip] = rounded[flip][:, ::-1]
    _, first, count = np.unique(rounded.reshape(-1, 4), axis=0, return_index=True, return_counts=True)
    for edge in edges[first[count == 1]]:
        canvas.line(edge, SCENE.ink, 1.0)


def _ghost(canvas: Canvas, pixels: Floats, colour: tuple[int, int, int]) -> None:
    import shapely

    hull = shapely.MultiPoint(pixels.reshape(-1, 2)).convex_hull
    if isinstance(hull, shapely.Polygon):
        ring = np.asarray(hull.exterior.coords)
        canvas.line(ring, SCENE.paint, 4.0)
        canvas.dashes(ring, colour, 2.0 * canvas.points, 6.0, 3.0)
