"""`LineIndex`: matching of positions to lines by a kernel, for rules and planners, which match every step of a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from cbsim.road.kernels.matching import match_into
from cbsim.road.matching import Line, Match, Stretches

__all__ = ["LineIndex"]


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

    def match(
        self, positions: ArrayLike, headings: ArrayLike | None = None, onward: float = np.pi, copy: bool = True
    ) -> Match:
        """Find the line of each position.

        Parameters
        ----------
        positions, headings, onward
            As those of `LaneIndex.match`.
        copy : bool, optional
            False for arrays of the caller's own, in the order of C.
        """
        turned = np.empty(0) if headings is None else headings
        made = np.array if copy else np.asarray  # in the order of C, for which the kernel is compiled
        where = made(positions, float, order="C").reshape(-1, 2)
        along = made(turned, float, order="C").reshape(-1)
        out = np.empty((len(where), 4))
        match_into(where, along, float(onward), *self._tables, out)
        return Match(out[:, 0].astype(np.int64), out[:, 1], out[:, 2], out[:, 3])
