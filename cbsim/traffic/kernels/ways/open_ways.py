"""The road as it is in a run: tables of the World, with the ways of the workspace, which lead round closed lanelets."""

from __future__ import annotations

from cbsim.jit import view
from cbsim.world.traffic.tables import Road, Sides

__all__ = ["open_road", "open_sides"]


@view
def open_road(road, routes):
    """`Road` with the ways of the workspace, which lead round closed lanelets."""
    return Road(
        lanelets=road.lanelets,
        links=road.links,
        pieces=road.pieces,
        widths=road.widths,
        sample_offsets=road.sample_offsets,
        samples=road.samples,
        wanders=routes.wanders,
        hops=routes.hops,
        destinations=road.destinations,
        goals=road.goals,
        car_rows=road.car_rows,
        car_sizes=road.car_sizes,
        words=road.words,
    )


@view
def open_sides(sides, routes):
    """`Sides` with the changes of lanes of the workspace."""
    return Sides(
        offsets=sides.offsets,
        rows=sides.rows,
        spans=sides.spans,
        place_offsets=sides.place_offsets,
        places=sides.places,
        predecessor_offsets=sides.predecessor_offsets,
        predecessors=sides.predecessors,
        changes=routes.changes,
        changes_at_ends=sides.changes_at_ends,
    )
