"""Nearest points of convex polytopes to the origin, by Wolfe's method.

P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.linear import lstsq, times

__all__ = ["approach", "nearest_point"]

ZERO = 1e-12  # weights below this are zero
ROUNDS = 60


def approach(farthest: Callable[[Floats], Floats], first: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield points of a convex set ever nearer to the origin, each with the set's point farthest towards the origin.

    The latter bounds the distance from below. Where the caller is content with neither, the search ends after `ROUNDS`.

    Parameters
    ----------
    farthest : callable
        Point of the set farthest along a direction.
    first : ndarray, shape (3,)
        Any corner of it.
    """
    corners, weights = first[None], np.ones(1)
    for _ in range(ROUNDS):
        nearest = times(weights, corners)
        new = farthest(-nearest)
        yield nearest, new
        corners, weights = nearest_point(np.vstack([corners, new]), np.append(weights, 0.0))


def nearest_point(points: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Find the nearest point to the origin of the hull of affinely independent points and one more (minor cycle).

    Parameters
    ----------
    points : ndarray, shape (n, 3)
        Corners; the last one is new.
    weights : ndarray, shape (n,)
        Of a point of the hull, the last one zero.

    Returns
    -------
    points, weights : ndarray, shape (m, 3), (m,)
        The corners that carry the nearest point, and its weights, all above zero.

    Examples
    --------
    >>> corners, weights = nearest_point(np.array([[1.0, 1.0, 0.0], [1.0, -1.0, 0.0]]), np.array([1.0, 0.0]))
    >>> times(weights, corners).round(9).tolist()
    [1.0, 0.0, 0.0]
    """
    while True:
        gram = np.zeros((len(points) + 1, len(points) + 1))
        gram[0, 1:] = gram[1:, 0] = 1.0
        gram[1:, 1:] = times(points, points.T)
        right = np.zeros(len(points) + 1)
        right[0] = 1.0
        affine = lstsq(gram, right)[1:]
        if (affine > ZERO).all():
            return points, np.asarray(affine)
        falling = affine < weights
        ratios = np.where(falling & (affine <= ZERO), weights / np.where(falling, weights - affine, 1.0), 1.0)
        step = float(min(1.0, ratios.min()))
        weights = weights + step * (affine - weights)
        keep = weights > ZERO
        if keep.all():
            keep[int(np.argmin(weights))] = False
        if not keep.any():
            keep[int(np.argmax(weights))] = True
        points, weights = points[keep], weights[keep] / weights[keep].sum()
        if len(points) == 1:
            return points, np.ones(1)
