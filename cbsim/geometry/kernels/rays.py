"""First hit of a ray with each shape, in the shape's own frame; every direction is a unit vector.

All functions return the distance along the ray [m] to the first surface point at a distance ≥ 0, or infinity.
A ray that starts inside a shape meets its far side. Grazing an edge counts once.
"""

from __future__ import annotations

import math

from cbsim.jit import kernel

__all__ = ["ray_box", "ray_cylinder", "ray_ground", "ray_sphere", "ray_triangle"]

PARALLEL = 1e-300  # below this a direction component cannot divide


@kernel
def ray_box(px, py, pz, dx, dy, dz, hx, hy, hz):
    """Slab test (Kay and Kajiya 1986) against a box of half sizes hx, hy, hz centred at the origin."""
    near, far = -math.inf, math.inf
    if abs(dx) < PARALLEL:
        if abs(px) > hx:
            return math.inf
    else:
        a, b = (-hx - px) / dx, (hx - px) / dx
        near, far = max(near, min(a, b)), min(far, max(a, b))
    if abs(dy) < PARALLEL:
        if abs(py) > hy:
            return math.inf
    else:
        a, b = (-hy - py) / dy, (hy - py) / dy
        near, far = max(near, min(a, b)), min(far, max(a, b))
    if abs(dz) < PARALLEL:
        if abs(pz) > hz:
            return math.inf
    else:
        a, b = (-hz - pz) / dz, (hz - pz) / dz
        near, far = max(near, min(a, b)), min(far, max(a, b))
    if near > far or far < 0.0:
        return math.inf
    return near if near >= 0.0 else far


@kernel
def ray_sphere(px, py, pz, dx, dy, dz, radius):
    """Quadratic for a sphere centred at the origin, in the form that does not cancel far away."""
    along = -(px * dx + py * dy + pz * dz)
    qx, qy, qz = px + along * dx, py + along * dy, pz + along * dz
    square = radius * radius - (qx * qx + qy * qy + qz * qz)
    if square < 0.0:
        return math.inf
    half = math.sqrt(square)
    if along - half >= 0.0:
        return along - half
    return along + half if along + half >= 0.0 else math.inf


@kernel
def ray_cylinder(px, py, pz, dx, dy, dz, radius, half_length):
    """Capped cylinder centred at the origin along the third axis given; a wheel passes its axis as the third."""
    near, far = -math.inf, math.inf
    a = dx * dx + dy * dy
    if a < PARALLEL:
        if px * px + py * py > radius * radius:
            return math.inf
    else:
        along = -(px * dx + py * dy) / a
        qx, qy = px + along * dx, py + along * dy
        square = (radius * radius - qx * qx - qy * qy) / a
        if square < 0.0:
            return math.inf
        near, far = along - math.sqrt(square), along + math.sqrt(square)
    if abs(dz) < PARALLEL:
        if abs(pz) > half_length:
            return math.inf
    else:
        u, v = (-half_length - pz) / dz, (half_length - pz) / dz
        near, far = max(near, min(u, v)), min(far, max(u, v))
    if near > far or far < 0.0:
        return math.inf
    return near if near >= 0.0 else far


@kernel
def ray_triangle(px, py, pz, dx, dy, dz, a, b, c):
    """Two-sided Möller–Trumbore (1997) against the triangle with corners a, b, c (3,) [m]."""
    e1x, e1y, e1z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    e2x, e2y, e2z = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    hx, hy, hz = dy * e2z - dz * e2y, dz * e2x - dx * e2z, dx * e2y - dy * e2x
    det = e1x * hx + e1y * hy + e1z * hz
    if det == 0.0:
        return math.inf
    sx, sy, sz = px - a[0], py - a[1], pz - a[2]
    u = (sx * hx + sy * hy + sz * hz) / det
    if u < 0.0 or u > 1.0:
        return math.inf
    qx, qy, qz = sy * e1z - sz * e1y, sz * e1x - sx * e1z, sx * e1y - sy * e1x
    v = (dx * qx + dy * qy + dz * qz) / det
    if v < 0.0 or u + v > 1.0:
        return math.inf
    distance = (e2x * qx + e2y * qy + e2z * qz) / det
    return distance if distance >= 0.0 else math.inf


@kernel
def ray_ground(pz, dz):
    """Test the plane z = 0; a ray that rises, runs level or starts below it never meets it."""
    return -pz / dz if dz < 0.0 and pz >= 0.0 else math.inf
