"""Streams of traffic to which an object yields where it merges or turns left, along the lanelets that lead there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.polyline import direction
from cbsim.road.lanelets import Lanelets
from cbsim.road.line_index import LineIndex
from cbsim.road.right_of_way import Conflicts, Rule, find_junctions

__all__ = ["APPROACH", "Gate", "Selected", "Stream", "Way", "Yield", "find_ways"]

REACH = 300.0  # [m] before a conflict, up to which a stream is followed: 10 s at 30 m/s
BEYOND = 40.0  # [m] behind a conflict, likewise: the longest vehicle, and what is kept from it
APPROACH = 15.0  # [m] before a conflict, where an object waits for a gap, and others at their lines hinder it
ONWARD = np.radians(60.0)  # largest angle between a vehicle of a stream and its lanelet

Selected = Callable[[Conflicts, int, int], bool]  # whether a rule is about a conflict, seen from one side of it


class Stream:
    """The lanelets that lead to a conflict, the one on which it lies, and those that lead on.

    Parameters
    ----------
    lanelets : Lanelets
    row : int
        The lanelet with the conflict.
    station : float
        Where it begins [m].
    reach : float
        Up to which distance before the conflict lanelets belong to it [m].
    """

    def __init__(self, lanelets: Lanelets, row: int, station: float, reach: float = REACH) -> None:
        self._lanelets = lanelets
        length = float(lanelets.lengths[row])
        found = {row: (station, _has_siblings(lanelets, row))}
        work = deque([(row, *found[row])])
        while work:
            at, way, forks = work.popleft()
            for before in lanelets.predecessors[at].tolist() if way < reach else []:
                if before not in found:
                    farther = way + float(lanelets.lengths[before])
                    forked = forks or len(lanelets.successors[before]) > 1 or _has_siblings(lanelets, before)
                    found[before] = farther, forked
                    work.append((before, *found[before]))
        beyond = deque([(row, station - length)])
        while beyond:
            at, way = beyond.popleft()
            for after in lanelets.successors[at].tolist() if way > -BEYOND else []:
                if after not in found:
                    found[after] = way, False
                    beyond.append((after, way - float(lanelets.lengths[after])))
        self.rows = sorted(found)
        self._way = np.array([found[one][0] for one in self.rows] + [np.nan])
        self._forks = np.array([found[one][1] for one in self.rows] + [False])

    @cached_property
    def _index(self) -> LineIndex:
        return LineIndex([self._lanelets[row] for row in self.rows])

    def distances(self, places: Floats, headings: Floats) -> tuple[Floats, np.ndarray]:
        """Way of front bumpers to the conflict, and whether there is a fork before it.

        Parameters
        ----------
        places : ndarray, shape (n, 2)
            [m]
        headings : ndarray, shape (n,)
            [rad]

        Returns
        -------
        distances : ndarray, shape (n,)
            Negative beyond where it begins, nan outside the stream [m].
        forks : ndarray of bool, shape (n,)
        """
        match = self._index.match(places, headings, ONWARD)
        lane = np.where(np.abs(match.heading_error) < ONWARD, match.lane, -1)
        return self._way[lane] - match.station, self._forks[lane]


def _has_siblings(lanelets: Lanelets, row: int) -> bool:
    """Whether other lanelets begin where this one does, so that a vehicle on it may be on one of them."""
    return any(len(lanelets.successors[before]) > 1 for before in lanelets.predecessors[row].tolist())


class Yield(NamedTuple):
    """A conflict of a way.

    Attributes
    ----------
    row : int
        Of `Conflicts`.
    begin, end : float
        Stations on the way [m].
    stream : Stream
        The traffic on the other lanelet.
    first : bool
        Whether the stream goes first, independent of the order of arrival.
    judged : bool
        Whether the rule is about it.
    """

    row: int
    begin: float
    end: float
    stream: Stream
    first: bool
    judged: bool


class Gate(NamedTuple):
    """A line across a lanelet: its middle [m], direction, and half of its length [m]."""

    place: Floats
    along: Floats
    half_width: float

    def beyond(self, places: Floats) -> tuple[Floats, Floats]:
        """Signed distances (n,) of places beyond the line, and to the left of its middle [m]."""
        way = places - self.place
        return way @ self.along, way @ np.array([-self.along[1], self.along[0]])


class Way:
    """A lanelet on which an object yields at conflicts that a rule is about.

    Parameters
    ----------
    conflicts : Conflicts
    lanelet : int
    yields : list of Yield
        Its conflicts.

    Attributes
    ----------
    begins : dict of Gate
        Where each conflict that is judged begins, by its row.
    leaves : Gate
        Where the lanelet ends; on a lane, where its last conflict does.
    clears : Gate
        Where the last conflict that is judged ends.
    """

    def __init__(self, conflicts: Conflicts, lanelet: int, yields: list[Yield]) -> None:
        lanelets = conflicts.lanelets
        self.lanelet, self.yields, self.name = lanelet, yields, lanelets.names[lanelet]
        self.judged = [one for one in yields if one.judged]
        self.source = int(lanelets.ends[lanelet, 0])
        last = max(one.end for one in yields)
        length = float(lanelets.lengths[lanelet])
        self.begins = {one.row: _gate(lanelets, lanelet, one.begin) for one in self.judged}
        self.leaves = _gate(lanelets, lanelet, length if lanelets.lanes[lanelet] < 0 else last)
        self.clears = _gate(lanelets, lanelet, max(one.end for one in self.judged))
        self.samples = lanelets.points[lanelets.samples_of(lanelet)]
        self.half_width = 0.5 * float(lanelets.widths[lanelet])
        self.first = min(one.begin for one in self.judged)
        self.box = self.samples.min(axis=0), self.samples.max(axis=0)
        self._approach = Stream(lanelets, lanelet, self.first, APPROACH)

    def distances(self, places: Floats, headings: Floats) -> Floats:
        """Way of the object's front bumpers (n, 2) to the first conflict, nan where they are not on the way there."""
        return self._approach.distances(places, headings)[0]


