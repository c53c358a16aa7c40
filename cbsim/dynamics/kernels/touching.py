"""A sphere of one link against a half-space or against another link: gap, slip, wrench, and their slopes at node 3.

The gap is measured where the spheres or shapes are at node 3, slip with the velocities of the step, and the impulse
acts at node 3 (docs/theory/contact.md §2), a normal one that lets bodies bounce at node 2; in the world: what one body
gets the other loses, at one point. Linear momentum is kept so, angular momentum but for what centres of mass move past
each other in the step, times the impulse.
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
    X2,
    X3,
)
from cbsim.dynamics.kernels.cones import answer, friction
from cbsim.dynamics.kernels.faces import bend_face, meet_face
from cbsim.dynamics.kernels.pairs import bend, meet
from cbsim.jit import inlined, inner

__all__ = ["follow", "push", "see", "stiffen"]


@inlined
def velocity(arena, b, h, x, y, z):
    """Velocity in this step of the point of body b that is at an arm (x, y, z) from its centre of mass at node 3."""
    k = 2.0 / h
    vx, vy, vz = cross(k * arena[b, TURN + 1], k * arena[b, TURN + 2], k * arena[b, TURN + 3], x, y, z)
    return (
        vx + (arena[b, X3] - arena[b, X2]) / h,
        vy + (arena[b, X3 + 1] - arena[b, X2 + 1]) / h,
        vz + (arena[b, X3 + 2] - arena[b, X2 + 2]) / h,
    )


@inlined
def see(contact_link, contact, touch, arena, i, h):
    """Measure gap and slip at node 3, and set ARM, POINT and AXES."""
    b, other = contact_link[i, ONE], contact_link[i, OTHER]
    ax, ay, az = turned(arena, b, R3, contact[i, ORIGIN], contact[i, ORIGIN + 1], contact[i, ORIGIN + 2])
    touch[i, ARM], touch[i, ARM + 1], touch[i, ARM + 2] = ax, ay, az
    cx, cy, cz = arena[b, X3] + ax, arena[b, X3 + 1] + ay, arena[b, X3 + 2] + az
    radius = contact[i, RADIUS]
    if other >= 0:
        if contact_link[i, SHAPE] == FACE:
            meet_face(contact, touch, arena, i, other, cx, cy, cz)
        else:
            meet(contact_link, contact, touch, arena, i, cx, cy, cz)
    else:
        for k in range(9):
            touch[i, AXES + k] = contact[i, NORMAL + k]
        k = PLANE
        dx, dy, dz = cx - contact[i, k], cy - contact[i, k + 1], cz - contact[i, k + 2]
        touch[i, GAP] = contact[i, NORMAL] * dx + contact[i, NORMAL + 1] * dy + contact[i, NORMAL + 2] * dz - radius
    px = cx - radius * touch[i, AXES]
    py = cy - radius * touch[i, AXES + 1]
    pz = cz - radius * touch[i, AXES + 2]
    touch[i, POINT], touch[i, POINT + 1], touch[i, POINT + 2] = px, py, pz
    vx, vy, vz = velocity(arena, b, h, px - arena[b, X3], py - arena[b, X3 + 1], pz - arena[b, X3 + 2])
    if other >= 0:
        ux, uy, uz = velocity(
            arena, other, h, px - arena[other, X3], py - arena[other, X3 + 1], pz - arena[other, X3 + 2]
        )
        vx, vy, vz = vx - ux, vy - uy, vz - uz
    touch[i, SPEED] = vx * vx + vy * vy + vz * vz
    for k in range(2):
        o = AXES + 3 + 3 * k
        touch[i, SLIP + k] = touch[i, o] * vx + touch[i, o + 1] * vy + touch[i, o + 2] * vz


@inlined
def push(contact_link, contact, touch, arena, i, source, sign, target):
    """Add the wrench of the contact's impulse, read from the columns ``source``, to what its bodies have."""
    first, second = friction(contact_link, contact, touch, i, source)
    normal, k = touch[i, source], AXES
    if touch[i, BOUNCES] != 0.0:
        fx, fy, fz = (
            sign * normal * touch[i, NORMAL2],
            sign * normal * touch[i, NORMAL2 + 1],
            sign * normal * touch[i, NORMAL2 + 2],
        )
        _add(arena, contact_link[i, ONE], touch, i, POINT2, X2, fx, fy, fz, target)
        if contact_link[i, OTHER] >= 0:
            _add(arena, contact_link[i, OTHER], touch, i, POINT2, X2, -fx, -fy, -fz, target)
        normal = 0.0
    fx = sign * (normal * touch[i, k] + first * touch[i, k + 3] + second * touch[i, k + 6])
    fy = sign * (normal * touch[i, k + 1] + first * touch[i, k + 4] + second * touch[i, k + 7])
    fz = sign * (normal * touch[i, k + 2] + first * touch[i, k + 5] + second * touch[i, k + 8])
    _add(arena, contact_link[i, ONE], touch, i, POINT, X3, fx, fy, fz, target)
    if contact_link[i, OTHER] >= 0:
        _add(arena, contact_link[i, OTHER], touch, i, POINT, X3, -fx, -fy, -fz, target)


