"""Joints: free motions at either node, pose of the child, increments of coordinates.

A joint of ``slides`` free translations and ``turns`` free rotations has a translation s in the parent's frame and a
rotation r in the joint's: x_b = x_a + R_a (p_a + Aᵀ s) − R_b p_b, q_b = q_a ∘ q_off ∘ r. With two free rotations the
vector part of r has no component along the third axis (docs/theory/joints_and_loops.md §2).
"""

from __future__ import annotations

import math

from cbsim.dynamics.kernels.algebra import cross, product, rotation, turned, unit
from cbsim.dynamics.kernels.columns import (
    ARM3,
    CHILD_VERTEX,
    FLAGS,
    FREE,
    N_ROT,
    N_TRANS,
    OFFSET,
    ORIENTATION,
    PARENT,
    PARENT_VERTEX,
    Q3,
    R3,
    RELATIVE,
    SHIFT,
    SLIDE_AXES,
    STEP,
    TURN_AXES,
    X3,
)
from cbsim.jit import inlined

__all__ = ["free_motions", "free_turns", "increment", "place"]


@inlined
def place(link, joint, link_work, b):
    """Compute the pose of a link at node 3 from its parent's and the joint's translation and rotation."""
    a = link[b, PARENT]
    e, f, g, h = (
        link_work[b, RELATIVE],
        link_work[b, RELATIVE + 1],
        link_work[b, RELATIVE + 2],
        link_work[b, RELATIVE + 3],
    )
    if link[b, FLAGS] & OFFSET:
        k = ORIENTATION
        e, f, g, h = product(joint[b, k], joint[b, k + 1], joint[b, k + 2], joint[b, k + 3], e, f, g, h)
    # joint point in the parent's frame: vertex and free translation
    sx, sy, sz = joint[b, PARENT_VERTEX], joint[b, PARENT_VERTEX + 1], joint[b, PARENT_VERTEX + 2]
    for i in range(link[b, N_TRANS]):
        k = SLIDE_AXES + 3 * i
        s = link_work[b, SHIFT + i]
        sx += s * joint[b, k]
        sy += s * joint[b, k + 1]
        sz += s * joint[b, k + 2]
    if a >= 0:
        e, f, g, h = product(
            link_work[a, Q3], link_work[a, Q3 + 1], link_work[a, Q3 + 2], link_work[a, Q3 + 3], e, f, g, h
        )
        sx, sy, sz = turned(link_work, a, R3, sx, sy, sz)
    link_work[b, Q3], link_work[b, Q3 + 1], link_work[b, Q3 + 2], link_work[b, Q3 + 3] = e, f, g, h
    rotation(link_work, b, R3, e, f, g, h)
    # the joint's point of the child must be at that place: subtract the arm from the centre of mass to it
    k = CHILD_VERTEX
    cx, cy, cz = turned(link_work, b, R3, joint[b, k], joint[b, k + 1], joint[b, k + 2])
    # from the parent's centre of mass to the child's
    sx, sy, sz = sx - cx, sy - cy, sz - cz
    link_work[b, ARM3], link_work[b, ARM3 + 1], link_work[b, ARM3 + 2] = sx, sy, sz
    if a >= 0:
        sx, sy, sz = sx + link_work[a, X3], sy + link_work[a, X3 + 1], sz + link_work[a, X3 + 2]
    link_work[b, X3], link_work[b, X3 + 1], link_work[b, X3 + 2] = sx, sy, sz


@inlined
def free_turns(joint, b, turns, i, s, x, y, z):
    """Free axis i of rotation, in the child's frame, of a joint with relative rotation (s, x, y, z).

    For two free rotations these are the directions normal to Mᵀ e₃, M = (s 1 + [v]×) / 2, the gradient of the one
    constraint (docs/theory/joints_and_loops.md §9).
    """
    k = TURN_AXES
    if turns != 2:
        return joint[b, k + 3 * i], joint[b, k + 3 * i + 1], joint[b, k + 3 * i + 2]
    vx, vy, vz = joint[b, k + 6], joint[b, k + 7], joint[b, k + 8]
    # gradient of the constraint by rotations of the child, c = s e₃ + e₃ × v, normalized
    cx, cy, cz = cross(vx, vy, vz, x, y, z)
    cx, cy, cz = s * vx + cx, s * vy + cy, s * vz + cz
    scale = 1.0 / math.sqrt(cx * cx + cy * cy + cz * cz)
    cx, cy, cz = cx * scale, cy * scale, cz * scale
    # first free axis: the fixed axis that is least parallel to c, made orthogonal to it
    first = cx * joint[b, k] + cy * joint[b, k + 1] + cz * joint[b, k + 2]
    second = cx * joint[b, k + 3] + cy * joint[b, k + 4] + cz * joint[b, k + 5]
    if abs(second) < abs(first):
        k, first = k + 3, second
    x, y, z = joint[b, k] - first * cx, joint[b, k + 1] - first * cy, joint[b, k + 2] - first * cz
    scale = 1.0 / math.sqrt(x * x + y * y + z * z)
    x, y, z = x * scale, y * scale, z * scale
    if i == 0:
        return x, y, z
    return cross(cx, cy, cz, x, y, z)


