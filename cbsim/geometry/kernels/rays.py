"""First hit of a ray with each shape, in the shape's own frame; every direction is a unit vector.

All functions called ``ray_…`` return the distance along the ray [m] to the first surface point at a distance ≥ 0, or
infinity. A ray that starts inside a shape meets its far side. Grazing an edge counts once. Functions called ``span_…``
return the stretch (near, far) that the ray's line has inside a convex shape, (inf, -inf) if it has none.
"""

from __future__ import annotations

import math

from cbsim.jit import inlined, inner

__all__ = [
    "first_of",
    "ray_box",
    "ray_capsule",
    "ray_cylinder",
    "ray_ground",
    "ray_sphere",
    "ray_triangle",
    "slab",
]

PARALLEL = 1e-300  # below this a direction component cannot divide
EDGE_ON = 1e-10  # sine below which a ray counts as parallel to a triangle, as rounding would determine the hit


@inlined
def slab(p, d, h):
    """Stretch between the planes at ±h of one axis, for one coordinate p and direction component d.

    Without branches, and without a division by zero, so that loops over rays become vector code.
    """
    level = abs(d) < PARALLEL
    inverse = 1.0 / (1.0 if level else d)
    a, b = (-h - p) * inverse, (h - p) * inverse
    near, far = min(a, b), max(a, b)
    # a level ray is between the planes everywhere or nowhere
    inside = abs(p) <= h
    near = (-math.inf if inside else math.inf) if level else near
    far = (math.inf if inside else -math.inf) if level else far
    return near, far


@inlined
def first_of(near, far):
    """First surface point of a shape that the ray's line is inside of from `near` to `far`."""
    ahead = near if near >= 0.0 else far
    # outside it is where the line enters, inside where it leaves
    return ahead if near <= far and far >= 0.0 else math.inf


@inlined
def ray_box(px, py, pz, dx, dy, dz, hx, hy, hz):
    """Slab test (Kay and Kajiya 1986) against a box of half sizes hx, hy, hz centred at the origin."""
    nx, fx = slab(px, dx, hx)
    ny, fy = slab(py, dy, hy)
    nz, fz = slab(pz, dz, hz)
    return first_of(max(nx, ny, nz), min(fx, fy, fz))


@inlined
def span_sphere(px, py, pz, dx, dy, dz, radius):
    """Quadratic for a sphere centred at the origin, in the form that does not cancel far away."""
    along = -(px * dx + py * dy + pz * dz)
    qx, qy, qz = px + along * dx, py + along * dy, pz + along * dz
    square = radius * radius - (qx * qx + qy * qy + qz * qz)
    if square < 0.0:
        return math.inf, -math.inf
    half = math.sqrt(square)
    return along - half, along + half


@inlined
def ray_sphere(px, py, pz, dx, dy, dz, radius):
    """First hit of a sphere centred at the origin."""
    near, far = span_sphere(px, py, pz, dx, dy, dz, radius)
    return first_of(near, far)


@inlined
def span_cylinder(px, py, pz, dx, dy, dz, radius, half_length):
    """Capped cylinder centred at the origin along the third axis given."""
    # the infinite cylinder, cut by the planes of the caps; the quadratic is solved about the point nearest to the axis
    near, far = slab(pz, dz, half_length)
    a = dx * dx + dy * dy
    if a < PARALLEL:
        inside = px * px + py * py <= radius * radius
        return (near, far) if inside else (math.inf, -math.inf)
    along = -(px * dx + py * dy) / a
    qx, qy = px + along * dx, py + along * dy
    square = (radius * radius - qx * qx - qy * qy) / a
    if square < 0.0:
        return math.inf, -math.inf
    half = math.sqrt(square)
    near, far = max(near, along - half), min(far, along + half)
    return (near, far) if near <= far else (math.inf, -math.inf)


@inlined
def ray_cylinder(px, py, pz, dx, dy, dz, radius, half_length):
    """First hit of a capped cylinder along the third axis given; a wheel passes its axis as the third."""
    near, far = span_cylinder(px, py, pz, dx, dy, dz, radius, half_length)
    return first_of(near, far)


@inner
def ray_capsule(px, py, pz, dx, dy, dz, radius, half_length):
    """First hit of a capsule along the third axis, whose straight part is 2 · half_length long.

    It is the convex union of a cylinder and two balls, so the stretch inside it reaches from the first of their
    stretches to the last.
    """
    near, far = span_cylinder(px, py, pz, dx, dy, dz, radius, half_length)
    low_near, low_far = span_sphere(px, py, pz + half_length, dx, dy, dz, radius)
    high_near, high_far = span_sphere(px, py, pz - half_length, dx, dy, dz, radius)
    return first_of(min(near, low_near, high_near), max(far, low_far, high_far))


@inlined
def ray_triangle(px, py, pz, dx, dy, dz, a, b, c):
    """Two-sided Möller–Trumbore (1997) against the triangle with corners a, b, c (3,) [m].

    A ray parallel to its plane misses it, as rounding would determine the distance.
    """
    e1x, e1y, e1z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    e2x, e2y, e2z = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    # barycentric coordinates u, v and the distance by Cramer's rule; det = e1 · (d × e2) is 0 for parallel rays
    hx, hy, hz = dy * e2z - dz * e2y, dz * e2x - dx * e2z, dx * e2y - dy * e2x
    det = e1x * hx + e1y * hy + e1z * hz
    # relative to the edges, so that the size of the triangle does not matter
    area = (e1x * e1x + e1y * e1y + e1z * e1z) * (e2x * e2x + e2y * e2y + e2z * e2z)
    if det * det <= EDGE_ON * EDGE_ON * area:
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


@inlined
def ray_ground(pz, dz):
    """Test the plane z = 0; a ray that rises, runs level or starts below it never meets it."""
    return -pz / dz if dz < 0.0 and pz >= 0.0 else math.inf