@inlined
def _add(arena, b, touch, i, point, place, fx, fy, fz, target):
    """Add a force at the contact's point to a wrench of body b, both where they are at one node."""
    rx, ry, rz = (
        touch[i, point] - arena[b, place],
        touch[i, point + 1] - arena[b, place + 1],
        touch[i, point + 2] - arena[b, place + 2],
    )
    tx, ty, tz = cross(rx, ry, rz, fx, fy, fz)
    arena[b, target] += fx
    arena[b, target + 1] += fy
    arena[b, target + 2] += fz
    arena[b, target + 3] += tx
    arena[b, target + 4] += ty
    arena[b, target + 5] += tz


@inner
def stiffen(contact_link, contact, touch, arena, block, i, h):
    """Condense the contact into the blocks of its bodies: minus MAPᵀ STIFF GRADIENT, minus the wrench's own turning."""
    rows = 1 if contact_link[i, LAW] == IMPACT else 3
    for j in range(rows):
        answer(contact_link, contact, touch, i, 1.0 * (j == 0), 1.0 * (j == 1), 1.0 * (j == 2), 0.0)
        touch[i, STIFF + j] = touch[i, DFORCE]
        if rows == 3:
            touch[i, STIFF + 3 + j], touch[i, STIFF + 6 + j] = friction(contact_link, contact, touch, i, DFORCE)
    b, other = contact_link[i, ONE], contact_link[i, OTHER]
    normal = touch[i, FORCE]
    if touch[i, BOUNCES] != 0.0:
        touch[i, FORCE] = 0.0  # what acts at node 2 does not turn with node 3
    if other < 0:
        _slopes(contact, touch, arena, i, b, h)
        turn_wrench(contact_link, contact, touch, block, i)
    elif contact_link[i, SHAPE] == FACE:
        bend_face(contact_link, contact, touch, arena, block, i, h)
    else:
        bend(contact_link, contact, touch, arena, block, i, h)
    touch[i, FORCE] = normal
    if touch[i, BOUNCES] != 0.0:
        _map_at_node_2(touch, arena, i, b, 1.0, MAP)
        if other >= 0:
            _map_at_node_2(touch, arena, i, other, -1.0, MAP + 6)
    if other < 0:
        _condense(touch, block, i, rows, b, 0, 0)
        return
    _condense(touch, block, i, rows, b, 0, 0)
    _condense(touch, block, i, rows, contact_link[i, ONE_OTHER], 0, 6)
    _condense(touch, block, i, rows, contact_link[i, OTHER_ONE], 6, 0)
    _condense(touch, block, i, rows, other, 6, 6)


@inlined
def _map_at_node_2(touch, arena, i, b, sign, o):
    """Write the wrench on body b of a unit of the normal impulse where it acts at node 2."""
    x, y, z = sign * touch[i, NORMAL2], sign * touch[i, NORMAL2 + 1], sign * touch[i, NORMAL2 + 2]
    rx, ry, rz = (
        touch[i, POINT2] - arena[b, X2],
        touch[i, POINT2 + 1] - arena[b, X2 + 1],
        touch[i, POINT2 + 2] - arena[b, X2 + 2],
    )
    touch[i, o], touch[i, o + 1], touch[i, o + 2] = x, y, z
    touch[i, o + 3], touch[i, o + 4], touch[i, o + 5] = cross(rx, ry, rz, x, y, z)


