"""Workspace of the broad phase: two blocks that persist between calls, with the bounds of static bodies set once.

A workspace is valid for one `cbsim.world.static_cache.StaticCache`. Candidate pairs of one call stay valid for the next
while the step is within their horizon and every vehicle within its margin, since the bounds cover all motion until
then.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.kernels.grid import CELL_COLUMNS, Grid
from cbsim.geometry.kernels.rotation import rotate
from cbsim.geometry.kernels.solids import SHAPE_SPHERE
from cbsim.jit import block_view, inlined, inner, kernel

__all__ = [
    "GROUND",
    "HORIZON",
    "LEVELS",
    "MOVER",
    "MOVING",
    "VEHICLE",
    "BroadWorkspace",
    "CandidatePairs",
    "are_valid",
    "fill_workspace",
    "kept_pairs",
    "note_pairs",
    "store_pairs",
    "workspace_of",
    "workspace_sizes",
]

HORIZON = 16  # steps for which pairs stay valid
LEVELS = 18  # of the grid
GROUND, STATIC = -2, -1  # roles of static bodies: ground, obstacle
MOVING, MOVER, VEHICLE = range(3)  # columns of roles
FIRST, UNTIL, LITERAL, DRIVEN = range(4)  # columns of a memo: first step and last of validity, and numbers of pairs
MEMO = 4
KEPT, KEPT_EACH = 256, 2  # largest number of pairs of each kind that is passed to the next call, and more for each body


class BroadWorkspace(NamedTuple):
    """Arrays of the broad phase.

    Attributes
    ----------
    roles : (bodies, 3) int64
        Row in `State.active_contacts`, row among movers, row among vehicles; -1 for none, -2 for ground.
    bounds : (bodies, 4) [m]
        Least x, y, largest x, y.
    reach : (bodies,) [m]
        Radius plus the largest distance that a mover covers in a step.
    anchors : (vehicles, 3) [m]
        Position of a vehicle when its bounds were set, and its margin.
    grid : Grid
        Its cells are places along x and y, and levels.
    near : (bodies,) int64
    tally : (levels, 2) int64
        Moving and static bodies of each.
    memo : (4,) int64
        Of the stored pairs: first step, step after the last, numbers without and with a vehicle.
    kept : (2, n, 2) int64
        Those pairs; more than n are searched again.
    """

    roles: Annotated[NDArray[np.int64], (3,)]
    bounds: Annotated[NDArray[np.float64], (4,)]
    reach: NDArray[np.float64]
    anchors: Annotated[NDArray[np.float64], (3,)]
    grid: Grid
    near: NDArray[np.int64]
    tally: Annotated[NDArray[np.int64], (2,)]
    memo: NDArray[np.int64]
    kept: NDArray[np.int64]


class CandidatePairs(NamedTuple):
    """Pairs that may touch until their bounds are set anew, and a table for their contact points.

    Attributes
    ----------
    literal, driven : (≥ n, 2) int64
        Pairs without and with a vehicle, which comes first.
    literal_count, driven_count : int
    touches : (capacity, 24)
        As in `cbsim.collision.kernels.touch`.
    """

    literal: NDArray[np.int64]
    literal_count: int
    driven: NDArray[np.int64]
    driven_count: int
    touches: NDArray[np.float64]


@inner
def bucket_count(bodies):
    """Return the number of buckets of the grid, a power of two."""
    buckets = 64
    while buckets < 2 * bodies:
        buckets *= 2
    return buckets


@inner
def kept_count(bodies):
    """Return how many pairs of each kind are passed to the next call."""
    return KEPT + KEPT_EACH * bodies


@kernel
def workspace_sizes(bodies, vehicles):
    """Sizes of the float and int blocks of a workspace."""
    # floats: bounds, those of the grid, reach; ints: roles, those of the grid, near, then fixed sizes
    return 9 * bodies + 3 * vehicles, 10 * bodies + bucket_count(bodies) + 1 + 2 * LEVELS + 4 * kept_count(
        bodies
    ) + MEMO


@kernel
def workspace_of(bodies, vehicles, floats, ints):
    """Slice a `BroadWorkspace` from its two blocks."""
    buckets, n = bucket_count(bodies), 10 * bodies
    starts, n = block_view(ints, n, (buckets + 1,)), n + buckets + 1
    tally, n = block_view(ints, n, (LEVELS, 2)), n + 2 * LEVELS
    memo, n = block_view(ints, n, (MEMO,)), n + MEMO
    return BroadWorkspace(
        roles=block_view(ints, 0, (bodies, 3)),
        bounds=block_view(floats, 0, (bodies, 4)),
        reach=block_view(floats, 8 * bodies, (bodies,)),
        anchors=block_view(floats, 9 * bodies, (vehicles, 3)),
        grid=Grid(
            cells=block_view(ints, 3 * bodies, (bodies, CELL_COLUMNS)),
            starts=starts,
            order=block_view(ints, 7 * bodies, (bodies,)),
            boxes=block_view(floats, 4 * bodies, (bodies, 4)),
            near=block_view(ints, 8 * bodies, (bodies,)),
        ),
        near=block_view(ints, 9 * bodies, (bodies,)),
        tally=tally,
        memo=memo,
        kept=block_view(ints, n, (2, kept_count(bodies), 2)),
    )


@inlined
def static_bounds_into(kinds, sizes, radii, positions, orientations, body, bounds):
    """Write the bounds of a static body to its row; takes single tables, since it is called in a loop."""
    x, y = positions[body, 0], positions[body, 1]
    hx, hy = radii[body], radii[body]
    if kinds[body] != SHAPE_SPHERE:
        # half extents along x and y: sums of the projections of the three sides
        q, sx, sy, sz = orientations[body], sizes[body, 0], sizes[body, 1], sizes[body, 2]
        ax, ay, _ = rotate(q, 1.0, 0.0, 0.0)
        bx, by, _ = rotate(q, 0.0, 1.0, 0.0)
        cx, cy, _ = rotate(q, 0.0, 0.0, 1.0)
        hx = 0.5 * (abs(ax) * sx + abs(bx) * sy + abs(cx) * sz)
        hy = 0.5 * (abs(ay) * sx + abs(by) * sy + abs(cy) * sz)
    # rounding of positions far from the origin
    slack = 1e-6 + 1e-12 * (abs(x) + abs(y))
    bounds[body, 0], bounds[body, 1] = x - hx - slack, y - hy - slack
    bounds[body, 2], bounds[body, 3] = x + hx + slack, y + hy + slack


@kernel
def fill_workspace(moving, movers, vehicles, kinds, sizes, radii, solid, positions, orientations, floats, ints):
    """Fill a workspace for static bodies at these poses.

    Parameters
    ----------
    moving, movers, vehicles : (n,) int64
        Rows of bodies that can move, of literal movers, -1 for none, and of vehicles.
    kinds, sizes, radii, solid
        Columns of `Shapes`.
    positions, orientations : (bodies, 3) [m], (bodies, 4)
        Of all bodies; only static ones are read.
    floats, ints : out
        Blocks of the sizes of `workspace_sizes`.
    """
    bodies = kinds.shape[0]
    workspace = workspace_of(bodies, vehicles.shape[0], floats, ints)
    roles, bounds, reach, memo = workspace.roles, workspace.bounds, workspace.reach, workspace.memo
    for body in range(bodies):
        role = STATIC if solid[body] != 0 else GROUND
        roles[body, MOVING], roles[body, MOVER], roles[body, VEHICLE] = role, role, role
        reach[body] = radii[body]
        static_bounds_into(kinds, sizes, radii, positions, orientations, body, bounds)
    for k in range(moving.shape[0]):
        roles[moving[k], MOVING] = k
        # moving ones get theirs in each search
        for c in range(4):
            bounds[moving[k], c] = 0.0
    for m in range(movers.shape[0]):
        if movers[m] >= 0:
            roles[movers[m], MOVER] = m
    for v in range(vehicles.shape[0]):
        roles[vehicles[v], VEHICLE] = v
    memo[FIRST], memo[UNTIL], memo[LITERAL], memo[DRIVEN] = 0, 0, 0, 0


@inner
def are_valid(workspace, start):
    """Whether the stored pairs are valid for step number `start`, if vehicles are within their margins."""
    memo = workspace.memo
    return memo[FIRST] <= start < memo[UNTIL]


@inner
def kept_pairs(workspace, touches):
    """Load the stored pairs, with a table of contact points."""
    memo, kept = workspace.memo, workspace.kept
    return CandidatePairs(kept[0], memo[LITERAL], kept[1], memo[DRIVEN], touches)


@inner
def note_pairs(workspace, start, pairs):
    """Record that pairs are valid for `HORIZON` steps from number `start` on."""
    memo = workspace.memo
    memo[FIRST], memo[UNTIL] = start, start + HORIZON
    memo[LITERAL], memo[DRIVEN] = pairs.literal_count, pairs.driven_count


@inner
def store_pairs(workspace, pairs):
    """Store candidate pairs for the next call; drop them if they exceed the workspace's tables."""
    if max(pairs.literal.shape[0], pairs.driven.shape[0]) > workspace.kept.shape[1]:
        workspace.memo[UNTIL] = 0
