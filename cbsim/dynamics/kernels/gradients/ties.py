"""Slopes of contacts and loop joints by node 2, node 3 and all impulses held.

A contact depends on node 2 through its slip, the velocity of the step, and if it is soft, through its penetration; its
impulses are condensed as in the solver. A loop joint acts with wrenches at node 2, in the frames of the parent (forces,
springs) and of the child (constrained rotations), multipliers held.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross, turn_back, turned, turned_back
from cbsim.dynamics.kernels.begin_step import begin_joint, spring_pull
from cbsim.dynamics.kernels.columns import (
    ACTIVE,
    APPLIED,
    ARM2,
    AXES,
    BOUNCES,
    CHILD,
    CHILD_VERTEX,
    FLAGS,
    IMPACT,
    INPUT,
    LAW,
    MAP,
    MULTIPLIER,
    N_ROT,
    N_TRANS,
    NORMAL2,
    ONE,
    ONE_MINUS_ERP,
    OTHER,
    PARENT,
    POINT2,
    R2,
    RELATIVE2,
    RISE,
    SHIFT_OF_GAP,
    SLIDE_AXES,
    SPRING,
    SPRUNG,
    STIFF,
    TURN,
    TURN_AXES,
    VELOCITIES,
    X2,
)
from cbsim.dynamics.kernels.gradients.drives import held_by_loop_joint
from cbsim.dynamics.kernels.gradients.tables import BODY2, FIRST_COLUMN, LAST_COLUMN, MIX, add_product
from cbsim.dynamics.kernels.nearest_points import arm_of
from cbsim.dynamics.kernels.vectors import held_slope, rotation_vector, slope_of_vector
from cbsim.jit import inlined, inner

__all__ = ["add_contacts", "add_loop_joints", "loop_joint_inputs"]


@inner
def add_contacts(contact_link, contact, contact_work, link_work, patch, span, seed, carry, h):
    """Add the change of contact wrenches when node 2 moves to BODY2, between two bodies to ``carry``."""
    for i in range(len(contact_link)):
        left = 0.0
        # share of the gap at node 2 that the target keeps; a rebound is left to `gradient_drift`
        if contact_work[i, SHIFT_OF_GAP] < 0.0 and contact_work[i, BOUNCES] == 0.0:
            left = 1.0 if contact_work[i, RISE] > 0.0 else contact[i, ONE_MINUS_ERP]
        if contact_work[i, ACTIVE] == 0.0 or (contact_link[i, LAW] == IMPACT and left == 0.0):
            continue
        b, q = contact_link[i, ONE], contact_link[i, OTHER]
        _contact_block(contact_work, link_work, patch, i, b, 1.0, 0, b, BODY2, h, left)
        if q < 0:
            continue
        _contact_block(contact_work, link_work, patch, i, q, -1.0, 6, q, BODY2, h, left)
        for target, moved, sign, wrench in ((b, q, -1.0, 0), (q, b, 1.0, 6)):
            for k in range(36):
                patch[b, MIX + k] = 0.0
            _contact_block(contact_work, link_work, patch, i, moved, sign, wrench, b, MIX, h, left)
            first, last = span[moved, FIRST_COLUMN], span[moved, LAST_COLUMN]
            add_product(carry, 6 * target, 1.0, patch, b, MIX, 6, 6, 6, 1, seed, 12 * moved, first, last)


@inner
def _contact_block(contact_work, link_work, patch, i, moved, sign, wrench, row, base, h, left):
    """Subtract MAPᵀ STIFF · (slopes of the slip by a body's motion at node 2) from the block in a row of ``patch``.

    The slope of the gap is included if a share ``left`` of the gap at node 2 may remain.
    """
    if left > 0.0:
        k = NORMAL2
        x, y, z = (
            -left * sign * contact_work[i, k],
            -left * sign * contact_work[i, k + 1],
            -left * sign * contact_work[i, k + 2],
        )
        u, v, w = cross(
            contact_work[i, POINT2] - link_work[moved, X2],
            contact_work[i, POINT2 + 1] - link_work[moved, X2 + 1],
            contact_work[i, POINT2 + 2] - link_work[moved, X2 + 2],
            x, y, z,
        )  # fmt: skip
        slope = x, y, z, u, v, w
        for m in range(6):
            s = 0.0
            for n in range(3):
                s += contact_work[i, MAP + 12 * n + wrench + m] * contact_work[i, STIFF + 3 * n]
            for k in range(6):
                patch[row, base + 6 * m + k] -= s * slope[k]
    rate = sign / h
    rx, ry, rz = arm_of(contact_work, link_work, i, moved)
    c, px, py, pz = (
        link_work[moved, TURN],
        link_work[moved, TURN + 1],
        link_work[moved, TURN + 2],
        link_work[moved, TURN + 3],
    )
    for j in range(2):
        o = AXES + 3 + 3 * j
        x, y, z = contact_work[i, o], contact_work[i, o + 1], contact_work[i, o + 2]
        mx, my, mz = cross(rx, ry, rz, x, y, z)
        ux, uy, uz = cross(px, py, pz, mx, my, mz)
        # a translation of node 2 changes the slip by −t / h, a rotation φ the half-angle vector by −(c φ + P × φ) / 2
        slope = -rate * x, -rate * y, -rate * z, rate * (ux - c * mx), rate * (uy - c * my), rate * (uz - c * mz)
        for m in range(6):
            s = 0.0
            for n in range(3):
                s += contact_work[i, MAP + 12 * n + wrench + m] * contact_work[i, STIFF + 3 * n + 1 + j]
            for k in range(6):
                patch[row, base + 6 * m + k] -= s * slope[k]


@inlined
def _wrench_of_loop_joint(link, joint, link_work, j, torque, stiff, qx, qy, qz):
    """Change of the torque of a loop joint's spring on its child that rotates by (q), also along its coordinates.

    In the child's frame; the second is nonzero only with several free rotations.
    """
    turns, o, ux, uy, uz = link[j, N_ROT], RELATIVE2, 0.0, 0.0, 0.0
    s, x, y, z = link_work[j, o], link_work[j, o + 1], link_work[j, o + 2], link_work[j, o + 3]
    vx, vy, vz = rotation_vector(s, x, y, z)
    hx, hy, hz = slope_of_vector(vx, vy, vz, qx, qy, qz)
    gx, gy, gz = 0.0, 0.0, 0.0
    for k in range(TURN_AXES, TURN_AXES + 3 * turns, 3):
        f = -stiff * (hx * joint[j, k] + hy * joint[j, k + 1] + hz * joint[j, k + 2])
        gx, gy, gz = gx + f * joint[j, k], gy + f * joint[j, k + 1], gz + f * joint[j, k + 2]
    # slope at −v: transpose of that at v, from loads along coordinates to a torque in the child's frame
    if turns > 1:
        gx, gy, gz = slope_of_vector(-vx, -vy, -vz, gx, gy, gz)
        ux, uy, uz = held_slope(vx, vy, vz, torque[3], torque[4], torque[5], hx, hy, hz)
        gx, gy, gz = gx + ux, gy + uy, gz + uz
        ux, uy, uz = slope_of_vector(-vx, -vy, -vz, torque[3], torque[4], torque[5])
    else:
        gx, gy, gz = turn_back(s, x, y, z, gx, gy, gz)
    return gx, gy, gz, ux, uy, uz


@inlined
def _loop_joint_wrench(link, joint, link_work, j, torque, stiff, moved, turned_child, turned_parent):
    """Change of the wrench of loop joint j on its child, which moves relative to the parent; both turn.

    ``torque`` is given in the joint's frame, ``torque[3:]`` along the coordinates of two or three rotations; ``stiff``
    is the spring's [N s/m]. Return force and torque, and the force before.
    """
    (dx, dy, dz), (bx, by, bz), (ax, ay, az) = moved, turned_child, turned_parent
    a, slides, turns, o = link[j, PARENT], link[j, N_TRANS], link[j, N_ROT], RELATIVE2
    s, x, y, z = link_work[j, o], link_work[j, o + 1], link_work[j, o + 2], link_work[j, o + 3]
    k = CHILD_VERTEX
    px, py, pz = turned(link_work, j, R2, joint[j, k], joint[j, k + 1], joint[j, k + 2])
    ux, uy, uz = cross(bx, by, bz, px, py, pz)
    # the parent carries the child's point of the joint about its own centre of mass
    vx, vy, vz = cross(ax, ay, az, px + link_work[j, ARM2], py + link_work[j, ARM2 + 1], pz + link_work[j, ARM2 + 2])
    if a < 0:
        vx, vy, vz = 0.0, 0.0, 0.0
    gx, gy, gz = dx + ux - vx, dy + uy - vy, dz + uz - vz  # change of the separation, in the parent's frame
    if a >= 0:
        gx, gy, gz = turned_back(link_work, a, R2, gx, gy, gz)
    qx, qy, qz = turned_back(link_work, j, R2, bx - ax, by - ay, bz - az)  # relative rotation, in the child's frame
    # change of the relative rotation (s, v) by q
    ds = -0.5 * (x * qx + y * qy + z * qz)
    wx, wy, wz = cross(x, y, z, qx, qy, qz)
    wx, wy, wz = 0.5 * (s * qx + wx), 0.5 * (s * qy + wy), 0.5 * (s * qz + wz)
    fx, fy, fz, lx, ly, lz, row = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0  # force in the parent's frame, and its change
    for i in range(3):
        k = SLIDE_AXES + 3 * i
        ex, ey, ez = joint[j, k], joint[j, k + 1], joint[j, k + 2]
        f = link_work[j, APPLIED + i] if i < slides else link_work[j, MULTIPLIER + row]
        row += i >= slides
        fx, fy, fz = fx + f * ex, fy + f * ey, fz + f * ez
        if i < slides:
            f = -stiff * (ex * gx + ey * gy + ez * gz)
            lx, ly, lz = lx + f * ex, ly + f * ey, lz + f * ez
    if a >= 0:
        fx, fy, fz = turned(link_work, a, R2, fx, fy, fz)
        lx, ly, lz = turned(link_work, a, R2, lx, ly, lz)
    # the force turns with the parent; the arm to it turns with the child
    vx, vy, vz = cross(ax, ay, az, fx, fy, fz)
    lx, ly, lz = lx + vx, ly + vy, lz + vz
    cx, cy, cz = cross(ux, uy, uz, fx, fy, fz)
    vx, vy, vz = cross(px, py, pz, lx, ly, lz)
    cx, cy, cz = cx + vx, cy + vy, cz + vz
    tx, ty, tz, mx, my, mz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0  # constrained torque in the child's frame, and its change
    for i in range(turns, 3):
        k, f = TURN_AXES + 3 * i, 0.5 * link_work[j, MULTIPLIER + row]
        row += 1
        ex, ey, ez = f * joint[j, k], f * joint[j, k + 1], f * joint[j, k + 2]
        ux, uy, uz = cross(x, y, z, ex, ey, ez)
        tx, ty, tz = tx + s * ex - ux, ty + s * ey - uy, tz + s * ez - uz
        ux, uy, uz = cross(wx, wy, wz, ex, ey, ez)
        mx, my, mz = mx + ds * ex - ux, my + ds * ey - uy, mz + ds * ez - uz
    gx, gy, gz, ux, uy, uz = _wrench_of_loop_joint(link, joint, link_work, j, torque, stiff, qx, qy, qz)
    # torques in the child's frame (of the constraint, along coordinates) turn with it, those in the joint's with the
    # parent
    tx, ty, tz = tx + ux, ty + uy, tz + uz
    mx, my, mz = turned(link_work, j, R2, mx + gx, my + gy, mz + gz)
    tx, ty, tz = turned(link_work, j, R2, tx, ty, tz)
    ux, uy, uz = cross(bx, by, bz, tx, ty, tz)
    mx, my, mz = mx + ux, my + uy, mz + uz
    tx, ty, tz = turned(link_work, j, R2, *turn_back(s, x, y, z, torque[0], torque[1], torque[2]))
    ux, uy, uz = cross(ax, ay, az, tx, ty, tz)
    return lx, ly, lz, cx + mx + ux, cy + my + uy, cz + mz + uz, fx, fy, fz


@inlined
def _torque_of_loop_joint(link, joint, link_work, j, inputs, pull, scaling, stiff):
    """Torque of springs and inputs in the joint's frame; that along coordinates of several rotations separately."""
    tx, ty, tz = begin_joint(link, joint, link_work, j, inputs, pull, scaling)
    px, py, pz, turns, o = 0.0, 0.0, 0.0, link[j, N_ROT], RELATIVE2
    if turns > 1:
        x, y, z = rotation_vector(link_work[j, o], link_work[j, o + 1], link_work[j, o + 2], link_work[j, o + 3])
        px, py, pz = spring_pull(joint, j, turns, stiff, x, y, z)
        x, y, z = slope_of_vector(x, y, z, px, py, pz)
        tx, ty, tz = tx - x, ty - y, tz - z
    return tx, ty, tz, px, py, pz


@inner
def add_loop_joints(model, work, scratch, inputs, pull, scaling):
    """Add the change of the wrenches of loop joints on bodies when node 2 moves."""
    link, joint, link_work = model.link, model.joint, work.link_work
    patch, span, seed, carry = scratch.patch, scratch.span, scratch.seed, scratch.carry
    for j in range(model.links, len(link)):
        a, b = link[j, PARENT], link[j, CHILD]
        stiff = pull * joint[j, SPRING] if link[j, FLAGS] & SPRUNG else 0.0
        torque = _torque_of_loop_joint(link, joint, link_work, j, inputs, pull, scaling, stiff)
        torque = held_by_loop_joint(model, work, j, *torque)
        for body, other in ((b, 0), (a, 1)):
            if body < 0:
                continue
            for k in range(72):
                patch[j, MIX + k] = 0.0
            for m in range(6):
                u = 1.0 * (m == 0), 1.0 * (m == 1), 1.0 * (m == 2)
                w = 1.0 * (m == 3), 1.0 * (m == 4), 1.0 * (m == 5)
                # a translation of the parent is one of the child the other way
                way = 1.0 - 2.0 * other
                own = 1.0 - other
                fx, fy, fz, tx, ty, tz, gx, gy, gz = _loop_joint_wrench(
                    link, joint, link_work, j, torque, stiff, (way * u[0], way * u[1], way * u[2]),
                    (own * w[0], own * w[1], own * w[2]), (other * w[0], other * w[1], other * w[2]),
                )  # fmt: skip
                _set_column(patch, j, MIX + m, -1.0, fx, fy, fz, tx, ty, tz)
                # the parent has the opposite wrench, about its own centre of mass, to which the arm changes as well
                cx, cy, cz = cross(link_work[j, ARM2], link_work[j, ARM2 + 1], link_work[j, ARM2 + 2], fx, fy, fz)
                ux, uy, uz = cross(way * u[0], way * u[1], way * u[2], gx, gy, gz)
                _set_column(patch, j, MIX + 36 + m, 1.0, fx, fy, fz, tx + cx + ux, ty + cy + uy, tz + cz + uz)
            first, last = span[body, FIRST_COLUMN], span[body, LAST_COLUMN]
            add_product(carry, 6 * b, 1.0, patch, j, MIX, 6, 6, 6, 1, seed, 12 * body, first, last)
            if a >= 0:
                add_product(carry, 6 * a, 1.0, patch, j, MIX + 36, 6, 6, 6, 1, seed, 12 * body, first, last)


@inlined
def _set_column(patch, j, k, sign, fx, fy, fz, tx, ty, tz):
    patch[j, k], patch[j, k + 6], patch[j, k + 12] = sign * fx, sign * fy, sign * fz
    patch[j, k + 18], patch[j, k + 24], patch[j, k + 30] = sign * tx, sign * ty, sign * tz


@inner
def loop_joint_inputs(links, link, joint, link_work, carry, load, first):
    """Write the columns of the inputs of loop joints, from column ``first`` on."""
    for j in range(links, len(link)):
        a, b, slides, o = link[j, PARENT], link[j, CHILD], link[j, N_TRANS], RELATIVE2
        k = CHILD_VERTEX
        px, py, pz = turned(link_work, j, R2, joint[j, k], joint[j, k + 1], joint[j, k + 2])
        for i in range(slides + link[j, N_ROT]):
            # inputs of motors are target velocities, in `target_columns`
            if link[j, VELOCITIES] >> i & 1:
                continue
            k = SLIDE_AXES + 3 * i if i < slides else TURN_AXES + 3 * (i - slides)
            x, y, z = load * joint[j, k], load * joint[j, k + 1], load * joint[j, k + 2]
            fx, fy, fz, column = 0.0, 0.0, 0.0, first + link[j, INPUT] + i
            if i < slides:
                fx, fy, fz = turned(link_work, a, R2, x, y, z) if a >= 0 else (x, y, z)
                tx, ty, tz = cross(px, py, pz, fx, fy, fz)
            else:
                # from axes of the parent to those of the child, then to the world
                x, y, z = turn_back(
                    link_work[j, o], link_work[j, o + 1], link_work[j, o + 2], link_work[j, o + 3], x, y, z
                )
                tx, ty, tz = turned(link_work, j, R2, x, y, z)
            # the reaction on the parent acts at the child's vertex
            cx, cy, cz = cross(link_work[j, ARM2], link_work[j, ARM2 + 1], link_work[j, ARM2 + 2], fx, fy, fz)
            force, torque, back = (fx, fy, fz), (tx, ty, tz), (cx, cy, cz)
            for m in range(3):
                carry[6 * b + m, column] -= force[m]
                carry[6 * b + 3 + m, column] -= torque[m]
                if a >= 0:
                    carry[6 * a + m, column] += force[m]
                    carry[6 * a + 3 + m, column] += torque[m] + back[m]
