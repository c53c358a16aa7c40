"""Overlap of two convex shapes by more than a tolerance: Wolfe's method on their Minkowski difference.

The search ends at the first plane that separates the shapes. It runs once for each pair of bodies, without kernels.
"""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.elementary import square
from cbsim.geometry.linear import norm, times
from cbsim.geometry.pose import conjugate, rotate
from cbsim.models.polytopes import approach
from cbsim.spec.mechanism.shapes import Box, Capsule, Cylinder, Shape, Sphere

__all__ = ["overlap", "reach_of"]

SHRUNK = 0.995  # of their size: shapes that touch, or overlap by less than that, do not overlap
NOTHING = 1e-9  # of their extent: so near to the origin counts as there


def overlap(one: Shape, x1: Floats, q1: Floats, other: Shape, x2: Floats, q2: Floats) -> bool:
    """Return whether two shapes overlap.

    Parameters
    ----------
    one, other : Shape
        Boxes, spheres, capsules or cylinders without offsets.
    x1, x2 : ndarray, shape (3,)
        Their centres [m].
    q1, q2 : ndarray, shape (4,)
        Their orientations.
    """
    away = x2 - x1
    if float(times(away, away)) > square(reach_of(one) + reach_of(other)):
        return False
    nothing = NOTHING * (reach_of(one) + reach_of(other))

    def farthest(direction: Floats) -> Floats:
        """Point of the Minkowski difference one − other farthest along a direction."""
        return SHRUNK * (_support(one, q1, direction) - _support(other, q2, -direction)) - away

    for nearest, new in approach(farthest, farthest(away)):
        if float(norm(nearest)) < nothing:
            return True
        if float(times(new, nearest)) > 0.0:
            return False
    return True


def reach_of(shape: Shape) -> float:
    """Radius of the ball about its centre that holds it [m]."""
    if isinstance(shape, Box):
        return 0.5 * float(norm(shape.xyz))
    if isinstance(shape, Sphere):
        return shape.r
    assert isinstance(shape, Capsule | Cylinder)
    return 0.5 * shape.h + shape.r


def _support(shape: Shape, q: Floats, direction: Floats) -> Floats:
    """Point of a shape, from its centre, farthest along a direction [m]."""
    d = np.asarray(rotate(conjugate(q), direction))
    length = float(norm(d))
    if isinstance(shape, Box):
        point = np.where(d >= 0.0, 0.5, -0.5) * shape.xyz
    elif isinstance(shape, Sphere):
        point = shape.r / length * d if length else np.zeros(3)
    else:
        assert isinstance(shape, Capsule | Cylinder)
        end = np.array([0.0, 0.0, 0.5 * shape.h if d[2] >= 0.0 else -0.5 * shape.h])
        side = d if isinstance(shape, Capsule) else d * (1.0, 1.0, 0.0)
        across = float(norm(side))
        point = end + (shape.r / across * side if across else 0.0)
    return np.asarray(rotate(q, point))
