"""GJK: nearest points of two convex cores (Gilbert, Johnson and Keerthi 1988).

The point of the Minkowski difference nearest to the origin is found by a simplex of at most four support points, each
along the current direction to the origin.
"""

from __future__ import annotations

import math

from cbsim.dynamics.detection.kernels.columns import (
    DIFFERENCE,
    KEPT_ROWS,
    KIND,
    PLACE,
    POINT_ONE,
    POINT_OTHER,
    SIMPLEX_COLUMNS,
    TRIANGLE,
    WEIGHT,
)
from cbsim.dynamics.detection.kernels.supports import farthest
from cbsim.dynamics.kernels.algebra import cross
from cbsim.jit import inlined, inner

__all__ = ["approach", "nearest"]

ROUNDS = 60
CLOSE = 1e-11  # relative tolerance of the distance
CURVED = 1e-9  # the same for curved shapes: results are polished, and thinner triangles suffer from rounding
ROUNDING = 4e-15  # error of the bound of the distance, as a share of the largest coordinate
OVERLAP = 1e-10  # distance that counts as an overlap, as a share of the largest coordinate: its direction is rounded
APART = 1e-6  # relative distance from which the cores are certainly separate


@inner
def nearest(collider_link, collider, placed, world, i, j, core, simplex):
    """Find the nearest points of the cores of colliders i and j; return how many rows of ``simplex`` span them.

    0 if the cores overlap. Weights of the rows add up to one; the points are the weighted POINT_ONE and POINT_OTHER.
    """
    vx, vy, vz = placed[i, PLACE] - placed[j, PLACE], placed[i, PLACE + 1] - placed[j, PLACE + 1], 0.0
    vz = placed[i, PLACE + 2] - placed[j, PLACE + 2]
    if vx * vx + vy * vy + vz * vz == 0.0:
        vx = 1.0
    count, size, is_apart, far = 0, math.inf, False, 0.0
    close = CLOSE if collider_link[i, KIND] <= TRIANGLE and collider_link[j, KIND] <= TRIANGLE else CURVED
    for _ in range(ROUNDS):
        # support point of the difference towards the origin
        ax, ay, az = farthest(collider_link, collider, placed, world, i, core, -vx, -vy, -vz)
        bx, by, bz = farthest(collider_link, collider, placed, world, j, core, vx, vy, vz)
        wx, wy, wz = ax - bx, ay - by, az - bz
        far = max(far, abs(wx) + abs(wy) + abs(wz))
        if count > 0:
            # lower bound of the distance: no point of the difference is nearer along v
            ahead = vx * wx + vy * wy + vz * wz
            # of large shapes that nearly touch, rounding of the bound is more than the tolerance of the distance
            error = close * size + ROUNDING * far * math.sqrt(size)
            if size - ahead <= error or _is_known(simplex, count, wx, wy, wz):
                return count
            is_apart = is_apart or ahead > APART * size
        k = count
        for row in range(k):
            _copy(simplex, row, KEPT_ROWS + row)
        simplex[k, DIFFERENCE], simplex[k, DIFFERENCE + 1], simplex[k, DIFFERENCE + 2] = wx, wy, wz
        simplex[k, POINT_ONE], simplex[k, POINT_ONE + 1], simplex[k, POINT_ONE + 2] = ax, ay, az
        simplex[k, POINT_OTHER], simplex[k, POINT_OTHER + 1], simplex[k, POINT_OTHER + 2] = bx, by, bz
        count = _reduce(simplex, k + 1)
        if count == 4:
            return k if is_apart else 0  # the rows before are unchanged
        vx, vy, vz = _weighted(simplex, count, DIFFERENCE)
        before, size = size, vx * vx + vy * vy + vz * vz
        if size < (OVERLAP * far) ** 2:
            return 0
        if size >= before:  # no progress, by rounding of a nearly flat simplex: the one before is nearer
            for row in range(k):
                _copy(simplex, KEPT_ROWS + row, row)
            return k
    return count


@inlined
def approach(simplex, count):
    """Nearest points of the one and of the other."""
    return _weighted(simplex, count, POINT_ONE), _weighted(simplex, count, POINT_OTHER)


@inlined
def _weighted(simplex, count, column):
    x, y, z = 0.0, 0.0, 0.0
    for k in range(count):
        w = simplex[k, WEIGHT]
        x, y, z = x + w * simplex[k, column], y + w * simplex[k, column + 1], z + w * simplex[k, column + 2]
    return x, y, z


@inlined
def _is_known(simplex, count, x, y, z):
    for k in range(count):
        if simplex[k, 0] == x and simplex[k, 1] == y and simplex[k, 2] == z:
            return True
    return False


@inlined
def _copy(simplex, a, b):
    """Copy row a to row b."""
    for m in range(SIMPLEX_COLUMNS):
        simplex[b, m] = simplex[a, m]


@inlined
def _keep(simplex, a, b, c, rows):
    """Move the given rows to the front; they are in increasing order."""
    for m in range(SIMPLEX_COLUMNS):
        simplex[0, m] = simplex[a, m]
        if rows > 1:
            simplex[1, m] = simplex[b, m]
        if rows > 2:
            simplex[2, m] = simplex[c, m]


