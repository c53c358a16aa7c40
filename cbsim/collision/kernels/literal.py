"""Collisions of literal movers with each other and with static bodies: the time of first touch within a step.

Within a segment a mover goes straight and does not turn, so the time of impact is solved on the path itself, and there
is no tunnelling at any speed. Literal movers are kinematic: a contact does not stop them.
"""

from __future__ import annotations

import math

from cbsim.collision.kernels.memory import note, touches_already, write_row
from cbsim.collision.kernels.pairs import TOUCHING, pair_distance, pair_meeting
from cbsim.collision.kernels.ways import GAP, PLACE, RATE, TURN, motion_into
from cbsim.collision.kernels.workspace import MOVER
from cbsim.geometry.kernels.boxes import is_upright, upright_meeting
from cbsim.geometry.kernels.rotation import rotate_back
from cbsim.geometry.kernels.solids import SHAPE_BOX, SHAPE_MESH
from cbsim.jit import inner

__all__ = ["meet_literally", "outside_box"]

SLACK = 1e-6  # [m] by which bodies that are passed without a closer look must miss each other


@inner
def outside_box(size, q, x, y, z, reach):
    """Whether a ball, its centre at x, y, z from a body's, lies outside the box of that size that holds the body."""
    px, py, pz = rotate_back(q, x, y, z)
    return abs(px) > 0.5 * size[0] + reach or abs(py) > 0.5 * size[1] + reach or abs(pz) > 0.5 * size[2] + reach


@inner
def meet_pair(segments, shapes, roles, a, b, since, until, pair_workspace, ways, out):
    """First time at which two bodies on segments touch in a span, infinity for never; `out` (10,) says how they do."""
    time = since
    while True:
        one = motion_into(segments, roles[a, MOVER], a, time, ways[0])
        two = motion_into(segments, roles[b, MOVER], b, time, ways[1])
        end = min(one, two, until)
        for k in range(3):
            ways[GAP, PLACE, k] = ways[1, PLACE, k] - ways[0, PLACE, k]
            ways[GAP, RATE, k] = ways[1, RATE, k] - ways[0, RATE, k]
        gap, rate = ways[GAP, PLACE], ways[GAP, RATE]
        span = max(end - time, 0.0)
        after = pair_meeting(shapes, a, ways[0, TURN], b, ways[1, TURN], gap, rate, span, pair_workspace, out)
        if after < math.inf:
            for k in range(3):
                ways[0, PLACE, k] += after * ways[0, RATE, k]
                ways[1, PLACE, k] += after * ways[1, RATE, k]
            pa, pb = ways[0, PLACE], ways[1, PLACE]
            pair_distance(shapes, a, pa, ways[0, TURN], b, pb, ways[1, TURN], math.inf, pair_workspace, out)
            return time + after
        if end >= until:
            return math.inf
        time = end


@inner
def is_on_one(starts, segment, path, mover, since):
    """Whether a body is on one segment all the step, as whoever is no mover is, and reactive cars in short steps."""
    if mover < 0 or mover >= segment.shape[0]:
        return mover < 0 or path.shape[0] == 0
    return starts[segment[mover]] <= since


@inner
def nearest_square(x, y, z, u, v, w, duration):
    """Square of the least distance in a span that ends with one at x, y, z from the other, which u, v, w changes."""
    square = u * u + v * v + w * w
    back = min(max((x * u + y * v + z * w) / square, 0.0), duration) if square > 0.0 else 0.0
    x, y, z = x - back * u, y - back * v, z - back * w
    return x * x + y * y + z * z


@inner
def meet_literally(
    segments,
    velocity,
    active_contacts,
    shapes,
    workspace,
    since,
    until,
    pairs,
    count,
    pair_workspace,
    ways,
    contacts,
    found,
):
    """Write a row for every pair without a vehicle that begins to touch in a step.

    Parameters
    ----------
    segments : TrajectoryTables
        With literal movers where they are at the end of the step.
    velocity, active_contacts : (bodies, 3), (moving, 4)
        Columns of the Snapshot; the second is written.
    shapes : Shapes
    workspace, pair_workspace, ways : BroadWorkspace, PairWorkspace, (3, 3, 4)
    since, until : float
        When the step begins and ends [s].
    pairs, count : (≥ count, 2) int64, int
        From `find_pairs`.
    contacts : (capacity, 12), out
    found : int
        Rows written so far.

    Returns
    -------
    int
        Rows written after it.
    """
    roles, reach, radius, out = workspace.roles, workspace.reach, shapes.radius, pair_workspace.out
    starts, segment, position, orientation = segments.starts, segments.guess, segments.positions, segments.turns
    step, sizes, path = until - since, shapes.size, segments.path
    for k in range(count):
        a, b = pairs[k, 0], pairs[k, 1]
        x, y, z = position[b, 0] - position[a, 0], position[b, 1] - position[a, 1], position[b, 2] - position[a, 2]
        near = reach[a] + reach[b] + TOUCHING
        if x * x + y * y + z * z > near * near:
            continue
        one, two = roles[a, MOVER], roles[b, MOVER]
        if is_on_one(starts, segment, path, one, since) and is_on_one(starts, segment, path, two, since):
            u, v, w = velocity[b, 0] - velocity[a, 0], velocity[b, 1] - velocity[a, 1], velocity[b, 2] - velocity[a, 2]
            radii = radius[a] + radius[b] + SLACK
            if nearest_square(x, y, z, u, v, w, step) > radii * radii:
                continue
            if shapes.kind[a] == SHAPE_BOX and shapes.kind[b] == SHAPE_BOX:
                qa, qb = orientation[a], orientation[b]
                if is_upright(qa) and is_upright(qb):
                    fx, fy, fz = x - step * u, y - step * v, z - step * w
                    if upright_meeting(sizes[a], qa, sizes[b], qb, fx, fy, fz, u, v, w, step, SLACK) > step:
                        continue
        if two < 0 and shapes.kind[b] == SHAPE_MESH:
            if outside_box(shapes.size[b], orientation[b], -x, -y, -z, reach[a] + SLACK):
                continue
        if touches_already(active_contacts, roles, a, b):
            continue
        time = meet_pair(segments, shapes, roles, a, b, since, until, pair_workspace, ways, out)
        if time < math.inf and note(active_contacts, roles, a, b):
            nx, ny, nz = out[1], out[2], out[3]
            closing = -(ways[GAP, RATE, 0] * nx + ways[GAP, RATE, 1] * ny + ways[GAP, RATE, 2] * nz)
            x, y, z = 0.5 * (out[4] + out[7]), 0.5 * (out[5] + out[8]), 0.5 * (out[6] + out[9])
            write_row(contacts, found, time, a, b, x, y, z, nx, ny, nz, closing, max(-out[0], 0.0))
            found += 1
    return found
