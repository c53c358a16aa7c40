"""The road as reactive cars need it: lanelets, conflicts, forks and bends in flat tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from cbsim.arrays import Floats, Ints
from cbsim.road.lanelet_map import LaneletMap
from cbsim.road.lanelets import Lanelets
from cbsim.road.lanelets.reach import PASSING, Turn, change_edges, find_turns, locate_point, ways_on
from cbsim.road.right_of_way import ConflictKind, Conflicts
from cbsim.road.right_of_way.gaps import LEFT_FROM_MAJOR, LEFT_FROM_MINOR, critical_gaps
from cbsim.road.right_of_way.places import Relation, network_places
from cbsim.road.right_of_way.rules import Rule
from cbsim.road.right_of_way.swept import SWEPT_WIDTH
from cbsim.spec.road import PointId
from cbsim.spec.traffic import LightProgram
from cbsim.world.traffic.pieces import fit_pieces
from cbsim.world.traffic.sides import dead_ends, side_columns
from cbsim.world.traffic.signals import signal_columns
from cbsim.world.traffic.tables import BESIDE, FORKS, SIGNALS, Crossings, Surroundings
from cbsim.world.traffic.zones.build import Apron

__all__ = ["RoadTables", "road_tables"]

LATERAL = 2.2  # [m/s²] in bends
COMFORTABLE = 1.5  # [m/s²] with which a bend is approached
FASTEST = 100.0  # [m/s]
CELL, CELLS = 8.0, 4_000_000  # [m] width of a cell of the grid of samples, and how many there may be
TURN_SPEED = 3.0  # [m/s] on it
LONGER = 1.0  # [m] by which conflicts of it are longer than the samples within the swept width tell


@dataclass(frozen=True)
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
    sides : dict
        Columns of `Sides` but those of destinations.
    changes : ndarray of int, shape (k, 2)
        Pairs of lanelets between which cars may change over.
    """

    lanelets: Lanelets
    graph: list[list[int]]
    columns: dict[str, Any]
    crossings: Crossings
    surroundings: Surroundings
    sides: dict[str, Any]
    changes: Ints

    @cached_property
    def tree(self) -> Any:
        """Index of the places of samples, a `scipy.spatial.KDTree`."""
        return _tree(self.columns["samples"][:, :2])

    def locate(self, point: PointId, *, leaving: bool) -> tuple[int, float] | None:
        """Lanelet and station of a waypoint, as `cbsim.road.lanelets.reach.locate_point` finds it."""
        return locate_point(self.lanelets, point, leaving=leaving)


