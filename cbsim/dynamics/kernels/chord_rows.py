"""Rows of joints that close loops: stops, drives and dampers that act on two bodies, as contacts do.

A unit of a row's impulse is a wrench on the child, and its opposite, about the parent's centre of mass, on the parent,
both at node 2 as the multipliers' (`cbsim.dynamics.kernels.chords`): along a free direction in the parent's frame, or
about an axis in the joint's, for a stop turned to where its coordinate grows.
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
    SLIDES,
    TURN_AXES,
    TURNS,
)
from cbsim.dynamics.kernels.dampers import step_vector
from cbsim.dynamics.kernels.vectors import rotation_vector, slope_of_vector
from cbsim.jit import inlined, inner

__all__ = ["axis_of_drive", "begin_tie", "stiffen_tie"]


@inlined
def axis_of_drive(joint, arena, b, k, turns):
    """Axis in columns k … of the joint's frame, in the child's at node 2: along it a drive measures the step."""
    x, y, z = joint[b, k], joint[b, k + 1], joint[b, k + 2]
    if turns > 1:
        o = RELATIVE2
        x, y, z = turn_back(arena[b, o], arena[b, o + 1], arena[b, o + 2], arena[b, o + 3], x, y, z)
    return x, y, z


@inlined
def _write(table, i, base, a, x, y, z, tx, ty, tz, ux, uy, uz):
    """Write six numbers for the child, (x, t), and six for the parent, (−x, u)."""
    table[i, base], table[i, base + 1], table[i, base + 2] = x, y, z
    table[i, base + 3], table[i, base + 4], table[i, base + 5] = tx, ty, tz
    if a >= 0:
        table[i, base + 6], table[i, base + 7], table[i, base + 8] = -x, -y, -z
        table[i, base + 9], table[i, base + 10], table[i, base + 11] = ux, uy, uz


@inlined
def _along(joint, arena, j, k, a, table, i, base, matrix, arm, sign):
    """Write a unit along the direction in columns k … of the parent's frame, at the child's point of the joint."""
    x, y, z = sign * joint[j, k], sign * joint[j, k + 1], sign * joint[j, k + 2]
    if a >= 0:
        x, y, z = turned(arena, a, matrix, x, y, z)
    k = CHILD_VERTEX
    px, py, pz = turned(arena, j, matrix, joint[j, k], joint[j, k + 1], joint[j, k + 2])
    tx, ty, tz = cross(px, py, pz, x, y, z)
    ux, uy, uz = cross(x, y, z, px + arena[j, arm], py + arena[j, arm + 1], pz + arena[j, arm + 2])
    _write(table, i, base, a, x, y, z, tx, ty, tz, ux, uy, uz)


@inlined
def begin_tie(link, joint, arena, row_link, hold, i, j, c, sign):
    """Set the wrenches of a unit of row i, on coordinate c of chord j.

    That of a stop is conjugate to the coordinate: about J a, a the axis and J the slope of the rotation vector.
    """
    a, slides, o = link[j, PARENT], link[j, SLIDES], RELATIVE2
    if c < slides:
        _along(joint, arena, j, SLIDE_AXES + 3 * c, a, hold, i, ROW_SHARE, R2, ARM2, sign)
        return
    k = TURN_AXES + 3 * (c - slides)
    q0, q1, q2, q3 = arena[j, o], arena[j, o + 1], arena[j, o + 2], arena[j, o + 3]
    x, y, z = sign * joint[j, k], sign * joint[j, k + 1], sign * joint[j, k + 2]
    if row_link[i, KIND] != DRIVE and link[j, TURNS] > 1:
        vx, vy, vz = rotation_vector(q0, q1, q2, q3)
        x, y, z = slope_of_vector(vx, vy, vz, x, y, z)
    x, y, z = turned(arena, j, R2, *turn_back(q0, q1, q2, q3, x, y, z))
    _write(hold, i, ROW_SHARE, a, 0.0, 0.0, 0.0, x, y, z, -x, -y, -z)


@inner
def stiffen_tie(link, joint, arena, block, row_link, row, hold, i):
    """Condense row i of a chord into the blocks of its child and its parent, stiffness · wrench · slope."""
    j, c, sign = row_link[i, ROW_LINK], row_link[i, COORDINATE], row[i, SIGN]
    a, b, slides = link[j, PARENT], link[j, CHILD], link[j, SLIDES]
    if c < slides:
        _along(joint, arena, j, SLIDE_AXES + 3 * c, a, hold, i, ROW_SLOPE, R3, ARM3, sign)
    else:
        k, o = TURN_AXES + 3 * (c - slides), RELATIVE
        if row_link[i, KIND] == DRIVE:
            vx, vy, vz = step_vector(arena, j)
            ax, ay, az = axis_of_drive(joint, arena, j, k, link[j, TURNS])
        else:
            vx, vy, vz = rotation_vector(arena[j, o], arena[j, o + 1], arena[j, o + 2], arena[j, o + 3])
            ax, ay, az = joint[j, k], joint[j, k + 1], joint[j, k + 2]
        x, y, z = 0.0, 0.0, 0.0
        for m in range(3):
            ex, ey, ez = 1.0 * (m == 0), 1.0 * (m == 1), 1.0 * (m == 2)
            fx, fy, fz = slope_of_vector(vx, vy, vz, ex, ey, ez)
            along = sign * (ax * fx + ay * fy + az * fz)
            x, y, z = x + along * ex, y + along * ey, z + along * ez
        x, y, z = turned(arena, j, R3, x, y, z)
        _write(hold, i, ROW_SLOPE, a, 0.0, 0.0, 0.0, x, y, z, -x, -y, -z)
    _condense(block, hold, i, b, 0, 0)
    if a >= 0:
        _condense(block, hold, i, row_link[i, ROW_OUT], 0, 6)
        _condense(block, hold, i, row_link[i, ROW_BACK], 6, 0)
        _condense(block, hold, i, a, 6, 6)


@inlined
def _condense(block, hold, i, target, wrench, motion):
    for m in range(6):
        s = hold[i, ROW_STIFF] * hold[i, ROW_SHARE + wrench + m]
        for k in range(6):
            block[target, 6 * m + k] += s * hold[i, ROW_SLOPE + motion + k]
