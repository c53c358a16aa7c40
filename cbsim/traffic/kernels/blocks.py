"""Tables of reactive cars and of their roads, sliced from the blocks of a World, a Snapshot and a workspace."""

from __future__ import annotations

from cbsim.jit import view
from cbsim.traffic.kernels.ways.open_ways import open_road, open_sides
from cbsim.traffic.kernels.workspace import car_workspace_of
from cbsim.world.packed.kernels import (
    crossings_of,
    demand_of,
    road_of,
    shapes_of,
    sides_of,
    state_of,
    surroundings_of,
)

__all__ = ["tables_of", "workspace_of_cars"]


@view
def workspace_of_cars(shapes, road, crossings, sides, closed, floats, ints):
    """Slice the workspace of the cars of a World."""
    cars, destinations = road.car_rows.shape[0], road.destinations.shape[0]
    routes = road.hops.shape[0], road.wanders.shape[0], sides.changes.shape[0], destinations, closed.shape[0]
    others = shapes.kind.shape[0] - cars
    return car_workspace_of(cars, road.lanelets.shape[0], crossings.rules.shape[0], others, routes, floats, ints)


@view
def tables_of(blocks):
    """Slice what deferred functions work on.

    Parameters
    ----------
    blocks : tuple
        `pack`, `sizes`, `floats`, `ints`, `car_floats` and `car_ints`, as `cbsim.simulation.kernels.advance_into` has
        them, of one Snapshot.

    Returns
    -------
    network : tuple
        `Road`, `Crossings`, `Surroundings`, `Sides` and `Demand`, with the ways of the workspace.
    state, work : State, CarWorkspace
    """
    pack, sizes, floats, ints, car_floats, car_ints = blocks
    base, crossings, sides, state = road_of(pack), crossings_of(pack), sides_of(pack), state_of(floats, ints, sizes)
    work = workspace_of_cars(shapes_of(pack), base, crossings, sides, state.closed, car_floats, car_ints)
    road, around = open_road(base, work.routes), surroundings_of(pack)
    return (road, crossings, around, open_sides(sides, work.routes), demand_of(pack)), state, work
