"""A sphere of one link on a flat face of another: gap, slip and wrench in closed form, and their slopes.

The face's normal n and tangents t rotate with its body q alone. With the step's rotations P (vector part)
and c (scalar), arms a from a centre of mass to the sphere's centre and e to the contact's point p = centre − r n:
gap n·(centre − o), slip t·(v_b − v_q), v = (x₃ − x₂)/h + (2/h) P × e. For curved
shapes, `cbsim.dynamics.kernels.nearest_points` evaluates the same derivatives direction by direction.
"""

from __future__ import annotations

from cbsim.dynamics.kernels.algebra import cross, turned
from cbsim.dynamics.kernels.columns import (
    ARM,
    AXES,
    FORCE,
    GAP,
    GRADIENT,
    MAP,
    NORMAL,
    ONE,
    ONE_OTHER,
    OTHER,
    OTHER_ONE,
    PLANE,
    POINT,
    R3,
    RADIUS,
    TURN,
    TURN_BY_TURN,
    X2,
    X3,
)
from cbsim.dynamics.kernels.cones import friction
from cbsim.jit import inlined, inner

__all__ = ["bend_face", "meet_face"]


@inlined
def meet_face(contact, contact_work, link_work, i, q, cx, cy, cz):
    """Set GAP and AXES against a face that body q carries, for a sphere whose centre is at (cx, cy, cz)."""
    k = PLANE
    # point of the face, normal and tangents rotate with the body that carries it
    ox, oy, oz = turned(link_work, q, R3, contact[i, k], contact[i, k + 1], contact[i, k + 2])
    for j in range(3):
        k, o = NORMAL + 3 * j, AXES + 3 * j
        contact_work[i, o], contact_work[i, o + 1], contact_work[i, o + 2] = turned(
            link_work, q, R3, contact[i, k], contact[i, k + 1], contact[i, k + 2]
        )
    dx, dy, dz = cx - link_work[q, X3] - ox, cy - link_work[q, X3 + 1] - oy, cz - link_work[q, X3 + 2] - oz
    k = AXES
    contact_work[i, GAP] = (
        contact_work[i, k] * dx + contact_work[i, k + 1] * dy + contact_work[i, k + 2] * dz - contact[i, RADIUS]
    )


