"""`Desk`: what collisions of a step work on, kept from one call to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.collision.kernels.desk import desk_room, fill_desk
from cbsim.world.snapshot import Snapshot
from cbsim.world.standing import Standing
from cbsim.world.tables import Floats, Ints
from cbsim.world.world import World

__all__ = ["Desk", "give_back", "take_desk"]

NAME = "desk"  # among the scratch of a `Standing`


@dataclass(frozen=True, slots=True, eq=False)
class Desk:
    """Scratch of one call at a time, set up for one `Standing`.

    Attributes
    ----------
    floats, ints : ndarray
        Blocks of `cbsim.collision.kernels.desk.desk_of`.
    leaves : ndarray of uint64
        Hashes of the leaves of a Snapshot's float block.
    """

    floats: Floats
    ints: Ints
    leaves: NDArray[np.uint64]


def take_desk(world: World, standing: Standing) -> Desk:
    """Take a desk that nobody works on, or set one up; `give_back` lets others have it."""
    return standing.take(NAME) or _set_up(world, standing)


def give_back(desk: Desk, standing: Standing) -> None:
    """Let the next call have a desk."""
    standing.give(NAME, desk)


def _set_up(world: World, standing: Standing) -> Desk:
    constants, shapes, layout = world.constants, world.shapes, world.layout
    floats, ints = desk_room(layout.bodies, layout.vehicles)
    desk = Desk(np.zeros(floats), np.zeros(ints, np.int64), standing.leaves.copy())
    columns = Snapshot(layout, standing.floats, np.zeros(layout.size("int"), np.int64), 0, 0.0).columns
    models = len(constants.tracked_body) - layout.vehicles  # what they run into is the rigid-body core's affair
    solid = shapes.solid.copy()
    solid[layout.bodies - models :] = 0
    fill_desk(
        *(constants.moving[: layout.moving - models], constants.mover_body, constants.vehicle_body),
        *(shapes.kind, shapes.size, shapes.radius, solid, columns.position, columns.orientation),
        *(desk.floats, desk.ints),
    )
    return desk
