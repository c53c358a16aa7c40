"""Contacts of a sphere with a half-space or another link: gap, slip, wrench, and their slopes at node 3.

The gap is measured at node 3, slip with the velocities of the step. The impulse acts at node 3 (docs/theory/contact.md
§2), the normal impulse of a bouncing contact at node 2. Both bodies receive opposite impulses at one point of the
world, which conserves linear momentum exactly, and angular momentum up to the relative motion of the centres of mass
during the step, times the impulse.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross, turned
from cbsim.dynamics.kernels.columns import (
    ARM,
    AXES,
    BOUNCES,
    DELTA,
    DFORCE,
    FACE,
    FORCE,
    GAP,
    GRADIENT,
    IMPACT,
    LAW,
    MAP,
    NORMAL,
    NORMAL2,
    ONE,
    ONE_OTHER,
    ORIGIN,
    OTHER,
    OTHER_ONE,
    PLANE,
    POINT,
    POINT2,
    R3,
    RADIUS,
    SHAPE,
    SLIP,
    SPEED,
    STIFF,
    TURN,
    TURN_BY_TURN,
    X2,
    X3,
)
from cbsim.dynamics.kernels.cones import answer, friction
from cbsim.dynamics.kernels.faces import bend_face, meet_face
from cbsim.dynamics.kernels.nearest_points import bend, meet
from cbsim.jit import inlined, inner

__all__ = ["evaluate_contact", "follow", "push", "stiffen"]


@inlined
def velocity(link_work, b, h, x, y, z):
    """Velocity in this step of the point of body b at an arm (x, y, z) from its centre of mass at node 3."""
    # Δx/h of the centre of mass, and (2/h) P × arm: the rotation of the step on the arm at node 3
    k = 2.0 / h
    vx, vy, vz = cross(k * link_work[b, TURN + 1], k * link_work[b, TURN + 2], k * link_work[b, TURN + 3], x, y, z)
    return (
        vx + (link_work[b, X3] - link_work[b, X2]) / h,
        vy + (link_work[b, X3 + 1] - link_work[b, X2 + 1]) / h,
        vz + (link_work[b, X3 + 2] - link_work[b, X2 + 2]) / h,
    )


@inlined
def evaluate_contact(contact_link, contact, contact_work, link_work, i, h):
    """Measure gap and slip at node 3, and set ARM, POINT and AXES."""
    b, other = contact_link[i, ONE], contact_link[i, OTHER]
    ax, ay, az = turned(link_work, b, R3, contact[i, ORIGIN], contact[i, ORIGIN + 1], contact[i, ORIGIN + 2])
    # to the sphere's centre, not to the contact's point
    contact_work[i, ARM], contact_work[i, ARM + 1], contact_work[i, ARM + 2] = ax, ay, az
    cx, cy, cz = link_work[b, X3] + ax, link_work[b, X3 + 1] + ay, link_work[b, X3 + 2] + az
    radius = contact[i, RADIUS]
    if other >= 0:
        if contact_link[i, SHAPE] == FACE:
            meet_face(contact, contact_work, link_work, i, other, cx, cy, cz)
        else:
            meet(contact_link, contact, contact_work, link_work, i, cx, cy, cz)
    else:
        # half-space of the world: normal and tangents are constant
        for k in range(9):
            contact_work[i, AXES + k] = contact[i, NORMAL + k]
        k = PLANE
        dx, dy, dz = cx - contact[i, k], cy - contact[i, k + 1], cz - contact[i, k + 2]
        contact_work[i, GAP] = (
            contact[i, NORMAL] * dx + contact[i, NORMAL + 1] * dy + contact[i, NORMAL + 2] * dz - radius
        )
    # point of the sphere towards the other shape
    px = cx - radius * contact_work[i, AXES]
    py = cy - radius * contact_work[i, AXES + 1]
    pz = cz - radius * contact_work[i, AXES + 2]
    contact_work[i, POINT], contact_work[i, POINT + 1], contact_work[i, POINT + 2] = px, py, pz
    vx, vy, vz = velocity(link_work, b, h, px - link_work[b, X3], py - link_work[b, X3 + 1], pz - link_work[b, X3 + 2])
    if other >= 0:
        ux, uy, uz = velocity(
            link_work, other, h, px - link_work[other, X3], py - link_work[other, X3 + 1], pz - link_work[other, X3 + 2]
        )
        vx, vy, vz = vx - ux, vy - uy, vz - uz
    contact_work[i, SPEED] = vx * vx + vy * vy + vz * vz
    for k in range(2):
        o = AXES + 3 + 3 * k
        contact_work[i, SLIP + k] = contact_work[i, o] * vx + contact_work[i, o + 1] * vy + contact_work[i, o + 2] * vz


@inlined
def push(contact_link, contact, contact_work, link_work, i, source, sign, target):
    """Add the wrench of the contact's impulse, read from the columns ``source``, to those of its bodies."""
    first, second = friction(contact_link, contact, contact_work, i, source)
    normal, k = contact_work[i, source], AXES
    # a rebound acts at node 2, between both steps, so that at e = 1 energy is conserved (docs/theory/contact.md §8)
    if contact_work[i, BOUNCES] != 0.0:
        fx, fy, fz = (
            sign * normal * contact_work[i, NORMAL2],
            sign * normal * contact_work[i, NORMAL2 + 1],
            sign * normal * contact_work[i, NORMAL2 + 2],
        )
        _add(link_work, contact_link[i, ONE], contact_work, i, POINT2, X2, fx, fy, fz, target)
        if contact_link[i, OTHER] >= 0:
            _add(link_work, contact_link[i, OTHER], contact_work, i, POINT2, X2, -fx, -fy, -fz, target)
        # friction alone acts at node 3
        normal = 0.0
    fx = sign * (normal * contact_work[i, k] + first * contact_work[i, k + 3] + second * contact_work[i, k + 6])
    fy = sign * (normal * contact_work[i, k + 1] + first * contact_work[i, k + 4] + second * contact_work[i, k + 7])
    fz = sign * (normal * contact_work[i, k + 2] + first * contact_work[i, k + 5] + second * contact_work[i, k + 8])
    _add(link_work, contact_link[i, ONE], contact_work, i, POINT, X3, fx, fy, fz, target)
    if contact_link[i, OTHER] >= 0:
        _add(link_work, contact_link[i, OTHER], contact_work, i, POINT, X3, -fx, -fy, -fz, target)


