"""Drift of contacts: residuals by new detection when node 2 moves, and by impacts at node 2.

The geometry of a contact between colliders depends on the bodies at node 2 (`cbsim.dynamics.detection.kernels.drift`),
and so does its wrench at node 3. A contact that bounces acts at node 2, with a target gap from nodes 1 and 2. Both are
finite differences of the contact's equations, with its impulses condensed as in the solver.
"""

from __future__ import annotations

from cbsim.dynamics.detection.kernels.columns import DIRECTIONS, TOLD
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.algebra import cross, product, rotation
from cbsim.dynamics.kernels.cones import answer
from cbsim.dynamics.kernels.contacts import evaluate_contact, push
from cbsim.dynamics.kernels.gradients.seeds import turn_of_step
from cbsim.dynamics.kernels.gradients.tables import (
    FIRST_COLUMN,
    KEPT_CONTACT,
    KEPT_NODES,
    KEPT_TOUCH,
    KEPT_WRENCH,
    LAST_COLUMN,
    MIX,
    MOVER,
    R1,
    X1,
    add_product,
)
from cbsim.jit import inlined, inner

__all__ = ["add_drifts", "ask_gap"]

TOUCH, CONTACT, NODES, WRENCH = KEPT_TOUCH, KEPT_CONTACT, KEPT_NODES, KEPT_WRENCH
WIDTH = DIRECTIONS  # columns of WRENCH: 12 rows, for ONE and for OTHER
STEP = 1e-5  # of finite differences, of contact geometry or of a body [m, rad]
# a node of a body stands in a row as in `link_work`: place, quaternion, matrix
NODE_TURN, NODE_MATRIX, NODE = c.Q2 - c.X2, c.R2 - c.X2, c.R2 + 9 - c.X2
ONE_NODE, OTHER_NODE, MOVED_NODE, ANSWER = 0, NODE, 2 * NODE, 3 * NODE  # in the row of nodes


@inlined
def _keep(contact, contact_work, kept, i):
    for k in range(c.CONTACT_WORK_COLUMNS):
        kept[TOUCH, k] = contact_work[i, k]
    for k in range(c.CONTACT_COLUMNS):
        kept[CONTACT, k] = contact[i, k]


@inlined
def _back(contact, contact_work, kept, i):
    for k in range(c.CONTACT_WORK_COLUMNS):
        contact_work[i, k] = kept[TOUCH, k]
    for k in range(c.CONTACT_COLUMNS):
        contact[i, k] = kept[CONTACT, k]


@inlined
def _put(link_work, kept, b, o, back):
    """Store node 3 of a body, or restore it."""
    for k in range(NODE if b >= 0 else 0):
        if back:
            link_work[b, c.X3 + k] = kept[NODES, o + k]
        else:
            kept[NODES, o + k] = link_work[b, c.X3 + k]


@inlined
def _to_node_2(link_work, b):
    for k in range(NODE if b >= 0 else 0):
        link_work[b, c.X3 + k] = link_work[b, c.X2 + k]


@inlined
def _to_node_1(link_work, before, b):
    for k in range(3 if b >= 0 else 0):
        link_work[b, c.X3 + k] = before[b, X1 + k]
    for k in range(9 if b >= 0 else 0):
        link_work[b, c.R3 + k] = before[b, R1 + k]


