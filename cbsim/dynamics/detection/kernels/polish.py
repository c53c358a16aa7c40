"""Nearest points of curved shapes to machine precision, by Newton's method from the result of GJK.

GJK (`cbsim.dynamics.detection.kernels.nearest`) finds a direction with half the digits of a distance: on curved
surfaces it stops among points at equal distances. They are refined by the features involved: corners, edges and faces
of hulls on which the search has ended, caps, sides and rims of cylinders, and curvatures of ellipsoids. The normal n is
orthogonal to every edge and flat side involved, and the support points s(−n) of the one and s(n) of the other differ by
a multiple of n: this is solved with the slopes of the support functions.
"""

from __future__ import annotations

from cbsim.dynamics.detection.kernels.columns import (
    CYLINDER,
    ELLIPSOID,
    FEATURE,
    KIND,
    MATRIX,
    PLACE,
    SIZE,
    TRIANGLE,
)
from cbsim.dynamics.detection.kernels.nearest import approach
from cbsim.dynamics.detection.kernels.supports import farthest
from cbsim.dynamics.kernels.algebra import cross, turned, turned_back
from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.simplex import POINT_ONE, POINT_OTHER, WEIGHT
from cbsim.jit import inlined, inner

__all__ = ["polished"]

ROUNDS = 12
FAR = 0.1  # [rad] largest step of Newton's method; longer ones leave the neighbourhood of the start
LEAST = 1e-5  # weight from which a corner counts
PARALLEL = 1e-6  # sine of the angle below which two edges are parallel

# rows FEATURE and FEATURE + 1 of the simplex: nearest features of the one and of the other
FLATNESS, BASE, ALONG, ACROSS = 0, 1, 4, 7  # 0 for a point, 1 an edge, 2 a face; a point of it; its directions


@inner
def _feature(colliders, i, core, count, side, x, y, z):
    """Write the nearest feature of collider i, at a point of its core."""
    simplex, kind, row = colliders.simplex, colliders.collider_link[i, KIND], FEATURE + side
    flat = 0
    if kind <= TRIANGLE:
        # the distinct corners with weight span the feature: one is a point, two an edge, three a face
        o = POINT_ONE if side == 0 else POINT_OTHER
        for k in range(count):
            if simplex[k, WEIGHT] <= LEAST:
                continue
            is_new = True
            for n in range(k):
                same = simplex[n, WEIGHT] > LEAST
                for m in range(3):
                    same = same and simplex[n, o + m] == simplex[k, o + m]
                is_new = is_new and not same
            if is_new:
                for m in range(3):
                    # the first corner is the base, the others are directions from it
                    base = simplex[row, BASE + m] if flat > 0 else 0.0
                    simplex[row, BASE + 3 * flat + m] = simplex[k, o + m] - base
                flat += 1
        simplex[row, FLATNESS] = flat - 1
        return
    simplex[row, BASE], simplex[row, BASE + 1], simplex[row, BASE + 2] = x, y, z
    if kind == CYLINDER:
        placed = colliders.placed
        ux, uy, uz = turned_back(
            placed, i, MATRIX, x - placed[i, PLACE], y - placed[i, PLACE + 1], z - placed[i, PLACE + 2]
        )
        k = ALONG
        # inside of the rim the cap, below the rim the side; both not: the rim itself
        if ux * ux + uy * uy < ((1.0 - 1e-4) * core * colliders.collider[i, SIZE]) ** 2:
            flat = 2
            simplex[row, k], simplex[row, k + 1], simplex[row, k + 2] = turned(placed, i, MATRIX, 1.0, 0.0, 0.0)
            k = ACROSS
            simplex[row, k], simplex[row, k + 1], simplex[row, k + 2] = turned(placed, i, MATRIX, 0.0, 1.0, 0.0)
        elif abs(uz) < (1.0 - 1e-6) * core * colliders.collider[i, SIZE + 1]:
            flat = 1
            simplex[row, k], simplex[row, k + 1], simplex[row, k + 2] = turned(placed, i, MATRIX, 0.0, 0.0, 1.0)
    simplex[row, FLATNESS] = flat


@inlined
def _point(colliders, i, core, side, x, y, z):
    """Support point of the nearest feature of collider i along an outward direction."""
    if colliders.collider_link[i, KIND] <= TRIANGLE:
        simplex, k = colliders.simplex, BASE
        return simplex[FEATURE + side, k], simplex[FEATURE + side, k + 1], simplex[FEATURE + side, k + 2]
    return farthest(colliders.collider_link, colliders.collider, colliders.placed, colliders.world, i, core, x, y, z)


