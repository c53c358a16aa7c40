"""`PathLengths`: lengths of the paths of several objects, computed together for all rules of a run that ask."""

from __future__ import annotations

import numpy as np

from cbsim.evaluation.rules.context import EVERYBODY, Context
from cbsim.evaluation.rules.way import refined_lengths
from cbsim.recording.batch import Batch
from cbsim.world.tables import Floats

__all__ = ["PathLengths"]


class PathLengths:
    """Lengths of paths in the newest batch, of all objects whose rules have asked for them.

    Parameters
    ----------
    context : Context
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._rows: list[int] = []
        self._batch: Batch | None = None
        self._lengths: dict[int, Floats] = {}

    @classmethod
    def of(cls, context: Context, row: int) -> PathLengths:
        """Return the lengths that all rules of a run share, and let an object be among them."""
        found = context.shared(cls, EVERYBODY, lambda: cls(context))
        if row not in found._rows:
            found._rows.append(row)
        return found

    def level(self, row: int, batch: Batch) -> Floats:
        """Horizontal length of an object's path in each step of a batch, shape (n,) [m]."""
        if batch is not self._batch:
            tracks = [self._context.track(one, batch) for one in self._rows]
            times = np.stack([track.times for track in tracks], axis=1)
            motion = np.stack([track.motion for track in tracks], axis=1)
            lengths = refined_lengths(times, motion[..., :2], motion[..., 7:9])
            columns = np.ascontiguousarray(lengths.T)
            self._batch, self._lengths = batch, dict(zip(self._rows, columns, strict=True))
        return self._lengths[row]
