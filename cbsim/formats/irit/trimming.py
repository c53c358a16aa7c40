"""Trimmed surfaces and models as triangles: every cell of a surface's grid is cut along the loops of its parameters.

What is inside an odd number of loops stays (even-odd), whichever way round they go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cbsim.formats.irit import splines
from cbsim.formats.irit.polygons import LARGEST, cut_ears
from cbsim.spec.irit.objects import Freeform, ModelSegment, SolidModel, Trimmed

if TYPE_CHECKING:
    from shapely import Geometry

__all__ = ["model_triangles", "trimmed_triangles"]

Floats = NDArray[np.float64]
CURVE_PARTS = 8
NOTHING = np.zeros((0, 3, 3))


def trimmed_triangles(item: Trimmed, parts: int) -> Floats:
    """Triangles (n, 3, 3) of a trimmed surface."""
    loops = [_chain([_outline(curves[0]) for curves in loop]) for loop in item.loops]
    return _inside(item.surface, loops, parts)


def model_triangles(item: SolidModel, parts: Callable[[Freeform], int]) -> Floats:
    """Triangles (n, 3, 3) of all surfaces of a model, each trimmed by its loops of segments."""
    found = [NOTHING]
    for number, part in enumerate(item.surfaces, 1):
        loops = [_chain([_border(item.segments[abs(k) - 1], number) for k in loop]) for loop in part.loops]
        found.append(_inside(part.surface, loops, parts(part.surface)))
    return np.concatenate(found)


def _border(segment: ModelSegment, surface: int) -> Floats:
    """Outline a segment in the parameters of one of its two surfaces."""
    second = segment.numbers[2] == surface and segment.numbers[1] != surface
    return _outline(segment.curves[-1 if second and len(segment.curves) > 1 else 0])


def _outline(curve: Freeform) -> Floats:
    """Points (n, 2) along a curve in the plane of the parameters."""
    return np.asarray(splines.grid(curve, CURVE_PARTS)[1][:, :2])


def _chain(pieces: Sequence[Floats]) -> Floats:
    """Join pieces (n, 2) to one loop, each turned so that it begins nearest to the end of those before it."""
    if len(pieces) > 1:
        first, second = pieces[0], pieces[1]
        gaps = [np.linalg.norm(first[end] - second[[0, -1]], axis=1).min() for end in (0, -1)]
        chain = [first[::-1] if gaps[0] < gaps[1] else first]
        for piece in pieces[1:]:
            here = chain[-1][-1]
            chain.append(piece[::-1] if np.linalg.norm(piece[-1] - here) < np.linalg.norm(piece[0] - here) else piece)
        return np.concatenate(chain)
    return pieces[0]


def _inside(surface: Freeform, loops: Iterable[Floats], parts: int) -> Floats:
    import shapely

    (us, vs), _ = splines.grid(surface, parts)
    region: Geometry | None = None
    for loop in loops:
        if len(loop) < 3 or not np.isfinite(loop).all():
            continue
        area = shapely.make_valid(shapely.Polygon(loop))
        region = area if region is None else shapely.symmetric_difference(region, area)
    low_u, low_v = np.meshgrid(us[:-1], vs[:-1])
    high_u, high_v = np.meshgrid(us[1:], vs[1:])
    cells = shapely.box(low_u.ravel(), low_v.ravel(), high_u.ravel(), high_v.ravel())
    flat = [_triangles(cell) for cell in (cells if region is None else shapely.intersection(cells, region))]
    corners = np.concatenate([np.zeros((0, 3, 2)), *flat])
    if not len(corners):
        return NOTHING
    return _on_surface(surface, corners.reshape(-1, 2)).reshape(-1, 3, 3)


def _on_surface(surface: Freeform, at: Floats) -> Floats:
    """Points (n, 3) of a surface at scattered parameters (n, 2), row by row of equal ones."""
    rows, row = np.unique(at[:, 1], return_inverse=True)
    order = np.argsort(row, kind="stable")
    bounds = np.searchsorted(row[order], np.arange(len(rows) + 1))
    out = np.empty((len(at), 3))
    for k, v in enumerate(rows):
        chosen = order[bounds[k] : bounds[k + 1]]
        out[chosen] = splines.evaluate(surface, at[chosen, 0], np.array([v]))[0]
    return out


def _triangles(shape: Any) -> Floats:
    """Triangles (n, 3, 2) of a plane shape, counter-clockwise; holes are opened by cuts through them."""
    import shapely

    found = [np.zeros((0, 3, 2))]
    waiting = [shape]
    while waiting:
        part = waiting.pop()
        if part.is_empty or part.area <= 0.0:
            continue
        if part.geom_type != "Polygon":
            waiting.extend(getattr(part, "geoms", ()))
        elif part.interiors:
            low_u, low_v, high_u, high_v = part.bounds
            middle = part.interiors[0].envelope.centroid.x
            waiting.append(part.intersection(shapely.box(low_u, low_v, middle, high_v)))
            waiting.append(part.intersection(shapely.box(middle, low_v, high_u, high_v)))
        else:
            ring = np.array(shapely.geometry.polygon.orient(part).exterior.coords)[:-1]
            if 3 <= len(ring) <= LARGEST:
                found.append(ring[cut_ears(ring)])
    return np.concatenate(found)
