"""Contact manifolds of two convex colliders.

If a face of one collider faces the other, the other's facing feature is clipped by the sides of that face, and every
remaining point becomes a contact with the face. Otherwise (two edges, a corner, round shapes) the nearest points alone
are in contact. Contacts are detected at the beginning of a step and apply at its end: a point of one body against a
plane, or a sphere, of the other (the clipping is that of Ericson, Real-Time Collision Detection, 2005, §8.3.4).
"""

from __future__ import annotations

import math

from cbsim.dynamics.detection.kernels.columns import (
    CFM,
    CONTACTS,
    CORNERS,
    FIRST,
    FULL,
    GAP,
    HULL,
    KEY_ONE,
    KEY_OTHER,
    KIND,
    LEVEL,
    LINK,
    MARGIN,
    MATRIX,
    MOST_FRICTION,
    MU,
    ONE_MINUS_ERP,
    PLACE,
    RESTITUTION,
    TRIANGLE,
)
from cbsim.dynamics.detection.kernels.features import FLAT, feature
from cbsim.dynamics.detection.kernels.nearest import approach, nearest
from cbsim.dynamics.detection.kernels.polish import polished
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.algebra import cross, turn_back
from cbsim.jit import inlined, inner

__all__ = ["EXACT", "against_plane", "meet_along", "meet_pair", "nearest_cores"]

CORES = (1.0, 0.99, 0.9, 0.6, 0.3, 0.05, 0.002)  # scales of the cores, tried in turn until they do not overlap
THIN = 1e-3  # of the margin: gap below which whole shapes do not determine a normal
CUT_AT = 3  # column of a patch
EXACT = 1.0 - 1e-9  # cosine from which a normal equals that of a face


@inlined
def _into(link, z, b, x, y, w):
    """Rotate a direction from the world to a link's frame."""
    k, o = link[b, c.BODY], c.ROTATION
    return turn_back(z[k, o], z[k, o + 1], z[k, o + 2], z[k, o + 3], x, y, w)


@inlined
def _from_place(link, z, b, x, y, w):
    """Transform a point from the world to a link's frame."""
    k, o = link[b, c.BODY], c.POSITION
    return _into(link, z, b, x - z[k, o], y - z[k, o + 1], w - z[k, o + 2])


@inner
def emit(model, colliders, z, i, j, shape, p, radius, normal, point, other_radius):
    """Write a contact: a sphere about p on the link of i against the plane through a point, or a sphere about it."""
    (px, py, pz), (nx, ny, nz), (qx, qy, qz) = p, normal, point
    found = colliders.found
    row = found[CONTACTS]
    if row >= len(colliders.contact):
        found[FULL] = 1
        return
    found[CONTACTS] = row + 1
    contact, contact_link, link = colliders.contact, colliders.contact_link, model.link
    # gap at detection, with which `exceeded_margin` compares the end of the step
    gap = nx * (px - qx) + ny * (py - qy) + nz * (pz - qz) - radius - other_radius
    b, q = colliders.collider_link[i, LINK], colliders.collider_link[j, LINK]
    contact_link[row, c.ONE], contact_link[row, c.OTHER] = b, q
    contact_link[row, c.SHAPE] = shape if q >= 0 else c.HALF_SPACE
    # points and normals are stored in the frames of their bodies, with which they move in the step
    ox, oy, oz = _from_place(link, z, b, px, py, pz)
    contact[row, c.ORIGIN], contact[row, c.ORIGIN + 1], contact[row, c.ORIGIN + 2] = ox, oy, oz
    contact[row, c.RADIUS], contact[row, c.OTHER_RADIUS] = radius, other_radius
    if q >= 0:
        qx, qy, qz = _from_place(link, z, q, qx, qy, qz)
        nx, ny, nz = _into(link, z, q, nx, ny, nz)
    contact[row, c.NORMAL], contact[row, c.NORMAL + 1], contact[row, c.NORMAL + 2] = nx, ny, nz
    # PLANE: a point of the plane, or the centre of the other sphere
    contact[row, c.PLANE], contact[row, c.PLANE + 1], contact[row, c.PLANE + 2] = qx, qy, qz
    _tangents(contact, row, nx, ny, nz)
    one, other = colliders.collider[i], colliders.collider[j]
    # friction is the geometric mean of both colliders; compliance and restitution the larger
    if one[MOST_FRICTION] >= 0.0 and other[MOST_FRICTION] >= 0.0:
        contact_link[row, c.LAW] = c.BOXED
        contact[row, c.MU] = math.sqrt(one[MOST_FRICTION] * other[MOST_FRICTION])
    else:
        contact_link[row, c.LAW] = c.NONLINEAR
        contact[row, c.MU] = math.sqrt(one[MU] * other[MU])
    contact[row, c.ONE_MINUS_ERP], contact[row, c.CFM] = (
        max(one[ONE_MINUS_ERP], other[ONE_MINUS_ERP]),
        max(one[CFM], other[CFM]),
    )
    contact[row, c.RESTITUTION] = max(one[RESTITUTION], other[RESTITUTION])
    colliders.key[row, KEY_ONE], colliders.key[row, KEY_OTHER] = i, j
    colliders.placed[i, GAP], colliders.placed[j, GAP] = (
        min(colliders.placed[i, GAP], gap),
        min(colliders.placed[j, GAP], gap),
    )


