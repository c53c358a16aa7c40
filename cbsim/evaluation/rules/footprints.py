"""Distances of footprints: rectangles on the ground, row by row."""

from __future__ import annotations

import numpy as np

from cbsim.geometry.polyline import direction, dot, left_of
from cbsim.world.tables import Floats

__all__ = ["ahead_of", "clearance", "extents", "rectangles", "rectangles_along"]


def rectangles(places: Floats, headings: Floats, sizes: Floats) -> Floats:
    """Corners of rectangles, counter-clockwise.

    Parameters
    ----------
    places : ndarray, shape (..., 2)
        Centres [m].
    headings : ndarray, shape (...)
        [rad]
    sizes : ndarray, shape (..., 2)
        Widths and lengths [m].

    Returns
    -------
    ndarray, shape (..., 4, 2)
    """
    return rectangles_along(places, direction(headings), sizes)


def ahead_of(orientations: Floats) -> Floats:
    """Find the unit vectors on the ground in which bodies with quaternions (..., 4) face, shape (..., 2)."""
    a, b, c, d = (orientations[..., k] for k in range(4))
    east, north = 2.0 * (b * c - a * d), 1.0 - 2.0 * (b * b + d * d)
    length = np.maximum(np.sqrt(east * east + north * north), 1e-12)
    return np.stack([east / length, north / length], axis=-1)


def rectangles_along(places: Floats, ahead: Floats, sizes: Floats) -> Floats:
    """Corners of rectangles, as `rectangles`, that face along unit vectors (..., 2)."""
    along, aside = 0.5 * sizes[..., 1:] * ahead, 0.5 * sizes[..., :1] * left_of(ahead)
    return np.stack(
        [places + along - aside, places + along + aside, places - along + aside, places - along - aside], -2
    )


def extents(corners: Floats, axis: Floats) -> tuple[Floats, Floats]:
    """Least and largest projections (n,) of quadrilaterals (n, 4, 2) on axes (n, 2)."""
    along, across = axis[:, 0], axis[:, 1]
    a, b, c, d = (corners[:, k, 0] * along + corners[:, k, 1] * across for k in range(4))
    low = np.minimum(np.minimum(a, b), np.minimum(c, d))
    return low, np.maximum(np.maximum(a, b), np.maximum(c, d))


def clearance(one: Floats, other: Floats) -> Floats:
    """Distances between convex quadrilaterals, 0 where they overlap.

    Parameters
    ----------
    one, other : ndarray, shape (n, 4, 2)
        Corners, counter-clockwise [m].

    Returns
    -------
    ndarray, shape (n,)
        [m]
    """
    gaps = np.minimum(_nearest(one, other), _nearest(other, one))
    apart = _separated(one, other) | _separated(other, one)
    return np.where(apart, gaps, 0.0)


def _nearest(corners: Floats, polygon: Floats) -> Floats:
    """Least distance (n,) of corners (n, 4, 2) from the sides of polygons (n, 4, 2)."""
    start, side = polygon[:, None], (np.roll(polygon, -1, axis=1) - polygon)[:, None]
    way = corners[:, :, None] - start
    square = np.maximum(dot(side, side), 1e-18)
    share = np.clip(dot(way, side) / square, 0.0, 1.0)
    return np.asarray(np.linalg.norm(way - share[..., None] * side, axis=-1).min(axis=(1, 2)))


def _separated(one: Floats, other: Floats) -> np.ndarray:
    """Whether a side of the first has all corners of the second on its outer side, shape (n,)."""
    side = np.roll(one, -1, axis=1) - one
    outwards = np.stack([side[..., 1], -side[..., 0]], axis=-1)
    depth = dot(other[:, None] - one[:, :, None], outwards[:, :, None])
    return np.asarray(np.any(depth.min(axis=2) > 0.0, axis=1))
