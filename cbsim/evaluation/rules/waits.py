"""`Waits`: how long an object stands before conflicts though there are gaps for it."""

from __future__ import annotations

import math

import numpy as np

from cbsim.arrays import Floats
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.leader import Leader
from cbsim.evaluation.rules.manoeuvres import Claim, Manoeuvres
from cbsim.evaluation.rules.streams import APPROACH, Way
from cbsim.evaluation.rules.track import Track
from cbsim.evaluation.rules.traffic_near import TrafficNear, Vehicles
from cbsim.recording.batch import Batch

__all__ = ["Waits"]

SLOW = 0.5  # [m/s] slower loses time, as in `excess_delay`
STILL = 0.1  # [m/s] slower counts as rest
QUEUE = 10.0  # [m] behind a car ahead, where one may stand (Rules 2006, queueing)
SAMPLED = 0.1  # [s] after which others are looked at again
STARTS = 1.5  # [m/s²] with which an object drives into a gap
FORGOTTEN = 60.0  # [s]


class Waits:
    """Times for which an object has stood before each of its ways, in gaps that it did not take.

    A gap is one into which the object, if it starts at 1.5 m/s², drives as the rule wants: no vehicle of the streams
    that go first is nearer in time then, nor nearer than the spacing, and nobody else is at the other conflicts.

    Parameters
    ----------
    context : Context
    row : int
        The object.
    manoeuvres : Manoeuvres
        Its ways.
    traffic : TrafficNear
        Others.
    bounds : tuple of float
        Time gap [s] and spacing [m].
    """

    def __init__(
        self,
        context: Context,
        row: int,
        manoeuvres: Manoeuvres,
        traffic: TrafficNear,
        bounds: tuple[float, float],
    ) -> None:
        self._manoeuvres, self._traffic = manoeuvres, traffic
        self._run_states, self._row = context.run_states, row
        self._leader = Leader.of(context, row)
        self._gap, self._spacing = bounds
        self._every = max(1, round(SAMPLED / context.header.step))
        self._step = context.header.step
        self._waits: dict[int, Claim] = {}  # by lanelets
        self._stands: dict[int, tuple[int, bool]] = {}  # step at which it stood there last, whether there was a gap
        self.front: Floats | None = None

    def see(self, track: Track, batch: Batch, bound: float) -> None:
        """Process the next steps; beyond the bound [s] a wait fails."""
        self.front = track.fronts[-1]
        stands = self._run_states.has_to_stand(self._row, track.times[1:])
        slow = np.flatnonzero((track.speeds[1:] < SLOW) & (batch.steps > 0) & ~stands)
        if not len(slow):
            return
        for way in self._manoeuvres.near(track.fronts[1 + slow], APPROACH):
            away = way.distances(track.fronts[1 + slow], track.headings[1 + slow])
            for k in np.flatnonzero((away > 0.0) & (away <= APPROACH)).tolist():
                row = int(slow[k])
                step = int(batch.steps[row])
                last, free = self._stands.get(way.lanelet, (-1, False))
                if (step - last) * self._step > FORGOTTEN:
                    self._waits.pop(way.lanelet, None)
                if step != last + 1 or step % self._every == 0:
                    ahead = self._leader.ahead(track, batch)
                    free = bool(ahead.gap[row] >= QUEUE and self._is_free(way, float(away[k]), track, batch, row))
                self._stands[way.lanelet] = step, free
                if free:
                    self._add(way, step * self._step, track.centres[1 + row], bound)

    def forget(self) -> None:
        """Forget all waits: the object is absent."""
        self._waits.clear()
        self._stands.clear()
        self.front = None

    def _add(self, way: Way, time: float, place: Floats, bound: float) -> None:
        wait = self._waits.setdefault(way.lanelet, Claim("delay", 0.0, time, -1, None, place, False))
        if not wait.fails:
            wait.value += self._step
            wait.time, wait.place, wait.sure = time, place, time
            wait.fails = wait.value > bound + 1e-9

    def _is_free(self, way: Way, away: float, track: Track, batch: Batch, step: int) -> bool:
        """Whether the object could go now."""
        horizon = self._gap + math.sqrt(2.0 * away / STARTS)
        place = track.fronts[1 + step]
        near = self._traffic.at(batch, step, place, 2.0 * APPROACH + self._spacing, horizon)
        if not len(near.rows):
            return True
        for one in way.yields:
            distances, _ = one.stream.distances(near.fronts, near.headings)
            if self._hinders(one.first, distances, near, horizon).any():
                return False
        return True

    def _hinders(self, first: bool, away: Floats, near: Vehicles, horizon: float) -> np.ndarray:
        """Which vehicles at distances (n,) [m] from a conflict hinder, shape (n,)."""
        if not first:
            return (away > -APPROACH) & (away <= APPROACH)
        soon = (near.speeds >= STILL) & (away < horizon * near.speeds)
        return (away > -self._spacing - near.lengths) & (soon | (away <= self._spacing))

    def taken(self, way: Way) -> Claim | None:
        """Return the wait before a way that the object has taken, and forget those before all that begin there."""
        found = self._waits.pop(way.lanelet, None)
        for one in self._manoeuvres.ways:
            if one.source == way.source:
                self._waits.pop(one.lanelet, None)
        return found