@inlined
def _condense(touch, block, i, rows, target, wrench, motion):
    """Subtract MAPᵀ STIFF GRADIENT from one block."""
    for j in range(rows):
        a, b, c = touch[i, STIFF + 3 * j], 0.0, 0.0
        if rows == 3:
            b, c = touch[i, STIFF + 3 * j + 1], touch[i, STIFF + 3 * j + 2]
        o, e = GRADIENT + motion, MAP + 12 * j + wrench
        for k in range(6):
            s = a * touch[i, o + k]
            if rows == 3:
                s += b * touch[i, o + 12 + k] + c * touch[i, o + 24 + k]
            for m in range(6):
                block[target, 6 * m + k] -= touch[i, e + m] * s


@inlined
def _slopes(contact, touch, arena, i, b, h):
    """Write GRADIENT and MAP against a half-space."""
    r = contact[i, RADIUS]
    ax, ay, az = touch[i, ARM], touch[i, ARM + 1], touch[i, ARM + 2]
    ex, ey, ez = ax - r * contact[i, NORMAL], ay - r * contact[i, NORMAL + 1], az - r * contact[i, NORMAL + 2]
    c, px, py, pz = arena[b, TURN], arena[b, TURN + 1], arena[b, TURN + 2], arena[b, TURN + 3]
    k = 1.0 / h
    for j in range(3):
        o = NORMAL + 3 * j
        tx, ty, tz = contact[i, o], contact[i, o + 1], contact[i, o + 2]
        mx, my, mz = cross(ex, ey, ez, tx, ty, tz)
        o = MAP + 12 * j
        touch[i, o], touch[i, o + 1], touch[i, o + 2] = tx, ty, tz
        touch[i, o + 3], touch[i, o + 4], touch[i, o + 5] = mx, my, mz
        o = GRADIENT + 12 * j
        if j == 0:
            gx, gy, gz = cross(ax, ay, az, tx, ty, tz)
        else:
            gx, gy, gz = cross(px, py, pz, mx, my, mz)
            tx, ty, tz = k * tx, k * ty, k * tz
            sx, sy, sz = cross(2.0 * tx, 2.0 * ty, 2.0 * tz, px, py, pz)
            sx, sy, sz = cross(ax, ay, az, sx, sy, sz)
            gx, gy, gz = k * (c * mx + gx) + sx, k * (c * my + gy) + sy, k * (c * mz + gz) + sz
        touch[i, o], touch[i, o + 1], touch[i, o + 2] = tx, ty, tz
        touch[i, o + 3], touch[i, o + 4], touch[i, o + 5] = gx, gy, gz


@inlined
def turn_wrench(contact_link, contact, touch, block, i):
    """Subtract d(arm × F) / dphi = arm Fᵀ − (arm·F) 1 of the impulse at hand, the arm to the sphere's centre."""
    b = contact_link[i, ONE]
    first, second = friction(contact_link, contact, touch, i, FORCE)
    n, k = touch[i, FORCE], NORMAL
    fx = n * contact[i, k] + first * contact[i, k + 3] + second * contact[i, k + 6]
    fy = n * contact[i, k + 1] + first * contact[i, k + 4] + second * contact[i, k + 7]
    fz = n * contact[i, k + 2] + first * contact[i, k + 5] + second * contact[i, k + 8]
    ax, ay, az = touch[i, ARM], touch[i, ARM + 1], touch[i, ARM + 2]
    along = ax * fx + ay * fy + az * fz
    block[b, 21] -= ax * fx - along
    block[b, 22] -= ax * fy
    block[b, 23] -= ax * fz
    block[b, 27] -= ay * fx
    block[b, 28] -= ay * fy - along
    block[b, 29] -= ay * fz
    block[b, 33] -= az * fx
    block[b, 34] -= az * fy
    block[b, 35] -= az * fz - along


@inlined
def follow(contact_link, contact, touch, arena, i):
    """Read the changes of slack and impulse off the increments of the bodies."""
    b, other = contact_link[i, ONE], contact_link[i, OTHER]
    d0, d1, d2 = 0.0, 0.0, 0.0
    for k in range(6):
        s, o = arena[b, DELTA + k], GRADIENT + k
        d0, d1, d2 = d0 + touch[i, o] * s, d1 + touch[i, o + 12] * s, d2 + touch[i, o + 24] * s
    if other >= 0:
        for k in range(6):
            s, o = arena[other, DELTA + k], GRADIENT + 6 + k
            d0, d1, d2 = d0 + touch[i, o] * s, d1 + touch[i, o + 12] * s, d2 + touch[i, o + 24] * s
    answer(contact_link, contact, touch, i, d0, d1, d2, 1.0)