@inner
def bend_face(contact_link, contact, contact_work, link_work, block, i, h):
    """Write GRADIENT and MAP (3, 12); the change of the wrench by motion of the bodies goes into their blocks."""
    b, q, r, k = contact_link[i, ONE], contact_link[i, OTHER], contact[i, RADIUS], 1.0 / h
    ax, ay, az = contact_work[i, ARM], contact_work[i, ARM + 1], contact_work[i, ARM + 2]
    # lever arms of the contact point: e from ONE, g from OTHER
    ex, ey, ez = contact_work[i, POINT] - link_work[b, X3], contact_work[i, POINT + 1] - link_work[b, X3 + 1], 0.0
    ez = contact_work[i, POINT + 2] - link_work[b, X3 + 2]
    gx, gy, gz = contact_work[i, POINT] - link_work[q, X3], contact_work[i, POINT + 1] - link_work[q, X3 + 1], 0.0
    gz = contact_work[i, POINT + 2] - link_work[q, X3 + 2]
    c, px, py, pz = link_work[b, TURN], link_work[b, TURN + 1], link_work[b, TURN + 2], link_work[b, TURN + 3]
    d, qx, qy, qz = link_work[q, TURN], link_work[q, TURN + 1], link_work[q, TURN + 2], link_work[q, TURN + 3]
    nx, ny, nz = contact_work[i, AXES], contact_work[i, AXES + 1], contact_work[i, AXES + 2]
    # relative velocity of the contact point, v = Δx/h + (2/h) P × e of each body
    ux, uy, uz = cross(px, py, pz, ex, ey, ez)
    wx, wy, wz = cross(qx, qy, qz, gx, gy, gz)
    vx = k * (link_work[b, X3] - link_work[b, X2] - link_work[q, X3] + link_work[q, X2] + 2.0 * (ux - wx))
    vy = k * (
        link_work[b, X3 + 1] - link_work[b, X2 + 1] - link_work[q, X3 + 1] + link_work[q, X2 + 1] + 2.0 * (uy - wy)
    )
    vz = k * (
        link_work[b, X3 + 2] - link_work[b, X2 + 2] - link_work[q, X3 + 2] + link_work[q, X2 + 2] + 2.0 * (uz - wz)
    )
    for j in range(3):
        o, m = AXES + 3 * j, MAP + 12 * j
        tx, ty, tz = contact_work[i, o], contact_work[i, o + 1], contact_work[i, o + 2]
        # a unit impulse along axis j is a force t and a torque e × t on ONE, the opposite on OTHER
        mx, my, mz = cross(ex, ey, ez, tx, ty, tz)
        lx, ly, lz = cross(gx, gy, gz, tx, ty, tz)
        _set(contact_work, i, m, tx, ty, tz, mx, my, mz)
        _set(contact_work, i, m + 6, -tx, -ty, -tz, -lx, -ly, -lz)
        o = GRADIENT + 12 * j
        # the gap changes like its wrench: n · (δx + φ × e), for both bodies
        if j == 0:
            _set(contact_work, i, o, tx, ty, tz, mx, my, mz)
            _set(contact_work, i, o + 6, -tx, -ty, -tz, -lx, -ly, -lz)
            continue
        # slip by translation of ONE: the point moves along the face, which rotates with OTHER
        sx, sy, sz = cross(tx, ty, tz, qx, qy, qz)
        sx, sy, sz = k * (tx - 2.0 * sx), k * (ty - 2.0 * sy), k * (tz - 2.0 * sz)
        ux, uy, uz = cross(px, py, pz, mx, my, mz)
        # slip by motion of the lever arm, in the difference of both rotations
        fx, fy, fz = cross(2.0 * k * tx, 2.0 * k * ty, 2.0 * k * tz, px - qx, py - qy, pz - qz)
        wx, wy, wz = cross(ax, ay, az, fx, fy, fz)
        _set(contact_work, i, o, sx, sy, sz, k * (c * mx + ux) + wx, k * (c * my + uy) + wy, k * (c * mz + uz) + wz)
        # by rotation of OTHER: its own velocity, its tangent, and the normal along which the point lies
        ux, uy, uz = cross(qx, qy, qz, lx, ly, lz)
        wx, wy, wz = cross(nx, ny, nz, fx, fy, fz)
        yx, yy, yz = cross(tx, ty, tz, vx, vy, vz)
        _set(
            contact_work, i, o + 6, -sx, -sy, -sz, yx - k * (d * lx + ux) - r * wx, yy - k * (d * ly + uy) - r * wy,
            yz - k * (d * lz + uz) - r * wz,
        )  # fmt: skip
    # change of the wrenches with the impulse held: force and lever arms rotate with OTHER, the centre with ONE
    first, second = friction(contact_link, contact, contact_work, i, FORCE)
    n, o = contact_work[i, FORCE], AXES
    fx = n * nx + first * contact_work[i, o + 3] + second * contact_work[i, o + 6]
    fy = n * ny + first * contact_work[i, o + 4] + second * contact_work[i, o + 7]
    fz = n * nz + first * contact_work[i, o + 5] + second * contact_work[i, o + 8]
    # `to` has the wrench on ONE by motions of OTHER, `back` the reverse. In a block, force by rotation begins at 3,
    # torque by translation at 18, torque by rotation at 21.
    to, back = contact_link[i, ONE_OTHER], contact_link[i, OTHER_ONE]
    _turn_first(block, b, 1.0, ax, ay, az, fx, fy, fz)
    _skew(block, to, 3, -1.0, fx, fy, fz)
    _turn_first(block, to, -r, nx, ny, nz, fx, fy, fz)
    _turn_last(block, to, 1.0, ex, ey, ez, fx, fy, fz)
    _skew(block, back, 18, 1.0, fx, fy, fz)
    _turn_first(block, back, -1.0, ax, ay, az, fx, fy, fz)
    _skew(block, q, 3, 1.0, fx, fy, fz)
    _skew(block, q, 18, -1.0, fx, fy, fz)
    _turn_first(block, q, r, nx, ny, nz, fx, fy, fz)
    _turn_last(block, q, -1.0, gx, gy, gz, fx, fy, fz)


@inlined
def _set(contact_work, i, o, x, y, z, u, v, w):
    contact_work[i, o], contact_work[i, o + 1], contact_work[i, o + 2] = x, y, z
    contact_work[i, o + 3], contact_work[i, o + 4], contact_work[i, o + 5] = u, v, w


@inlined
def _skew(block, i, o, sign, x, y, z):
    """Subtract sign [f]× from the 3 x 3 of a block that begins at place o."""
    block[i, o + 1] += sign * z
    block[i, o + 2] -= sign * y
    block[i, o + 6] -= sign * z
    block[i, o + 8] += sign * x
    block[i, o + 12] += sign * y
    block[i, o + 13] -= sign * x


@inlined
def _turn_first(block, i, sign, ax, ay, az, fx, fy, fz):
    """Subtract sign (a fᵀ − (a·f) 1), the slope of (φ × a) × f, from the torques by rotations of a block."""
    along = ax * fx + ay * fy + az * fz
    block[i, TURN_BY_TURN] -= sign * (ax * fx - along)
    block[i, TURN_BY_TURN + 1] -= sign * ax * fy
    block[i, TURN_BY_TURN + 2] -= sign * ax * fz
    block[i, TURN_BY_TURN + 6] -= sign * ay * fx
    block[i, TURN_BY_TURN + 7] -= sign * (ay * fy - along)
    block[i, TURN_BY_TURN + 8] -= sign * ay * fz
    block[i, TURN_BY_TURN + 12] -= sign * az * fx
    block[i, TURN_BY_TURN + 13] -= sign * az * fy
    block[i, TURN_BY_TURN + 14] -= sign * (az * fz - along)


@inlined
def _turn_last(block, i, sign, ex, ey, ez, fx, fy, fz):
    """Subtract sign ((e·f) 1 − f eᵀ), the slope of e × (φ × f), from the torques by rotations of a block."""
    # e × (φ × f) = −(φ × f) × e
    _turn_first(block, i, -sign, fx, fy, fz, ex, ey, ez)
