"""`Leader`: the next vehicle ahead of an object on its lane or exit, step by step."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.evaluation.rules.context import Context, Shared
from cbsim.evaluation.rules.corridors import corridors
from cbsim.evaluation.rules.neighbours import Neighbours, Pairs
from cbsim.evaluation.rules.track import Track
from cbsim.recording.batch import Batch
from cbsim.road.kernels.projection import project_into

__all__ = ["Ahead", "Leader"]

REACH = 100.0  # [m] up to which an object counts as ahead
BODY = 15.0  # [m] half of the longest vehicle, and half of the object's length


class Ahead(NamedTuple):
    """The leader at each step of a batch.

    Attributes
    ----------
    row : ndarray of int, shape (n,)
        -1 for none.
    gap : ndarray, shape (n,)
        From the front bumper to its rear [m]; infinite for none.
    speed : ndarray, shape (n,)
        Along the lane [m/s].
    to_line : ndarray, shape (n,)
        From the object's front bumper to the next stop line on its lane [m]; infinite for none.
    """

    row: Ints
    gap: Floats
    speed: Floats
    to_line: Floats


class Leader(Shared):
    """Finds who is ahead: vehicles only, whose footprint overlaps the strip that the object sweeps along its line.

    The line is the lane or exit under the object's centre, continued straight beyond its end.

    Parameters
    ----------
    context : Context
        With a road network.
    row : int
        The object.
    """

    def __init__(self, context: Context, row: int) -> None:
        assert context.roadmap is not None
        self._context, self._row = context, row
        self._neighbours = Neighbours.of(context, row, REACH + BODY)
        self._lines = corridors(context.roadmap).tables
        self._newest: tuple[Batch, Ahead] | None = None

    @cached_property
    def _stops(self) -> list[Floats]:
        """Stations of the stop lines of each lane [m]."""
        roadmap = self._context.roadmap
        assert roadmap is not None
        points = {stop.point for lane in roadmap.network.lanes for stop in lane.stops}
        found = []
        for curve in roadmap.lanes:
            here = [number for number in curve.numbers if (*curve.id, number) in points]
            found.append(curve.waypoint_stations[[curve.numbers.index(number) for number in here]])
        return found

    @classmethod
    def of(cls, context: Context, row: int) -> Leader:
        """Return the one that all rules about an object share."""
        return context.shared(cls, row, lambda: cls(context, row))

    def ahead(self, track: Track, batch: Batch, reach: float = REACH) -> Ahead:
        """Find the leader within a reach of at most 100 m at every step of a batch."""
        if self._newest is None or self._newest[0] is not batch:
            self._newest = batch, self._find(track, batch)
        found = self._newest[1]
        near = found.gap <= reach
        if near.all():
            return found
        row, gap = np.where(near, found.row, -1), np.where(near, found.gap, np.inf)
        return Ahead(row, gap, np.where(near, found.speed, np.nan), found.to_line)

    def _find(self, track: Track, batch: Batch) -> Ahead:
        match = self._context.on_corridor(self._row, track)
        count = len(batch.hashes)
        found = Ahead(np.full(count, -1), *(np.full(count, fill) for fill in (np.inf, np.nan, np.inf)))
        pairs = self._neighbours.pairs(track, batch, REACH + BODY)
        can_move = self._context.can_move(pairs.row)
        for line in np.unique(match.lane[match.lane >= 0]).tolist():
            here = match.lane == line
            front = match.station + 0.5 * track.length
            if line < len(self._stops):
                for stop in self._stops[line].tolist():
                    away = np.where(here, stop - front, -1.0)
                    found.to_line[:] = np.where((away >= -0.01), np.minimum(found.to_line, away), found.to_line)
            rows = np.flatnonzero(here[pairs.step] & can_move)
            if len(rows):
                steps = pairs.step[rows]
                strip = _Strip(front[steps], match.offset[steps], track.width, REACH)
                spans = _within(self._lines[line], front)[steps]
                _nearest(self._lines[line], spans, pairs.some(rows), strip, found)
        return found


class _Strip(NamedTuple):
    """What the object sweeps: station of its front bumper and offset at each pair, its width, and the reach [m]."""

    front: Floats
    offset: Floats
    width: float
    reach: float


def _within(line: Floats, fronts: Floats) -> Ints:
    """Spans of the samples of a line among which those of objects within the reach are, (n, 2), as `project_into`."""
    ends = np.stack([fronts - 3.0 * BODY, fronts + (REACH + 3.0 * BODY)], axis=1)
    found = np.searchsorted(line[:, 4], ends) + np.array([-1, 1])
    return np.asarray(np.clip(found, [0, 1], [len(line) - 1, len(line)]))


def _nearest(line: Floats, spans: Ints, pairs: Pairs, strip: _Strip, out: Ahead) -> None:
    """Write the nearest vehicle ahead of each step, of pairs whose spans of the line and strips are given."""
    middles, aside = _project(line, pairs.places, spans).T[:2]
    close = (np.abs(aside - strip.offset) <= BODY + 0.5 * strip.width) & (middles >= strip.front - BODY)
    if not close.any():
        return
    pairs, spans = pairs.some(close), spans[close]
    strip = strip._replace(front=strip.front[close], offset=strip.offset[close])
    found = _project(line, pairs.other.reshape(-1, 2), np.repeat(spans, 4, axis=0)).reshape(-1, 4, 4)
    stations, offsets = found[..., 0], found[..., 1]
    gap, half = stations.min(axis=1) - strip.front, 0.5 * strip.width
    overlaps = (offsets.min(axis=1) < strip.offset + half) & (offsets.max(axis=1) > strip.offset - half)
    is_ahead = overlaps & (gap <= strip.reach) & (stations.mean(axis=1) > strip.front)
    pace = (pairs.velocity * found[:, 0, 2:]).sum(axis=1)
    ahead = np.flatnonzero(is_ahead)
    ahead = ahead[np.lexsort((gap[ahead], pairs.step[ahead]))]  # of each step the nearest, and of equals the first
    steps = pairs.step[ahead]
    first = ahead[np.diff(steps, prepend=-1) != 0]
    step = pairs.step[first]
    out.gap[step], out.row[step], out.speed[step] = gap[first], pairs.row[first], pace[first]


def _project(line: Floats, places: Floats, spans: Ints) -> Floats:
    """Stations, offsets [m] and directions of places on parts of a line, as `project_into`, shape (n, 4)."""
    out = np.empty((len(places), 4))
    project_into(line, np.array(places), spans, out)
    return out
