"""A body seen from a sensor: where the sensor stands in the body's frame, and the first hit of a ray with it."""

from __future__ import annotations

import math

from cbsim.geometry.kernels.rays import ray_box, ray_capsule, ray_cylinder, ray_sphere
from cbsim.jit import inlined

__all__ = [
    "BOX",
    "CAPSULE",
    "CYLINDER",
    "MESH",
    "SPHERE",
    "WHEEL",
    "hit",
    "matrix_of",
    "nearer",
    "place_in",
    "turn_between",
    "turned",
]

BOX, SPHERE, CYLINDER, WHEEL, MESH, CAPSULE = range(6)


@inlined
def matrix_of(w, x, y, z):
    """Rotation matrix of a unit quaternion, row by row."""
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


@inlined
def turn_between(orientations, body, turn):
    """Matrix that turns vectors of the sensor frame, given by its quaternion (4,), into the frame of a body."""
    bw, bx, by, bz = orientations[body, 0], orientations[body, 1], orientations[body, 2], orientations[body, 3]
    # conjugate of the body's quaternion times that of the sensor
    sw, sx, sy, sz = turn[0], turn[1], turn[2], turn[3]
    return matrix_of(
        bw * sw + bx * sx + by * sy + bz * sz,
        bw * sx - bx * sw - by * sz + bz * sy,
        bw * sy + bx * sz - by * sw - bz * sx,
        bw * sz - bx * sy + by * sx - bz * sw,
    )


@inlined
def turned(m, x, y, z):
    """Product of a matrix and a vector."""
    return (
        m[0][0] * x + m[0][1] * y + m[0][2] * z,
        m[1][0] * x + m[1][1] * y + m[1][2] * z,
        m[2][0] * x + m[2][1] * y + m[2][2] * z,
    )


@inlined
def place_in(positions, orientations, body, x, y, z):
    """Where a point [m] of the world lies in the frame of a body."""
    x, y, z = x - positions[body, 0], y - positions[body, 1], z - positions[body, 2]
    # by the conjugate quaternion: x + a t + v × t with its vector part v and t = 2 v × x
    a, b, c, d = orientations[body, 0], -orientations[body, 1], -orientations[body, 2], -orientations[body, 3]
    tx, ty, tz = 2.0 * (c * z - d * y), 2.0 * (d * x - b * z), 2.0 * (b * y - c * x)
    return x + a * tx + c * tz - d * ty, y + a * ty + d * tx - b * tz, z + a * tz + b * ty - c * tx


@inlined
def hit(kind, sx, sy, sz, px, py, pz, dx, dy, dz):
    """Distance [m] to a shape of the sizes given, but a mesh, from a place and along a unit vector in its own frame.

    A cylinder and a capsule stand along z, a wheel's axis is x; the third size of a capsule is its length with both
    caps.
    """
    if kind == BOX:
        return ray_box(px, py, pz, dx, dy, dz, 0.5 * sx, 0.5 * sy, 0.5 * sz)
    if kind == SPHERE:
        return ray_sphere(px, py, pz, dx, dy, dz, 0.5 * sx)
    if kind == CYLINDER:
        return ray_cylinder(px, py, pz, dx, dy, dz, 0.5 * sx, 0.5 * sz)
    if kind == WHEEL:
        # axes in cyclic order, so that x comes third
        return ray_cylinder(py, pz, px, dy, dz, dx, 0.5 * sy, 0.5 * sx)
    if kind == CAPSULE:
        return ray_capsule(px, py, pz, dx, dy, dz, 0.5 * sx, 0.5 * (sz - sx))
    return math.inf


@inlined
def nearer(one, two):
    """Lesser of two distances [m], none of them negative, for loops over beams that are vector code.

    `min` alone becomes a store that leaves out some numbers of a vector, for which AMD's processors take 12 cycles.
    """
    return max(min(one, two), -1.0)
