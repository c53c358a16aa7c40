"""What a joint does by itself at node 3: dampers, and the two ends of a coordinate's range.

A damper's impulse is −d (y₃ − y₂), implicit: h d times the velocity of the step (dojo.md §2.4). About two or three
free axes it acts along the rotation vector of the step's joint rotation, in the child's frame. A stop is a gap and an
impulse along its coordinate, complementary (§2.5); the impulse is conjugate to the coordinate itself, a torque where
it is an angle.
"""

from __future__ import annotations

import math

from cbsim.dynamics.kernels.algebra import cross, product, turn_back
from cbsim.dynamics.kernels.begin import rotation_vector
from cbsim.dynamics.kernels.columns import (
    BOUND,
    COORDINATE,
    DAMPER,
    DOF,
    LOCAL,
    OWN,
    RELATIVE,
    RELATIVE2,
    SHIFT,
    SHIFT2,
    SIGN,
    SLIDES,
    STOP_DFORCE,
    STOP_DSLACK,
    STOP_FORCE,
    STOP_GAP,
    STOP_ROW,
    STOP_SHARE,
    STOP_SLACK,
    STOP_SLOPE,
    STOP_WANT,
    TURN_AXES,
    TURNS,
)
from cbsim.dynamics.kernels.joints import free_turns
from cbsim.jit import inlined

__all__ = ["answer_stop", "begin_stop", "damp", "damp_slope", "see_stop", "slope_of_vector", "stiffen_stop"]


@inlined
def slope_of_vector(x, y, z, fx, fy, fz):
    """Change of a rotation vector by a small rotation f about the child's axes (dojo.md §2.13)."""
    t2 = x * x + y * y + z * z
    ax, ay, az = cross(x, y, z, fx, fy, fz)
    bx, by, bz = cross(x, y, z, ax, ay, az)
    if t2 < 1e-6:
        k = 1.0 / 12.0 + t2 / 720.0
    else:
        t = math.sqrt(t2)
        k = (1.0 - 0.5 * t * math.cos(0.5 * t) / math.sin(0.5 * t)) / t2
    return fx + 0.5 * ax + k * bx, fy + 0.5 * ay + k * by, fz + 0.5 * az + k * bz


@inlined
def damp(link, joint, arena, b):
    """Set OWN to the impulses of the joint's damper."""
    slides, turns, d = link[b, SLIDES], link[b, TURNS], joint[b, DAMPER]
    for i in range(slides):
        arena[b, OWN + i] = -d * (arena[b, SHIFT + i] - arena[b, SHIFT2 + i])
    if turns == 0:
        return
    x, y, z = step_vector(arena, b)
    o = RELATIVE2
    for i in range(turns):
        ax, ay, az = free_turns(joint, b, turns, i, arena[b, o], arena[b, o + 1], arena[b, o + 2], arena[b, o + 3])
        arena[b, OWN + slides + i] = -d * (ax * x + ay * y + az * z)


@inlined
def step_vector(arena, b):
    """Rotation vector of the joint's rotation in this step, in the child's frame."""
    o, n = RELATIVE2, RELATIVE
    s, x, y, z = product(
        arena[b, o], -arena[b, o + 1], -arena[b, o + 2], -arena[b, o + 3],
        arena[b, n], arena[b, n + 1], arena[b, n + 2], arena[b, n + 3],
    )  # fmt: skip
    if s < 0.0:
        s, x, y, z = -s, -x, -y, -z
    return rotation_vector(s, x, y, z)


@inlined
def damp_slope(link, joint, arena, b):
    """Add the damper to LOCAL."""
    slides, turns, d = link[b, SLIDES], link[b, TURNS], joint[b, DAMPER]
    for i in range(slides):
        arena[b, LOCAL + 7 * i] += d
    if turns == 1:
        arena[b, LOCAL + 7 * slides] += d
        return
    x, y, z = step_vector(arena, b)
    o, n = RELATIVE2, RELATIVE
    for j in range(turns):
        fx, fy, fz = free_turns(joint, b, turns, j, arena[b, n], arena[b, n + 1], arena[b, n + 2], arena[b, n + 3])
        fx, fy, fz = slope_of_vector(x, y, z, fx, fy, fz)
        for i in range(turns):
            ax, ay, az = free_turns(joint, b, turns, i, arena[b, o], arena[b, o + 1], arena[b, o + 2], arena[b, o + 3])
            arena[b, LOCAL + 6 * (slides + i) + slides + j] += d * (ax * fx + ay * fy + az * fz)


