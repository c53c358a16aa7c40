"""``estop``: an object comes to rest when it is paused, stands, and goes on in RUN."""

from __future__ import annotations

import math

import numpy as np

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.progress import progress_of
from cbsim.evaluation.rules.rule import Check, Invariant
from cbsim.evaluation.rules.start import ClearWait
from cbsim.evaluation.rules.track import Track
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation
from cbsim.units import MPH

__all__ = ["Estop"]

STILL = 0.1  # [m/s] slower counts as rest
FROM = 20.0 * MPH  # [m/s] from which the way to rest is bounded; from faster, by the same deceleration
RUN, DISABLE = "RUN", "DISABLE"


class Estop(Invariant):
    """From PAUSE or DISABLE on, the object comes to rest over `within`, and stands; after RUN it goes on.

    The bound is that from 20 mph, and from slower; from faster it grows with the square of the speed. An object that
    was moving goes on within `resume` of RUN, while its way is clear.
    """

    needs_others = True

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.require_roadmap("E-stops need")
        self.within, self.resume = self.number("within"), self.number("resume")
        self.wait = ClearWait(context, self.row, self.resume)
        self.progress = progress_of(context)
        self.stops: list[str] = []
        self.state, self.speed, self.way = RUN, 0.0, 0.0
        self.brakes = self.rests = self.waits = False

    def see(self, batch: Batch) -> None:
        """Follow the object through the pauses."""
        track = self.track(batch)
        timeline = self.context.run_states.timeline(self.row)
        finish = math.inf
        if self.progress is not None:
            self.progress.follow(track)
            finish = self.progress.times[-1] if self.progress.passed else math.inf
        self.time = float(track.times[-1])
        begins, ends = float(track.times[0]), self.time
        if self.state == RUN and not self.waits and not any(begins <= at < ends for at, _ in timeline.changes):
            return
        clear = self.wait.clear(self, batch)
        for k, time in enumerate(track.times[1:].tolist()):
            self.time = time
            begin = float(track.times[k])
            state = timeline.state(begin) if begin >= timeline.start - 1e-9 else RUN
            if state != self.state:
                self._change(state, float(track.speeds[k]))
            if self.state != RUN:
                self._halt(track, 1 + k)
            elif self.waits and (track.speeds[1 + k] >= STILL or time > finish):
                self.waits = False
            elif self.waits and self.wait.look(clear, track.times, k):
                told = f"stood in RUN on a clear way from {self.wait.since:.2f} s to {time:.2f} s after an E-stop"
                self.fail(time, f"{told}, expected to go on within {self.resume:g} s")
            if self.decided:
                return

    def forget(self) -> None:
        """Forget since when the object stands; an E-stop that it obeys goes on at another place."""
        self.wait.since = None

    def see_absent(self, batch: Batch) -> None:
        """Forget the E-stop that the object obeys, too."""
        super().see_absent(batch)
        self.brakes = self.rests = self.waits = False

    def _change(self, state: str, speed: float) -> None:
        """Begin or end an E-stop at a speed [m/s]."""
        if self.state == RUN:
            self.brakes, self.rests = speed >= STILL, speed < STILL
            self.speed, self.way = speed, 0.0
            self.waits = self.waits or self.brakes
        elif state == RUN:
            self.brakes = self.rests = False
            self.wait.since = None
        if state == DISABLE:
            self.waits = False
        self.state = state

    def _halt(self, track: Track, row: int) -> None:
        time, speed, (x, y) = float(track.times[row]), float(track.speeds[row]), track.centres[row].tolist()
        if self.rests and speed >= STILL:
            found = f"drove {speed:.2f} m/s in {self.state} at {time:.2f} s at ({x:.2f}, {y:.2f})"
            self.fail(time, f"{found}, expected to stand")
        if not self.brakes:
            return
        self.way += float(np.hypot(*(track.centres[row] - track.centres[row - 1])))
        limit = self.within * max(1.0, (self.speed / FROM) ** 2)
        if self.way > limit + 1e-9:
            found = f"drove {self.way:.2f} m in {self.state} from {self.speed:.2f} m/s, until {time:.2f} s"
            self.fail(time, f"{found} at ({x:.2f}, {y:.2f}), expected rest within {limit:.2f} m")
        elif speed < STILL:
            self.brakes, self.rests = False, True
            self.stops.append(f"from {self.speed:.2f} m/s in {self.way:.2f} m")

    def kept(self) -> Check:
        """Pass if every E-stop was obeyed, and there were enough."""
        many = f"{len(self.stops)} E-stop{'' if len(self.stops) == 1 else 's'} while it moved"
        within = "within braking" if self.brakes else "within going on after an E-stop" if self.waits else ""
        told = f"{many}: {', '.join(self.stops)}" if self.stops else many
        return self.enough(len(self.stops), many, told, within, begun=self.brakes)