@inner
def ask_gap(contact_link, contact, contact_work, link_work, kept, before, i, h, last, is_soft):
    """Recompute the target gap at node 3, on the branch of the solution.

    ``is_soft``: whether a share of a penetration may remain; ``last`` [s] is the length of the step before.
    """
    if not is_soft and contact_work[i, c.BOUNCES] == 0.0:
        return
    b, q = contact_link[i, c.ONE], contact_link[i, c.OTHER]
    _put(link_work, kept, b, ONE_NODE, False)
    _put(link_work, kept, q, OTHER_NODE, False)
    _to_node_2(link_work, b)
    _to_node_2(link_work, q)
    evaluate_contact(contact_link, contact, contact_work, link_work, i, h)
    gap = contact_work[i, c.GAP]
    # the branch that the solution is on, with no minimum or maximum to switch it
    shift = gap + contact_work[i, c.RISE] if contact_work[i, c.RISE] > 0.0 else contact[i, c.ONE_MINUS_ERP] * gap
    if contact_work[i, c.BOUNCES] != 0.0:
        for k in range(3):
            contact_work[i, c.NORMAL2 + k], contact_work[i, c.POINT2 + k] = (
                contact_work[i, c.AXES + k],
                contact_work[i, c.POINT + k],
            )
        _to_node_1(link_work, before, b)
        _to_node_1(link_work, before, q)
        evaluate_contact(contact_link, contact, contact_work, link_work, i, h)
        # docs/theory/contact.md §8; GAP is that of node 1
        bounced = gap + contact[i, c.RESTITUTION] * (contact_work[i, c.GAP] - gap) * h / last
        shift = max(shift, bounced) if gap < 0.0 else bounced
    contact_work[i, c.SHIFT_OF_GAP] = shift
    _put(link_work, kept, b, ONE_NODE, True)
    _put(link_work, kept, q, OTHER_NODE, True)


@inner
def _wrench(contact_link, contact, contact_work, link_work, kept, i, h, sign, direction):
    """Add ``sign`` times the wrench of contact i with changed geometry to a column, then restore its geometry.

    Changes of its impulses act along the old geometry: their product with a rotated normal is of second order.
    """
    evaluate_contact(contact_link, contact, contact_work, link_work, i, h)
    # only the geometry has changed: at the solution no complementarity is violated
    for k in range(6):
        contact_work[i, c.WANT + k], contact_work[i, c.DFORCE + k] = 0.0, 0.0
    answer(contact_link, contact, contact_work, i, 0.0, 0.0, 0.0, 1.0)
    for k in range(6):
        kept[NODES, ANSWER + k] = contact_work[i, c.DFORCE + k]
    # impulses of the solution along the changed geometry, then their changes along the old one
    _push(contact_link, contact, contact_work, link_work, kept, i, c.FORCE, sign, direction)
    _back(contact, contact_work, kept, i)
    for k in range(6):
        contact_work[i, c.DFORCE + k] = kept[NODES, ANSWER + k]
    _push(contact_link, contact, contact_work, link_work, kept, i, c.DFORCE, sign, direction)


@inner
def _push(contact_link, contact, contact_work, link_work, kept, i, source, sign, direction):
    """Add ``sign`` times the wrench of impulses to a column."""
    b, q = contact_link[i, c.ONE], contact_link[i, c.OTHER]
    for k in range(6):
        link_work[b, c.CARRY + k] = 0.0
        if q >= 0:
            link_work[q, c.CARRY + k] = 0.0
    push(contact_link, contact, contact_work, link_work, i, source, 1.0, c.CARRY)
    for k in range(6):
        kept[WRENCH, WIDTH * k + direction] += sign * link_work[b, c.CARRY + k]
        if q >= 0:
            kept[WRENCH, WIDTH * (6 + k) + direction] += sign * link_work[q, c.CARRY + k]


@inner
def add_drifts(contact_link, contact, contact_work, link_work, scratch, half, h, last):
    """Subtract the change of contact wrenches by drift when node 2 moves from the residuals of bodies."""
    kept = scratch.kept
    for i in range(len(contact_link)):
        # a contact that cannot close in this step has no wrench
        if contact_work[i, c.ACTIVE] == 0.0:
            continue
        # only geometry that detection has found depends on node 2 by itself
        drifts = i < len(scratch.drift) and scratch.mover[i, MOVER] >= 0
        if drifts or contact_work[i, c.BOUNCES] != 0.0:
            _keep(contact, contact_work, kept, i)
        if drifts and _told(contact_link, contact, contact_work, link_work, scratch, i, h, last):
            _drift(contact_link, link_work, scratch, half, i, last)
        if contact_work[i, c.BOUNCES] != 0.0:
            for side in range(2):
                for node in range(2 if contact_link[i, c.ONE + side] >= 0 else 0):
                    _bounce(contact_link, contact, contact_work, link_work, scratch, half, i, side, node, h, last)


