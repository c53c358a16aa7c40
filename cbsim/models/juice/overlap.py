"""Whether two convex shapes overlap by more than a little: Wolfe's search for the shortest vector of a polytope.

P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976), on the Minkowski difference; it
ends at the first plane that parts the shapes. It is asked once for pairs of bodies, before any kernel runs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.linear import lstsq, norm, times
from cbsim.geometry.pose import conjugate, rotate
from cbsim.spec.mechanism.shapes import Box, Capsule, Cylinder, Shape, Sphere

__all__ = ["overlap", "reach_of"]

Array = NDArray[np.float64]
ROUNDS = 60
SHRUNK = 0.995  # of their size: shapes that touch, or overlap by less than that, do not overlap
NOTHING = 1e-9  # of their extent: so near to the origin counts as there


def overlap(one: Shape, x1: Array, q1: Array, other: Shape, x2: Array, q2: Array) -> bool:
    """Tell whether two shapes overlap.

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
    if float(times(away, away)) > (reach_of(one) + reach_of(other)) ** 2:
        return False
    nothing = NOTHING * (reach_of(one) + reach_of(other))

    def farthest(direction: Array) -> Array:
        """Point of the Minkowski difference one − other farthest along a direction."""
        return SHRUNK * (_support(one, q1, direction) - _support(other, q2, -direction)) - away

    points, weights = farthest(away)[None], np.ones(1)
    for _ in range(ROUNDS):
        nearest = times(weights, points)
        if float(norm(nearest)) < nothing:
            return True
        new = farthest(-nearest)
        if float(times(new, nearest)) > 0.0:
            return False
        points, weights = _reduced(np.vstack([points, new]), np.append(weights, 0.0))
    return True


def _reduced(points: Array, weights: Array) -> tuple[Array, Array]:
    """Nearest point to the origin of the hull of points, as weights of those that it needs."""
    while True:
        gram = np.zeros((len(points) + 1, len(points) + 1))
        gram[0, 1:] = gram[1:, 0] = 1.0
        gram[1:, 1:] = times(points, points.T)
        right = np.zeros(len(points) + 1)
        right[0] = 1.0
        affine = lstsq(gram, right)[1:]
        if (affine > 1e-12).all():
            return points, np.asarray(affine)
        falling = affine < weights
        ratios = np.where(falling & (affine <= 1e-12), weights / np.where(falling, weights - affine, 1.0), 1.0)
        step = float(min(1.0, ratios.min()))
        weights = weights + step * (affine - weights)
        keep = weights > 1e-12
        if keep.all():
            keep[int(np.argmin(weights))] = False
        if not keep.any():
            keep[int(np.argmax(weights))] = True
        points, weights = points[keep], weights[keep] / weights[keep].sum()
        if len(points) == 1:
            return points, np.ones(1)


def reach_of(shape: Shape) -> float:
    """Radius of the ball about its centre that holds it [m]."""
    if isinstance(shape, Box):
        return 0.5 * float(norm(shape.xyz))
    if isinstance(shape, Sphere):
        return shape.r
    assert isinstance(shape, Capsule | Cylinder)
    return 0.5 * shape.h + shape.r


def _support(shape: Shape, q: Array, direction: Array) -> Array:
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
