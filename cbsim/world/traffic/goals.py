"""Goals of reactive objects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.geometry import elementary as math
from cbsim.spec.objects import Goal
from cbsim.spec.road import PointId
from cbsim.world.traffic.destinations import Destinations, ReactiveObject, located
from cbsim.world.traffic.network import RoadTables
from cbsim.world.traffic.spread import CarStarts
from cbsim.world.traffic.zones.layout import ZoneLayout

__all__ = ["goals_of"]

AT_GOAL = 1.0  # [m] from a waypoint at which an object is there already


def goals_of(
    objects: Sequence[ReactiveObject],
    standing: CarStarts,
    tables: RoadTables,
    ways: Destinations,
    layout: ZoneLayout,
) -> tuple[Floats, Ints, list[int]]:
    """Rows of `Road.goals`, the first and last of each object, and who waits first: it has a goal where it stands."""
    table, rows, waiting = list[tuple[float, float]](), list[tuple[int, int]](), list[int]()
    places = zip(standing.lanelets.tolist(), standing.stations.tolist(), strict=True)
    for car, (one, (start, station)) in enumerate(zip(objects, places, strict=True)):
        lanelet = start
        first, pause, goals = len(table), one.initial_pause, list(one.goals)
        while goals and _stands_at(one, goals[0], tables):
            pause += goals.pop(0).pause
        if start < 0:  # it stands in a spot
            table.append((-1.0, pause))
            lanelet, pause = layout.first_exit(one.position), 0.0
        if pause > 0.0:
            table.append((float(ways.row((lanelet, station + float(one.size[1])))), pause))
            waiting.append(car)
        for goal in goals:
            if one.vehicle < 0 and layout.has(_point(goal)):
                row = layout.destination(one.name, _point(goal), lanelet, goal.location)
            else:
                place = located(one.name, _point(goal), tables, goal.location, leaving=False)
                row, lanelet = ways.row(place), place[0]
            table.append((float(row), float(goal.pause)))
        rows.append((first, len(table) - 1) if len(table) > first else (-1, -1))
    return np.array(table, float).reshape(-1, 2), np.array(rows, np.int64).reshape(-1, 2), waiting


def _point(goal: Goal) -> PointId:
    return PointId(goal.segment, goal.lane, goal.waypoint or 0)


def _stands_at(one: ReactiveObject, goal: Goal, tables: RoadTables) -> bool:
    """Whether a goal is where an object stands already, as literal ones reach it at once."""
    roadmap, point = tables.lanelets.roadmap, _point(goal)
    if not roadmap.has(point):
        return False
    x, y = roadmap.position(point)
    return bool(math.hypot(x - one.position[0], y - one.position[1]) < AT_GOAL)
