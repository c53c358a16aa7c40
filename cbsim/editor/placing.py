"""Where objects stand, and how to put one elsewhere: at a waypoint, along a lane and beside it, or anywhere."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cbsim.road.roadmap import RoadMap
from cbsim.spec.objects import Kind, TrafficObject, Triple
from cbsim.spec.road import PointId
from cbsim.units import DEGREE

__all__ = [
    "aligned", "angle_near", "frame_of", "grain_of", "moved", "nearest_point", "place_of", "said_place", "turned",
    "value_near",
]  # fmt: skip

Floats = NDArray[np.float64]

GRAIN = 0.01  # [m] of offsets that a mouse gives
GRAINS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)  # [m] of what a mouse gives in a picture of some scale
LINE = 0.3  # share of the reach of a waypoint by which lines along a lane draw
AROUND = 16  # places around one off the road at which lanes are looked for
ANGLE_GRAIN = 0.1  # [deg]
FAR = 60.0  # [m] from the nearest waypoint: an object put farther away keeps the one it has


def value_near(old: float, new: float, grain: float = GRAIN) -> float:
    """Round a number, or keep the old one, as its file wrote it, where that is as near as makes no difference."""
    return old if abs(new - old) < 0.5 * grain else round(round(new / grain) * grain, 9) + 0.0


def grain_of(snap: float) -> float:
    """Choose the step of lengths that a mouse gives [m]: some three pixels, where waypoints draw by so much [m]."""
    return max((grain for grain in GRAINS if grain <= 0.25 * snap), default=GRAIN)


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
    point of that zone; elsewhere on what it hung on. Its heading relative to the lane stays what it was. Along a lane
    it goes by whole steps from its waypoint; across it to the middle, to an edge, to where its side touches an edge
    from within or from outside, or else by whole steps.

    Parameters
    ----------
    item : TrafficObject
    roadmap : RoadMap or None
    place : array_like, shape (2,)
        [m]
    snap : float
        What is no farther from a waypoint goes exactly there; lines along a lane draw less far [m].
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
    """Find the lane that a place (2,) is on, or so close to that a line beside it draws an object; -1 for none.

    Returns
    -------
    tuple of (int, float, float)
        The lane, the station and the distance to the left of its middle [m].
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
    """Put an object at a station of a lane and beside its middle [m], or where something near there draws it."""
    curve, first, grain = roadmap.lanes[lane], int(roadmap.offsets[lane]), grain_of(snap)
    behind = max(int(np.searchsorted(curve.waypoint_stations, station + 1e-6, side="right")) - 1, 0)
    begin = float(curve.waypoint_stations[behind])
    line = _nearest_line(item, curve.width, aside, LINE * snap)
    if grain > GRAIN:  # without it, the file's own grain is enough
        station = begin + round((station - begin) / grain) * grain
        aside = round(aside / grain) * grain if line is None else line
    where, along = curve.at(station, aside)
    return _offset(item, roadmap, roadmap.ids[first + behind], where, float(along) - before)


def _nearest_line(item: TrafficObject, width: float, aside: float, reach: float) -> float | None:
    """Find a line along a lane that draws an object so far beside its middle [m]; None where none is within reach.

    Lines are the middle, both edges, and where a side of the object touches an edge from within or from outside.
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
    """Hang an object on a waypoint by whole grains [m], turned by a change of the lane's heading [rad]."""
    heading = place_of(item, roadmap)[1] + change
    spot, turn = frame_of(anchor, roadmap)
    x, y = (_axes(turn) @ (where - spot)).tolist()
    old, angles = item.position_offset, item.orientation_offset
    position = Triple(value_near(old.x, x, grain), value_near(old.y, y, grain), old.z)
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
