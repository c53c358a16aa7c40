"""Rows: scalar constraints of a joint's coordinate, with a bounded impulse and compliance.

A row has an impulse f in [low, high] and a measure w = value − reference + CFM f: at f between its bounds w vanishes,
at the low bound w may be positive, at the high one negative. So w = a − b with slacks a, b ≥ 0, a complementary to
f − low and b to high − f. Two kinds:

=====  ==========================================================  ============
kind   value − reference                                           f
=====  ==========================================================  ============
stop   distance from a bound of the range, less (1 − ERP) times
       its violation at node 2                                     [0, ∞)
drive  motion of the coordinate in the step less h times a target  ± h times a
       velocity                                                    force limit
=====  ==========================================================  ============

ERP and CFM are those of ODE: the error that remains after a step is C₃ = (1 − ERP) C₂ − h CFM λ, with the force λ = f /
h. A drive is a motor or dry friction; on a loop joint, a damper as well. Rows of a loop joint act on its two bodies,
like contacts (`cbsim.dynamics.kernels.loop_joint_rows`). Source: Smith, Open Dynamics Engine user guide, §3.7 and §3.8.
"""

from __future__ import annotations

import math

from cbsim.dynamics.kernels.boxes import box_in, box_out
from cbsim.dynamics.kernels.columns import (
    CHILD,
    COORDINATE,
    DELTA,
    DOF,
    DRIVE,
    FLAGS,
    KIND,
    LIMIT,
    LOCAL,
    LOOP_JOINT,
    N_ROT,
    N_TRANS,
    PARENT,
    REFERENCE,
    RELATIVE,
    RELATIVE2,
    ROW_AFFINE_ROOM,
    ROW_AFFINE_SLACK,
    ROW_CFM,
    ROW_COMPLIANCE,
    ROW_DFORCE,
    ROW_DROOM,
    ROW_DSLACK,
    ROW_ERP,
    ROW_FORCE,
    ROW_INPUT,
    ROW_LINK,
    ROW_MISSING,
    ROW_MOST,
    ROW_PAIRS,
    ROW_PUSH,
    ROW_ROOM,
    ROW_SHARE,
    ROW_SHIFT,
    ROW_SLACK,
    ROW_SLOPE,
    ROW_STIFF,
    ROW_WANT,
    SHIFT,
    SHIFT2,
    SIGN,
    STEP,
    TURN_AXES,
)
from cbsim.dynamics.kernels.dampers import step_vector
from cbsim.dynamics.kernels.joints import free_turns
from cbsim.dynamics.kernels.loop_joint_rows import axis_of_drive, begin_tie, stiffen_tie
from cbsim.dynamics.kernels.loop_joints import evaluate_loop_joint
from cbsim.dynamics.kernels.softness import soft_in_part
from cbsim.dynamics.kernels.vectors import rotation_vector, slope_of_vector
from cbsim.jit import inlined

__all__ = [
    "answer_row",
    "ask_row",
    "begin_row",
    "change_of",
    "evaluate_row",
    "give",
    "row_in",
    "row_out",
    "stiffen_row",
]


@inlined
def coordinate(link, joint, link_work, b, c, shift, relative):
    """Coordinate c of a joint, from the columns of its translation and its rotation at a node."""
    slides = link[b, N_TRANS]
    if c < slides:
        return link_work[b, shift + c]
    k, o = TURN_AXES + 3 * (c - slides), relative
    x, y, z = rotation_vector(link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3])
    return joint[b, k] * x + joint[b, k + 1] * y + joint[b, k + 2] * z