@inner
def _bend(colliders, i, nx, ny, nz, tx, ty, tz, ux, uy, uz):
    """Slope tᵀ ∇²h(n) u of the support point of collider i along n, for curved features."""
    kind = colliders.collider_link[i, KIND]
    if kind <= TRIANGLE:
        return 0.0
    x, y, z = turned_back(colliders.placed, i, MATRIX, nx, ny, nz)
    a, b, c = turned_back(colliders.placed, i, MATRIX, tx, ty, tz)
    d, e, f = turned_back(colliders.placed, i, MATRIX, ux, uy, uz)
    if kind == ELLIPSOID:
        p, q, r = (
            colliders.collider[i, SIZE] ** 2,
            colliders.collider[i, SIZE + 1] ** 2,
            colliders.collider[i, SIZE + 2] ** 2,
        )
        # ∇²h = (A² − A² n (A² n)ᵀ / h²) / h for h = |A n|, A the semi-axes
        size = math.sqrt(p * x * x + q * y * y + r * z * z)
        one, other = (p * x * a + q * y * b + r * z * c) / size, (p * x * d + q * y * e + r * z * f) / size
        return (p * a * d + q * b * e + r * c * f - one * other) / size
    size = math.hypot(x, y)
    if size < 1e-9:
        return 0.0
    # the side bends around the axis alone, with the radius of the rim in the direction of n
    return colliders.collider[i, SIZE] * (x * b - y * a) * (x * e - y * d) / (size * size * size)


@inlined
def _directed(simplex, row, k):
    """Return the unit vector of three columns."""
    x, y, z = simplex[row, k], simplex[row, k + 1], simplex[row, k + 2]
    size = math.sqrt(x * x + y * y + z * z)
    return x / size, y / size, z / size


@inner
def _across(simplex, nx, ny, nz):
    """Return the normal determined by flat sides and edges alone, on the side of n; zeros if they do not."""
    one, other = simplex[FEATURE, FLATNESS], simplex[FEATURE + 1, FLATNESS]
    # a face determines the normal, and so do two edges that are not parallel
    if one == 2.0 or other == 2.0:
        row = FEATURE if one == 2.0 else FEATURE + 1
        x, y, z = _directed(simplex, row, ALONG)
        u, v, w = _directed(simplex, row, ACROSS)
    elif one == 1.0 and other == 1.0:
        x, y, z = _directed(simplex, FEATURE, ALONG)
        u, v, w = _directed(simplex, FEATURE + 1, ALONG)
    else:
        return 0.0, 0.0, 0.0
    x, y, z = cross(x, y, z, u, v, w)
    size = math.sqrt(x * x + y * y + z * z)
    if size < PARALLEL:
        return 0.0, 0.0, 0.0
    size = math.copysign(size, x * nx + y * ny + z * nz)
    return x / size, y / size, z / size


@inlined
def _tangents(simplex, nx, ny, nz):
    """Two directions orthogonal to n, the first also to an edge; n made orthogonal to the edge; whether it exists."""
    is_edge = simplex[FEATURE, FLATNESS] == 1.0 or simplex[FEATURE + 1, FLATNESS] == 1.0
    ex, ey, ez = 1.0 * (abs(nx) < 0.6), 1.0 * (abs(nx) >= 0.6), 0.0
    if is_edge:
        ex, ey, ez = _directed(simplex, FEATURE if simplex[FEATURE, FLATNESS] == 1.0 else FEATURE + 1, ALONG)
        along = ex * nx + ey * ny + ez * nz
        nx, ny, nz = nx - along * ex, ny - along * ey, nz - along * ez
        size = math.sqrt(nx * nx + ny * ny + nz * nz)
        nx, ny, nz = nx / size, ny / size, nz / size
    tx, ty, tz = cross(ex, ey, ez, nx, ny, nz)
    size = math.sqrt(tx * tx + ty * ty + tz * tz)
    return is_edge, nx, ny, nz, tx / size, ty / size, tz / size


@inner
def _turned_to(colliders, i, j, core, nx, ny, nz):
    """Find the normal along which the support points face each other, from a near guess; return whether it exists."""
    for _ in range(ROUNDS):
        is_edge, nx, ny, nz, tx, ty, tz = _tangents(colliders.simplex, nx, ny, nz)
        ux, uy, uz = cross(nx, ny, nz, tx, ty, tz)
        ax, ay, az = _point(colliders, i, core, 0, -nx, -ny, -nz)
        bx, by, bz = _point(colliders, j, core, 1, nx, ny, nz)
        vx, vy, vz = ax - bx, ay - by, az - bz
        # Newton: n turns by (p, q) along t and u so that the difference of the support points is along n; its slope is
        # the sum of both curvatures and of the distance, at which n itself turns
        apart = nx * vx + ny * vy + nz * vz
        one, other = tx * vx + ty * vy + tz * vz, ux * vx + uy * vy + uz * vz
        tt = core * _bend(colliders, i, -nx, -ny, -nz, tx, ty, tz, tx, ty, tz)
        tt += core * _bend(colliders, j, nx, ny, nz, tx, ty, tz, tx, ty, tz) + apart
        if is_edge:
            p, q = one / tt, 0.0
        else:
            tu = core * _bend(colliders, i, -nx, -ny, -nz, tx, ty, tz, ux, uy, uz)
            tu += core * _bend(colliders, j, nx, ny, nz, tx, ty, tz, ux, uy, uz)
            uu = core * _bend(colliders, i, -nx, -ny, -nz, ux, uy, uz, ux, uy, uz)
            uu += core * _bend(colliders, j, nx, ny, nz, ux, uy, uz, ux, uy, uz) + apart
            scale = 1.0 / (tt * uu - tu * tu)
            p, q = scale * (uu * one - tu * other), scale * (tt * other - tu * one)
        size = math.hypot(p, q)
        if not (size < FAR and apart > 0.0):
            return False, nx, ny, nz
        nx, ny, nz = nx + p * tx + q * ux, ny + p * ty + q * uy, nz + p * tz + q * uz
        length = math.sqrt(nx * nx + ny * ny + nz * nz)
        nx, ny, nz = nx / length, ny / length, nz / length
        if size < 1e-15:
            break
    return True, nx, ny, nz


