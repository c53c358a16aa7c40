"""Pairs of rectangles on the ground: gaps between them, and times until they touch."""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.encroachment import extent
from cbsim.jit import inner, kernel

__all__ = ["clearances_into", "times_to_collision_into"]

PARALLEL = 1e-12  # speed along a normal, times its length, below which a pair neither closes nor parts [m²/s]


@kernel
def times_to_collision_into(own, other, velocity, out):
    """Compute the times until rectangles touch that move without turning.

    Parameters
    ----------
    own, other : (n, 4, 2)
        Corners [m].
    velocity : (n, 2)
        Of the other relative to the own [m/s].
    out : (n,), out
        [s]; 0 where they overlap, infinite where they never do.

    Notes
    -----
    Separating axes: along each normal of a side, both are intervals, which overlap from one time to another; the
    rectangles do while all overlap (Ericson, *Real-Time Collision Detection*, 5.5.8).
    """
    for i in range(len(out)):
        first, last = 0.0, np.inf
        for k in range(4):
            polygon, side = (own[i], k) if k < 2 else (other[i], k - 2)
            x, y = polygon[side + 1, 0] - polygon[side, 0], polygon[side + 1, 1] - polygon[side, 1]
            low, high = extent(own[i], x, y)
            other_low, other_high = extent(other[i], x, y)
            pace = velocity[i, 0] * x + velocity[i, 1] * y
            near, far = low - other_high, high - other_low
            if abs(pace) >= PARALLEL:
                first = max(first, min(near / pace, far / pace))
                last = min(last, max(near / pace, far / pace))
            elif near > 0.0 or far < 0.0:
                last = -np.inf
        out[i] = first if first <= last else np.inf


@kernel
def clearances_into(one, other, out):
    """Compute the distances between convex quadrilaterals.

    Parameters
    ----------
    one, other : (n, 4, 2)
        Corners, counter-clockwise [m].
    out : (n,), out
        [m]; 0 where they overlap.
    """
    for i in range(len(out)):
        if is_separated(one[i], other[i]) or is_separated(other[i], one[i]):
            out[i] = math.sqrt(min(nearest_square(one[i], other[i]), nearest_square(other[i], one[i])))
        else:
            out[i] = 0.0


@inner
def nearest_square(corners, polygon):
    """Least squared distance of corners (4, 2) from the sides of a polygon (4, 2)."""
    least = np.inf
    for k in range(4):
        following = (k + 1) % 4
        x, y = polygon[k, 0], polygon[k, 1]
        side_x, side_y = polygon[following, 0] - x, polygon[following, 1] - y
        square = max(side_x * side_x + side_y * side_y, 1e-18)
        for j in range(4):
            way_x, way_y = corners[j, 0] - x, corners[j, 1] - y
            share = min(max((way_x * side_x + way_y * side_y) / square, 0.0), 1.0)
            way_x, way_y = way_x - share * side_x, way_y - share * side_y
            least = min(least, way_x * way_x + way_y * way_y)
    return least


@inner
def is_separated(one, other):
    """Whether a side of the first has all corners of the second on its outer side."""
    for k in range(4):
        following = (k + 1) % 4
        side_x, side_y = one[following, 0] - one[k, 0], one[following, 1] - one[k, 1]
        depth = np.inf
        for j in range(4):
            way_x, way_y = other[j, 0] - one[k, 0], other[j, 1] - one[k, 1]
            depth = min(depth, way_x * side_y - way_y * side_x)
        if depth > 0.0:
            return True
    return False
