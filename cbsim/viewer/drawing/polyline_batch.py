"""Polyline batches: many lines or polygons drawn together, culled to the view and simplified to its scale."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.viewer.drawing.camera import Camera
from cbsim.viewer.drawing.canvas import FAR, Line, clipped

__all__ = ["PolylineBatch", "dashes_of"]

FULL_DETAIL = 4  # log2 of the scale [pixels per metre] from which all points are drawn
BEYOND = 2.0  # [m] margin of bounding boxes
SIMPLIFICATION = 0.4  # [pixels] tolerance of simplification


class PolylineBatch:
    """Polylines or polygons (k, 2) [m] that are drawn together.

    Parameters
    ----------
    lines : sequence of ndarray, shape (k, 2)
        [m]
    """

    def __init__(self, lines: Sequence[Floats]) -> None:
        self.lines = [line for line in lines if len(line) > 1]
        self._simplified: dict[int, PolylineBatch] = {}

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def _points(self) -> Floats:
        return np.concatenate([np.zeros((0, 2)), *self.lines])

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        return np.array([len(line) for line in self.lines], np.int64)

    @cached_property
    def _boxes(self) -> tuple[Floats, Floats]:
        if not self.lines:
            return np.zeros((0, 2)), np.zeros((0, 2))
        starts = np.concatenate([[0], np.cumsum(self._counts)[:-1]])
        return np.minimum.reduceat(self._points, starts), np.maximum.reduceat(self._points, starts)

    @property
    def box(self) -> tuple[Floats, Floats] | None:
        """Corners (2,) of the bounding box [m], or None if empty."""
        low, high = self._boxes
        return (low.min(axis=0), high.max(axis=0)) if self.lines else None

    def visible(self, camera: Camera, *, area: bool = False) -> list[Line]:
        """Pixels of the lines or polygons whose bounding boxes are visible, clipped where they extend far away.

        Parameters
        ----------
        camera : Camera
        area : bool
            Treat the lines as polygons.
        """
        low, high = self._boxes
        left, bottom, right, top = camera.box
        inside = (low - BEYOND <= (right, top)).all(axis=1) & (high + BEYOND >= (left, bottom)).all(axis=1)
        pixels = camera.to_screen(self._points[np.repeat(inside, self._counts)])
        bounds = [0, *np.cumsum(self._counts[inside]).tolist()]
        if pixels.size and np.abs(pixels).max() > FAR:
            return [part for i, j in itertools.pairwise(bounds) for part in clipped(pixels[i:j], area=area)]
        pairs: list[list[float]] = pixels.tolist()
        return [pairs[i:j] for i, j in itertools.pairwise(bounds)]

    def simplified(self, scale: float) -> PolylineBatch:
        """Return the lines simplified for a scale [pixels per metre]."""
        level = 2 * math.floor(0.5 * math.log2(max(scale, 1e-6)))
        if level >= FULL_DETAIL or len(self._points) <= 3 * len(self):
            return self
        if level not in self._simplified:
            import shapely

            numbers = np.repeat(np.arange(len(self)), self._counts)
            lines = shapely.simplify(shapely.linestrings(self._points, indices=numbers), SIMPLIFICATION / 2.0**level)
            points, owner = shapely.get_coordinates(lines, return_index=True)
            self._simplified[level] = PolylineBatch(np.split(points, np.flatnonzero(np.diff(owner)) + 1))
        return self._simplified[level]


def dashes_of(lines: Sequence[Floats], on: float, off: float) -> list[Floats]:
    """Cut lines (k, 2) [m] into dashes and gaps of given lengths [m]; each dash has three points."""
    found = list[Floats]()
    for line in lines:
        stations = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
        starts = np.arange(0.0, stations[-1], on + off)
        at = np.minimum(starts[:, None] + on * np.array([0.0, 0.5, 1.0]), stations[-1])
        found.extend(np.stack([np.interp(at, stations, column) for column in line.T], axis=2))
    return found
