"""What the broad phase works on, laid out in two blocks that outlive a call: bounds of what stands are set once.

A desk is good for one `cbsim.world.standing.Standing`. Pairs that were found in one call are good for the next if that
begins in the steps they were found for, with every vehicle within its margin: bounds cover all ways until then, whoever
goes them.
"""

from __future__ import annotations

from cbsim.geometry.kernels.rotation import rotate
from cbsim.geometry.kernels.solids import SHAPE_SPHERE
from cbsim.jit import inlined, inner, kernel

__all__ = [
    "GROUND",
    "HORIZON",
    "LEVELS",
    "MOVER",
    "MOVING",
    "VEHICLE",
    "are_good",
    "desk_of",
    "desk_room",
    "fill_desk",
    "kept_pairs",
    "leave_pairs",
    "note_pairs",
]

HORIZON = 16  # steps that pairs are kept for
LEVELS = 18  # of the grid
GROUND, STILL = -2, -1  # roles of bodies that never move: no obstacle, obstacle
MOVING, MOVER, VEHICLE = range(3)  # columns of roles
FIRST, UNTIL, LITERAL, DRIVEN = range(4)  # of a memo: steps that pairs are kept for, and how many there are
MEMO = 4
KEPT = 256  # pairs of each kind that are handed on to the next call; more are found again


@inner
def bucket_count(bodies):
    """Count the buckets of the grid, a power of two."""
    buckets = 64
    while buckets < 2 * bodies:
        buckets *= 2
    return buckets


@kernel
def desk_room(bodies, vehicles):
    """Count the floats and the ints of a desk."""
    return 9 * bodies + 3 * vehicles, 8 * bodies + bucket_count(bodies) + 1 + LEVELS + 4 * KEPT + MEMO


@kernel
def desk_of(bodies, vehicles, floats, ints):
    """Slice the two blocks of a desk.

    Returns
    -------
    roles : (bodies, 3) int64
        Row in `State.partner`, row among movers, row among vehicles; -1 for none, -2 for ground.
    bounds : (bodies, 4) [m]
        Least x, y, largest x, y.
    reach : (bodies,) [m]
        Radius and the way that a mover may go in a step.
    anchors : (vehicles, 3) [m]
        Where a vehicle was when its bounds were set, and its margin.
    cells : (bodies, 3) int64
    order : (bodies,) int64
    starts : (buckets + 1,) int64
    near : (bodies,) int64
    sorted_bounds : (bodies, 4) [m]
    tally : (levels,) int64
    memo : (4,) int64
        Of the pairs that are kept: first step, step after the last, how many without and with a vehicle.
    kept : (2, `KEPT`, 2) int64
        Those pairs.
    """
    buckets, n = bucket_count(bodies), 8 * bodies
    starts, n = ints[n : n + buckets + 1], n + buckets + 1
    tally, n = ints[n : n + LEVELS], n + LEVELS
    memo, n = ints[n : n + MEMO], n + MEMO
    return (
        ints[: 3 * bodies].reshape((bodies, 3)),
        floats[: 4 * bodies].reshape((bodies, 4)),
        floats[8 * bodies : 9 * bodies],
        floats[9 * bodies :].reshape((vehicles, 3)),
        ints[3 * bodies : 6 * bodies].reshape((bodies, 3)),
        ints[6 * bodies : 7 * bodies],
        starts,
        ints[7 * bodies : 8 * bodies],
        floats[4 * bodies : 8 * bodies].reshape((bodies, 4)),
        tally,
        memo,
        ints[n:].reshape((2, KEPT, 2)),
    )


@inlined
def still_bounds_into(kinds, sizes, radii, positions, orientations, body, bounds):
    """Write the bounds of a body that never moves to its row; tables come one by one, since a loop calls this."""
    x, y = positions[body, 0], positions[body, 1]
    hx, hy = radii[body], radii[body]
    if kinds[body] != SHAPE_SPHERE:
        q, sx, sy, sz = orientations[body], sizes[body, 0], sizes[body, 1], sizes[body, 2]
        ax, ay, _ = rotate(q, 1.0, 0.0, 0.0)
        bx, by, _ = rotate(q, 0.0, 1.0, 0.0)
        cx, cy, _ = rotate(q, 0.0, 0.0, 1.0)
        hx = 0.5 * (abs(ax) * sx + abs(bx) * sy + abs(cx) * sz)
        hy = 0.5 * (abs(ay) * sx + abs(by) * sy + abs(cy) * sz)
    slack = 1e-6 + 1e-12 * (abs(x) + abs(y))
    bounds[body, 0], bounds[body, 1] = x - hx - slack, y - hy - slack
    bounds[body, 2], bounds[body, 3] = x + hx + slack, y + hy + slack


@kernel
def fill_desk(moving, movers, vehicles, kinds, sizes, radii, solid, positions, orientations, floats, ints):
    """Set a desk up for bodies that stand where these poses say.

    Parameters
    ----------
    moving, movers, vehicles : (n,) int64
        Rows of bodies that can move, of literal movers, and of vehicles.
    kinds, sizes, radii, solid
        Columns of `Shapes`.
    positions, orientations : (bodies, 3) [m], (bodies, 4)
        Of all bodies; only those that stand matter.
    floats, ints : out
        Blocks as large as `desk_room` says.
    """
    bodies = kinds.shape[0]
    roles, bounds, reach, _, _, _, _, _, _, _, memo, _ = desk_of(bodies, vehicles.shape[0], floats, ints)
    for body in range(bodies):
        role = STILL if solid[body] != 0 else GROUND
        roles[body, MOVING], roles[body, MOVER], roles[body, VEHICLE] = role, role, role
        reach[body] = radii[body]
        still_bounds_into(kinds, sizes, radii, positions, orientations, body, bounds)
    for k in range(moving.shape[0]):
        roles[moving[k], MOVING] = k
        for c in range(4):
            bounds[moving[k], c] = 0.0
    for m in range(movers.shape[0]):
        roles[movers[m], MOVER] = m
    for v in range(vehicles.shape[0]):
        roles[vehicles[v], VEHICLE] = v
    memo[FIRST], memo[UNTIL], memo[LITERAL], memo[DRIVEN] = 0, 0, 0, 0


@inner
def are_good(desk, start):
    """Tell whether the pairs that are kept are good for step number `start`, if vehicles are within their margins."""
    memo = desk[10]
    return memo[FIRST] <= start < memo[UNTIL]


@inner
def kept_pairs(desk, touches):
    """Take up the pairs that are kept: tables and counts without and with a vehicle, and a table of points of touch."""
    memo, kept = desk[10], desk[11]
    return kept[0], memo[LITERAL], kept[1], memo[DRIVEN], touches


@inner
def note_pairs(desk, start, pairs):
    """Note that pairs are good for `HORIZON` steps from number `start` on."""
    memo = desk[10]
    memo[FIRST], memo[UNTIL], memo[LITERAL], memo[DRIVEN] = start, start + HORIZON, pairs[1], pairs[3]


@inner
def leave_pairs(desk, pairs):
    """Leave pairs for the next call, or forget them if their tables have outgrown the desk's."""
    if max(pairs[0].shape[0], pairs[2].shape[0]) > KEPT:
        desk[10][UNTIL] = 0
