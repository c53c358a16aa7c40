"""`Passages`: which vehicles wait at the stop lines of junctions, and when they enter, cross and leave them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.evaluation.rules.footprints import ahead_of
from cbsim.evaluation.rules.moment import Moment, aligned
from cbsim.geometry.polyline import direction, left_of
from cbsim.recording.batch import Batch, Header
from cbsim.road.kernels.gates import BEGINS, CROSSES, junction_events
from cbsim.road.right_of_way import Conflicts, Junction
from cbsim.world.motion import ABSENT_BELOW, MOTION

__all__ = ["BEGIN", "END", "Entry", "Gate", "JunctionGates", "Passage", "Passages", "Waiting", "leaving"]

NEAR, AROUND = 60.0, 120.0  # [m] from a junction: of the car under test when others are watched, and of these
SAME = 1e-6  # [s] crossings at one place
CLOSE = 30.0  # [m] from a junction, within which bumpers may cross its gates
KEPT = 60.0  # [s] for which a crossing is remembered, and half of the time for which a passage is
ORIENTATION = MOTION["orientation"]
BEGIN, END, CLEAR = -1, -2, -3  # gates where lanelets begin and end, and down from CLEAR where a conflict is left


def leaving(conflict: int) -> int:
    """Gate at which the car under test has left a conflict."""
    return CLEAR - conflict


class Gate(NamedTuple):
    """A line across a lanelet: where it begins or ends, or a conflict on it begins."""

    lanelet: int
    what: int


class Waiting(NamedTuple):
    """Somebody who waits at a stop line: since when [s], and the row of the waypoint."""

    since: float
    node: int


class Passage(NamedTuple):
    """A whole way over a lanelet: when the front bumper entered it, left it, and crossed its other gates [s]."""

    row: int
    lanelet: int
    begin: float
    end: float
    crossed: dict[int, float]


@dataclass(frozen=True)
class Entry:
    """The junction at the moment at which the car under test enters it.

    Attributes
    ----------
    time : float
        [s]
    waiting : dict
        Row of each object that waits → `Waiting`; the car under test as it waited until then.
    unchanged : float
        Time since which no other vehicle has come to the front, entered or left [s].
    motion : dict
        Row → front bumper (2,) [m] and speed [m/s] of each vehicle there.
    """

    time: float
    waiting: dict[int, Waiting]
    unchanged: float
    motion: dict[int, tuple[Floats, float]]


@lru_cache(maxsize=8)
def junction_gates(conflicts: Conflicts, junctions: tuple[Junction, ...], car: float) -> list[JunctionGates]:
    """Gates of junctions for a car of some length [m], cached."""
    return [JunctionGates(conflicts, junction, car) for junction in junctions]


class JunctionGates:
    """Gates of one junction.

    Parameters
    ----------
    conflicts : Conflicts
    junction : Junction
    car : float
        Length of the car under test [m].
    """

    def __init__(self, conflicts: Conflicts, junction: Junction, car: float) -> None:
        self.junction, lanelets = junction, conflicts.lanelets
        self._lanelets = lanelets
        self.gates: list[Gate] = []
        places, headings, widths = [], [], []
        stop_nodes = set(lanelets.ends[lanelets.stops, 1].tolist())
        table, order = conflicts.by_lanelet, {row: k for k, row in enumerate(junction.conflicts)}
        for row in junction.lanelets:
            every = slice(int(table.offsets[row]), int(table.offsets[row + 1]))
            pairs = zip(table.rows[every].tolist(), table.sides[every].tolist(), strict=True)
            own = sorted(((k, side) for k, side in pairs if k in order), key=lambda one: order[one[0]])
            begins = {k: float(conflicts.begins[k, side]) for k, side in own}
            last = max(float(conflicts.ends[k, side]) for k, side in own)
            from_line = lanelets.lanes[row] < 0 or int(lanelets.ends[row, 0]) in stop_nodes
            length = float(lanelets.lengths[row])
            stations = {BEGIN: 0.0 if from_line else min(begins.values()), **begins}
            stations[END] = length if lanelets.lanes[row] < 0 else max(last, stations[BEGIN])
            ends = {k: float(conflicts.ends[k, side]) for k, side in own}
            stations |= {leaving(k): min(end + car, length) for k, end in ends.items()}
            part, at = lanelets.samples_of(row), list(stations.values())
            self.gates += [Gate(row, what) for what in stations]
            where = [np.interp(at, lanelets.stations[part], lanelets.points[part, k]) for k in (0, 1)]
            places += np.column_stack(where).tolist()
            headings += np.interp(at, lanelets.stations[part], lanelets.headings[part]).tolist()
            widths += [lanelets.widths[row]] * len(at)
        self.lines = [lanelets.roadmap.row(point) for point in junction.stops]
        for node in self.lines:
            places.append(lanelets.roadmap.positions[node].tolist())
            headings.append(lanelets.roadmap.headings[node])
            widths.append(lanelets.roadmap.lanes[lanelets.roadmap.lane_of_row[node]].width)
        self.places = np.array(places, float).reshape(-1, 2)
        self.along = direction(np.array(headings, float))
        self.left = left_of(self.along)
        self.half_widths = 0.5 * np.array(widths, float)
        self.table = np.column_stack([self.places, self.along, self.half_widths])

    def distance(self, lanelet: int, place: Floats) -> float:
        """Distance of a place from the centreline of a lanelet, in its widths."""
        lanelets = self._lanelets
        points = lanelets.points[lanelets.samples_of(lanelet)]
        way = np.diff(points, axis=0)
        square = np.maximum((way * way).sum(axis=1), 1e-18)
        share = np.clip(((place - points[:-1]) * way).sum(axis=1) / square, 0.0, 1.0)
        away = points[:-1] + share[:, None] * way - place
        return float(np.hypot(*away.T).min(initial=np.inf) / lanelets.widths[lanelet])

    @cached_property
    def box(self) -> tuple[Floats, Floats]:
        """Corners around all gates [m]."""
        return self.places.min(axis=0), self.places.max(axis=0)

    def near(self, places: Floats, reach: float) -> np.ndarray:
        """Whether places (n, 2) are within reach of the box [m]."""
        low, high = self.box
        return np.asarray(np.all((places >= low - reach) & (places <= high + reach), axis=1))


@dataclass
class _State:
    """What is known of one junction."""

    waiting: dict[int, Waiting] = field(default_factory=dict)
    crossed: dict[int, dict[Gate, float]] = field(default_factory=lambda: defaultdict(dict))
    entries: dict[float, Entry] = field(default_factory=dict)
    unchanged: float = 0.0


class Passages:
    """Follows the vehicles at the junctions near one object.

    Parameters
    ----------
    header : Header
    conflicts : Conflicts
    junctions : tuple of Junction
    row : int
        The car under test.

    Attributes
    ----------
    own, others : list of (junction, Passage)
        Ways over lanelets of the car under test, and of others in the last two minutes, in the order in which they
        ended.
    """

    def __init__(self, header: Header, conflicts: Conflicts, junctions: tuple[Junction, ...], row: int) -> None:
        self._header, self._row = header, row
        self._moving = np.array(header.moving, np.int64)
        car = float((header.objects[row].get("size") or [0.0, 0.0])[1])
        self._gates = junction_gates(conflicts, junctions, car)
        boxes = [gates.box for gates in self._gates]
        self._low, self._high = (np.array([box[end] for box in boxes], float).reshape(-1, 2) for end in (0, 1))
        self._states: dict[int, _State] = defaultdict(_State)
        self._before: tuple[Ints, Floats] | None = None
        self._lengths: dict[int, float] = {}
        self.front: Floats | None = None  # of the car under test at the last step [m]
        self.own: list[tuple[int, Passage]] = []
        self.past: list[tuple[int, Passage]] = []  # own that are judged already
        self.others: list[tuple[int, Passage]] = []

    def gates(self, junction: int) -> JunctionGates:
        """Gates of a junction."""
        return self._gates[junction]

    def has_entry(self, junction: int, time: float) -> bool:
        """Whether the state of the junction at an entry is still known: for two minutes at least."""
        return time in self._states[junction].entries

    def entry(self, junction: int, time: float) -> Entry:
        """State of the junction when the car under test entered it."""
        return self._states[junction].entries[time]

    def unfinished(self) -> list[tuple[int, int, float]]:
        """Lanelets that the car under test has entered and not left: junction, lanelet, and when it entered [s]."""
        found = []
        for junction, state in self._states.items():
            for gate, time in state.crossed[self._row].items():
                if gate.what == BEGIN and time in state.entries:
                    found.append((junction, gate.lanelet, time))
        return sorted(found)

    def stuck(self, row: int) -> list[tuple[int, Passage]]:
        """Ways over junctions of vehicles that have not left them; their time of leaving is infinite.

        Of the lanelets that it may have entered, each way is the one on which its front bumper is.
        """
        if self._before is None:
            return []
        rows, motion = self._before
        at = int(np.searchsorted(rows, row))
        if at == len(rows) or rows[at] != row or motion[at, 2] <= ABSENT_BELOW:
            return []
        front, found = None, []
        for number, state in self._states.items():
            crossed = state.crossed.get(row, {})
            begins = {gate.lanelet: when for gate, when in crossed.items() if gate.what == BEGIN}
            ends = {gate.lanelet: when for gate, when in crossed.items() if gate.what == END}
            if all(ends.get(lanelet, -np.inf) >= begin for lanelet, begin in begins.items()):
                continue
            if front is None:
                front = motion[at, :2] + self._half_lengths(rows[at : at + 1]) * ahead_of(motion[at, ORIENTATION])
            near = {lanelet: self._gates[number].distance(lanelet, front) for lanelet in begins}
            near = {lanelet: away for lanelet, away in near.items() if away <= 0.5}
            if near:
                lanelet = min(near, key=lambda one: (near[one], one))
                begin = begins[lanelet]
                own = ((gate.what, when) for gate, when in crossed.items() if gate.lanelet == lanelet)
                reached = {what: when for what, when in own if what not in (BEGIN, END) and when >= begin}
                if ends.get(lanelet, -np.inf) < begin:
                    found.append((number, Passage(row, lanelet, begin, np.inf, reached)))
        return found

    def _half_lengths(self, rows: Ints) -> Floats:
        for row in rows.tolist():
            if row not in self._lengths:
                self._lengths[row] = 0.5 * float((self._header.objects[row].get("size") or [0.0, 0.0])[1])
        return np.array([self._lengths[row] for row in rows.tolist()])

    def forget(self) -> None:
        """Forget the last step: the car under test is absent in the next ones."""
        self._before = self.front = None

    def see(self, batch: Batch) -> None:
        """Process the next steps."""
        rows = self._moving if batch.rows is None else batch.rows
        before, self._before = self._before, (rows, batch.motion[-1].copy())
        at = int(np.searchsorted(rows, self._row))
        if at == len(rows) or rows[at] != self._row or (before is None and len(batch.motion) < 2):
            return
        last = batch.motion[-1, at]
        self.front = last[:2] + self._half_lengths(rows[at : at + 1]) * ahead_of(last[MOTION["orientation"]])
        leading = [] if before is None else [aligned(before, rows)[None]]
        own = np.concatenate([*(one[:, at, :2] for one in leading), batch.motion[:, at, :2]])
        low, high = np.fmin.reduce(own) - NEAR, np.fmax.reduce(own) + NEAR
        near = np.flatnonzero(np.all((self._low <= high) & (self._high >= low), axis=1))
        watched = {number: self._gates[number].near(own, NEAR) for number in near.tolist()}
        watched = {number: steps for number, steps in watched.items() if steps.any()}
        time = self._header.step * float(batch.steps[-1])
        if watched:
            numbers = batch.first_step - len(leading) + np.arange(len(leading) + len(batch.motion))
            moment = Moment(np.asarray(numbers * self._header.step, float), rows, leading, batch.motion)
            for number, steps in watched.items():
                self._follow(number, moment, steps, moment.close(self._gates[number].box, CLOSE, AROUND))
        self.others = [one for one in self.others if one[1].end >= time - 2.0 * KEPT]

    def _follow(self, number: int, moment: Moment, watched: np.ndarray, close: Ints) -> None:
        """Process the events of one junction in the order of time; `close` are the columns that may cross gates."""
        gates, state = self._gates[number], self._states[number]
        count, rows = len(gates.gates), moment.rows[close]
        nodes = np.array([state.waiting[row].node if row in state.waiting else -1 for row in rows.tolist()], np.int64)
        waits = nodes[:, None] == np.array(gates.lines, np.int64)
        found = _events(moment, close, self._half_lengths(rows), watched, (gates.table, count), waits)
        events = [
            (
                time,
                int(kind),
                int(rows[int(who)]),
                int(gate) if kind == CROSSES else gates.lines[int(gate) - count],
                step,
            )
            for kind, time, who, gate, step in found.tolist()
        ]
        again = np.flatnonzero(watched[1:] & ~watched[:-1])
        events += [(float(moment.times[step]), -1, 0, 0, step) for step in again.tolist()]
        for row in state.waiting.keys() - set(rows.tolist()):  # it has left in an unwatched step
            del state.waiting[row]
        for time, kind, row, value, step in sorted(events):
            if kind == -1:  # others may have left in an unwatched step
                state.crossed = defaultdict(dict, {self._row: state.crossed[self._row]})
            elif kind == BEGINS:
                state.waiting[row] = Waiting(time, value)
            elif kind == CROSSES:
                self._cross(number, row, gates.gates[value], time, (moment, int(step)))
            elif row in state.waiting and state.waiting[row].node == value:
                del state.waiting[row]
                state.unchanged = time

    def _cross(self, number: int, row: int, gate: Gate, time: float, at: tuple[Moment, int]) -> None:
        """Note a crossing, and the whole passage at the end of a lanelet."""
        state = self._states[number]
        crossed = state.crossed[row]
        crossed[gate] = time
        if gate.what == BEGIN and row == self._row:
            moment, step = at
            rows, here = moment.near(self._gates[number].box, AROUND, step)
            fronts = here[:, :2] + self._half_lengths(rows)[:, None] * ahead_of(here[:, ORIENTATION])
            speeds = np.linalg.norm(here[:, MOTION["velocity"]], axis=1).tolist()
            motion = dict(zip(rows.tolist(), zip(fronts, speeds, strict=True), strict=True))
            state.entries[time] = Entry(time, dict(state.waiting), state.unchanged, motion)
            state.entries = {when: one for when, one in state.entries.items() if when >= time - 2.0 * KEPT}
        elif gate.what == BEGIN:
            state.unchanged = time
        if gate.what == END:
            begin = crossed.get(Gate(gate.lanelet, BEGIN), -np.inf)
            if begin >= time - KEPT:
                own = ((one.what, when) for one, when in crossed.items() if one.lanelet == gate.lanelet)
                reached = {what: when for what, when in own if what not in (BEGIN, END) and when >= begin}
                passage = Passage(row, gate.lanelet, begin, time, reached)
                (self.own if row == self._row else self.others).append((number, passage))
                if row != self._row:
                    state.unchanged = time
                crossed = {one: when for one, when in crossed.items() if when >= time - SAME}  # what begins there
        state.crossed[row] = {one: when for one, when in crossed.items() if when >= time - KEPT}


def _events(
    moment: Moment,
    close: Ints,
    half_lengths: Floats,
    watched: np.ndarray,
    gates: tuple[Floats, int],
    waits: np.ndarray,
) -> Floats:
    """Events of a junction among those close to it, as of `junction_events`, shape (e, 5)."""
    room, motion = 64, np.ascontiguousarray(moment.of(close))  # of one type, or it compiles twice
    while True:
        out = np.empty((room, 5))
        count = junction_events(moment.times, motion, half_lengths, watched, *gates, waits.copy(), out)
        if count <= room:
            return out[:count]
        room = count
