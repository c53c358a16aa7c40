"""Projection of places on a line: the nearest of its samples, and the way from there along and across."""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import kernel

__all__ = ["project_into"]

SLACK = 1e-6  # [m] for rounding
STRIDE = 16  # samples from one that is looked at first to the next


@kernel
def project_into(line, places, out):
    """Project places on a line that is continued straight at its ends.

    Parameters
    ----------
    line : (m, 5)
        Of samples: place [m], direction, station [m].
    places : (n, 2) [m]
    out : (n, 4), out
        Station [m], offset to the left [m], and direction at the nearest sample; of equals, at the first.

    Notes
    -----
    Samples that are nearer to the one that was looked at, along the line, than that is farther away than the nearest
    so far cannot be nearer, and are skipped. A few samples are looked at first, so that most are skipped.
    """
    for i in range(len(places)):
        x, y = places[i, 0], places[i, 1]
        best, nearest = 0, np.inf
        for k in range(0, len(line), STRIDE):
            east, north = x - line[k, 0], y - line[k, 1]
            square = east * east + north * north
            if square < nearest:
                best, nearest = k, square
        away, k = math.sqrt(nearest), 0
        while k < len(line):
            east, north = x - line[k, 0], y - line[k, 1]
            square = east * east + north * north
            if square < nearest or (square == nearest and k < best):
                best, nearest, away = k, square, math.sqrt(square)
            # by the triangle inequality, as the line is at least as long as the chord
            skipped = line[k, 4] + (math.sqrt(square) - away) - SLACK
            k += 1
            while k < len(line) and line[k, 4] < skipped:
                k += 1
        east, north = x - line[best, 0], y - line[best, 1]
        out[i, 0] = line[best, 4] + (east * line[best, 2] + north * line[best, 3])
        out[i, 1] = north * line[best, 2] - east * line[best, 3]
        out[i, 2], out[i, 3] = line[best, 2], line[best, 3]