@inlined
def free_motions(link, joint, link_work, b, out, rotation_of_child, relative, parent_rotation):
    """Write the free motions (rows: translation, rotation, in the world) of the joint of link b.

    Free translations are along the parent's axes, free rotations about the joint's point of the child.
    """
    slides, turns, a = link[b, N_TRANS], link[b, N_ROT], link[b, PARENT]
    if link[b, FLAGS] & FREE:
        return  # axes of the world, constant
    for i in range(slides):
        k = SLIDE_AXES + 3 * i
        x, y, z = joint[b, k], joint[b, k + 1], joint[b, k + 2]
        if a >= 0:
            x, y, z = turned(link_work, a, parent_rotation, x, y, z)
        o = out + 6 * i
        link_work[b, o], link_work[b, o + 1], link_work[b, o + 2] = x, y, z
        link_work[b, o + 3], link_work[b, o + 4], link_work[b, o + 5] = 0.0, 0.0, 0.0
    s, vx, vy, vz = (
        link_work[b, relative],
        link_work[b, relative + 1],
        link_work[b, relative + 2],
        link_work[b, relative + 3],
    )
    k = CHILD_VERTEX
    # a rotation about the joint's point moves the centre of mass by p × axis, with p from the centre to the point
    px, py, pz = turned(link_work, b, rotation_of_child, joint[b, k], joint[b, k + 1], joint[b, k + 2])
    for i in range(turns):
        x, y, z = free_turns(joint, b, turns, i, s, vx, vy, vz)
        x, y, z = turned(link_work, b, rotation_of_child, x, y, z)
        o = out + 6 * (slides + i)
        link_work[b, o], link_work[b, o + 1], link_work[b, o + 2] = cross(px, py, pz, x, y, z)
        link_work[b, o + 3], link_work[b, o + 4], link_work[b, o + 5] = x, y, z


@inlined
def increment(link, joint, link_work, b, scale):
    """Add a scaled increment to the joint's translation and rotation, projected onto what the joint allows."""
    slides, turns = link[b, N_TRANS], link[b, N_ROT]
    for i in range(slides):
        link_work[b, SHIFT + i] += scale * link_work[b, STEP + i]
    if turns == 0:
        return
    if link[b, FLAGS] & FREE:
        # floating base: increments about the axes of the world multiply from the left
        half, o = 0.5 * scale, STEP + 3
        s, x, y, z = product(
            1.0, half * link_work[b, o], half * link_work[b, o + 1], half * link_work[b, o + 2],
            link_work[b, RELATIVE], link_work[b, RELATIVE + 1], link_work[b, RELATIVE + 2], link_work[b, RELATIVE + 3],
        )  # fmt: skip
        s, x, y, z = unit(s, x, y, z)
        link_work[b, RELATIVE], link_work[b, RELATIVE + 1], link_work[b, RELATIVE + 2], link_work[b, RELATIVE + 3] = (
            s,
            x,
            y,
            z,
        )
        return
    s, x, y, z = (
        link_work[b, RELATIVE],
        link_work[b, RELATIVE + 1],
        link_work[b, RELATIVE + 2],
        link_work[b, RELATIVE + 3],
    )
    tx, ty, tz = 0.0, 0.0, 0.0
    for i in range(turns):
        ax, ay, az = free_turns(joint, b, turns, i, s, x, y, z)
        # increments about the child's axes multiply from the right, to first order and normalized
        half = 0.5 * scale * link_work[b, STEP + slides + i]
        tx, ty, tz = tx + half * ax, ty + half * ay, tz + half * az
    s, x, y, z = product(s, x, y, z, 1.0, tx, ty, tz)
    # back onto the constraint, which increments leave at second order
    if turns == 2:
        k = TURN_AXES + 6
        off = x * joint[b, k] + y * joint[b, k + 1] + z * joint[b, k + 2]
        x, y, z = x - off * joint[b, k], y - off * joint[b, k + 1], z - off * joint[b, k + 2]
    s, x, y, z = unit(s, x, y, z)
    link_work[b, RELATIVE], link_work[b, RELATIVE + 1], link_work[b, RELATIVE + 2], link_work[b, RELATIVE + 3] = (
        s,
        x,
        y,
        z,
    )
