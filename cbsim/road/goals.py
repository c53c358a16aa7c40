"""Expansion of goals of moving objects that name a lane, not a waypoint (docs/formats/objects.md D14)."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import Problem, Problems, Severity
from cbsim.geometry import elementary as math
from cbsim.geometry.geodesy import LocalPlane
from cbsim.road.address import Addresses, point_sets
from cbsim.spec.objects import Goal, TrafficObject
from cbsim.spec.road import PointId, Points, RoadNetwork

__all__ = ["LaneTable", "expand_goals"]


class LaneTable:
    """Waypoints of the lanes and spots of a network, by segment and number; of equal ids the first counts.

    Parameters
    ----------
    network : RoadNetwork
    """

    def __init__(self, network: RoadNetwork) -> None:
        self.network = network

    @cached_property
    def points(self) -> dict[tuple[int, int], Points]:
        """Waypoints in the order of travel."""
        found: dict[tuple[int, int], Points] = {}
        for key, points, _ in point_sets(self.network):
            if key[1] != 0:
                found.setdefault(key, points)
        return found

    @cached_property
    def addresses(self) -> Addresses:
        """Ids of lanes, for hints."""
        return Addresses(PointId(*key, 1) for key in self.points)


def expand_goals(
    item: TrafficObject,
    network: RoadNetwork,
    problems: Problems,
    start: PointId | None = None,
    station: float = 0.0,
    lanes: LaneTable | None = None,
) -> tuple[Goal, ...]:
    """Replace each goal without waypoint by waypoints, in the order of travel.

    If the object is on that lane already, they are the waypoints after the current one, to the end of the lane; else
    all waypoints of the lane. The current one is the previous goal, or the start position for the first goal, not the
    position at run time, so that a file has the same meaning in every run. Speed and pause apply to each.

    Goals that the reader has refused are omitted.

    Parameters
    ----------
    item : TrafficObject
        The object.
    network : RoadNetwork
        The lanes.
    problems : Problems
        Receives E661 for a lane that does not exist, W662 for a goal without waypoints; each once.
    start : PointId, optional
        Placement by a scenario, in place of the anchor.
    station : float
        Distance of the placement beyond the start along its lane [m]; waypoints before it are omitted.
    lanes : LaneTable, optional
        That of the network, for a caller with many objects.

    Returns
    -------
    tuple of Goal
        Each with a waypoint.
    """
    expanded: list[Goal] = []
    lanes = lanes or LaneTable(network)
    current = _passed(lanes, start, station) if start is not None else item.anchor
    for goal in item.goals:
        if goal.broken:  # refused by the reader; the current waypoint is unknown
            current = None
            continue
        more = [goal] if goal.waypoint is not None else _remaining(goal, current, lanes, problems)
        expanded += more
        if more:
            current = PointId(more[-1].segment, more[-1].lane, more[-1].waypoint or 0)
    return tuple(expanded)


def _remaining(goal: Goal, current: PointId | None, lanes: LaneTable, problems: Problems) -> list[Goal]:
    """Goals of all waypoints of a lane, or of those after the current one."""
    lane = (goal.segment, goal.lane)
    if lane not in lanes.points:
        near = lanes.addresses.nearest_lane(*lane)
        hint = f"did you mean '{near}'?" if near else ""
        message = f"the goal's lane '{goal.segment}.{goal.lane}' is not in network '{lanes.network.name}'"
        _add_once(problems, Problem(Severity.ERROR, "E661", message, goal.location, hint))
        return []
    numbers = lanes.points[lane].numbers
    if current is not None and (current.segment, current.lane) == lane and current.point in numbers:
        numbers = numbers[numbers.index(current.point) + 1 :]
        if not numbers:
            message = f"the goal on lane '{goal.segment}.{goal.lane}' adds nothing: '{current}' is the end of the lane"
            _add_once(problems, Problem(Severity.WARNING, "W662", message, goal.location))
    return [replace(goal, waypoint=number) for number in numbers]


def _passed(lanes: LaneTable, start: PointId, station: float) -> PointId:
    """Last waypoint up to a station beyond the start, along the chords of its lane; points of zones are never passed.

    A position exactly at a waypoint has reached it, as at the start itself.
    """
    points = lanes.points.get((start.segment, start.lane))
    row = None if points is None else points.index(start.point)
    if points is None or row is None or station <= 0.0:
        return start
    return start._replace(point=points.numbers[row + int(np.sum(_ways(points, row, lanes.network.metric) <= station))])


def _ways(points: Points, row: int, metric: bool) -> NDArray[np.float64]:
    """Length of the chords from a waypoint to each one after it, shape (n - row - 1,) [m]."""
    latitude, longitude = points.latitude[row:], points.longitude[row:]
    plane = LocalPlane(float(latitude[0]), float(longitude[0]), metric)
    return np.asarray(np.cumsum(math.hypot(*np.diff(plane.to_local(latitude, longitude), axis=0).T)))


def _add_once(problems: Problems, problem: Problem) -> None:
    """Add a problem that a linter may have added before."""
    if problem not in problems:
        problems.add(problem)
