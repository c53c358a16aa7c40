"""Triangulation of polygons: fans if they are convex, else ear clipping."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.formats.irit.planes import newell

__all__ = ["LARGEST", "cut_ears", "polygon", "strip"]

LARGEST = 500  # corners up to which ears are clipped, in quadratic time; larger polygons are triangulated as fans


TRIES = 64  # corners tested before one is clipped regardless


def polygon(points: Floats) -> Floats:
    """Triangles (n − 2, 3, 3) of a plane polygon (n, 3), in its own sense."""
    normal = newell(points)
    axis = int(np.argmax(np.abs(normal)))
    flat = np.delete(points, axis, axis=1)
    if (normal[axis] < 0.0) != (axis == 1):  # dropping y mirrors
        flat = flat * (-1.0, 1.0)
    index = cut_ears(flat)
    return np.asarray(points[index])


def strip(points: Floats) -> Floats:
    """Triangles (n − 2, 3, 3) of a strip (n, 3), of which every other one is turned round."""
    index = np.arange(len(points) - 2)[:, None] + np.arange(3)
    index[1::2] = index[1::2][:, [1, 0, 2]]
    return np.asarray(points[index])


def cut_ears(flat: Floats) -> NDArray[np.int64]:
    """Corners (n − 2, 3) of triangles of a simple polygon (n, 2) that goes counter-clockwise."""
    size = len(flat)
    edges = np.roll(flat, -1, axis=0) - flat
    turns = _cross(np.roll(edges, 1, axis=0), edges)
    if size > LARGEST or (turns >= 0.0).all():
        return np.stack([np.zeros(size - 2, int), np.arange(1, size - 1), np.arange(2, size)], axis=1)
    left, found = list(range(size)), []
    while len(left) > 3:
        place = _ear(flat, left)
        found.append((left[place - 1], left[place], left[(place + 1) % len(left)]))
        del left[place]
    return np.array([*found, tuple(left)])


def _cross(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def _ear(flat: Floats, left: list[int]) -> int:
    """Find an ear: a convex corner without other corners inside its triangle.

    A self-intersecting polygon may have none; then the most convex corner is taken.
    """
    here = flat[left]
    before, after = np.roll(here, 1, axis=0), np.roll(here, -1, axis=0)
    turns = _cross(here - before, after - here)
    for place in np.flatnonzero(turns > 0.0)[:TRIES]:
        a, b, c = before[place], here[place], after[place]
        inside = (_cross(b - a, here - a) >= 0.0) & (_cross(c - b, here - b) >= 0.0) & (_cross(a - c, here - c) >= 0.0)
        corners = (here == a).all(axis=1) | (here == b).all(axis=1) | (here == c).all(axis=1)
        if not (inside & ~corners).any():
            return int(place)
    flat_ones = np.flatnonzero(turns == 0.0)
    return int(flat_ones[0]) if len(flat_ones) else int(np.argmax(turns))
