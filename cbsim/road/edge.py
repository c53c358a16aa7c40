"""Edges of a lane: offset lines of the centre line, with the loops inside tight bends cut off."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.geometry.polyline import direction, left_of

__all__ = ["edge", "trim"]

WINDOW = 40  # intervals searched on either side of a fold; the edges of a hairpin cross far from its tip
STALLED = 0.05  # share of the progress of the centre line below which an edge counts as folded
BATCH = 256  # folds treated at once, to bound memory


def edge(centre: Floats, headings: Floats, distance: float) -> Floats:
    """Offset a centre line by a distance to the left (to the right if negative).

    Parameters
    ----------
    centre : ndarray, shape (m, 2)
        Samples of the centre line [m].
    headings : ndarray, shape (m,)
        Of the centre line [rad].
    distance : float
        [m]

    Returns
    -------
    ndarray, shape (m, 2)
        Row i belongs to sample i; rows of a cut-off loop coincide where the edge crosses itself.
    """
    return trim(centre + distance * left_of(direction(headings)), centre)


def trim(line: Floats, centre: Floats) -> Floats:
    """Cut the loops off an offset line, which folds back where its centre line bends too tightly."""
    ahead = np.diff(centre, axis=0)
    progress = np.sum(np.diff(line, axis=0) * ahead, axis=1)
    backward = np.flatnonzero(progress < STALLED * np.sum(ahead * ahead, axis=1))
    if not len(backward):
        return line
    breaks = np.flatnonzero(np.diff(backward) > 1)
    firsts = backward[np.concatenate([[0], breaks + 1])]
    lasts = backward[np.concatenate([breaks, [len(backward) - 1]])]
    trimmed = line.copy()
    for start in range(0, len(firsts), BATCH):
        loops = _crossings(line, firsts[start : start + BATCH], lasts[start : start + BATCH])
        for first, last, crossing in zip(*loops, strict=True):
            trimmed[first + 1 : last + 1] = crossing
    return trimmed


def _crossings(line: Floats, firsts: Ints, lasts: Ints) -> tuple[Ints, Ints, Floats]:
    """Find where the line crosses itself around each backward run of intervals.

    Returns
    -------
    before, after : ndarray, shape (f,)
        Crossing intervals nearest to the run; its own neighbours if there are none (a fold at an end of the line).
    crossing : ndarray, shape (f, 2)
        Crossing point; the middle of the run if there is none [m].
    """
    reach = np.arange(WINDOW)
    i = np.clip(firsts[:, None] - 1 - reach, 0, len(line) - 2)[:, :, None]
    j = np.clip(lasts[:, None] + 1 + reach, 0, len(line) - 2)[:, None, :]
    a, b = line[i + 1] - line[i], line[j + 1] - line[j]
    gap = line[j] - line[i]
    cross = _cross(a, b)
    solid = np.where(cross == 0.0, np.nan, cross)
    on_a, on_b = _cross(gap, b) / solid, _cross(gap, a) / solid
    hit = (on_a >= 0.0) & (on_a <= 1.0) & (on_b >= 0.0) & (on_b <= 1.0) & (j > i + 1)
    order = np.where(hit, reach[:, None] + reach[None, :], 4 * WINDOW).reshape(len(firsts), -1)
    best = np.argmin(order, axis=1)
    fold = np.arange(len(firsts))
    found = order[fold, best] < 4 * WINDOW
    row_i, row_j = best // WINDOW, best % WINDOW
    before = np.where(found, i[fold, row_i, 0], np.maximum(firsts - 1, -1))
    after = np.where(found, j[fold, 0, row_j], lasts + 1)
    point = line[before] + on_a[fold, row_i, row_j][:, None] * a[fold, row_i, 0]
    return before, after, np.where(found[:, None], point, 0.5 * (line[firsts] + line[lasts + 1]))


def _cross(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
