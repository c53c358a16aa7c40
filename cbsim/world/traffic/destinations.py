"""Where reactive cars go: destinations with the ways there, and the goals of objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from cbsim.errors import Location, ModelError
from cbsim.geometry import elementary as math
from cbsim.spec.objects import Goal
from cbsim.spec.road import PointId
from cbsim.world.traffic.network import RoadTables
from cbsim.world.traffic.spread import CarStarts
from cbsim.world.traffic.tables import LENGTH, LIMIT

__all__ = ["Destinations", "ReactiveObject", "goals_of", "located"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

AT_GOAL = 1.0  # [m] from a waypoint at which an object is there already


class ReactiveObject(NamedTuple):
    """An object of the scenario that is a reactive car."""

    row: int
    name: str
    position: Floats
    heading: float
    size: Floats
    initial_pause: float
    goals: tuple[Goal, ...]
    location: Location


def located(name: str, point: PointId, tables: RoadTables, at: Location, *, leaving: bool) -> tuple[int, float]:
    """Lanelet and station of a waypoint.

    Raises
    ------
    ModelError
        If there is none, or it is on no lane.
    """
    found = tables.locate(point, leaving=leaving)
    if found is None:
        roadmap = tables.lanelets.roadmap
        if roadmap.has(point):
            raise ModelError(f"the waypoint '{point}' is on no lane", subject=f"traffic '{name}'", location=at)
        hint = f"did you mean '{roadmap.nearest(point)}'?"
        raise ModelError(f"no waypoint '{point}' in the network ({hint})", subject=f"traffic '{name}'", location=at)
    return found


class Destinations:
    """Destinations of all cars, and the ways there."""

    def __init__(self, tables: RoadTables) -> None:
        self.tables = tables
        self.rows: dict[tuple[int, float], int] = {}
        graph, lanelets = tables.graph, tables.columns["lanelets"]
        lengths, limits = lanelets[:, LENGTH], lanelets[:, LIMIT]
        self._sources = np.repeat(np.arange(len(graph)), [len(ways) for ways in graph])
        self._targets = np.array([way for ways in graph for way in ways], np.int64)
        self._times = np.maximum(lengths / np.maximum(limits, 0.1), 1e-3)
        self._backwards = csr_array(
            (  # type: ignore[no-untyped-call]
                self._times[self._targets],
                (self._targets, self._sources),
            ),
            shape=(len(graph), len(graph)),
        )

    def row(self, place: tuple[int, float]) -> int:
        """Give a destination its number."""
        return self.rows.setdefault(place, len(self.rows))

    def hops(self) -> Ints:
        """Next lanelet from each to each destination, -1 where there is no way, shape (destinations · lanelets,)."""
        table = np.full((len(self.rows), len(self.tables.graph)), -1, np.int64)
        first = np.flatnonzero(np.diff(self._sources, prepend=-1))  # of the ways on from each lanelet that has any
        for (lanelet, _), number in self.rows.items():
            totals = dijkstra(self._backwards, indices=lanelet)[self._targets] + self._times[self._targets]
            if len(first):
                least = np.minimum.reduceat(totals, first)
                best = np.flatnonzero(
                    (totals == np.repeat(least, np.diff(first, append=len(totals)))) & np.isfinite(totals)
                )
                rows, where = np.unique(self._sources[best], return_index=True)
                table[number, rows] = self._targets[best[where]]
        return table.reshape(-1)

    def reaches(self, start: int, place: tuple[int, float]) -> bool:
        """Whether a way leads from a lanelet to a destination."""
        return bool(np.isfinite(dijkstra(self._backwards, indices=place[0])[start]))


def goals_of(
    objects: Sequence[ReactiveObject], standing: CarStarts, tables: RoadTables, ways: Destinations
) -> tuple[Floats, Ints, list[int]]:
    """Rows of `Road.goals`, the first and last of each object, and who waits first: it has a goal where it stands."""
    table, rows, waiting = list[tuple[float, float]](), list[tuple[int, int]](), list[int]()
    places = zip(standing.lanelets.tolist(), standing.stations.tolist(), strict=True)
    for number, (one, (lanelet, station)) in enumerate(zip(objects, places, strict=True)):
        first, pause, goals = len(table), one.initial_pause, list(one.goals)
        while goals and _stands_at(one, goals[0], tables):
            pause += goals.pop(0).pause
        if pause > 0.0:
            table.append((float(ways.row((lanelet, station + float(one.size[1])))), pause))
            waiting.append(number)
        for goal in goals:
            place = located(one.name, _point(goal), tables, goal.location, leaving=False)
            table.append((float(ways.row(place)), float(goal.pause)))
        rows.append((first, len(table) - 1) if len(table) > first else (-1, -1))
    return np.array(table, float).reshape(-1, 2), np.array(rows, np.int64).reshape(-1, 2), waiting


def _point(goal: Goal) -> PointId:
    return PointId(goal.segment, goal.lane, goal.waypoint or 0)


def _stands_at(one: ReactiveObject, goal: Goal, tables: RoadTables) -> bool:
    """Whether a goal is where an object stands already, as literal ones reach it at once."""
    roadmap, point = tables.lanelets.roadmap, _point(goal)
    if not roadmap.has(point):
        return False
    x, y = roadmap.position(point)
    return bool(math.hypot(x - one.position[0], y - one.position[1]) < AT_GOAL)