@inner
def _reduce(simplex, count):
    """Keep the rows that span the point nearest to the origin, and set their weights; 4 if the origin is inside."""
    if count == 1:
        simplex[0, WEIGHT] = 1.0
        return 1
    if count == 2:
        return _segment(simplex, 0, 1)[1]
    if count == 3:
        return _triangle(simplex, 0, 1, 2, True)[1]
    # the nearest point lies on a face that separates the origin from the opposite corner
    best, chosen = math.inf, -1
    for skip in range(4):
        a, b, c = 0 if skip > 0 else 1, 1 if skip > 1 else 2, 2 if skip > 2 else 3
        if _is_beyond(simplex, a, b, c, skip):
            size = _triangle(simplex, a, b, c, False)[0]
            if size < best:
                best, chosen = size, skip
    if chosen < 0:
        return 4
    a, b, c = 0 if chosen > 0 else 1, 1 if chosen > 1 else 2, 2 if chosen > 2 else 3
    return _triangle(simplex, a, b, c, True)[1]


@inlined
def _is_beyond(simplex, a, b, c, d):
    """Whether the origin and d lie on different sides of the triangle abc, or the four points are coplanar."""
    ux, uy, uz = simplex[b, 0] - simplex[a, 0], simplex[b, 1] - simplex[a, 1], simplex[b, 2] - simplex[a, 2]
    vx, vy, vz = simplex[c, 0] - simplex[a, 0], simplex[c, 1] - simplex[a, 1], simplex[c, 2] - simplex[a, 2]
    nx, ny, nz = cross(ux, uy, uz, vx, vy, vz)
    own = nx * (simplex[d, 0] - simplex[a, 0]) + ny * (simplex[d, 1] - simplex[a, 1])
    own += nz * (simplex[d, 2] - simplex[a, 2])
    origin = -(nx * simplex[a, 0] + ny * simplex[a, 1] + nz * simplex[a, 2])
    return own * origin <= 0.0


@inner
def _segment(simplex, a, b):
    """Nearest point of a segment: its squared distance and remaining rows, moved to the front."""
    ux, uy, uz = simplex[b, 0] - simplex[a, 0], simplex[b, 1] - simplex[a, 1], simplex[b, 2] - simplex[a, 2]
    length = ux * ux + uy * uy + uz * uz
    t = -(simplex[a, 0] * ux + simplex[a, 1] * uy + simplex[a, 2] * uz)
    t = t / length if length > 0.0 else 0.0
    if t <= 0.0:
        _keep(simplex, a, 0, 0, 1)
        simplex[0, WEIGHT] = 1.0
        return simplex[0, 0] ** 2 + simplex[0, 1] ** 2 + simplex[0, 2] ** 2, 1
    if t >= 1.0:
        _keep(simplex, b, 0, 0, 1)
        simplex[0, WEIGHT] = 1.0
        return simplex[0, 0] ** 2 + simplex[0, 1] ** 2 + simplex[0, 2] ** 2, 1
    _keep(simplex, a, b, 0, 2)
    simplex[0, WEIGHT], simplex[1, WEIGHT] = 1.0 - t, t
    x, y, z = _weighted(simplex, 2, DIFFERENCE)
    return x * x + y * y + z * z, 2


@inner
def _triangle(simplex, a, b, c, keeps):
    """Nearest point of a triangle to the origin: squared distance and remaining rows, moved to the front if requested.

    By Voronoi regions of its corners, edges and face (Ericson, Real-Time Collision Detection, 2005, §5.1.5).
    """
    px, py, pz = simplex[a, 0], simplex[a, 1], simplex[a, 2]
    qx, qy, qz = simplex[b, 0], simplex[b, 1], simplex[b, 2]
    rx, ry, rz = simplex[c, 0], simplex[c, 1], simplex[c, 2]
    ux, uy, uz, vx, vy, vz = qx - px, qy - py, qz - pz, rx - px, ry - py, rz - pz
    d1, d2 = -(ux * px + uy * py + uz * pz), -(vx * px + vy * py + vz * pz)
    d3, d4 = -(ux * qx + uy * qy + uz * qz), -(vx * qx + vy * qy + vz * qz)
    d5, d6 = -(ux * rx + uy * ry + uz * rz), -(vx * rx + vy * ry + vz * rz)
    # barycentric coordinates of the projection of the origin, times the squared area
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    wa, wb, wc = 0.0, 0.0, 0.0
    if d1 <= 0.0 and d2 <= 0.0:
        wa = 1.0
    elif d3 >= 0.0 and d4 <= d3:
        wb = 1.0
    elif d6 >= 0.0 and d5 <= d6:
        wc = 1.0
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        wb = d1 / (d1 - d3)
        wa = 1.0 - wb
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        wc = d2 / (d2 - d6)
        wa = 1.0 - wc
    elif va <= 0.0 and d4 >= d3 and d5 >= d6:
        wc = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        wb = 1.0 - wc
    else:
        total = va + vb + vc
        wb, wc = vb / total, vc / total
        wa = 1.0 - wb - wc
    x, y, z = wa * px + wb * qx + wc * rx, wa * py + wb * qy + wc * ry, wa * pz + wb * qz + wc * rz
    if keeps:
        simplex[a, WEIGHT], simplex[b, WEIGHT], simplex[c, WEIGHT] = wa, wb, wc
        rows = 0
        for k in range(3):
            row = a if k == 0 else b if k == 1 else c
            if simplex[row, WEIGHT] > 0.0:
                for m in range(SIMPLEX_COLUMNS):
                    simplex[rows, m] = simplex[row, m]
                rows += 1
        return x * x + y * y + z * z, rows
    return x * x + y * y + z * z, 3
