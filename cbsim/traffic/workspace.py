"""Workspaces of reactive cars, to be kept from one call to the next beside those of collisions."""

from __future__ import annotations

import numpy as np

from cbsim.traffic.kernels.cars import note_static_obstacles
from cbsim.traffic.kernels.workspace import car_workspace_sizes, parts_of
from cbsim.world.packed import aligned
from cbsim.world.snapshot import Snapshot
from cbsim.world.tables import Floats, Ints, Layout
from cbsim.world.traffic.tables import Traffic
from cbsim.world.world import World

__all__ = ["make_cars", "route_sizes"]

NO_CARS = np.zeros(0), np.zeros(0, np.int64)


def make_cars(world: World, snapshot: Snapshot) -> tuple[Floats, Ints]:
    """Set up the blocks of a workspace; empty where there are no reactive cars."""
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
    made = aligned(floats, np.float64), aligned(ints, np.int64)
    note_static_obstacles(world.pack, layout.sizes, *snapshot.blocks, *made)
    return made


def route_sizes(traffic: Traffic, layout: Layout) -> tuple[int, ...]:
    """Lengths of the tables of ways round closed lanelets, in the order of `Routes`."""
    road = traffic.road
    return len(road.hops), len(road.wanders), len(traffic.sides.changes), len(road.destinations), layout.closures
