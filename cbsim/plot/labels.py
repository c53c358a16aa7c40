"""Label placement: non-overlapping labels beside their objects, or farther away with a leader line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cbsim.arrays import Floats

__all__ = ["ASIDE", "BELOW", "Extent", "LabelPlacer"]

Extent = tuple[float, float, float, float]  # left, right, bottom, top [m]

ASIDE, BELOW = 16.0, 22.0  # [mm] space for labels and the legend
LETTERS = 6.5  # [points] font size of labels
WIDE, HIGH = 0.64, 1.4  # width of a character and height of a line, in font sizes
GAP = 2.0  # [points] distance from a label to its object
POINTS = 72.0 / 25.4  # points per millimetre
SIDES = ((1, 1), (-1, 1), (1, -1), (-1, -1))  # right and up, left and up, right and down, left and down
LEADER = {"arrowstyle": "-", "linewidth": 0.4, "shrinkA": 0, "shrinkB": 0}
LESS = 0.92  # fraction of the axes' largest possible scale, so that labels have some space
FARTHEST, NEXT = 8, 2  # lines of text that a required and an optional label may be displaced


class LabelPlacer:
    """Places labels of one figure, in points, before anything is drawn.

    Parameters
    ----------
    extent : tuple of float
        Extent of the axes [m].
    size : tuple of float
        Size of the figure [mm].
    bodies : sequence of ndarray, each (k, 2)
        Outlines that labels should avoid [m].
    """

    def __init__(self, extent: Extent, size: tuple[float, float], bodies: Sequence[Floats] = ()) -> None:
        left, right, bottom, top = extent
        across, up = (max(side - used, 0.5 * side) * POINTS for side, used in zip(size, (ASIDE, BELOW), strict=True))
        self._scale = LESS * min(across / (right - left), up / (top - bottom))  # [points per metre]
        self._bodies = [self._box(corners) for corners in bodies]
        self._taken: list[Floats] = []

    def _box(self, corners: Floats) -> Floats:
        """Bounding box of corners (k, 2) [m]: left, bottom, right, top [points]."""
        return np.concatenate([corners.min(axis=0), corners.max(axis=0)]) * self._scale

    def avoid(self, bodies: Sequence[Floats]) -> None:
        """Add outlines or points (k, 2) [m] that later labels should avoid."""
        self._bodies += [self._box(corners) for corners in bodies]

    def put(self, axes: Any, text: str, corners: Floats, colour: str, *, needed: bool = True) -> None:
        """Draw a label beside corners (k, 2) [m]; an optional one only if there is room nearby."""
        free = self._free(text, self._box(corners), needed=needed)
        if free is None and not needed:
            return
        right, up, leads = free or (GAP, GAP, False)
        edge = corners.max(axis=0), corners.min(axis=0)
        place = [float(edge[0 if way > 0 else 1][axis]) for axis, way in enumerate((right, up))]
        axes.annotate(
            text,
            place,
            (right, up),
            textcoords="offset points",
            ha="left" if right > 0 else "right",
            va="bottom" if up > 0 else "top",
            color=colour,
            fontsize=LETTERS,
            zorder=8,
            arrowprops=LEADER | {"color": colour} if leads else None,
        )

    def _free(self, text: str, box: Floats, *, needed: bool) -> tuple[float, float, bool] | None:
        """Find a label's offset from a corner of a box [points], and whether it needs a leader; None if none is free.

        A leader is drawn if the label is displaced, or if another outline is closer to it than its own.
        """
        wide, high = WIDE * LETTERS * len(text), HIGH * LETTERS
        for blocked in (self._taken + self._bodies, self._taken)[: 2 if needed else 1]:
            for off in range(FARTHEST if needed else NEXT):
                for right, up in SIDES:
                    x, y = right * GAP, up * (GAP + off * high)
                    one = np.array([box[2 if right > 0 else 0] + x, box[3 if up > 0 else 1] + y])
                    other = one + np.array([right * wide, up * high])
                    own = np.concatenate([np.minimum(one, other), np.maximum(one, other)])
                    if not any(_meet(own, there) for there in blocked):
                        self._taken.append(own)
                        near = _distance(own, box)
                        others = (there for there in self._bodies if not np.array_equal(there, box))
                        return x, y, off > 0 or any(_distance(own, there) <= near for there in others)
        return None


def _meet(one: Floats, other: Floats) -> bool:
    """Return whether two boxes overlap."""
    return bool((one[:2] < other[2:]).all() and (other[:2] < one[2:]).all())


def _distance(one: Floats, other: Floats) -> float:
    """Distance between two boxes; 0 if they overlap."""
    return float(np.hypot(*np.maximum(np.maximum(one[:2] - other[2:], other[:2] - one[2:]), 0.0)))
