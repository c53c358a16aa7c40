"""`PathLengths`: lengths of the paths of several objects, computed together for all rules of a run that ask."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.evaluation.rules.context import EVERYBODY, Context, Shared
from cbsim.geometry.kernels.path_lengths import path_lengths_into
from cbsim.recording.batch import Batch

__all__ = ["PathLengths"]


class PathLengths(Shared):
    """Lengths of paths in the newest batch, of all objects whose rules have asked for them.

    Parameters
    ----------
    context : Context
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._columns: dict[int, int] = {}  # row → column of the table of lengths
        self._before = np.zeros((0, 6))
        self._batch: Batch | None = None
        self._lengths: Floats = np.zeros((0, 0))

    @classmethod
    def of(cls, context: Context, row: int) -> PathLengths:
        """Return the lengths that all rules of a run share, and let an object be among them."""
        found = context.shared(cls, EVERYBODY, lambda: cls(context))
        if row not in found._columns:
            found._columns[row] = len(found._columns)
            found._before = np.concatenate([found._before, np.full((1, 6), np.nan)])
            found._batch = None
        return found

    def begin_anew(self, row: int) -> None:
        """Forget where an object was."""
        if row in self._columns:
            self._before[self._columns[row], 0] = np.nan

    def among(self, row: int, batch: Batch) -> Floats:
        """Length of an object's path in each step of a batch, shape (n,) [m]."""
        if batch is not self._batch:
            rows = np.array(list(self._columns), np.int64)
            self._batch, self._lengths = batch, np.empty((len(rows), len(batch.hashes)))
            times = batch.steps * self._context.header.step
            path_lengths_into(self._motion(rows, batch), times, self._before, self._lengths)
        return np.asarray(self._lengths[self._columns[row]])

    def _motion(self, rows: Ints, batch: Batch) -> Floats:
        """Motion of some rows in a batch, shape (n, m, 13)."""
        held = self._context.recorded(batch)
        columns = np.searchsorted(held, rows)
        if len(held) and (held[np.minimum(columns, len(held) - 1)] == rows).all():
            return np.take(batch.motion, columns, axis=1)
        return np.stack([self._context.motion(row, batch) for row in rows.tolist()], axis=1)
