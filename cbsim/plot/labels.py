"""Labels of a figure, none over another: beside what they name, or farther off with a thin line that leads there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ASIDE", "BELOW", "Extent", "Labels"]

Floats = NDArray[np.float64]
Extent = tuple[float, float, float, float]  # left, right, bottom, top [m]

ASIDE, BELOW = 16.0, 22.0  # [mm] of a figure that labels and the legend take
LETTERS = 6.5  # [points] height of a label's letters
WIDE, HIGH = 0.64, 1.4  # width of a letter and height of a line, in heights of letters
GAP = 2.0  # [points] between a label and what it names
POINTS = 72.0 / 25.4  # in a millimetre
SIDES = ((1, 1), (-1, 1), (1, -1), (-1, -1))  # right and up, left and up, right and down, left and down
LEADER = {"arrowstyle": "-", "linewidth": 0.4, "shrinkA": 0, "shrinkB": 0}
LESS = 0.92  # of what axes could take at most: a little closer than they come out, so that labels have air
FARTHEST, NEXT = 8, 2  # lines of text that a label may stand off, and one that may be left out


class Labels:
    """Places of labels in one figure, worked out in points of print before anything is drawn.

    Parameters
    ----------
    extent : tuple of float
        Of the axes [m].
    size : tuple of float
        Of the figure [mm].
    bodies : sequence of ndarray, each (k, 2)
        Outlines that labels keep off where they can [m].
    """

    def __init__(self, extent: Extent, size: tuple[float, float], bodies: Sequence[Floats] = ()) -> None:
        left, right, bottom, top = extent
        across, up = (max(side - used, 0.5 * side) * POINTS for side, used in zip(size, (ASIDE, BELOW), strict=True))
        self._scale = LESS * min(across / (right - left), up / (top - bottom))  # [points per metre]
        self._bodies = [self._box(corners) for corners in bodies]
        self._taken: list[Floats] = []

    def _box(self, corners: Floats) -> Floats:
        """Box around corners (k, 2) [m]: left, bottom, right, top [points]."""
        return np.concatenate([corners.min(axis=0), corners.max(axis=0)]) * self._scale

    def keep_off(self, bodies: Sequence[Floats]) -> None:
        """Add outlines or points, each (k, 2) [m], that labels keep off from now on where they can."""
        self._bodies += [self._box(corners) for corners in bodies]

    def put(self, axes: Any, text: str, corners: Floats, colour: str, *, needed: bool = True) -> None:
        """Write a label beside corners (k, 2) [m]; one that is not needed only where there is room near by."""
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
        """How far from which corner of a box a text stands [points], and whether a line leads there; None: nowhere.

        One does where the text stands off, and where another outline is nearer to it than the one that it is about.
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
    """Whether two boxes overlap."""
    return bool((one[:2] < other[2:]).all() and (other[:2] < one[2:]).all())


def _distance(one: Floats, other: Floats) -> float:
    """Between two boxes; 0 where they overlap."""
    return float(np.hypot(*np.maximum(np.maximum(one[:2] - other[2:], other[:2] - one[2:]), 0.0)))
