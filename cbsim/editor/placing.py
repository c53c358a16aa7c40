"""Where objects stand, and how to put one elsewhere: at a waypoint, along a lane and beside it, or anywhere."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cbsim.road.roadmap import RoadMap
from cbsim.spec.objects import TrafficObject, Triple
from cbsim.spec.road import PointId
from cbsim.units import DEGREE

__all__ = [
    "aligned", "angle_near", "frame_of", "moved", "nearest_point", "place_of", "said_place", "turned", "value_near",
]  # fmt: skip

Floats = NDArray[np.float64]

GRAIN = 0.01  # [m] of offsets that a mouse gives
ANGLE_GRAIN = 0.1  # [deg]
FAR = 60.0  # [m] from the nearest waypoint: an object put farther away keeps the one it has


def value_near(old: float, new: float, grain: float = GRAIN) -> float:
    """Round a number, or keep the old one, as its file wrote it, where that is as near as makes no difference."""
    return old if abs(new - old) < 0.5 * grain else round(round(new / grain) * grain, 9) + 0.0


def angle_near(old: float, new: float, grain: float = ANGLE_GRAIN) -> float:
    """Round an angle [rad] to a part of a degree in (-180°, 180°], or keep the old one where that is as near."""
    if abs(math.remainder(new - old, math.tau)) < 0.5 * grain * DEGREE:
        return old
    degrees = round(round(math.remainder(new, math.tau) / DEGREE / grain) * grain, 9)
    return (degrees + 0.0 if degrees > -180.0 else 180.0) * DEGREE


def frame_of(anchor: PointId | None, roadmap: RoadMap | None) -> tuple[Floats, float]:
    """Place (2,) [m] and heading [rad] that offsets are relative to; the map's where there is no such waypoint."""
    if anchor is None or roadmap is None or not roadmap.has(anchor):
        return np.zeros(2), 0.0
    return roadmap.position(anchor), roadmap.heading(anchor)


def place_of(item: TrafficObject, roadmap: RoadMap | None) -> tuple[Floats, float]:
    """Place (2,) [m] and heading [rad] of an object (D16, D18)."""
    spot, turn = frame_of(item.anchor, roadmap)
    return spot + _axes(turn).T @ np.array(item.position_offset[:2]), turn + item.orientation_offset.z


def _axes(turn: float) -> Floats:
    """Directions (2, 2) to the right of a heading and along it."""
    cos, sin = math.cos(turn), math.sin(turn)
    return np.array([(cos, sin), (-sin, cos)])


def turned(item: TrafficObject, roadmap: RoadMap | None, heading: float, grain: float = ANGLE_GRAIN) -> TrafficObject:
    """Turn an object to a heading [rad]."""
    _, turn = frame_of(item.anchor, roadmap)
    old = item.orientation_offset
    return replace(item, orientation_offset=old._replace(z=angle_near(old.z, heading - turn, grain)))


def aligned(item: TrafficObject, roadmap: RoadMap | None) -> TrafficObject:
    """Turn an object along the lane it stands on, else along that of the waypoint it hangs on."""
    if roadmap is None:
        return turned(item, None, 0.0)
    return turned(item, roadmap, _lane_heading(roadmap, place_of(item, roadmap)[0], item.anchor))


