"""Convex solids as rows of numbers, and their support function for GJK and EPA.

A row (17,): kind of the core, its half sizes x, y, z, the radius of the ball that rounds it, its centre x, y, z, and
the rotation body → world, row by row. A sphere is a rounded point, a capsule a rounded segment, so that their distances
are those of their cores less the radii, exactly. A triangle keeps its three corners, relative to the centre, in the
place of the rotation.
"""

from __future__ import annotations

import math

from cbsim.jit import inner

__all__ = ["CENTRE", "ROUND", "SOLID", "fill_solid", "fill_triangle", "move_solid", "support"]

BOX, POINT, CYLINDER, SEGMENT, TRIANGLE = range(5)  # kinds of cores
SHAPE_BOX, SHAPE_SPHERE, SHAPE_CYLINDER, SHAPE_WHEEL, SHAPE_MESH, SHAPE_CAPSULE = range(6)  # as `ShapeKind`
SOLID = 17  # numbers in a row
CORE, HALF_X, HALF_Y, HALF_Z, ROUND, CENTRE, TURN = 0, 1, 2, 3, 4, 5, 8  # columns


@inner
def rotation_into(q, out):
    """Write the rotation matrix of a unit quaternion (4,), row by row (9,)."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    out[0], out[1], out[2] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
    out[3], out[4], out[5] = 2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
    out[6], out[7], out[8] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)


@inner
def fill_solid(shape, size, x, y, z, q, out):
    """Describe a body that is no mesh.

    Parameters
    ----------
    shape : int
        `ShapeKind` code.
    size : (3,) [m]
        Full extents along the body axes; a capsule's z includes its caps.
    x, y, z : float
        Centre [m], relative to whatever origin both solids share.
    q : (4,)
        Orientation.
    out : (17,), out
    """
    out[HALF_X], out[HALF_Y], out[HALF_Z], out[ROUND] = 0.5 * size[0], 0.5 * size[1], 0.5 * size[2], 0.0
    out[CENTRE], out[CENTRE + 1], out[CENTRE + 2] = x, y, z
    rotation_into(q, out[TURN:])
    if shape == SHAPE_SPHERE:
        out[CORE], out[HALF_X], out[HALF_Y], out[HALF_Z], out[ROUND] = POINT, 0.0, 0.0, 0.0, 0.5 * size[0]
    elif shape == SHAPE_CYLINDER:
        out[CORE], out[2] = CYLINDER, out[1]
    elif shape == SHAPE_WHEEL:  # a cylinder about x: permute the axes, so that its axis is the third
        out[CORE], out[HALF_X], out[HALF_Z] = CYLINDER, 0.5 * size[1], 0.5 * size[0]
        for row in range(TURN, TURN + 9, 3):
            out[row], out[row + 1], out[row + 2] = out[row + 1], out[row + 2], out[row]
    elif shape == SHAPE_CAPSULE:
        out[CORE], out[ROUND] = SEGMENT, 0.5 * size[0]
        out[HALF_X], out[HALF_Y], out[HALF_Z] = 0.0, 0.0, max(0.5 * (size[2] - size[0]), 0.0)
    else:
        out[CORE] = BOX


@inner
def fill_triangle(corners, x, y, z, rotation, out):
    """Describe a triangle with corners (3, 3) [m] in the frame of a body at x, y, z with a rotation (9,)."""
    out[CORE], out[HALF_X], out[HALF_Y], out[HALF_Z], out[ROUND] = TRIANGLE, 0.0, 0.0, 0.0, 0.0
    out[CENTRE], out[CENTRE + 1], out[CENTRE + 2] = x, y, z
    for k in range(3):
        a, b, c = corners[k, 0], corners[k, 1], corners[k, 2]
        for row in range(3):
            out[TURN + 3 * k + row] = rotation[3 * row] * a + rotation[3 * row + 1] * b + rotation[3 * row + 2] * c


@inner
def move_solid(solid, x, y, z):
    """Set the centre of a solid."""
    solid[CENTRE], solid[CENTRE + 1], solid[CENTRE + 2] = x, y, z


@inner
def support(solid, dx, dy, dz):
    """Point x, y, z of a solid's core that lies farthest along a direction; ties go to the positive side."""
    cx, cy, cz = solid[CENTRE], solid[CENTRE + 1], solid[CENTRE + 2]
    kind = solid[CORE]
    if kind == TRIANGLE:
        best, row = -math.inf, TURN
        for k in range(TURN, TURN + 9, 3):
            reach = solid[k] * dx + solid[k + 1] * dy + solid[k + 2] * dz
            if reach > best:
                best, row = reach, k
        return cx + solid[row], cy + solid[row + 1], cz + solid[row + 2]
    if kind == POINT:
        return cx, cy, cz
    # the direction in the body's frame, where the support point is found by its signs
    bx = solid[TURN] * dx + solid[TURN + 3] * dy + solid[TURN + 6] * dz
    by = solid[TURN + 1] * dx + solid[TURN + 4] * dy + solid[TURN + 7] * dz
    bz = solid[TURN + 2] * dx + solid[TURN + 5] * dy + solid[TURN + 8] * dz
    px, py, pz = solid[HALF_X], solid[HALF_Y], solid[HALF_Z]
    if kind == CYLINDER:
        flat = math.sqrt(bx * bx + by * by)
        scale = solid[HALF_X] / flat if flat > 0.0 else 0.0
        px, py = scale * bx, scale * by
    else:
        px, py = (px if bx >= 0.0 else -px), (py if by >= 0.0 else -py)
    pz = pz if bz >= 0.0 else -pz
    return (
        cx + solid[TURN] * px + solid[TURN + 1] * py + solid[TURN + 2] * pz,
        cy + solid[TURN + 3] * px + solid[TURN + 4] * py + solid[TURN + 5] * pz,
        cz + solid[TURN + 6] * px + solid[TURN + 7] * py + solid[TURN + 8] * pz,
    )
