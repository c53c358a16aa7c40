"""``speed``: an object keeps the mission's speed limits, or a given one."""

from __future__ import annotations

import math

import numpy as np

from cbsim.arrays import Floats
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.limits import MPH, Limits
from cbsim.evaluation.rules.progress import progress_of
from cbsim.evaluation.rules.rule import Check, Invariant, Measure
from cbsim.evaluation.rules.track import Track
from cbsim.recording.batch import Batch
from cbsim.road.matching import Match
from cbsim.spec.scenario import Expectation

__all__ = ["Speed"]

GRACE = 10.0  # [s] a minimum applies once the path has been free for this time
FREE = 30.0  # [m] ahead without objects, stop lines or the end of the lane
SIDEWAYS, ONWARD = 2.2, 1.5  # [m/s²] in bends, and along the way, up to which a minimum may be asked for
ROOM = MPH  # [m/s] between minimum and maximum, tolerance included: no car keeps a single speed
BESIDE = 2.5  # [m] to either side of the path ahead


class Speed(Invariant):
    """Never faster than the limit of segment or zone plus `tolerance`; slower than its minimum only briefly.

    Between two segments the higher limit holds. The object may be slower than the minimum for ten seconds at a time,
    as long as something, a stop line or the end of the lane is within 30 m ahead, where it could not be faster with
    2.2 m/s² sideways and 1.5 m/s² along its way, and after the mission. A minimum nearer than 1 mph to the maximum
    counts, with the tolerance, as 1 mph below it.
    """

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.tolerance = self.number("tolerance")
        self.at_most = self.number("at_most", math.inf)
        self.limits = self._limits()
        self.minimum = self.limits is not None and bool(np.any(self.limits.low > 0.0))
        self.lowest = np.zeros(0)
        if self.limits is not None:
            room = max(ROOM - self.tolerance, 0.0)
            self.lowest = np.minimum(self.limits.low, np.maximum(self.limits.high - room, 0.0))
        self.progress = progress_of(context) if self.minimum else None
        self.fastest = 0.0
        self.slow_since: float | None = None

    def _limits(self) -> Limits | None:
        roadmap, mission = self.context.roadmap, self.context.mission
        if roadmap is not None and mission is not None:
            return Limits(roadmap, mission)
        if math.isfinite(self.at_most):
            return None
        raise self.wrong("speed limits need a mission and its road network, or 'at_most'")

    def see(self, batch: Batch) -> None:
        """Compare each step with the limit there."""
        track = self.track(batch)
        speeds, self.time = track.speeds[1:], float(track.times[-1])
        limit = np.full(len(speeds), self.at_most)
        too_slow: tuple[float, str] | None = None
        if self.limits is not None:
            match = self.context.on_corridor(self.row, track)
            limit = np.minimum(limit, self.limits.maximum(track, match.lane))
            too_slow = self._slow(track, batch) if self.minimum else None
        self.fastest = max(self.fastest, float(speeds.max()))
        over = np.flatnonzero(speeds > limit + self.tolerance)
        if len(over):
            self._fail(track, int(over[0]), float(limit[over[0]]))
        if too_slow is not None and (self.failure is None or too_slow[0] < self.failure[0]):
            self.failure = too_slow
        self.decided = self.failure is not None

    def forget(self) -> None:
        """Forget since when the object was slow."""
        self.slow_since = None

    def _fail(self, track: Track, step: int, limit: float) -> None:
        time, speed = float(track.times[1 + step]), float(track.speeds[1 + step])
        x, y = track.centres[1 + step].tolist()
        allowed = f"expected {limit:.2f} m/s at most, and {self.tolerance:.2f} m/s of tolerance"
        self.failure = time, f"drove {speed:.2f} m/s at {time:.2f} s at ({x:.2f}, {y:.2f}), {allowed}"

    def _slow(self, track: Track, batch: Batch) -> tuple[float, str] | None:
        """Find more than ten seconds in a row below the minimum with a free path."""
        assert self.limits is not None
        match = self.context.on_corridor(self.row, track)
        low = self.lowest[match.lane]
        if self.context.run_states.control:
            low = np.where(self.context.run_states.has_to_stand(self.row, track.times[1:]), 0.0, low)
        if self.progress is not None:
            self.progress.follow(track)
            finish = self.progress.times[-1] if self.progress.passed else math.inf
            low = np.where(track.times[1:] > finish, 0.0, low)
        slow = (track.speeds[1:] < low - self.tolerance) & (self._attainable(match) >= low)
        rows = np.flatnonzero(slow)
        if len(rows):
            slow[rows] = self._free(track, batch, rows)
        elif self.slow_since is None:
            return None
        for time, is_slow, least in zip(track.times[1:].tolist(), slow.tolist(), low.tolist(), strict=True):
            if not is_slow:
                self.slow_since = None
            elif self.slow_since is None:
                self.slow_since = time
            elif time - self.slow_since > GRACE + 1e-9:
                message = f"drove slower than {least:.2f} m/s for more than {GRACE:g} s with a free way"
                return time, f"{message}, from {self.slow_since:.2f} s"
        return None

    def _attainable(self, match: Match) -> Floats:
        """Speed that bends, and what is ahead on the line with 1.5 m/s², allow, shape (n,) [m/s]."""
        assert self.limits is not None
        found, on = np.full(len(match.lane), np.inf), match.lane >= 0
        found[on] = self.limits.corridors.way_speed(match.lane[on], match.station[on], SIDEWAYS, ONWARD)
        return found

    def _free(self, track: Track, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Find the steps with a free path ahead, shape (k,)."""
        ahead, front = track.ahead[1 + rows], track.fronts[1 + rows]
        (face_x, face_y), (front_x, front_y) = ahead.T[..., None], front.T[..., None]
        free = np.ones(len(rows), bool)
        places, others = self.context.places(batch), self.context.others(self.row, batch)
        vehicles = tuple(values[rows][:, others] for values in places)
        halts = *self.context.halts(self.row).T[:, None], np.ones((1, 1), bool)
        for x, y, there in (vehicles, halts):
            east, north = x - front_x, y - front_y
            along, across = east * face_x + north * face_y, np.abs(east * -face_y + north * face_x)
            free &= ~np.any(there & (along > -1.0) & (along < FREE) & (across < BESIDE), axis=1)
        return free

    def measures(self) -> list[Measure]:
        """Return what was measured."""
        return [Measure("fastest", self.fastest, "m/s")]

    def kept(self) -> Check:
        """Pass if the object was never too fast, nor too slow for long."""
        return self.check(True, self.time, f"never faster than allowed; {self.fastest:.2f} m/s at most")
