"""`Encroachment`: post-encroachment times of an object and the others, step by step."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.footprints import extents, rectangles
from cbsim.evaluation.rules.track import Track
from cbsim.geometry.polyline import wrap
from cbsim.geometry.pose import heading
from cbsim.recording.batch import Batch
from cbsim.world.motion import ABSENT_BELOW, MOTION
from cbsim.world.tables import Floats, Ints

__all__ = ["Encroachment", "least_difference"]

HORIZON = 10.0  # [s] longest time that counts
REACH = 300.0  # [m] from the object, up to which others are followed
CROSSES = np.cos(np.radians(30.0))  # of the least angle between the ways of both: who follows has a headway
SLACK = 1e-9  # of a step, for rounding


class _Block(NamedTuple):
    """A batch with the step before it, and bounds of the way of everybody in it.

    Attributes
    ----------
    steps : ndarray of int, shape (n + 1,)
    rows : ndarray of int, shape (m,)
        Of the others.
    motion : ndarray, shape (n + 1, m, 13)
        Positions are nan where somebody is absent or far away.
    low, high : ndarray, shape (m, 2)
        Bounds of the footprints of the others [m]; nan for who was never there.
    own : _Pieces
        Of the object.
    """

    steps: Ints
    rows: Ints
    motion: Floats
    low: Floats
    high: Floats
    own: _Pieces

    def pieces(self, column: int, size: tuple[float, float]) -> _Pieces:
        """Pieces of one of the others."""
        motion = self.motion[:, column]
        there = np.isfinite(motion[:, 0])
        headings = np.zeros(len(motion))
        headings[there] = heading(motion[there][:, MOTION["orientation"]])
        return _Pieces.of(self.steps, motion[:, :2], headings, size)


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
        self._moving = np.array(context.header.moving, np.int64)
        self._blocks: list[_Block] = []
        self._reaches: dict[int, float] = {}

    def least(self, track: Track, batch: Batch, horizon: float = HORIZON) -> tuple[Floats, Ints]:
        """Find the least time that becomes known at each step of a batch.

        Returns
        -------
        times : ndarray, shape (n,)
            [s]; infinite where nobody crosses within the horizon.
        rows : ndarray of int, shape (n,)
            Of whom, -1 for none.
        """
        first, count = int(batch.steps[0]), len(batch.hashes)
        oldest = first - 1 - int(np.ceil(horizon / track.step))
        new = self._block(batch, track)
        self._blocks = [one for one in self._blocks if one.steps[-1] >= oldest]
        pairs = [(new.own, new), *((new.own, one) for one in self._blocks), *((one.own, new) for one in self._blocks)]
        self._blocks.append(new)
        times, rows = np.full(count, np.inf), np.full(count, -1)
        for own, block in pairs:
            for column in np.flatnonzero(own.may_meet(block.low, block.high)).tolist():
                row = int(block.rows[column])
                at, value = self._between(own, block.pieces(column, self._context.footprint(row)), track.step, horizon)
                for k, one in zip((at - first).tolist(), value.tolist(), strict=True):
                    if one < times[k] or (one == times[k] and row < rows[k]):
                        times[k], rows[k] = one, row
        return times, rows

    def _block(self, batch: Batch, track: Track) -> _Block:
        """Take a batch together with the step before it."""
        rows = self._moving if batch.rows is None else batch.rows
        columns = np.flatnonzero(rows != self._row)
        rows, motion, steps = rows[columns], batch.motion[:, columns].copy(), batch.steps.astype(np.int64)
        own_steps = steps
        skipped = 1
        if self._blocks and self._blocks[-1].steps[-1] == steps[0] - 1:
            before = self._blocks[-1]
            last = np.full((1, len(rows), motion.shape[2]), np.nan)
            where = np.minimum(np.searchsorted(before.rows, rows), max(len(before.rows) - 1, 0))
            if len(before.rows):
                known = before.rows[where] == rows
                last[0, known] = before.motion[-1, where[known]]
            motion, steps = np.concatenate([last, motion]), np.concatenate([steps[:1] - 1, steps])
            own_steps, skipped = steps, 0
        middle = track.centres.mean(axis=0)
        with np.errstate(invalid="ignore"):
            away = ~(motion[..., 2] > ABSENT_BELOW) | ~(np.abs(motion[..., :2] - middle).max(axis=2) <= REACH)
        motion[away, :2] = np.nan
        reaches = np.array([self._reach(row) for row in rows.tolist()]).reshape(-1, 1)
        low = np.fmin.reduce(motion[..., :2], axis=0, initial=np.inf) - reaches
        high = np.fmax.reduce(motion[..., :2], axis=0, initial=-np.inf) + reaches
        size = self._context.footprint(self._row)
        own = _Pieces.of(own_steps, track.centres[skipped:], track.headings[skipped:], size)
        return _Block(steps, rows, motion, low, high, own)

    def _reach(self, row: int) -> float:
        """Half of the diagonal of a footprint [m]."""
        if row not in self._reaches:
            self._reaches[row] = 0.5 * float(np.hypot(*self._context.footprint(row)))
        return self._reaches[row]

    def _between(self, mine: _Pieces, theirs: _Pieces, step: float, horizon: float) -> tuple[Ints, Floats]:
        """Find steps at which times to one of the others become known, and these times [s]."""
        nothing = np.zeros(0, np.int64), np.zeros(0)
        mine, theirs = mine.within(theirs), theirs.within(mine)
        if not len(mine.steps) or not len(theirs.steps) or not mine.may_cross(theirs):
            return nothing
        near = mine.near(theirs) & (np.abs(mine.steps[:, None] - theirs.steps) <= horizon / step + 1.0)
        a, b = np.nonzero(near)
        crosses = np.cos(mine.headings[a] - theirs.headings[b]) < CROSSES
        a, b = a[crosses], b[crosses]
        if not len(a):
            return nothing
        apart = (theirs.steps[b] - mine.steps[a]).astype(float)
        found = step * least_difference(mine.corners(a), mine.ways[a], theirs.corners(b), theirs.ways[b], apart)
        known = np.flatnonzero(found <= horizon)
        return np.maximum(mine.steps[a], theirs.steps[b])[known], found[known]


class _Pieces(NamedTuple):
    """Motion between a step and the one before it: number of the later step, where it begins, ways, and headings."""

    steps: Ints
    places: Floats
    ways: Floats
    headings: Floats
    size: tuple[float, float]

    @classmethod
    def of(cls, steps: Ints, places: Floats, headings: Floats, size: tuple[float, float]) -> _Pieces:
        """Cut the places at steps (n,) where they are known."""
        ways = np.diff(places, axis=0)
        whole = np.flatnonzero((np.diff(steps) == 1) & np.isfinite(ways).all(axis=1))
        return cls(steps[1:][whole], places[whole], ways[whole], headings[1:][whole], size)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Corners around all footprints [m]."""
        ends = self.places + self.ways
        reach = 0.5 * np.hypot(*self.size)
        low = np.minimum(self.places, ends).min(axis=0, initial=np.inf) - reach
        return low, np.maximum(self.places, ends).max(axis=0, initial=-np.inf) + reach

    def may_meet(self, low: Floats, high: Floats) -> np.ndarray:
        """Whether bounds (m, 2) touch those of the pieces, shape (m,)."""
        own_low, own_high = self.bounds
        return np.asarray(np.all((low <= own_high) & (high >= own_low), axis=1))

    def within(self, other: _Pieces) -> _Pieces:
        """Keep the pieces that may touch the bounds of others."""
        low, high = other.bounds
        reach = 0.5 * np.hypot(*self.size)
        ends = self.places + self.ways
        near = (np.minimum(self.places, ends) - reach <= high) & (np.maximum(self.places, ends) + reach >= low)
        kept = near.all(axis=1)
        return _Pieces(self.steps[kept], self.places[kept], self.ways[kept], self.headings[kept], self.size)

    def may_cross(self, other: _Pieces) -> bool:
        """Whether any two headings differ enough."""
        middle = other.headings[0]
        mine, theirs = (np.abs(wrap(one.headings - middle)).max() for one in (self, other))
        return bool(mine + theirs >= np.arccos(CROSSES))

    def near(self, other: _Pieces) -> np.ndarray:
        """Whether circles around the pieces touch, shape (n, m)."""
        middles = [one.places + 0.5 * one.ways for one in (self, other)]
        reaches = [0.5 * (np.hypot(*one.ways.T) + np.hypot(*one.size)) for one in (self, other)]
        east, north = (middles[0][:, None, k] - middles[1][:, k] for k in (0, 1))
        return np.asarray(east * east + north * north <= (reaches[0][:, None] + reaches[1]) ** 2)

    def corners(self, rows: np.ndarray) -> Floats:
        """Corners at the begin of some pieces, shape (k, 4, 2) [m]."""
        size = np.broadcast_to(np.array(self.size), (len(rows), 2))
        return rectangles(self.places[rows], self.headings[rows], size)


