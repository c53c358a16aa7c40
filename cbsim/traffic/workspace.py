"""Workspaces of reactive cars, kept from one call to the next beside those of collisions."""

from __future__ import annotations

import numpy as np

from cbsim.traffic.kernels.cars import note_static_obstacles
from cbsim.traffic.kernels.workspace import car_workspace_sizes, parts_of
from cbsim.world.packed import aligned
from cbsim.world.snapshot import Snapshot
from cbsim.world.static_cache import StaticCache
from cbsim.world.tables import Floats, Ints, Layout
from cbsim.world.traffic.tables import Traffic
from cbsim.world.world import World

__all__ = ["return_cars", "route_sizes", "take_cars"]

NAME = "cars"  # among the workspaces of a `StaticCache`
NO_CARS = np.zeros(0), np.zeros(0, np.int64)


def take_cars(world: World, snapshot: Snapshot, static_cache: StaticCache) -> tuple[Floats, Ints]:
    """Take the blocks of a workspace that nobody works on, or set one up; empty where there are no reactive cars."""
    if world.layout.cars == 0:
        return NO_CARS
    found = static_cache.take(NAME)
    if found is None:
        traffic, layout = world.traffic, world.layout
        floats, ints = car_workspace_sizes(
            layout.cars,
            len(traffic.road.lanelets),
            len(traffic.crossings.rules),
            layout.bodies - layout.cars,
            parts_of(world.step),
            route_sizes(traffic, layout),
        )
        found = aligned(floats, np.float64), aligned(ints, np.int64)
        note_static_obstacles(world.pack, layout.sizes, *snapshot.blocks, *found)
    floats, ints = found
    return floats, ints


def route_sizes(traffic: Traffic, layout: Layout) -> tuple[int, ...]:
    """Lengths of the tables of ways round closed lanelets, in the order of `Routes`."""
    road = traffic.road
    return len(road.hops), len(road.wanders), len(traffic.sides.changes), len(road.destinations), layout.closures


def return_cars(blocks: tuple[Floats, Ints], static_cache: StaticCache) -> None:
    """Let the next call have a workspace."""
    if len(blocks[0]):
        static_cache.give(NAME, blocks)
