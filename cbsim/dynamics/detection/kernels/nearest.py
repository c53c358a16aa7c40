"""Nearest points of two convex cores of colliders, by GJK (`cbsim.geometry.kernels.gjk`)."""

from __future__ import annotations

import math

from cbsim.dynamics.detection.kernels.columns import KIND, PLACE, TRIANGLE
from cbsim.dynamics.detection.kernels.supports import farthest
from cbsim.geometry.kernels.gjk import CLOSE, advance, weighted
from cbsim.geometry.kernels.simplex import DIFFERENCE, POINT_ONE, POINT_OTHER
from cbsim.jit import inlined, inner

__all__ = ["approach", "nearest"]

ROUNDS = 60
CURVED = 1e-9  # CLOSE for curved shapes: results are polished, and thinner triangles suffer from rounding


@inner
def nearest(collider_link, collider, placed, world, i, j, core, simplex):
    """Find the nearest points of the cores of colliders i and j; return how many rows of ``simplex`` span them.

    0 if the cores overlap. Weights of the rows add up to one; the points are the weighted POINT_ONE and POINT_OTHER.
    """
    vx, vy = placed[i, PLACE] - placed[j, PLACE], placed[i, PLACE + 1] - placed[j, PLACE + 1]
    vz = placed[i, PLACE + 2] - placed[j, PLACE + 2]
    if vx * vx + vy * vy + vz * vz == 0.0:  # concentric: any direction
        vx = 1.0
    close = CLOSE if collider_link[i, KIND] <= TRIANGLE and collider_link[j, KIND] <= TRIANGLE else CURVED
    count, size, far, is_apart = 0, math.inf, 0.0, False
    for _ in range(ROUNDS):
        # support point of the difference towards the origin
        a = farthest(collider_link, collider, placed, world, i, core, -vx, -vy, -vz)
        b = farthest(collider_link, collider, placed, world, j, core, vx, vy, vz)
        count, size, far, is_apart, is_done = advance(simplex, count, size, far, is_apart, close, (vx, vy, vz), a, b)
        if is_done:
            return count
        vx, vy, vz = weighted(simplex, count, DIFFERENCE)
    return count


@inlined
def approach(simplex, count):
    """Nearest points of the one and of the other."""
    return weighted(simplex, count, POINT_ONE), weighted(simplex, count, POINT_OTHER)