def road_tables(road: LaneletMap, lights: Sequence[LightProgram] = (), aprons: Sequence[Apron] = ()) -> RoadTables:
    """Lay out the columns of `Traffic` that tell of the road; rows of aprons come last."""
    lanelets, conflicts = road.lanelets, road.conflicts
    turns = find_turns(lanelets)
    more = [*(turn.points for turn in turns), *(apron.points for apron in aprons)]
    points = np.concatenate([lanelets.points, *more])
    stations = np.concatenate([lanelets.stations, *(_stations(each) for each in more)])
    counts = np.concatenate([np.diff(lanelets.offsets), [len(each) for each in more]]).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    lengths = np.concatenate([lanelets.lengths, [_stations(each)[-1] for each in more]])
    limits = np.concatenate([lanelets.limits, np.full(len(turns), TURN_SPEED), [apron.limit for apron in aprons]])
    graph = with_aprons(ways_on(lanelets, turns), aprons)
    curvatures = np.concatenate([lanelets.curvatures, np.zeros(len(points) - len(lanelets.points))])
    bends = _bends(curvatures, stations, offsets)
    owners = np.repeat(np.arange(len(graph)), counts)
    pairs, begins, ends, rules, yields, greens = _with_turns(conflicts, points, stations, owners, turns)
    entry_offsets, others, sides, rows = _by_lanelet(pairs, begins, len(graph))
    junctions = _junctions_of(road, len(pairs))
    gaps = np.full((len(pairs), 2), LEFT_FROM_MINOR.critical)
    gaps[: len(conflicts.pairs)] = critical_gaps(lanelets, conflicts)
    fork_offsets, forks = _forks(lanelets, len(graph))
    wander_offsets, wanders = _rows(_endless(graph, lengths))
    signals = signal_columns(lanelets, lights, graph, pairs)
    gaps[signals["signalled"].all(axis=1)] = LEFT_FROM_MAJOR.critical
    signals_at = np.diff(signals["signal_offsets"])[: len(lanelets)] > 0  # a light stands for the stop line beside it
    first_pieces, pieces = fit_pieces(points, stations, bends * bends, offsets)
    stops = np.concatenate([lanelets.stops & ~signals_at, np.zeros(len(more), bool)])
    extras = np.where(np.diff(fork_offsets) > 0, FORKS, 0)
    extras |= np.where(np.diff(signals["signal_offsets"]) > 0, SIGNALS, 0)
    extras[road.neighbours.lanelets] |= BESIDE
    columns: dict[str, Any] = {
        "lanelets": np.stack([lengths, limits, bends[offsets[:-1]], _densities(first_pieces, lengths)], axis=1),
        "links": _links(wander_offsets, entry_offsets, first_pieces, stops, extras),
        "pieces": pieces,
        "widths": np.concatenate([lanelets.widths, np.full(len(more), 3.0)]),
        "sample_offsets": offsets,
        "samples": np.column_stack([points, stations]),
        "wanders": wanders,
    }
    crossings = Crossings(
        entry_offsets=entry_offsets,
        entry_others=others,
        entry_sides=sides,
        entry_rows=rows,
        entry_lanelets=np.repeat(np.arange(len(graph)), np.diff(entry_offsets)),
        entry_spans=np.stack([begins[rows, sides], ends[rows, sides]], axis=1),
        spans=np.concatenate([begins, ends], axis=1),
        gaps=gaps,
        rules=np.stack([rules, greens, junctions, _merging(conflicts, len(pairs))], axis=1),
        yields=yields,
        **signals,
        ranks=np.concatenate([conflicts.approaches, np.zeros(len(more), np.int64)]),
        fork_offsets=fork_offsets,
        forks=forks,
    )
    around = _surroundings(points, owners, graph)
    beside = side_columns(road.neighbours, graph, _predecessors(graph))
    return RoadTables(lanelets, graph, columns, crossings, around, beside, change_edges(road.neighbours))


def with_aprons(graph: list[list[int]], aprons: Sequence[Apron]) -> list[list[int]]:
    """Add the rows of aprons to lists of the lanelets that follow each."""
    for apron in aprons:
        graph.append([apron.target] if apron.target >= 0 else [])
        if apron.source >= 0:
            graph[apron.source].append(len(graph) - 1)
    return graph


def _junctions_of(road: LaneletMap, conflicts: int) -> Ints:
    """Junction of each conflict; those that belong to none have one of their own."""
    junctions = np.full(conflicts, -1, np.int64)
    for number, junction in enumerate(road.junctions):
        junctions[list(junction.conflicts)] = number
    alone = np.flatnonzero(junctions < 0)
    junctions[alone] = len(road.junctions) + np.arange(len(alone))
    return junctions


def _tree(points: Floats) -> Any:
    """Index of points; a balanced tree would take several times as long to make."""
    return KDTree(points, balanced_tree=False, compact_nodes=False)  # type: ignore[no-untyped-call]


def _rows(lists: list[list[int]]) -> tuple[Ints, Ints]:
    """Put lists into compressed sparse rows."""
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    return offsets, np.array([item for each in lists for item in each], np.int64)


def _densities(first_pieces: Ints, lengths: Floats) -> Floats:
    """Count the pieces per metre of each lanelet [1/m]."""
    return np.asarray(np.diff(first_pieces) / np.where(lengths > 0.0, lengths, 1.0))


def _links(wanders: Ints, entries: Ints, pieces: Ints, stops: NDArray[np.bool_], extras: Ints) -> Ints:
    """Lay out `Road.links` from the first rows of each lanelet in other tables; a row of ends stands last."""
    marks = np.append(stops, False), np.append(extras, 0)
    ends = [np.append(offsets[1:], offsets[-1]) for offsets in (wanders, entries, pieces)]
    rows = np.stack([wanders, ends[0], entries, ends[1], pieces, ends[2] - 1, *marks], axis=1)
    return np.asarray(rows, np.int64)