@inlined
def _add(link_work, b, contact_work, i, point, place, fx, fy, fz, target):
    """Add a force at the contact's point to a wrench of body b, both at one node."""
    rx, ry, rz = (
        contact_work[i, point] - link_work[b, place],
        contact_work[i, point + 1] - link_work[b, place + 1],
        contact_work[i, point + 2] - link_work[b, place + 2],
    )
    tx, ty, tz = cross(rx, ry, rz, fx, fy, fz)
    link_work[b, target] += fx
    link_work[b, target + 1] += fy
    link_work[b, target + 2] += fz
    link_work[b, target + 3] += tx
    link_work[b, target + 4] += ty
    link_work[b, target + 5] += tz


@inner
def stiffen(contact_link, contact, contact_work, link_work, block, i, h):
    """Condense the contact into the blocks of its bodies: minus MAPᵀ STIFF GRADIENT, minus its rotation."""
    rows = 1 if contact_link[i, LAW] == IMPACT else 3
    for j in range(rows):
        # response of the impulse to unit changes of gap and slip, column by column of STIFF
        answer(contact_link, contact, contact_work, i, 1.0 * (j == 0), 1.0 * (j == 1), 1.0 * (j == 2), 0.0)
        contact_work[i, STIFF + j] = contact_work[i, DFORCE]
        if rows == 3:
            contact_work[i, STIFF + 3 + j], contact_work[i, STIFF + 6 + j] = friction(
                contact_link, contact, contact_work, i, DFORCE
            )
    b, other = contact_link[i, ONE], contact_link[i, OTHER]
    normal = contact_work[i, FORCE]
    if contact_work[i, BOUNCES] != 0.0:
        contact_work[i, FORCE] = 0.0  # a wrench at node 2 does not rotate with node 3
    if other < 0:
        _slopes(contact, contact_work, link_work, i, b, h)
        turn_wrench(contact_link, contact, contact_work, block, i)
    elif contact_link[i, SHAPE] == FACE:
        bend_face(contact_link, contact, contact_work, link_work, block, i, h)
    else:
        bend(contact_link, contact, contact_work, link_work, block, i, h)
    contact_work[i, FORCE] = normal
    if contact_work[i, BOUNCES] != 0.0:
        # the normal impulse answers to the gap at node 3, and acts at node 2: only row 0 of MAP changes
        _map_at_node_2(contact_work, link_work, i, b, 1.0, MAP)
        if other >= 0:
            _map_at_node_2(contact_work, link_work, i, other, -1.0, MAP + 6)
    if other < 0:
        _condense(contact_work, block, i, rows, b, 0, 0)
        return
    _condense(contact_work, block, i, rows, b, 0, 0)
    # four blocks: wrenches on either body by motions of either
    _condense(contact_work, block, i, rows, contact_link[i, ONE_OTHER], 0, 6)
    _condense(contact_work, block, i, rows, contact_link[i, OTHER_ONE], 6, 0)
    _condense(contact_work, block, i, rows, other, 6, 6)


