"""Restarts of a mission: where a vehicle begins anew when no way leads from one checkpoint to the next."""

from __future__ import annotations

from typing import NamedTuple

from cbsim.road.roadmap import RoadMap
from cbsim.road.route import Leg, Route, mission_legs, route
from cbsim.spec.mission import Mission
from cbsim.spec.road import PointId

__all__ = ["Restart", "restarts_of", "width_at"]

SPOT_WIDTH = 3.6576  # [m] 12 ft, of spots without a width


class Restart(NamedTuple):
    """A leg of a mission that begins anew.

    Attributes
    ----------
    leg : int
        Its number in the mission, from 0; checkpoint `leg` ends what came before.
    start : PointId
        The first waypoint of the lane of the next checkpoint.
    route : Route or None
        From there to the checkpoint; None where it is the same point.
    """

    leg: int
    start: PointId
    route: Route | None


def restarts_of(roadmap: RoadMap, mission: Mission) -> list[Restart]:
    """Legs of a mission to which no way leads, but whose checkpoint is on a lane."""
    legs = enumerate(mission_legs(roadmap, mission))
    return [found for number, leg in legs if (found := _restart(roadmap, number, leg)) is not None]


def _restart(roadmap: RoadMap, number: int, leg: Leg) -> Restart | None:
    if leg.route is not None or leg.start is None or leg.goal is None:
        return None
    lane = int(roadmap.lane_of_row[roadmap.row(leg.goal)])
    if lane < 0:
        return None
    start = roadmap.ids[int(roadmap.offsets[lane])]
    return Restart(number, start, None if start == leg.goal else route(roadmap, start, leg.goal))


def width_at(roadmap: RoadMap, point: PointId) -> float:
    """Width of the lane or the spot of a checkpoint [m]."""
    lane = int(roadmap.lane_of_row[roadmap.rows[point]])
    if lane >= 0:
        return float(roadmap.lanes[lane].width)
    spots = (spot for zone in roadmap.network.zones for spot in zone.spots)
    width = next((spot.width for spot in spots if (spot.zone, spot.number) == point[:2]), None)
    return width or SPOT_WIDTH
