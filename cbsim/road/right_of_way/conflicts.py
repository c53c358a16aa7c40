"""`Conflicts`: pairs of lanelets with a conflict area, its stations, and the side that yields."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Bools, Floats, Ints
from cbsim.geometry.polyline import wrap
from cbsim.road.lanelets import LaneletKind, Lanelets
from cbsim.road.right_of_way.places import Place, Relation, headings_at, network_places
from cbsim.road.right_of_way.rules import Approaching, Rule, decide, point_ranks

__all__ = ["ByLanelet", "Conflict", "ConflictKind", "Conflicts", "find_conflicts"]

ONCOMING = np.radians(135.0)  # difference of directions from which a conflict is oncoming
SERVED = 40.0  # [m] distance behind a stop line up to which conflicts belong to it: the width of a large intersection


class ConflictKind(IntEnum):
    """Geometry of a conflict."""

    CROSSING = 0
    MERGING = 1
    ONCOMING = 2


class Conflict(NamedTuple):
    """A conflict, from the side of one lanelet.

    Attributes
    ----------
    other : str
        Name of the other lanelet.
    begin, end : float
        Stations on this lanelet [m].
    other_begin, other_end : float
        Stations on the other one [m].
    kind : ConflictKind
    rule : Rule
        Deciding rule.
    yields : bool
        True if this lanelet yields; where the order of arrival decides, for simultaneous arrivals.
    """

    other: str
    begin: float
    end: float
    other_begin: float
    other_end: float
    kind: ConflictKind
    rule: Rule
    yields: bool


class ByLanelet(NamedTuple):
    """Conflicts of each lanelet in compressed sparse rows.

    Attributes
    ----------
    offsets : ndarray of int, shape (lanelets + 1,)
        First entry of each lanelet.
    others : ndarray of int, shape (2 k,)
        The other lanelet.
    sides : ndarray of int, shape (2 k,)
        Side of the row that is this lanelet: 0 for `one`, 1 for `other`.
    rows : ndarray of int, shape (2 k,)
        Row of `Conflicts`, ordered by its first station on this lanelet.
    """

    offsets: Ints
    others: Ints
    sides: Ints
    rows: Ints


@dataclass(frozen=True, eq=False)
class Conflicts:
    """Overlaps of the swept areas of lanelets, one row for each pair and place.

    Lanelets that follow each other, that fork, or that are parallel in one segment do not conflict, unless one turns
    back over the other, or parallel ones are too close for two cars.

    Attributes
    ----------
    lanelets : Lanelets
    pairs : ndarray of int, shape (k, 2)
        The one and the other lanelet, the smaller row first.
    begins, ends : ndarray, shape (k, 2)
        Stations of the conflict area on each [m].
    kinds : ndarray of int, shape (k,)
        `ConflictKind`.
    rules, yields, yields_at_green : ndarray of int, shape (k,)
        As in `Decision`; the same for all rows of a pair.
    """

    lanelets: Lanelets
    pairs: Ints
    begins: Floats
    ends: Floats
    kinds: Ints
    rules: Ints
    yields: Ints
    yields_at_green: Ints

    def __len__(self) -> int:
        return len(self.pairs)

    @cached_property
    def by_lanelet(self) -> ByLanelet:
        """Conflicts of each lanelet, in the order of their stations."""
        own, other = self.pairs.T.ravel(), self.pairs[:, ::-1].T.ravel()
        sides = np.repeat([0, 1], len(self))
        rows = np.tile(np.arange(len(self)), 2)
        order = np.lexsort((other, self.begins.T.ravel(), own))
        offsets = np.searchsorted(own[order], np.arange(len(self.lanelets) + 1))
        return ByLanelet(offsets, other[order], sides[order], rows[order])

    @cached_property
    def approaches(self) -> Ints:
        """Rank of the id of each first point, by which cycles at stop lines are broken, shape (lanelets,)."""
        return point_ranks(self.lanelets)[self.lanelets.ends[:, 0]]

    def of(self, lanelet: int) -> list[Conflict]:
        """List the conflicts of a lanelet, in the order of their stations."""
        table, found = self.by_lanelet, []
        for entry in range(int(table.offsets[lanelet]), int(table.offsets[lanelet + 1])):
            row, side = int(table.rows[entry]), int(table.sides[entry])
            own, theirs = ((float(self.begins[row, s]), float(self.ends[row, s])) for s in (side, 1 - side))
            kind, rule = ConflictKind(self.kinds[row]), Rule(self.rules[row])
            name = self.lanelets.names[table.others[entry]]
            found.append(Conflict(name, *own, *theirs, kind, rule, bool(self.yields[row] == side)))
        return found


@lru_cache(maxsize=8)
def find_conflicts(lanelets: Lanelets) -> Conflicts:
    """Find all conflicts of a network; the result is cached.

    Raises
    ------
    ModelError
        If lanes and exits overlap in too many places.
    """
    found = [place for place in network_places(lanelets) if _is_conflict(place)]
    found.sort(key=lambda place: (place.lanelets, place.ranges))
    pairs = np.array([place.lanelets for place in found], np.int64).reshape(-1, 2)
    ranges = np.array([place.ranges for place in found], float).reshape(-1, 2, 2)
    begins, ends = ranges[:, :, 0], ranges[:, :, 1]
    merging = np.array([place.relation is Relation.MERGE for place in found], bool)
    _, first, row = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    stops = stops_before(lanelets, pairs)[pairs] + begins <= SERVED
    decision = decide(lanelets, Approaching(pairs[first], begins[first], stops[first]))
    row = row.reshape(-1)
    kinds = _kinds(lanelets, pairs, 0.5 * (begins + ends), merging)
    return Conflicts(lanelets, pairs, begins, ends, kinds, *(column[row] for column in decision))


def _is_conflict(place: Place) -> bool:
    return place.relation in (Relation.NONE, Relation.MERGE)


def _kinds(lanelets: Lanelets, pairs: Ints, middles: Floats, merging: Bools) -> Ints:
    headings = [headings_at(lanelets, pairs[:, side], middles[:, side]) for side in (0, 1)]
    oncoming = np.abs(wrap(headings[1] - headings[0])) > ONCOMING
    kinds = np.where(oncoming, ConflictKind.ONCOMING, ConflictKind.CROSSING)
    return np.where(merging, ConflictKind.MERGING, kinds).astype(np.int64)


def stops_before(lanelets: Lanelets, pairs: Ints) -> Floats:
    """Distance from the last stop line to the start of each lanelet, shape (n,) [m].

    It is 0 directly behind a line, and infinite without one or if conflicts lie between, since a stop line applies to
    the first conflicts behind it. Exits count from the line whatever their length. A vehicle that has turned onto
    another lane follows that lane, with its stop line behind it. If several lanelets lead in, all of them must come
    from a stop line.
    """
    distance = np.full(len(lanelets), np.inf)
    marked = np.zeros(len(lanelets.roadmap.ids), bool)
    marked[lanelets.ends[lanelets.stops, 1]] = True
    distance[marked[lanelets.ends[:, 0]]] = 0.0
    contested = np.zeros(len(lanelets), bool)
    contested[pairs.ravel()] = True
    leads_on = lanelets.continues & ~contested
    work = np.flatnonzero((distance == 0.0) & leads_on & (lanelets.lengths <= SERVED)).tolist()
    while work:
        row = work.pop()
        for following in lanelets.successors[row].tolist():
            before = lanelets.predecessors[following]
            reached = np.where(leads_on[before], distance[before] + lanelets.lengths[before], np.inf).max()
            if reached < min(distance[following], SERVED):
                distance[following] = reached
                if leads_on[following]:
                    work.append(following)
    exits = (lanelets.lanes < 0) & (distance == 0.0) & (lanelets.kinds != LaneletKind.LANE)
    distance[exits] = -np.inf
    return distance
