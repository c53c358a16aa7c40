"""Projection of places on a line: the nearest of its samples, and the way from there along and across."""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.columns import LINE_EAST, LINE_NORTH, LINE_STATION, LINE_X, LINE_Y
from cbsim.jit import kernel

__all__ = ["project_into"]

SLACK = 1e-6  # [m] for rounding
STRIDE = 16  # samples from one that is looked at first to the next


@kernel
def project_into(line, places, spans, out):
    """Project places on parts of a line that are continued straight at their ends.

    Parameters
    ----------
    line : (m, 5)
        Of samples: place [m], direction, station [m].
    places : (n, 2) [m]
    spans : (n, 2) int
        First sample of the part for each place, and that after its last.
    out : (n, 4), out
        Station [m], offset to the left [m], and direction at the nearest sample; of equals, at the first.

    Notes
    -----
    Samples that are nearer to the one that was looked at, along the line, than that is farther away than the nearest
    so far cannot be nearer, and are skipped. A few samples are looked at first, so that most are skipped.
    """
    for i in range(len(places)):
        x, y = places[i, 0], places[i, 1]
        first, last = spans[i, 0], spans[i, 1]
        best, nearest = first, np.inf
        for k in range(first, last, STRIDE):
            east, north = x - line[k, LINE_X], y - line[k, LINE_Y]
            square = east * east + north * north
            if square < nearest:
                best, nearest = k, square
        away, k = math.sqrt(nearest), first
        while k < last:
            east, north = x - line[k, LINE_X], y - line[k, LINE_Y]
            square = east * east + north * north
            if square < nearest or (square == nearest and k < best):
                best, nearest, away = k, square, math.sqrt(square)
            # by the triangle inequality, as the line is at least as long as the chord
            skipped = line[k, LINE_STATION] + (math.sqrt(square) - away) - SLACK
            k += 1
            # the first sample that is not skipped: steps that double, then halves of the last
            if k < last and line[k, LINE_STATION] < skipped:
                jump = 1
                while k + jump < last and line[k + jump, LINE_STATION] < skipped:
                    k += jump
                    jump *= 2
                while jump > 0:
                    if k + jump < last and line[k + jump, LINE_STATION] < skipped:
                        k += jump
                    jump //= 2
                k += 1
        east, north = x - line[best, LINE_X], y - line[best, LINE_Y]
        out[i, 0] = line[best, LINE_STATION] + (east * line[best, LINE_EAST] + north * line[best, LINE_NORTH])
        out[i, 1] = north * line[best, LINE_EAST] - east * line[best, LINE_NORTH]
        out[i, 2], out[i, 3] = line[best, LINE_EAST], line[best, LINE_NORTH]
