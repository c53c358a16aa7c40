"""Rows of loop joints: stops, drives and dampers that act on two bodies, like contacts.

A unit impulse of a row is a wrench on the child, and its opposite, about the parent's centre of mass, on the parent,
both at node 2 like those of the multipliers (`cbsim.dynamics.kernels.loop_joints`): along a free direction in the
parent's frame, or about an axis in the joint's frame, for a stop conjugate to its coordinate.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross, turn_back, turned
from cbsim.dynamics.kernels.columns import (
    ARM2,
    ARM3,
    CHILD,
    CHILD_VERTEX,
    COORDINATE,
    DRIVE,
    KIND,
    N_ROT,
    N_TRANS,
    PARENT,
    R2,
    R3,
    RELATIVE,
    RELATIVE2,
    ROW_BACK,
    ROW_LINK,
    ROW_OUT,
    ROW_SHARE,
    ROW_SLOPE,
    ROW_STIFF,
    SIGN,
    SLIDE_AXES,
    TURN_AXES,
)
from cbsim.dynamics.kernels.dampers import step_vector
from cbsim.dynamics.kernels.vectors import rotation_vector, slope_of_vector
from cbsim.jit import inlined, inner

__all__ = ["axis_of_drive", "begin_tie", "stiffen_tie"]


@inlined
def axis_of_drive(joint, link_work, b, k, turns):
    """Axis in columns k … of the joint's frame, in the child's frame at node 2, along which a drive is measured."""
    x, y, z = joint[b, k], joint[b, k + 1], joint[b, k + 2]
    if turns > 1:
        o = RELATIVE2
        x, y, z = turn_back(link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3], x, y, z)
    return x, y, z


@inlined
def _write(table, i, base, a, along, on_child, on_parent):
    """Write six numbers for the child, along and moment, and six for the parent, −along and moment."""
    (x, y, z), (tx, ty, tz), (ux, uy, uz) = along, on_child, on_parent
    table[i, base], table[i, base + 1], table[i, base + 2] = x, y, z
    table[i, base + 3], table[i, base + 4], table[i, base + 5] = tx, ty, tz
    if a >= 0:
        table[i, base + 6], table[i, base + 7], table[i, base + 8] = -x, -y, -z
        table[i, base + 9], table[i, base + 10], table[i, base + 11] = ux, uy, uz


@inlined
def _along(joint, link_work, j, k, a, table, i, base, matrix, arm, sign):
    """Write a unit along the direction in columns k … of the parent's frame, at the child's point of the joint."""
    x, y, z = sign * joint[j, k], sign * joint[j, k + 1], sign * joint[j, k + 2]
    if a >= 0:
        x, y, z = turned(link_work, a, matrix, x, y, z)
    k = CHILD_VERTEX
    px, py, pz = turned(link_work, j, matrix, joint[j, k], joint[j, k + 1], joint[j, k + 2])
    # the same line of force has a moment about each centre of mass: arm × force, and force × arm for the opposite
    tx, ty, tz = cross(px, py, pz, x, y, z)
    ux, uy, uz = cross(x, y, z, px + link_work[j, arm], py + link_work[j, arm + 1], pz + link_work[j, arm + 2])
    _write(table, i, base, a, (x, y, z), (tx, ty, tz), (ux, uy, uz))


@inlined
def begin_tie(link, joint, link_work, row_link, limit_work, i, j, c, sign):
    """Set the wrenches per unit of row i, on coordinate c of loop joint j.

    A stop acts conjugate to the coordinate: about J a, a the axis and J the slope of the rotation vector.
    """
    a, slides, o = link[j, PARENT], link[j, N_TRANS], RELATIVE2
    if c < slides:
        _along(joint, link_work, j, SLIDE_AXES + 3 * c, a, limit_work, i, ROW_SHARE, R2, ARM2, sign)
        return
    k = TURN_AXES + 3 * (c - slides)
    q0, q1, q2, q3 = link_work[j, o], link_work[j, o + 1], link_work[j, o + 2], link_work[j, o + 3]
    x, y, z = sign * joint[j, k], sign * joint[j, k + 1], sign * joint[j, k + 2]
    # a drive acts about its axis in the joint's frame; a stop is conjugate to its coordinate of the rotation vector
    if row_link[i, KIND] != DRIVE and link[j, N_ROT] > 1:
        vx, vy, vz = rotation_vector(q0, q1, q2, q3)
        x, y, z = slope_of_vector(vx, vy, vz, x, y, z)
    x, y, z = turned(link_work, j, R2, *turn_back(q0, q1, q2, q3, x, y, z))
    _write(limit_work, i, ROW_SHARE, a, (0.0, 0.0, 0.0), (x, y, z), (-x, -y, -z))


@inner
def stiffen_tie(link, joint, link_work, block, row_link, row, limit_work, i):
    """Condense row i of a loop joint into the blocks of its child and its parent, stiffness · wrench · slope."""
    j, c, sign = row_link[i, ROW_LINK], row_link[i, COORDINATE], row[i, SIGN]
    a, b, slides = link[j, PARENT], link[j, CHILD], link[j, N_TRANS]
    if c < slides:
        _along(joint, link_work, j, SLIDE_AXES + 3 * c, a, limit_work, i, ROW_SLOPE, R3, ARM3, sign)
    else:
        k, o = TURN_AXES + 3 * (c - slides), RELATIVE
        # a drive measures the rotation of the step, a stop the coordinate itself
        if row_link[i, KIND] == DRIVE:
            vx, vy, vz = step_vector(link_work, j)
            ax, ay, az = axis_of_drive(joint, link_work, j, k, link[j, N_ROT])
        else:
            vx, vy, vz = rotation_vector(link_work[j, o], link_work[j, o + 1], link_work[j, o + 2], link_work[j, o + 3])
            ax, ay, az = joint[j, k], joint[j, k + 1], joint[j, k + 2]
        x, y, z = 0.0, 0.0, 0.0
        # the row aᵀ J of the slope, one column of J at a time
        for m in range(3):
            ex, ey, ez = 1.0 * (m == 0), 1.0 * (m == 1), 1.0 * (m == 2)
            fx, fy, fz = slope_of_vector(vx, vy, vz, ex, ey, ez)
            along = sign * (ax * fx + ay * fy + az * fz)
            x, y, z = x + along * ex, y + along * ey, z + along * ez
        x, y, z = turned(link_work, j, R3, x, y, z)
        _write(limit_work, i, ROW_SLOPE, a, (0.0, 0.0, 0.0), (x, y, z), (-x, -y, -z))
    # motions and wrenches of the child are columns 0 to 5, of the parent 6 to 11
    _condense(block, limit_work, i, b, 0, 0)
    if a >= 0:
        _condense(block, limit_work, i, row_link[i, ROW_OUT], 0, 6)
        _condense(block, limit_work, i, row_link[i, ROW_BACK], 6, 0)
        _condense(block, limit_work, i, a, 6, 6)


@inlined
def _condense(block, limit_work, i, target, wrench, motion):
    # block += stiffness · wrench ⊗ slope
    for m in range(6):
        s = limit_work[i, ROW_STIFF] * limit_work[i, ROW_SHARE + wrench + m]
        for k in range(6):
            block[target, 6 * m + k] += s * limit_work[i, ROW_SLOPE + motion + k]
