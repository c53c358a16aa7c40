"""Collisions of literal movers with each other and with static bodies: the time of first touch within a step.

Within a segment a mover translates in a straight line, so the time of impact is solved on the path itself, without
tunnelling at any speed. Literal movers are kinematic: a contact does not stop them.
"""

from __future__ import annotations

import math

from cbsim.collision.kernels.active_contacts import add_contact, is_active, write_row
from cbsim.collision.kernels.body_paths import ORIENTATION, POSITION, RELATIVE, VELOCITY, motion_into
from cbsim.collision.kernels.pairs import TOUCHING, pair_distance, pair_time_of_impact
from cbsim.collision.kernels.workspace import MOVER
from cbsim.geometry.kernels.boxes import is_upright, upright_meeting
from cbsim.geometry.kernels.gjk import DISTANCE, NEAREST_ONE, NEAREST_TWO, NORMAL
from cbsim.geometry.kernels.rotation import rotate_back
from cbsim.geometry.kernels.solids import SHAPE_BOX, SHAPE_MESH
from cbsim.jit import inlined, inner
from cbsim.world.motion import ABSENT_BELOW

__all__ = ["find_literal_contacts", "first_literal_pair", "outside_box"]

SLACK = 1e-6  # [m] clearance from which a pair is skipped by its bounds alone


@inner
def outside_box(size, q, x, y, z, reach):
    """Whether a ball, its centre at x, y, z from a body's, lies outside the body's bounding box."""
    px, py, pz = rotate_back(q, x, y, z)
    return abs(px) > 0.5 * size[0] + reach or abs(py) > 0.5 * size[1] + reach or abs(pz) > 0.5 * size[2] + reach


@inner
def first_impact(segments, shapes, roles, a, b, since, until, pair_workspace, paths, out):
    """Time of impact of two bodies on their segments in a span, else infinity; `out` (10,) describes the contact."""
    time = since
    while True:
        one = motion_into(segments, roles[a, MOVER], a, time, paths[0])
        two = motion_into(segments, roles[b, MOVER], b, time, paths[1])
        end = min(one, two, until)
        for k in range(3):
            paths[RELATIVE, POSITION, k] = paths[1, POSITION, k] - paths[0, POSITION, k]
            paths[RELATIVE, VELOCITY, k] = paths[1, VELOCITY, k] - paths[0, VELOCITY, k]
        # the first body is taken to stand, so that the second one has the motion of both
        gap, rate = paths[RELATIVE, POSITION], paths[RELATIVE, VELOCITY]
        # up to the next change of segment of either body
        span = max(end - time, 0.0)
        after = pair_time_of_impact(
            shapes, a, paths[0, ORIENTATION], b, paths[1, ORIENTATION], gap, rate, span, pair_workspace, out
        )
        if after < math.inf:
            # normal and nearest points are those at the moment of touching, not at the begin of the segment
            for k in range(3):
                paths[0, POSITION, k] += after * paths[0, VELOCITY, k]
                paths[1, POSITION, k] += after * paths[1, VELOCITY, k]
            pa, pb = paths[0, POSITION], paths[1, POSITION]
            pair_distance(
                shapes, a, pa, paths[0, ORIENTATION], b, pb, paths[1, ORIENTATION], math.inf, pair_workspace, out
            )
            return time + after
        if end >= until:
            return math.inf
        time = end


@inner
def stays_on_segment(starts, segment, path, mover, since):
    """Whether a body stays on one segment throughout the step; reactive cars do so in steps that are not divided."""
    if mover < 0 or mover >= segment.shape[0]:
        return mover < 0 or path.shape[0] == 0
    return starts[segment[mover]] <= since


@inner
def least_square_distance(x, y, z, u, v, w, duration):
    """Least squared distance of two points with relative velocity u, v, w in a span that ends at the offset x, y, z."""
    square = u * u + v * v + w * w
    # time before the end at which they were nearest, in the span
    back = min(max((x * u + y * v + z * w) / square, 0.0), duration) if square > 0.0 else 0.0
    x, y, z = x - back * u, y - back * v, z - back * w
    return x * x + y * y + z * z


