"""Arc paths between poses for a vehicle with a minimum turning radius: Dubins paths and three-point turns.

A pose is (x, y, heading) of the vehicle's control point. An arc path is a sequence of (curvature, length), the *words*
of Dubins and of Reeds and Shepp: curvature is positive to the left, length negative in reverse.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.kernels.arc_paths import EXACT, dubins_into, three_point_into

__all__ = ["ArcPath", "Pose", "dubins", "end_of", "sample", "three_point"]

Pose = tuple[float, float, float]
ArcPath = tuple[tuple[float, float], ...]

STEP = 0.25  # [m] sampling distance


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


def end_of(pose: Pose, arc_path: ArcPath) -> Pose:
    """Return the final pose of an arc path."""
    for curvature, length in arc_path:
        pose = advance(pose, curvature, length)
    return pose


def sample(pose: Pose, arc_path: ArcPath) -> list[tuple[Floats, Floats, bool]]:
    """Sample an arc path.

    Returns
    -------
    list of (points, headings, reverse)
        One entry per gear: points (m, 2) [m], body headings (m,) [rad], and whether it is driven in reverse.
    """
    runs: list[tuple[list[Pose], bool]] = []
    for curvature, length in arc_path:
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


def dubins(start: Pose, goal: Pose, radius: float) -> Iterator[ArcPath]:
    """Yield the Dubins paths: at most three forward pieces, arcs of one radius and straights (Dubins 1957).

    Notes
    -----
    The six families in the normalised form of Shkel and Lumelsky (2001), in angles from the line start to goal.
    """
    out = np.empty((6, 3, 2))
    yield from _arc_paths(out[: dubins_into(np.array(start), np.array(goal), radius, out)])


def three_point(start: Pose, goal: Pose, radius: float) -> Iterator[ArcPath]:
    """Yield the three-point turns: forwards to one side, in reverse to the other, forwards to the first again.

    Notes
    -----
    The middle circle touches the first and the last, so its centre lies two radii from both of theirs: two answers for
    each side (the family C|C|C of Reeds and Shepp 1990).
    """
    out = np.empty((4, 3, 2))
    yield from _arc_paths(out[: three_point_into(np.array(start), np.array(goal), radius, out)])


def _arc_paths(table: Floats) -> Iterator[ArcPath]:
    for one, two, three in table.tolist():
        yield (one[0], one[1]), (two[0], two[1]), (three[0], three[1])
