"""Replacement of bends that are tighter than the vehicle can turn: swing out, cut in, or three-point turn."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.planner.pilot.arc_paths import ArcPath, Pose, dubins, sample, three_point

__all__ = ["round_tight_bends"]

LOOK = 1.5  # [m] length over which curvature is measured; kinks between two straights average out
TIGHT = 0.97  # share of the vehicle's greatest curvature
REACHES = (0.5, 1.0, 2.0, 3.0, 4.5, 6.0, 8.0)  # [m] candidate extents of a replacement before and after a bend
MAX_DEVIATION = 2.0  # [m] from the path, above which a three-point turn is tried
GEAR_CHANGE = 1.0  # [m] of deviation that a gear change costs
FULL_TURN = 1.8 * math.pi  # [rad] total turn above which an arc path counts as going in circles


def round_tight_bends(table: Floats, radius: float, limit: float) -> list[tuple[Floats, bool]]:
    """Replace bends that are too tight.

    Parameters
    ----------
    table : ndarray, shape (m, 6)
        Station, x, y, heading, speed limit, station in the draft; equally spaced, driven forwards.
    radius : float
        Least turning radius to plan with [m].
    limit : float
        Greatest curvature of the vehicle [1/m].

    Returns
    -------
    list of (table, reverse)
        Parts of the path without gear changes, each with stations from 0.
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
        row, until, arc_path = found
        pose: Pose = tuple(map(float, table[row, 1:4]))  # type: ignore[assignment]
        fitted = _fitted(sample(pose, arc_path), table[row], table[until])
        parts.append((table[begin : row + 1], False))
        if len(fitted) > 1:  # with gear changes: starts and ends at rest, with the wheels turned
            done += [*_merged(parts), *fitted]
            parts = []
        else:
            parts += fitted
        begin = until
    parts.append((table[begin:], False))
    return [*done, *_merged(parts)]


def _tight(table: Floats, limit: float) -> list[tuple[int, int]]:
    """First and last rows of the bends that are tighter than a curvature [1/m]; adjacent ones are merged."""
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


def _best(table: Floats, first: int, last: int, begin: int, radius: float) -> tuple[int, int, ArcPath] | None:
    """Rows between which an arc path replaces the path with the least deviation, and that arc path."""
    best: tuple[float, int, int, ArcPath] | None = None
    step = float(table[1, 0] - table[0, 0])
    rows = sorted({max(begin, first - round(reach / step)) for reach in REACHES})
    ends = sorted({min(len(table) - 1, last + round(reach / step)) for reach in REACHES})
    for family in (dubins, three_point):
        for row in rows:
            for until in ends:
                start, goal = (tuple(map(float, table[k, 1:4])) for k in (row, until))
                away = table[row : until + 1, 1:3]
                for arc_path in family(start, goal, radius):  # type: ignore[arg-type]
                    cost = _deviation(start, arc_path, away)  # type: ignore[arg-type]
                    cost += GEAR_CHANGE * 2.0 if family is three_point else 0.0
                    if best is None or cost < best[0] - 1e-9:
                        best = (cost, row, until, arc_path)
        if best is not None and best[0] < MAX_DEVIATION:
            break
    return None if best is None else best[1:]


def _deviation(start: Pose, arc_path: ArcPath, way: Floats) -> float:
    """Greatest distance of an arc path's points from the path [m], plus a small cost for its length."""
    length = math.fsum(abs(part) for _, part in arc_path)
    if length > 60.0 or math.fsum(abs(curvature * part) for curvature, part in arc_path) > FULL_TURN:
        return math.inf
    points = np.concatenate([run[0] for run in sample(start, arc_path)])[::2]
    gaps = points[:, None, :] - way[None, ::2, :]
    return float(np.sqrt((gaps * gaps).sum(axis=2).min(axis=1)).max()) + 0.01 * length


def _fitted(runs: list[tuple[Floats, Floats, bool]], begin: Floats, end: Floats) -> list[tuple[Floats, bool]]:
    """Tables of an arc path's runs; their stations in the builder are interpolated between two rows."""
    lengths = [float(np.sum(math.hypot(*np.diff(points, axis=0).T))) for points, _, _ in runs]
    total, done, tables = math.fsum(lengths), 0.0, []
    for (points, headings, reverse), length in zip(runs, lengths, strict=True):
        along = np.concatenate([[0.0], np.cumsum(math.hypot(*np.diff(points, axis=0).T))])
        travel = headings + math.pi if reverse else headings
        source = begin[5] + (end[5] - begin[5]) * (done + along) / total
        limit = np.full(len(along), min(begin[4], end[4]))
        tables.append((np.column_stack([along, points, travel, limit, source]), reverse))
        done += length
    return tables


def _merged(parts: list[tuple[Floats, bool]]) -> list[tuple[Floats, bool]]:
    """Join neighbouring parts of the same gear; stations start from 0, headings are unwrapped."""
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
