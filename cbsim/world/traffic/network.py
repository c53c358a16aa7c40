"""The road as reactive cars need it: lanelets, conflicts, forks and bends in flat tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from cbsim.geometry import elementary as math
from cbsim.geometry.polyline import wrap
from cbsim.road.lanelet_map import LaneletMap
from cbsim.road.lanelets import LaneletKind, Lanelets
from cbsim.road.right_of_way import Conflicts
from cbsim.road.right_of_way.gaps import LEFT_FROM_MINOR, critical_gaps
from cbsim.road.right_of_way.places import Relation, places
from cbsim.road.right_of_way.rules import Rule
from cbsim.road.right_of_way.swept import SWEPT_WIDTH, overlaps
from cbsim.spec.road import PointId
from cbsim.world.traffic.tables import Crossings, Surroundings

__all__ = ["RoadTables", "road_tables"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LATERAL = 2.2  # [m/s²] in bends
COMFORTABLE = 1.5  # [m/s²] with which a bend is approached
FASTEST = 100.0  # [m/s]
CELL, CELLS = 8.0, 4_000_000  # [m] width of a cell of the grid of samples, and how many there may be
REACH = 25.0  # [m] from the end of a lane to the start of the one by which a car turns round
TURN_SPEED = 3.0  # [m/s] on it
BESIDE = 1.0  # [m] by which conflicts of it are longer than the samples within the swept width tell


@dataclass(frozen=True, slots=True)
class RoadTables:
    """The road of reactive cars.

    Attributes
    ----------
    lanelets : Lanelets
    graph : list of list of int
        Lanelets that follow each; rows by which cars turn round at dead ends come last.
    columns : dict
        Columns of `Road` that tell of the road.
    crossings : Crossings
    surroundings : Surroundings
    """

    lanelets: Lanelets
    graph: list[list[int]]
    columns: dict[str, Any]
    crossings: Crossings
    surroundings: Surroundings

    def locate(self, point: PointId, *, leaving: bool) -> tuple[int, float] | None:
        """Lanelet and station of a waypoint; where two lanelets meet, the one that leaves it or that ends there.

        Returns
        -------
        (int, float) or None
            None for a point that is on no lane.
        """
        lanelets, roadmap = self.lanelets, self.lanelets.roadmap
        if not roadmap.has(point):
            return None
        row = roadmap.row(point)
        lane = int(roadmap.lane_of_row[row])
        if lane < 0:
            return None
        station = float(roadmap.lanes[lane].waypoint_stations[row - int(roadmap.offsets[lane])])
        pieces = np.flatnonzero(lanelets.lanes == lane)
        begins = lanelets.begins[pieces]
        ends = begins + lanelets.lengths[pieces]
        inside = pieces[(begins <= station + 1e-6) & (ends >= station - 1e-6)]
        if not len(inside):
            return None
        chosen = int(inside[-1] if leaving else inside[0])
        along = station - float(lanelets.begins[chosen])
        return chosen, min(max(along, 0.0), float(lanelets.lengths[chosen]))


def road_tables(road: LaneletMap) -> RoadTables:
    """Lay out the columns of `Traffic` that tell of the road."""
    lanelets, conflicts = road.lanelets, road.conflicts
    turns = _turns(lanelets)
    points = np.concatenate([lanelets.points, *(turn[2] for turn in turns)])
    stations = np.concatenate([lanelets.stations, *(_stations(turn[2]) for turn in turns)])
    counts = np.concatenate([np.diff(lanelets.offsets), [len(turn[2]) for turn in turns]]).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    extra = len(turns)
    lengths = np.concatenate([lanelets.lengths, [_stations(turn[2])[-1] for turn in turns]])
    limits = np.concatenate([lanelets.limits, np.full(extra, TURN_SPEED)])
    graph = [lanelets.successors[row].tolist() for row in range(len(lanelets))]
    for number, (source, target, _) in enumerate(turns):
        graph[source].append(len(lanelets) + number)
        graph.append([target])
    curvatures = np.concatenate([lanelets.curvatures, np.zeros(len(points) - len(lanelets.points))])
    bends = _bends(curvatures, stations, offsets)
    owners = np.repeat(np.arange(len(graph)), counts)
    pairs, begins, ends, rules, yields, greens = _with_turns(conflicts, points, stations, owners, turns)
    entry_offsets, others, sides, rows = _by_lanelet(pairs, begins, len(graph))
    junctions = np.full(len(pairs), -1, np.int64)
    for number, junction in enumerate(road.junctions):
        junctions[list(junction.conflicts)] = number
    alone = np.flatnonzero(junctions < 0)
    junctions[alone] = len(road.junctions) + np.arange(len(alone))
    gaps = np.full((len(pairs), 2), LEFT_FROM_MINOR.critical)
    gaps[: len(conflicts.pairs)] = critical_gaps(lanelets, conflicts)
    fork_offsets, forks = _forks(lanelets, len(graph))
    wander_offsets, wanders = _rows(_endless(graph))
    columns: dict[str, Any] = {
        "lanelets": np.stack(
            [lengths, limits, bends[offsets[:-1]], np.concatenate([lanelets.widths, np.full(extra, 3.0)])], axis=1
        ),
        "links": np.stack(
            [
                offsets,
                wander_offsets,
                entry_offsets,
                fork_offsets,
                np.concatenate([lanelets.stops, np.zeros(extra + 1, bool)]),
            ],
            axis=1,
        ).astype(np.int64),
        "samples": np.column_stack([points, stations, bends]),
        "wanders": wanders,
    }
    crossings = Crossings(
        entry_offsets=entry_offsets,
        entry_others=others,
        entry_sides=sides,
        entry_rows=rows,
        entry_lanelets=np.repeat(np.arange(len(graph)), np.diff(entry_offsets)),
        spans=np.concatenate([begins, ends], axis=1),
        gaps=gaps,
        rules=np.stack([rules, greens, junctions], axis=1),
        yields=yields,
        ranks=np.concatenate([conflicts.approaches, np.zeros(extra, np.int64)]),
        forks=forks,
    )
    around = _surroundings(points, owners, graph)
    return RoadTables(lanelets, graph, columns, crossings, around)


def _rows(lists: list[list[int]]) -> tuple[Ints, Ints]:
    """Put lists into compressed sparse rows."""
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    return offsets, np.array([item for each in lists for item in each], np.int64)


def _stations(points: Floats) -> Floats:
    steps = np.diff(points, axis=0)
    return np.concatenate([[0.0], np.cumsum(np.sqrt(steps[:, 0] * steps[:, 0] + steps[:, 1] * steps[:, 1]))])


def _by_lanelet(pairs: Ints, begins: Floats, count: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Conflicts of each lanelet, in the order in which one comes to them, as `Conflicts.by_lanelet` has them."""
    own, other = pairs.T.ravel(), pairs[:, ::-1].T.ravel()
    sides, rows = np.repeat([0, 1], len(pairs)), np.tile(np.arange(len(pairs)), 2)
    order = np.lexsort((other, begins.T.ravel(), own))
    return np.searchsorted(own[order], np.arange(count + 1)), other[order], sides[order], rows[order]


