"""Building of `Lanelets`: cuts of lanes, lanelets of exits, and their connections."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from cbsim.arrays import Bools, Ints
from cbsim.errors import ModelError
from cbsim.road.connector import Connector, ConnectorKind, connectors
from cbsim.road.lanelets.limits import UNKNOWN_LIMIT, speed_limits
from cbsim.road.lanelets.table import Graph, LaneletKind, Lanelets
from cbsim.road.light_names import light_names
from cbsim.road.roadmap import RoadMap
from cbsim.spec.mission import Mission
from cbsim.spec.road import Exit

__all__ = ["EXIT_LIMIT", "build_lanelets"]

EXIT_LIMIT = 20_000  # exits that become lanelets; the largest real networks have 2600


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Pieces of lanes: lane, rows of both ends, and first and last sample on the lane's curve."""

    lanes: Ints
    ends: Ints
    samples: Ints


@lru_cache(maxsize=8)
def build_lanelets(roadmap: RoadMap, mission: Mission | None = None, limit: float = UNKNOWN_LIMIT) -> Lanelets:
    """Cut a network into lanelets; the result is cached.

    Parameters
    ----------
    roadmap : RoadMap
        The network.
    mission : Mission, optional
        Its speed limits apply.
    limit : float, optional
        Speed limit where neither mission nor network has one [m/s]; 30 mph by default.

    Raises
    ------
    ModelError
        If the network has more than 20 000 exits.

    Notes
    -----
    Exits that duplicate another, or lead from a waypoint to itself or to the next of its lane, do not become lanelets.
    The exit that closes a lane, from its last waypoint to its first, is a piece of it.
    """
    count = len(roadmap.exits)
    if count > EXIT_LIMIT:
        text = f"the road network '{roadmap.name}' has {count} exits; lanelets are made of up to {EXIT_LIMIT}"
        raise ModelError(text, location=roadmap.network.location)
    nodes = _nodes(roadmap)
    exits = _distinct_exits(roadmap, nodes)
    stops = [stop.point for lane in roadmap.network.lanes for stop in lane.stops]
    crossings = [crossing for lane in roadmap.network.lanes for crossing in lane.crossings]
    marks = [nodes[roadmap.rows[point]] for point in stops if roadmap.has(point)]
    halts = [nodes[roadmap.rows[crossing.point]] for crossing in crossings if roadmap.has(crossing.point)]
    ends = np.array([[nodes[roadmap.rows[e.source]], nodes[roadmap.rows[e.target]]] for e in exits], np.int64)
    ends = ends.reshape(-1, 2)
    pieces = _cut(roadmap, nodes, np.array([*ends.ravel().tolist(), *marks, *halts], np.int64))
    drawn = connectors(roadmap, exits)
    kinds = [_kind(roadmap, way) for way in drawn]
    every = np.concatenate([pieces.ends, ends])
    lines = _Lines(roadmap, pieces, drawn)
    lanes = np.concatenate([pieces.lanes, np.full(len(exits), -1)])
    names = sorted(light_names(roadmap.network))
    successors, predecessors = _connections(roadmap, every)
    return Lanelets(
        roadmap=roadmap,
        kinds=np.concatenate([np.zeros(len(pieces.lanes), np.int64), np.array(kinds, np.int64)]),
        lanes=lanes,
        begins=lines.begins,
        ends=every,
        nodes=nodes,
        continues=(lanes >= 0) | np.concatenate([np.zeros(len(pieces.lanes), bool), _returns(roadmap, exits)]),
        offsets=lines.offsets,
        points=lines.points,
        headings=lines.headings,
        curvatures=lines.curvatures,
        stations=lines.stations,
        widths=lines.widths,
        lengths=lines.stations[lines.offsets[1:] - 1] if len(every) else np.empty(0),
        limits=speed_limits(roadmap, every, mission, limit),
        stops=np.isin(every[:, 1], marks),
        successors=successors,
        predecessors=predecessors,
        light_names=tuple(names),
        lights=_lights(roadmap, nodes, every, names),
    )


def _nodes(roadmap: RoadMap) -> Ints:
    """Row of the representative of each point: the first of coincident waypoints of a lane."""
    nodes = np.arange(len(roadmap.ids))
    for curve, first in zip(roadmap.lanes, roadmap.offsets.tolist(), strict=False):
        _, unique, inverse = np.unique(curve.waypoint_rows, return_index=True, return_inverse=True)
        nodes[first : first + len(inverse)] = first + unique[inverse]
        if curve.closed and curve.waypoint_rows[-1] == len(curve.stations) - 1:
            same = curve.waypoint_rows == curve.waypoint_rows[-1]
            nodes[first : first + len(same)][same] = first  # seam: the last waypoint coincides with the first
    return nodes


def _distinct_exits(roadmap: RoadMap, nodes: Ints) -> list[Exit]:
    """List the exits that become lanelets."""
    kept: dict[tuple[int, int], Exit] = {}
    for way in roadmap.exits:
        source, target = roadmap.rows[way.source], roadmap.rows[way.target]
        lane = int(roadmap.lane_of_row[source])
        pair = int(nodes[source]), int(nodes[target])
        if pair[0] == pair[1]:
            continue
        if lane >= 0 and lane == roadmap.lane_of_row[target]:
            follows = np.all(nodes[source + 1 : target] == pair[0]) if source < target else False
            seam = roadmap.lanes[lane].closed and (source, target) == (
                roadmap.offsets[lane + 1] - 1,
                roadmap.offsets[lane],
            )
            if follows or seam:
                continue
        kept.setdefault(pair, way)
    return list(kept.values())


