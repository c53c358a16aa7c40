"""Right of way worked out again, from waypoints and chords alone, and swept areas by points scattered in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cbsim.road.lanelets import Lanelets
from cbsim.road.roadmap import RoadMap
from cbsim.spec.road import PointId

UNSURE = np.radians(12.0)  # angles so near to a threshold are left to the engine


@dataclass(frozen=True)
class Movement:
    """A way through a junction as its waypoints tell it."""

    source: PointId
    target: PointId
    approach: float  # direction of the last chord before it [rad], counter-clockwise from north
    turn: float  # change of direction to the first chord behind it [rad]
    own_lane: bool
    stops: bool
    behind_exits: bool  # all ways to its source come from a stop line, which may be near enough to count


def movement(roadmap: RoadMap, name: str) -> Movement:
    """Read a lanelet's name, and look only at the waypoints around its ends."""
    source, target = (PointId(*map(int, point.split("."))) for point in name.split("-"))
    into = _chord(roadmap, source, -1, target)
    out = _chord(roadmap, target, 1, source)
    stops = {stop.point for lane in roadmap.network.lanes for stop in lane.stops}
    own = source[:2] == target[:2] and (source.point < target.point or roadmap.lane(*source[:2]).closed)
    came = [way.source for way in roadmap.exits if way.target == source]
    behind = bool(came) and source.point == 1 and all(point in stops for point in came)  # at the start of a lane
    return Movement(source, target, into, _wrap(out - into), own, source in stops, behind)


def _chord(roadmap: RoadMap, point: PointId, side: int, partner: PointId) -> float:
    """Direction of travel on the chord before (side −1) or behind (side 1) a waypoint."""
    lane = roadmap.lane(*point[:2])
    at = lane.numbers.index(point.point)
    other = at + side
    if not 0 <= other < len(lane.numbers):
        ends = (roadmap.position(point), roadmap.position(partner))
    else:
        ends = (lane.points[at], lane.points[other])
    along = side * (ends[1] - ends[0])
    return float(np.arctan2(-along[0], along[1]))


def _wrap(angle: float) -> float:
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)


def yields(one: Movement, other: Movement) -> tuple[str, bool] | None:
    """Tell by which rule, and whether the one yields to the other; None where the chords leave it open.

    Rule (c) is left out: the movements given are neither U-turns nor mouths of zones.
    """
    if one.behind_exits or other.behind_exits:
        return None
    if one.stops != other.stops:
        return "STOP", one.stops
    if not one.stops and one.own_lane != other.own_lane:
        return "LANE", other.own_lane
    found = _by_geometry(one, other)
    return found and ("ARRIVAL" if one.stops else found[0], found[1])


def _by_geometry(one: Movement, other: Movement) -> tuple[str, bool] | None:
    turned = _wrap(other.approach - one.approach)
    unsure = any(abs(abs(turned) - np.radians(limit)) < UNSURE for limit in (45.0, 135.0))
    if unsure or abs(turned) < np.radians(45.0):
        return None  # side by side, who is farther right goes first: chords do not tell
    if abs(turned) < np.radians(135.0):
        return "RIGHT", turned > 0.0
    left = [not way.own_lane and way.turn > np.radians(30.0) for way in (one, other)]
    return ("LEFT_TURN", left[0]) if left[0] != left[1] else None


def swept_overlap(lanelets: Lanelets, one: int, other: int, widths: np.ndarray) -> tuple[float, float] | None:
    """First and last station of the one at which a point scattered in its swept area lies in that of the other."""
    stations, points = _scatter(lanelets, one, 0.5 * widths[one])
    found = stations[_within(lanelets, other, points, widths)]
    return (float(found.min()), float(found.max())) if len(found) else None


def _scatter(lanelets: Lanelets, row: int, half: float) -> tuple[np.ndarray, np.ndarray]:
    """Stations (p,) and places (p, 2) of points across a lanelet every 0.4 m."""
    line = lanelets[row]
    first = min(0.05, 0.5 * line.length)  # from the ends, at which lanelets touch that follow each other
    stations = np.linspace(first, line.length - first, max(2, int(line.length / 0.4)))
    centre = np.stack([np.interp(stations, line.stations, line.samples[:, axis]) for axis in (0, 1)], axis=1)
    turn = np.interp(stations, line.stations, line.headings)
    left = np.stack([-np.cos(turn), -np.sin(turn)], axis=1)
    sides = np.linspace(-half, half, 9)
    points = centre[:, None] + sides[:, None] * left[:, None]
    return np.repeat(stations, len(sides)), points.reshape(-1, 2)


def _within(lanelets: Lanelets, row: int, points: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Tell which points lie in a quadrangle between two samples, 5 cm inside of the swept width."""
    line = lanelets[row]
    low, high = (line.samples.min(axis=0) - 2.0, line.samples.max(axis=0) + 2.0)
    found = np.all((points > low) & (points < high), axis=1)
    aside = (0.5 * widths[row] - 0.05) * np.stack([-np.cos(line.headings), -np.sin(line.headings)], axis=1)
    left, right = line.samples + aside, line.samples - aside
    corners = [right[:-1], right[1:], left[1:], left[:-1]]  # counter-clockwise
    inside = np.ones((int(found.sum()), len(line.samples) - 1), bool)
    for here, there in zip(corners, corners[1:] + corners[:1], strict=True):
        along = there - here
        most = here[:, 0] * along[:, 1] - here[:, 1] * along[:, 0]
        inside &= points[found] @ np.stack([-along[:, 1], along[:, 0]]) + most >= 0.0
    found[found] = inside.any(axis=1)
    return found
