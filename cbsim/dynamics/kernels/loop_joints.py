"""Loop joints: joints that close a loop, kept as constraints with multipliers.

The rows of a loop joint are its constrained translations and rotations at node 3; the wrenches of its multipliers act
at node 2 (docs/theory/joints_and_loops.md §5). Row i is a wrench (e, arm × e) or (0, R_b Mᵀ a) on the child; its
opposite, about the parent's centre of mass, acts on the parent. The same rows at node 3 are the slopes.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross, turn_back, turned
from cbsim.dynamics.kernels.begin_step import separation, turn_between
from cbsim.dynamics.kernels.columns import (
    APPLIED,
    ARM2,
    ARM3,
    CHILD,
    CHILD_VERTEX,
    DOF,
    MISSING,
    MULTIPLIER,
    N_ROT,
    N_TRANS,
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
    TURN_AXES,
    X3,
    W,
)
from cbsim.jit import inlined

__all__ = ["apply_loop_joint", "begin_loop_joint", "evaluate_loop_joint", "loop_blocks"]


@inlined
def _rows(link, joint, link_work, j, matrix, s, x, y, z, out):
    """Write the wrench on the child per unit of each constrained direction."""
    a, slides, turns = link[j, PARENT], link[j, N_TRANS], link[j, N_ROT]
    k = CHILD_VERTEX
    px, py, pz = turned(link_work, j, matrix, joint[j, k], joint[j, k + 1], joint[j, k + 2])
    row = 0
    # free directions come first in the tables of axes: the constrained ones begin behind them
    for i in range(slides, 3):
        k, o = SLIDE_AXES + 3 * i, out + 6 * row
        ex, ey, ez = joint[j, k], joint[j, k + 1], joint[j, k + 2]
        if a >= 0:
            ex, ey, ez = turned(link_work, a, matrix, ex, ey, ez)
        link_work[j, o], link_work[j, o + 1], link_work[j, o + 2] = ex, ey, ez
        link_work[j, o + 3], link_work[j, o + 4], link_work[j, o + 5] = cross(px, py, pz, ex, ey, ez)
        row += 1
    for i in range(turns, 3):
        k, o = TURN_AXES + 3 * i, out + 6 * row
        ax, ay, az = joint[j, k], joint[j, k + 1], joint[j, k + 2]
        # row of the vector part of the relative rotation: Mᵀ a, M = (s 1 + [v]×) / 2, in world axes
        cx, cy, cz = cross(x, y, z, ax, ay, az)
        ax, ay, az = turned(link_work, j, matrix, 0.5 * (s * ax - cx), 0.5 * (s * ay - cy), 0.5 * (s * az - cz))
        link_work[j, o], link_work[j, o + 1], link_work[j, o + 2] = 0.0, 0.0, 0.0
        link_work[j, o + 3], link_work[j, o + 4], link_work[j, o + 5] = ax, ay, az
        row += 1


@inlined
def begin_loop_joint(link, joint, link_work, j, tx, ty, tz):
    """Set the loop joint's rows at node 2 and apply its springs and inputs to both bodies.

    Precondition: `begin_joint` has run on the row of the loop joint, with the child's pose; it returns the torque.
    """
    a, b = link[j, PARENT], link[j, CHILD]
    o = RELATIVE2
    _rows(
        link,
        joint,
        link_work,
        j,
        R2,
        link_work[j, o],
        link_work[j, o + 1],
        link_work[j, o + 2],
        link_work[j, o + 3],
        PULL2,
    )
    # spring and input force along the free translations, in the parent's frame
    fx, fy, fz = 0.0, 0.0, 0.0
    for i in range(link[j, N_TRANS]):
        k, f = SLIDE_AXES + 3 * i, link_work[j, APPLIED + i]
        fx, fy, fz = fx + f * joint[j, k], fy + f * joint[j, k + 1], fz + f * joint[j, k + 2]
    # the torque is in the joint's frame, which differs from the child's by the relative rotation
    tx, ty, tz = _joint_to_world(link_work, j, tx, ty, tz)
    if a >= 0:
        fx, fy, fz = turned(link_work, a, R2, fx, fy, fz)
    k = CHILD_VERTEX
    px, py, pz = turned(link_work, j, R2, joint[j, k], joint[j, k + 1], joint[j, k + 2])
    cx, cy, cz = cross(px, py, pz, fx, fy, fz)
    _load(link_work, a, b, j, fx, fy, fz, tx + cx, ty + cy, tz + cz, PUSH, 1.0)


@inlined
def _joint_to_world(link_work, j, tx, ty, tz):
    """Rotate a vector from the joint's frame to the world at node 2: through the child, R_b r⁻¹."""
    o = RELATIVE2
    s, x, y, z = link_work[j, o], link_work[j, o + 1], link_work[j, o + 2], link_work[j, o + 3]
    return turned(link_work, j, R2, *turn_back(s, x, y, z, tx, ty, tz))


