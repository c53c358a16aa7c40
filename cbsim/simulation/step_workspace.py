"""`StepWorkspace`: what the kernel of a step works in, kept from one call to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from cbsim.collision.kernels.body_paths import make_paths
from cbsim.collision.kernels.pairs import PairWorkspace, make_pair_workspace
from cbsim.collision.kernels.touch import TouchWorkspace, make_touch_workspace
from cbsim.collision.workspace import take_workspace
from cbsim.geometry.kernels.bvh import DEPTH
from cbsim.traffic.workspace import take_cars
from cbsim.vehicle.kernels import ARC_ROWS, GROUP, LANES, arc_numbers
from cbsim.vehicle.kernels.columns import PLANAR
from cbsim.world.packed import Pack, pack
from cbsim.world.snapshot import Snapshot
from cbsim.world.static_cache import StaticCache
from cbsim.world.tables import Floats, Ints
from cbsim.world.world import World

__all__ = ["StepScratch", "StepWorkspace", "make_scratch", "return_step_workspace", "take_step_workspace"]

NAME = "step"  # among the workspaces of a `StaticCache`


class StepScratch(NamedTuple):
    """Scratch arrays of a step, in two blocks; all are written before they are read.

    Allocated in each call of the kernel, they would take a third of the time of a step of a few cars.

    Attributes
    ----------
    touch : TouchWorkspace
    pair : PairWorkspace
    paths : (3, 3, 4)
        Of two bodies, and of one relative to the other (`cbsim.collision.kernels.body_paths`).
    planar : (vehicles, 6)
        Motion of vehicles in the plane.
    arcs : (4, n)
        As `group` and `lanes`, of `cbsim.vehicle.kernels.many.roll_together`.
    group : (n,)
    lanes : (4,) int64
    nodes : (DEPTH,) int64
        Stack of searches in the tree of the ground.
    commands : (vehicles, 2)
        Commands of vehicles that are made to brake; without rows where no event sets a run state.
    conditions : (n,) int64
        Stack for the conditions of the longest event.
    """

    touch: TouchWorkspace
    pair: PairWorkspace
    paths: Annotated[Floats, (3, 4)]
    planar: Annotated[Floats, (PLANAR,)]
    arcs: Annotated[Floats, (ARC_ROWS, -1)]
    group: Floats
    lanes: Ints
    nodes: Ints
    commands: Annotated[Floats, (2,)]
    conditions: Ints


@dataclass(frozen=True, slots=True, eq=False)
class StepWorkspace:
    """Workspaces for one call at a time, set up for one `StaticCache`.

    Attributes
    ----------
    scratch : Pack
        Blocks of a `StepScratch`.
    blocks : tuple of ndarray
        Arguments of `cbsim.simulation.kernels.advance_into` from `leaves` to `car_ints`.
    contacts : ndarray, shape (rows, 12)
        Room for contacts, columns as in `cbsim.collision.contacts.CONTACT`.
    """

    scratch: Pack
    blocks: tuple[Any, ...]
    contacts: Floats


def take_step_workspace(world: World, snapshot: Snapshot, static_cache: StaticCache) -> StepWorkspace:
    """Take an idle workspace, or set one up; `return_step_workspace` gives it back."""
    found: StepWorkspace | None = static_cache.take(NAME)
    if found is None:
        collision = take_workspace(world, static_cache)
        blocks = collision.leaves, world.static_caches.live, collision.floats, collision.ints
        cars = take_cars(world, snapshot, static_cache)
        found = StepWorkspace(make_scratch(world), (*blocks, *cars), collision.contacts)
    return found


def return_step_workspace(workspace: StepWorkspace, static_cache: StaticCache) -> None:
    """Let the next call have a workspace."""
    static_cache.give(NAME, workspace)


def make_scratch(world: World) -> Pack:
    """Allocate the blocks of a `StepScratch`, for one kernel call at a time."""
    vehicles, triangles = world.layout.vehicles, len(world.shapes.triangles)
    made = StepScratch(
        touch=make_touch_workspace(vehicles, triangles),
        pair=make_pair_workspace(triangles),
        paths=make_paths(),
        planar=np.zeros((vehicles, PLANAR)),
        arcs=np.zeros((ARC_ROWS, arc_numbers(int(world.constants.substeps)))),
        group=np.zeros(GROUP),
        lanes=np.zeros(LANES, np.int64),
        nodes=np.zeros(DEPTH, np.int64),
        commands=np.zeros((world.layout.run_states, 2)),
        conditions=np.zeros(np.diff(world.events.tables.offsets).max(initial=0), np.int64),
    )
    return pack(_leaves(made), writeable=True)


def _leaves(values: tuple[object, ...]) -> list[object]:
    """Arrays of a named tuple and of those in it, in their order."""
    return [leaf for value in values for leaf in (_leaves(value) if isinstance(value, tuple) else [value])]
