"""How rows depend on node 2 and on inputs, node 3 and all other impulses held.

A row's measure sees node 2 where it is a motion of the step (a drive), or where a stop that was passed gives way a
little at a time; its impulse answers with the stiffness that the solver has for it. A stop also pushes along an axis
that stands in the joint's frame.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross, turn_back, turned
from cbsim.dynamics.kernels.begin import rotation_vector
from cbsim.dynamics.kernels.columns import (
    ARM2,
    CHILD_VERTEX,
    COORDINATE,
    DOF,
    DRIVE,
    KIND,
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
    SLIDES,
    TURN_AXES,
    TURNS,
)
from cbsim.dynamics.kernels.dampers import slope_of_vector
from cbsim.dynamics.kernels.gradient_rows import HELD, JOINT, MIX
from cbsim.jit import inlined, inner

__all__ = ["held_by_rows", "row_slopes", "target_columns"]


@inner
def held_by_rows(links, link, joint, arena, patch, row_link, row, hold):
    """Write HELD, the torque of all stops of a joint with two or three free rotations."""
    for b in range(links):
        patch[b, HELD], patch[b, HELD + 1], patch[b, HELD + 2] = 0.0, 0.0, 0.0
    for i in range(len(row_link)):
        b, c = row_link[i, ROW_LINK], row_link[i, COORDINATE] - link[row_link[i, ROW_LINK], SLIDES]
        if c < 0 or link[b, TURNS] < 2:
            continue
        k, o, f = TURN_AXES + 3 * c, RELATIVE2, row[i, SIGN] * hold[i, ROW_FORCE]
        x, y, z = turn_back(
            arena[b, o], arena[b, o + 1], arena[b, o + 2], arena[b, o + 3],
            f * joint[b, k], f * joint[b, k + 1], f * joint[b, k + 2],
        )  # fmt: skip
        patch[b, HELD] += x
        patch[b, HELD + 1] += y
        patch[b, HELD + 2] += z


@inner
def row_slopes(link, joint, arena, patch, row_link, row, hold):
    """Add to JOINT what rows miss when node 2 moves: share · stiffness · slope of the measure."""
    for i in range(len(row_link)):
        b = row_link[i, ROW_LINK]
        if row_link[i, KIND] == DRIVE:
            share = -1.0  # of a change of the coordinate at node 2 that the measure sees
        else:
            share = -(1.0 - row[i, ROW_ERP]) if hold[i, ROW_SHIFT] < 0.0 else 0.0
        stiff = share * row[i, SIGN] * hold[i, ROW_STIFF]
        if stiff == 0.0:
            continue
        _coordinate_slope(link, joint, arena, patch, b, row_link[i, COORDINATE])
        for m in range(link[b, DOF]):
            s = stiff * hold[i, ROW_SHARE + m]
            for n in range(12):
                patch[b, JOINT + 12 * m + n] += s * patch[b, MIX + n]


@inlined
def _coordinate_slope(link, joint, arena, patch, b, c):
    """Write to MIX the slope of coordinate c at node 2 by motions (dx, φ) of the child, then of the parent."""
    slides, a = link[b, SLIDES], link[b, PARENT]
    for n in range(12):
        patch[b, MIX + n] = 0.0
    if c < slides:
        k = SLIDE_AXES + 3 * c
        x, y, z = joint[b, k], joint[b, k + 1], joint[b, k + 2]
        if a >= 0:
            x, y, z = turned(arena, a, R2, x, y, z)
        k = CHILD_VERTEX
        px, py, pz = turned(arena, b, R2, joint[b, k], joint[b, k + 1], joint[b, k + 2])
        patch[b, MIX], patch[b, MIX + 1], patch[b, MIX + 2] = x, y, z
        patch[b, MIX + 3], patch[b, MIX + 4], patch[b, MIX + 5] = cross(px, py, pz, x, y, z)
        if a >= 0:
            patch[b, MIX + 6], patch[b, MIX + 7], patch[b, MIX + 8] = -x, -y, -z
            px, py, pz = px + arena[b, ARM2], py + arena[b, ARM2 + 1], pz + arena[b, ARM2 + 2]
            patch[b, MIX + 9], patch[b, MIX + 10], patch[b, MIX + 11] = cross(x, y, z, px, py, pz)
        return
    k, o = TURN_AXES + 3 * (c - slides), RELATIVE2
    vx, vy, vz = rotation_vector(arena[b, o], arena[b, o + 1], arena[b, o + 2], arena[b, o + 3])
    for m in range(3):
        ex, ey, ez = slope_of_vector(vx, vy, vz, 1.0 * (m == 0), 1.0 * (m == 1), 1.0 * (m == 2))
        along = ex * joint[b, k] + ey * joint[b, k + 1] + ez * joint[b, k + 2]
        for n in range(3):
            patch[b, MIX + 3 + n] += along * arena[b, R2 + 3 * n + m]
            if a >= 0:
                patch[b, MIX + 9 + n] -= along * arena[b, R2 + 3 * n + m]


@inner
def target_columns(missing, row_link, hold, h, first):
    """Write the columns of motors: target velocities, from column ``first`` on."""
    for i in range(len(row_link)):
        if row_link[i, ROW_INPUT] >= 0:
            for m in range(6):
                column = first + row_link[i, ROW_INPUT]
                missing[6 * row_link[i, ROW_LINK] + m, column] = -h * hold[i, ROW_STIFF] * hold[i, ROW_SHARE + m]
