"""Distance of two convex solids by the algorithm of Gilbert, Johnson and Keerthi (IEEE J. Robotics Automation 4, 1988).

The nearest points of A and B belong to the point of the Minkowski difference A − B nearest to the origin, which a
simplex of at most four support points approaches. A row (9,) of a simplex holds the difference, the point of A, and the
point of B. The loop ends when the lower bound by the newest support plane agrees with the distance.
"""

from __future__ import annotations

import math

from cbsim.geometry.kernels.solids import support
from cbsim.jit import inner

__all__ = ["core_distance"]

ROUNDS = 100  # largest number of iterations; polytopes need about 10, rims of cylinders about 30
GAP = 1e-11  # [m] between the distance and its lower bound
RESTARTS = 4
INSIDE = 1e-13  # share of the solids' extent below which a distance is an overlap


@inner
def corner_into(one, two, dx, dy, dz, out, row):
    """Write the corner (9,) of the Minkowski difference farthest along a direction to a row."""
    ax, ay, az = support(one, dx, dy, dz)
    bx, by, bz = support(two, -dx, -dy, -dz)
    out[row, 0], out[row, 1], out[row, 2] = ax - bx, ay - by, az - bz
    out[row, 3], out[row, 4], out[row, 5] = ax, ay, az
    out[row, 6], out[row, 7], out[row, 8] = bx, by, bz


@inner
def on_segment(c, i, j):
    """Weights of the point of the segment between rows i and j nearest to the origin."""
    ex, ey, ez = c[j, 0] - c[i, 0], c[j, 1] - c[i, 1], c[j, 2] - c[i, 2]
    square = ex * ex + ey * ey + ez * ez
    along = -(c[i, 0] * ex + c[i, 1] * ey + c[i, 2] * ez)
    if square <= 0.0 or along <= 0.0:
        return 1.0, 0.0
    if along >= square:
        return 0.0, 1.0
    return 1.0 - along / square, along / square


@inner
def on_triangle(c, i, j, k, x, y, z):
    """Weights of the point of the triangle of rows i, j, k nearest to the point x, y, z (Ericson 2005, §5.1.5)."""
    # Voronoi regions in turn: corners i, j, edge ij, corner k, edges ik and jk, else the interior
    ax, ay, az = c[i, 0] - x, c[i, 1] - y, c[i, 2] - z
    ux, uy, uz = c[j, 0] - c[i, 0], c[j, 1] - c[i, 1], c[j, 2] - c[i, 2]
    vx, vy, vz = c[k, 0] - c[i, 0], c[k, 1] - c[i, 1], c[k, 2] - c[i, 2]
    d1, d2 = -(ux * ax + uy * ay + uz * az), -(vx * ax + vy * ay + vz * az)
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0
    ax, ay, az = c[j, 0] - x, c[j, 1] - y, c[j, 2] - z
    d3, d4 = -(ux * ax + uy * ay + uz * az), -(vx * ax + vy * ay + vz * az)
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0 and d1 > d3:
        part = d1 / (d1 - d3)
        return 1.0 - part, part, 0.0
    ax, ay, az = c[k, 0] - x, c[k, 1] - y, c[k, 2] - z
    d5, d6 = -(ux * ax + uy * ay + uz * az), -(vx * ax + vy * ay + vz * az)
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0 and d2 > d6:
        part = d2 / (d2 - d6)
        return 1.0 - part, 0.0, part
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0 and (d4 - d3) + (d5 - d6) > 0.0:
        part = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - part, part
    total = va + vb + vc
    if total <= 0.0:  # no area: any corner will do, as the next iteration finds a better simplex
        return 1.0, 0.0, 0.0
    return va / total, vb / total, vc / total


@inner
def plane_of(c, i, j, k):
    """Return the normal of the triangle of rows i, j, k, with the length of twice its area."""
    ux, uy, uz = c[j, 0] - c[i, 0], c[j, 1] - c[i, 1], c[j, 2] - c[i, 2]
    vx, vy, vz = c[k, 0] - c[i, 0], c[k, 1] - c[i, 1], c[k, 2] - c[i, 2]
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


@inner
def hides_origin(c, i, j, k, m):
    """Whether the origin is on the same side of the plane of rows i, j, k as row m; never for a flat tetrahedron."""
    nx, ny, nz = plane_of(c, i, j, k)
    origin = -(c[i, 0] * nx + c[i, 1] * ny + c[i, 2] * nz)
    other = (c[m, 0] - c[i, 0]) * nx + (c[m, 1] - c[i, 1]) * ny + (c[m, 2] - c[i, 2]) * nz
    return origin * other > 0.0


