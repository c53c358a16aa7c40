"""Tessellation of trimmed surfaces and models: cells of a surface's grid are cut along the trimming loops.

Regions inside an odd number of loops are kept (even-odd rule), whatever the orientation of loops.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.formats.irit import splines
from cbsim.formats.irit.polygons import LARGEST, cut_ears
from cbsim.geometry.linear import norm
from cbsim.spec.irit.objects import Freeform, ModelSegment, SolidModel, Trimmed

__all__ = ["TangledError", "model_triangles", "trimmed_triangles"]

CURVE_PARTS = 8
LOOPS, CORNERS = 1000, 1500  # loops of a surface, and corners of a loop
TANGLE = 4  # largest growth of the number of corners when loops are split at intersections
LEAST = 8  # cells along each direction of a trimmed surface
NOTHING = np.zeros((0, 3, 3))


class TangledError(ValueError):
    """A surface cannot be trimmed."""


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
    """Outline of a segment in the parameters of one of its two surfaces."""
    second = segment.numbers[2] == surface and segment.numbers[1] != surface
    return _outline(segment.curves[-1 if second and len(segment.curves) > 1 else 0])


def _outline(curve: Freeform) -> Floats:
    """Points (n, 2) along a curve in the plane of the parameters."""
    return np.asarray(splines.grid(curve, CURVE_PARTS)[1][:, :2])


def _chain(pieces: Sequence[Floats]) -> Floats:
    """Join pieces (n, 2) to one loop, each oriented to begin nearest to the end of the one before."""
    if len(pieces) > 1:
        first, second = pieces[0], pieces[1]
        gaps = [norm(first[end] - second[[0, -1]], axis=1).min() for end in (0, -1)]
        chain = [first[::-1] if gaps[0] < gaps[1] else first]
        for piece in pieces[1:]:
            here = chain[-1][-1]
            chain.append(piece[::-1] if norm(piece[-1] - here) < norm(piece[0] - here) else piece)
        return np.concatenate(chain)
    return pieces[0]


def _inside(surface: Freeform, loops: Iterable[Floats], parts: int) -> Floats:
    import shapely

    (us, vs), _ = splines.grid(surface, parts)
    us, vs = _finer(us), _finer(vs)
    region = _region(loops)
    flat = []
    for low, high in itertools.pairwise(vs):
        cells = shapely.box(us[:-1], low, us[1:], high)
        if region is not None:  # rows of cells first, which saves the more the more corners the loops have
            cells = shapely.intersection(cells, shapely.intersection(region, shapely.box(us[0], low, us[-1], high)))
        flat += [_triangles(cell) for cell in cells]
    corners = np.concatenate([np.zeros((0, 3, 2)), *flat])
    if not len(corners):
        return NOTHING
    return _on_surface(surface, corners.reshape(-1, 2)).reshape(-1, 3, 3)


def _finer(at: Floats) -> Floats:
    """Refine a direction of few cells, so that each contains little of the loops."""
    parts = -(-LEAST // (len(at) - 1))
    shares = np.arange(parts) / parts
    return np.append((at[:-1, None] + np.diff(at)[:, None] * shares).ravel(), at[-1])


def _region(loops: Iterable[Floats]) -> Any:
    """Return the region inside an odd number of loops; None without loops.

    Raises
    ------
    TangledError
        If there are too many, or they cross themselves or one another too often.
    """
    import shapely

    region: Any = None
    corners = 0
    for number, loop in enumerate(loops, 1):
        if number > LOOPS or len(loop) > CORNERS:
            raise TangledError(f"it has more than {LOOPS} loops, or one of more than {CORNERS} corners")
        if len(loop) >= 3 and np.isfinite(loop).all():
            corners += len(loop)
            area: Any = shapely.Polygon(loop)
            if not shapely.is_valid(area):  # counting self-intersections is cheap, repairing them is not
                crossed = shapely.get_num_coordinates(shapely.node(shapely.LineString([*loop, loop[0]])))
                if crossed > TANGLE * len(loop) + 1000:
                    raise TangledError("a loop crosses itself too often")
                area = shapely.make_valid(area)
            region = area if region is None else shapely.symmetric_difference(region, area)
            if shapely.get_num_coordinates(region) > TANGLE * corners + 1000:
                raise TangledError("its loops cross themselves or one another too often")
    return region


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
    """Triangles (n, 3, 2) of a plane shape, counter-clockwise; holes are connected to the outline by cuts."""
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
