"""Chords: joints that close a loop, kept as constraints with multipliers.

The constrained translations and rotations of a chord at node 3 are its rows, its multipliers' wrenches act at node 2
(docs/theory/joints_and_loops.md §5). Row i is a wrench (e, arm × e) or (0, R_b Mᵀ a) on the child; on the parent acts
its opposite, about the parent's centre of mass. The same rows at node 3 are the slopes.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross, turn_back, turned
from cbsim.dynamics.kernels.begin import relative_turn, separation
from cbsim.dynamics.kernels.columns import (
    APPLIED,
    ARM2,
    ARM3,
    CHILD,
    CHILD_VERTEX,
    DOF,
    MISSING,
    MULTIPLIER,
    PARENT,
    PULL2,
    PUSH,
    Q3,
    R2,
    R3,
    RELATIVE,
    RELATIVE2,
    RESIDUAL,
    SHIFT,
    SLIDE_AXES,
    SLIDES,
    TURN_AXES,
    TURNS,
    X3,
    W,
)
from cbsim.jit import inlined

__all__ = ["begin_chord", "chord_blocks", "pull_chord", "see_chord"]


@inlined
def _rows(link, joint, arena, j, matrix, s, x, y, z, out):
    """Write the wrench on the child of a unit of each constrained direction."""
    a, slides, turns = link[j, PARENT], link[j, SLIDES], link[j, TURNS]
    k = CHILD_VERTEX
    px, py, pz = turned(arena, j, matrix, joint[j, k], joint[j, k + 1], joint[j, k + 2])
    row = 0
    for i in range(slides, 3):
        k, o = SLIDE_AXES + 3 * i, out + 6 * row
        ex, ey, ez = joint[j, k], joint[j, k + 1], joint[j, k + 2]
        if a >= 0:
            ex, ey, ez = turned(arena, a, matrix, ex, ey, ez)
        arena[j, o], arena[j, o + 1], arena[j, o + 2] = ex, ey, ez
        arena[j, o + 3], arena[j, o + 4], arena[j, o + 5] = cross(px, py, pz, ex, ey, ez)
        row += 1
    for i in range(turns, 3):
        k, o = TURN_AXES + 3 * i, out + 6 * row
        ax, ay, az = joint[j, k], joint[j, k + 1], joint[j, k + 2]
        cx, cy, cz = cross(x, y, z, ax, ay, az)
        ax, ay, az = turned(arena, j, matrix, 0.5 * (s * ax - cx), 0.5 * (s * ay - cy), 0.5 * (s * az - cz))
        arena[j, o], arena[j, o + 1], arena[j, o + 2] = 0.0, 0.0, 0.0
        arena[j, o + 3], arena[j, o + 4], arena[j, o + 5] = ax, ay, az
        row += 1


@inlined
def begin_chord(link, joint, arena, j, tx, ty, tz):
    """Set the chord's rows at node 2 and put its springs and inputs on both bodies.

    `begin_joint` has run on the row of the chord, with the child's pose in it; the torque is what it returned.
    """
    a, b = link[j, PARENT], link[j, CHILD]
    o = RELATIVE2
    _rows(link, joint, arena, j, R2, arena[j, o], arena[j, o + 1], arena[j, o + 2], arena[j, o + 3], PULL2)
    fx, fy, fz = 0.0, 0.0, 0.0
    for i in range(link[j, SLIDES]):
        k, f = SLIDE_AXES + 3 * i, arena[j, APPLIED + i]
        fx, fy, fz = fx + f * joint[j, k], fy + f * joint[j, k + 1], fz + f * joint[j, k + 2]
    # the torque stands in the joint's frame, which is the child's but for the relative rotation
    tx, ty, tz = _joint_to_world(arena, j, tx, ty, tz)
    if a >= 0:
        fx, fy, fz = turned(arena, a, R2, fx, fy, fz)
    k = CHILD_VERTEX
    px, py, pz = turned(arena, j, R2, joint[j, k], joint[j, k + 1], joint[j, k + 2])
    cx, cy, cz = cross(px, py, pz, fx, fy, fz)
    _load(arena, a, b, j, fx, fy, fz, tx + cx, ty + cy, tz + cz, PUSH, 1.0)


@inlined
def _joint_to_world(arena, j, tx, ty, tz):
    """Turn a vector from the joint's frame into the world at node 2: through the child, R_b r⁻¹."""
    o = RELATIVE2
    s, x, y, z = arena[j, o], arena[j, o + 1], arena[j, o + 2], arena[j, o + 3]
    return turned(arena, j, R2, *turn_back(s, x, y, z, tx, ty, tz))


