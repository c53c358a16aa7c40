"""Paths across zones: into a spot, out of it in reverse, to an exit; within the perimeter, clear of other spots."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.planner.pilot.arc_paths import ArcPath, Pose
from cbsim.planner.pilot.kernels.ground import best_of, candidates_into, distances_into, mark_into
from cbsim.planner.pilot.vehicle_geometry import VehicleGeometry
from cbsim.road.roadmap import RoadMap

__all__ = ["ZoneRaster", "cross_zone"]

BACK_OUT = (0.95, 1.6, 2.3)  # straight reverse out of a spot, in lengths of the vehicle
SWING = (0.8, 1.5)  # [rad] turn in reverse after that
STRAIGHT = (0.0, 4.0, 9.0, 16.0, 25.0, 40.0)  # [m] before the first bend and after the last
RADII = (1.0, 1.6)  # candidate radii, in least turning radii
SPOT_WIDTH = 3.0  # [m] where the file gives none
HEAD = 1.5  # [m] extension of a spot beyond its second point, where it has no exit
MARGIN = 0.3  # [m] on either side of a spot that does not count as part of it
CELL, CELLS = 0.25, 400_000  # [m] size of a cell, and greatest number of cells


@dataclass(frozen=True, eq=False)
class ZoneRaster:
    """Drivable area of a zone and its parking spots, as a raster.

    Attributes
    ----------
    origin : tuple of float
        Lower left corner [m].
    cell : float
        Size of a cell [m].
    outside : ndarray, shape (columns, rows)
        Distance from the area [m]; cells at the border stand for everything beyond.
    spot : ndarray of int, shape (columns, rows)
        Number of the parking spot; 0 for none.
    """

    origin: tuple[float, float]
    cell: float
    outside: Floats
    spot: NDArray[np.int64]

    @classmethod
    def of(cls, roadmap: RoadMap, index: int) -> ZoneRaster:
        """Rasterise the zone at an index of the network's zones."""
        area, zone = roadmap.zone_areas[index], roadmap.network.zones[index]
        if area.is_empty:
            return cls.open()
        low, high = np.array(area.bounds[:2]) - 8.0, np.array(area.bounds[2:]) + 8.0
        cell = max(CELL, math.sqrt(float(np.prod(high - low)) / CELLS))
        size = np.ceil((high - low) / cell).astype(int) + 1
        outside, spots, corner = np.empty(size), np.zeros(size, np.int64), (float(low[0]), float(low[1]))
        distances_into(*corner, cell, _sides(area), outside)
        for spot in zone.spots:
            rows = [row for row, point in enumerate(roadmap.ids) if point[:2] == (zone.number, spot.number)]
            if len(rows) == 2:
                entry, place = roadmap.positions[rows]
                end = place + HEAD * (place - entry) / max(float(math.hypot(*(place - entry))), 1e-9)
                half = 0.5 * (spot.width or SPOT_WIDTH) - MARGIN
                line = float(entry[0]), float(entry[1]), float(end[0]), float(end[1])
                mark_into(*corner, cell, *line, half, spot.number, spots)
        return cls(corner, cell, outside, spots)

    @classmethod
    def open(cls) -> ZoneRaster:
        """Return an unbounded area without spots."""
        return cls((0.0, 0.0), 1.0, np.zeros((1, 1)), np.zeros((1, 1), np.int64))

    def spot_at(self, x: float, y: float) -> int:
        """Return the number of the spot at a position; 0 if there is none."""
        column, row = round((x - self.origin[0]) / self.cell), round((y - self.origin[1]) / self.cell)
        inside = 0 <= column < self.spot.shape[0] and 0 <= row < self.spot.shape[1]
        return int(self.spot[column, row]) if inside else 0


def _sides(area: Any) -> Floats:
    """Sides (n, 4) [m] of all rings of an area."""
    import shapely

    rings = shapely.get_rings(shapely.get_parts(area))
    sides = [np.array([(*a, *b) for a, b in pairwise(shapely.get_coordinates(ring).tolist())]) for ring in rings]
    return np.concatenate(sides)


def cross_zone(
    ground: ZoneRaster,
    start: Pose,
    goal: Pose,
    geometry: VehicleGeometry,
    *,
    run_in: float = 0.0,
    leaving: int = 0,
    parking: int = 0,
) -> tuple[float, ArcPath] | None:
    """Find a path across a zone.

    Parameters
    ----------
    ground : ZoneRaster
    start, goal : Pose
    geometry : VehicleGeometry
    run_in : float
        Least straight length into the spot at the goal [m].
    leaving, parking : int
        Spots of departure and of arrival; 0 for none.

    Returns
    -------
    (cost, arc_path) or None
        Cost in metres of path.

    Notes
    -----
    Candidates consist of reverse out of a spot if need be, a straight, a Dubins path and a straight. They are tried by
    increasing length; the search ends when the next is longer than the best one's cost.
    """
    ways, many = _starts(geometry, leaving)
    far = 1.2 * math.hypot(goal[0] - start[0], goal[1] - start[1])
    straights = np.array([length for length in STRAIGHT if length <= max(far, STRAIGHT[1])])
    room = 20 * len(many) * len(straights) * len(straights)
    arc_paths, arcs, lengths = np.empty((room, 7, 2)), np.empty(room, np.int64), np.empty(room)
    ends, radii = (np.array(start, float), np.array(goal, float)), geometry.radius * np.array(RADII)
    count = candidates_into(
        *ends, ways, many, straights, radii, float(run_in), np.empty((6, 3, 2)), arc_paths, arcs, lengths
    )
    order = np.argsort(lengths[:count], kind="stable")
    body, frame = (geometry.nose, geometry.tail, 0.5 * geometry.vehicle.width), (*ground.origin, ground.cell)
    best, cost = best_of(
        order, arc_paths, arcs, lengths, *ends, leaving, parking, body, frame, ground.outside, ground.spot
    )
    if best < 0:
        return None
    return float(cost), tuple((bend, length) for bend, length in arc_paths[best, : arcs[best]].tolist())


def _starts(geometry: VehicleGeometry, leaving: int) -> tuple[Floats, NDArray[np.int64]]:
    """List initial arc paths of up to two arcs: out of a spot in reverse, else none or a short reverse."""
    arc_paths: list[ArcPath] = [] if leaving else [()]
    for back in BACK_OUT if leaving else BACK_OUT[:1]:
        straight = (0.0, -back * geometry.vehicle.length)
        arc_paths.append((straight,))
        for swing in SWING if leaving else ():
            arc_paths += [(straight, (bend / geometry.radius, -swing * geometry.radius)) for bend in (1.0, -1.0)]
    table = np.zeros((len(arc_paths), 2, 2))
    for row, arc_path in zip(table, arc_paths, strict=True):
        row[: len(arc_path)] = np.array(arc_path).reshape(-1, 2)
    return table, np.array([len(arc_path) for arc_path in arc_paths])