@inlined
def may_meet(segments, velocity, active_contacts, shapes, workspace, span, a, b):
    """Whether bounds do not suffice to tell that no contact of two bodies begins in a step; tables as below."""
    since, until = span
    roles, reach, radius = workspace.roles, workspace.reach, shapes.radius
    starts, segment, position, orientation = segments.starts, segments.guess, segments.positions, segments.turns
    step, sizes, path = until - since, shapes.size, segments.path
    x, y, z = position[b, 0] - position[a, 0], position[b, 1] - position[a, 1], position[b, 2] - position[a, 2]
    near = reach[a] + reach[b] + TOUCHING
    if x * x + y * y + z * z > near * near:
        return False
    if min(position[a, 2], position[b, 2]) < ABSENT_BELOW:  # both are absent, and where they left
        return False
    one, two = roles[a, MOVER], roles[b, MOVER]
    # while neither changes its segment the relative velocity is constant, and bounds hold for the whole step
    if stays_on_segment(starts, segment, path, one, since) and stays_on_segment(starts, segment, path, two, since):
        u, v, w = velocity[b, 0] - velocity[a, 0], velocity[b, 1] - velocity[a, 1], velocity[b, 2] - velocity[a, 2]
        # bounding spheres over the whole step, then separating axes of upright boxes
        radii = radius[a] + radius[b] + SLACK
        if least_square_distance(x, y, z, u, v, w, step) > radii * radii:
            return False
        if shapes.kind[a] == SHAPE_BOX and shapes.kind[b] == SHAPE_BOX:
            qa, qb = orientation[a], orientation[b]
            if is_upright(qa) and is_upright(qb):
                fx, fy, fz = x - step * u, y - step * v, z - step * w
                if upright_meeting(sizes[a], qa, sizes[b], qb, fx, fy, fz, u, v, w, step, SLACK) > step:
                    return False
    if two < 0 and shapes.kind[b] == SHAPE_MESH:
        if outside_box(shapes.size[b], orientation[b], -x, -y, -z, reach[a] + SLACK):
            return False
    # a contact that goes on from an earlier step does not begin again
    return not is_active(active_contacts, roles, a, b)


@inner
def first_literal_pair(segments, velocity, active_contacts, shapes, workspace, span, pairs, count):
    """Find the first pair that `find_literal_contacts` has to look at more closely; `count` for none."""
    for k in range(count):
        if may_meet(segments, velocity, active_contacts, shapes, workspace, span, pairs[k, 0], pairs[k, 1]):
            return k
    return count


@inner
def find_literal_contacts(
    segments,
    velocity,
    active_contacts,
    shapes,
    workspace,
    span,
    pairs,
    pair_workspace,
    paths,
    contacts,
    found,
):
    """Write a row for every contact without a vehicle that begins in a step.

    Parameters
    ----------
    segments : TrajectoryTables
        Literal movers have their poses at the end of the step.
    velocity, active_contacts : (bodies, 3), (moving, 4)
        Columns of the Snapshot; the second is written.
    shapes : Shapes
    workspace, pair_workspace, paths : BroadWorkspace, PairWorkspace, (3, 3, 4)
    span : (float, float)
        Beginning and end of the step [s].
    pairs : (n, 2) int64
        From `find_pairs`.
    contacts : (capacity, 12), out
    found : int
        Rows written so far.

    Returns
    -------
    int
        Rows written after it.
    """
    since, until = span
    roles, out = workspace.roles, pair_workspace.out
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        if not may_meet(segments, velocity, active_contacts, shapes, workspace, span, a, b):
            continue
        time = first_impact(segments, shapes, roles, a, b, since, until, pair_workspace, paths, out)
        if time < math.inf and add_contact(active_contacts, roles, a, b):
            nx, ny, nz = out[NORMAL], out[NORMAL + 1], out[NORMAL + 2]
            closing = -(
                paths[RELATIVE, VELOCITY, 0] * nx
                + paths[RELATIVE, VELOCITY, 1] * ny
                + paths[RELATIVE, VELOCITY, 2] * nz
            )
            # halfway between the nearest points
            px, py = out[NEAREST_ONE] + out[NEAREST_TWO], out[NEAREST_ONE + 1] + out[NEAREST_TWO + 1]
            place = 0.5 * px, 0.5 * py, 0.5 * (out[NEAREST_ONE + 2] + out[NEAREST_TWO + 2])
            write_row(contacts, found, time, a, b, place, (nx, ny, nz), closing, max(-out[DISTANCE], 0.0))
            found += 1
    return found