@inner
def on_tetrahedron(simplex, weights):
    """Write the weights (4,) of the point of a tetrahedron nearest to the origin; say whether the origin is inside."""
    best, inside = math.inf, True
    # the origin is inside if no face separates it from the opposite corner; else the nearest point is on such a face
    for skip in range(4):
        i, j, k = (1 if skip == 0 else 0), (2 if skip <= 1 else 1), (3 if skip <= 2 else 2)
        if hides_origin(simplex, i, j, k, skip):
            continue
        inside = False
        p, q, r = on_triangle(simplex, i, j, k, 0.0, 0.0, 0.0)
        square = 0.0
        for axis in range(3):
            part = p * simplex[i, axis] + q * simplex[j, axis] + r * simplex[k, axis]
            square += part * part
        if square < best:
            best = square
            weights[i], weights[j], weights[k], weights[skip] = p, q, r, 0.0
    return inside


@inner
def reduce_simplex(simplex, count, weights):
    """Find the nearest point of a simplex and drop corners of zero weight; return their number, 5 for inside."""
    if count == 1:
        weights[0] = 1.0
    elif count == 2:
        weights[0], weights[1] = on_segment(simplex, 0, 1)
    elif count == 3:
        weights[0], weights[1], weights[2] = on_triangle(simplex, 0, 1, 2, 0.0, 0.0, 0.0)
    elif on_tetrahedron(simplex, weights):
        return 5
    kept = 0
    for k in range(count):
        if weights[k] > 0.0:
            if kept != k:
                for c in range(9):
                    simplex[kept, c] = simplex[k, c]
                weights[kept] = weights[k]
            kept += 1
    return kept


@inner
def core_distance(one, two, simplex, weights, out):
    """Find the distance of two solids' cores.

    Parameters
    ----------
    one, two : (17,)
        Solids (`fill_solid`).
    simplex, weights : (4, 9), (4,)
        Room.
    out : (10,), out
        Distance [m], unit normal from one to two, nearest point of one, of two [m].

    Returns
    -------
    bool
        Whether the cores overlap; then `out` says nothing.
    """
    dx, dy, dz = one[5] - two[5], one[6] - two[6], one[7] - two[7]
    if dx == 0.0 and dy == 0.0 and dz == 0.0:
        dx = 1.0
    corner_into(one, two, -dx, -dy, -dz, simplex, 0)
    weights[0] = 1.0
    count, scale = 1, abs(dx) + abs(dy) + abs(dz)
    before, best, restarts = math.inf, math.inf, 0
    for _ in range(ROUNDS):
        vx = vy = vz = 0.0
        for k in range(count):
            vx += weights[k] * simplex[k, 0]
            vy += weights[k] * simplex[k, 1]
            vz += weights[k] * simplex[k, 2]
            scale = max(scale, abs(simplex[k, 0]) + abs(simplex[k, 1]) + abs(simplex[k, 2]))
        length = math.sqrt(vx * vx + vy * vy + vz * vz)
        if length <= INSIDE * scale:
            return True
        # rounding may increase the distance in late iterations: keep the best
        if length < best:
            best = length
            write_nearest(simplex, weights, count, vx, vy, vz, length, out)
        corner_into(one, two, -vx, -vy, -vz, simplex, count)
        bound = (simplex[count, 0] * vx + simplex[count, 1] * vy + simplex[count, 2] * vz) / length
        if length - bound <= GAP + 1e-14 * scale:
            break
        if length >= before:  # no progress, by rounding of slivers at a rim: restart from the newest support point
            restarts += 1
            if restarts > RESTARTS:
                break
            for c in range(9):
                simplex[0, c] = simplex[count, c]
            weights[0], count, before = 1.0, 1, math.inf
            continue
        before = length
        count = reduce_simplex(simplex, count + 1, weights)
        if count == 5:
            return True
    return False


@inner
def write_nearest(simplex, weights, count, vx, vy, vz, length, out):
    """Write distance, normal and both nearest points to out (10,)."""
    out[0], out[1], out[2], out[3] = length, -vx / length, -vy / length, -vz / length
    for c in range(6):
        out[4 + c] = 0.0
        for k in range(count):
            out[4 + c] += weights[k] * simplex[k, 3 + c]
