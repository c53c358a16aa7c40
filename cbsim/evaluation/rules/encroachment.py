"""`Encroachment`: post-encroachment times of an object and the others, step by step."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.footprints import rectangles
from cbsim.evaluation.rules.track import Track
from cbsim.geometry.pose import heading
from cbsim.recording.batch import Batch
from cbsim.world.motion import ABSENT_BELOW, MOTION
from cbsim.world.tables import Floats, Ints

__all__ = ["Encroachment", "least_difference"]

HORIZON = 10.0  # [s] longest time that counts
REACH = 300.0  # [m] from the object, up to which others are followed
CROSSES = np.cos(np.radians(30.0))  # of the least angle between the ways of both: who follows has a headway
SLACK = 1e-9  # of a step, for rounding


class _Trace(NamedTuple):
    """Steps of a car: numbers (n,), centres (n, 2) [m], headings (n,) [rad]; nan where it is absent."""

    steps: Ints
    places: Floats
    headings: Floats

    def since(self, step: int) -> _Trace:
        """Drop what was before a step."""
        kept = self.steps >= step
        return _Trace(self.steps[kept], self.places[kept], self.headings[kept])

    def and_then(self, later: _Trace) -> _Trace:
        """Append later steps."""
        return _Trace(*(np.concatenate(pair) for pair in zip(self, later, strict=True)))


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
        self._own: _Trace | None = None
        self._others: dict[int, _Trace] = {}

    def least(self, track: Track, batch: Batch, horizon: float = HORIZON) -> tuple[Floats, Ints]:
        """Find the least time that becomes known at each step of a batch.

        Returns
        -------
        times : ndarray, shape (n,)
            [s]; infinite where nobody crosses within the horizon.
        rows : ndarray of int, shape (n,)
            Of whom, -1 for none.
        """
        steps = batch.steps.astype(np.int64)
        first = int(steps[0])
        oldest = first - 1 - int(np.ceil(horizon / track.step))
        own = _Trace(steps, track.centres[1:], track.headings[1:])
        self._own = own if self._own is None else self._own.and_then(own).since(oldest)
        times, rows = np.full(len(steps), np.inf), np.full(len(steps), -1)
        for row in self._follow(batch, track, oldest):
            found = self._with(row, first, track.step, horizon)
            if found is not None:
                at, value = found
                better = value < times[at]
                np.minimum.at(times, at, value)
                for k in np.flatnonzero(better & (value == times[at])).tolist():
                    rows[at[k]] = row
        return times, rows

    def _follow(self, batch: Batch, track: Track, oldest: int) -> list[int]:
        """Add a batch to the traces of others, and list whom there are traces of."""
        rows = self._moving if batch.rows is None else batch.rows
        motion, steps = batch.motion, batch.steps.astype(np.int64)
        middle = track.centres.mean(axis=0)
        there = (motion[:, :, 2] > ABSENT_BELOW) & (np.abs(motion[:, :, :2] - middle).max(axis=2) <= REACH)
        columns = np.flatnonzero(there.any(axis=0) & (rows != self._row))
        turned = heading(motion[:, columns, MOTION["orientation"]].reshape(-1, 4)).reshape(len(steps), -1)
        for k, column in enumerate(columns.tolist()):
            present = there[:, column, None]
            trace = _Trace(steps, np.where(present, motion[:, column, :2], np.nan), turned[:, k])
            row = int(rows[column])
            self._others[row] = self._others[row].and_then(trace) if row in self._others else trace
        self._others = {row: trace.since(oldest) for row, trace in self._others.items()}
        self._others = {row: trace for row, trace in self._others.items() if len(trace.steps)}
        return sorted(self._others)

    def _with(self, row: int, first: int, step: float, horizon: float) -> tuple[Ints, Floats] | None:
        """Find the steps of the batch at which a time to one of the others becomes known, and these times [s]."""
        assert self._own is not None
        own, other = self._own, self._others[row]
        pieces = [_Pieces.of(one, self._context.footprint(who)) for one, who in ((own, self._row), (other, row))]
        mine, theirs = pieces
        near = mine.near(theirs)
        later = np.maximum(mine.steps[:, None], theirs.steps)
        near &= (later >= first) & (np.abs(mine.steps[:, None] - theirs.steps) <= horizon / step + 1.0)
        a, b = np.nonzero(near)
        if not len(a):
            return None
        crosses = np.cos(mine.headings[a] - theirs.headings[b]) < CROSSES
        a, b = a[crosses], b[crosses]
        if not len(a):
            return None
        apart = (theirs.steps[b] - mine.steps[a]).astype(float)
        found = step * least_difference(mine.corners(a), mine.ways[a], theirs.corners(b), theirs.ways[b], apart)
        known = np.flatnonzero(found <= horizon)
        return later[a, b][known] - first, found[known]


class _Pieces(NamedTuple):
    """Motion between a step and the one before it: number of the later step, where it begins, ways, and headings."""

    steps: Ints
    places: Floats
    ways: Floats
    headings: Floats
    size: tuple[float, float]

    @classmethod
    def of(cls, trace: _Trace, size: tuple[float, float]) -> _Pieces:
        """Cut a trace where steps follow one another."""
        ways = np.diff(trace.places, axis=0)
        whole = np.flatnonzero((np.diff(trace.steps) == 1) & np.isfinite(ways).all(axis=1))
        return cls(trace.steps[1:][whole], trace.places[whole], ways[whole], trace.headings[1:][whole], size)

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
    bounds = [(-1.0, 0.0, 0.0), (1.0, 0.0, 1.0), (0.0, -1.0, 0.0), (0.0, 1.0, 1.0)]
    rows = [np.broadcast_to(np.array(one), (len(own), 3)) for one in bounds]
    for polygon in (own, other):
        for side in (0, 1):
            axis = polygon[:, side + 1] - polygon[:, side]
            mine, theirs = ((corners * axis[:, None]).sum(axis=2) for corners in (own, other))
            goes, comes = (own_way * axis).sum(axis=1), (other_way * axis).sum(axis=1)
            # mine + s goes and theirs + t comes overlap
            rows.append(np.stack([goes, -comes, theirs.max(axis=1) - mine.min(axis=1)], axis=1))
            rows.append(np.stack([-goes, comes, mine.max(axis=1) - theirs.min(axis=1)], axis=1))
    lines = np.stack(rows, axis=1)  # a s + b t <= c
    least, most = np.full(len(own), np.inf), np.full(len(own), -np.inf)
    for i, k in itertools.combinations(range(lines.shape[1]), 2):
        (a, b, c), (d, e, f) = (lines[:, row].T for row in (i, k))
        turned = a * e - b * d
        with np.errstate(divide="ignore", invalid="ignore"):
            s, t = (c * e - b * f) / turned, (a * f - c * d) / turned
            excess = lines[..., 0] * s[:, None] + lines[..., 1] * t[:, None] - lines[..., 2]
            inside = np.all(excess <= SLACK * (1.0 + np.abs(lines[..., 2])), axis=1) & (np.abs(turned) > 1e-12)
            found = apart + t - s
        least = np.where(inside, np.minimum(least, found), least)
        most = np.where(inside, np.maximum(most, found), most)
    return np.where(least > 0.0, least, np.where(most < 0.0, -most, 0.0))
