"""Geometry of a network for drawing: lanes between their markings, stop lines, checkpoints, zones and spots [m].

Edges are simplified by a centimetre (Douglas and Peucker, 1973).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.linear import norm
from cbsim.geometry.polyline import direction, left_of
from cbsim.road.connector import Connector, connectors
from cbsim.road.curve import DEFAULT_WIDTH
from cbsim.road.roadmap import RoadMap
from cbsim.spec.road import PointId

__all__ = ["EDGE_ERROR", "Label", "LaneShape", "Road", "road_of"]

EDGE_ERROR = 0.01  # [m]
STREET = 2.4  # [m] least width of lanes for cars
GAP = 1.5  # [m] largest gap between neighbouring lanes that is drawn as pavement: the accuracy of surveyed waypoints
SPOT_DEPTH = 2.0  # length of a parking spot over the distance from its entry to its centre


@dataclass(frozen=True, eq=False)
class LaneShape:
    """A lane: its edges (n, 2), (m, 2) [m] in the direction of travel, and their markings."""

    name: str
    left: Floats
    right: Floats
    marks: tuple[str, str]


@dataclass(frozen=True, eq=False)
class Label:
    """A text at a position (2,) [m]."""

    text: str
    place: Floats


@dataclass(frozen=True, eq=False)
class Road:
    """Drawn parts of a network.

    Attributes
    ----------
    name : str
    lanes : list of LaneShape
    ways : list of ndarray, each (n, 2)
        Areas of the curves through intersections, and of gaps between neighbouring lanes [m].
    stops : list of ndarray, each (2, 2)
        Stop lines [m].
    checkpoints, points : list of Label
        Numbers of checkpoints; ids of all waypoints.
    zones, spots : list of (str, ndarray)
        Names and corners (n, 2) [m].
    origin : tuple of float
        Latitude and longitude of the local plane [deg], or the origin of a metric file.
    """

    name: str
    lanes: list[LaneShape]
    ways: list[Floats] = field(default_factory=list)
    stops: list[Floats] = field(default_factory=list)
    checkpoints: list[Label] = field(default_factory=list)
    points: list[Label] = field(default_factory=list)
    zones: list[tuple[str, Floats]] = field(default_factory=list)
    spots: list[tuple[str, Floats]] = field(default_factory=list)
    origin: tuple[float, float] = (0.0, 0.0)

    @property
    def paint(self) -> float:
        """Scale of line widths: 1, less where lanes are narrower than `STREET`."""
        widths = [norm(lane.left[0] - lane.right[0]) for lane in self.lanes]
        return min(1.0, float(np.median(widths)) / STREET) if widths else 1.0


def road_of(roadmap: RoadMap) -> Road:
    """Compute the drawing of a network."""
    network = roadmap.network
    pairs = [pair for pair in zip(roadmap.lanes, roadmap.lane_specs, strict=True) if len(pair[0].samples) > 1]
    edges = _simple([edge for curve, _ in pairs for edge in (curve.left, curve.right)])
    lanes = [
        LaneShape(str(curve), edges[2 * k], edges[2 * k + 1], (spec.left_boundary, spec.right_boundary))
        for k, (curve, spec) in enumerate(pairs)
    ]
    sides = _simple([side for way in connectors(roadmap) if len(way.samples) > 1 for side in _sides(way)])
    ways = [np.concatenate([sides[k], sides[k + 1][::-1]]) for k in range(0, len(sides), 2)]
    ways += _gaps([(spec.segment, lane) for (_, spec), lane in zip(pairs, lanes, strict=True)])
    numbers = [one for lane in network.lanes for one in lane.checkpoints]
    numbers += [one for zone in network.zones for spot in zone.spots for one in spot.checkpoints]
    zones = [
        (zone.name or f"zone {zone.number}", corners)
        for zone, corners in zip(network.zones, roadmap.perimeters, strict=True)
        if len(corners) > 2
    ]
    return Road(
        roadmap.name,
        lanes,
        ways,
        _stops(roadmap),
        [Label(str(one.number), roadmap.position(one.point)) for one in numbers if roadmap.has(one.point)],
        [Label(str(point), place) for point, place in zip(roadmap.ids, roadmap.positions, strict=True)],
        zones,
        _spots(roadmap),
        (roadmap.plane.latitude, roadmap.plane.longitude),
    )


def _simple(lines: Sequence[Floats]) -> list[Floats]:
    """Simplify lines by `EDGE_ERROR`."""
    import shapely

    if not lines:
        return []
    numbers = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    simple = shapely.simplify(shapely.linestrings(np.concatenate(lines), indices=numbers), EDGE_ERROR)
    points, owner = shapely.get_coordinates(simple, return_index=True)
    return np.split(points, np.flatnonzero(np.diff(owner)) + 1)


def _gaps(lanes: Sequence[tuple[int, LaneShape]]) -> list[Floats]:
    """Areas between neighbouring lanes of a segment that are at most `GAP` wide."""
    import shapely

    segments: dict[int, list[LaneShape]] = {}
    for segment, lane in lanes:
        segments.setdefault(segment, []).append(lane)
    found: list[Floats] = []
    for own in segments.values():
        if len(own) < 2:
            continue
        areas = [shapely.Polygon(np.concatenate([lane.left, lane.right[::-1]])).buffer(0.0) for lane in own]
        paved = shapely.union_all(areas)
        closed = paved.buffer(0.5 * GAP, join_style="mitre").buffer(-0.5 * GAP, join_style="mitre")
        gaps = shapely.get_parts(closed.difference(paved))
        found += [np.asarray(gap.exterior.coords)[:-1] for gap in gaps if gap.area > EDGE_ERROR]
    return found


def _sides(way: Connector) -> tuple[Floats, Floats]:
    """Left and right edge of a path."""
    aside = 0.5 * way.width * left_of(direction(way.headings))
    return way.samples + aside, way.samples - aside


def _stops(roadmap: RoadMap) -> list[Floats]:
    """Stop lines across their lanes, at the waypoints."""
    points = dict.fromkeys(stop.point for lane in roadmap.network.lanes for stop in lane.stops)
    found = []
    for point in points:
        lane = int(roadmap.lane_of_row[roadmap.rows[point]]) if roadmap.has(point) else -1
        if lane >= 0:
            aside = 0.5 * roadmap.lanes[lane].width * left_of(direction(np.asarray(roadmap.heading(point))))
            found.append(roadmap.position(point) + np.stack([aside, -aside]))
    return found


def _spots(roadmap: RoadMap) -> list[tuple[str, Floats]]:
    """Rectangles of parking spots, from the entry to the same distance beyond the centre."""
    found = []
    for zone in roadmap.network.zones:
        for spot in zone.spots:
            ends = [PointId(zone.number, spot.number, number) for number in (1, 2)]
            if not all(roadmap.has(end) for end in ends):
                continue
            entry, centre = (roadmap.position(end) for end in ends)
            along = SPOT_DEPTH * (centre - entry)
            aside = 0.5 * (spot.width or DEFAULT_WIDTH) * left_of(direction(np.asarray(roadmap.heading(ends[0]))))
            corners = np.stack([entry + aside, entry + along + aside, entry + along - aside, entry - aside])
            found.append((f"{zone.number}.{spot.number}", corners))
    return found