@inlined
def _tangents(contact, row, nx, ny, nz):
    """Write two unit tangents to a normal, in its frame."""
    tx, ty, tz = cross(1.0, 0.0, 0.0, nx, ny, nz)
    if ty * ty + tz * tz < 1e-6:
        tx, ty, tz = cross(0.0, 1.0, 0.0, nx, ny, nz)
    scale, k = 1.0 / math.sqrt(tx * tx + ty * ty + tz * tz), c.TANGENTS
    tx, ty, tz = tx * scale, ty * scale, tz * scale
    contact[row, k], contact[row, k + 1], contact[row, k + 2] = tx, ty, tz
    contact[row, k + 3], contact[row, k + 4], contact[row, k + 5] = cross(tx, ty, tz, nx, ny, nz)


@inner
def _rest_on_face(model, colliders, z, i, j, p, radius, m, f, reach):
    """Write the contact of a sphere of collider i with a face of collider j through f with normal m."""
    (px, py, pz), (mx, my, mz), (fx, fy, fz) = p, m, f
    gap = mx * (px - fx) + my * (py - fy) + mz * (pz - fz) - radius
    if gap > reach:
        return
    if colliders.collider_link[i, LINK] >= 0:
        emit(model, colliders, z, i, j, c.FACE, p, radius, m, f, 0.0)
        return
    # collider i is in the world: the contact is a point of j against a plane of the world
    s = (px - radius * mx, py - radius * my, pz - radius * mz)
    t = (s[0] - gap * mx, s[1] - gap * my, s[2] - gap * mz)
    emit(model, colliders, z, j, i, c.HALF_SPACE, t, 0.0, (-mx, -my, -mz), s, 0.0)


@inner
def against_plane(model, colliders, z, i, j, reach):
    """Write contacts of collider i with a half-space j of the world: corners, or the facing feature."""
    placed, collider_link, collider = colliders.placed, colliders.collider_link, colliders.collider
    o = MATRIX
    mx, my, mz = placed[j, o + 2], placed[j, o + 5], placed[j, o + 8]  # z axis of its frame
    m, f = (mx, my, mz), (placed[j, PLACE], placed[j, PLACE + 1], placed[j, PLACE + 2])
    if collider_link[i, KIND] == HULL:
        # no core is needed against a plane: each corner has its own gap
        first = collider_link[i, FIRST]
        for k in range(first, first + collider_link[i, CORNERS]):
            p = (colliders.world[k, 0], colliders.world[k, 1], colliders.world[k, 2])
            _rest_on_face(model, colliders, z, i, j, p, collider[i, MARGIN], m, f, reach)
        return
    along = _rolling(model, colliders, z, i, j, mx, my, mz)
    count, radius, _, _, _, _ = feature(
        collider_link, collider, placed, colliders.world, colliders.face, colliders.face_normal, colliders.rim, i,
        (-mx, -my, -mz), along, colliders.patch[0],
    )  # fmt: skip
    for k in range(count):
        p = (colliders.patch[0, k, 0], colliders.patch[0, k, 1], colliders.patch[0, k, 2])
        _rest_on_face(model, colliders, z, i, j, p, radius, m, f, reach)


