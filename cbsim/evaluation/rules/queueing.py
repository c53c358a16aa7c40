"""``queueing``: an object stops at the right distance behind a vehicle that stands."""

from __future__ import annotations

import math

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.leader import Leader
from cbsim.evaluation.rules.rule import Check, Invariant
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation

__all__ = ["Queueing"]

REACH = 30.0  # [m] behind a vehicle, within which who stops queues behind it
STILL = 0.1  # [m/s] slower counts as rest
SETTLED = 1.0  # [s] for which both stand


class Queueing(Invariant):
    """Where it comes to rest behind a vehicle at rest, the gap is at least `least` and at most `most` (B.4).

    The gap counts once both have stood for a second. Who stands at a stop line, or has one between itself and the
    other, does not queue.
    """

    needs_others = True

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.require_roadmap("gaps need")
        self.least, self.most = self.number("least"), self.number("most")
        self.leader = Leader.of(context, self.row)
        self.since = math.inf
        self.partner, self.counted = -1, False
        self.stops = 0

    def see(self, batch: Batch) -> None:
        """Find where both stand."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        ahead = self.leader.ahead(track, batch, REACH)
        slow = track.speeds[1:] < STILL
        if not (slow & (ahead.row >= 0)).any():  # nobody stands behind anybody
            self.since, self.counted = math.inf, self.counted and bool(slow.all())
            return
        columns = (track.times[1:], track.speeds[1:], ahead.row, ahead.gap, ahead.speed, ahead.to_line)
        for step, (time, own, row, gap, pace, to_line) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
            if own >= STILL:
                self.counted = False
            stands = own < STILL and row >= 0 and abs(pace) < STILL and to_line > gap
            if not stands:
                self.since = math.inf
            elif self.since == math.inf or row != self.partner:
                self.since, self.partner = time, row
            if stands and not self.counted and time - self.since >= SETTLED - 1e-9:
                self.counted = True
                self.stops += 1
                if not self.least - 1e-9 <= gap <= self.most + 1e-9:
                    x, y = track.centres[1 + step].tolist()
                    who = self.context.name(row, time)
                    wanted = (
                        f"{self.least:g} m to {self.most:g} m"
                        if math.isfinite(self.most)
                        else f"{self.least:g} m at least"
                    )
                    found = f"stood {gap:.2f} m behind '{who}' at {time:.2f} s at ({x:.2f}, {y:.2f})"
                    self.fail(time, f"{found}, expected {wanted}")
                    return

    def forget(self) -> None:
        """Forget the vehicle behind which the object stands."""
        self.since, self.partner, self.counted = math.inf, -1, False

    def kept(self) -> Check:
        """Pass if every gap was right, and there were enough."""
        told = f"queued {self.stops} time{'' if self.stops == 1 else 's'}"
        return self.enough(self.stops, told, told)
