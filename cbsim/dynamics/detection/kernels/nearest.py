"""GJK: nearest points of two convex cores (Gilbert, Johnson and Keerthi 1988).

The point of the Minkowski difference nearest to the origin is found by a simplex of at most four support points, each
along the current direction to the origin (`cbsim.geometry.kernels.simplex`).
"""

from __future__ import annotations

import math

from cbsim.dynamics.detection.kernels.columns import KEPT_ROWS, KIND, PLACE, TRIANGLE
from cbsim.dynamics.detection.kernels.supports import farthest
from cbsim.geometry.kernels.simplex import (
    DIFFERENCE,
    ENCLOSED,
    POINT_ONE,
    POINT_OTHER,
    SIMPLEX_COLUMNS,
    WEIGHT,
    reduce_simplex,
)
from cbsim.jit import inlined, inner

__all__ = ["approach", "nearest"]

ROUNDS = 60
CLOSE = 1e-11  # relative tolerance of the distance
CURVED = 1e-9  # the same for curved shapes: results are polished, and thinner triangles suffer from rounding
ROUNDING = 4e-15  # error of the bound of the distance, as a share of the largest coordinate
OVERLAP = 1e-10  # distance that counts as an overlap, as a share of the largest coordinate: its direction is rounded
APART = 1e-6  # relative distance from which the cores are certainly separate


@inner
def nearest(collider_link, collider, placed, world, i, j, core, simplex):
    """Find the nearest points of the cores of colliders i and j; return how many rows of ``simplex`` span them.

    0 if the cores overlap. Weights of the rows add up to one; the points are the weighted POINT_ONE and POINT_OTHER.
    """
    vx, vy, vz = placed[i, PLACE] - placed[j, PLACE], placed[i, PLACE + 1] - placed[j, PLACE + 1], 0.0
    vz = placed[i, PLACE + 2] - placed[j, PLACE + 2]
    if vx * vx + vy * vy + vz * vz == 0.0:  # concentric: any direction
        vx = 1.0
    count, size, is_apart, far = 0, math.inf, False, 0.0
    close = CLOSE if collider_link[i, KIND] <= TRIANGLE and collider_link[j, KIND] <= TRIANGLE else CURVED
    for _ in range(ROUNDS):
        # support point of the difference towards the origin
        ax, ay, az = farthest(collider_link, collider, placed, world, i, core, -vx, -vy, -vz)
        bx, by, bz = farthest(collider_link, collider, placed, world, j, core, vx, vy, vz)
        wx, wy, wz = ax - bx, ay - by, az - bz
        far = max(far, abs(wx) + abs(wy) + abs(wz))
        if count > 0:
            # lower bound of the distance: no point of the difference is nearer along v
            ahead = vx * wx + vy * wy + vz * wz
            # of large shapes that nearly touch, rounding of the bound is more than the tolerance of the distance
            error = close * size + ROUNDING * far * math.sqrt(size)
            if size - ahead <= error or _is_known(simplex, count, wx, wy, wz):
                return count
            is_apart = is_apart or ahead > APART * size
        # the rows of this simplex are kept until the next one has proved nearer
        k = count
        for row in range(k):
            _copy(simplex, row, KEPT_ROWS + row)
        simplex[k, DIFFERENCE], simplex[k, DIFFERENCE + 1], simplex[k, DIFFERENCE + 2] = wx, wy, wz
        simplex[k, POINT_ONE], simplex[k, POINT_ONE + 1], simplex[k, POINT_ONE + 2] = ax, ay, az
        simplex[k, POINT_OTHER], simplex[k, POINT_OTHER + 1], simplex[k, POINT_OTHER + 2] = bx, by, bz
        count = reduce_simplex(simplex, k + 1)
        # the origin inside by rounding, although a plane with a gap has been found: the simplex before holds
        if count == ENCLOSED:
            return k if is_apart else 0  # the rows before are unchanged
        vx, vy, vz = _weighted(simplex, count, DIFFERENCE)
        before, size = size, vx * vx + vy * vy + vz * vz
        if size < (OVERLAP * far) ** 2:
            return 0
        if size >= before:  # no progress, by rounding of a nearly flat simplex: the one before is nearer
            for row in range(k):
                _copy(simplex, KEPT_ROWS + row, row)
            return k
    return count


@inlined
def approach(simplex, count):
    """Nearest points of the one and of the other."""
    return _weighted(simplex, count, POINT_ONE), _weighted(simplex, count, POINT_OTHER)


@inlined
def _weighted(simplex, count, column):
    x, y, z = 0.0, 0.0, 0.0
    for k in range(count):
        w = simplex[k, WEIGHT]
        x, y, z = x + w * simplex[k, column], y + w * simplex[k, column + 1], z + w * simplex[k, column + 2]
    return x, y, z


@inlined
def _is_known(simplex, count, x, y, z):
    for k in range(count):
        if simplex[k, 0] == x and simplex[k, 1] == y and simplex[k, 2] == z:
            return True
    return False


@inlined
def _copy(simplex, a, b):
    """Copy row a to row b."""
    for m in range(SIMPLEX_COLUMNS):
        simplex[b, m] = simplex[a, m]