@inner
def _told(contact_link, contact, contact_work, link_work, scratch, i, h, last):
    """Write the wrenches by changes of contact geometry, direction by direction; return whether there are any."""
    kept, drift, found = scratch.kept, scratch.drift, False
    for k in range(12 * WIDTH):
        kept[WRENCH, k] = 0.0
    for direction in range(WIDTH):
        most = 0.0
        for m in range(TOLD):
            most = max(most, abs(drift[i, direction * TOLD + m]))
        if most < 1e-9:
            # this direction leaves the contact as it is
            continue
        found = True
        # no number of the geometry changes by more than STEP
        by = STEP / max(1.0, most)
        for side in range(2):
            sign = 1.0 - 2.0 * side
            for m in range(TOLD):
                contact[i, c.ORIGIN + m] = kept[CONTACT, c.ORIGIN + m] + sign * by * drift[i, direction * TOLD + m]
            is_soft = kept[TOUCH, c.SHIFT_OF_GAP] < 0.0
            ask_gap(contact_link, contact, contact_work, link_work, kept, scratch.before, i, h, last, is_soft)
            _wrench(contact_link, contact, contact_work, link_work, kept, i, h, 0.5 * sign / by, direction)
    return found


@inner
def _drift(contact_link, link_work, scratch, half, i, last):
    """Subtract the current wrenches from the residuals, by the motion of the moving body and of the other."""
    patch, seed, carry, kept, span = scratch.patch, scratch.seed, scratch.carry, scratch.kept, scratch.span
    b, q, m = contact_link[i, c.ONE], contact_link[i, c.OTHER], scratch.mover[i, MOVER]
    other = q if m == b else b
    for side in range(2):
        target = b if side == 0 else q
        if target < 0:
            continue
        # WRENCH holds a column for each direction: times the slopes of node 2 by the seeds of the moving body
        o = 6 * WIDTH * side
        add_product(
            carry, 6 * target, -1.0, kept, WRENCH, o, 6, 6, WIDTH, 1, seed, 12 * m, span[m, FIRST_COLUMN],
            span[m, LAST_COLUMN],
        )  # fmt: skip
        _by_spin(link_work, scratch, half, m, target, o, -1.0, last)
        if other < 0:
            continue
        # the other body moved is the first moved the other way; its rotation also carries the first one about it
        rx = link_work[m, c.X2] - link_work[other, c.X2]
        ry, rz = (
            link_work[m, c.X2 + 1] - link_work[other, c.X2 + 1],
            link_work[m, c.X2 + 2] - link_work[other, c.X2 + 2],
        )
        for k in range(6):
            e = o + WIDTH * k
            x, y, z = kept[WRENCH, e], kept[WRENCH, e + 1], kept[WRENCH, e + 2]
            ux, uy, uz = cross(rx, ry, rz, x, y, z)
            n = MIX + 6 * k
            patch[m, n], patch[m, n + 1], patch[m, n + 2] = x, y, z
            patch[m, n + 3], patch[m, n + 4] = kept[WRENCH, e + 3] + ux, kept[WRENCH, e + 4] + uy
            patch[m, n + 5] = kept[WRENCH, e + 5] + uz
        add_product(
            carry, 6 * target, 1.0, patch, m, MIX, 6, 6, 6, 1, seed, 12 * other, span[other, FIRST_COLUMN],
            span[other, LAST_COLUMN],
        )  # fmt: skip
        _by_spin(link_work, scratch, half, other, target, o, 1.0, last)


@inner
def _by_spin(link_work, scratch, half, b, target, o, sign, last):
    """Subtract the effect of the spin of body b: (s + [v]×) (φ₂ − φ₁) / h, its change in the body's frame."""
    kept, patch, seed, span = scratch.kept, scratch.patch, scratch.seed, scratch.span
    any_ = False
    for k in range(6):
        # directions 6 to 8 are those of spin; most geometry does not depend on it
        for m in range(6, 9):
            any_ = any_ or kept[WRENCH, o + WIDTH * k + m] != 0.0
    if not any_:
        return
    s, x, y, z = turn_of_step(link_work, scratch.before, b)
    for k in range(6):
        e = o + WIDTH * k + 6
        gx, gy, gz = kept[WRENCH, e], kept[WRENCH, e + 1], kept[WRENCH, e + 2]
        ux, uy, uz = cross(gx, gy, gz, x, y, z)
        n = MIX + 36 + 3 * k
        patch[b, n], patch[b, n + 1], patch[b, n + 2] = (s * gx + ux) / last, (s * gy + uy) / last, (s * gz + uz) / last
    first, end = span[b, FIRST_COLUMN], span[b, LAST_COLUMN]
    add_product(scratch.carry, 6 * target, sign, patch, b, MIX + 36, 6, 3, 3, 1, seed, 12 * b + 3, first, end)
    for start in (0, half):
        add_product(
            scratch.carry, 6 * target, -sign, patch, b, MIX + 36, 6, 3, 3, 1, seed, 12 * b + 9, start + first,
            start + end,
        )  # fmt: skip


