"""`Encroachment`: post-encroachment times of an object and the others, step by step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.evaluation.rules.context import Context, Places
from cbsim.evaluation.rules.footprints import ahead_of
from cbsim.evaluation.rules.track import Track
from cbsim.geometry.kernels.encroachment import encroachments
from cbsim.recording.batch import Batch
from cbsim.world.motion import MOTION
from cbsim.world.tables import Floats, Ints

__all__ = ["Encroachment"]

HORIZON = 10.0  # [s] longest time that counts
REACH = 300.0  # [m] from the object, up to which others are followed
CROSSES = float(np.cos(np.radians(30.0)))  # of the least angle between the ways of both: who follows has a headway
ORIENTATION = MOTION["orientation"]
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
        rows, places = rows[columns], batch.motion[:, columns, :2]
        places[~there[:, columns]] = np.nan
        ahead, skipped = ahead_of(batch.motion[:, columns, ORIENTATION]), 1
        if self._blocks and self._blocks[-1].last == batch.first_step - 1:
            before = self._blocks[-1]
            end = np.full((1, len(rows), 2), np.nan)
            at = np.minimum(np.searchsorted(before.rows, rows), max(len(before.rows) - 1, 0))
            if len(before.rows):
                known = before.rows[at] == rows
                end[0, known] = before.end[at[known]]
            with np.errstate(invalid="ignore"):
                end[~(np.abs(end - middle).max(axis=2) <= REACH)] = np.nan
            places, skipped = np.concatenate([end, places]), 0
        else:
            ahead = ahead[1:]
        sizes = self._context.footprints(np.concatenate([[self._row], rows]))
        reaches = 0.5 * np.hypot(sizes[1:, 0], sizes[1:, 1])[:, None]
        low = np.fmin.reduce(places, axis=0, initial=np.inf) - reaches
        high = np.fmax.reduce(places, axis=0, initial=-np.inf) + reaches
        pieces = np.concatenate([places[:-1], np.diff(places, axis=0), ahead], axis=2)
        centres = track.centres[skipped:]
        own = np.concatenate([centres[:-1], np.diff(centres, axis=0), track.ahead[1 + skipped :]], axis=1)
        last, bounds = int(batch.steps[-1]), np.concatenate([low, high], axis=1)
        return _Block(last, rows, places[-1], pieces, bounds, sizes, own)