@inlined
def _map_at_node_2(contact_work, link_work, i, b, sign, o):
    """Write the wrench on body b per unit of a normal impulse that acts at node 2."""
    x, y, z = sign * contact_work[i, NORMAL2], sign * contact_work[i, NORMAL2 + 1], sign * contact_work[i, NORMAL2 + 2]
    rx, ry, rz = (
        contact_work[i, POINT2] - link_work[b, X2],
        contact_work[i, POINT2 + 1] - link_work[b, X2 + 1],
        contact_work[i, POINT2 + 2] - link_work[b, X2 + 2],
    )
    contact_work[i, o], contact_work[i, o + 1], contact_work[i, o + 2] = x, y, z
    contact_work[i, o + 3], contact_work[i, o + 4], contact_work[i, o + 5] = cross(rx, ry, rz, x, y, z)


@inlined
def _condense(contact_work, block, i, rows, target, wrench, motion):
    """Subtract MAPᵀ STIFF GRADIENT from one block."""
    # row j of STIFF times GRADIENT, one column k of the block at a time; the three rows of GRADIENT are 12 apart
    for j in range(rows):
        a, b, c = contact_work[i, STIFF + 3 * j], 0.0, 0.0
        if rows == 3:
            b, c = contact_work[i, STIFF + 3 * j + 1], contact_work[i, STIFF + 3 * j + 2]
        o, e = GRADIENT + motion, MAP + 12 * j + wrench
        for k in range(6):
            s = a * contact_work[i, o + k]
            if rows == 3:
                s += b * contact_work[i, o + 12 + k] + c * contact_work[i, o + 24 + k]
            for m in range(6):
                block[target, 6 * m + k] -= contact_work[i, e + m] * s


