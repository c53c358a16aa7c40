"""Contacts of a sphere with a shape of another link: nearest point, normal, and its change with motion.

One method for all shapes (docs/theory/contact.md §2): the sphere's centre, in the frame of the other body, has a
nearest point on the shape's core (a point, a segment, a box). The normal points from there to the centre, and changes
by BEND times their relative motion. A string is an upper bound of a distance: its normal points the other way.
"""

from __future__ import annotations

import math

from cbsim.dynamics.kernels.algebra import cross, turned, turned_back
from cbsim.dynamics.kernels.columns import (
    AXES,
    BEND,
    BOX,
    CAPSULE,
    EXTENT,
    FORCE,
    GAP,
    GRADIENT,
    MAP,
    ONE,
    ONE_OTHER,
    OTHER,
    OTHER_ONE,
    OTHER_RADIUS,
    PLANE,
    POINT,
    R3,
    RADIUS,
    SHAPE,
    STRING,
    TURN,
    X2,
    X3,
)
from cbsim.dynamics.kernels.cones import friction
from cbsim.jit import inlined, inner

__all__ = ["arm_of", "bend", "meet"]


@inner
def meet(contact_link, contact, contact_work, link_work, i, cx, cy, cz):
    """Set GAP, AXES and BEND for a sphere whose centre is at (cx, cy, cz)."""
    q, shape = contact_link[i, OTHER], contact_link[i, SHAPE]
    ex, ey, ez = turned_back(
        link_work, q, R3, cx - link_work[q, X3], cy - link_work[q, X3 + 1], cz - link_work[q, X3 + 2]
    )
    ex, ey, ez = ex - contact[i, PLANE], ey - contact[i, PLANE + 1], ez - contact[i, PLANE + 2]
    fx, fy, fz = 1.0, 1.0, 1.0  # directions of the other's frame in which the nearest point is fixed
    ux, uy, uz = 0.0, 0.0, 0.0
    hx, hy, hz = contact[i, EXTENT], contact[i, EXTENT + 1], contact[i, EXTENT + 2]
    depth = 0.0
    if shape == CAPSULE:
        length = hx * hx + hy * hy + hz * hz
        t = (ex * hx + ey * hy + ez * hz) / length
        # between the ends the nearest point follows the sphere along the axis; at an end it is fixed
        if -1.0 < t < 1.0:
            scale = 1.0 / math.sqrt(length)
            ux, uy, uz = hx * scale, hy * scale, hz * scale
        t = min(1.0, max(-1.0, t))
        ex, ey, ez = ex - t * hx, ey - t * hy, ez - t * hz
    elif shape == BOX:
        dx, dy, dz = hx - abs(ex), hy - abs(ey), hz - abs(ez)
        if dx >= 0.0 and dy >= 0.0 and dz >= 0.0:  # inside: out through the nearest face
            depth = min(dx, dy, dz)
            ex = math.copysign(1.0, ex) if dx == depth else 0.0
            ey = math.copysign(1.0, ey) if dy == depth and ex == 0.0 else 0.0
            ez = math.copysign(1.0, ez) if dz == depth and ex == 0.0 and ey == 0.0 else 0.0
            # F = n nᵀ: the normal of a face does not turn when the centre moves, and BEND vanishes
            fx, fy, fz = abs(ex), abs(ey), abs(ez)
            # (n has the length 1 here, so that distance − depth below is minus the depth)
            depth += 1.0
        else:
            # outside along an axis the nearest point is fixed along it; along the others it follows the centre
            fx, fy, fz = 1.0 * (dx < 0.0), 1.0 * (dy < 0.0), 1.0 * (dz < 0.0)
            ex, ey, ez = fx * math.copysign(dx, ex), fy * math.copysign(dy, ey), fz * math.copysign(dz, ez)
    distance = math.sqrt(ex * ex + ey * ey + ez * ez)
    if distance < 1e-12:
        ex, ey, ez, distance = 0.0, 0.0, 1e-12, 1e-12  # centres coincide: any direction separates them
    nx, ny, nz = ex / distance, ey / distance, ez / distance
    sign = -1.0 if shape == STRING else 1.0
    contact_work[i, GAP] = sign * (distance - depth - contact[i, OTHER_RADIUS]) - (
        0.0 if shape == STRING else contact[i, RADIUS]
    )
    _set_bend(contact_work, link_work, q, i, sign / distance, (nx, ny, nz), (ux, uy, uz), (fx, fy, fz))
    nx, ny, nz = turned(link_work, q, R3, sign * nx, sign * ny, sign * nz)
    _set_axes(contact_work, i, nx, ny, nz)