@inlined
def begin_stop(link, joint, arena, stop_link, stop, hold, i):
    """Set how the impulse of stop i acts along LEFT."""
    b, c, sign = stop_link[i, STOP_ROW], stop_link[i, COORDINATE], stop[i, SIGN]
    slides, turns = link[b, SLIDES], link[b, TURNS]
    for j in range(6):
        hold[i, STOP_SHARE + j], hold[i, STOP_SLOPE + j] = 0.0, 0.0
    if c < slides or turns == 1:
        hold[i, STOP_SHARE + c], hold[i, STOP_SLOPE + c] = sign, sign
        return
    k, o = TURN_AXES + 3 * (c - slides), RELATIVE2
    s, x, y, z = arena[b, o], arena[b, o + 1], arena[b, o + 2], arena[b, o + 3]
    tx, ty, tz = turn_back(s, x, y, z, joint[b, k], joint[b, k + 1], joint[b, k + 2])
    for j in range(turns):
        ax, ay, az = free_turns(joint, b, turns, j, s, x, y, z)
        hold[i, STOP_SHARE + slides + j] = sign * (ax * tx + ay * ty + az * tz)


@inlined
def see_stop(link, joint, arena, stop_link, stop, hold, i):
    """Measure how far the coordinate is from its bound at node 3."""
    b, c = stop_link[i, STOP_ROW], stop_link[i, COORDINATE]
    slides = link[b, SLIDES]
    if c < slides:
        y = arena[b, SHIFT + c]
    else:
        o, k = RELATIVE, TURN_AXES + 3 * (c - slides)
        x, y, z = rotation_vector(arena[b, o], arena[b, o + 1], arena[b, o + 2], arena[b, o + 3])
        y = joint[b, k] * x + joint[b, k + 1] * y + joint[b, k + 2] * z
    hold[i, STOP_GAP] = stop[i, SIGN] * (y - stop[i, BOUND])


@inlined
def stiffen_stop(link, joint, arena, stop_link, stop, hold, i):
    """Condense the stop into LOCAL of its joint."""
    b, c = stop_link[i, STOP_ROW], stop_link[i, COORDINATE]
    slides, turns, dof = link[b, SLIDES], link[b, TURNS], link[b, DOF]
    stiff = hold[i, STOP_FORCE] / hold[i, STOP_SLACK]
    if c >= slides and turns > 1:
        o, k = RELATIVE, TURN_AXES + 3 * (c - slides)
        s, vx, vy, vz = arena[b, o], arena[b, o + 1], arena[b, o + 2], arena[b, o + 3]
        x, y, z = rotation_vector(s, vx, vy, vz)
        for j in range(turns):
            fx, fy, fz = free_turns(joint, b, turns, j, s, vx, vy, vz)
            fx, fy, fz = slope_of_vector(x, y, z, fx, fy, fz)
            along = fx * joint[b, k] + fy * joint[b, k + 1] + fz * joint[b, k + 2]
            hold[i, STOP_SLOPE + slides + j] = stop[i, SIGN] * along
    for j in range(dof):
        for m in range(dof):
            arena[b, LOCAL + 6 * j + m] += stiff * hold[i, STOP_SHARE + j] * hold[i, STOP_SLOPE + m]


@inlined
def answer_stop(hold, i, dgap, full):
    """Solve the stop's linearised pair for a change of gap."""
    s, g = hold[i, STOP_SLACK], hold[i, STOP_FORCE]
    ds = dgap + full * (hold[i, STOP_GAP] - s)
    hold[i, STOP_DSLACK] = ds
    hold[i, STOP_DFORCE] = (-full * hold[i, STOP_WANT] - g * ds) / s