def _gate(lanelets: Lanelets, lanelet: int, station: float) -> Gate:
    part = lanelets.samples_of(lanelet)
    stations = lanelets.stations[part]
    place = np.array([np.interp(station, stations, lanelets.points[part, k]) for k in (0, 1)])
    along = direction(np.interp([station], stations, lanelets.headings[part]))[0]
    return Gate(place, along, 0.5 * float(lanelets.widths[lanelet]))


@lru_cache(maxsize=8)
def find_ways(conflicts: Conflicts, selected: Selected) -> tuple[Way, ...]:
    """Find the ways of a network on which a rule is about conflicts, cached; junctions with lights are left out."""
    lanelets = conflicts.lanelets
    lights = np.diff(lanelets.lights.offsets) > 0
    lit = {
        row
        for junction in find_junctions(conflicts)
        if lights[list(junction.lanelets)].any()
        for row in junction.conflicts
    }
    streams: dict[tuple[int, float], Stream] = {}
    found = []
    for lanelet in range(len(lanelets)):
        own = list(_sides(conflicts, lanelet))
        judged = [row for row, side in own if row not in lit and _yields(conflicts, row, side)]
        judged = [row for row in judged if selected(conflicts, row, dict(own)[row])]
        if judged:
            yields = [_yield(conflicts, row, side, row in judged, streams) for row, side in own]
            found.append(Way(conflicts, lanelet, yields))
    return tuple(found)


def _sides(conflicts: Conflicts, lanelet: int) -> Iterator[tuple[int, int]]:
    table = conflicts.by_lanelet
    part = slice(int(table.offsets[lanelet]), int(table.offsets[lanelet + 1]))
    yield from zip(table.rows[part].tolist(), table.sides[part].tolist(), strict=True)


def _yields(conflicts: Conflicts, row: int, side: int) -> bool:
    """Whether one side yields, independent of the order of arrival."""
    return bool(conflicts.rules[row] != Rule.ARRIVAL and conflicts.yields[row] == side)


def _yield(conflicts: Conflicts, row: int, side: int, judged: bool, streams: dict[tuple[int, float], Stream]) -> Yield:
    other, at = int(conflicts.pairs[row, 1 - side]), float(conflicts.begins[row, 1 - side])
    first = _yields(conflicts, row, side)
    key = other, at if first else -at - 1.0
    if key not in streams:
        streams[key] = Stream(conflicts.lanelets, other, at, REACH if first else APPROACH)
    begin, end = float(conflicts.begins[row, side]), float(conflicts.ends[row, side])
    return Yield(row, begin, end, streams[key], first, judged)