@inlined
def _set_bend(contact_work, link_work, q, i, scale, normal, along, fixed):
    """BEND = R (F − n nᵀ − u uᵀ) Rᵀ / distance, F the directions in which the nearest point is fixed."""
    (nx, ny, nz), (ux, uy, uz), (fx, fy, fz) = normal, along, fixed
    for j in range(3):
        rx, ry, rz = link_work[q, R3 + 3 * j], link_work[q, R3 + 3 * j + 1], link_work[q, R3 + 3 * j + 2]
        n, u = rx * nx + ry * ny + rz * nz, rx * ux + ry * uy + rz * uz
        tx, ty, tz = turned(
            link_work, q, R3, fx * rx - n * nx - u * ux, fy * ry - n * ny - u * uy, fz * rz - n * nz - u * uz
        )
        contact_work[i, BEND + 3 * j], contact_work[i, BEND + 3 * j + 1], contact_work[i, BEND + 3 * j + 2] = (
            scale * tx,
            scale * ty,
            scale * tz,
        )


@inlined
def _set_axes(contact_work, i, nx, ny, nz):
    """Write the normal and two unit tangents: e × n with e = x, or y where that is degenerate, then their product."""
    tx, ty, tz = cross(1.0, 0.0, 0.0, nx, ny, nz)
    if ty * ty + tz * tz < 1e-6:
        tx, ty, tz = cross(0.0, 1.0, 0.0, nx, ny, nz)
    scale = 1.0 / math.sqrt(tx * tx + ty * ty + tz * tz)
    tx, ty, tz = tx * scale, ty * scale, tz * scale
    contact_work[i, AXES], contact_work[i, AXES + 1], contact_work[i, AXES + 2] = nx, ny, nz
    contact_work[i, AXES + 3], contact_work[i, AXES + 4], contact_work[i, AXES + 5] = tx, ty, tz
    contact_work[i, AXES + 6], contact_work[i, AXES + 7], contact_work[i, AXES + 8] = cross(tx, ty, tz, nx, ny, nz)


@inlined
def arm_of(contact_work, link_work, i, b):
    """From the centre of mass of body b to the contact's point."""
    k = POINT
    return (
        contact_work[i, k] - link_work[b, X3],
        contact_work[i, k + 1] - link_work[b, X3 + 1],
        contact_work[i, k + 2] - link_work[b, X3 + 2],
    )


@inner
def bend(contact_link, contact, contact_work, link_work, block, i, h):
    """Write GRADIENT and MAP (3, 12), moving each body along each axis; the change of the wrench goes into blocks."""
    b, q = contact_link[i, ONE], contact_link[i, OTHER]
    first, second = friction(contact_link, contact, contact_work, i, FORCE)
    k = AXES
    for j in range(3):
        for side in range(2):
            body, o = (b, MAP + 12 * j) if side == 0 else (q, MAP + 12 * j + 6)
            sign = 1.0 - 2.0 * side
            ax, ay, az = (
                sign * contact_work[i, k + 3 * j],
                sign * contact_work[i, k + 3 * j + 1],
                sign * contact_work[i, k + 3 * j + 2],
            )
            contact_work[i, o], contact_work[i, o + 1], contact_work[i, o + 2] = ax, ay, az
            contact_work[i, o + 3], contact_work[i, o + 4], contact_work[i, o + 5] = cross(
                *arm_of(contact_work, link_work, i, body), ax, ay, az
            )
    # one column of GRADIENT and of the blocks for each direction in which either body may move
    for side in range(2):
        for m in range(6):
            _move(contact_link, contact, contact_work, link_work, block, i, h, side, m, first, second)


