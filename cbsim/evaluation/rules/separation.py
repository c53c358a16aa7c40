"""``separation``: an object keeps its distance from the vehicle ahead."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.leader import Ahead, Leader
from cbsim.evaluation.rules.rule import Check, Invariant, Measure
from cbsim.evaluation.rules.track import Track
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation
from cbsim.units import MPH

__all__ = ["Gaps", "Separation"]

REACH = 60.0  # [m] up to which an object counts as ahead
SAFETY_AREA = 30.0  # [m] before a stop line
REOPENED = 10.0  # [s] within which a gap that another closed is open again
ASIDE = 0.3  # [m/s] across the lane, above which the object itself moves over behind another
HARD = 2.0  # [m/s] that a leader loses within a second, which closes the gap, too
POINT = 1e-9  # [m] length of what has no footprint, whose product with an infinite bound would be no number


class _Now(NamedTuple):
    """One step: time [s], row of the leader, gap [m], its speed [m/s], least gap [m], whether the object moves over."""

    time: float
    row: int
    gap: float
    speed: float
    least: float
    moves_over: bool


class Gaps(Invariant):
    """Base of rules about the gap to the vehicle ahead; a subclass says how large it is `least`.

    A gap that another closed, by coming in or by braking harder than 2 m/s², is forgiven for ten seconds while it
    reopens.
    """

    needs_others = True

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.require_roadmap("gaps need")
        self.leader = Leader.of(context, self.row)
        self.nearest = np.inf
        self.before: tuple[int, float] | None = None  # row of the leader and gap at the last step
        self.paces: list[tuple[float, float]] = []  # times and speeds of the leader in the last second
        self.forgiven: float | None = None  # since when a gap that another closed is forgiven

    def least(self, track: Track, ahead: Ahead) -> Floats:
        """Least gap at each step, shape (n,) [m]; 0 where there is none."""
        raise NotImplementedError

    def see(self, batch: Batch) -> None:
        """Compare each gap with the least."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        ahead = self.leader.ahead(track, batch, REACH)
        least = self.least(track, ahead)
        self.nearest = min(self.nearest, float(ahead.gap.min()))
        match = self.context.on_corridor(self.row, track)
        moves_over = np.abs(track.speeds[1:] * np.sin(np.nan_to_num(match.heading_error))) > ASIDE
        if np.all((ahead.row < 0) | (ahead.gap >= least - 1e-9)):
            self._pass(track, ahead)
            return
        columns = (track.times[1:], ahead.row, ahead.gap, ahead.speed, least, moves_over)
        for step, now in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            self._look(track, step, _Now(*now))
            if self.decided:
                return

    def _pass(self, track: Track, ahead: Ahead) -> None:
        """Take a batch in which no gap was too small: what counts is the last second."""
        self.forgiven = None
        rows, times = ahead.row, track.times[1:]
        others = np.flatnonzero(rows != rows[-1])
        first = int(others[-1]) + 1 if len(others) else 0
        if first or self.before is None or self.before[0] != rows[-1]:
            self.paces = []
        first = max(first, int(np.searchsorted(times, times[-1] - 1.0 - 1e-9)))
        self.paces = [one for one in self.paces if one[0] >= times[-1] - 1.0 - 1e-9]
        self.paces += zip(times[first:].tolist(), ahead.speed[first:].tolist(), strict=True)
        self.before = int(rows[-1]), float(ahead.gap[-1])

    def forget(self) -> None:
        """Forget the leader."""
        self.before, self.paces, self.forgiven = None, [], None

    def _look(self, track: Track, step: int, now: _Now) -> None:
        before, self.before = self.before, (now.row, now.gap)
        if before is None or now.row != before[0]:
            self.paces = []
        self.paces = [one for one in self.paces if one[0] >= now.time - 1.0 - 1e-9]
        self.paces.append((now.time, now.speed))
        if now.row < 0 or now.gap >= now.least - 1e-9:
            self.forgiven = None
            return
        came_in = before is not None and now.row != before[0] and before[1] > now.gap and not now.moves_over
        braked = max(speed for _, speed in self.paces) - now.speed >= HARD
        if (came_in or braked) and self.forgiven is None:
            self.forgiven = now.time
        if self.forgiven is not None and now.time - self.forgiven <= REOPENED + 1e-9:
            return
        x, y = track.centres[1 + step].tolist()
        who = self.context.name(now.row, now.time)
        found = f"was {now.gap:.2f} m behind '{who}' at {now.time:.2f} s at ({x:.2f}, {y:.2f})"
        speed = float(track.speeds[1 + step])
        self.fail(now.time, f"{found} with {speed:.2f} m/s, expected {now.least:.2f} m at least")

    def measures(self) -> list[Measure]:
        """Return what was measured."""
        return [Measure("gap", float(self.nearest) if np.isfinite(self.nearest) else None, "m")]

    def kept(self) -> Check:
        """Pass if no gap was too small."""
        told = f"{self.nearest:.2f} m at least" if np.isfinite(self.nearest) else "no object was ahead"
        return self.check(True, self.time, f"kept its distance; {told}")


class Separation(Gaps):
    """The gap ahead is `lengths` of the object per 10 mph of its speed, and one at least (A.9).

    Within 30 m before a stop line it is `at_line`.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.lengths, self.at_line = self.number("lengths"), self.number("at_line")

    def least(self, track: Track, ahead: Ahead) -> Floats:
        """Least gap at each step."""
        normal = self.lengths * max(self.length, POINT) * np.maximum(track.speeds[1:] / (10.0 * MPH), 1.0)
        return np.asarray(np.where(ahead.to_line <= SAFETY_AREA, self.at_line, normal))
