"""Ways from pose to pose for a vehicle with a smallest turning circle: arcs and straights, gear changes or none.

A pose is (x, y, heading) of the point of the vehicle that follows the path. A word is a row of arcs (curvature,
length): curvature positive to the left, length negative where it is driven backwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cbsim.planner.pilot.kernels.words import EXACT, dubins_into, three_point_into

__all__ = ["Pose", "Word", "dubins", "end_of", "sample", "three_point"]

Floats = NDArray[np.float64]
Pose = tuple[float, float, float]
Word = tuple[tuple[float, float], ...]

STEP = 0.25  # [m] distance of samples


def advance(pose: Pose, curvature: float, length: float) -> Pose:
    """Move along one arc."""
    x, y, heading = pose
    after = heading + curvature * length
    if abs(curvature) < 1e-9:
        return x - length * math.sin(heading), y + length * math.cos(heading), heading
    radius = 1.0 / curvature
    x += radius * (math.cos(after) - math.cos(heading))
    y += radius * (math.sin(after) - math.sin(heading))
    return x, y, after


def end_of(pose: Pose, word: Word) -> Pose:
    """Find where a word leads."""
    for curvature, length in word:
        pose = advance(pose, curvature, length)
    return pose


def sample(pose: Pose, word: Word) -> list[tuple[Floats, Floats, bool]]:
    """Sample a word.

    Returns
    -------
    list of (points, headings, reverse)
        One entry for each stretch without a gear change: points (m, 2) [m], body headings (m,) [rad], and whether it
        is driven backwards.
    """
    runs: list[tuple[list[Pose], bool]] = []
    for curvature, length in word:
        if abs(length) < EXACT:
            continue
        reverse = length < 0.0
        if not runs or runs[-1][1] != reverse:
            runs.append(([pose], reverse))
        count = max(1, math.ceil(abs(length) / STEP))
        runs[-1][0].extend(advance(pose, curvature, length * k / count) for k in range(1, count + 1))
        pose = advance(pose, curvature, length)
    tables = [(np.array(poses), reverse) for poses, reverse in runs]
    return [(table[:, :2], table[:, 2], reverse) for table, reverse in tables]


def dubins(start: Pose, goal: Pose, radius: float) -> Iterator[Word]:
    """Give every way of at most three forward pieces, arcs of one radius and straights (Dubins 1957).

    Notes
    -----
    The six families in the normalised form of Shkel and Lumelsky (2001), in angles from the line start to goal.
    """
    out = np.empty((6, 3, 2))
    yield from _words(out[: dubins_into(np.array(start), np.array(goal), radius, out)])


def three_point(start: Pose, goal: Pose, radius: float) -> Iterator[Word]:
    """Give the turns of three points: forwards to one side, backwards to the other, forwards to the first again.

    Notes
    -----
    The middle circle touches the first and the last, so its centre lies two radii from both of theirs: two answers for
    each side (the family C|C|C of Reeds and Shepp 1990).
    """
    out = np.empty((4, 3, 2))
    yield from _words(out[: three_point_into(np.array(start), np.array(goal), radius, out)])


def _words(table: Floats) -> Iterator[Word]:
    for one, two, three in table.tolist():
        yield (one[0], one[1]), (two[0], two[1]), (three[0], three[1])