@inlined
def _move(contact_link, contact, contact_work, link_work, block, i, h, side, m, first, second):
    """Slopes for one direction: body ``side`` moved along axis m (translations, then rotations)."""
    b, q = contact_link[i, ONE], contact_link[i, OTHER]
    body = b if side == 0 else q
    k = AXES
    nx, ny, nz = contact_work[i, k], contact_work[i, k + 1], contact_work[i, k + 2]
    dx, dy, dz = 1.0 * (m == 0), 1.0 * (m == 1), 1.0 * (m == 2)
    rx, ry, rz = 1.0 * (m == 3), 1.0 * (m == 4), 1.0 * (m == 5)
    radius = contact[i, RADIUS]
    cx, cy, cz = (
        contact_work[i, POINT] + radius * nx,
        contact_work[i, POINT + 1] + radius * ny,
        contact_work[i, POINT + 2] + radius * nz,
    )
    # `w`: motion of the body's point at the sphere's centre
    wx, wy, wz = cross(rx, ry, rz, cx - link_work[body, X3], cy - link_work[body, X3 + 1], cz - link_work[body, X3 + 2])
    wx, wy, wz = wx + dx, wy + dy, wz + dz  # motion of the sphere's centre with the body
    sign = 1.0 - 2.0 * side
    mx, my, mz = turned(contact_work, i, BEND, sign * wx, sign * wy, sign * wz)
    # moving OTHER leaves the centre in place and turns the normal with it; moving ONE takes the centre along
    if side == 1:
        tx, ty, tz = cross(rx, ry, rz, nx, ny, nz)
        mx, my, mz = mx + tx, my + ty, mz + tz
        sx, sy, sz = 0.0, 0.0, 0.0
    else:
        sx, sy, sz = wx, wy, wz
    sx, sy, sz = sx - radius * mx, sy - radius * my, sz - radius * mz  # motion of the contact's point
    # the gap opens along the normal
    contact_work[i, GRADIENT + 6 * side + m] = sign * (nx * wx + ny * wy + nz * wz)
    vx, vy, vz = _slip_change(contact_work, link_work, i, b, h, (sx, sy, sz), side == 0, (dx, dy, dz), (rx, ry, rz))
    ux, uy, uz = _slip_change(contact_work, link_work, i, q, h, (sx, sy, sz), side == 1, (dx, dy, dz), (rx, ry, rz))
    vx, vy, vz = vx - ux, vy - uy, vz - uz
    # change of the force with impulses held: of the normal here, of the tangents below
    fx, fy, fz = contact_work[i, FORCE] * mx, contact_work[i, FORCE] * my, contact_work[i, FORCE] * mz
    px, py, pz, qx, qy, qz = _tangent_change(contact_work, i, mx, my, mz)
    px0, py0, pz0 = _relative_velocity(link_work, contact_work, i, b, q, h)
    for j in range(2):
        o = AXES + 3 + 3 * j
        ax, ay, az = (px, py, pz) if j == 0 else (qx, qy, qz)
        f = first if j == 0 else second
        slope = (
            contact_work[i, o] * vx
            + contact_work[i, o + 1] * vy
            + contact_work[i, o + 2] * vz
            + ax * px0
            + ay * py0
            + az * pz0
        )
        contact_work[i, GRADIENT + 12 * (j + 1) + 6 * side + m] = slope
        fx, fy, fz = fx + f * ax, fy + f * ay, fz + f * az
    _change_wrench(
        contact_work, link_work, block, i, b, b if side == 0 else contact_link[i, ONE_OTHER], m, 1.0, first, second,
        # change of the arm from that body's centre of mass
        (fx, fy, fz), (sx - dx * (side == 0), sy - dy * (side == 0), sz - dz * (side == 0)),
    )  # fmt: skip
    _change_wrench(
        contact_work, link_work, block, i, q, q if side == 1 else contact_link[i, OTHER_ONE], m, -1.0, first, second,
        (fx, fy, fz), (sx - dx * (side == 1), sy - dy * (side == 1), sz - dz * (side == 1)),
    )  # fmt: skip