@inlined
def _slopes(contact, contact_work, link_work, i, b, h):
    """Write GRADIENT and MAP against a half-space."""
    r = contact[i, RADIUS]
    ax, ay, az = contact_work[i, ARM], contact_work[i, ARM + 1], contact_work[i, ARM + 2]
    # lever arm of the contact point, below the sphere's centre
    ex, ey, ez = ax - r * contact[i, NORMAL], ay - r * contact[i, NORMAL + 1], az - r * contact[i, NORMAL + 2]
    c, px, py, pz = link_work[b, TURN], link_work[b, TURN + 1], link_work[b, TURN + 2], link_work[b, TURN + 3]
    k = 1.0 / h
    for j in range(3):
        o = NORMAL + 3 * j
        tx, ty, tz = contact[i, o], contact[i, o + 1], contact[i, o + 2]
        mx, my, mz = cross(ex, ey, ez, tx, ty, tz)
        o = MAP + 12 * j
        contact_work[i, o], contact_work[i, o + 1], contact_work[i, o + 2] = tx, ty, tz
        contact_work[i, o + 3], contact_work[i, o + 4], contact_work[i, o + 5] = mx, my, mz
        o = GRADIENT + 12 * j
        if j == 0:
            # the gap changes with the sphere's centre
            gx, gy, gz = cross(ax, ay, az, tx, ty, tz)
        else:
            # slip: derivative of (2/h) P × e by a rotation, which changes P and the arm
            gx, gy, gz = cross(px, py, pz, mx, my, mz)
            tx, ty, tz = k * tx, k * ty, k * tz
            sx, sy, sz = cross(2.0 * tx, 2.0 * ty, 2.0 * tz, px, py, pz)
            sx, sy, sz = cross(ax, ay, az, sx, sy, sz)
            gx, gy, gz = k * (c * mx + gx) + sx, k * (c * my + gy) + sy, k * (c * mz + gz) + sz
        contact_work[i, o], contact_work[i, o + 1], contact_work[i, o + 2] = tx, ty, tz
        contact_work[i, o + 3], contact_work[i, o + 4], contact_work[i, o + 5] = gx, gy, gz


@inlined
def turn_wrench(contact_link, contact, contact_work, block, i):
    """Subtract d(arm × F) / dphi = arm Fᵀ − (arm·F) 1 of the current impulse, with the arm to the sphere's centre."""
    b = contact_link[i, ONE]
    first, second = friction(contact_link, contact, contact_work, i, FORCE)
    n, k = contact_work[i, FORCE], NORMAL
    fx = n * contact[i, k] + first * contact[i, k + 3] + second * contact[i, k + 6]
    fy = n * contact[i, k + 1] + first * contact[i, k + 4] + second * contact[i, k + 7]
    fz = n * contact[i, k + 2] + first * contact[i, k + 5] + second * contact[i, k + 8]
    ax, ay, az = contact_work[i, ARM], contact_work[i, ARM + 1], contact_work[i, ARM + 2]
    along = ax * fx + ay * fy + az * fz
    # torque by rotation: rows and columns 3 to 5 of the block
    block[b, TURN_BY_TURN] -= ax * fx - along
    block[b, TURN_BY_TURN + 1] -= ax * fy
    block[b, TURN_BY_TURN + 2] -= ax * fz
    block[b, TURN_BY_TURN + 6] -= ay * fx
    block[b, TURN_BY_TURN + 7] -= ay * fy - along
    block[b, TURN_BY_TURN + 8] -= ay * fz
    block[b, TURN_BY_TURN + 12] -= az * fx
    block[b, TURN_BY_TURN + 13] -= az * fy
    block[b, TURN_BY_TURN + 14] -= az * fz - along


@inlined
def follow(contact_link, contact, contact_work, link_work, i):
    """Compute the changes of slack and impulse from the increments of the bodies."""
    b, other = contact_link[i, ONE], contact_link[i, OTHER]
    d0, d1, d2 = 0.0, 0.0, 0.0
    for k in range(6):
        # changes of gap and slip by the motion of either body
        s, o = link_work[b, DELTA + k], GRADIENT + k
        d0, d1, d2 = d0 + contact_work[i, o] * s, d1 + contact_work[i, o + 12] * s, d2 + contact_work[i, o + 24] * s
    if other >= 0:
        for k in range(6):
            s, o = link_work[other, DELTA + k], GRADIENT + 6 + k
            d0, d1, d2 = d0 + contact_work[i, o] * s, d1 + contact_work[i, o + 12] * s, d2 + contact_work[i, o + 24] * s
    answer(contact_link, contact, contact_work, i, d0, d1, d2, 1.0)