def least_difference(own: Floats, own_way: Floats, other: Floats, other_way: Floats, apart: Floats) -> Floats:
    """Compute the least difference of the times at which rectangles overlap that move evenly for one step.

    Parameters
    ----------
    own, other : ndarray, shape (n, 4, 2)
        Corners at the begin of the step of each [m].
    own_way, other_way : ndarray, shape (n, 2)
        Ways in it [m].
    apart : ndarray, shape (n,)
        By how many steps that of the other begins later.

    Returns
    -------
    ndarray, shape (n,)
        In steps; 0 where they overlap at one time, infinite where they never do.

    Notes
    -----
    Rectangles overlap if their projections on the normals of all sides do (separating axes). With shares s and t of
    both steps, these are eight linear inequalities, and 0 ≤ s, t ≤ 1 four more: the least and the largest ``apart + t −
    s`` are at corners of the polygon that they bound.
    """
    rows = []
    may = np.ones(len(own), bool)
    for polygon in (own, other):
        for side in (0, 1):
            axis = polygon[:, side + 1] - polygon[:, side]
            (low, high), (other_low, other_high) = extents(own, axis), extents(other, axis)
            goes, comes = (own_way * axis).sum(axis=1), (other_way * axis).sum(axis=1)
            # mine + s goes and theirs + t comes overlap
            before, beyond = other_high - low, high - other_low
            may &= (np.minimum(goes, 0.0) - np.maximum(comes, 0.0) <= before) & (
                np.minimum(comes, 0.0) - np.maximum(goes, 0.0) <= beyond
            )
            rows += [np.stack([goes, -comes, before], axis=1), np.stack([-goes, comes, beyond], axis=1)]
    found = np.full(len(own), np.inf)
    some = np.flatnonzero(may)
    if len(some):
        square = np.array([(-1.0, 0.0, 0.0), (1.0, 0.0, 1.0), (0.0, -1.0, 0.0), (0.0, 1.0, 1.0)])
        fixed = np.broadcast_to(square, (len(some), 4, 3))
        found[some] = _least(
            np.concatenate([fixed, np.stack([row[some] for row in rows], axis=1)], axis=1), apart[some]
        )
    return found


