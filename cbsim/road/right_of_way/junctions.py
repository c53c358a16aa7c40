"""Junctions: groups of conflicts, the lanelets through them, and their stop lines."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.road.disjoint import DisjointSets
from cbsim.road.lanelets import Lanelets
from cbsim.road.right_of_way.conflicts import SERVED, Conflicts
from cbsim.spec.road import PointId

__all__ = ["Junction", "find_junctions", "junction_at", "stop_junctions"]

NEAR = 15.0  # [m] distance along a lane up to which conflicts belong together
EXIT = 60.0  # [m] largest length of an exit within one junction


@dataclass(frozen=True, slots=True, eq=False)
class Junction:
    """A group of conflicts.

    Attributes
    ----------
    conflicts : tuple of int
        Rows of `Conflicts`.
    lanelets : tuple of int
        Rows of `Lanelets` with these conflicts.
    position : ndarray, shape (2,)
        Centre of the conflict areas [m].
    stops : tuple of PointId
        Stop lines of this junction, in the order of ids.
    """

    conflicts: tuple[int, ...]
    lanelets: tuple[int, ...]
    position: Floats
    stops: tuple[PointId, ...]


@lru_cache(maxsize=8)
def find_junctions(conflicts: Conflicts) -> tuple[Junction, ...]:
    """Group conflicts into junctions, in the order of their first lanelets; the result is cached.

    Conflicts belong together if they lie on one exit, within 15 m of each other on one lanelet, or within 15 m of one
    end of lanelets.
    """
    groups = _groups(conflicts)
    group_of = np.full(len(conflicts), -1)
    for number, rows in enumerate(groups):
        group_of[rows] = number
    stops: dict[int, list[PointId]] = defaultdict(list)
    for node, row in _served(conflicts).items():
        if row >= 0:
            stops[int(group_of[row])].append(conflicts.lanelets.roadmap.ids[node])
    return tuple(_junction(conflicts, rows, sorted(stops[number])) for number, rows in enumerate(groups))


def stop_junctions(conflicts: Conflicts) -> dict[PointId, int | None]:
    """Index of the junction of each stop line, in the order of ids; None without conflicts."""
    found: dict[PointId, int | None] = {}
    for index, junction in enumerate(find_junctions(conflicts)):
        found |= dict.fromkeys(junction.stops, index)
    ids = conflicts.lanelets.roadmap.ids
    every = {ids[node]: found.get(ids[node]) for node in _served(conflicts)}
    return dict(sorted(every.items()))


def junction_at(conflicts: Conflicts, point: PointId) -> Junction | None:
    """Find the junction one of whose lanelets begins or ends at a point: the nearest, or None."""
    roadmap = conflicts.lanelets.roadmap
    row = roadmap.row(point)
    stop = stop_junctions(conflicts).get(point)
    junctions = find_junctions(conflicts)
    if stop is not None:
        return junctions[stop]
    ends = conflicts.lanelets.ends
    touching = [one for one in junctions if np.any(ends[list(one.lanelets)] == row)]
    return min(touching, key=lambda one: float(math.hypot(*(one.position - roadmap.positions[row]))), default=None)


def _groups(conflicts: Conflicts) -> list[list[int]]:
    """Rows of the conflicts of each junction."""
    lanelets = conflicts.lanelets
    count = len(conflicts)
    sets = DisjointSets(count + len(lanelets.roadmap.ids))
    for row, (pair, begins, ends) in enumerate(
        zip(conflicts.pairs.tolist(), conflicts.begins.tolist(), conflicts.ends.tolist(), strict=True)
    ):
        for lanelet, begin, end in zip(pair, begins, ends, strict=True):
            source, target = (count + int(node) for node in lanelets.ends[lanelet])
            whole = _is_short_exit(lanelets, lanelet)
            if whole or begin <= NEAR:
                sets.join(row, source)
            if whole or lanelets.lengths[lanelet] - end <= NEAR:
                sets.join(row, target)
    table = conflicts.by_lanelet
    for lanelet in range(len(lanelets)):
        entries = range(int(table.offsets[lanelet]), int(table.offsets[lanelet + 1]))
        reached = -np.inf
        for before, entry in itertools.pairwise(entries):
            reached = max(reached, float(conflicts.ends[table.rows[before], table.sides[before]]))
            if conflicts.begins[table.rows[entry], table.sides[entry]] <= reached + NEAR:
                sets.join(int(table.rows[before]), int(table.rows[entry]))
    kept = ([number for number in group if number < count] for group in sets.groups())
    return [group for group in kept if group]


def _is_short_exit(lanelets: Lanelets, row: int) -> bool:
    return bool(lanelets.lanes[row] < 0 and lanelets.lengths[row] <= EXIT)


def _junction(conflicts: Conflicts, rows: list[int], stops: list[PointId]) -> Junction:
    lanelets = conflicts.lanelets
    pairs = conflicts.pairs[rows]
    middles = 0.5 * (conflicts.begins[rows] + conflicts.ends[rows])
    share = middles / np.maximum(lanelets.lengths[pairs], 1e-9)
    sizes = lanelets.offsets[pairs + 1] - lanelets.offsets[pairs] - 1
    samples = lanelets.offsets[pairs] + np.round(share * sizes).astype(np.int64)
    position = lanelets.points[samples].reshape(-1, 2).mean(axis=0)
    return Junction(tuple(rows), tuple(np.unique(pairs).tolist()), position, tuple(stops))


def _served(conflicts: Conflicts) -> dict[int, int]:
    """First conflict behind each stop line, before the next line and within 40 m; else −1."""
    lanelets = conflicts.lanelets
    roadmap = lanelets.roadmap
    table = conflicts.by_lanelet
    starts: dict[int, list[int]] = defaultdict(list)
    for row, node in enumerate(lanelets.ends[:, 0].tolist()):
        starts[node].append(row)
    marked = set(lanelets.ends[lanelets.stops, 1].tolist())
    for lane in roadmap.network.lanes:
        marked |= {roadmap.rows[stop.point] for stop in lane.stops if roadmap.has(stop.point)} & starts.keys()
    found = {}
    for node in sorted(marked):
        work, nearest, seen = [(0.0, row) for row in starts[node]], (SERVED, -1), set()
        while work:
            distance, row = work.pop()
            if row in seen:
                continue
            seen.add(row)
            entry = int(table.offsets[row])
            if entry < table.offsets[row + 1]:
                conflict = int(table.rows[entry])
                ahead = distance + float(conflicts.begins[conflict, table.sides[entry]])
                is_exit = distance == 0.0 and lanelets.lanes[row] < 0
                nearest = min(nearest, (min(ahead, SERVED - 1.0) if is_exit else ahead, conflict))
            elif distance + lanelets.lengths[row] < SERVED and lanelets.ends[row, 1] not in marked:
                work += [(distance + float(lanelets.lengths[row]), n) for n in lanelets.successors[row].tolist()]
        found[node] = nearest[1]
    return found