def _with_turns(
    conflicts: Conflicts, points: Floats, stations: Floats, owners: Ints, turns: list[tuple[int, int, Floats]]
) -> tuple[Ints, Floats, Floats, Ints, Ints, Ints]:
    """Add conflicts of the rows by which cars turn round, which yield to all, to those of the network.

    They are where samples of another row come within the width that a vehicle sweeps. The lanes from and to which one
    turns follow each other and are in no conflict with it.
    """
    old = (
        conflicts.pairs,
        conflicts.begins,
        conflicts.ends,
        conflicts.rules,
        conflicts.yields,
        conflicts.yields_at_green,
    )
    if not turns:
        return old
    tree: Any = KDTree(points)  # type: ignore[no-untyped-call]
    first = len(conflicts.lanelets)
    found: list[tuple[int, int, float, float, float, float]] = []
    for number, (source, target, _) in enumerate(turns):
        row = first + number
        samples = np.flatnonzero(owners == row)
        near: dict[int, list[float]] = {}
        for sample, hits in zip(samples.tolist(), tree.query_ball_point(points[samples], SWEPT_WIDTH), strict=True):
            for hit in hits:
                other = int(owners[hit])
                if other in (row, source, target) or other > row:
                    continue
                here, there = float(stations[sample]), float(stations[hit])
                span = near.setdefault(other, [here, here, there, there])
                span[0], span[1] = min(span[0], here), max(span[1], here)
                span[2], span[3] = min(span[2], there), max(span[3], there)
        found += [(other, row, span[0], span[1], span[2], span[3]) for other, span in sorted(near.items())]
    table = np.array(found, float).reshape(-1, 6)
    yielding = np.ones(len(found), np.int64)  # the later of the two, which is the one that turns
    new = (
        table[:, :2].astype(np.int64),
        np.maximum(table[:, [4, 2]] - BESIDE, 0.0),
        table[:, [5, 3]] + BESIDE,
        np.full(len(found), int(Rule.SUBORDINATE)),
        yielding,
        yielding,
    )
    return tuple(np.concatenate(each) for each in zip(old, new, strict=True))  # type: ignore[return-value]


