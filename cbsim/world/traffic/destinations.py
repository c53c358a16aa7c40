"""Destinations of reactive cars, with the ways there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from cbsim.arrays import Floats, Ints
from cbsim.errors import Location, ModelError
from cbsim.spec.objects import Goal
from cbsim.spec.road import PointId
from cbsim.world.traffic.network import RoadTables
from cbsim.world.traffic.tables import CHANGE_TIME, EVEN_TIMES, LENGTH, LIMIT, LONGER, MUST

__all__ = ["Destinations", "ReactiveObject", "located"]


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
    vehicle: int = -1  # row of the vehicle that it drives


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
        self.rows: dict[tuple[int, float, int], int] = {}  # lanelet, station, and the spot of a zone, -1 for none
        graph, lanelets = tables.graph, tables.columns["lanelets"]
        lengths, limits = lanelets[:, LENGTH], lanelets[:, LIMIT]
        self._sources = np.repeat(np.arange(len(graph)), [len(ways) for ways in graph])
        self._targets = np.array([way for ways in graph for way in ways], np.int64)
        self._times = np.maximum(lengths / np.maximum(limits, 0.1), 1e-3)
        self._changes = tables.changes[np.lexsort((tables.changes[:, 1], tables.changes[:, 0]))]
        here, there = self._changes.T
        self._change_times = CHANGE_TIME + np.maximum(self._times[there] - self._times[here], 0.0)
        sources, targets = np.append(self._sources, here), np.append(self._targets, there)
        times = np.append(self._times[self._targets], self._change_times)
        self._backwards = csr_array((times, (targets, sources)), shape=(len(graph), len(graph)))  # type: ignore[no-untyped-call]

    def row(self, place: tuple[int, float], spot: int = -1) -> int:
        """Give a destination its number."""
        return self.rows.setdefault((*place, spot), len(self.rows))

    def times_to(self, lanelet: int) -> Floats:
        """Time from the end of each lanelet to the end of one, changes of lanes included, shape (lanelets,) [s]."""
        return np.asarray(dijkstra(self._backwards, indices=lanelet), float)

    def tables_of_ways(self) -> tuple[Ints, Ints]:
        """Ways to all destinations.

        Returns
        -------
        hops : ndarray of int, shape (destinations · lanelets,)
            Next lanelet from each to each destination, -1 where there is no way.
        changes : ndarray of int, shape (destinations · lanelets,) or (0,)
            Neighbour to change to, -1 where there is none or the next lanelet is faster; `MUST` more where that takes
            far longer; empty without neighbours.
        """
        shape = len(self.rows), len(self.tables.graph)
        hops, changes = np.full(shape, -1, np.int64), np.full(shape, -1, np.int64)
        first = np.flatnonzero(np.diff(self._sources, prepend=-1))  # of the ways on from each lanelet that has any
        first_change = np.flatnonzero(np.diff(self._changes[:, 0], prepend=-1))
        for (lanelet, _, _), number in self.rows.items():
            times = self.times_to(lanelet)
            onward = np.full(shape[1], np.inf)
            for table, begins, sources, targets, more in (
                (hops, first, self._sources, self._targets, self._times[self._targets]),
                (changes, first_change, *self._changes.T, self._change_times),
            ):
                totals = times[targets] + more
                if not len(begins):
                    continue
                least = np.repeat(np.minimum.reduceat(totals, begins), np.diff(begins, append=len(totals)))
                if table is changes:
                    least = np.where(least <= onward[sources] + EVEN_TIMES, least, np.inf)
                best = np.flatnonzero((totals == least) & np.isfinite(totals))
                rows, where = np.unique(sources[best], return_index=True)
                table[number, rows] = targets[best[where]]
                if table is changes:
                    table[number, rows] += np.where(onward[rows] - totals[best[where]] > LONGER, MUST, 0)
                onward[rows] = totals[best[where]]
            changes[number, lanelet] = -1
        return hops.reshape(-1), changes.reshape(-1) if len(self._changes) else np.zeros(0, np.int64)

    def reaches(self, start: int, place: tuple[int, float]) -> bool:
        """Whether a way leads from a lanelet to a destination."""
        return bool(np.isfinite(self.times_to(place[0])[start]))
