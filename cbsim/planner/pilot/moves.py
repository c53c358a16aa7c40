"""Ways from pose to pose for a vehicle with a smallest turning circle: arcs and straights, gear changes or none.

A pose is (x, y, heading) of the point of the vehicle that follows the path. A word is a row of arcs (curvature,
length): curvature positive to the left, length negative where it is driven backwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pose", "Word", "dubins", "end_of", "sample", "three_point"]

Floats = NDArray[np.float64]
Pose = tuple[float, float, float]
Word = tuple[tuple[float, float], ...]

STEP = 0.25  # [m] distance of samples
EXACT = 1e-6  # [m] and [rad] a word that ends farther from its goal than this solves another problem
TAU = 2.0 * math.pi


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
    dx, dy = goal[0] - start[0], goal[1] - start[1]
    d = math.hypot(dx, dy) / radius
    line = math.atan2(dy, dx)
    a, b = start[2] + 0.5 * math.pi - line, goal[2] + 0.5 * math.pi - line
    for turns, lengths in _families(d, a, b):
        word = tuple((turn / radius, part * radius) for turn, part in zip(turns, lengths, strict=True))
        x, y, heading = end_of(start, word)
        if math.hypot(x - goal[0], y - goal[1]) < 1e3 * EXACT and abs(math.sin(0.5 * (heading - goal[2]))) < EXACT:
            yield word


def turned(angle: float) -> float:
    """Bring an angle into [0, 2π); a whole turn but for rounding is none."""
    rest = angle % TAU
    return 0.0 if rest > TAU - EXACT else rest


def _families(d: float, a: float, b: float) -> Iterator[tuple[tuple[int, int, int], tuple[float, float, float]]]:
    sa, ca, sb, cb, cab = math.sin(a), math.cos(a), math.sin(b), math.cos(b), math.cos(a - b)
    square = 2.0 + d * d - 2.0 * cab + 2.0 * d * (sa - sb)
    if square >= 0.0:
        way = math.atan2(cb - ca, d + sa - sb)
        yield (1, 0, 1), (turned(way - a), math.sqrt(square), turned(b - way))
    square = 2.0 + d * d - 2.0 * cab + 2.0 * d * (sb - sa)
    if square >= 0.0:
        way = math.atan2(ca - cb, d - sa + sb)
        yield (-1, 0, -1), (turned(a - way), math.sqrt(square), turned(way - b))
    square = d * d - 2.0 + 2.0 * cab + 2.0 * d * (sa + sb)
    if square >= 0.0:
        p = math.sqrt(square)
        way = math.atan2(-ca - cb, d + sa + sb) - math.atan2(-2.0, p)
        yield (1, 0, -1), (turned(way - a), p, turned(way - b))
    square = d * d - 2.0 + 2.0 * cab - 2.0 * d * (sa + sb)
    if square >= 0.0:
        p = math.sqrt(square)
        way = math.atan2(ca + cb, d - sa - sb) - math.atan2(2.0, p)
        yield (-1, 0, 1), (turned(a - way), p, turned(b - way))
    cosine = (6.0 - d * d + 2.0 * cab + 2.0 * d * (sa - sb)) / 8.0
    if abs(cosine) <= 1.0:
        p = TAU - math.acos(cosine)
        t = turned(a - math.atan2(ca - cb, d - sa + sb) + 0.5 * p)
        yield (-1, 1, -1), (t, p, turned(a - b - t + p))
    cosine = (6.0 - d * d + 2.0 * cab + 2.0 * d * (sb - sa)) / 8.0
    if abs(cosine) <= 1.0:
        p = TAU - math.acos(cosine)
        t = turned(-a - math.atan2(ca - cb, d + sa - sb) + 0.5 * p)
        yield (1, -1, 1), (t, p, turned(b - a - t + p))


def three_point(start: Pose, goal: Pose, radius: float) -> Iterator[Word]:
    """Give the turns of three points: forwards to one side, backwards to the other, forwards to the first again.

    Notes
    -----
    The middle circle touches the first and the last, so its centre lies two radii from both of theirs: two answers for
    each side (the family C|C|C of Reeds and Shepp 1990).
    """
    for side in (1.0, -1.0):
        first, last = _centre(start, side * radius), _centre(goal, side * radius)
        dx, dy = last[0] - first[0], last[1] - first[1]
        apart = math.hypot(dx, dy)
        if not 1e-9 < apart <= 4.0 * radius:
            continue
        height = math.sqrt(4.0 * radius * radius - 0.25 * apart * apart) / apart
        for sign in (1.0, -1.0):
            middle = first[0] + 0.5 * dx - sign * height * dy, first[1] + 0.5 * dy + sign * height * dx
            one = math.atan2(side * (middle[1] - first[1]), side * (middle[0] - first[0]))
            two = math.atan2(side * (middle[1] - last[1]), side * (middle[0] - last[0]))
            parts = [turned(side * turn) for turn in (one - start[2], two - one, goal[2] - two)]
            curvature = side / radius
            yield ((curvature, parts[0] * radius), (-curvature, -parts[1] * radius), (curvature, parts[2] * radius))


def _centre(pose: Pose, radius: float) -> tuple[float, float]:
    """Centre of the circle to the left of a pose; to the right where the radius is negative."""
    return pose[0] - radius * math.cos(pose[2]), pose[1] - radius * math.sin(pose[2])