@inlined
def begin_row(link, joint, link_work, row_link, row, limit_work, i, inputs, before, h, whole):
    """Set the row's reference, its bounds, and the action of its impulse along LEFT.

    ``ROW_PAIRS`` is 1 for a low bound alone, 2 for both, 0 for none, −1 for an inactive row. The step may be a part of
    one of length ``whole``.
    """
    b, c, sign = row_link[i, ROW_LINK], row_link[i, COORDINATE], row[i, SIGN]
    slides, turns = link[b, N_TRANS], link[b, N_ROT]
    if row_link[i, KIND] == DRIVE:
        u = row_link[i, ROW_INPUT]
        given = inputs[u] if u >= 0 else 0.0
        # a motor without a target velocity is switched off
        is_let_go = math.isnan(given)
        limit_work[i, ROW_COMPLIANCE] = row[i, ROW_CFM] * (
            1.0 if before != 0.0 else 2.0
        )  # from velocities of node 2: half the time
        limit_work[i, ROW_SHIFT] = 0.0 if is_let_go else h * (row[i, REFERENCE] + given)
        # force limit times the time that forces act; from velocities of node 2 half of it
        most = 0.0 if is_let_go else row[i, LIMIT] * (abs(h) if before != 0.0 else 0.5 * abs(h))
        limit_work[i, ROW_MOST] = most
        limit_work[i, ROW_PAIRS] = -1.0 if most == 0.0 else 2.0 if most < math.inf else 0.0
        if most == 0.0:
            limit_work[i, ROW_FORCE], limit_work[i, ROW_STIFF], limit_work[i, ROW_MISSING] = 0.0, 0.0, 0.0
    else:
        # violation of the stop at node 2, of which a soft one keeps a share
        now = sign * (coordinate(link, joint, link_work, b, c, SHIFT2, RELATIVE2) - row[i, REFERENCE])
        left, limit_work[i, ROW_COMPLIANCE] = soft_in_part(1.0 - row[i, ROW_ERP], row[i, ROW_CFM], h / whole)
        limit_work[i, ROW_SHIFT] = left * min(0.0, now)
        limit_work[i, ROW_MOST], limit_work[i, ROW_PAIRS] = 0.0, 1.0
    if link[b, FLAGS] & LOOP_JOINT:
        evaluate_loop_joint(link, joint, link_work, b)
        begin_tie(link, joint, link_work, row_link, limit_work, i, b, c, sign)
        return
    # along such a coordinate the impulse acts by itself
    if c < slides or turns == 1:
        limit_work[i, ROW_SHARE + c], limit_work[i, ROW_SLOPE + c] = sign, sign
        return
    k, o = TURN_AXES + 3 * (c - slides), RELATIVE2
    s, x, y, z = link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3]
    tx, ty, tz = rotation_vector(s, x, y, z)
    # conjugate to the coordinate: the impulse times the change of the coordinate by each free rotation at node 2
    for j in range(turns):
        ax, ay, az = free_turns(joint, b, turns, j, s, x, y, z)
        ax, ay, az = slope_of_vector(tx, ty, tz, ax, ay, az)
        limit_work[i, ROW_SHARE + slides + j] = sign * (ax * joint[b, k] + ay * joint[b, k + 1] + az * joint[b, k + 2])


@inlined
def evaluate_row(link, joint, link_work, row_link, row, limit_work, i):
    """Evaluate the row at node 3 without its own impulse, and its residual with impulse and slacks."""
    b, c = row_link[i, ROW_LINK], row_link[i, COORDINATE]
    slides = link[b, N_TRANS]
    if limit_work[i, ROW_PAIRS] < 0.0:
        return 0.0
    if row_link[i, KIND] != DRIVE:
        value = coordinate(link, joint, link_work, b, c, SHIFT, RELATIVE) - row[i, REFERENCE]
    elif c < slides:
        value = link_work[b, SHIFT + c] - link_work[b, SHIFT2 + c]
    else:
        ax, ay, az = axis_of_drive(joint, link_work, b, TURN_AXES + 3 * (c - slides), link[b, N_ROT])
        x, y, z = step_vector(link_work, b)
        value = ax * x + ay * y + az * z
    measure = row[i, SIGN] * value - limit_work[i, ROW_SHIFT]
    # w − a + b, with the slacks that the row has
    missing = measure + limit_work[i, ROW_COMPLIANCE] * limit_work[i, ROW_FORCE]
    if limit_work[i, ROW_PAIRS] > 0.0:
        missing -= limit_work[i, ROW_SLACK]
    if limit_work[i, ROW_PAIRS] > 1.0:
        missing += limit_work[i, ROW_SLACK + 1]
    limit_work[i, ROW_MISSING] = missing
    return measure


@inlined
def row_out(limit_work, i, measure, impulse, depth):
    """Start the row's pairs on the central path at its measure; the distance of a stop is at least ``depth``."""
    kappa = impulse * depth
    if limit_work[i, ROW_PAIRS] == 1.0:
        limit_work[i, ROW_SLACK] = max(measure, depth)
        # the bound of a stop is 0: its impulse is its own distance from the bound
        limit_work[i, ROW_FORCE] = limit_work[i, ROW_ROOM] = kappa / limit_work[i, ROW_SLACK]
    elif limit_work[i, ROW_PAIRS] == 2.0:
        most = limit_work[i, ROW_MOST]
        limit_work[i, ROW_FORCE] = box_out(
            limit_work, i, ROW_SLACK, ROW_ROOM, measure, most, min(impulse, most) * depth
        )
    else:
        limit_work[i, ROW_FORCE] = 0.0


@inlined
def row_in(limit_work, i):
    """Move the pairs of the step before slightly inside."""
    if limit_work[i, ROW_PAIRS] == 1.0:
        limit_work[i, ROW_SLACK] = max(limit_work[i, ROW_SLACK], 1e-4)
        limit_work[i, ROW_FORCE] = limit_work[i, ROW_ROOM] = max(limit_work[i, ROW_FORCE], 1e-4)
    elif limit_work[i, ROW_PAIRS] == 2.0:
        force = limit_work[i, ROW_FORCE]
        limit_work[i, ROW_FORCE] = box_in(limit_work, i, ROW_SLACK, ROW_ROOM, force, limit_work[i, ROW_MOST], 1e-4)


