"""U-turns: in one sweep where the road is wide enough, else in three points within the roadway."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from cbsim.planner.pilot.moves import Pose, Word, dubins, sample, three_point
from cbsim.planner.pilot.rig import Rig
from cbsim.road.curve import LaneCurve

__all__ = ["footprints", "turn_round"]

Floats = NDArray[np.float64]

BEFORE = (-2.5, -1.0, 0.0, 1.5, 3.0, 5.0)  # [m] past the end of the lane at which a turn begins
AFTER = (-6.0, -4.5, -3.0, -1.5, 0.0, 1.5, 3.0)  # [m] past the start of the other lane at which it is over
ROADWAY = 12.0  # [m] of road, either way from the ends of the lanes, that a turn may use
GEAR_CHANGE = 4.0  # [m] of way that one is worth
OFF_ROAD = 40.0  # [m] of way that each metre off the roadway is worth
REACH = 15.0  # [m] from the ends of the lanes that a turn must keep within


def footprints(rig: Rig, points: Floats, headings: Floats) -> Floats:
    """Corners of the body at poses of the point that follows the path, shape (m, 4, 2) [m]."""
    ahead = np.stack([-np.sin(headings), np.cos(headings)], axis=-1)[:, None, :]
    left = np.stack([-np.cos(headings), -np.sin(headings)], axis=-1)[:, None, :]
    half = 0.5 * rig.vehicle.width
    along = np.array([rig.nose, rig.nose, -rig.tail, -rig.tail])[:, None]
    aside = np.array([half, -half, -half, half])[:, None]
    return np.asarray(points[:, None, :] + along * ahead + aside * left)


def turn_round(
    lanes: tuple[LaneCurve, LaneCurve], stations: tuple[float, float], rig: Rig, to_entry: bool, room: float
) -> tuple[float, float, Word] | None:
    """Find the best U-turn from a place on one lane to a place on another.

    Parameters
    ----------
    lanes : pair of LaneCurve
        Out of which, and into which.
    stations : pair of float
        Where the network lets one leave and enter [m].
    rig : Rig
    to_entry : bool
        The front bumper must cross the place of entry in the direction of the lane: it is a checkpoint.
    room : float
        How far before the first place it may begin [m].

    Returns
    -------
    (before, after, word) or None
        How far past the first place the word begins, and past the second it ends [m]; None if there is none.
    """
    hull = _roadway(lanes, stations)
    ends = np.array([lane.at(station)[0] for lane, station in zip(lanes, stations, strict=True)])
    best: tuple[float, float, float, Word] | None = None
    for before, after in itertools.product(BEFORE, AFTER):
        if -before > room or (to_entry and after > -rig.nose):
            continue
        start, goal = _pose(lanes[0], stations[0] + before), _pose(lanes[1], stations[1] + after)
        for word in itertools.chain(dubins(start, goal, rig.radius), three_point(start, goal, rig.radius)):
            length = sum(abs(part) for _, part in word)
            if length > 40.0:
                continue
            corners = _corners(rig, start, word)
            off = _outside(hull, corners)
            far = float(np.hypot(*(corners[:, None, :] - ends).transpose(2, 0, 1)).min(axis=1).max()) - REACH
            changes = sum(part < 0.0 for _, part in word)
            cost = length + abs(before) + abs(after) + GEAR_CHANGE * changes + OFF_ROAD * (off + max(far, 0.0))
            if best is None or cost < best[0] - 1e-9:
                best = cost, before, after, word
    return None if best is None else best[1:]


def _pose(lane: LaneCurve, station: float) -> Pose:
    position, heading = lane.at(station)
    return float(position[0]), float(position[1]), float(heading)


def _corners(rig: Rig, start: Pose, word: Word) -> Floats:
    runs = sample(start, word)
    points, headings = (np.concatenate([run[k] for run in runs]) for k in (0, 1))
    return footprints(rig, points, headings).reshape(-1, 2)


def _roadway(lanes: tuple[LaneCurve, LaneCurve], stations: tuple[float, float]) -> Floats:
    """Corners of the road around a U-turn, counter-clockwise, shape (k, 2) [m]: both lanes and what lies between."""
    import shapely

    points = [
        lane.at(np.linspace(-ROADWAY, ROADWAY, 9) + station, side * 0.5 * lane.width)[0]
        for lane, station in zip(lanes, stations, strict=True)
        for side in (-1.0, 1.0)
    ]
    hull = shapely.MultiPoint(np.concatenate(points)).convex_hull
    return np.asarray(shapely.get_coordinates(shapely.orient_polygons(hull)))


def _outside(hull: Floats, corners: Floats) -> float:
    """How far the farthest corner is outside a convex area [m]; 0 if none is."""
    edge = np.diff(hull, axis=0)
    normal = np.stack([edge[:, 1], -edge[:, 0]], axis=1) / np.maximum(np.hypot(*edge.T), 1e-9)[:, None]
    depth = ((corners[:, None, :] - hull[None, :-1, :]) * normal).sum(axis=2)
    return max(0.0, float(depth.max()) if math.isfinite(float(depth.sum())) else math.inf)
