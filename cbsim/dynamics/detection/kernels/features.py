"""Facing features of shapes: corners of a face, ends of an edge, or a point, with a radius."""

from __future__ import annotations

from cbsim.dynamics.detection.kernels.columns import (
    CORNERS,
    CYLINDER,
    FACE_COUNT,
    FACE_FIRST,
    FACES,
    FIRST,
    FIRST_FACE,
    KIND,
    MARGIN,
    MATRIX,
    PLACE,
    SIZE,
    TRIANGLE,
)
from cbsim.dynamics.detection.kernels.supports import farthest, radius_of_curvature
from cbsim.dynamics.kernels.algebra import turned, turned_back
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inner

__all__ = ["CAP", "FLAT", "feature"]

FLAT = 0.984807753012208  # cos 10°: cosine of the normals from which faces are in contact
STEEP = 0.17364817766693033  # sin 10°
CAP = 12  # corners that represent the rim of a cylinder


@inner
def feature(collider_link, collider, placed, world, face, face_normal, rim, i, direction, along, out):
    """Write the points of collider i that face in a direction; it rolls along another.

    Return their number, the radius [m] around each, the cosine between d and the normal of their face (−1 without one),
    and that normal.
    """
    (dx, dy, dz), (tx, ty, tz) = direction, along
    kind = collider_link[i, KIND]
    if kind <= TRIANGLE:
        if collider_link[i, FACES] > 0:
            return _face_of_hull(collider_link, collider, placed, world, face, face_normal, rim, i, dx, dy, dz, out)
        return _few_corners(collider_link, collider, world, i, dx, dy, dz, out)
    if kind == CYLINDER:
        # a cylinder shows its cap, its side as a segment of the axis with its radius, or the rim as a point
        uz = turned_back(placed, i, MATRIX, dx, dy, dz)[2]
        if abs(uz) > FLAT:
            return _cap(collider, placed, i, math.copysign(1.0, uz), abs(uz), out)
        if abs(uz) < STEEP:
            for k in range(2):
                x, y, z = turned(placed, i, MATRIX, 0.0, 0.0, collider[i, SIZE + 1] * (1.0 - 2.0 * k))
                _set(out, k, placed[i, PLACE] + x, placed[i, PLACE + 1] + y, placed[i, PLACE + 2] + z)
            return 2, collider[i, SIZE], -1.0, dx, dy, dz
    # round shapes: the centre of the sphere that rolls as the shape does in the direction of rolling
    radius = radius_of_curvature(collider_link, collider, placed, i, dx, dy, dz, tx, ty, tz)
    x, y, z = farthest(collider_link, collider, placed, world, i, 1.0, dx, dy, dz)
    _set(out, 0, x - radius * dx, y - radius * dy, z - radius * dz)
    return 1, radius, -1.0, dx, dy, dz


@inner
def _set(out, k, x, y, z):
    out[k, 0], out[k, 1], out[k, 2] = x, y, z


@inner
def _face_of_hull(collider_link, collider, placed, world, face, face_normal, rim, i, dx, dy, dz, out):
    ux, uy, uz = turned_back(placed, i, MATRIX, dx, dy, dz)
    first = collider_link[i, FIRST_FACE]
    best, at = -math.inf, first
    for f in range(first, first + collider_link[i, FACES]):
        along = ux * face_normal[f, 0] + uy * face_normal[f, 1] + uz * face_normal[f, 2]
        if along > best:
            best, at = along, f
    for k in range(face[at, FACE_COUNT]):
        c = rim[face[at, FACE_FIRST] + k]
        _set(out, k, world[c, 0], world[c, 1], world[c, 2])
    mx, my, mz = turned(placed, i, MATRIX, face_normal[at, 0], face_normal[at, 1], face_normal[at, 2])
    return face[at, FACE_COUNT], collider[i, MARGIN], best, mx, my, mz


@inner
def _few_corners(collider_link, collider, world, i, dx, dy, dz, out):
    first = collider_link[i, FIRST]
    # a segment, as of a capsule: both ends, or where it is steep the farthest one
    if collider_link[i, CORNERS] == 2:
        x, y, z = world[first + 1, 0] - world[first, 0], world[first + 1, 1] - world[first, 1], 0.0
        z = world[first + 1, 2] - world[first, 2]
        along, length = x * dx + y * dy + z * dz, math.sqrt(x * x + y * y + z * z)
        if abs(along) < STEEP * length:
            for k in range(2):
                _set(out, k, world[first + k, 0], world[first + k, 1], world[first + k, 2])
            return 2, collider[i, MARGIN], -1.0, dx, dy, dz
        if along > 0.0:
            first += 1
    _set(out, 0, world[first, 0], world[first, 1], world[first, 2])
    return 1, collider[i, MARGIN], -1.0, dx, dy, dz


@inner
def _cap(collider, placed, i, side, along, out):
    for k in range(CAP):  # counter-clockwise seen from outside, as corners of a face are
        turn = side * 2.0 * math.pi * k / CAP
        x, y = collider[i, SIZE] * math.cos(turn), collider[i, SIZE] * math.sin(turn)
        x, y, z = turned(placed, i, MATRIX, x, y, side * collider[i, SIZE + 1])
        _set(out, k, placed[i, PLACE] + x, placed[i, PLACE + 1] + y, placed[i, PLACE + 2] + z)
    mx, my, mz = turned(placed, i, MATRIX, 0.0, 0.0, side)
    return CAP, 0.0, along, mx, my, mz
