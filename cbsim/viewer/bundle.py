"""`Bundle`: many lines or polygons that are drawn together: those that a camera sees, in as many points as it shows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cbsim.viewer.camera import Camera

__all__ = ["Bundle", "dashes_of"]

Floats = NDArray[np.float64]

COARSENESS = 0.4  # [pixels] by which a line that is drawn coarsely may be off


class Bundle:
    """Lines (k, 2) [m] each, drawn together.

    Parameters
    ----------
    lines : sequence of ndarray, shape (k, 2)
    """

    def __init__(self, lines: Sequence[Floats]) -> None:
        self.lines = [line for line in lines if len(line)]
        self._coarse: dict[int, Bundle] = {}

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def _points(self) -> Floats:
        return np.concatenate([np.zeros((0, 2)), *self.lines])

    @cached_property
    def _offsets(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum([len(line) for line in self.lines], dtype=np.int64)])

    @cached_property
    def _boxes(self) -> tuple[Floats, Floats]:
        low = [line.min(axis=0) for line in self.lines]
        high = [line.max(axis=0) for line in self.lines]
        return np.array(low).reshape(-1, 2), np.array(high).reshape(-1, 2)

    def seen(self, camera: Camera, beyond: float = 2.0) -> Iterator[tuple[int, Floats]]:
        """Yield number and pixels (k, 2) of each line whose box, widened by some metres, the camera sees."""
        low, high = self._boxes
        left, bottom, right, top = camera.box
        inside = (low - beyond <= (right, top)).all(axis=1) & (high + beyond >= (left, bottom)).all(axis=1)
        rows = np.flatnonzero(inside)
        if len(rows) > 0.25 * len(self):
            pixels = camera.to_screen(self._points)
            for row in rows.tolist():
                yield row, pixels[self._offsets[row] : self._offsets[row + 1]]
        else:
            for row in rows.tolist():
                yield row, camera.to_screen(self.lines[row])

    def coarse(self, scale: float) -> Bundle:
        """Give the same lines with as few points as can be shown at a scale [pixels per metre]."""
        level = math.floor(math.log2(max(scale, 1e-6)))
        if level >= 4:
            return self
        if level not in self._coarse:
            import shapely

            tolerance = COARSENESS / 2.0**level
            lines = [line if len(line) > 1 else np.repeat(line, 2, axis=0) for line in self.lines]
            simple = shapely.simplify([shapely.LineString(line) for line in lines], tolerance)
            self._coarse[level] = Bundle([np.asarray(shapely.get_coordinates(line)) for line in simple])
        return self._coarse[level]


def dashes_of(lines: Sequence[Floats], on: float, off: float) -> list[Floats]:
    """Cut lines (k, 2) [m] into dashes of a length, with gaps of another between them [m]."""
    found = list[Floats]()
    for line in lines:
        if len(line) < 2:
            continue
        stations = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
        for start in np.arange(0.0, stations[-1], on + off):
            stop = min(start + on, stations[-1])
            inner = stations[(stations > start) & (stations < stop)]
            at = np.concatenate([[start], inner, [stop]])
            found.append(np.stack([np.interp(at, stations, column) for column in line.T], axis=1))
    return found
