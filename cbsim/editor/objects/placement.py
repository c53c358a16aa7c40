"""Placement of objects: at waypoints, along and across lanes, or anywhere."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.road.roadmap import RoadMap
from cbsim.spec.objects import Kind, TrafficObject, Triple
from cbsim.spec.road import PointId
from cbsim.units import DEGREE

__all__ = [
    "aligned", "angle_near", "frame_of", "grain_of", "moved", "nearest_point", "place_of", "said_place", "turned",
    "value_near",
]  # fmt: skip

GRAIN = 0.01  # [m] resolution of offsets
GRAINS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)  # [m] resolutions of mouse input at different scales
LINE = 0.3  # snap distance of lines along a lane, relative to that of waypoints
AROUND = 16  # positions sampled around one off the road to find lanes
ANGLE_GRAIN = 0.1  # [deg]
FAR = 60.0  # [m] an object farther from any waypoint keeps its anchor


def value_near(old: float, new: float, grain: float = GRAIN) -> float:
    """Round a number, or keep the old one exactly as written if it differs by less than half the resolution."""
    return old if abs(new - old) < 0.5 * grain else round(round(new / grain) * grain, 9) + 0.0


def grain_of(snap: float) -> float:
    """Choose the resolution of mouse input [m] for a snap distance [m]: about three pixels."""
    return max((grain for grain in GRAINS if grain <= 0.25 * snap), default=GRAIN)


def angle_near(old: float, new: float, grain: float = ANGLE_GRAIN) -> float:
    """Round an angle [rad] to a fraction of a degree in (-180°, 180°], or keep the old one if it is as close."""
    if abs(math.remainder(new - old, math.tau)) < 0.5 * grain * DEGREE:
        return old
    degrees = round(round(math.remainder(new, math.tau) / DEGREE / grain) * grain, 9)
    return (degrees + 0.0 if degrees > -180.0 else 180.0) * DEGREE


def frame_of(anchor: PointId | None, roadmap: RoadMap | None) -> tuple[Floats, float]:
    """Position (2,) [m] and heading [rad] of the frame of offsets; that of the map without a valid anchor."""
    if anchor is None or roadmap is None or not roadmap.has(anchor):
        return np.zeros(2), 0.0
    return roadmap.position(anchor), roadmap.heading(anchor)


def place_of(item: TrafficObject, roadmap: RoadMap | None) -> tuple[Floats, float]:
    """Position (2,) [m] and heading [rad] of an object (D16, D18)."""
    spot, turn = frame_of(item.anchor, roadmap)
    return spot + _axes(turn).T @ np.array(item.position_offset[:2]), turn + item.orientation_offset.z


def _axes(turn: float) -> Floats:
    """Return unit vectors (2, 2) to the right of a heading and along it."""
    cos, sin = math.cos(turn), math.sin(turn)
    return np.array([(cos, sin), (-sin, cos)])


def turned(item: TrafficObject, roadmap: RoadMap | None, heading: float, grain: float = ANGLE_GRAIN) -> TrafficObject:
    """Turn an object to a heading [rad]."""
    _, turn = frame_of(item.anchor, roadmap)
    old = item.orientation_offset
    return replace(item, orientation_offset=old._replace(z=angle_near(old.z, heading - turn, grain)))


def aligned(item: TrafficObject, roadmap: RoadMap | None) -> TrafficObject:
    """Align an object with the lane it is on, else with that of its anchor."""
    if roadmap is None:
        return turned(item, None, 0.0)
    return turned(item, roadmap, _lane_heading(roadmap, place_of(item, roadmap)[0], item.anchor))


def moved(
    item: TrafficObject, roadmap: RoadMap | None, place: ArrayLike, *, snap: float = 0.0, free: bool = False
) -> TrafficObject:
    """Move an object to a position.

    On a lane it is anchored to the preceding waypoint, or to a nearby one; in a zone to the nearest point of that zone;
    elsewhere it keeps its anchor. Its heading relative to the lane is preserved. Along the lane its distance from the
    waypoint is rounded. Across the lane it snaps to the centre, to an edge, or to where its side touches an edge from
    either side; otherwise its offset is rounded.

    Parameters
    ----------
    item : TrafficObject
    roadmap : RoadMap or None
    place : array_like, shape (2,)
        [m]
    snap : float
        Snap distance of waypoints [m]; lines along a lane snap at a fraction of it.
    free : bool
        Keep the anchor, and move exactly to the position.
    """
    where = np.asarray(place, float)
    if roadmap is None or free or not len(roadmap.positions):
        return _offset(item, roadmap, item.anchor, where, 0.0)
    before = _lane_heading(roadmap, place_of(item, roadmap)[0], item.anchor)
    row = int(np.argmin(np.hypot(*(roadmap.positions - where).T)))
    if math.dist(roadmap.positions[row], where) <= snap:
        spot = roadmap.ids[row]
        return _offset(item, roadmap, spot, roadmap.positions[row], roadmap.heading(spot) - before)
    lane, station, aside = _lane_at(item, roadmap, where, snap)
    if lane >= 0:
        return _on_lane(item, roadmap, lane, station, aside, snap, before)
    zone = int(roadmap.zone_at(where[None])[0])
    anchor = item.anchor if zone < 0 else _nearest_in(roadmap, roadmap.network.zones[zone].number, where)
    if anchor is None and math.dist(roadmap.positions[row], where) <= FAR:
        anchor = roadmap.ids[row]
    change = 0.0 if anchor is None else roadmap.heading(anchor) - before if anchor != item.anchor else 0.0
    return _offset(item, roadmap, anchor, where, change, grain_of(snap))


def _lane_at(item: TrafficObject, roadmap: RoadMap, where: Floats, snap: float) -> tuple[int, float, float]:
    """Find the lane at a position (2,), or one close enough to snap to; -1 for none.

    Returns
    -------
    tuple of (int, float, float)
        Lane, station, and offset to the left of its centre [m].
    """
    reach = LINE * snap
    around = np.linspace(0.0, math.tau, AROUND, endpoint=False)
    circle = np.stack([np.cos(around), np.sin(around)], axis=1)
    near = where + (reach + 0.5 * item.size.x) * circle
    match = roadmap.match(np.concatenate([where[None], near] if reach > 0.0 else [where[None]]))
    if match.lane[0] >= 0:
        return int(match.lane[0]), float(match.station[0]), float(match.offset[0])
    for row in np.flatnonzero(match.lane >= 0):
        curve = roadmap.lanes[int(match.lane[row])]
        heading = float(curve.at(float(match.station[row]), 0.0)[1])
        right, ahead = (_axes(heading) @ (where - near[row - 1])).tolist()
        station, aside = float(match.station[row]) + ahead, float(match.offset[row]) - right
        if 0.0 <= station <= curve.length and _nearest_line(item, curve.width, aside, reach) is not None:
            return int(match.lane[row]), station, aside
    return -1, 0.0, 0.0


def _on_lane(
    item: TrafficObject, roadmap: RoadMap, lane: int, station: float, aside: float, snap: float, before: float
) -> TrafficObject:
    """Place an object at a station and lateral offset of a lane [m], with snapping."""
    curve, first, grain = roadmap.lanes[lane], int(roadmap.offsets[lane]), grain_of(snap)
    behind = max(int(np.searchsorted(curve.waypoint_stations, station + 1e-6, side="right")) - 1, 0)
    begin = float(curve.waypoint_stations[behind])
    line = _nearest_line(item, curve.width, aside, LINE * snap)
    if grain > GRAIN:  # otherwise the default resolution applies
        station = begin + round((station - begin) / grain) * grain
        aside = round(aside / grain) * grain if line is None else line
    where, along = curve.at(station, aside)
    return _offset(item, roadmap, roadmap.ids[first + behind], where, float(along) - before)


def _nearest_line(item: TrafficObject, width: float, aside: float, reach: float) -> float | None:
    """Return the snap line nearest to a lateral offset [m], or None beyond the snap distance.

    Snap lines are the centre, both edges, and the offsets at which a side of the object touches an edge.
    """
    half, own = 0.5 * width, 0.5 * item.size.x
    lines = [0.0, half, -half]
    if item.kind is not Kind.MESH:
        lines += [side * (half + own) for side in (1.0, -1.0)]
        lines += [side * (half - own) for side in (1.0, -1.0) if half > own]
    line = min(lines, key=lambda one: abs(one - aside))
    return line if abs(line - aside) <= reach else None


def _offset(
    item: TrafficObject,
    roadmap: RoadMap | None,
    anchor: PointId | None,
    where: Floats,
    change: float,
    grain: float = GRAIN,
) -> TrafficObject:
    """Anchor an object to a waypoint with rounded offsets [m], turned by the change of the lane's heading [rad]."""
    heading = place_of(item, roadmap)[1] + change
    spot, turn = frame_of(anchor, roadmap)
    x, y = (_axes(turn) @ (where - spot)).tolist()
    old, angles = item.position_offset, item.orientation_offset
    position = Triple(value_near(old.x, x, grain), value_near(old.y, y, grain), old.z)
    orientation = angles._replace(z=angle_near(angles.z, heading - turn))
    return replace(item, anchor=anchor, position_offset=position, orientation_offset=orientation)