@inlined
def _nudge(table, b, direction, by):
    """Move a body along or about an axis of the world, in a table of position, quaternion, matrix."""
    if direction < 3:
        table[b, direction] += by
        return
    half = 0.5 * by
    # half the angle, with the scalar part to second order
    x, y, z = half * (direction == 3), half * (direction == 4), half * (direction == 5)
    q = NODE_TURN
    a, d, e, f = table[b, q], table[b, q + 1], table[b, q + 2], table[b, q + 3]
    s, x, y, z = product(1.0 - 0.5 * half * half, x, y, z, a, d, e, f)
    table[b, q], table[b, q + 1], table[b, q + 2], table[b, q + 3] = s, x, y, z
    rotation(table, b, NODE_MATRIX, s, x, y, z)


@inner
def _nudged(contact_link, contact, contact_work, link_work, scratch, table, i, m, direction, h, last):
    """Write to WRENCH the effect on contact i of motion of body m at a node in a table, node 3 held."""
    kept = scratch.kept
    for way in range(2):
        sign = 1.0 - 2.0 * way
        for k in range(NODE):
            kept[NODES, MOVED_NODE + k] = table[m, k]
        _nudge(table, m, direction, sign * STEP)
        is_soft = kept[TOUCH, c.SHIFT_OF_GAP] < 0.0
        ask_gap(contact_link, contact, contact_work, link_work, kept, scratch.before, i, h, last, is_soft)
        for k in range(NODE):
            table[m, k] = kept[NODES, MOVED_NODE + k]
        _wrench(contact_link, contact, contact_work, link_work, kept, i, h, 0.5 * sign / STEP, direction)


@inner
def _bounce(contact_link, contact, contact_work, link_work, scratch, half, i, side, node, h, last):
    """Subtract the effect of motion of a body at a node on the position and target gap of a bouncing contact."""
    kept, seed, carry = scratch.kept, scratch.seed, scratch.carry
    m = contact_link[i, c.ONE + side]
    for k in range(12 * WIDTH):
        kept[WRENCH, k] = 0.0
    # along the axes of the world, then about them
    for direction in range(6):
        if node == 0:
            _nudged(contact_link, contact, contact_work, link_work, scratch, link_work, i, m, direction, h, last)
        else:
            _nudged(contact_link, contact, contact_work, link_work, scratch, scratch.before, i, m, direction, h, last)
    if node == 0:  # the lever arm starts at the body, which has moved
        f = contact_work[i, c.FORCE] * (1.0 - 2.0 * side)
        fx, fy, fz = (
            f * contact_work[i, c.NORMAL2],
            f * contact_work[i, c.NORMAL2 + 1],
            f * contact_work[i, c.NORMAL2 + 2],
        )
        for k in range(3):
            torque = cross(fx, fy, fz, 1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2))
            for n in range(3):
                kept[WRENCH, WIDTH * (6 * side + 3 + n) + k] += torque[n]
    first, end = scratch.span[m, FIRST_COLUMN], scratch.span[m, LAST_COLUMN]
    for other in range(2):
        target, o = contact_link[i, c.ONE + other], 6 * WIDTH * other
        # motions of node 2 are the first `half` columns; those of node 1 stand in both halves
        for which in range(1 + node if target >= 0 else 0):
            start = which * half
            add_product(
                carry, 6 * target, -1.0, kept, WRENCH, o, 6, 6, WIDTH, 1, seed, 12 * m + 6 * node,
                start + first, start + end,
            )  # fmt: skip