@inner
def polished(colliders, i, j, core, count):
    """Nearest points of two cores from the rows that span them, and the normal from the other to the one."""
    simplex = colliders.simplex
    (ax, ay, az), (bx, by, bz) = approach(simplex, count)
    nx, ny, nz = ax - bx, ay - by, az - bz
    size = math.sqrt(nx * nx + ny * ny + nz * nz)
    nx, ny, nz = nx / size, ny / size, nz / size
    if colliders.collider_link[i, KIND] <= TRIANGLE and colliders.collider_link[j, KIND] <= TRIANGLE:
        return ax, ay, az, bx, by, bz, nx, ny, nz
    _feature(colliders, i, core, count, 0, ax, ay, az)
    _feature(colliders, j, core, count, 1, bx, by, bz)
    # twice, since a point beyond the end of an edge makes it a corner
    for _ in range(2):
        done, px, py, pz, qx, qy, qz, mx, my, mz = _met(colliders, i, j, core, nx, ny, nz)
        if not done or mx * nx + my * ny + mz * nz < 1.0 - FAR * FAR:
            break
        # beyond the end of an edge: a corner
        if not (_ends(colliders, i, 0, px, py, pz) or _ends(colliders, j, 1, qx, qy, qz)):
            return px, py, pz, qx, qy, qz, mx, my, mz
    return ax, ay, az, bx, by, bz, nx, ny, nz


@inner
def _ends(colliders, i, side, x, y, z):
    """Replace the edge of a hull by a corner if the point found lies beyond its end; return whether it does."""
    simplex, row = colliders.simplex, FEATURE + side
    if colliders.collider_link[i, KIND] > TRIANGLE or simplex[row, FLATNESS] != 1.0:
        return False
    along, length = 0.0, 0.0
    place = x, y, z
    for m in range(3):
        along += (place[m] - simplex[row, BASE + m]) * simplex[row, ALONG + m]
        length += simplex[row, ALONG + m] ** 2
    if 0.0 <= along <= length:
        return False
    simplex[row, FLATNESS] = 0.0
    for m in range(3 if along > length else 0):
        simplex[row, BASE + m] += simplex[row, ALONG + m]
    return True


@inner
def _met(colliders, i, j, core, nx, ny, nz):
    """Nearest points and normal of both features; whether they are found."""
    simplex = colliders.simplex
    one, other = simplex[FEATURE, FLATNESS], simplex[FEATURE + 1, FLATNESS]
    mx, my, mz = _across(simplex, nx, ny, nz)
    done = mx != 0.0 or my != 0.0 or mz != 0.0
    if not done and one + other < 2.0:  # parallel edges have many pairs of nearest points
        done, mx, my, mz = _turned_to(colliders, i, j, core, nx, ny, nz)
    if not done or one + other > 2.0:  # more flat directions than a normal can be orthogonal to: many nearest points
        return False, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, nx, ny, nz
    nx, ny, nz = mx, my, mz
    px, py, pz = _point(colliders, i, core, 0, -nx, -ny, -nz)
    qx, qy, qz = _point(colliders, j, core, 1, nx, ny, nz)
    vx, vy, vz = px - qx, py - qy, pz - qz
    apart = nx * vx + ny * vy + nz * vz
    if one == 0.0:  # the other point is the projection of the first
        return True, px, py, pz, px - apart * nx, py - apart * ny, pz - apart * nz, nx, ny, nz
    if other == 0.0:
        return True, qx + apart * nx, qy + apart * ny, qz + apart * nz, qx, qy, qz, nx, ny, nz
    ex, ey, ez = _directed(simplex, FEATURE, ALONG)
    fx, fy, fz = _directed(simplex, FEATURE + 1, ALONG)
    # from p along e to the point that differs from the other edge by n alone: no component along f × n
    gx, gy, gz = cross(fx, fy, fz, nx, ny, nz)
    far = -(gx * vx + gy * vy + gz * vz) / (gx * ex + gy * ey + gz * ez)
    px, py, pz = px + far * ex, py + far * ey, pz + far * ez
    return True, px, py, pz, px - apart * nx, py - apart * ny, pz - apart * nz, nx, ny, nz
