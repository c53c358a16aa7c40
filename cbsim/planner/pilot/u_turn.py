"""U-turns: in one sweep if the road is wide enough, else three-point turns within the roadway."""

from __future__ import annotations

import itertools

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.planner.pilot.arc_paths import ArcPath, Pose, dubins, sample, three_point
from cbsim.planner.pilot.vehicle_geometry import VehicleGeometry
from cbsim.road.curve import LaneCurve

__all__ = ["best_u_turn", "footprints"]

BEFORE = (-2.5, -1.0, 0.0, 1.5, 3.0, 5.0)  # [m] candidate starts, past the end of the lane
AFTER = (-6.0, -4.5, -3.0, -1.5, 0.0, 1.5, 3.0)  # [m] candidate ends, past the start of the other lane
ROADWAY = 12.0  # [m] of road on either side of the ends of the lanes that a turn may use
GEAR_CHANGE = 4.0  # [m] cost of a gear change
OFF_ROAD = 40.0  # [m] cost of each metre off the roadway
REACH = 15.0  # [m] distance from the ends of the lanes that a turn must keep within


def footprints(geometry: VehicleGeometry, points: Floats, headings: Floats) -> Floats:
    """Corners of the body at poses of its control point, shape (m, 4, 2) [m]."""
    ahead = np.stack([-math.sin(headings), math.cos(headings)], axis=-1)[:, None, :]
    left = np.stack([-math.cos(headings), -math.sin(headings)], axis=-1)[:, None, :]
    half = 0.5 * geometry.vehicle.width
    along = np.array([geometry.nose, geometry.nose, -geometry.tail, -geometry.tail])[:, None]
    aside = np.array([half, -half, -half, half])[:, None]
    return np.asarray(points[:, None, :] + along * ahead + aside * left)


def best_u_turn(
    lanes: tuple[LaneCurve, LaneCurve],
    stations: tuple[float, float],
    geometry: VehicleGeometry,
    to_entry: bool,
    room: float,
) -> tuple[float, float, ArcPath] | None:
    """Find the best U-turn from a place on one lane to a place on another.

    Parameters
    ----------
    lanes : pair of LaneCurve
        Lane of departure and lane of entry.
    stations : pair of float
        Stations of the exit and of the entry point [m].
    geometry : VehicleGeometry
    to_entry : bool
        Whether the front bumper must cross the entry point in the direction of the lane, as for a checkpoint.
    room : float
        Greatest distance before the exit point at which the turn may begin [m].

    Returns
    -------
    (before, after, arc_path) or None
        Begin and end of the arc path, as distances past the exit and past the entry point [m]; None if there is none.
    """
    hull = _roadway(lanes, stations)
    ends = np.array([lane.at(station)[0] for lane, station in zip(lanes, stations, strict=True)])
    best: tuple[float, float, float, ArcPath] | None = None
    for before, after in itertools.product(BEFORE, AFTER):
        if -before > room or (to_entry and after > -geometry.nose):
            continue
        start, goal = _pose(lanes[0], stations[0] + before), _pose(lanes[1], stations[1] + after)
        for arc_path in itertools.chain(
            dubins(start, goal, geometry.radius), three_point(start, goal, geometry.radius)
        ):
            length = math.fsum(abs(part) for _, part in arc_path)
            if length > 40.0:
                continue
            corners = _corners(geometry, start, arc_path)
            off = _outside(hull, corners)
            far = float(math.hypot(*(corners[:, None, :] - ends).transpose(2, 0, 1)).min(axis=1).max()) - REACH
            changes = sum(part < 0.0 for _, part in arc_path)
            cost = length + abs(before) + abs(after) + GEAR_CHANGE * changes + OFF_ROAD * (off + max(far, 0.0))
            if best is None or cost < best[0] - 1e-9:
                best = cost, before, after, arc_path
    return None if best is None else best[1:]


def _pose(lane: LaneCurve, station: float) -> Pose:
    position, heading = lane.at(station)
    return float(position[0]), float(position[1]), float(heading)


def _corners(geometry: VehicleGeometry, start: Pose, arc_path: ArcPath) -> Floats:
    runs = sample(start, arc_path)
    points, headings = (np.concatenate([run[k] for run in runs]) for k in (0, 1))
    return footprints(geometry, points, headings).reshape(-1, 2)


def _roadway(lanes: tuple[LaneCurve, LaneCurve], stations: tuple[float, float]) -> Floats:
    """Corners of the road around a U-turn, counter-clockwise, shape (k, 2) [m]: hull of both lanes."""
    import shapely

    points = [
        lane.at(np.linspace(-ROADWAY, ROADWAY, 9) + station, side * 0.5 * lane.width)[0]
        for lane, station in zip(lanes, stations, strict=True)
        for side in (-1.0, 1.0)
    ]
    hull = shapely.MultiPoint(np.concatenate(points)).convex_hull
    return np.asarray(shapely.get_coordinates(shapely.orient_polygons(hull)))


def _outside(hull: Floats, corners: Floats) -> float:
    """Greatest distance of a corner outside a convex area [m]; 0 if none is outside."""
    edge = np.diff(hull, axis=0)
    normal = np.stack([edge[:, 1], -edge[:, 0]], axis=1) / np.maximum(math.hypot(*edge.T), 1e-9)[:, None]
    depth = ((corners[:, None, :] - hull[None, :-1, :]) * normal).sum(axis=2)
    return max(0.0, float(depth.max()) if math.isfinite(float(depth.sum())) else math.inf)
