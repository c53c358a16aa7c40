"""``margin``: how near an object comes to a collision, by surrogate measures of safety."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.encroachment import HORIZON, Encroachment
from cbsim.evaluation.rules.footprints import time_to_collision
from cbsim.evaluation.rules.leader import Leader
from cbsim.evaluation.rules.neighbours import Neighbours
from cbsim.evaluation.rules.rule import Check, Invariant, Measure
from cbsim.evaluation.rules.track import Track
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation
from cbsim.world.motion import MOTION

__all__ = ["Margin"]

REACH = 100.0  # [m] up to which others are looked at
STILL = 0.1  # [m/s] slower counts as rest
ALIGNED = np.radians(45.0)  # largest angle to a lane at which a lateral error counts


class _Measure(NamedTuple):
    """A measure: its name, unit, and whether its bound is the least (1) or the largest (-1)."""

    name: str
    unit: str
    sign: int


MEASURES = (
    _Measure("ttc", "s", 1),
    _Measure("pet", "s", 1),
    _Measure("thw", "s", 1),
    _Measure("drac", "m/s²", -1),
    _Measure("lateral", "m", -1),
)


class _Extreme(NamedTuple):
    """The worst value of a measure: when [s], of which partner (-1 for none), and where [m]."""

    value: float
    time: float
    row: int
    place: Floats


class Margin(Invariant):
    """The least TTC, PET and THW and the largest DRAC and lateral error, each against its bound.

    - TTC: time until both footprints touch if both keep their velocities, without turning.
    - PET: time between one footprint leaving a place and the other, which crosses its way, reaching it.
    - THW: gap to the vehicle ahead over the object's speed.
    - DRAC: (v − v_ahead)² / 2 gap, the deceleration that avoids the vehicle ahead, at its speed.
    - Lateral error: distance of the centre from the middle of its lane or exit.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.bounds = {one.name: self.number(one.name) for one in MEASURES}
        if context.roadmap is None and any(not math.isnan(self.bounds[name]) for name in ("thw", "drac", "lateral")):
            raise self.wrong("'thw', 'drac' and 'lateral' need a road network")
        if any(not math.isnan(self.bounds[name]) for name in ("ttc", "pet", "thw", "drac")):
            self.require_others()
        self.neighbours = Neighbours.of(context, self.row, REACH)
        self.encroachment = Encroachment(context, self.row)
        self.leader = None if context.roadmap is None else Leader.of(context, self.row)
        self.worst: dict[str, _Extreme] = {}

    def see(self, batch: Batch) -> None:
        """Update the worst of each measure that has a bound; the first beyond its bound fails."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        failures = []
        for one in MEASURES:
            if math.isnan(self.bounds[one.name]):
                continue
            values, rows = self._values(one.name, track, batch)
            worst = int(np.argmin(one.sign * values))
            found = self._extreme(track, worst, values, rows)
            if np.isfinite(found.value):
                known = self.worst.get(one.name)
                if known is None or one.sign * found.value < one.sign * known.value:
                    self.worst[one.name] = found
            beyond = np.flatnonzero(one.sign * values < one.sign * self.bounds[one.name] - 1e-9)
            if len(beyond):
                failures.append((one, self._extreme(track, int(beyond[0]), values, rows)))
        if failures:
            one, extreme = min(failures, key=lambda failure: failure[1].time)
            self._fail(one, extreme)

    def _extreme(self, track: Track, step: int, values: Floats, rows: np.ndarray) -> _Extreme:
        return _Extreme(float(values[step]), float(track.times[1 + step]), int(rows[step]), track.centres[1 + step])

    def _values(self, name: str, track: Track, batch: Batch) -> tuple[Floats, np.ndarray]:
        """Worst value at each step, (n,), and the row of the partner; infinite (or 0) where there is none."""
        count, none = len(batch.hashes), np.full(len(batch.hashes), -1)
        if name == "ttc":
            return self._time_to_collision(track, batch)
        if name == "pet":
            bound, known = self.bounds["pet"], self.worst.get("pet")
            horizon = max(HORIZON, bound) if known is None else max(known.value, bound)
            return self.encroachment.least(track, batch, horizon)
        if name == "lateral":
            match = self.context.on_corridor(self.row, track)
            on = (match.lane >= 0) & (np.abs(match.heading_error) < ALIGNED)
            return np.where(on, np.abs(match.offset), 0.0), none
        assert self.leader is not None
        ahead, speed = self.leader.ahead(track, batch), track.speeds[1:]
        if name == "thw":
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(speed >= STILL, np.maximum(ahead.gap, 0.0) / speed, np.inf), ahead.row
        closing = np.where(ahead.row >= 0, np.maximum(speed - ahead.speed, 0.0), 0.0)
        drac = np.zeros(count)
        closes = closing > 0.0
        drac[closes] = 0.5 * closing[closes] * closing[closes] / np.maximum(ahead.gap[closes], 1e-9)
        return drac, ahead.row

    def _time_to_collision(self, track: Track, batch: Batch) -> tuple[Floats, np.ndarray]:
        pairs = self.neighbours.pairs(track, batch, REACH)
        found, rows = np.full(len(batch.hashes), np.inf), np.full(len(batch.hashes), -1)
        if not len(pairs.step):
            return found, rows
        own = track.motion[1 + pairs.step][:, MOTION["velocity"]][:, :2]
        times = time_to_collision(pairs.own, pairs.other, pairs.velocity - own)
        np.minimum.at(found, pairs.step, times)
        best = np.flatnonzero(np.isfinite(times) & (times == found[pairs.step]))[::-1]
        rows[pairs.step[best]] = pairs.row[best]
        return found, rows

    def _fail(self, one: _Measure, extreme: _Extreme) -> None:
        bound = f"{self.bounds[one.name]:g} {one.unit} at {'least' if one.sign > 0 else 'most'}"
        self.fail(extreme.time, f"{self._told(one, extreme)}, expected {bound}")

    def _told(self, one: _Measure, extreme: _Extreme) -> str:
        x, y = extreme.place.tolist()
        who = f" to '{self.context.name(extreme.row, extreme.time)}'" if extreme.row >= 0 else ""
        value = f"{one.name} of {extreme.value:.2f} {one.unit}{who}"
        return f"{value} at {extreme.time:.2f} s at ({x:.2f}, {y:.2f})"

    def measures(self) -> list[Measure]:
        """Return what was measured."""
        found = []
        for one in MEASURES:
            worst = self.worst.get(one.name)
            value, time = (None, None) if worst is None else (worst.value, worst.time)
            found.append(Measure(one.name, value, one.unit, time))
        return found

    def kept(self) -> Check:
        """Pass if no measure was beyond its bound."""
        told = [self._told(one, self.worst[one.name]) for one in MEASURES if one.name in self.worst]
        return self.check(True, self.time, "; ".join(told) or "no object came near")
