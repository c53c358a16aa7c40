"""Slopes of rows by node 2 and by inputs, node 3 and all other impulses held.

A row's measure depends on node 2 if it is a motion of the step (a drive), or if a violated stop yields gradually; its
impulse responds with the stiffness of the solver. A stop of a joint with several rotations also acts along the slope of
its coordinate at node 2.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross, turned
from cbsim.dynamics.kernels.columns import (
    APPLIED,
    ARM2,
    CHILD,
    CHILD_VERTEX,
    COORDINATE,
    DOF,
    DRIVE,
    FLAGS,
    KIND,
    LOOP_JOINT,
    N_ROT,
    N_TRANS,
    PARENT,
    R2,
    RELATIVE2,
    ROW_ERP,
    ROW_FORCE,
    ROW_INPUT,
    ROW_LINK,
    ROW_SHARE,
    ROW_SHIFT,
    ROW_STIFF,
    SIGN,
    SLIDE_AXES,
    TURN_AXES,
)
from cbsim.dynamics.kernels.dampers import step_vector
from cbsim.dynamics.kernels.gradients.tables import FIRST_COLUMN, HELD, JOINT, LAST_COLUMN, MIX, add_product
from cbsim.dynamics.kernels.loop_joint_rows import axis_of_drive
from cbsim.dynamics.kernels.vectors import rotation_vector, slope_of_vector
from cbsim.jit import inlined, inner

__all__ = ["held_by_loop_joint", "held_by_rows", "row_slopes", "target_columns"]


@inner
def held_by_rows(links, link, joint, patch, row_link, row, limit_work):
    """Write HELD, the impulses of all stops of a joint with two or three free rotations, along its axes."""
    for b in range(links):
        patch[b, HELD], patch[b, HELD + 1], patch[b, HELD + 2] = 0.0, 0.0, 0.0
    for i in range(len(row_link)):
        b, c = row_link[i, ROW_LINK], row_link[i, COORDINATE] - link[row_link[i, ROW_LINK], N_TRANS]
        # about one axis the impulse acts along the axis whatever the coordinate
        if c < 0 or link[b, N_ROT] < 2 or link[b, FLAGS] & LOOP_JOINT:
            continue
        k, f = TURN_AXES + 3 * c, row[i, SIGN] * limit_work[i, ROW_FORCE]
        patch[b, HELD] += f * joint[b, k]
        patch[b, HELD + 1] += f * joint[b, k + 1]
        patch[b, HELD + 2] += f * joint[b, k + 2]


@inlined
def _measure_slope(link, joint, link_work, patch, row_link, row, limit_work, i):
    """Write to MIX the slope of the measure of row i by motions at node 2, (dx, φ) of child and parent; return if any.

    The measure depends on node 2 if it is the motion of a step, or if a violated stop yields.
    """
    b, c, share = row_link[i, ROW_LINK], row_link[i, COORDINATE], row[i, SIGN]
    if limit_work[i, ROW_STIFF] == 0.0:  # a motor that is switched off
        return False
    # a stop keeps (1 − ERP) of its violation at node 2; a drive is measured from node 2
    if row_link[i, KIND] != DRIVE:
        share *= -(1.0 - row[i, ROW_ERP])
        if share == 0.0 or limit_work[i, ROW_SHIFT] >= 0.0:
            return False
    elif c >= link[b, N_TRANS]:
        _motion_slope(link, joint, link_work, patch, b, TURN_AXES + 3 * (c - link[b, N_TRANS]))
        return True
    else:
        share = -share
    _coordinate_slope(link, joint, link_work, patch, b, c)
    for n in range(12):
        patch[b, MIX + n] *= share
    return True


@inlined
def _motion_slope(link, joint, link_work, patch, b, k):
    """Slope of the step's rotation s about the axis a in columns k … (in the child's frame at node 2), at node 2.

    A small rotation ρ of node 2 in that frame changes s by that of −s, reversed, and turns the axis by −ρ.
    """
    dx, dy, dz = step_vector(link_work, b)
    ax, ay, az = axis_of_drive(joint, link_work, b, k, link[b, N_ROT])
    tx, ty, tz = cross(dx, dy, dz, ax, ay, az)
    for n in range(12):
        patch[b, MIX + n] = 0.0
    for m in range(3):
        ex, ey, ez = 1.0 * (m == 0), 1.0 * (m == 1), 1.0 * (m == 2)
        ux, uy, uz = slope_of_vector(-dx, -dy, -dz, ex, ey, ez)
        along = ex * tx + ey * ty + ez * tz - (ax * ux + ay * uy + az * uz)
        for n in range(3):
            patch[b, MIX + 3 + n] += along * link_work[b, R2 + 3 * n + m]
            if link[b, PARENT] >= 0:
                patch[b, MIX + 9 + n] -= along * link_work[b, R2 + 3 * n + m]


@inner
def row_slopes(link, joint, link_work, patch, span, seed, carry, row_link, row, limit_work):
    """Add to JOINT, for loop joints to ``carry``, the change of rows when node 2 moves: share · stiffness · slope."""
    for i in range(len(row_link)):
        b = row_link[i, ROW_LINK]
        if not _measure_slope(link, joint, link_work, patch, row_link, row, limit_work, i):
            continue
        if not link[b, FLAGS] & LOOP_JOINT:
            for m in range(link[b, DOF]):
                s = limit_work[i, ROW_STIFF] * limit_work[i, ROW_SHARE + m]
                for n in range(12):
                    patch[b, JOINT + 12 * m + n] += s * patch[b, MIX + n]
            continue
        # on child and parent, by motions of child and parent
        for target in range(2):
            for moved in range(2):
                body, other = link[b, CHILD if target == 0 else PARENT], link[b, CHILD if moved == 0 else PARENT]
                if body < 0 or other < 0:
                    continue
                for m in range(6):
                    s = limit_work[i, ROW_STIFF] * limit_work[i, ROW_SHARE + 6 * target + m]
                    for n in range(6):
                        patch[b, MIX + 12 + 6 * m + n] = s * patch[b, MIX + 6 * moved + n]
                add_product(
                    carry, 6 * body, 1.0, patch, b, MIX + 12, 6, 6, 6, 1,
                    seed, 12 * other, span[other, FIRST_COLUMN], span[other, LAST_COLUMN],
                )  # fmt: skip


@inlined
def held_by_loop_joint(model, work, j, tx, ty, tz, px, py, pz):
    """Add the impulses of a loop joint's rows to its other loads.

    Along translations to APPLIED, to the torque (t) in the joint's frame, and to the load (p) along the coordinates of
    two or three free rotations.
    """
    link, joint, link_work = model.link, model.joint, work.link_work
    row_link, row, limit_work = model.row_link, model.row, work.limit_work
    slides = link[j, N_TRANS]
    for i in range(len(row_link)):
        if row_link[i, ROW_LINK] == j:
            c, f = row_link[i, COORDINATE], row[i, SIGN] * limit_work[i, ROW_FORCE]
            if c < slides:
                link_work[j, APPLIED + c] += f
                continue
            k = TURN_AXES + 3 * (c - slides)
            x, y, z = f * joint[j, k], f * joint[j, k + 1], f * joint[j, k + 2]
            # a stop acts along the slope of its coordinate, a drive along its axis
            if row_link[i, KIND] != DRIVE and link[j, N_ROT] > 1:
                px, py, pz = px + x, py + y, pz + z
            else:
                tx, ty, tz = tx + x, ty + y, tz + z
    return tx, ty, tz, px, py, pz


@inlined
def _coordinate_slope(link, joint, link_work, patch, b, c):
    """Write to MIX the slope of coordinate c at node 2 by motions (dx, φ) of the child, then of the parent."""
    slides, a = link[b, N_TRANS], link[b, PARENT]
    for n in range(12):
        patch[b, MIX + n] = 0.0
    if c < slides:
        k = SLIDE_AXES + 3 * c
        x, y, z = joint[b, k], joint[b, k + 1], joint[b, k + 2]
        if a >= 0:
            x, y, z = turned(link_work, a, R2, x, y, z)
        k = CHILD_VERTEX
        px, py, pz = turned(link_work, b, R2, joint[b, k], joint[b, k + 1], joint[b, k + 2])
        # by rotations of the child: (φ × p) · a = φ · (p × a)
        patch[b, MIX], patch[b, MIX + 1], patch[b, MIX + 2] = x, y, z
        patch[b, MIX + 3], patch[b, MIX + 4], patch[b, MIX + 5] = cross(px, py, pz, x, y, z)
        if a >= 0:
            patch[b, MIX + 6], patch[b, MIX + 7], patch[b, MIX + 8] = -x, -y, -z
            # the axis turns with the parent: (φ × a) · r = φ · (a × r), with r from the parent's centre to the child's
            # vertex
            px, py, pz = px + link_work[b, ARM2], py + link_work[b, ARM2 + 1], pz + link_work[b, ARM2 + 2]
            patch[b, MIX + 9], patch[b, MIX + 10], patch[b, MIX + 11] = cross(x, y, z, px, py, pz)
        return
    k, o = TURN_AXES + 3 * (c - slides), RELATIVE2
    vx, vy, vz = rotation_vector(link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3])
    # the child turns against the parent by R₂ᵀ (φ − φ of the parent), in axes of the child
    for m in range(3):
        ex, ey, ez = slope_of_vector(vx, vy, vz, 1.0 * (m == 0), 1.0 * (m == 1), 1.0 * (m == 2))
        along = ex * joint[b, k] + ey * joint[b, k + 1] + ez * joint[b, k + 2]
        for n in range(3):
            patch[b, MIX + 3 + n] += along * link_work[b, R2 + 3 * n + m]
            if a >= 0:
                patch[b, MIX + 9 + n] -= along * link_work[b, R2 + 3 * n + m]


@inner
def target_columns(link, carry, missing, row_link, limit_work, h, first):
    """Write the columns of motors: target velocities, from column ``first`` on."""
    for i in range(len(row_link)):
        # a motor's measure is its motion less h · target
        b, column, k = row_link[i, ROW_LINK], first + row_link[i, ROW_INPUT], h * limit_work[i, ROW_STIFF]
        if row_link[i, ROW_INPUT] < 0:
            continue
        for m in range(6):
            if not link[b, FLAGS] & LOOP_JOINT:
                missing[6 * b + m, column] = -k * limit_work[i, ROW_SHARE + m]
                continue
            carry[6 * link[b, CHILD] + m, column] -= k * limit_work[i, ROW_SHARE + m]
            if link[b, PARENT] >= 0:
                carry[6 * link[b, PARENT] + m, column] -= k * limit_work[i, ROW_SHARE + 6 + m]