@inlined
def _load(arena, a, b, j, fx, fy, fz, tx, ty, tz, target, sign):
    """Add a wrench to a child and take it from the parent; ARM2 of the chord lies between their centres."""
    arena[b, target] += sign * fx
    arena[b, target + 1] += sign * fy
    arena[b, target + 2] += sign * fz
    arena[b, target + 3] += sign * tx
    arena[b, target + 4] += sign * ty
    arena[b, target + 5] += sign * tz
    if a >= 0:
        cx, cy, cz = cross(arena[j, ARM2], arena[j, ARM2 + 1], arena[j, ARM2 + 2], fx, fy, fz)
        arena[a, target] -= sign * fx
        arena[a, target + 1] -= sign * fy
        arena[a, target + 2] -= sign * fz
        arena[a, target + 3] -= sign * (tx + cx)
        arena[a, target + 4] -= sign * (ty + cy)
        arena[a, target + 5] -= sign * (tz + cz)


@inlined
def see_chord(link, joint, arena, j):
    """Look at the chord at node 3: what is free of it, and MISSING, how far the loop is open; the largest of that."""
    a, b = link[j, PARENT], link[j, CHILD]
    for k in range(16):
        arena[j, X3 + k] = arena[b, X3 + k]
    s, x, y, z = arena[b, Q3], arena[b, Q3 + 1], arena[b, Q3 + 2], arena[b, Q3 + 3]
    if a >= 0:
        for k in range(3):
            arena[j, ARM3 + k] = arena[b, X3 + k] - arena[a, X3 + k]
        s, x, y, z = relative_turn(
            link, joint, j, arena[a, Q3], arena[a, Q3 + 1], arena[a, Q3 + 2], arena[a, Q3 + 3], s, x, y, z
        )
    else:
        s, x, y, z = relative_turn(link, joint, j, 1.0, 0.0, 0.0, 0.0, s, x, y, z)
    arena[j, RELATIVE], arena[j, RELATIVE + 1], arena[j, RELATIVE + 2], arena[j, RELATIVE + 3] = s, x, y, z
    dx, dy, dz = separation(joint, arena, a, j, X3, R3)
    row, worst = 0, 0.0
    for i in range(link[j, SLIDES]):
        k = SLIDE_AXES + 3 * i
        arena[j, SHIFT + i] = dx * joint[j, k] + dy * joint[j, k + 1] + dz * joint[j, k + 2]
    for i in range(link[j, SLIDES], 3):
        k = SLIDE_AXES + 3 * i
        arena[j, MISSING + row] = dx * joint[j, k] + dy * joint[j, k + 1] + dz * joint[j, k + 2]
        row += 1
    for i in range(link[j, TURNS], 3):
        k = TURN_AXES + 3 * i
        arena[j, MISSING + row] = x * joint[j, k] + y * joint[j, k + 1] + z * joint[j, k + 2]
        row += 1
    for i in range(row):
        worst = max(worst, abs(arena[j, MISSING + i]))
    return worst


@inlined
def pull_chord(link, arena, j):
    """Take the multipliers' wrenches off what the bodies miss."""
    for i in range(link[j, DOF]):
        o, m = PULL2 + 6 * i, arena[j, MULTIPLIER + i]
        _load(
            arena, link[j, PARENT], link[j, CHILD], j,
            arena[j, o], arena[j, o + 1], arena[j, o + 2], arena[j, o + 3], arena[j, o + 4], arena[j, o + 5],
            RESIDUAL, -m,
        )  # fmt: skip


@inlined
def chord_blocks(link, joint, arena, block, chord_block, j, c):
    """Write the blocks between chord j (number c among chords), its child and its parent."""
    a, o = link[j, PARENT], RELATIVE
    _rows(link, joint, arena, j, R3, arena[j, o], arena[j, o + 1], arena[j, o + 2], arena[j, o + 3], W)
    for i in range(link[j, DOF]):
        for side in range(2):  # slopes (rows of the chord), then wrenches (columns of the chord)
            k = W + 6 * i if side == 0 else PULL2 + 6 * i
            arm = ARM3 if side == 0 else ARM2
            sign = 1.0 if side == 0 else -1.0
            down, up = chord_block[c, 2 * side], chord_block[c, 2 * side + 1]
            stride, first = (1, 6 * i) if side == 0 else (6, i)
            ex, ey, ez = arena[j, k], arena[j, k + 1], arena[j, k + 2]
            cx, cy, cz = cross(arena[j, arm], arena[j, arm + 1], arena[j, arm + 2], ex, ey, ez)
            for m in range(6):
                block[down, first + stride * m] += sign * arena[j, k + m]
                if a >= 0:
                    block[up, first + stride * m] -= sign * arena[j, k + m]
            if a >= 0:
                block[up, first + stride * 3] -= sign * cx
                block[up, first + stride * 4] -= sign * cy
                block[up, first + stride * 5] -= sign * cz
