"""Routes: shortest paths between points, and between the checkpoints of a mission.

A lane change is taken only if there is no other route, or if it saves 20 m: the plain shortest path would weave to gain
a metre. Ties are broken by the order of ids, never by the order of a hash table.
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass
from functools import cached_property

from cbsim.road.graph import Kind, RouteGraph, graph
from cbsim.road.roadmap import RoadMap
from cbsim.spec.mission import Mission
from cbsim.spec.road import PointId

__all__ = ["Kind", "Leg", "Route", "RouteGraph", "checkpoints", "graph", "mission_legs", "route"]

LANE_CHANGE_WORTH = 20.0  # [m] that a lane change must save

REMEDIES = (
    ({"solid": True}, "a lane change across solid marking would help"),
    ({"turns": True}, "a U-turn at the end of a lane would help"),
    ({"solid": True, "turns": True}, "a lane change across solid marking and a U-turn would help"),
)


@dataclass(frozen=True, slots=True)
class Route:
    """A path from one point to another.

    Attributes
    ----------
    points : tuple of PointId
        From start to goal.
    kinds : tuple of Kind
        Of the moves between them, one fewer.
    length : float
        Sum of the chords [m].
    """

    points: tuple[PointId, ...]
    kinds: tuple[Kind, ...]
    length: float


@dataclass(frozen=True, slots=True)
class Leg:
    """Part of a mission between two checkpoints.

    Attributes
    ----------
    numbers : tuple of int
        The two checkpoint numbers.
    start, goal : PointId or None
        Their points; None if the network has no such checkpoint.
    route : Route or None
        None if there is none.
    reason : str
        Why there is none, and what would help; empty if there is a route.
    """

    numbers: tuple[int, int]
    start: PointId | None
    goal: PointId | None
    route: Route | None
    reason: str = ""


def route(roadmap: RoadMap, start: PointId, goal: PointId) -> Route | None:
    """Find the shortest route from one point to another; from a point to itself, the shortest loop.

    Returns
    -------
    Route or None
        None if there is no route.

    Raises
    ------
    ModelError
        If the network has no such point.
    """
    roadmap.row(start)
    roadmap.row(goal)
    return _Searches(roadmap, start).to(goal)


def checkpoints(roadmap: RoadMap) -> dict[int, PointId]:
    """Map checkpoint numbers to existing points; the first of duplicate numbers."""
    table: dict[int, PointId] = {}
    on_lanes = (c for lane in roadmap.network.lanes for c in lane.checkpoints)
    on_spots = (c for zone in roadmap.network.zones for spot in zone.spots for c in spot.checkpoints)
    for checkpoint in itertools.chain(on_lanes, on_spots):
        if roadmap.has(checkpoint.point):
            table.setdefault(checkpoint.number, checkpoint.point)
    return table


def mission_legs(roadmap: RoadMap, mission: Mission) -> list[Leg]:
    """Route every leg of a mission.

    Parameters
    ----------
    roadmap : RoadMap
        The network.
    mission : Mission
        Checkpoints in order; the same one twice in a row means a loop back to it.

    Returns
    -------
    list of Leg
        One fewer than the checkpoints.
    """
    places = checkpoints(roadmap)
    numbers = [checkpoint.number for checkpoint in mission.checkpoints]
    wanted = list(itertools.pairwise(numbers))
    legs: dict[tuple[int, int], Leg] = {}
    searches: _Searches | None = None
    for pair in sorted(set(wanted)):  # by start, so that one search serves all legs from there
        start, goal = places.get(pair[0]), places.get(pair[1])
        if start is None or goal is None:
            missing = pair[0] if start is None else pair[1]
            legs[pair] = Leg(pair, start, goal, None, f"the network has no checkpoint '{missing}'")
            continue
        if searches is None or searches.start != start:
            searches = _Searches(roadmap, start)
        found = searches.to(goal)
        legs[pair] = Leg(pair, start, goal, found, "" if found else searches.remedy(goal))
    return [legs[pair] for pair in wanted]


class _Searches:
    """Searches from one start: routes to goals with and without lane changes, and remedies where there are none."""

    def __init__(self, roadmap: RoadMap, start: PointId) -> None:
        self.start = start
        self._roadmap = roadmap
        self._in_lane = _Search(graph(roadmap).in_lane, start)
        self._free = _Search(graph(roadmap), start)

    def to(self, goal: PointId) -> Route | None:
        """Return the route to a goal."""
        kept, free = self._in_lane.to(goal), self._free.to(goal)
        if kept is None or free is None:
            return free
        worth = free.length + LANE_CHANGE_WORTH * free.kinds.count(Kind.LANE_CHANGE)
        return kept if kept.length <= worth else free

    def remedy(self, goal: PointId) -> str:
        """Describe what would make a route possible."""
        for search, (_, text) in zip(self._relaxed, REMEDIES, strict=True):
            if search.to(goal) is not None:
                return text
        return "neither a lane change nor a U-turn would help"

    @cached_property
    def _relaxed(self) -> list[_Search]:
        return [_Search(graph(self._roadmap, **allowance), self.start) for allowance, _ in REMEDIES]


class _Search:
    """Dijkstra's algorithm from one start, continued only as far as the requested goals."""

    def __init__(self, moves: RouteGraph, start: PointId) -> None:
        self.start = start
        self._moves = moves
        self._length = [float("inf")] * len(moves.nodes)
        self._via = [-1] * len(moves.nodes)  # move that leads here
        self._settled = [False] * len(moves.nodes)
        self._heap: list[tuple[float, int]] = []
        self._relax(moves.index[start], 0.0)  # the start itself stays open, so that a loop can end there

    def to(self, goal: PointId) -> Route | None:
        """Return the shortest route to a goal."""
        node = self._moves.index[goal]
        while self._heap and not self._settled[node]:
            length, reached = heapq.heappop(self._heap)
            if not self._settled[reached]:
                self._settled[reached] = True
                self._relax(reached, length)
        return self._way(node) if self._settled[node] else None

    def _relax(self, node: int, length: float) -> None:
        starts, targets, lengths = self._moves.rows
        for move in range(starts[node], starts[node + 1]):
            target, total = targets[move], length + lengths[move]
            if not self._settled[target] and (total, move) < (self._length[target], self._via[target]):
                if total < self._length[target]:
                    heapq.heappush(self._heap, (total, target))
                self._length[target], self._via[target] = total, move

    def _way(self, node: int) -> Route:
        moves = []
        first = self._moves.index[self.start]
        while True:
            moves.append(self._via[node])
            node = int(self._moves.sources[moves[-1]])
            if node == first:
                break
        moves.reverse()
        points = (self.start, *(self._moves.nodes[self._moves.targets[move]] for move in moves))
        length = math.fsum(self._moves.lengths[move] for move in moves)
        return Route(points, tuple(Kind(self._moves.kinds[move]) for move in moves), length)
