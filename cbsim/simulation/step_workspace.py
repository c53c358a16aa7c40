"""`StepWorkspace`: what the kernel of a step works in, kept from one call to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats, Ints
from cbsim.collision.workspace import make_workspace
from cbsim.simulation.scratch import make_scratch
from cbsim.traffic.workspace import make_cars
from cbsim.world.packed import Pack
from cbsim.world.static_cache import StaticCache
from cbsim.world.world import World

__all__ = ["StepWorkspace", "return_step_workspace", "scratch_for", "take_step_workspace"]

NAME = "step"  # among the workspaces of a `StaticCache`


@dataclass(frozen=True, slots=True, eq=False)
class StepWorkspace:
    """Workspaces for one call at a time, set up for one `StaticCache`.

    Attributes
    ----------
    scratch : Pack
        Blocks of a `StepScratch`.
    leaves, tables : tuple of ndarray
        Last two of the `blocks` of `cbsim.simulation.kernels.advance_into`, and its `workspaces`.
    contacts : ndarray, shape (rows, 12)
        Room for contacts, columns as in `cbsim.collision.contacts.CONTACT`.
    """

    scratch: Pack
    leaves: tuple[NDArray[np.uint64], Ints]
    tables: tuple[Floats, Ints, Floats, Ints]
    contacts: Floats


def take_step_workspace(world: World, static_cache: StaticCache) -> StepWorkspace:
    """Take an idle workspace, or set one up; `return_step_workspace` gives it back."""
    found: StepWorkspace | None = static_cache.take(NAME)
    if found is None:
        collision = make_workspace(world, static_cache)
        leaves, tables = (collision.leaves, world.static_caches.live), (collision.floats, collision.ints)
        found = StepWorkspace(scratch_for(world), leaves, (*tables, *make_cars(world)), collision.contacts)
    return found


def return_step_workspace(workspace: StepWorkspace, static_cache: StaticCache) -> None:
    """Let the next call have a workspace."""
    static_cache.give(NAME, workspace)


def scratch_for(world: World) -> Pack:
    """Allocate scratch arrays for one kernel call at a time."""
    return make_scratch(world.layout, len(world.shapes.triangles), int(world.constants.substeps), world.events.tables)