@inlined
def stiffen_row(link, joint, link_work, block, row_link, row, limit_work, i):
    """Condense the row into LOCAL of its joint, or into the blocks of a loop joint's bodies."""
    if limit_work[i, ROW_PAIRS] < 0.0:
        return
    b, c = row_link[i, ROW_LINK], row_link[i, COORDINATE]
    slides, turns, dof = link[b, N_TRANS], link[b, N_ROT], link[b, DOF]
    # compliance of the row and of its pairs: slack over room of each bound
    soft = limit_work[i, ROW_COMPLIANCE]
    for k in range(int(limit_work[i, ROW_PAIRS])):
        soft += limit_work[i, ROW_SLACK + k] / limit_work[i, ROW_ROOM + k]
    stiff = 1.0 / soft
    limit_work[i, ROW_STIFF] = stiff
    if link[b, FLAGS] & LOOP_JOINT:
        stiffen_tie(link, joint, link_work, block, row_link, row, limit_work, i)
        return
    if c >= slides and turns > 1:
        o, k = RELATIVE, TURN_AXES + 3 * (c - slides)
        s, vx, vy, vz = link_work[b, o], link_work[b, o + 1], link_work[b, o + 2], link_work[b, o + 3]
        x, y, z = rotation_vector(s, vx, vy, vz)
        # slope of the coordinate by each free rotation at node 3; ROW_SHARE has that at node 2
        for j in range(turns):
            fx, fy, fz = free_turns(joint, b, turns, j, s, vx, vy, vz)
            fx, fy, fz = slope_of_vector(x, y, z, fx, fy, fz)
            along = fx * joint[b, k] + fy * joint[b, k + 1] + fz * joint[b, k + 2]
            limit_work[i, ROW_SLOPE + slides + j] = row[i, SIGN] * along
    for j in range(dof):
        for m in range(dof):
            link_work[b, LOCAL + 6 * j + m] += stiff * limit_work[i, ROW_SHARE + j] * limit_work[i, ROW_SLOPE + m]


@inlined
def give(link, link_work, limit_work, i, b, impulse, own, wrench):
    """Add the row's impulse to columns ``own`` of its joint; of a loop joint, subtract them from ``wrench``."""
    if not link[b, FLAGS] & LOOP_JOINT:
        for k in range(link[b, DOF]):
            link_work[b, own + k] += limit_work[i, ROW_SHARE + k] * impulse
        return
    a, child = link[b, PARENT], link[b, CHILD]
    for k in range(6):
        link_work[child, wrench + k] -= limit_work[i, ROW_SHARE + k] * impulse
        if a >= 0:
            link_work[a, wrench + k] -= limit_work[i, ROW_SHARE + 6 + k] * impulse


@inlined
def change_of(link, link_work, limit_work, i, b):
    """Return the change of the row's value by the current increments."""
    change = 0.0
    if not link[b, FLAGS] & LOOP_JOINT:
        for k in range(link[b, DOF]):
            change += limit_work[i, ROW_SLOPE + k] * link_work[b, STEP + k]
        return change
    a, child = link[b, PARENT], link[b, CHILD]
    for k in range(6):
        change += limit_work[i, ROW_SLOPE + k] * link_work[child, DELTA + k]
        if a >= 0:
            change += limit_work[i, ROW_SLOPE + 6 + k] * link_work[a, DELTA + k]
    return change


@inlined
def ask_row(limit_work, i, target, correct):
    """Set the residuals of the row's pairs for slack · room = target, and its impulse at zero motion."""
    # the low bound's pair adds to the residual, the high bound's subtracts
    push, sign = limit_work[i, ROW_MISSING], 1.0
    for k in range(int(limit_work[i, ROW_PAIRS])):
        want = limit_work[i, ROW_SLACK + k] * limit_work[i, ROW_ROOM + k] - target
        if correct:
            want += limit_work[i, ROW_AFFINE_SLACK + k] * limit_work[i, ROW_AFFINE_ROOM + k]
        limit_work[i, ROW_WANT + k] = want
        push += sign * want / limit_work[i, ROW_ROOM + k]
        sign = -1.0
    limit_work[i, ROW_PUSH], limit_work[i, ROW_DFORCE] = push, -push * limit_work[i, ROW_STIFF]


@inlined
def answer_row(limit_work, i, change):
    """Solve the row's linearised equations for a change of its value."""
    force = -(limit_work[i, ROW_PUSH] + change) * limit_work[i, ROW_STIFF]
    # the distances f − low and high − f change by ± the change of f
    limit_work[i, ROW_DFORCE], room = force, force
    for k in range(int(limit_work[i, ROW_PAIRS])):
        limit_work[i, ROW_DROOM + k] = room
        limit_work[i, ROW_DSLACK + k] = (
            -(limit_work[i, ROW_WANT + k] + limit_work[i, ROW_SLACK + k] * room) / limit_work[i, ROW_ROOM + k]
        )
        room = -force