def _lane_heading(roadmap: RoadMap, where: Floats, anchor: PointId | None) -> float:
    """Heading of the lane at a position, else of a waypoint [rad]."""
    match = roadmap.match(where[None])
    if match.lane[0] >= 0:
        return float(roadmap.lanes[int(match.lane[0])].at(float(match.station[0]), 0.0)[1])
    return frame_of(anchor, roadmap)[1]


def _nearest_in(roadmap: RoadMap, zone: int, where: Floats) -> PointId:
    rows = [row for row in range(int(roadmap.offsets[-1]), len(roadmap.ids)) if roadmap.ids[row][0] == zone]
    away = np.hypot(*(roadmap.positions[rows] - where).T)
    return roadmap.ids[rows[int(np.argmin(away))]]


def nearest_point(roadmap: RoadMap | None, place: ArrayLike, reach: float) -> PointId | None:
    """Return the waypoint, perimeter or spot point nearest to a position (2,), or None beyond a distance [m]."""
    if roadmap is None or not len(roadmap.positions):
        return None
    away = np.hypot(*(roadmap.positions - np.asarray(place, float)).T)
    row = int(np.argmin(away))
    return roadmap.ids[row] if away[row] <= reach else None


def said_place(item: TrafficObject) -> str:
    """Describe an object's position: its anchor and offsets along and across the lane."""
    x, y, _ = item.position_offset
    if item.anchor is None:
        return f"map  x {x:.2f}  y {y:.2f} m"
    side = "" if abs(x) < 0.005 else f"  {abs(x):.2f} m {'right' if x > 0 else 'left'}"
    return f"{item.anchor}  {y:+.2f} m{side}" if side or abs(y) >= 0.005 else f"{item.anchor}"