@inlined
def _load(link_work, a, b, j, fx, fy, fz, tx, ty, tz, target, sign):
    """Add a wrench to the child and subtract it from the parent; ARM2 of the loop joint connects their centres."""
    link_work[b, target] += sign * fx
    link_work[b, target + 1] += sign * fy
    link_work[b, target + 2] += sign * fz
    link_work[b, target + 3] += sign * tx
    link_work[b, target + 4] += sign * ty
    link_work[b, target + 5] += sign * tz
    if a >= 0:
        # the opposite wrench at the parent acts about the parent's centre of mass
        cx, cy, cz = cross(link_work[j, ARM2], link_work[j, ARM2 + 1], link_work[j, ARM2 + 2], fx, fy, fz)
        link_work[a, target] -= sign * fx
        link_work[a, target + 1] -= sign * fy
        link_work[a, target + 2] -= sign * fz
        link_work[a, target + 3] -= sign * (tx + cx)
        link_work[a, target + 4] -= sign * (ty + cy)
        link_work[a, target + 5] -= sign * (tz + cz)


@inlined
def evaluate_loop_joint(link, joint, link_work, j):
    """Evaluate the loop joint at node 3: free coordinates and MISSING, the gap of the loop; return the largest gap."""
    a, b = link[j, PARENT], link[j, CHILD]
    # pose of the child at node 3, in the row of the loop joint
    # X3, Q3 and R3 are adjacent, 16 columns
    for k in range(16):
        link_work[j, X3 + k] = link_work[b, X3 + k]
    if a >= 0:
        for k in range(3):
            link_work[j, ARM3 + k] = link_work[b, X3 + k] - link_work[a, X3 + k]
    s, x, y, z = turn_between(link, joint, link_work, j, a, b, Q3)
    link_work[j, RELATIVE], link_work[j, RELATIVE + 1], link_work[j, RELATIVE + 2], link_work[j, RELATIVE + 3] = (
        s,
        x,
        y,
        z,
    )
    # along free directions displacements are coordinates, along the others gaps
    dx, dy, dz = separation(joint, link_work, a, j, X3, R3)
    row, worst = 0, 0.0
    for i in range(link[j, N_TRANS]):
        k = SLIDE_AXES + 3 * i
        link_work[j, SHIFT + i] = dx * joint[j, k] + dy * joint[j, k + 1] + dz * joint[j, k + 2]
    for i in range(link[j, N_TRANS], 3):
        k = SLIDE_AXES + 3 * i
        link_work[j, MISSING + row] = dx * joint[j, k] + dy * joint[j, k + 1] + dz * joint[j, k + 2]
        row += 1
    for i in range(link[j, N_ROT], 3):
        k = TURN_AXES + 3 * i
        link_work[j, MISSING + row] = x * joint[j, k] + y * joint[j, k + 1] + z * joint[j, k + 2]
        row += 1
    for i in range(row):
        worst = max(worst, abs(link_work[j, MISSING + i]))
    return worst


@inlined
def apply_loop_joint(link, link_work, j):
    """Subtract the multipliers' wrenches from the residuals of the bodies."""
    for i in range(link[j, DOF]):
        o, m = PULL2 + 6 * i, link_work[j, MULTIPLIER + i]
        _load(
            link_work, link[j, PARENT], link[j, CHILD], j, link_work[j, o], link_work[j, o + 1], link_work[j, o + 2],
            link_work[j, o + 3], link_work[j, o + 4], link_work[j, o + 5], RESIDUAL, -m,
        )  # fmt: skip


@inlined
def loop_blocks(link, joint, link_work, block, loop_block, j, c):
    """Write the blocks between loop joint j (number c among loop joints), its child and its parent."""
    a, o = link[j, PARENT], RELATIVE
    _rows(
        link, joint, link_work, j, R3, link_work[j, o], link_work[j, o + 1], link_work[j, o + 2], link_work[j, o + 3], W
    )
    for i in range(link[j, DOF]):
        for side in range(2):  # slopes (rows of the loop joint), then wrenches (columns of the loop joint)
            k = W + 6 * i if side == 0 else PULL2 + 6 * i
            arm = ARM3 if side == 0 else ARM2
            sign = 1.0 if side == 0 else -1.0
            down, up = loop_block[c, 2 * side], loop_block[c, 2 * side + 1]
            # slopes are rows of a block, wrenches its columns
            # the wrench on the parent has the moment of the arm between both centres of mass as well
            stride, first = (1, 6 * i) if side == 0 else (6, i)
            ex, ey, ez = link_work[j, k], link_work[j, k + 1], link_work[j, k + 2]
            cx, cy, cz = cross(link_work[j, arm], link_work[j, arm + 1], link_work[j, arm + 2], ex, ey, ez)
            for m in range(6):
                block[down, first + stride * m] += sign * link_work[j, k + m]
                if a >= 0:
                    block[up, first + stride * m] -= sign * link_work[j, k + m]
            if a >= 0:
                block[up, first + stride * 3] -= sign * cx
                block[up, first + stride * 4] -= sign * cy
                block[up, first + stride * 5] -= sign * cz
