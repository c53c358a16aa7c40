"""Paths between steps, reconstructed from positions and velocities as two straight pieces.

Traffic of object files turns, stops and starts at instants within a step. With long steps, linear interpolation
between steps would give times of passage that are wrong by up to a step.
"""

from __future__ import annotations

import numpy as np

from cbsim.world.tables import Floats

__all__ = ["refined"]

SLACK = 1e-6  # fraction of a step, for rounding of times
ALIGNED = 1e-6  # fraction of the path's length that it may deviate from a straight line


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
    step, way = np.diff(times), np.diff(places, axis=0)
    first, second = velocities[:-1], velocities[1:]
    a, b = _pieces(step, way, first, second)
    fits = (a >= -SLACK * step) & (b >= -SLACK * step) & (a + b <= (1.0 + SLACK) * step)
    a, b = np.where(fits, np.clip(a, 0.0, step), 0.0), np.where(fits, np.clip(b, 0.0, step), step)
    corner = np.where(fits[:, None], places[:-1] + a[:, None] * first, places[:-1])
    nodes = np.stack([times[:-1], times[:-1] + a, np.maximum(times[1:] - b, times[:-1] + a)], axis=1)
    points = np.stack([places[:-1], corner, corner], axis=1)
    return np.append(nodes.ravel(), times[-1]), np.concatenate([points.reshape(-1, 2), places[-1:]])


def _pieces(step: Floats, way: Floats, first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Durations (n,) [s] of both pieces; nan where there are none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = _cross(first, second)
        fast, slow = np.hypot(*first.T), np.hypot(*second.T)
        straight = np.abs(turn) <= ALIGNED * fast * slow
        along = np.where((fast >= slow)[:, None], first, second)
        along = along / np.hypot(*along.T)[:, None]
        length = (way * along).sum(axis=1)
        forward = (first * along).sum(axis=1), (second * along).sum(axis=1)
        on_line = np.abs(_cross(way, along)) <= ALIGNED * np.hypot(*way.T)
        share = np.where(on_line, (length - forward[1] * step) / (forward[0] - forward[1]), np.nan)
        a = np.where(straight, share, _cross(way, second) / turn)
        b = np.where(straight, step - share, _cross(first, way) / turn)
    known = np.isfinite(a) & np.isfinite(b)
    return np.where(known, a, np.nan), np.where(known, b, np.nan)


def _cross(one: Floats, other: Floats) -> Floats:
    return np.asarray(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0])
