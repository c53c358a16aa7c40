"""`GiveWay`: base of the rules about gaps in traffic into which an object drives."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar

import numpy as np

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.footprints import clearance
from cbsim.evaluation.rules.manoeuvres import Claim, Entered, Manoeuvre, Manoeuvres
from cbsim.evaluation.rules.neighbours import Neighbours
from cbsim.evaluation.rules.rule import Check, Invariant, Measure
from cbsim.evaluation.rules.streams import find_ways
from cbsim.evaluation.rules.track import Track
from cbsim.evaluation.rules.traffic_near import TrafficNear
from cbsim.evaluation.rules.waits import Waits
from cbsim.recording.batch import Batch
from cbsim.road.lanelets import build_lanelets
from cbsim.road.right_of_way import Conflicts, find_conflicts
from cbsim.spec.scenario import Expectation

__all__ = ["GiveWay"]

STILL = 0.1  # [m/s] slower counts as rest
FOLLOWED = 0.2  # [s] after which it is looked at where others have turned
TOLD = {"gap": 30.0, "spacing": 20.0}  # [s], [m] from which nobody is told of who does not fail
BODY = 25.0  # [m] sum of half diagonals, at most: trucks of 25 m and their like


class GiveWay(Invariant):
    """An object that drives into a stream of traffic takes a large gap, keeps its distance, and does not wait for more.

    At the moment at which the front bumper reaches the conflict, every vehicle of the stream is `gap` seconds from it
    at its speed. From then on until the rear is beyond, footprints of the stream are `spacing` away. Before that, the
    object stands for `delay` at most while there is such a gap. Only streams count that go first independent of the
    order of arrival, and of their vehicles only those that reach the conflict without turning off before it.
    """

    needs_others = True
    noun: ClassVar[tuple[str, str]]  # singular and plural
    doing: ClassVar[str]

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        roadmap = self.require_roadmap("right of way needs")
        self.gap, self.spacing, self.delay = (self.number(key) for key in ("gap", "spacing", "delay"))
        conflicts = find_conflicts(build_lanelets(roadmap, context.mission))
        self.manoeuvres = Manoeuvres(find_ways(conflicts, self.selects))
        self.traffic = TrafficNear(context, self.row)
        self.waits = Waits(context, self.row, self.manoeuvres, self.traffic, (self.gap, self.spacing))
        self.neighbours = Neighbours.of(context, self.row)
        self.every = max(1, round(FOLLOWED / self.step))
        self.unsure: list[tuple[Manoeuvre, Claim]] = []
        self.count = 0
        self.least: dict[str, tuple[float, float]] = {}  # of each metric: value and time [s]

    @staticmethod
    @abstractmethod
    def selects(conflicts: Conflicts, row: int, side: int) -> bool:
        """Whether the rule is about a conflict, seen from one side of it."""

    def see(self, batch: Batch) -> None:
        """Follow the object along its ways, and the vehicles of the streams across them."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        if not self.manoeuvres.ways:
            return
        self.waits.see(track, batch, self.delay)
        for entered in self.manoeuvres.follow(track):
            self._enter(entered, track, batch)
        for manoeuvre in self.manoeuvres.active:
            self._keep_distance(manoeuvre, track, batch)
        self._resolve(batch)
        self._decide(float(track.times[0]))

    def forget(self) -> None:
        """End the manoeuvres."""
        self.waits.forget()
        for one in self.manoeuvres.active:
            one.cleared = min(one.cleared, self.time)
        self.manoeuvres.active = [one for one in self.manoeuvres.active if one.taken < np.inf]

    def see_absent(self, batch: Batch) -> None:
        """End the manoeuvres; what others did may still become known."""
        super().see_absent(batch)
        before, self.time = self.time, float(batch.steps[-1] * self.step)
        self._resolve(batch)
        self._decide(before)

    def _enter(self, entered: Entered, track: Track, batch: Batch) -> None:
        """Measure the time gaps of a stream when the object reaches its conflict."""
        manoeuvre, conflict, time, step = entered
        stream = next(one.stream for one in manoeuvre.way.judged if one.row == conflict)
        near = self.traffic.at(batch, step, track.fronts[1 + step])
        away, forks = stream.distances(near.fronts, near.headings)
        manoeuvre.accompanied |= bool(np.isfinite(away).any())
        since = float(track.times[1 + step]) - time
        for k in np.flatnonzero((away > 0.0) & (near.speeds >= STILL)).tolist():
            gap = float(away[k] / near.speeds[k]) + since
            sure = None if forks[k] else time
            claim = Claim("gap", gap, time, int(near.rows[k]), stream, track.centres[1 + step], False, sure)
            claim.fails = gap < self.gap - 1e-9
            self._claim(manoeuvre, claim)

    def _claim(self, manoeuvre: Manoeuvre, claim: Claim) -> None:
        """Keep what fails, or is less than what is known to have been least."""
        far = TOLD[claim.metric]
        if not claim.fails and claim.value >= min(far, self.least.get(claim.metric, (far, 0.0))[0]):
            return
        manoeuvre.claims.append(claim)
        if claim.sure is None:
            self.unsure.append((manoeuvre, claim))

    def _keep_distance(self, manoeuvre: Manoeuvre, track: Track, batch: Batch) -> None:
        """Measure the distances from all vehicles of the streams during a manoeuvre."""
        times = track.times[1:]
        steps = (times >= manoeuvre.begin) & (times <= manoeuvre.cleared)
        if not steps.any():
            return
        pairs = self.neighbours.pairs(track, batch, self.spacing + BODY, steps)
        movers = self.context.can_move(pairs.row)
        ahead = 0.5 * (pairs.other[:, 0] + pairs.other[:, 1])
        way = ahead - pairs.other.mean(axis=1)
        headings = np.arctan2(-way[:, 0], way[:, 1])
        speeds = np.hypot(*pairs.velocity.T)
        gaps = clearance(pairs.own, pairs.other)
        for one in manoeuvre.way.judged:
            away, forks = one.stream.distances(ahead, headings)
            on = movers & np.isfinite(away) & ((away <= 0.0) | (speeds >= STILL))
            manoeuvre.accompanied |= bool(on.any())
            for row in np.unique(pairs.row[on]).tolist():
                mine = np.flatnonzero(on & (pairs.row == row))
                close = mine[gaps[mine] < self.spacing - 1e-9]
                k = int(close[0]) if len(close) else int(mine[np.argmin(gaps[mine])])
                if any(claim.row == row and claim.fails and claim.metric == "spacing" for claim in manoeuvre.claims):
                    continue
                time = float(times[pairs.step[k]])
                place = track.centres[1 + pairs.step[k]]
                sure = None if forks[k] else time
                self._claim(
                    manoeuvre,
                    Claim("spacing", float(gaps[k]), time, row, one.stream, place, bool(len(close)), sure),
                )

    def _resolve(self, batch: Batch) -> None:
        """Find out whether others, before a fork, came along their streams."""
        left, times = [], batch.steps * self.step
        for manoeuvre, claim in self.unsure:
            assert claim.stream is not None
            steps = np.flatnonzero((times > claim.time) & (batch.steps % self.every == 0))
            there = self.traffic.of(batch, claim.row, steps)
            if there is None:
                manoeuvre.claims.remove(claim)
                continue
            away, _ = claim.stream.distances(there.fronts, there.headings)
            gone = np.isnan(away) | ~there.present
            known = np.flatnonzero(gone | (away <= 0.0))
            if not len(known):
                left.append((manoeuvre, claim))
            elif gone[known[0]]:
                manoeuvre.claims.remove(claim)
            else:
                claim.sure = float(times[steps[known[0]]])
        self.unsure = left

    def _decide(self, before: float) -> None:
        """Take what has become known since a time [s], and the first failure in the order of decisions."""
        found: list[tuple[float, float, int, Manoeuvre, Claim]] = []
        for one in self.manoeuvres.active:
            if one.taken == np.inf:
                continue
            if one.taken > before:
                self.count += 1
                late = self.waits.taken(one.way)
                if late is not None:
                    one.claims.append(late)
            for claim in [claim for claim in one.claims if claim.sure is not None]:
                assert claim.sure is not None
                one.claims.remove(claim)
                self._measure(claim)
                if claim.fails:
                    found.append((max(claim.sure, one.taken, claim.time), claim.time, claim.row, one, claim))
        if found:
            *_, manoeuvre, claim = min(found, key=lambda one: one[:3])
            self.fail(claim.time, self._told(manoeuvre.way.name, claim))

    def _measure(self, claim: Claim) -> None:
        sign = -1.0 if claim.metric == "delay" else 1.0
        known = self.least.get(claim.metric)
        if known is None or sign * claim.value < sign * known[0]:
            self.least[claim.metric] = claim.value, claim.time

    def _told(self, name: str, claim: Claim) -> str:
        x, y = claim.place.tolist()
        where = f"at {claim.time:.2f} s at ({x:.2f}, {y:.2f})"
        if claim.metric == "delay":
            stood = f"had stood {claim.value:.2f} s before {name} {where} in gaps of {self.gap:g} s"
            return f"{stood}, expected {self.delay:g} s at most"
        who = self.context.name(claim.row, claim.time)
        if claim.metric == "gap":
            return f"{self.doing} {name} {claim.value:.2f} s before '{who}' {where}, expected {self.gap:g} s at least"
        told = f"was {claim.value:.2f} m from '{who}' {where} while it {self.doing} {name}"
        return f"{told}, expected {self.spacing:.2f} m at least"

    def measures(self) -> list[Measure]:
        """Return what was measured."""
        prefix, found = self.expectation.rule, []
        for metric, unit in (("gap", "s"), ("spacing", "m"), ("delay", "s")):
            value, time = self.least.get(metric, (None, None))
            found.append(Measure(f"{prefix}_{metric}", value, unit, time))
        return found

    def _undecided(self) -> str:
        """Tell what the end of the run leaves open."""
        front = self.waits.front
        for one in self.manoeuvres.active:
            if one.taken < np.inf and any(claim.sure is None and claim.fails for claim in one.claims):
                return f"it is open whether somebody came whom it was near on {one.way.name}"
            if one.taken < np.inf and one.cleared == np.inf and one.accompanied:
                return f"it is still on {one.way.name}"
            if one.taken == np.inf and one.accompanied and front is not None:
                away = float(np.hypot(*(one.way.samples - front).T).min())
                if away <= one.way.half_width:  # else it has taken another way that begins there
                    return f"it is still on {one.way.name}"
        return ""

    def kept(self) -> Check:
        """Pass if every gap was large enough, and there were enough manoeuvres."""
        one, many = self.noun
        told = f"{self.count} {one if self.count == 1 else many}"
        kept = [
            f"{name} of {value:.2f} {unit}"
            for name, unit in (("gap", "s"), ("spacing", "m"))
            for value, _ in [self.least.get(name, (math.inf, 0.0))]
            if math.isfinite(value)
        ]
        kept_told = f"{told}; {', '.join(kept)} at least" if kept else told
        return self.enough(self.count, told, kept_told, self._undecided())
