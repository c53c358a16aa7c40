"""Intersections, which no network file declares: exits that share an end or cross, and the lanes that run through.

Who must stop, and so who has right of way, follows from the stop lines of the approaches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.polyline import wrap
from cbsim.road.connector import ConnectorKind, connector_kinds, connectors, exit_spans
from cbsim.road.overlap import overlapping
from cbsim.road.roadmap import RoadMap
from cbsim.spec.road import Exit, PointId

__all__ = ["Approach", "Intersection", "intersections"]

THROUGH = 60.0  # [m] a lane runs through an intersection on a chord no longer than this
SAME_WAY = np.radians(45.0)  # lanes of one segment whose headings differ less come in together
WAYS = {1: "one-way", 2: "two-way", 3: "three-way", 4: "four-way"}


@dataclass(frozen=True, slots=True)
class Approach:
    """The lanes by which one comes into an intersection from one side.

    Attributes
    ----------
    points : tuple of PointId
        Last waypoint before the intersection on each lane.
    stops : bool
        True if there is a stop line on every one of them.
    """

    points: tuple[PointId, ...]
    stops: bool


@dataclass(frozen=True, slots=True, eq=False)
class Intersection:
    """Where approaches meet.

    Attributes
    ----------
    position : ndarray, shape (2,)
        Middle of all points by which one comes in or goes out [m].
    approaches : tuple of Approach
        In the order of their first point, at least two.
    departures : tuple of PointId
        First waypoint after the intersection on each lane that leads out.
    """

    position: NDArray[np.float64]
    approaches: tuple[Approach, ...]
    departures: tuple[PointId, ...]

    @property
    def pattern(self) -> str:
        """Who stops: ``all-way stop``, ``no stop``, or for example ``two-way stop``."""
        stopping = sum(approach.stops for approach in self.approaches)
        if stopping == len(self.approaches):
            return "all-way stop"
        return f"{WAYS.get(stopping, f'{stopping}-way')} stop" if stopping else "no stop"


@dataclass(frozen=True, slots=True)
class _Movement:
    """One way through: rows of the point before and after; a through lane may belong to either end alone."""

    source: int
    target: int
    by_source: bool = True
    by_target: bool = True


def intersections(roadmap: RoadMap) -> tuple[Intersection, ...]:
    """Infer the intersections of a map, in the order of their first approach."""
    ways = [e for e in roadmap.exits if e.source.lane and e.target.lane]
    kinds = connector_kinds(roadmap, ways)
    turns = [e for e, kind in zip(ways, kinds, strict=True) if kind is not ConnectorKind.U_TURN]
    movements = [_Movement(roadmap.rows[e.source], roadmap.rows[e.target]) for e in turns]
    movements += _through_lanes(roadmap, movements)
    sets = _Sets(len(movements))
    for ends in ([(m.by_source, m.source) for m in movements], [(m.by_target, m.target) for m in movements]):
        first: dict[int, int] = {}
        for number, (shared, row) in enumerate(ends):
            if shared:
                sets.join(number, first.setdefault(row, number))
    for one, other in _crossings(roadmap, turns, movements):
        sets.join(one, other)
    stops = {stop.point for lane in roadmap.network.lanes for stop in lane.stops}
    found = (_intersection(roadmap, [movements[n] for n in group], stops) for group in sets.groups())
    return tuple(sorted((f for f in found if len(f.approaches) > 1), key=lambda f: f.approaches[0].points))


def _through_lanes(roadmap: RoadMap, exits: list[_Movement]) -> list[_Movement]:
    """Chords of lanes that go on past a waypoint where one may leave, or come to one where others may enter."""
    sources, targets = {m.source for m in exits}, {m.target for m in exits}
    lane, points = roadmap.lane_of_row, roadmap.positions
    found = []
    for row in sorted(sources | {target - 1 for target in targets}):
        if row < 0 or row + 1 >= len(lane) or lane[row] < 0 or lane[row] != lane[row + 1]:
            continue
        leaves, enters = row in sources, row + 1 in targets
        if leaves and enters and np.hypot(*(points[row + 1] - points[row])) > THROUGH:
            found += [_Movement(row, row + 1, by_target=False), _Movement(row, row + 1, by_source=False)]
        else:
            found.append(_Movement(row, row + 1, by_source=leaves, by_target=enters))
    return found


def _crossings(roadmap: RoadMap, turns: list[Exit], movements: list[_Movement]) -> Iterator[tuple[int, int]]:
    """Pairs of movements that cross; long ones, which pass several intersections, are left out and never drawn."""
    import shapely

    if not movements:
        return
    ends = roadmap.positions[[[m.source, m.target] for m in movements]]
    near = np.flatnonzero(exit_spans(roadmap, turns) <= THROUGH)  # a curve is no shorter than the line between its ends
    drawn = connectors(roadmap, [turns[k] for k in near])
    curves = [c.samples if len(c.samples) > 1 else ends[k] for k, c in zip(near, drawn, strict=True)]
    numbers = np.concatenate([near, np.arange(len(turns), len(movements))])
    lines = np.array([shapely.LineString(c) for c in (*curves, *ends[len(turns) :])])
    short = np.flatnonzero(shapely.length(lines) <= THROUGH)
    one, other = overlapping(lines[short])
    yield from zip(numbers[short[one]].tolist(), numbers[short[other]].tolist(), strict=True)


def _intersection(roadmap: RoadMap, movements: list[_Movement], stops: set[PointId]) -> Intersection:
    """Sort the points by which movements come in into approaches."""
    groups: list[list[int]] = []
    for row in sorted({m.source for m in movements}, key=lambda row: roadmap.ids[row]):
        segment, heading = roadmap.ids[row].segment, roadmap.headings[row]
        for group in groups:
            same = roadmap.ids[group[0]].segment == segment
            if same and abs(wrap(roadmap.headings[group[0]] - heading)) < SAME_WAY:
                group.append(row)
                break
        else:
            groups.append([row])
    approaches = []
    for group in groups:
        points = tuple(roadmap.ids[row] for row in group)
        approaches.append(Approach(points, all(point in stops for point in points)))
    departures = sorted({roadmap.ids[m.target] for m in movements})
    ends = sorted({row for m in movements for row in (m.source, m.target)})
    return Intersection(roadmap.positions[ends].mean(axis=0), tuple(approaches), tuple(departures))


class _Sets:
    """Disjoint sets of numbers, joined pair by pair."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def _root(self, number: int) -> int:
        while self._parent[number] != number:
            self._parent[number] = self._parent[self._parent[number]]
            number = self._parent[number]
        return number

    def join(self, one: int, other: int) -> None:
        """Make two sets one."""
        one, other = self._root(one), self._root(other)
        self._parent[max(one, other)] = min(one, other)

    def groups(self) -> list[list[int]]:
        """List the sets in the order of their smallest number."""
        found: dict[int, list[int]] = {}
        for number in range(len(self._parent)):
            found.setdefault(self._root(number), []).append(number)
        return list(found.values())
