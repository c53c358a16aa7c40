"""Reachability of lanelets: ways on along lanes, by exits, and by turning round at dead ends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Bools, Floats, Ints
from cbsim.geometry import elementary as math
from cbsim.geometry.polyline import wrap
from cbsim.road.lanelets.neighbours import Neighbours
from cbsim.road.lanelets.table import LaneletKind, Lanelets
from cbsim.spec.road import PointId

__all__ = [
    "PASSING", "Turn", "change_edges", "find_turns", "locate_point", "mouths_of", "nearest_reachable",
    "reachable", "ways_on", "with_changes",
]  # fmt: skip

ROOM = 20.0  # [m] of lanelets side by side in which a change over is planned
REACH = 25.0  # [m] from the end of a lane to the start of the one by which a car turns round
PASSING = 2.0  # [m] between the centrelines of two cars that pass each other
AHEAD = 2.0  # [m] ahead of the end of a lane up to which an oncoming one in line with it may begin


class Turn(NamedTuple):
    """Way by which a car turns round at a dead end.

    Attributes
    ----------
    source, target : int
        Lanelet that leads nowhere, and the oncoming one that begins near its end.
    points : ndarray, shape (n, 2) [m]
    """

    source: int
    target: int
    points: Floats


def find_turns(lanelets: Lanelets) -> list[Turn]:
    """Ways by which cars turn round: from the end of a lane that leads nowhere to the nearest oncoming start of one.

    Not to an oncoming lane that begins straight ahead: there a car would turn in the way of the one that turned before.
    """
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
        ahead = gaps[:, 1] * math.cos(heading) - gaps[:, 0] * math.sin(heading)
        aside = np.abs(gaps[:, 0] * math.cos(heading) + gaps[:, 1] * math.sin(heading))
        fitting = np.flatnonzero(oncoming & (distance < REACH) & ((ahead <= AHEAD) | (aside >= PASSING)))
        if len(fitting):
            best = int(fitting[np.argmin(distance[fitting])])
            curve = _turn(place, heading, places[best], float(headings[best]), float(ahead[best]))
            found.append(Turn(row, int(lanes[best]), curve))
    return found


def _turn(start: Floats, heading: float, goal: Floats, arrival: float, ahead: float) -> Floats:
    """Sample a turn from pose to pose, about 1 m apart: a curve between places level with each other.

    Where one is more than 2 m ahead of the other [m], a straight line leads to it or from it: a curve between them
    would come so close to itself that cars which follow each other touch.
    """
    if abs(ahead) <= AHEAD:
        gap = goal - start
        return _hermite(start, heading, goal, arrival, math.sqrt(float(gap[0] * gap[0] + gap[1] * gap[1])))
    shares = (np.arange(int(np.ceil(abs(ahead)))) / np.ceil(abs(ahead)))[:, None]
    if ahead > 0.0:
        level = start + ahead * np.array([-math.sin(heading), math.cos(heading)])
        return np.concatenate([start + shares * (level - start), _turn(level, heading, goal, arrival, 0.0)])
    level = goal + ahead * np.array([-math.sin(arrival), math.cos(arrival)])
    return np.concatenate([_turn(start, heading, level, arrival, 0.0), goal + (shares[::-1] * (level - goal))])


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


def ways_on(lanelets: Lanelets, turns: list[Turn]) -> list[list[int]]:
    """List the lanelets that follow each; rows of turns come after those of the network."""
    graph = [lanelets.successors[row].tolist() for row in range(len(lanelets))]
    for number, turn in enumerate(turns):
        graph[turn.source].append(len(lanelets) + number)
        graph.append([turn.target])
    return graph


def change_edges(neighbours: Neighbours) -> Ints:
    """Pairs of lanelets, shape (k, 2), between which cars may change over, with room for it."""
    fit = neighbours.same_direction & neighbours.may_cross & (neighbours.ends - neighbours.begins >= ROOM)
    return np.stack([neighbours.lanelets[fit], neighbours.others[fit]], axis=1)


def with_changes(graph: list[list[int]], edges: Ints) -> list[list[int]]:
    """List the lanelets that follow each, those to which cars may change over from it too."""
    more = [list(ways) for ways in graph]
    for here, there in edges.tolist():
        more[here].append(there)
    return more


def reachable(graph: list[list[int]], start: int) -> Bools:
    """Tell which lanelets can be reached from one, itself included, shape (lanelets,)."""
    found = np.zeros(len(graph), bool)
    found[start] = True
    work = [start]
    while work:
        for way in graph[work.pop()]:
            if not found[way]:
                found[way] = True
                work.append(way)
    return found


def locate_point(lanelets: Lanelets, point: PointId, *, leaving: bool) -> tuple[int, float] | None:
    """Lanelet and station of a waypoint; where two lanelets meet, the one that leaves it or that ends there.

    Where an exit enters the lane, it is the one that leaves it in either case: that one is reached from both.

    Returns
    -------
    (int, float) or None
        None for a point that is on no lane, or does not exist.
    """
    roadmap = lanelets.roadmap
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
    joined = len(lanelets.predecessors[int(inside[-1])]) > 1
    chosen = int(inside[-1] if leaving or joined else inside[0])
    along = station - float(lanelets.begins[chosen])
    return chosen, min(max(along, 0.0), float(lanelets.lengths[chosen]))


def mouths_of(lanelets: Lanelets, zone: int) -> list[int]:
    """List the lanelets that lead into a zone."""
    ids, mouths = lanelets.roadmap.ids, np.flatnonzero(lanelets.kinds == LaneletKind.ZONE_MOUTH)
    return [row for row in mouths.tolist() if ids[int(lanelets.ends[row, 1])][:2] == (zone, 0)]


def nearest_reachable(lanelets: Lanelets, found: Bools, point: PointId) -> PointId | None:
    """Find the end of a lanelet that can be reached, and is nearest to a point.

    Parameters
    ----------
    lanelets : Lanelets
    found : ndarray of bool
        As of `reachable`.
    point : PointId

    Returns
    -------
    PointId or None
        None where no lane can be reached.
    """
    roadmap = lanelets.roadmap
    rows = np.unique(lanelets.ends[np.flatnonzero(found[: len(lanelets)]), 1])
    rows = rows[roadmap.lane_of_row[rows] >= 0]
    if not len(rows):
        return None
    gaps = roadmap.positions[rows] - roadmap.position(point)
    return roadmap.ids[int(rows[np.argmin(gaps[:, 0] * gaps[:, 0] + gaps[:, 1] * gaps[:, 1])])]
