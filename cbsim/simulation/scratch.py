"""`StepScratch`: scratch arrays of the kernel of a step."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.collision.kernels.body_paths import make_paths
from cbsim.collision.kernels.pairs import PairWorkspace, make_pair_workspace
from cbsim.collision.kernels.touch import TouchWorkspace, make_touch_workspace
from cbsim.geometry.kernels.bvh import DEPTH
from cbsim.vehicle.kernels import ARC_ROWS, GROUP, LANES, arc_numbers
from cbsim.vehicle.kernels.columns import PLANAR
from cbsim.world.events.tables import EventTables
from cbsim.world.packed import Pack, pack
from cbsim.world.tables import Layout

__all__ = ["StepScratch", "make_scratch"]


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


def make_scratch(layout: Layout, triangles: int, substeps: int, events: EventTables) -> Pack:
    """Allocate the blocks of a `StepScratch`, for one kernel call at a time.

    Parameters
    ----------
    layout : Layout
    triangles : int
        Of all meshes.
    substeps : int
        Of vehicles in a step.
    events : EventTables
    """
    vehicles = layout.vehicles
    made = StepScratch(
        touch=make_touch_workspace(vehicles, triangles),
        pair=make_pair_workspace(triangles),
        paths=make_paths(),
        planar=np.zeros((vehicles, PLANAR)),
        arcs=np.zeros((ARC_ROWS, arc_numbers(substeps))),
        group=np.zeros(GROUP),
        lanes=np.zeros(LANES, np.int64),
        nodes=np.zeros(DEPTH, np.int64),
        commands=np.zeros((layout.run_states, 2)),
        conditions=np.zeros(np.diff(events.offsets).max(initial=0), np.int64),
    )
    return pack(_leaves(made), writeable=True)


def _leaves(values: tuple[object, ...]) -> list[object]:
    """Arrays of a named tuple and of those in it, in their order."""
    return [leaf for value in values for leaf in (_leaves(value) if isinstance(value, tuple) else [value])]