@inlined
def _rolling(model, colliders, z, i, j, nx, ny, nz):
    """Return the rolling direction of two colliders: n × (difference of their angular velocities)."""
    wx, wy, wz = 0.0, 0.0, 0.0
    for side in range(2):
        b = colliders.collider_link[i if side == 0 else j, LINK]
        if b >= 0:
            k, o, s, sign = model.link[b, c.BODY], c.ROTATION, c.SPIN, 1.0 - 2.0 * side
            x, y, w = turn_back(z[k, o], -z[k, o + 1], -z[k, o + 2], -z[k, o + 3], z[k, s], z[k, s + 1], z[k, s + 2])
            # relative angular velocity, in world axes
            wx, wy, wz = wx + sign * x, wy + sign * y, wz + sign * w
    tx, ty, tz = cross(nx, ny, nz, wx, wy, wz)
    size = math.sqrt(tx * tx + ty * ty + tz * tz)
    if size < 1e-9:  # no relative rotation: any direction along the plane
        tx, ty, tz = cross(nx, ny, nz, 1.0 * (abs(nx) < 0.5), 1.0 * (abs(nx) >= 0.5), 0.0)
        size = math.sqrt(tx * tx + ty * ty + tz * tz)
    return tx / size, ty / size, tz / size


@inner
def nearest_cores(colliders, i, j):
    """Find the nearest points of the largest separate cores: return their scale, and the rows of ``simplex``.

    Shapes with a margin, such as balls, are separated by it, so that their core may be the whole shape. No rows if even
    the smallest cores overlap.
    """
    margin = colliders.collider[i, MARGIN] + colliders.collider[j, MARGIN]
    for core in CORES:
        if core == 1.0 and margin == 0.0:
            continue
        count = nearest(
            colliders.collider_link,
            colliders.collider,
            colliders.placed,
            colliders.world,
            i,
            j,
            core,
            colliders.simplex,
        )
        # a gap that is thin against the margins has a normal of few digits: shrink the cores
        if count > 0 and core == 1.0:
            (ax, ay, az), (bx, by, bz) = approach(colliders.simplex, count)
            if (ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2 < (THIN * margin) ** 2:
                continue
        if count > 0:
            return core, count
    return CORES[-1], 0


@inner
def meet_pair(model, colliders, z, i, j, reach):
    """Write the contacts of two convex colliders that are nearer than ``reach``."""
    placed = colliders.placed
    core, count = nearest_cores(colliders, i, j)
    if count > 0:
        ax, ay, az, bx, by, bz, nx, ny, nz = polished(colliders, i, j, core, count)
    else:  # concentric: separated along the line of centres, if that is defined
        ax, ay, az = placed[i, PLACE], placed[i, PLACE + 1], placed[i, PLACE + 2]
        bx, by, bz = placed[j, PLACE], placed[j, PLACE + 1], placed[j, PLACE + 2]
        nx, ny, nz = ax - bx, ay - by, az - bz
        size = math.sqrt(nx * nx + ny * ny + nz * nz)
        nx, ny, nz = (nx / size, ny / size, nz / size) if size > 0.0 else (0.0, 0.0, 1.0)
    meet_along(model, colliders, z, i, j, core, (ax, ay, az), (bx, by, bz), (nx, ny, nz), reach, False)


@inner
def meet_along(model, colliders, z, i, j, core, a, b, normal, reach, only_over):
    """Write the contacts of two colliders with a normal from j to i, a and b the nearest points of cores.

    ``only_over`` restricts them to points over the face of j.
    """
    placed, collider_link, collider, world = (
        colliders.placed,
        colliders.collider_link,
        colliders.collider,
        colliders.world,
    )
    nx, ny, nz = normal
    along = _rolling(model, colliders, z, i, j, nx, ny, nz)
    m, r, one, ex, ey, ez = feature(
        collider_link, collider, placed, world, colliders.face, colliders.face_normal, colliders.rim, i,
        (-nx, -ny, -nz), along, colliders.patch[0],
    )  # fmt: skip
    n, s, other, fx, fy, fz = feature(
        collider_link, collider, placed, world, colliders.face, colliders.face_normal, colliders.rim, j,
        normal, along, colliders.patch[1],
    )  # fmt: skip
    # a face looks along the normal: clip the other feature by its sides
    if max(one, other) >= FLAT:
        # the face that looks along the normal more exactly, j's if both do
        if only_over or other >= one - 1e-6:
            is_over = _over_face(model, colliders, z, i, j, (0, m, r), (1, n, s), (fx, fy, fz), reach)
        else:
            is_over = _over_face(model, colliders, z, j, i, (1, n, s), (0, m, r), (ex, ey, ez), reach)
        # a face exactly along the normal has all contacts; otherwise the nearest points may not be among them
        if only_over or (max(one, other) > EXACT and is_over):
            return
    _at_nearest(model, colliders, z, i, j, core, (m, r), (n, s), a, b, normal, reach)


@inner
def _over_face(model, colliders, z, i, j, facing, face_of, m, reach):
    """Write contacts of the facing feature of collider i over a face of j with normal m; return if there are any.

    Both are given by their patch, the number of their corners and the radius [m] around these.

    If a triangle continues beyond an edge, the part cut off there lies over its neighbour: corners of that cut are
    redundant.
    """
    (source, count, radius), (face, sides, margin), (mx, my, mz) = facing, face_of, m
    patch, level = colliders.patch, 0
    if colliders.collider_link[j, KIND] == TRIANGLE:
        level = int(colliders.collider[j, LEVEL])
    f = (patch[face, 0, 0] + margin * mx, patch[face, 0, 1] + margin * my, patch[face, 0, 2] + margin * mz)
    at, count = _clip(patch, source, count, face, sides, mx, my, mz)
    for k in range(count):
        sides = int(patch[at, k, CUT_AT])
        # a corner on a cut counts only if one of its cuts is a true edge, beyond which the surface ends
        if sides == 0 or sides & ~level != 0:
            p = (patch[at, k, 0], patch[at, k, 1], patch[at, k, 2])
            _rest_on_face(model, colliders, z, i, j, p, radius, m, f, reach)
    return count > 0


@inner
def _clip(patch, source, count, face, sides, mx, my, mz):
    """Clip a polygon, an edge or a point by the sides of a face; return the patch of the result and its size.

    A convex polygon of m corners has at most m + s after s cuts, so that a patch has room for the corners of two faces.
    CUT_AT marks the sides, among the first three, at which a corner was cut: a sum of 1, 2 and 4.
    """
    at, to = source, 2
    for k in range(count):
        patch[at, k, CUT_AT] = 0.0
    for e in range(sides):
        ox, oy, oz = patch[face, e, 0], patch[face, e, 1], patch[face, e, 2]
        g = e + 1 if e + 1 < sides else 0
        # Sutherland–Hodgman: keep what lies inwards of this side
        ix, iy, iz = cross(mx, my, mz, patch[face, g, 0] - ox, patch[face, g, 1] - oy, patch[face, g, 2] - oz)
        slack = 1e-9 * math.sqrt(ix * ix + iy * iy + iz * iz)
        left = 0
        for k in range(count):
            f = k + 1 if k + 1 < count else 0
            ax, ay, az = patch[at, k, 0], patch[at, k, 1], patch[at, k, 2]
            bx, by, bz = patch[at, f, 0], patch[at, f, 1], patch[at, f, 2]
            here = ix * (ax - ox) + iy * (ay - oy) + iz * (az - oz)
            there = ix * (bx - ox) + iy * (by - oy) + iz * (bz - oz)
            if here >= -slack:
                patch[to, left, 0], patch[to, left, 1], patch[to, left, 2] = ax, ay, az
                patch[to, left, CUT_AT] = patch[at, k, CUT_AT]
                left += 1
            # an edge of two points is clipped once, not there and back
            crosses = (here > slack and there < -slack) or (here < -slack and there > slack)
            if crosses and (count > 2 or k == 0):
                t = here / (here - there)
                patch[to, left, 0], patch[to, left, 1] = ax + t * (bx - ax), ay + t * (by - ay)
                patch[to, left, 2] = az + t * (bz - az)
                # an edge between two corners of one cut lies on that cut
                along = int(patch[at, k, CUT_AT]) & int(patch[at, f, CUT_AT])
                patch[to, left, CUT_AT] = along | (1 << e if e < 3 else 0)
                left += 1
        count = left
        at, to = to, 3 if to == 2 else 2  # buffers 2 and 3 take turns
    return at, count


@inner
def _at_nearest(model, colliders, z, i, j, core, facing, other, a, b, normal, reach):
    """Write the contact of the nearest points a and b; a facing feature has so many points of a radius [m]."""
    (m, r), (n, s), (ax, ay, az), (bx, by, bz), (nx, ny, nz) = facing, other, a, b, normal
    ax, ay, az, r = _true_point(colliders, i, core, m, r, 0, ax, ay, az)
    bx, by, bz, s = _true_point(colliders, j, core, n, s, 1, bx, by, bz)
    # scaled cores differ from the shapes: distances are measured anew between the points of these
    gap = nx * (ax - bx) + ny * (ay - by) + nz * (az - bz) - r - s
    if r + s > 0.0:
        # round shapes: the line between the centres is the exact normal
        x, y, w = ax - bx, ay - by, az - bz
        size = math.sqrt(x * x + y * y + w * w)
        if size > 1e-12 and x * nx + y * ny + w * nz > 0.5 * size:
            nx, ny, nz, gap = x / size, y / size, w / size, size - r - s
    if gap > reach:
        return
    a, b, normal = (ax, ay, az), (bx, by, bz), (nx, ny, nz)
    # the sphere is on the body that moves; between two bodies without radius one is a point, the other its plane
    if colliders.collider_link[i, LINK] < 0:
        p = (ax - r * nx, ay - r * ny, az - r * nz)
        emit(model, colliders, z, j, i, c.HALF_SPACE, b, s, (-nx, -ny, -nz), p, 0.0)
    elif colliders.collider_link[j, LINK] < 0 or r + s == 0.0:
        q = (bx + s * nx, by + s * ny, bz + s * nz)
        emit(model, colliders, z, i, j, c.FACE, a, r, normal, q, 0.0)
    else:
        emit(model, colliders, z, i, j, c.SPHERE, a, r, normal, b, s)


@inlined
def _true_point(colliders, i, core, count, radius, patch, x, y, z):
    """Point of the shape from one of its core; of a round shape the centre of its rolling sphere."""
    kind = colliders.collider_link[i, KIND]
    # a triangle is its own core
    if kind == TRIANGLE:
        return x, y, z, 0.0
    if kind != HULL:
        if count == 1:
            return colliders.patch[patch, 0, 0], colliders.patch[patch, 0, 1], colliders.patch[patch, 0, 2], radius
        radius = 0.0
    # from the core back to the shape, scaled about the origin of its frame
    k = 1.0 / core
    cx, cy, cz = colliders.placed[i, PLACE], colliders.placed[i, PLACE + 1], colliders.placed[i, PLACE + 2]
    return cx + k * (x - cx), cy + k * (y - cy), cz + k * (z - cz), radius