def _least(lines: Floats, apart: Floats) -> Floats:
    """Least absolute ``apart + t - s`` where a s + b t <= c for all lines (a, b, c), shape (n,)."""
    least, most = np.full(len(lines), np.inf), np.full(len(lines), -np.inf)
    allowed = lines[..., 2] + SLACK * (1.0 + np.abs(lines[..., 2]))
    for i, k in itertools.combinations(range(lines.shape[1]), 2):
        (a, b, c), (d, e, f) = (lines[:, row].T for row in (i, k))
        turned = a * e - b * d
        with np.errstate(divide="ignore", invalid="ignore"):
            s, t = (c * e - b * f) / turned, (a * f - c * d) / turned
            inside = (np.abs(turned) > 1e-12) & (s >= -SLACK) & (s <= 1.0 + SLACK) & (t >= -SLACK) & (t <= 1.0 + SLACK)
        rows = np.flatnonzero(inside)
        s, t = s[rows], t[rows]
        excess = lines[rows, 4:, 0] * s[:, None] + lines[rows, 4:, 1] * t[:, None] - allowed[rows, 4:]
        holds = np.all(excess <= 0.0, axis=1)
        kept, value = rows[holds], apart[rows[holds]] + t[holds] - s[holds]
        least[kept], most[kept] = np.minimum(least[kept], value), np.maximum(most[kept], value)
    return np.where(least > 0.0, least, np.where(most < 0.0, -most, 0.0))
