"""`RoadMap`: a road network on the local plane, with curves, matching and areas for simulator, linter and viewer.

Building computes positions only. Curves, the spatial index and areas are computed on first use, so that a command that
looks up a waypoint does not pay for them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cbsim.arrays import Floats, Ints
from cbsim.errors import Location, ModelError
from cbsim.geometry.geodesy import LocalPlane
from cbsim.geometry.polyline import direction, heading, left_of, wrap
from cbsim.road.address import Addresses, point_sets
from cbsim.road.curve import LaneCurve, lane_curves
from cbsim.road.matching import NO_HEADINGS, LaneIndex, Match
from cbsim.spec.road import Exit, Lane, PointId, RoadNetwork

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

    from cbsim.road.line_index import LineIndex

__all__ = ["METRIC_LIMIT", "RoadMap", "build", "usable"]

CORNER_LIMIT = 200  # largest self-intersecting perimeter that is repaired, in corners; real ones have fifty
FEW = 64  # positions up to which a call matches them by a kernel, where that is compiled
METRIC_LIMIT = 1e7  # [m] largest metric coordinate on earth


@dataclass(frozen=True, eq=False)
class RoadMap:
    """A road network with positions on the local plane.

    Attributes
    ----------
    network : RoadNetwork
        Contents of the file.
    plane : LocalPlane
        The plane, with its origin.
    ids : tuple of PointId
        Every point: the waypoints of each lane in file order, then each zone's perimeter points and spot points.
    positions : ndarray, shape (n, 2)
        Their positions [m].
    rows : dict
        Row of each id; the first of duplicate ids.
    offsets : ndarray, shape (lanes + 1,)
        First row of each lane that has waypoints, and the first row past them.
    """

    network: RoadNetwork
    plane: LocalPlane
    ids: tuple[PointId, ...]
    positions: Floats
    rows: dict[PointId, int]
    offsets: Ints
    _is_compiled: bool = field(default=False, init=False, repr=False)

    @property
    def name(self) -> str:
        """The network's name."""
        return self.network.name

    @cached_property
    def lane_specs(self) -> tuple[Lane, ...]:
        """Record in the file of each lane of `lanes`, in the same order."""
        return tuple(lane for lane in self.network.lanes if len(lane.points))

    @cached_property
    def lanes(self) -> tuple[LaneCurve, ...]:
        """Curves of all lanes that have waypoints, in file order."""
        return lane_curves(self.lane_specs, self.positions[: self.offsets[-1]], self.offsets)

    @cached_property
    def lane_rows(self) -> dict[tuple[int, int], int]:
        """Index into `lanes` by segment and number; the first of duplicate lanes."""
        table: dict[tuple[int, int], int] = {}
        for index, lane in enumerate(self.lane_specs):
            table.setdefault((lane.segment, lane.number), index)
        return table

    @cached_property
    def lane_of_row(self) -> Ints:
        """Index into `lanes` for each point; -1 for points of zones, shape (n,)."""
        found = np.full(len(self.ids), -1)
        found[: self.offsets[-1]] = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        return found

    @cached_property
    def headings(self) -> Floats:
        """Heading at each point, in (-π, π]; nan where there is none, shape (n,) [rad]."""
        found = np.full(len(self.ids), np.nan)
        along = [curve.headings[curve.waypoint_rows] for curve in self.lanes]
        found[: self.offsets[-1]] = wrap(np.concatenate([np.empty(0), *along]))
        for row in range(self.offsets[-1], len(self.ids)):
            zone, spot, _ = self.ids[row]
            ends = [self.rows.get(PointId(zone, spot, number)) for number in (1, 2)]
            if spot != 0 and ends[0] is not None and ends[1] is not None:
                found[row] = heading(self.positions[ends[1]] - self.positions[ends[0]])
        return found

    @cached_property
    def exits(self) -> tuple[Exit, ...]:
        """Exits with two existing ends: those of lanes in file order, then those of perimeters."""
        perimeters = (zone.perimeter for zone in self.network.zones if zone.perimeter is not None)
        written = itertools.chain(
            (e for lane in self.network.lanes for e in lane.exits), (e for p in perimeters for e in p.exits)
        )
        return tuple(e for e in written if e.source in self.rows and e.target in self.rows)

    @cached_property
    def addresses(self) -> Addresses:
        """The ids, for suggestions."""
        return Addresses(self.ids)

    @cached_property
    def index(self) -> LaneIndex:
        """The spatial index that `match` uses."""
        return LaneIndex(self.lanes)

    @cached_property
    def zone_areas(self) -> tuple[BaseGeometry, ...]:
        """Area inside each zone's perimeter, in file order; empty where it has fewer than three points."""
        import shapely

        areas: list[BaseGeometry] = []
        for corners in self.perimeters:
            area: BaseGeometry = shapely.Polygon(corners) if len(corners) > 2 else shapely.Polygon()
            if not area.is_valid:
                area = shapely.make_valid(area) if len(corners) <= CORNER_LIMIT else area.convex_hull
            areas.append(area)
        return tuple(areas)

    @cached_property
    def perimeters(self) -> tuple[Floats, ...]:
        """Corners of each zone's perimeter in file order, each (n, 2) [m]."""
        corners = []
        row = int(self.offsets[-1])
        for zone in self.network.zones:
            size = 0 if zone.perimeter is None else len(zone.perimeter.points)
            corners.append(self.positions[row : row + size])
            row += size + sum(len(spot.points) for spot in zone.spots)
        return tuple(corners)

    def has(self, point: PointId) -> bool:
        """Whether a waypoint, perimeter point or spot point exists."""
        return tuple(point) in self.rows

    def row(self, point: PointId) -> int:
        """Row of a point in `ids` and `positions`.

        Raises
        ------
        ModelError
            If there is no such point; the message names the nearest one.
        """
        try:
            return self.rows[PointId(*point)]
        except KeyError:
            hint = self.addresses.hint(PointId(*point))
            text = f"the road network '{self.name}' has no point '{PointId(*point)}'"
            raise ModelError(f"{text} ({hint})" if hint else text) from None

    def position(self, point: PointId) -> Floats:
        """Position of a point, shape (2,) [m].

        Raises
        ------
        ModelError
            If there is no such point.
        """
        return np.asarray(self.positions[self.row(point)])

    def heading(self, point: PointId) -> float:
        """Heading at a point [rad], 0 = north, counter-clockwise positive.

        At a waypoint it is that of its lane's curve, at the last one that of the chord leading to it, at a single one
        0; at a spot point that from the spot's first point to its second, at a perimeter point 0.

        Raises
        ------
        ModelError
            If there is no such point.
        """
        turn = float(self.headings[self.row(point)])
        return 0.0 if turn != turn else turn  # noqa: PLR0124 (NaN alone differs from itself)

    def nearest(self, point: PointId) -> str:
        """Text of the nearest existing id, by segment, then lane, then point; empty if the network has no points."""
        return self.addresses.nearest(point)

    def lane(self, segment: int, lane: int) -> LaneCurve:
        """Curve of a lane.

        Raises
        ------
        ModelError
            If there is no such lane; the message names the nearest one.
        """
        index = self.lane_rows.get((segment, lane))
        if index is not None:
            return self.lanes[index]
        near = min(self.lane_rows, key=lambda key: (abs(key[0] - segment), abs(key[1] - lane), key), default=None)
        hint = "" if near is None else f" (did you mean '{near[0]}.{near[1]}'?)"
        raise ModelError(f"the road network '{self.name}' has no lane '{segment}.{lane}'{hint}")

    def place(self, point: PointId, station: float = 0.0, offset: float = 0.0) -> tuple[Floats, float]:
        """Find the position at a distance from a point.

        Parameters
        ----------
        point : PointId
            Start.
        station : float
            Distance along the lane curve, backwards if negative [m]; straight on beyond the lane's ends.
        offset : float
            Distance to the left of it [m].

        Returns
        -------
        position : ndarray, shape (2,)
            [m]
        heading : float
            Of the lane there [rad].
        """
        positions, headings = self.places([point], [station], [offset])
        return positions[0], float(headings[0])

    def places(self, points: Sequence[PointId], stations: ArrayLike, offsets: ArrayLike) -> tuple[Floats, Floats]:
        """Find places at distances from points of one lane, or from points that are on no lane.

        Parameters
        ----------
        points : sequence of PointId
            Where to start; at least one.
        stations, offsets : array_like, shape (n,)
            As of `place` [m].

        Returns
        -------
        positions : ndarray, shape (n, 2)
            [m]
        headings : ndarray, shape (n,)
            [rad]
        """
        rows = np.array([self.row(point) for point in points], np.int64)
        lane, station, offset = int(self.lane_of_row[rows[0]]), np.asarray(stations, float), np.asarray(offsets, float)
        if lane >= 0:
            curve = self.lanes[lane]
            return curve.at(curve.waypoint_stations[rows - self.offsets[lane]] + station, offset)
        turns = np.array([self.heading(point) for point in points])
        along = direction(turns)
        return self.positions[rows] + station[:, None] * along + offset[:, None] * left_of(along), turns

    def match(self, positions: ArrayLike, headings: ArrayLike | None = None) -> Match:
        """Match positions to lanes.

        Parameters
        ----------
        positions : array_like, shape (n, 2)
            [m]
        headings : array_like, shape (n,), optional
            [rad]

        Returns
        -------
        Match
            Among several lanes: least heading difference in quarter turns, then least distance from the centre line,
            then order of the file.
        """
        if self._is_compiled:
            where = np.array(positions, float, order="C")
            along = NO_HEADINGS if headings is None else np.array(headings, float, order="C")
            if where.size <= 2 * FEW and all(map(isfinite, along.ravel().tolist())):
                return self._line_index.match_arrays(where.reshape(-1, 2), along.reshape(-1))
        return self.index.match(positions, headings)

    def compile_matching(self) -> None:
        """Match few positions, and compute single points, by kernels from now on; the results are the same."""
        object.__setattr__(self, "_is_compiled", True)
        for lane in self.lanes:
            lane.compile_points()

    @cached_property
    def _line_index(self) -> LineIndex:
        from cbsim.road.line_index import LineIndex  # needs numba, without which files are read and linted

        return LineIndex(self.lanes)

    def zone_at(self, positions: ArrayLike) -> Ints:
        """Index of the first zone that contains each position, boundary included; -1 in none.

        Parameters
        ----------
        positions : array_like, shape (n, 2)
            [m]

        Returns
        -------
        ndarray of int, shape (n,)
        """
        import shapely

        where = np.asarray(positions, float).reshape(-1, 2)
        found = np.full(len(where), -1)
        for index, area in reversed(list(enumerate(self.zone_areas))):
            found[shapely.intersects_xy(area, where[:, 0], where[:, 1])] = index
        return found


