"""`LineIndex` and `LinePoints`: matching of positions to lines, and points on them, by kernels.

For rules and planners, which ask for them in every step of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.road.kernels.matching import match_into, point_on
from cbsim.road.matching import NO_HEADINGS, Line, Match, Stretches

__all__ = ["LineIndex", "LinePoints"]


class LineIndex:
    """Lines on which positions are found, as by `cbsim.road.matching.LaneIndex`, with the same bits.

    Those in question are found by bounds around all positions of a call, which lie near one another in a run. Files are
    read and linted without kernels, by `LaneIndex`.

    Parameters
    ----------
    lines : sequence of Line
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        parts = Stretches(lines)
        half_widths = parts.half_widths[parts.lane_of_row]
        columns = parts.samples, parts.along, parts.stations, half_widths, parts.lane_of_row
        intervals = np.column_stack(columns).astype(float).reshape(-1, 7)
        stretches = np.column_stack([parts.firsts, parts.lasts]).astype(np.int64).reshape(-1, 2)
        self._tables = intervals, stretches, np.column_stack(parts.bounds()).astype(float).reshape(-1, 4)

    def match(self, positions: ArrayLike, headings: ArrayLike | None = None, onward: float = np.pi) -> Match:
        """Find the line of each position; parameters are those of `LaneIndex.match`."""
        where = np.array(positions, float, order="C").reshape(-1, 2)
        along = NO_HEADINGS if headings is None else np.array(headings, float, order="C").reshape(-1)
        return self.match_arrays(where, along, float(onward))

    def match_arrays(self, where: Floats, along: Floats, onward: float = np.pi) -> Match:
        """Find the line of positions (n, 2) with headings (n,), or none (0,): arrays in the order of C."""
        lines, found = np.empty(len(where), np.int64), np.empty((3, len(where)))
        match_into(where, along, onward, *self._tables, lines, found)
        return Match(lines, found[0], found[1], found[2])  # unpacking an array raises and catches an IndexError


class LinePoints:
    """Single points of a line, as by `LaneCurve.at`, with the same bits.

    Parameters
    ----------
    stations : ndarray, shape (m,)
        [m]
    samples : ndarray, shape (m, 4)
        Place [m] and direction.
    closed : bool
    """

    def __init__(self, stations: Floats, samples: Floats, closed: bool) -> None:
        self._line = closed, stations, samples

    def at(self, station: float, offset: float) -> tuple[Floats, Any]:
        """Compute the point at an arc length, and at a distance to the left of the line [m]."""
        x, y, angle = point_on(station, offset, *self._line)
        return np.array([x, y]), np.float64(angle)
