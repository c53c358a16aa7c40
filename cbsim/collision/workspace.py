"""`CollisionWorkspace`: scratch arrays of collision detection, to be kept from one call to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.collision.contacts import CONTACT
from cbsim.collision.kernels.workspace import fill_workspace, workspace_sizes
from cbsim.world.snapshot import Snapshot
from cbsim.world.static_cache import StaticCache
from cbsim.world.traffic.tables import BODY, VEHICLE
from cbsim.world.world import World

__all__ = ["CollisionWorkspace", "make_workspace"]

CONTACT_ROOM = 64  # rows of contacts in one kernel call, besides those that one step can add


@dataclass(frozen=True, slots=True, eq=False)
class CollisionWorkspace:
    """Scratch arrays for one call at a time, set up for one `StaticCache`.

    Attributes
    ----------
    floats, ints : ndarray
        Blocks of `cbsim.collision.kernels.workspace.workspace_of`.
    leaves : ndarray of uint64
        Hashes of the leaves of a Snapshot's float block.
    contacts : ndarray, shape (rows, 12)
        Room for contacts, columns as in `cbsim.collision.contacts.CONTACT`.
    """

    floats: Floats
    ints: Ints
    leaves: NDArray[np.uint64]
    contacts: Floats


def make_workspace(world: World, static_cache: StaticCache) -> CollisionWorkspace:
    """Set up a workspace for the static bodies of a cache."""
    constants, shapes, layout = world.constants, world.shapes, world.layout
    floats, ints = workspace_sizes(layout.bodies, layout.vehicles)
    contacts = np.empty((8 * layout.moving + CONTACT_ROOM, len(CONTACT)))
    workspace = CollisionWorkspace(np.zeros(floats), np.zeros(ints, np.int64), static_cache.leaves.copy(), contacts)
    columns = Snapshot(layout, static_cache.floats, np.zeros(layout.size("int"), np.int64), 0, 0.0).columns
    models = layout.bodies - constants.first_model  # the rigid-body core handles their contacts
    solid = shapes.solid.copy()
    solid[layout.bodies - models :] = 0
    cars = world.traffic.road.car_rows
    own = np.where(cars[:, VEHICLE] < 0, cars[:, BODY], -1)  # vehicles are no movers, whoever drives them
    movers = np.concatenate([constants.mover_body, own, constants.guided_body])
    fill_workspace(
        *(constants.moving[: layout.moving - models], movers, constants.vehicle_body),
        *(shapes.kind, shapes.size, shapes.radius, solid, columns.position, columns.orientation),
        *(workspace.floats, workspace.ints),
    )
    return workspace
