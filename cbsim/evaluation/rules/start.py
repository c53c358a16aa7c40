"""``start``: an object starts its mission in time."""

from __future__ import annotations

import numpy as np

from cbsim.evaluation.rules.clear_way import ClearWay
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.rule import Check, Invariant, Rule
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation

__all__ = ["ClearWait", "Start"]

STILL = 0.1  # [m/s] slower counts as rest


class ClearWait:
    """The time in one piece for which an object that may move stands though its way is clear (`ClearWay`).

    Parameters
    ----------
    context : Context
        With a road network.
    row : int
        Of the object.
    at_most : float
        [s]
    """

    def __init__(self, context: Context, row: int, at_most: float) -> None:
        self._way, self._states, self._row = ClearWay(context, row), context.run_states, row
        self._at_most = at_most
        self.since: float | None = None

    def look(self, clear: np.ndarray, times: np.ndarray, k: int) -> bool:
        """Whether the object has stood for too long after step k of a track."""
        if not clear[k]:
            self.since = None
            return False
        self.since = float(times[k]) if self.since is None else self.since
        return bool(times[1 + k] - self.since > self._at_most + 1e-9)

    def clear(self, rule: Rule, batch: Batch) -> np.ndarray:
        """Find the steps in which the object may move, and its way is clear, shape (n,)."""
        track = rule.track(batch)
        found = self._way.loses_time(track, batch)
        return np.asarray(found & ~self._states.has_to_stand(self._row, track.times[1:]))


class Start(Invariant):
    """The object moves within `within` of the mission, and stands for at most `clear` in RUN while its way is clear."""

    needs_others = True

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.require_roadmap("a start needs")
        self.within, self.most = self.number("within"), self.number("clear")
        self.wait = ClearWait(context, self.row, self.most)
        self.moved: float | None = None

    def see(self, batch: Batch) -> None:
        """Find the first motion after the start of the mission."""
        track = self.track(batch)
        clear = self.wait.clear(self, batch)
        stands = self.context.run_states.has_to_stand(self.row, track.times[1:])
        for k, time in enumerate(track.times[1:].tolist()):
            self.time = time
            if track.speeds[1 + k] >= STILL and not stands[k]:
                self.moved, self.decided = time, True
                return
            if time > self.within + 1e-9:
                self.fail(time, f"stood until {time:.2f} s, expected to move within {self.within:g} s")
            elif self.wait.look(clear, track.times, k):
                told = f"stood in RUN on a clear way from {self.wait.since:.2f} s to {time:.2f} s"
                self.fail(time, f"{told}, expected {self.most:g} s at most")
            if self.decided:
                return

    def forget(self) -> None:
        """Forget since when the object stands."""
        self.wait.since = None

    def kept(self) -> Check:
        """Pass if it started in time."""
        if self.moved is None:
            return self.check(None, self.time, f"undecided: the run ends at {self.time:.2f} s, before it has started")
        clock = self.context.run_states.mission_time(self.row, self.moved)
        told = f"moved at {self.moved:.2f} s, {clock:.2f} s after the start of the mission"
        return self.check(True, self.moved, f"{told}, expected within {self.within:g} s of the mission")
