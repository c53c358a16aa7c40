"""`Moment`: steps of those who move, with the step before them, and who of them is at a junction."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.world.motion import ABSENT_BELOW

__all__ = ["Moment", "aligned"]

Box = tuple[Floats, Floats]  # the least and the largest coordinates [m]


class Moment:
    """Steps of some rows, with the step before them.

    Parameters
    ----------
    times : ndarray, shape (n,)
        [s]
    rows : ndarray of int, shape (m,)
    leading : list of ndarray, shape (1, m, 13)
        Motion at the step before, if it is known.
    motion : ndarray, shape (n - len(leading), m, 13)
    """

    def __init__(self, times: Floats, rows: Ints, leading: list[Floats], motion: Floats) -> None:
        self.times, self.rows = times, rows
        self._parts = [*leading, motion]
        self._x, self._y, z = (np.concatenate([part[:, :, k] for part in self._parts]) for k in range(3))
        self._there = z > ABSENT_BELOW

    def of(self, columns: Ints) -> Floats:
        """Motion of some, shape (n, k, 13)."""
        return np.concatenate([part[:, columns] for part in self._parts])

    def near(self, box: Box, reach: float, step: int) -> tuple[Ints, Floats]:
        """Rows of those within reach [m] of a box at a step, and their motion."""
        motion = self._parts[0][0] if step == 0 else self._parts[-1][step - len(self._parts) + 1]
        here = self._there[step] & self._within(box, reach, slice(None), step)
        return self.rows[here], motion[here]

    def close(self, box: Box, reach: float, around: float) -> Ints:
        """Columns of those who are within reach [m] of a box at some step, and there at some step around it [m]."""
        columns = np.flatnonzero(self._within(box, reach, slice(None)).any(axis=0))
        there = self._within(box, around, columns) & self._there[:, columns]
        return np.asarray(columns[there.any(axis=0)])

    def _within(self, box: Box, reach: float, columns: slice | Ints, steps: slice | int = slice(None)) -> np.ndarray:
        """Whether some are within reach [m] of a box at some steps."""
        (left, below), (right, above) = (end.tolist() for end in box)
        x, y = self._x[steps, columns], self._y[steps, columns]
        found = (x >= left - reach) & (x <= right + reach) & (y >= below - reach) & (y <= above + reach)
        return np.asarray(found)


def aligned(before: tuple[Ints, Floats], rows: Ints) -> Floats:
    """Motion before a batch in its rows; nan for those that were not recorded."""
    known_rows, motion = before
    if np.array_equal(known_rows, rows):
        return motion
    found = np.full((len(rows), motion.shape[1]), np.nan)
    where = np.minimum(np.searchsorted(known_rows, rows), len(known_rows) - 1)
    known = known_rows[where] == rows
    found[known] = motion[where[known]]
    return found
