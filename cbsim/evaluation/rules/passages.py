"""`Passages`: who waits at the stop lines of junctions, and when everybody enters, crosses and leaves them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cbsim.evaluation.rules.footprints import ahead_of
from cbsim.geometry.polyline import direction, left_of
from cbsim.recording.batch import Batch, Header
from cbsim.road.right_of_way import Conflicts, Junction
from cbsim.world.motion import ABSENT_BELOW, MOTION
from cbsim.world.tables import Floats, Ints

__all__ = ["BEGIN", "END", "Entry", "Gate", "JunctionGates", "Passage", "Passages", "Waiting", "leaving"]

STILL = 0.1  # [m/s] slower counts as rest
WITHIN, OVER = 1.0, 0.01  # [m] before and beyond a stop line, where a bumper waits (A.8)
FACING = np.cos(np.radians(45.0))  # cosine of the largest angle to a gate at which it is crossed
NEAR, AROUND = 60.0, 120.0  # [m] from a junction: of the car under test when others are watched, and of these
SAME = 1e-6  # [s] crossings at one place
CLOSE = 30.0  # [m] from a junction, within which bumpers may cross its gates
KEPT = 60.0  # [s] for which a crossing is remembered, and half of the time for which a passage is
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
        Since when nobody else has come to the front, entered or left [s].
    motion : dict
        Row → front bumper (2,) [m] and speed [m/s] of everybody there.
    """

    time: float
    waiting: dict[int, Waiting]
    unchanged: float
    motion: dict[int, tuple[Floats, float]]


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
        for row in junction.lanelets:
            own = [
                (k, int(np.flatnonzero(conflicts.pairs[k] == row)[0]))
                for k in junction.conflicts
                if row in conflicts.pairs[k]
            ]
            begins = {k: float(conflicts.begins[k, side]) for k, side in own}
            last = max(float(conflicts.ends[k, side]) for k, side in own)
            from_line = lanelets.lanes[row] < 0 or int(lanelets.ends[row, 0]) in stop_nodes
            length = float(lanelets.lengths[row])
            stations = {BEGIN: 0.0 if from_line else min(begins.values()), **begins}
            stations[END] = length if lanelets.lanes[row] < 0 else max(last, stations[BEGIN])
            ends = {k: float(conflicts.ends[k, side]) for k, side in own}
            stations |= {leaving(k): min(end + car, length) for k, end in ends.items()}
            part = lanelets.samples_of(row)
            for what, station in stations.items():
                self.gates.append(Gate(row, what))
                where = [np.interp(station, lanelets.stations[part], lanelets.points[part, k]) for k in (0, 1)]
                places.append(where)
                headings.append(np.interp(station, lanelets.stations[part], lanelets.headings[part]))
                widths.append(lanelets.widths[row])
        self.lines = [lanelets.roadmap.row(point) for point in junction.stops]
        for node in self.lines:
            places.append(lanelets.roadmap.positions[node].tolist())
            headings.append(lanelets.roadmap.headings[node])
            widths.append(lanelets.roadmap.lanes[lanelets.roadmap.lane_of_row[node]].width)
        self.places = np.array(places, float).reshape(-1, 2)
        self.along = direction(np.array(headings, float))
        self.left = left_of(self.along)
        self.half_widths = 0.5 * np.array(widths, float)

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
    """Follows everybody at the junctions near one object.

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
        self._gates = [JunctionGates(conflicts, junction, car) for junction in junctions]
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
        """Ways over junctions on which somebody stands at the end, as far as it has come; the end is infinite.

        Of the lanelets that it may have entered, each way is the one on which its front bumper is.
        """
        if self._before is None:
            return []
        rows, motion = self._before
        at = int(np.searchsorted(rows, row))
        if at == len(rows) or rows[at] != row or motion[at, 2] <= ABSENT_BELOW:
            return []
        ahead = ahead_of(motion[at, MOTION["orientation"]])
        front = motion[at, :2] + self._half_lengths(rows[at : at + 1]) * ahead
        found = []
        for number, state in self._states.items():
            crossed = state.crossed.get(row, {})
            begins = {gate.lanelet: when for gate, when in crossed.items() if gate.what == BEGIN}
            near = {lanelet: self._gates[number].distance(lanelet, front) for lanelet in begins}
            near = {lanelet: away for lanelet, away in near.items() if away <= 0.5}
            if near:
                lanelet = min(near, key=lambda one: (near[one], one))
                own = {gate.what: when for gate, when in crossed.items() if gate.lanelet == lanelet}
                begin = own.pop(BEGIN)
                reached = {what: when for what, when in own.items() if what != END and when >= begin}
                if own.get(END, -np.inf) < begin:
                    found.append((number, Passage(row, lanelet, begin, np.inf, reached)))
        return found

    def _half_lengths(self, rows: Ints) -> Floats:
        for row in rows.tolist():
            if row not in self._lengths:
                self._lengths[row] = 0.5 * float((self._header.objects[row].get("size") or [0.0, 0.0])[1])
        return np.array([self._lengths[row] for row in rows.tolist()])

    def see(self, batch: Batch) -> None:
        """Process the next steps."""
        rows = self._moving if batch.rows is None else batch.rows
        motion, first = batch.motion, batch.first_step
        if self._before is not None:
            motion = np.concatenate([self._aligned(rows)[None], motion])
            first -= 1
        self._before = rows, batch.motion[-1].copy()
        at = int(np.searchsorted(rows, self._row))
        if at == len(rows) or rows[at] != self._row or len(motion) < 2:
            return
        ahead = ahead_of(motion[-1, at, MOTION["orientation"]])
        self.front = motion[-1, at, :2] + self._half_lengths(rows[at : at + 1]) * ahead
        times = np.asarray((first + np.arange(len(motion))) * self._header.step, np.float64)
        present = motion[:, :, 2] > ABSENT_BELOW
        for number, gates in enumerate(self._gates):
            watched = gates.near(motion[:, at, :2], NEAR)
            if watched.any():
                there = present & gates.near(motion[:, :, :2].reshape(-1, 2), AROUND).reshape(present.shape)
                some = there.any(axis=0)
                moment = _Moment(times, rows[some], motion[:, some], there[:, some], watched)
                close = gates.near(moment.motion[:, :, :2].reshape(-1, 2), CLOSE).reshape(moment.there.shape)
                self._follow(number, moment, np.flatnonzero(close.any(axis=0)))
        old = float(times[-1]) - 2.0 * KEPT
        self.others = [one for one in self.others if one[1].end >= old]

    def _aligned(self, rows: Ints) -> Floats:
        """Motion before this batch in its rows; nan for those that were not recorded."""
        assert self._before is not None
        before, motion = self._before
        if np.array_equal(before, rows):
            return motion
        found = np.full((len(rows), motion.shape[1]), np.nan)
        where = np.minimum(np.searchsorted(before, rows), len(before) - 1)
        known = before[where] == rows
        found[known] = motion[where[known]]
        return found

    def _follow(self, number: int, moment: _Moment, close: Ints) -> None:
        """Process the events of one junction in the order of time; `close` are the rows that may cross gates."""
        gates, state = self._gates[number], self._states[number]
        fronts = moment.fronts(self._half_lengths(moment.rows))
        east, north = (fronts[:, close, k, None] - gates.places[:, k] for k in (0, 1))
        along = east * gates.along[:, 0] + north * gates.along[:, 1]
        across = east * gates.left[:, 0] + north * gates.left[:, 1]
        facing = moment.ahead[:, close] @ gates.along.T
        count, rows = len(gates.gates), moment.rows[close].tolist()
        found = _crossings(gates, moment, along[..., :count], across[..., :count], facing[..., :count])
        events = [(time, 1, rows[who], gate, step) for time, who, gate, step in found]
        again = np.flatnonzero(moment.watched[1:] & ~moment.watched[:-1])
        events += [(float(moment.times[step]), -1, 0, 0, step) for step in again.tolist()]
        here = (along[..., count:] >= -WITHIN) & (along[..., count:] <= OVER) & (facing[..., count:] >= 0.5)
        here &= np.abs(across[..., count:]) <= gates.half_widths[count:]
        for who, row in enumerate(rows):
            known = state.waiting.get(row)
            for line, node in enumerate(gates.lines):
                waits = known is not None and known.node == node
                if waits or here[:, who, line].any():
                    events += _waits(moment, row, node, here[:, who, line], moment.speeds[:, close[who]], waits)
        for row in [row for row in state.waiting if row not in rows]:  # it has left while nobody watched
            del state.waiting[row]
        for time, kind, row, value, step in sorted(events):
            if kind == -1:  # others may have left while nobody watched
                state.crossed = defaultdict(dict, {self._row: state.crossed[self._row]})
            elif kind == 0:
                state.waiting[row] = Waiting(time, value)
            elif kind == 1:
                self._cross(number, row, gates.gates[value], time, (moment, fronts, step))
            elif row in state.waiting and state.waiting[row].node == value:
                del state.waiting[row]
                state.unchanged = time

    def _cross(self, number: int, row: int, gate: Gate, time: float, at: tuple[_Moment, Floats, int]) -> None:
        """Note a crossing, and the whole passage at the end of a lanelet."""
        state = self._states[number]
        crossed = state.crossed[row]
        crossed[gate] = time
        if gate.what == BEGIN and row == self._row:
            moment, fronts, step = at
            near = np.flatnonzero(moment.there[step]).tolist()
            motion = {int(moment.rows[k]): (fronts[step, k], float(moment.speeds[step, k])) for k in near}
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


@dataclass(frozen=True)
class _Moment:
    """Steps of some rows near a junction, with the step before them."""

    times: Floats
    rows: Ints
    motion: Floats
    there: np.ndarray
    watched: np.ndarray

    @cached_property
    def ahead(self) -> Floats:
        """Unit vectors forward, shape (n + 1, rows, 2)."""
        return ahead_of(self.motion[..., MOTION["orientation"]])

    @cached_property
    def speeds(self) -> Floats:
        """Magnitudes of the velocity, shape (n + 1, rows) [m/s]."""
        return np.asarray(np.linalg.norm(self.motion[..., MOTION["velocity"]], axis=2))

    def fronts(self, half_lengths: Floats) -> Floats:
        """Middles of front bumpers, shape (n + 1, rows, 2) [m]."""
        return np.asarray(self.motion[..., :2] + half_lengths[None, :, None] * self.ahead)


def _crossings(
    gates: JunctionGates, moment: _Moment, along: Floats, across: Floats, facing: Floats
) -> list[tuple[float, int, int, int]]:
    """Crossings of gates between two steps: time, row of the moment, gate, and step before it."""
    found = []
    with np.errstate(invalid="ignore"):
        over = (along[:-1] <= 0.0) & (along[1:] > 0.0) & (facing[1:] >= FACING) & moment.watched[1:, None, None]
    for step, who, gate in zip(*(index.tolist() for index in np.nonzero(over)), strict=True):
        a, b = float(along[step, who, gate]), float(along[step + 1, who, gate])
        part = a / (a - b)
        aside = across[step, who, gate] + part * (across[step + 1, who, gate] - across[step, who, gate])
        if abs(aside) <= gates.half_widths[gate]:
            time = float(moment.times[step] + part * (moment.times[step + 1] - moment.times[step]))
            found.append((time, who, gate, step))
    return found


def _waits(
    moment: _Moment, row: int, node: int, here: np.ndarray, speeds: Floats, waits: bool
) -> list[tuple[float, int, int, int, int]]:
    """Begins (0) and ends (2) of waiting at a line."""
    found = []
    for step in np.flatnonzero(moment.watched[1:]).tolist():
        inside = bool(here[step + 1])
        if inside != waits and (not inside or speeds[step + 1] < STILL):
            found.append((float(moment.times[step + 1]), 0 if inside else 2, row, node, step + 1))
            waits = inside
    return found
