"""Route graph of a network: moves along lanes, through exits, between lanes, and across zones.

Lengths are those of straight chords, like the published lengths of DARPA's missions.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.geometry import elementary as math
from cbsim.geometry.polyline import wrap
from cbsim.road.connector import U_TURN, is_within_segment
from cbsim.road.lane_change import lane_changes
from cbsim.road.roadmap import RoadMap
from cbsim.spec.road import PointId

if TYPE_CHECKING:
    from networkx import DiGraph

__all__ = ["Kind", "RouteGraph", "components", "graph"]

ZONE_LIMIT = 250_000  # largest number of moves across one zone; only hostile files have more


class Kind(IntEnum):
    """Kind of a move from one point to the next."""

    LANE = 0
    EXIT = 1
    LANE_CHANGE = 2
    U_TURN = 3
    ZONE = 4


@dataclass(frozen=True, eq=False)
class RouteGraph:
    """Every move between two points, at most one for each pair: the shortest.

    Attributes
    ----------
    nodes : tuple of PointId
        In increasing order.
    index : dict
        Number of each node.
    starts : ndarray, shape (nodes + 1,)
        First move from each node; moves are ordered by source, then target.
    targets : ndarray of int, shape (moves,)
        Target node of each move.
    kinds : ndarray of int, shape (moves,)
        `Kind` of each.
    lengths : ndarray, shape (moves,)
        [m]
    unrouted : tuple of int
        Zones with more moves across than the limit (a quarter of a million).
    """

    nodes: tuple[PointId, ...]
    index: dict[PointId, int]
    starts: Ints
    targets: Ints
    kinds: Ints
    lengths: Floats
    unrouted: tuple[int, ...]

    @cached_property
    def sources(self) -> Ints:
        """Source node of each move, shape (moves,)."""
        return np.repeat(np.arange(len(self.nodes)), np.diff(self.starts))

    @cached_property
    def rows(self) -> tuple[list[int], list[int], list[float]]:
        """Starts, targets and lengths as lists, which searches traverse several times faster than arrays."""
        return self.starts.tolist(), self.targets.tolist(), self.lengths.tolist()

    @cached_property
    def in_lane(self) -> RouteGraph:
        """The same graph without its lane changes."""
        kept = self.kinds != Kind.LANE_CHANGE
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        targets, kinds, lengths = self.targets[kept], self.kinds[kept], self.lengths[kept]
        return RouteGraph(self.nodes, self.index, starts, targets, kinds, lengths, self.unrouted)

    def to_networkx(self) -> DiGraph[PointId]:
        """Copy into a networkx graph with edge attributes `kind` and `length`."""
        import networkx as nx

        copy: DiGraph[PointId] = nx.DiGraph()
        copy.add_nodes_from(self.nodes)
        for source, target, kind, length in zip(self.sources, self.targets, self.kinds, self.lengths, strict=True):
            copy.add_edge(self.nodes[source], self.nodes[target], kind=Kind(kind), length=float(length))
        return copy


@lru_cache(maxsize=8)
def graph(roadmap: RoadMap, *, solid: bool = False, turns: bool = False) -> RouteGraph:
    """Collect the moves of a map: lanes, exits, allowed lane changes, U-turns, ways across zones.

    Parameters
    ----------
    roadmap : RoadMap
        The map; the result is cached.
    solid, turns : bool
        Also allow lane changes across solid marking, or a U-turn at the end of every lane with an opposite neighbour,
        to find what would make a mission possible.
    """
    nodes = tuple(sorted(roadmap.rows))
    index = {point: number for number, point in enumerate(nodes)}
    node_of_row = np.array([index[point] for point in roadmap.ids], np.int64)
    changes = lane_changes(roadmap)
    wanted = changes.allowed | solid
    across, unrouted = _zone_moves(roadmap)
    moves = [
        (Kind.LANE, _lane_moves(roadmap)),
        *_exit_moves(roadmap),
        (Kind.LANE_CHANGE, np.stack([changes.source, changes.target], axis=1)[wanted]),
        (Kind.U_TURN, _end_turns(roadmap) if turns else np.empty((0, 2), np.int64)),
        (Kind.ZONE, across),
    ]
    rows = np.concatenate([pairs for _, pairs in moves])
    kinds = np.repeat([int(kind) for kind, _ in moves], [len(pairs) for _, pairs in moves])
    lengths = math.hypot(*(roadmap.positions[rows[:, 1]] - roadmap.positions[rows[:, 0]]).T)
    ends = node_of_row[rows]
    order = np.lexsort((kinds, lengths, ends[:, 1], ends[:, 0]))
    ends = ends[order]
    first = np.ones(len(ends), bool)
    first[1:] = np.any(np.diff(ends, axis=0) != 0, axis=1)
    first &= ends[:, 0] != ends[:, 1]
    kept = order[first]
    starts = np.searchsorted(ends[first, 0], np.arange(len(nodes) + 1))
    return RouteGraph(nodes, index, starts, ends[first, 1], kinds[kept], lengths[kept], unrouted)


def _lane_moves(roadmap: RoadMap) -> Ints:
    """Pairs of rows: each waypoint and the next of its lane."""
    followed = np.ones(roadmap.offsets[-1], bool)
    followed[roadmap.offsets[1:] - 1] = False
    rows = np.flatnonzero(followed)
    return np.stack([rows, rows + 1], axis=1)


def _exit_moves(roadmap: RoadMap) -> list[tuple[Kind, Ints]]:
    """Pairs of rows of the exits, with U-turns separate: those within a segment into the opposite direction."""
    pairs = [(roadmap.rows[e.source], roadmap.rows[e.target]) for e in roadmap.exits]
    rows = np.array(pairs, np.int64).reshape(-1, 2)
    within = np.array([is_within_segment(e) for e in roadmap.exits], bool)
    turn = np.abs(wrap(roadmap.headings[rows[:, 1]] - roadmap.headings[rows[:, 0]]))
    is_u_turn = within & (turn > U_TURN)
    return [(Kind.EXIT, rows[~is_u_turn]), (Kind.U_TURN, rows[is_u_turn])]


def _end_turns(roadmap: RoadMap) -> Ints:
    """Pairs of rows: the last waypoint of each lane and the first of a neighbour in the opposite direction."""
    pairs = []
    ordered = sorted(roadmap.lane_rows.items())
    for (one_id, one), (other_id, other) in itertools.pairwise(ordered):
        if other_id != (one_id[0], one_id[1] + 1):
            continue
        for source, target in ((one, other), (other, one)):
            last, first = int(roadmap.offsets[source + 1]) - 1, int(roadmap.offsets[target])
            if abs(wrap(roadmap.headings[first] - roadmap.headings[last])) > U_TURN:
                pairs.append((last, first))
    return np.array(pairs, np.int64).reshape(-1, 2)


def _zone_moves(roadmap: RoadMap) -> tuple[Ints, tuple[int, ...]]:
    """Pairs of rows across zones, straight: from each entry and spot to each exit and other spot."""
    entries: dict[int, set[int]] = {}
    ways_out: dict[int, set[int]] = {}
    for e in roadmap.exits:
        if e.target.lane == 0:
            entries.setdefault(e.target.segment, set()).add(roadmap.rows[e.target])
        if e.source.lane == 0:
            ways_out.setdefault(e.source.segment, set()).add(roadmap.rows[e.source])
    pairs = [np.empty((0, 2), np.int64)]
    unrouted = []
    for zone in roadmap.network.zones:
        spots = [[roadmap.rows[PointId(zone.number, s.number, n)] for n in s.points.numbers] for s in zone.spots]
        centres = {ends[-1] for ends in spots if ends}
        sources = sorted(entries.get(zone.number, set()) | centres)
        targets = sorted(ways_out.get(zone.number, set()) | centres)
        if len(sources) * len(targets) > ZONE_LIMIT:
            unrouted.append(zone.number)
            continue
        pairs.append(np.array(list(itertools.product(sources, targets)), np.int64).reshape(-1, 2))
        inside = [pair for ends in spots for pair in itertools.pairwise(ends)]
        pairs.append(np.array(inside, np.int64).reshape(-1, 2))
    return np.concatenate(pairs), tuple(unrouted)


def components(moves: RouteGraph) -> Ints:
    """Find the strongly connected components: sets of nodes that can reach each other.

    Returns
    -------
    ndarray of int, shape (nodes,)
        Component of each node; components are numbered by their first node.

    Notes
    -----
    Tarjan's algorithm, iterative, since a lane may have ten thousand points.
    """
    size = len(moves.nodes)
    order, low, part = [-1] * size, [0] * size, [-1] * size
    starts, targets = moves.starts.tolist(), moves.targets.tolist()
    clock, open_nodes = 0, []
    for root in range(size):
        if order[root] >= 0:
            continue
        work = [(root, starts[root])]
        while work:
            node, move = work.pop()
            if move == starts[node]:
                order[node] = low[node] = clock
                clock += 1
                open_nodes.append(node)
            elif part[targets[move - 1]] < 0:
                low[node] = min(low[node], low[targets[move - 1]])
            while move < starts[node + 1] and order[targets[move]] >= 0:
                if part[targets[move]] < 0:
                    low[node] = min(low[node], order[targets[move]])
                move += 1
            if move < starts[node + 1]:
                work += [(node, move + 1), (targets[move], starts[targets[move]])]
            elif low[node] == order[node]:
                while part[node] < 0:
                    part[open_nodes.pop()] = node
    _, first, number = np.unique(part, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first, kind="stable"), kind="stable")[number])
