"""Distances of footprints: rectangles on the ground, row by row."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.kernels.rectangles import clearances_into, times_to_collision_into
from cbsim.geometry.polyline import direction, left_of

__all__ = ["ahead_of", "clearance", "rectangles", "rectangles_along", "time_to_collision"]


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
    gaps = np.empty(len(one))
    clearances_into(np.ascontiguousarray(one), np.ascontiguousarray(other), gaps)
    return gaps


def time_to_collision(own: Floats, other: Floats, velocity: Floats) -> Floats:
    """Compute the times until rectangles touch that move without turning, as `times_to_collision_into`.

    Parameters
    ----------
    own, other : ndarray, shape (n, 4, 2)
        Corners [m].
    velocity : ndarray, shape (n, 2)
        Of the other relative to the own [m/s].

    Returns
    -------
    ndarray, shape (n,)
        [s]; 0 where they overlap, infinite where they never do.
    """
    times = np.empty(len(own))
    own, other, velocity = (np.ascontiguousarray(one) for one in (own, other, velocity))
    times_to_collision_into(own, other, velocity, times)
    return times
