"""Workspaces of reactive cars, to be kept from one call to the next beside those of collisions."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.traffic.kernels.workspace import car_workspace_sizes, parts_of
from cbsim.world.packed import aligned
from cbsim.world.tables import Layout
from cbsim.world.traffic.tables import Traffic
from cbsim.world.world import World

__all__ = ["make_cars", "route_sizes"]

NO_CARS = np.zeros(0), np.zeros(0, np.int64)


def make_cars(world: World) -> tuple[Floats, Ints]:
    """Make the blocks of a workspace, which its first step fills; empty where there are no reactive cars."""
    traffic, layout = world.traffic, world.layout
    if layout.cars == 0:
        return NO_CARS
    floats, ints = car_workspace_sizes(
        layout.cars,
        len(traffic.road.lanelets),
        len(traffic.crossings.rules),
        layout.bodies - layout.cars,
        parts_of(world.step),
        route_sizes(traffic, layout),
    )
    return aligned(floats, np.float64), aligned(ints, np.int64)


def route_sizes(traffic: Traffic, layout: Layout) -> tuple[int, ...]:
    """Lengths of the tables of ways round closed lanelets, in the order of `Routes`."""
    road = traffic.road
    return len(road.hops), len(road.wanders), len(traffic.sides.changes), len(road.destinations), layout.closures
