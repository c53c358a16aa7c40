"""Penetration depth of two convex solids by the expanding polytope algorithm (van den Bergen 2001).

A polytope inside the Minkowski difference A − B is expanded about the origin: its face nearest to the origin (or
farthest beyond it, while the origin is still outside) is moved out to the support point along its normal, until there
is no gain. Moving B by the distance of any support plane along its normal separates the solids, so the smallest such
distance is returned: never less than the true depth, equal to it for polytopes, and within 1e-6 of it for rims of
cylinders.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.kernels.gjk import DISTANCE, NEAREST_ONE, NEAREST_TWO, NORMAL, core_distance, corner_into
from cbsim.geometry.kernels.simplex import POINT_ONE, SIMPLEX_COLUMNS, on_triangle, plane_of
from cbsim.geometry.kernels.solids import CENTRE, ROUND, support
from cbsim.jit import inner

__all__ = ["DepthWorkspace", "make_depth_workspace", "signed_distance"]

CORNERS, FACES = 160, 1024  # of the polytope at most
OFFSET = 3  # of a plane, behind its normal
GAIN = 1e-10  # [m] a face that can be moved out by less is on the surface
FLAT = 1e-12  # share of the extent below which a simplex is flat
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0))


class DepthWorkspace(NamedTuple):
    """What `signed_distance` works in.

    Attributes
    ----------
    corners : (160, 10)
        Rows of a simplex (`cbsim.geometry.kernels.simplex`).
    planes : (1024, 4)
        Unit normal and distance of every face.
    faces : (1024, 3) int64
        Corners of every face, counter-clockwise from outside; a face that is gone has -1.
    edges : (1024, 2) int64
    """

    corners: Annotated[NDArray[np.float64], (SIMPLEX_COLUMNS,)]
    planes: Annotated[NDArray[np.float64], (4,)]
    faces: Annotated[NDArray[np.int64], (3,)]
    edges: Annotated[NDArray[np.int64], (2,)]


def make_depth_workspace() -> DepthWorkspace:
    """Allocate; not for each call of a kernel, since 86 kB of zeros cost as much as a step of a few cars."""
    return DepthWorkspace(
        corners=np.empty((CORNERS, SIMPLEX_COLUMNS)),
        planes=np.empty((FACES, 4)),
        faces=np.empty((FACES, 3), np.int64),
        edges=np.empty((FACES, 2), np.int64),
    )


@inner
def set_face(corners, planes, faces, f, i, j, k):
    """Write face f through three corners; a sliver is put at infinity, so that it is never the nearest."""
    # the normal's length is twice the area, too small to divide by for a sliver
    nx, ny, nz = plane_of(corners, i, j, k)
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    faces[f, 0], faces[f, 1], faces[f, 2] = i, j, k
    if length < 1e-300:
        planes[f, 0], planes[f, 1], planes[f, 2], planes[f, OFFSET] = 0.0, 0.0, 0.0, math.inf
        return
    nx, ny, nz = nx / length, ny / length, nz / length
    planes[f, 0], planes[f, 1], planes[f, 2] = nx, ny, nz
    # below 0 until the polytope holds the origin
    planes[f, OFFSET] = nx * corners[i, 0] + ny * corners[i, 1] + nz * corners[i, 2]


@inner
def volume(c, i, j, k, m):
    """Six times the signed volume of the tetrahedron of rows i, j, k, m."""
    nx, ny, nz = plane_of(c, i, j, k)
    return nx * (c[m, 0] - c[i, 0]) + ny * (c[m, 1] - c[i, 1]) + nz * (c[m, 2] - c[i, 2])


@inner
def perpendicular(c, count, k):
    """Write down direction k of those in which a flat simplex of `count` corners may gain a dimension."""
    x, y, z = AXES[k]
    if count == 1:
        return x, y, z
    if count == 2:  # across the line: its cross products with the axes
        ux, uy, uz = c[1, 0] - c[0, 0], c[1, 1] - c[0, 1], c[1, 2] - c[0, 2]
        return uy * z - uz * y, uz * x - ux * z, ux * y - uy * x
    # off the plane: to both sides of it by turns
    sign = 1.0 if k % 2 == 0 else -1.0
    nx, ny, nz = plane_of(c, 0, 1, 2)
    return sign * nx, sign * ny, sign * nz


@inner
def extends(c, count, scale):
    """Whether the corner after the first `count` lies off the point, line or plane through those."""
    if count == 1:
        wx, wy, wz = c[1, 0] - c[0, 0], c[1, 1] - c[0, 1], c[1, 2] - c[0, 2]
        return math.sqrt(wx * wx + wy * wy + wz * wz) > FLAT * scale
    if count == 2:
        nx, ny, nz = plane_of(c, 0, 1, 2)
        return math.sqrt(nx * nx + ny * ny + nz * nz) > FLAT * scale * scale
    return abs(volume(c, 0, 1, 2, 3)) > FLAT * scale * scale * scale


@inner
def first_corners(one, two, corners, scale):
    """Write a tetrahedron of far corners; return their number, fewer than four if there is no volume."""
    # each further corner is the support point across what there is so far, which is as far from it as any
    corner_into(one, two, 1.0, 0.0, 0.0, corners, 0)
    count = 1
    while count < 4:
        gained = False
        for k in range(6):
            dx, dy, dz = perpendicular(corners, count, k)
            corner_into(one, two, dx, dy, dz, corners, count)
            if extends(corners, count, scale):
                gained = True
                break
        if not gained:
            break
        count += 1
    return count


@inner
def write_flat(one, two, corners, count, out):
    """Fill out (10,) for a difference without volume: depth 0, a normal across it, from one's centre to two's."""
    nx, ny, nz = perpendicular(corners, min(count, 3), 0)
    if nx * nx + ny * ny + nz * nz == 0.0:
        nx, ny, nz = perpendicular(corners, min(count, 3), 1)
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    toward = nx * (two[CENTRE] - one[CENTRE]) + ny * (two[CENTRE + 1] - one[CENTRE + 1])
    toward += nz * (two[CENTRE + 2] - one[CENTRE + 2])
    sign = -1.0 if toward < 0.0 else 1.0
    out[DISTANCE] = 0.0
    out[NORMAL], out[NORMAL + 1], out[NORMAL + 2] = sign * nx / length, sign * ny / length, sign * nz / length
    p = q = r = 0.0
    # weights of the corners in the point nearest to the origin, for the touching points
    if count == 1:
        p = 1.0
    else:
        p, q, r = on_triangle(corners, 0, 1, 2 if count == 3 else 1, 0.0, 0.0, 0.0)
    for c in range(6):
        third = corners[2, POINT_ONE + c] if count == 3 else corners[1, POINT_ONE + c]
        rest = q * corners[1, POINT_ONE + c] + r * third if count > 1 else 0.0
        out[NEAREST_ONE + c] = p * corners[0, POINT_ONE + c] + rest


@inner
def push_out(corners, planes, faces, edges, count, used):
    """Replace the faces that see the newest corner by a cone to it; return the faces in use, -1 if there is no room."""
    x, y, z, horizon = corners[count, 0], corners[count, 1], corners[count, 2], 0
    # a face sees the corner if that lies beyond its plane
    for f in range(used):
        if faces[f, 0] < 0:
            continue
        # of a sliver that cannot be told by its plane, which is at infinity
        if planes[f, OFFSET] == math.inf:
            if not touches_hole(faces, planes, f, used, x, y, z):
                continue
        elif planes[f, 0] * x + planes[f, 1] * y + planes[f, 2] * z <= planes[f, OFFSET] + 1e-14:
            continue
        # edges of removed faces that occur in both directions are inside the hole; the others form its horizon
        for k in range(3):
            i, j = faces[f, k], faces[f, (k + 1) % 3]
            twin = -1
            for e in range(horizon):
                if edges[e, 0] == j and edges[e, 1] == i:
                    twin = e
                    break
            if twin >= 0:
                horizon -= 1
                edges[twin, 0], edges[twin, 1] = edges[horizon, 0], edges[horizon, 1]
            else:
                if horizon >= FACES:
                    return -1
                edges[horizon, 0], edges[horizon, 1] = i, j
                horizon += 1
        faces[f, 0] = -1
    # the horizon keeps the direction of the faces that are gone, so that the new ones, too, look outwards
    for e in range(horizon):
        if used >= FACES:
            return -1
        set_face(corners, planes, faces, used, edges[e, 0], edges[e, 1], count)
        used += 1
    return used


@inner
def touches_hole(faces, planes, f, used, x, y, z):
    """Whether a sliver borders a face that sees the newest corner: then it goes with it."""
    for g in range(used):
        if faces[g, 0] < 0 or planes[g, OFFSET] == math.inf:
            continue
        if planes[g, 0] * x + planes[g, 1] * y + planes[g, 2] * z <= planes[g, OFFSET] + 1e-14:
            continue
        for k in range(3):
            for m in range(3):
                if faces[f, k] == faces[g, (m + 1) % 3] and faces[f, (k + 1) % 3] == faces[g, m]:
                    return True
    return False


@inner
def core_depth(one, two, workspace, out):
    """Fill out (10,) as `core_distance` does, with minus the depth, for cores that overlap."""
    corners, planes, faces, edges = workspace.corners, workspace.planes, workspace.faces, workspace.edges
    # extent of the difference along the axes, which makes the tolerances relative
    scale = 0.0
    for k in range(3):
        dx, dy, dz = AXES[k]
        ax, ay, az = support(one, dx, dy, dz)
        bx, by, bz = support(two, -dx, -dy, -dz)
        scale = max(scale, abs((ax - bx) * dx + (ay - by) * dy + (az - bz) * dz))
        ax, ay, az = support(one, -dx, -dy, -dz)
        bx, by, bz = support(two, dx, dy, dz)
        scale = max(scale, abs((ax - bx) * dx + (ay - by) * dy + (az - bz) * dz))
    scale = max(scale, 1e-9)
    count = first_corners(one, two, corners, scale)
    if count < 4:
        write_flat(one, two, corners, count, out)
        return
    if volume(corners, 0, 1, 2, 3) > 0.0:  # make every face point outwards
        for c in range(SIMPLEX_COLUMNS):
            corners[0, c], corners[1, c] = corners[1, c], corners[0, c]
    set_face(corners, planes, faces, 0, 0, 1, 2)
    set_face(corners, planes, faces, 1, 0, 3, 1)
    set_face(corners, planes, faces, 2, 0, 2, 3)
    set_face(corners, planes, faces, 3, 1, 3, 2)
    used, best = 4, math.inf
    while True:
        # all faces are looked at: they are mostly a few dozen, too few for a heap to pay;
        # the nearest face bounds the depth from below, the support plane in its direction from above
        nearest, face = math.inf, -1
        for f in range(used):
            if faces[f, 0] >= 0 and planes[f, OFFSET] < nearest:
                nearest, face = planes[f, OFFSET], f
        if face < 0:
            break
        nx, ny, nz = planes[face, 0], planes[face, 1], planes[face, 2]
        corner_into(one, two, nx, ny, nz, corners, count)
        reach = nx * corners[count, 0] + ny * corners[count, 1] + nz * corners[count, 2]
        if reach <= best + GAIN:  # of equals the last: its face lies nearest to the surface
            best = min(best, reach)
            # a side of a polytope is several triangles: the touching points are on the one below the origin
            face = faced(corners, planes, faces, used, face)
            write_depth(corners, faces, face, nx, ny, nz, nearest, reach, out)
        # both bounds meet; or there is no room, and what has been found is a depth that separates, if not the least
        if best - nearest <= GAIN or count == CORNERS - 1:
            break
        used = push_out(corners, planes, faces, edges, count, used)
        if used < 0:
            break
        count += 1


@inner
def faced(corners, planes, faces, used, face):
    """Of the faces in the plane of one, the one that the origin falls on."""
    nx, ny, nz, nearest = planes[face, 0], planes[face, 1], planes[face, 2], planes[face, OFFSET]
    px, py, pz = nearest * nx, nearest * ny, nearest * nz
    best, chosen = math.inf, face
    for f in range(used):
        # faces that are gone, or farther away
        if faces[f, 0] < 0 or planes[f, OFFSET] > nearest + GAIN:
            continue
        if planes[f, 0] * nx + planes[f, 1] * ny + planes[f, 2] * nz < 1.0 - 1e-9:
            continue
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        p, q, r = on_triangle(corners, i, j, k, px, py, pz)
        x = p * corners[i, 0] + q * corners[j, 0] + r * corners[k, 0] - px
        y = p * corners[i, 1] + q * corners[j, 1] + r * corners[k, 1] - py
        z = p * corners[i, 2] + q * corners[j, 2] + r * corners[k, 2] - pz
        miss = x * x + y * y + z * z
        if miss < best:
            best, chosen = miss, f
    return chosen


@inner
def write_depth(corners, faces, face, nx, ny, nz, nearest, reach, out):
    """Write minus the depth, the normal and both touching points of a face to out (10,)."""
    i, j, k = faces[face, 0], faces[face, 1], faces[face, 2]
    px, py, pz = nearest * nx, nearest * ny, nearest * nz
    p, q, r = on_triangle(corners, i, j, k, px, py, pz)
    out[DISTANCE], out[NORMAL], out[NORMAL + 1], out[NORMAL + 2] = -reach, nx, ny, nz
    for c in range(6):
        out[NEAREST_ONE + c] = (
            p * corners[i, POINT_ONE + c] + q * corners[j, POINT_ONE + c] + r * corners[k, POINT_ONE + c]
        )


@inner
def signed_distance(one, two, workspace, out):
    """Distance of two solids, negative where they overlap.

    Parameters
    ----------
    one, two : (17,)
        Solids (`fill_solid`).
    workspace : DepthWorkspace
    out : (10,), out
        Signed distance [m]; unit normal from one to two, along which it is measured; the nearest or deepest point of
        one's surface, and of two's [m].
    """
    if core_distance(one, two, workspace.corners, out):
        core_depth(one, two, workspace, out)
    # solids are cores rounded by radii (Minkowski sums with balls), which shift both surfaces along the normal
    out[DISTANCE] -= one[ROUND] + two[ROUND]
    for k in range(3):
        out[NEAREST_ONE + k] += one[ROUND] * out[NORMAL + k]
        out[NEAREST_TWO + k] -= two[ROUND] * out[NORMAL + k]