def _cut(roadmap: RoadMap, nodes: Ints, marked: Ints) -> _Pieces:
    """Cut every lane at its ends and at the marked nodes."""
    is_cut = np.zeros(len(roadmap.ids), bool)
    is_cut[marked] = True
    found: list[tuple[int, int, int, int, int]] = []
    for lane, (curve, (first, stop)) in enumerate(
        zip(roadmap.lanes, itertools.pairwise(roadmap.offsets.tolist()), strict=True)
    ):
        cut = is_cut[first:stop] & (nodes[first:stop] == np.arange(first, stop))
        cut[0] = True
        at = np.flatnonzero(cut)
        samples = curve.waypoint_rows[at]
        rows = first + at
        last = len(curve.samples) - 1
        if curve.closed:
            end, final = first, last
        else:
            end, final = int(nodes[stop - 1]), int(curve.waypoint_rows[-1])
        rows, samples = np.append(rows, end), np.append(samples, final)
        parts = zip(itertools.pairwise(rows.tolist()), itertools.pairwise(samples.tolist()), strict=True)
        found += [(lane, *ends, *part) for ends, part in parts if part[1] > part[0]]
    table = np.array(found, np.int64).reshape(-1, 5)
    return _Pieces(table[:, 0], table[:, 1:3], table[:, 3:])


class _Lines:
    """Samples of all lanelets in a row, and their widths."""

    def __init__(self, roadmap: RoadMap, pieces: _Pieces, drawn: tuple[Connector, ...]) -> None:
        curves = [roadmap.lanes[lane] for lane in pieces.lanes.tolist()]
        parts = [slice(first, last + 1) for first, last in pieces.samples.tolist()]
        cut = list(zip(curves, parts, strict=True))
        sizes = [part.stop - part.start for part in parts] + [len(way.samples) for way in drawn]
        self.offsets = np.concatenate([[0], np.cumsum(np.array(sizes, np.int64))])
        begins = np.array([curve.stations[part.start] for curve, part in cut])
        self.begins = np.concatenate([begins, np.zeros(len(drawn))])
        self.points = np.concatenate(
            [np.empty((0, 2)), *(curve.samples[part] for curve, part in cut), *(way.samples for way in drawn)]
        )
        turned = [*(curve.headings[part] for curve, part in cut), *(way.headings for way in drawn)]
        self.headings = np.concatenate([np.empty(0), *turned])
        bends = [*(curve.curvatures[part] for curve, part in cut), *(way.curvatures for way in drawn)]
        sides = np.concatenate([np.empty((0, 2)), *bends])
        self.curvatures = sides.mean(axis=1)
        self.curvatures[self.offsets[:-1]] = sides[self.offsets[:-1], 1]
        self.curvatures[self.offsets[1:] - 1] = sides[self.offsets[1:] - 1, 0]
        along = [*(curve.stations[part] for curve, part in cut), *(way.stations for way in drawn)]
        self.stations = np.concatenate([np.empty(0), *along]) - np.repeat(self.begins, sizes)
        self.widths = np.array([*(curve.width for curve in curves), *(way.width for way in drawn)], float)
        for shared in (self.points, self.headings, self.curvatures, self.stations):
            shared.flags.writeable = False


def _kind(roadmap: RoadMap, way: Connector) -> LaneletKind:
    ends = [roadmap.lane_of_row[roadmap.rows[point]] for point in (way.source, way.target)]
    if min(ends) < 0:
        return LaneletKind.ZONE_MOUTH
    return LaneletKind.U_TURN if way.kind is ConnectorKind.U_TURN else LaneletKind.CONNECTOR


def _returns(roadmap: RoadMap, exits: list[Exit]) -> Bools:
    """Find the exits from a lane's last waypoint to its own first whose curve could not be closed."""
    found = np.zeros(len(exits), bool)
    for k, way in enumerate(exits):
        lane = int(roadmap.lane_of_row[roadmap.rows[way.source]])
        pair = roadmap.rows[way.source], roadmap.rows[way.target]
        found[k] = lane >= 0 and pair == (roadmap.offsets[lane + 1] - 1, roadmap.offsets[lane])
    return found


def _connections(roadmap: RoadMap, ends: Ints) -> tuple[Graph, Graph]:
    """Connect lanelets that end where others begin, except across zones."""
    order = np.argsort(ends[:, 0], kind="stable")
    first = np.searchsorted(ends[order, 0], ends[:, 1])
    count = np.searchsorted(ends[order, 0], ends[:, 1], side="right") - first
    count[roadmap.lane_of_row[ends[:, 1]] < 0] = 0
    before = np.repeat(np.arange(len(ends)), count)
    step = np.arange(len(before)) - np.repeat(np.cumsum(count) - count, count)
    after = order[first[before] + step]
    return Graph.of(before, after, len(ends)), Graph.of(after, before, len(ends))


def _lights(roadmap: RoadMap, nodes: Ints, ends: Ints, names: list[str]) -> Graph:
    """Rows of the lights at the end of each lanelet."""
    number = {name: k for k, name in enumerate(names)}
    pairs = [
        (row, number[crossing.target])
        for lane in roadmap.network.lanes
        for crossing in lane.crossings
        if crossing.keyword == "light" and roadmap.has(crossing.point)
        for row in np.flatnonzero(ends[:, 1] == nodes[roadmap.rows[crossing.point]]).tolist()
    ]
    table = np.array(pairs, np.int64).reshape(-1, 2)
    return Graph.of(table[:, 0], table[:, 1], len(ends))
