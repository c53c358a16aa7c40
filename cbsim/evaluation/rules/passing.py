"""``passing``: an object that passes what stands in its lane leaves and comes back at the right distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cbsim.evaluation.rules.context import Context
from cbsim.evaluation.rules.corridors import corridors
from cbsim.evaluation.rules.footprints import rectangles
from cbsim.evaluation.rules.rule import Check, Invariant
from cbsim.evaluation.rules.standing import Blocked, nearest
from cbsim.evaluation.rules.track import Track
from cbsim.geometry.polyline import left_of
from cbsim.recording.batch import Batch
from cbsim.spec.scenario import Expectation

__all__ = ["Passing"]

FORE = 60.0  # [m] before what stands in the lane, up to which leaving the lane may belong to passing it
TOLERANCE = 0.3  # [m] that a corner may be out of the lane, as in ``lane``
STANDOFF = 1.0  # [m] beside what stands in the lane (A.7)


@dataclass
class _Pass:
    """A pass in progress: what is passed, where the object left its lane [m], and how far it has come since [m]."""

    blocked: Blocked
    behind: float
    travelled: float = 0.0
    beside: bool = False

    @property
    def told(self) -> str:
        """How far it has come, for messages."""
        return f"had gone {self.travelled:.2f} m out of its lane to pass"


class Passing(Invariant):
    """A pass begins at least `behind` the obstacle, and ends between `ahead` and `within` beyond it (A.10, A.11).

    A pass begins when a corner leaves the lane that an object blocks which stands (as in ``lane``), and ends when all
    are back in it, or in another lane of its direction. `whole` bounds the way between (Rules 2006).
    """

    needs_others = True

    needs_standing = True

    def __init__(self, expectation: Expectation, context: Context) -> None:
        super().__init__(expectation, context)
        self.roadmap = self.require_roadmap("passing needs")
        self.corridors = corridors(self.roadmap)
        self.behind, self.ahead = self.number("behind"), self.number("ahead")
        self.within, self.whole = self.number("within"), self.number("whole")
        self.current: _Pass | None = None
        self.passes = 0

    def see(self, batch: Batch) -> None:
        """Follow each pass from its begin to its end."""
        track = self.track(batch)
        self.time = float(track.times[-1])
        standing = self.context.standing(batch)
        out = self._out(track)
        for step in range(len(out)):
            row = 1 + step
            if self.current is not None and self.roadmap.zone_at(track.centres[row : row + 1])[0] >= 0:
                self.current = None  # it has turned off: zones have no lanes to come back to
            elif self.current is not None:
                self._go_on(track, row, bool(out[step]))
            elif out[step]:
                for one in standing.parked(self.row, step, track.centres[row], FORE + self.length):
                    if one.room < self.width + STANDOFF and self._begin(track, row, one):
                        break
            if self.decided:
                return

    def forget(self) -> None:
        """End the pass."""
        self.current = None

    def _out(self, track: Track) -> np.ndarray:
        """Whether a corner is in no lane of the object's direction, shape (n,)."""
        found = np.zeros(len(track.times) - 1, bool)
        rows = 1 + np.flatnonzero(~self._fits(track))
        if len(rows):
            size = np.broadcast_to(np.array([self.width, self.length]), (len(rows), 2))
            corners = rectangles(track.centres[rows], track.headings[rows], size).reshape(-1, 2)
            headings = np.repeat(track.headings[rows], 4)
            match = self.corridors.widened(TOLERANCE, self.length).match(corners, headings, 0.25 * np.pi)
            inside = (match.lane >= 0) & (np.abs(match.heading_error) < 0.5 * np.pi)
            found[rows - 1] = ~inside.reshape(-1, 4).all(axis=1)
        return found

    def _fits(self, track: Track) -> np.ndarray:
        """Find the steps whose footprint fits into the line under its centre for certain, shape (n,).

        The line's bend is added to the footprint, and to its angle to the line.
        """
        match = self.context.on_corridor(self.row, track)
        found = np.zeros(len(match.lane), bool)
        on = match.lane >= 0
        turned, reach = np.abs(match.heading_error[on]), 0.5 * (self.length + self.width)
        half = 0.5 * (self.width * np.abs(np.cos(turned)) + self.length * np.abs(np.sin(turned)))
        bend = self.corridors.bend(match.lane[on], match.station[on], reach)
        room = self.corridors.half_widths[match.lane[on]] - np.abs(match.offset[on]) - half
        found[on] = (turned + bend / reach < 0.25 * np.pi) & (room - bend >= 0.0)
        return found

    def _ends(self, track: Track, row: int, blocked: Blocked) -> tuple[float, float, float]:
        """Stations of the rear and the front on the blocked lane, and the offset of the centre [m]."""
        curve = self.roadmap.lanes[blocked.lane]
        station, middle, along = nearest(curve, track.centres[row])
        offset = float((track.centres[row] - middle) @ left_of(along))
        return station - 0.5 * self.length, station + 0.5 * self.length, offset

    def _begin(self, track: Track, row: int, blocked: Blocked) -> bool:
        curve = self.roadmap.lanes[blocked.lane]
        _, front, offset = self._ends(track, row, blocked)
        behind = blocked.begin - front
        onward = float(track.ahead[row] @ nearest(curve, track.centres[row])[2]) > 0.0
        if not (onward and abs(offset) <= 0.5 * curve.width and -self.length < behind <= FORE):
            return False
        self.current = _Pass(blocked, behind)
        if behind < self.behind - 1e-9:
            self._fail(track, row, blocked, f"left its lane {behind:.2f} m behind", self.behind, "at least")
        return True

    def _go_on(self, track: Track, row: int, out: bool) -> None:
        one = self.current
        assert one is not None
        rear, front, _ = self._ends(track, row, one.blocked)
        one.travelled += float(np.hypot(*(track.centres[row] - track.centres[row - 1])))
        one.beside |= front >= one.blocked.begin
        beyond = rear - one.blocked.end
        if out:
            if one.beside and beyond > self.within + 1e-9:
                self._fail(track, row, one.blocked, f"was still out of its lane {beyond:.2f} m beyond", self.within)
            elif one.travelled > self.whole + 1e-9:
                self._fail(track, row, one.blocked, one.told, self.whole)
            return
        self.current = None
        if not one.beside:
            return  # it has come back before it
        self.passes += 1
        if one.travelled > self.whole + 1e-9:  # in its last step
            self._fail(track, row, one.blocked, one.told, self.whole)
        elif beyond < self.ahead - 1e-9:
            self._fail(track, row, one.blocked, f"was back in its lane {beyond:.2f} m beyond", self.ahead, "at least")

    def _fail(self, track: Track, row: int, blocked: Blocked, told: str, bound: float, which: str = "at most") -> None:
        time, (x, y) = float(track.times[row]), track.centres[row].tolist()
        who = self.context.name(blocked.row, time)
        self.fail(time, f"{told} '{who}' at {time:.2f} s at ({x:.2f}, {y:.2f}), expected {bound:.2f} m {which}")

    def kept(self) -> Check:
        """Pass if every pass was right, and there were enough."""
        told = f"{self.passes} pass{'' if self.passes == 1 else 'es'}"
        kept = f"{told}, each at the right distances" if self.passes else told
        one = self.current
        within = "" if one is None else f"while passing '{self.context.name(one.blocked.row, self.time)}'"
        return self.enough(self.passes, told, kept, within)
