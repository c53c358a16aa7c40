"""Paths between steps, reconstructed from positions and velocities as two straight pieces.

Traffic of object files turns, stops and starts at instants within a step. With long steps, linear interpolation
between steps would give times of passage that are wrong by up to a step.
"""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels.path_lengths import ALIGNED, SLACK
from cbsim.world.tables import Floats

__all__ = ["SLACK", "refined"]


def refined(times: Floats, places: Floats, velocities: Floats) -> tuple[Floats, Floats]:
    """Insert two nodes into each step: where the first velocity ends, and where the second begins.

    Parameters
    ----------
    times : ndarray, shape (n + 1,)
        [s]
    places, velocities : ndarray, shape (n + 1, 2)
        [m], [m/s].

    Returns
    -------
    times, places : ndarray, shape (3 n + 1,), (3 n + 1, 2)
        Both nodes have the same position if the object pauses there. A step that does not consist of two straight
        pieces is interpolated linearly.

    Notes
    -----
    The pieces last a and b: p₀ + a v₀ = p₁ − b v₁, with a + b at most the step; on a straight line, a + b is the step.
    """
    a, b, corner = _corners(times, places, velocities)
    nodes = np.stack([times[:-1], times[:-1] + a, np.maximum(times[1:] - b, times[:-1] + a)], axis=1)
    points = np.stack([places[:-1], corner, corner], axis=1)
    return np.append(nodes.ravel(), times[-1]), np.concatenate([points.reshape(-1, 2), places[-1:]])


def _corners(times: Floats, places: Floats, velocities: Floats) -> tuple[Floats, Floats, Floats]:
    """Durations of both pieces of each step [s], and the corner between them (..., 2) [m]."""
    step, way = times[1:] - times[:-1], places[1:] - places[:-1]
    first, second = velocities[:-1], velocities[1:]
    a, b = _pieces(step, way, first, second)
    fits = (a >= -SLACK * step) & (b >= -SLACK * step) & (a + b <= (1.0 + SLACK) * step)
    a, b = np.where(fits, np.clip(a, 0.0, step), 0.0), np.where(fits, np.clip(b, 0.0, step), step)
    return a, b, np.where(fits[..., None], places[:-1] + a[..., None] * first, places[:-1])


def _pieces(step: Floats, way: Floats, first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Durations (...) [s] of both pieces; nan where there are none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = _cross(first, second)
        fast, slow = _length(first), _length(second)
        straight = np.abs(turn) <= ALIGNED * fast * slow
        along = np.where((fast >= slow)[..., None], first, second)
        along = along / _length(along)[..., None]
        length = _along(way, along)
        forward = _along(first, along), _along(second, along)
        on_line = np.abs(_cross(way, along)) <= ALIGNED * _length(way)
        share = np.where(on_line, (length - forward[1] * step) / (forward[0] - forward[1]), np.nan)
        a = np.where(straight, share, _cross(way, second) / turn)
        b = np.where(straight, step - share, _cross(first, way) / turn)
    known = np.isfinite(a) & np.isfinite(b)
    return np.where(known, a, np.nan), np.where(known, b, np.nan)


def _length(vectors: Floats) -> Floats:
    return np.asarray(np.hypot(vectors[..., 0], vectors[..., 1]))


def _along(one: Floats, other: Floats) -> Floats:
    return np.asarray(one[..., 0] * other[..., 0] + one[..., 1] * other[..., 1])


def _cross(one: Floats, other: Floats) -> Floats:
    return np.asarray(one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0])