@inlined
def _slip_change(contact_work, link_work, i, b, h, s, moved, d, r):
    """Change of the velocity of body b at the contact's point, which moves by s; the body moves by (d, r), or not."""
    (sx, sy, sz), (dx, dy, dz), (rx, ry, rz) = s, d, r
    k = 1.0 / h
    c, px, py, pz = link_work[b, TURN], link_work[b, TURN + 1], link_work[b, TURN + 2], link_work[b, TURN + 3]
    # a point that moves over a body at rest in its own pose: (2/h) P × s
    if not moved:
        return cross(2.0 * k * px, 2.0 * k * py, 2.0 * k * pz, sx, sy, sz)
    vx, vy, vz = cross(2.0 * k * px, 2.0 * k * py, 2.0 * k * pz, sx - dx, sy - dy, sz - dz)
    # half-angle vector P of the step changes by (c r + r × P) / 2
    wx, wy, wz = cross(rx, ry, rz, px, py, pz)
    ex, ey, ez = (
        contact_work[i, POINT] - link_work[b, X3],
        contact_work[i, POINT + 1] - link_work[b, X3 + 1],
        contact_work[i, POINT + 2] - link_work[b, X3 + 2],
    )
    ux, uy, uz = cross(k * (c * rx + wx), k * (c * ry + wy), k * (c * rz + wz), ex, ey, ez)
    return vx + ux + k * dx, vy + uy + k * dy, vz + uz + k * dz


@inlined
def _relative_velocity(link_work, contact_work, i, b, q, h):
    """Velocity of ONE relative to OTHER at the contact's point."""
    k = 1.0 / h
    vx, vy, vz = 0.0, 0.0, 0.0
    for side in range(2):
        body = b if side == 0 else q
        sign = 1.0 - 2.0 * side
        ux, uy, uz = cross(
            2.0 * link_work[body, TURN + 1], 2.0 * link_work[body, TURN + 2], 2.0 * link_work[body, TURN + 3],
            *arm_of(contact_work, link_work, i, body),
        )  # fmt: skip
        vx += sign * k * (ux + link_work[body, X3] - link_work[body, X2])
        vy += sign * k * (uy + link_work[body, X3 + 1] - link_work[body, X2 + 1])
        vz += sign * k * (uz + link_work[body, X3 + 2] - link_work[body, X2 + 2])
    return vx, vy, vz


@inlined
def _tangent_change(contact_work, i, mx, my, mz):
    """Change of the two tangents when the normal changes by m."""
    k = AXES
    nx, ny, nz = contact_work[i, k], contact_work[i, k + 1], contact_work[i, k + 2]
    tx, ty, tz = contact_work[i, k + 3], contact_work[i, k + 4], contact_work[i, k + 5]
    # the same choice of e as in `_set_axes`
    along_x = ny * ny + nz * nz >= 1e-6
    ex, ey, ez = cross(1.0 * along_x, 1.0 * (not along_x), 0.0, mx, my, mz)
    scale = 1.0 / math.sqrt(ny * ny + nz * nz) if along_x else 1.0 / math.sqrt(nx * nx + nz * nz)
    # a unit vector changes only across itself
    along = ex * tx + ey * ty + ez * tz
    px, py, pz = scale * (ex - along * tx), scale * (ey - along * ty), scale * (ez - along * tz)
    ax, ay, az = cross(px, py, pz, nx, ny, nz)
    bx, by, bz = cross(tx, ty, tz, mx, my, mz)
    return px, py, pz, ax + bx, ay + by, az + bz


@inlined
def _change_wrench(contact_work, link_work, block, i, body, target, m, sign, first, second, f, s):
    """Subtract the change of a body's contact wrench (force by f, arm by s) from column m of a block."""
    (fx, fy, fz), (sx, sy, sz) = f, s
    k = AXES
    n = contact_work[i, FORCE]
    gx = n * contact_work[i, k] + first * contact_work[i, k + 3] + second * contact_work[i, k + 6]
    gy = n * contact_work[i, k + 1] + first * contact_work[i, k + 4] + second * contact_work[i, k + 7]
    gz = n * contact_work[i, k + 2] + first * contact_work[i, k + 5] + second * contact_work[i, k + 8]
    ax, ay, az = cross(sx, sy, sz, gx, gy, gz)
    bx, by, bz = cross(*arm_of(contact_work, link_work, i, body), fx, fy, fz)
    block[target, m] -= sign * fx
    block[target, 6 + m] -= sign * fy
    block[target, 12 + m] -= sign * fz
    block[target, 18 + m] -= sign * (ax + bx)
    block[target, 24 + m] -= sign * (ay + by)
    block[target, 30 + m] -= sign * (az + bz)