def _turns(lanelets: Lanelets) -> list[tuple[int, int, Floats]]:
    """Ways by which cars turn round: from the end of a lane that leads nowhere to the nearest oncoming start of one."""
    ends = [
        row
        for row in range(len(lanelets))
        if not len(lanelets.successors[row]) and lanelets.kinds[row] == LaneletKind.LANE
    ]
    lanes = np.flatnonzero(lanelets.kinds == LaneletKind.LANE)
    firsts = lanelets.offsets[lanes]
    places, headings = lanelets.points[firsts], lanelets.headings[firsts]
    found = []
    for row in ends:
        last = int(lanelets.offsets[row + 1]) - 1
        place, heading = lanelets.points[last], float(lanelets.headings[last])
        gaps = places - place
        distance = np.sqrt(gaps[:, 0] * gaps[:, 0] + gaps[:, 1] * gaps[:, 1])
        oncoming = np.abs(wrap(headings - heading)) > np.radians(135.0)
        fitting = np.flatnonzero(oncoming & (distance < REACH))
        if len(fitting):
            best = int(fitting[np.argmin(distance[fitting])])
            curve = _hermite(place, heading, places[best], float(headings[best]), float(distance[best]))
            found.append((row, int(lanes[best]), curve))
    return found


def _hermite(start: Floats, heading: float, goal: Floats, arrival: float, distance: float) -> Floats:
    """Sample a cubic from pose to pose, about 1 m apart."""
    reach = 2.0 * max(distance, 4.0)
    count = max(4, int(np.ceil(1.5 * reach)))
    t = (np.arange(count + 1) / count)[:, None]
    ahead = reach * np.array([-math.sin(heading), math.cos(heading)])
    behind = reach * np.array([-math.sin(arrival), math.cos(arrival)])
    rise = t * t * (3.0 - 2.0 * t)
    return np.asarray(
        start + rise * (goal - start) + t * (1.0 - t) * (1.0 - t) * ahead + t * t * (t - 1.0) * behind, np.float64
    )


def _bends(curvatures: Floats, stations: Floats, offsets: Ints) -> Floats:
    """Speed at each sample: what 2.2 m/s² sideways allow there, and comfortable braking for what comes on the lanelet.

    Going back from the end, v² may grow by 2 b for each metre, so that it is the least of v_j² + 2 b (s_j − s) over
    all samples j ahead.
    """
    square = np.minimum(LATERAL / np.maximum(np.abs(curvatures), 1e-9), FASTEST * FASTEST)
    reached = square + 2.0 * COMFORTABLE * stations
    for first, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        reached[first:stop] = np.minimum.accumulate(reached[first:stop][::-1])[::-1]
    return np.asarray(np.sqrt(np.maximum(reached - 2.0 * COMFORTABLE * stations, 0.25)))


def _forks(lanelets: Lanelets, count: int) -> tuple[Ints, Floats]:
    """Rows of `Crossings.forks`, and the first of each lanelet."""
    lists: list[list[tuple[float, float, float]]] = [[] for _ in range(count)]
    for place in places(lanelets, overlaps(lanelets)):
        if place.relation is Relation.FORK:
            (one, other), ((a, b), (c, d)) = place.lanelets, place.ranges
            lists[one].append((float(other), d, a - c))
            lists[other].append((float(one), b, c - a))
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    return offsets, np.array([row for each in lists for row in sorted(each)], float).reshape(-1, 3)


def _endless(graph: list[list[int]]) -> list[list[int]]:
    """Of the ways on from each lanelet, those from which one can go on for ever; all, where there is none such."""
    dead = np.zeros(len(graph), bool)
    left = [len(ways) for ways in graph]
    before: list[list[int]] = [[] for _ in graph]
    for row, ways in enumerate(graph):
        for way in ways:
            before[way].append(row)
    work = [row for row, number in enumerate(left) if number == 0]
    dead[work] = True
    while work:
        for row in before[work.pop()]:
            left[row] -= 1
            if left[row] == 0:
                dead[row] = True
                work.append(row)
    return [[way for way in ways if not dead[way]] or ways for ways in graph]


def _surroundings(points: Floats, owners: Ints, graph: list[list[int]]) -> Surroundings:
    """Sort samples into cells."""
    low = points.min(axis=0) if len(points) else np.zeros(2)
    high = points.max(axis=0) if len(points) else np.zeros(2)
    width = CELL
    while np.prod(np.floor((high - low) / width) + 1.0) > CELLS:
        width *= 2.0
    size = (np.floor((high - low) / width) + 1.0).astype(np.int64)
    cells = np.floor((points - low) / width).astype(np.int64)
    number = cells[:, 1] * size[0] + cells[:, 0]
    order = np.argsort(number, kind="stable")
    successor_offsets, successors = _rows(graph)
    return Surroundings(
        origin=np.array([low[0], low[1], width]),
        size=size,
        offsets=np.searchsorted(number[order], np.arange(int(np.prod(size)) + 1)).astype(np.int64),
        samples=order.astype(np.int64),
        owners=owners.astype(np.int64),
        successor_offsets=successor_offsets,
        successors=successors,
    )
