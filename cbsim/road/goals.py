"""Expansion of goals of moving objects that name a lane, not a waypoint (docs/formats/objects.md D14)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import Problem, Problems, Severity
from cbsim.geometry import elementary as math
from cbsim.geometry.geodesy import LocalPlane
from cbsim.road.address import Addresses, point_sets
from cbsim.spec.objects import Goal, TrafficObject
from cbsim.spec.road import PointId, Points, RoadNetwork

__all__ = ["expand_goals"]


def expand_goals(
    item: TrafficObject,
    network: RoadNetwork,
    problems: Problems,
    start: PointId | None = None,
    station: float = 0.0,
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

    Returns
    -------
    tuple of Goal
        Each with a waypoint.
    """
    expanded: list[Goal] = []
    current = _passed(network, start, station) if start is not None else item.anchor
    for goal in item.goals:
        if goal.broken:  # refused by the reader; the current waypoint is unknown
            current = None
            continue
        more = [goal] if goal.waypoint is not None else _remaining(goal, current, network, problems)
        expanded += more
        if more:
            current = PointId(more[-1].segment, more[-1].lane, more[-1].waypoint or 0)
    return tuple(expanded)


def _remaining(goal: Goal, current: PointId | None, network: RoadNetwork, problems: Problems) -> list[Goal]:
    """Goals of all waypoints of a lane, or of those after the current one."""
    lane = (goal.segment, goal.lane)
    numbers = next((points.numbers for key, points, _ in point_sets(network) if key == lane and lane[1] != 0), None)
    if numbers is None:
        near = Addresses(PointId(*key, 1) for key, _, _ in point_sets(network) if key[1]).nearest_lane(*lane)
        hint = f"did you mean '{near}'?" if near else ""
        message = f"the goal's lane '{goal.segment}.{goal.lane}' is not in network '{network.name}'"
        _add_once(problems, Problem(Severity.ERROR, "E661", message, goal.location, hint))
        return []
    if current is not None and (current.segment, current.lane) == lane and current.point in numbers:
        numbers = numbers[numbers.index(current.point) + 1 :]
        if not numbers:
            message = f"the goal on lane '{goal.segment}.{goal.lane}' adds nothing: '{current}' is the end of the lane"
            _add_once(problems, Problem(Severity.WARNING, "W662", message, goal.location))
    return [replace(goal, waypoint=number) for number in numbers]


def _passed(network: RoadNetwork, start: PointId, station: float) -> PointId:
    """Last waypoint up to a station beyond the start, along the chords of its lane; points of zones are never passed.

    A position exactly at a waypoint has reached it, as at the start itself.
    """
    key = (start.segment, start.lane)
    points = next((points for other, points, _ in point_sets(network) if other == key and key[1] != 0), None)
    row = None if points is None else points.index(start.point)
    if points is None or row is None or station <= 0.0:
        return start
    return start._replace(point=points.numbers[row + int(np.sum(_ways(points, row, network.metric) <= station))])


def _ways(points: Points, row: int, metric: bool) -> NDArray[np.float64]:
    """Length of the chords from a waypoint to each one after it, shape (n - row - 1,) [m]."""
    latitude, longitude = points.latitude[row:], points.longitude[row:]
    plane = LocalPlane(float(latitude[0]), float(longitude[0]), metric)
    return np.asarray(np.cumsum(math.hypot(*np.diff(plane.to_local(latitude, longitude), axis=0).T)))


def _add_once(problems: Problems, problem: Problem) -> None:
    """Add a problem that a linter may have added before."""
    if problem not in list(problems):
        problems.add(problem)