def moved(
    item: TrafficObject, roadmap: RoadMap | None, place: ArrayLike, *, snap: float = 0.0, free: bool = False
) -> TrafficObject:
    """Put an object at a place.

    On a lane it hangs on the last waypoint before it, or on one that it is put close to; in a zone on the nearest
    point of that zone; elsewhere on what it hung on. Its heading relative to the lane stays what it was.

    Parameters
    ----------
    item : TrafficObject
    roadmap : RoadMap or None
    place : array_like, shape (2,)
        [m]
    snap : float
        What is no farther from a waypoint, or from the middle of a lane, goes exactly there [m].
    free : bool
        Keep the waypoint it hangs on, and go exactly there.
    """
    where = np.asarray(place, float)
    if roadmap is None or free or not len(roadmap.positions):
        return _offset(item, roadmap, item.anchor, where, 0.0)
    before = _lane_heading(roadmap, place_of(item, roadmap)[0], item.anchor)
    row = int(np.argmin(np.hypot(*(roadmap.positions - where).T)))
    if math.dist(roadmap.positions[row], where) <= snap:
        spot = roadmap.ids[row]
        return _offset(item, roadmap, spot, roadmap.positions[row], roadmap.heading(spot) - before)
    match = roadmap.match(where[None])
    if match.lane[0] >= 0:
        return _on_lane(item, roadmap, int(match.lane[0]), where, float(match.station[0]), snap, before)
    zone = int(roadmap.zone_at(where[None])[0])
    anchor = item.anchor if zone < 0 else _nearest_in(roadmap, roadmap.network.zones[zone].number, where)
    if anchor is None and math.dist(roadmap.positions[row], where) <= FAR:
        anchor = roadmap.ids[row]
    change = 0.0 if anchor is None else roadmap.heading(anchor) - before if anchor != item.anchor else 0.0
    return _offset(item, roadmap, anchor, where, change)


def _on_lane(
    item: TrafficObject, roadmap: RoadMap, lane: int, where: Floats, station: float, snap: float, before: float
) -> TrafficObject:
    curve = roadmap.lanes[lane]
    first = int(roadmap.offsets[lane])
    behind = max(int(np.searchsorted(curve.waypoint_stations, station + 1e-6, side="right")) - 1, 0)
    middle, along = curve.at(station, 0.0)
    if math.dist(middle, where) <= 0.5 * snap:
        where = np.asarray(middle)
    return _offset(item, roadmap, roadmap.ids[first + behind], where, float(along) - before)


def _offset(
    item: TrafficObject, roadmap: RoadMap | None, anchor: PointId | None, where: Floats, change: float
) -> TrafficObject:
    """Hang an object on a waypoint, turned by a change of the lane's heading [rad]."""
    heading = place_of(item, roadmap)[1] + change
    spot, turn = frame_of(anchor, roadmap)
    x, y = (_axes(turn) @ (where - spot)).tolist()
    old, angles = item.position_offset, item.orientation_offset
    position = Triple(value_near(old.x, x), value_near(old.y, y), old.z)
    orientation = angles._replace(z=angle_near(angles.z, heading - turn))
    return replace(item, anchor=anchor, position_offset=position, orientation_offset=orientation)


def _lane_heading(roadmap: RoadMap, where: Floats, anchor: PointId | None) -> float:
    """Heading of the lane at a place, else of a waypoint [rad]."""
    match = roadmap.match(where[None])
    if match.lane[0] >= 0:
        return float(roadmap.lanes[int(match.lane[0])].at(float(match.station[0]), 0.0)[1])
    return frame_of(anchor, roadmap)[1]


def _nearest_in(roadmap: RoadMap, zone: int, where: Floats) -> PointId:
    rows = [row for row in range(int(roadmap.offsets[-1]), len(roadmap.ids)) if roadmap.ids[row][0] == zone]
    away = np.hypot(*(roadmap.positions[rows] - where).T)
    return roadmap.ids[rows[int(np.argmin(away))]]


def nearest_point(roadmap: RoadMap | None, place: ArrayLike, reach: float) -> PointId | None:
    """Find the waypoint, perimeter or spot point nearest to a place (2,); None where none is within reach [m]."""
    if roadmap is None or not len(roadmap.positions):
        return None
    away = np.hypot(*(roadmap.positions - np.asarray(place, float)).T)
    row = int(np.argmin(away))
    return roadmap.ids[row] if away[row] <= reach else None


def said_place(item: TrafficObject) -> str:
    """Say where an object stands: its waypoint and its offsets along the lane and to the right of it."""
    x, y, _ = item.position_offset
    if item.anchor is None:
        return f"map  x {x:.2f}  y {y:.2f} m"
    side = "" if abs(x) < 0.005 else f"  {abs(x):.2f} m {'right' if x > 0 else 'left'}"
    return f"{item.anchor}  {y:+.2f} m{side}" if side or abs(y) >= 0.005 else f"{item.anchor}"
