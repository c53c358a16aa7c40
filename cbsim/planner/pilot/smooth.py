"""Rounding bends that are tighter than the vehicle can turn: swing out, cut in, or turn in three points."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cbsim.planner.pilot.moves import Pose, Word, dubins, sample, three_point

__all__ = ["rounded"]

Floats = NDArray[np.float64]

LOOK = 1.5  # [m] a turn is measured over this length: a kink between two straights is no bend
TIGHT = 0.97  # of the vehicle's largest curvature
REACHES = (0.5, 1.0, 2.0, 3.0, 4.5, 6.0, 8.0)  # [m] that a rounding may begin before a bend, or end after it
ASTRAY = 2.0  # [m] farther from the way, a turn in three points is better
GEAR_CHANGE = 1.0  # [m] of straying that a gear change counts as
FULL_TURN = 1.8 * math.pi  # [rad] who turns so far goes in circles


def rounded(table: Floats, radius: float, limit: float) -> list[tuple[Floats, bool]]:
    """Replace what is too tight.

    Parameters
    ----------
    table : ndarray, shape (m, 6)
        Station, x, y, heading, speed limit, station in the draft; equally spaced, driven forwards.
    radius : float
        Smallest circle to plan with [m].
    limit : float
        Largest curvature of the vehicle [1/m].

    Returns
    -------
    list of (table, reverse)
        The way in parts without gear changes, each with stations from 0.
    """
    done: list[tuple[Floats, bool]] = []
    parts: list[tuple[Floats, bool]] = []
    begin = 0
    for first, last in _tight(table, TIGHT * limit):
        if first < begin:
            continue
        found = _best(table, first, last, begin, radius)
        if found is None:
            continue
        row, until, word = found
        pose: Pose = tuple(map(float, table[row, 1:4]))  # type: ignore[assignment]
        fitted = _fitted(sample(pose, word), table[row], table[until])
        parts.append((table[begin : row + 1], False))
        if len(fitted) > 1:  # with gear changes: begun and ended at rest, with the wheels turned
            done += [*_merged(parts), *fitted]
            parts = []
        else:
            parts += fitted
        begin = until
    parts.append((table[begin:], False))
    return [*done, *_merged(parts)]


def _tight(table: Floats, limit: float) -> list[tuple[int, int]]:
    """First and last rows of the bends that are tighter than a curvature [1/m]; near ones count as one."""
    if len(table) < 3:
        return []
    step = float(table[1, 0] - table[0, 0])
    span = max(1, round(LOOK / step))
    turn = np.abs(table[span:, 3] - table[:-span, 3]) / (span * step)
    rows = np.flatnonzero(turn > limit)
    if not len(rows):
        return []
    breaks = np.flatnonzero(np.diff(rows) > 2 * span)
    firsts, lasts = rows[np.concatenate([[0], breaks + 1])], rows[np.concatenate([breaks, [len(rows) - 1]])]
    return [(int(a), int(b) + span) for a, b in zip(firsts, lasts, strict=True)]


def _best(table: Floats, first: int, last: int, begin: int, radius: float) -> tuple[int, int, Word] | None:
    """Rows between which a word replaces the way with the least straying, and the word."""
    best: tuple[float, int, int, Word] | None = None
    step = float(table[1, 0] - table[0, 0])
    rows = sorted({max(begin, first - round(reach / step)) for reach in REACHES})
    ends = sorted({min(len(table) - 1, last + round(reach / step)) for reach in REACHES})
    for family in (dubins, three_point):
        for row in rows:
            for until in ends:
                start, goal = (tuple(map(float, table[k, 1:4])) for k in (row, until))
                away = table[row : until + 1, 1:3]
                for word in family(start, goal, radius):  # type: ignore[arg-type]
                    cost = _straying(start, word, away)  # type: ignore[arg-type]
                    cost += GEAR_CHANGE * 2.0 if family is three_point else 0.0
                    if best is None or cost < best[0] - 1e-9:
                        best = (cost, row, until, word)
        if best is not None and best[0] < ASTRAY:
            break
    return None if best is None else best[1:]


def _straying(start: Pose, word: Word, way: Floats) -> float:
    """Largest distance of a word's points from the way [m], and a little for its length."""
    length = sum(abs(part) for _, part in word)
    if length > 60.0 or sum(abs(curvature * part) for curvature, part in word) > FULL_TURN:
        return math.inf
    points = np.concatenate([run[0] for run in sample(start, word)])[::2]
    gaps = points[:, None, :] - way[None, ::2, :]
    return float(np.sqrt((gaps * gaps).sum(axis=2).min(axis=1)).max()) + 0.01 * length


def _fitted(runs: list[tuple[Floats, Floats, bool]], begin: Floats, end: Floats) -> list[tuple[Floats, bool]]:
    """Tables of a word's runs; their stations in the draft go evenly from one row's to the other's."""
    lengths = [float(np.hypot(*np.diff(points, axis=0).T).sum()) for points, _, _ in runs]
    total, done, tables = sum(lengths), 0.0, []
    for (points, headings, reverse), length in zip(runs, lengths, strict=True):
        along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
        travel = headings + math.pi if reverse else headings
        draft = begin[5] + (end[5] - begin[5]) * (done + along) / total
        limit = np.full(len(along), min(begin[4], end[4]))
        tables.append((np.column_stack([along, points, travel, limit, draft]), reverse))
        done += length
    return tables


def _merged(parts: list[tuple[Floats, bool]]) -> list[tuple[Floats, bool]]:
    """Join neighbours of the same gear, stations from 0 in each part, headings without jumps."""
    merged: list[tuple[Floats, bool]] = []
    for part, reverse in parts:
        table = part.copy()
        table[:, 0] -= table[0, 0]
        if len(table) < 2:
            continue
        if merged and merged[-1][1] == reverse:
            before = merged[-1][0]
            table[:, 0] += before[-1, 0]
            table[:, 3] += 2.0 * math.pi * round((before[-1, 3] - table[0, 3]) / (2.0 * math.pi))
            merged[-1] = (np.concatenate([before, table[1:]]), reverse)
        else:
            merged.append((table, reverse))
    return merged
