"""Arrival times of literal traffic: t = initial pause + Σ (dᵢ / vᵢ + pauseᵢ), on straight chords between waypoints."""

from __future__ import annotations

import math
from typing import NamedTuple

from cbsim.errors import Problems
from cbsim.road.goals import expand_goals
from cbsim.road.roadmap import RoadMap
from cbsim.spec.objects import TrafficObject
from cbsim.spec.road import PointId

__all__ = ["Arrival", "schedule"]


class Arrival(NamedTuple):
    """An object at a goal: where, when [s], how far it has driven [m], and how fast it came [m/s]."""

    waypoint: PointId
    time: float
    distance: float
    speed: float


def schedule(item: TrafficObject, roadmap: RoadMap) -> list[Arrival]:
    """List the arrivals of an object at its goals, open goals expanded.

    Parameters
    ----------
    item : TrafficObject
        Anchored, without offsets.
    roadmap : RoadMap
        The network in its plane.

    Returns
    -------
    list of Arrival
        In order; it ends before a goal with speed 0. Times are those before the pause at the goal.
    """
    if item.anchor is None or not roadmap.has(item.anchor):
        return []
    here, time, distance = roadmap.position(item.anchor), item.initial_pause, 0.0
    arrivals = []
    for goal in expand_goals(item, roadmap.network, Problems()):
        waypoint = PointId(goal.segment, goal.lane, goal.waypoint or 0)
        if not roadmap.has(waypoint):
            continue
        there = roadmap.position(waypoint)
        gap = math.hypot(*(there - here))
        if goal.speed <= 0.0 < gap:
            break
        time += gap / goal.speed if gap else 0.0
        distance += gap
        arrivals.append(Arrival(waypoint, time, distance, goal.speed))
        here, time = there, time + goal.pause
    return arrivals
