"""Paths between steps, reconstructed from positions and velocities as two straight pieces.

Traffic of object files turns, stops and starts at instants within a step. With long steps, linear interpolation
between steps would give times of passage that are wrong by up to a step.
"""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.kernels.path_lengths import SLACK, durations_into

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
    pieces, places = np.empty((len(times) - 1, 2)), np.array(places, float, order="C")  # copies: one type of array
    durations_into(np.array(times, float), places, np.array(velocities, float, order="C"), pieces)
    a, b = pieces.T
    corner = places[:-1] + a[:, None] * velocities[:-1]
    nodes = np.stack([times[:-1], times[:-1] + a, np.maximum(times[1:] - b, times[:-1] + a)], axis=1)
    points = np.stack([places[:-1], corner, corner], axis=1)
    return np.append(nodes.ravel(), times[-1]), np.concatenate([points.reshape(-1, 2), places[-1:]])
