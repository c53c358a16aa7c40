"""`Encroachment`: post-encroachment times of an object and the others, step by step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.evaluation.rules.context import Context, Places
from cbsim.evaluation.rules.track import Track
from cbsim.geometry.kernels.encroachment import encroachments, pieces_into
from cbsim.recording.batch import Batch

__all__ = ["Encroachment"]

HORIZON = 10.0  # [s] longest time that counts
REACH = 300.0  # [m] from the object, up to which others are followed
CROSSES = float(np.cos(np.radians(30.0)))  # of the least angle between the ways of both: who follows has a headway
PART = 256  # steps that are compared at once


class _Block(NamedTuple):
    """A batch with the step before it, and bounds of the way of each object in it.

    Attributes
    ----------
    last : int
        Its last step.
    rows : ndarray of int, shape (m,)
        Of the others.
    end : ndarray, shape (m, 2)
        Where they are at the last step [m]; nan for who is absent or far away.
    pieces : ndarray, shape (n, m, 6)
        Their ways between steps, as in `encroachments`.
    bounds : ndarray, shape (m, 4)
        Of the footprints of the others [m]; nan for who was never there.
    sizes : ndarray, shape (1 + m, 2)
        Width and length of the object, and of the others [m].
    own : ndarray, shape (n, 6)
        Pieces of the object.
    """

    last: int
    rows: Ints
    end: Floats
    pieces: Floats
    bounds: Floats
    sizes: Floats
    own: Floats

    @property
    def first(self) -> int:
        """Step at which the first piece ends."""
        return self.last + 1 - len(self.own)


class Encroachment:
    """Times between one footprint leaving a place and the other reaching it (Allen, Shin and Cooper 1978).

    That is the least difference of times at which both overlap, each at its own. Between steps both move evenly.

    Parameters
    ----------
    context : Context
    row : int
        The object.
    """

    def __init__(self, context: Context, row: int) -> None:
        self._context, self._row = context, row
        self._blocks: list[_Block] = []

    def least(self, track: Track, batch: Batch, horizon: float = HORIZON) -> tuple[Floats, Ints]:
        """Find the least time that becomes known at each step of a batch.

        Returns
        -------
        times : ndarray, shape (n,)
            [s]; infinite where no object crosses within the horizon.
        rows : ndarray of int, shape (n,)
            Of whom, -1 for none.
        """
        count, places = len(batch.hashes), self._context.places(batch)
        if count <= PART:
            return self._least(track, batch, places, horizon)
        parts = [(start, min(start + PART, count)) for start in range(0, count, PART)]
        found = [self._least(track.part(*one), batch.part(*one), places.part(*one), horizon) for one in parts]
        times, rows = zip(*found, strict=True)
        return np.concatenate(times), np.concatenate(rows)

    def _least(self, track: Track, batch: Batch, where: Places, horizon: float) -> tuple[Floats, Ints]:
        first, count = int(batch.first_step), len(batch.hashes)
        oldest = first - 1 - int(np.ceil(horizon / track.step))
        new = self._block(batch, track, where)
        self._blocks = [one for one in self._blocks if one.last >= oldest]
        pairs = [(new, new), *((new, one) for one in self._blocks), *((one, new) for one in self._blocks)]
        self._blocks.append(new)
        times, who = np.full(count, np.inf), np.full(count, -1)
        duration = np.array([track.step, horizon])
        for own, block in pairs:
            numbers = np.concatenate([[own.first, block.first, first], block.rows])
            encroachments(own.own, block.pieces, block.bounds, block.sizes, numbers, duration, CROSSES, times, who)
        return times, who

    def _block(self, batch: Batch, track: Track, where: Places) -> _Block:
        """Take a batch together with the step before it."""
        rows = self._context.recorded(batch)
        middle = track.centres.mean(axis=0)
        there = where.there & (np.abs(where.x - middle[0]) <= REACH) & (np.abs(where.y - middle[1]) <= REACH)
        columns = np.flatnonzero((rows != self._row) & there.any(axis=0))
        rows, begin, skipped = rows[columns], np.full((len(columns), 2), np.nan), 1
        if self._blocks and self._blocks[-1].last == batch.first_step - 1:
            before, skipped = self._blocks[-1], 0
            if len(before.rows):
                at = np.minimum(np.searchsorted(before.rows, rows), len(before.rows) - 1)
                known = before.rows[at] == rows
                begin[known] = before.end[at[known]]
            with np.errstate(invalid="ignore"):
                begin[~(np.abs(begin - middle).max(axis=1) <= REACH)] = np.nan
        sizes = self._context.footprints(np.concatenate([[self._row], rows]))
        halves = 0.5 * np.hypot(sizes[1:, 0], sizes[1:, 1])
        pieces, bounds = np.empty((len(batch.motion) - skipped, len(rows), 6)), np.empty((len(rows), 4))
        pieces_into(_own(batch.motion), columns, there, begin, halves, pieces, bounds)
        end = np.where(there[-1, columns, None], batch.motion[-1, columns, :2], np.nan)
        centres = track.centres[skipped:]
        own = np.concatenate([centres[:-1], np.diff(centres, axis=0), track.ahead[1 + skipped :]], axis=1)
        return _Block(int(batch.steps[-1]), rows, end, pieces, bounds, sizes, own)


def _own(motion: Floats) -> Floats:
    """Motion in an array that could be written to, as kernels are compiled for one type of array."""
    return motion if motion.flags.writeable and motion.flags.c_contiguous else motion.copy()
