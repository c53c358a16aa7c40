"""``excess_delay``: an object goes on when its way is clear."""

from __future__ import annotations

import math

import numpy as np

from cbsim.arrays import Floats
from cbsim.evaluation.rules.clear_way import ClearWay
from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.progress import progress_of
from cbsim.evaluation.rules.rule import Check, Measure, Rule
from cbsim.evaluation.rules.track import Track
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation

__all__ = ["Delays", "ExcessDelay"]


class Delays:
    """Times that an object loses though its way is clear (`ClearWay`), in one piece and together.

    Parameters
    ----------
    context : Context
        With a road network.
    row : int
        Of the object.
    at_most : float
        Nothing is counted after one piece was longer than this [s].

    Attributes
    ----------
    longest, until : float
        The longest piece, and its end [s].
    place : ndarray, shape (2,)
        Where the object was then [m].
    total : float
        Of all pieces [s].
    """

    def __init__(self, context: Context, row: int, at_most: float = math.inf) -> None:
        self._way, self._run_states, self._row = ClearWay(context, row), context.run_states, row
        self._at_most = at_most
        self._since: float | None = None
        self.longest, self.until, self.total = 0.0, 0.0, 0.0
        self.place: Floats = np.zeros(2)

    def end_piece(self) -> None:
        """End the piece of time that is being lost."""
        self._since = None

    def follow(self, track: Track, batch: Batch, finish: float = math.inf) -> None:
        """Process the next steps, as far as they lie before the finish [s]."""
        loses = self._way.loses_time(track, batch) & (track.times[1:] <= finish)
        loses &= ~self._run_states.has_to_stand(self._row, track.times[1:])
        if not loses.any():
            self._since = None
            return
        bound, times, worst = self._at_most + 1e-9, track.times.tolist(), -1
        for k, is_losing in enumerate(loses.tolist()):
            if self.longest > bound:
                break
            before, time = times[k], times[k + 1]
            if not is_losing:
                self._since = None
                continue
            self._since = before if self._since is None else self._since
            self.total += time - before
            if time - self._since > self.longest:
                self.longest, self.until, worst = time - self._since, time, k
        if worst >= 0:
            self.place = track.centres[1 + worst]

    @property
    def too_long(self) -> bool:
        """Whether one piece was longer than allowed."""
        return self.longest > self._at_most + 1e-9

    def told(self) -> str:
        """Longest piece, for messages."""
        x, y = self.place.tolist()
        return f"lost {self.longest:.1f} s on a clear way until {self.until:.2f} s at ({x:.2f}, {y:.2f})"


class ExcessDelay(Rule):
    """The longest piece of time that the object loses, and all together, are within bounds.

    Time is lost at less than 0.5 m/s, or half of what limits, bends and stop lines allow, while nothing hinders it.
    After the finish of a mission nothing is lost, nor before its start and in pauses.
    """

    needs_others = True

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.require_roadmap("delays need")
        self.longest, self.sum = self.number("longest"), self.number("sum", math.inf)
        self.delays = Delays(context, self.row, self.longest)
        self.progress = progress_of(context)
        self.time = 0.0

    def see(self, batch: Batch) -> None:
        """Add up what is lost."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        finish = math.inf
        if self.progress is not None:
            self.progress.follow(track)
            finish = self.progress.times[-1] if self.progress.passed else math.inf
        self.delays.follow(track, batch, finish)
        self.decided = self.delays.too_long

    def forget(self) -> None:
        """End the piece of time that is lost."""
        self.delays.end_piece()

    def measures(self) -> list[Measure]:
        """Return what was measured."""
        delays = self.delays
        longest = Measure("longest_delay", delays.longest, "s", delays.until if delays.longest else None)
        return [longest, Measure("delay", delays.total, "s")]

    def result(self) -> Check:
        """Pass if neither was too long."""
        delays = self.delays
        if delays.too_long:
            return self.check(False, delays.until, f"{delays.told()}, expected {self.longest:g} s at most")
        if delays.total > self.sum + 1e-9:
            return self.check(
                False, self.time, f"lost {delays.total:.1f} s on a clear way in all, expected {self.sum:g} s at most"
            )
        told = f"{delays.told()}, {delays.total:.1f} s in all" if delays.longest else "lost no time on a clear way"
        return self.check(True, self.time, told)