def _merging(conflicts: Conflicts, count: int) -> Ints:
    """1 for each of `count` conflicts that is merging; those of turns come last, and none of them is."""
    found = np.zeros(count, np.int64)
    found[: len(conflicts)] = conflicts.kinds == ConflictKind.MERGING
    return found


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
    conflicts: Conflicts, points: Floats, stations: Floats, owners: Ints, turns: list[Turn]
) -> tuple[Ints, Floats, Floats, Ints, Ints, Ints]:
    """Add conflicts of the rows by which cars turn round, which yield to all, to those of the network.

    They are where samples of another row come within the width that a vehicle sweeps. The lanes from and to which one
    turns follow each other; they are in conflict with it only where it runs against them, too close for two cars.
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
    tree = _tree(points)
    first = len(conflicts.lanelets)
    found: list[tuple[int, int, float, float, float, float]] = []
    for number, (source, target, _) in enumerate(turns):
        row = first + number
        samples = np.flatnonzero(owners == row)
        near: dict[int, list[float]] = {}
        for sample, hits in zip(samples.tolist(), tree.query_ball_point(points[samples], SWEPT_WIDTH), strict=True):
            for hit in hits:
                other = int(owners[hit])
                if other >= row or (other in (source, target) and not _is_against(points, owners, sample, hit)):
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
        np.maximum(table[:, [4, 2]] - LONGER, 0.0),
        table[:, [5, 3]] + LONGER,
        np.full(len(found), int(Rule.SUBORDINATE)),
        yielding,
        yielding,
    )
    return tuple(np.concatenate(each) for each in zip(old, new, strict=True))  # type: ignore[return-value]


def _is_against(points: Floats, owners: Ints, one: int, other: int) -> bool:
    """Tell whether two rows run against each other at samples of them that are closer than two cars that pass."""
    gap, ways = points[other] - points[one], []
    for sample in (one, other):
        last = sample + 1 == len(owners) or owners[sample + 1] != owners[sample]
        ways.append(points[sample] - points[sample - 1] if last else points[sample + 1] - points[sample])
    return bool((gap * gap).sum() < PASSING * PASSING and (ways[0] * ways[1]).sum() < 0.0)


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
    for place in network_places(lanelets):
        if place.relation is Relation.FORK:
            (one, other), ((a, b), (c, d)) = place.lanelets, place.ranges
            lists[one].append((float(other), d, a - c))
            lists[other].append((float(one), b, c - a))
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    return offsets, np.array([row for each in lists for row in sorted(each)], float).reshape(-1, 3)


def _endless(graph: list[list[int]], lengths: Floats) -> list[list[int]]:
    """Of the ways on from each lanelet, those from which one can go on for ever; all, where there is none such.

    Of these, it is those to the longest part of the network in which one can come back to everywhere: cars that wander
    do not end up in a few metres of lanes that nobody can leave.
    """
    dead, reached = dead_ends(graph), _longest_parts(graph, lengths)
    found = [[way for way in ways if not dead[way]] for ways in graph]
    longest = [[way for way in ways if reached[way] >= max(reached[ways])] for ways in found]
    return [kept or ways for kept, ways in zip(longest, graph, strict=True)]


def _longest_parts(graph: list[list[int]], lengths: Floats) -> Floats:
    """Length of the longest part with ways from everywhere to everywhere that one can get to from each lanelet [m]."""
    offsets, successors = _rows(graph)
    shape = len(graph), len(graph)
    links = csr_array((np.ones(len(successors)), successors, offsets), shape=shape)  # type: ignore[no-untyped-call]
    count, parts = connected_components(links, directed=True, connection="strong")
    leads_back = np.bincount(parts, minlength=count)[parts] > 1
    leads_back |= np.array([row in ways for row, ways in enumerate(graph)], bool)
    sums = np.bincount(parts, weights=np.where(leads_back, lengths, 0.0), minlength=count)
    before_offsets, before = (column.tolist() for column in _predecessors(graph))
    reached = np.full(len(graph), -1.0)
    for row in np.argsort(-sums[parts], kind="stable").tolist():  # from the longest on: all that lead to it
        work, length = [row], sums[parts[row]]
        while work:
            there = work.pop()
            if reached[there] < 0.0:
                reached[there] = length
                work.extend(before[before_offsets[there] : before_offsets[there + 1]])
    return reached


def _predecessors(graph: list[list[int]]) -> tuple[Ints, Ints]:
    """Lanelets that lead to each, in compressed rows."""
    lists: list[list[int]] = [[] for _ in graph]
    for row, ways in enumerate(graph):
        for way in ways:
            lists[way].append(row)
    return _rows(lists)


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