def build(network: RoadNetwork, origin: tuple[float, float] | None = None) -> RoadMap:
    """Project a network onto a local plane.

    Parameters
    ----------
    network : RoadNetwork
        Dangling references and duplicate ids are allowed; the first of two equal ids counts.
    origin : tuple of float, optional
        Latitude and longitude [deg]; by default the first waypoint of the file.

    Raises
    ------
    ModelError
        If a coordinate is not a number or out of range.
    """
    sets = [(key, points) for key, points, _ in point_sets(network) if len(points)]
    latitude = np.concatenate([np.empty(0), *(points.latitude for _, points in sets)])
    longitude = np.concatenate([np.empty(0), *(points.longitude for _, points in sets)])
    ids = tuple(PointId(*key, number) for key, points in sets for number in points.numbers)
    wrong = np.flatnonzero(~usable(latitude, longitude, network.metric))
    if len(wrong):
        lines = [line for _, points in sets for line in (points.lines or [0] * len(points))]
        where = Location(network.location.path, lines[wrong[0]] or None)
        raise ModelError(f"the coordinates of point '{ids[wrong[0]]}' are out of range", location=where)
    plane = LocalPlane(*(origin or _first_waypoint(network)), metric=network.metric)
    positions = plane.to_local(latitude, longitude)
    positions.flags.writeable = False
    rows = dict(zip(reversed(ids), range(len(ids) - 1, -1, -1), strict=True))
    sizes = [len(lane.points) for lane in network.lanes if len(lane.points)]
    return RoadMap(network, plane, ids, positions, rows, np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]))


def _first_waypoint(network: RoadNetwork) -> tuple[float, float]:
    """Latitude and longitude of the first waypoint of the file, else of any point [deg]."""
    if network.metric:
        return 0.0, 0.0
    lanes = [lane.points for lane in network.lanes if len(lane.points)]
    every = lanes or [points for _, points, _ in point_sets(network) if len(points)]
    first = min(every, key=lambda points: points.lines[0] if points.lines else 0, default=None)
    return (0.0, 0.0) if first is None else (float(first.latitude[0]), float(first.longitude[0]))


def usable(latitude: Floats, longitude: Floats, metric: bool) -> NDArray[np.bool_]:
    """Whether coordinates are in range: numbers within ±90° and ±180°, or 10 000 km where metric."""
    first, second = (METRIC_LIMIT, METRIC_LIMIT) if metric else (90.0, 180.0)
    return (np.abs(latitude) <= first) & (np.abs(longitude) <= second)
