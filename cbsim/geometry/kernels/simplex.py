"""Point of a simplex nearest to the origin, for the algorithm of Gilbert, Johnson and Keerthi.

A row of a simplex holds a point of the Minkowski difference of two convex shapes A and B, the points of A and of B that
it is made of, and its weight in the nearest point. Vehicles and props (`cbsim.geometry.kernels.gjk`) and colliders of
mechanisms (`cbsim.dynamics.detection.kernels.nearest`) share it; they differ in how they find support points, and in
what they do where rounding ends the search.
"""

from __future__ import annotations

import math

from cbsim.jit import inner

__all__ = [
    "DIFFERENCE", "ENCLOSED", "POINT_ONE", "POINT_OTHER", "SIMPLEX_COLUMNS", "WEIGHT", "on_triangle", "plane_of",
    "reduce_simplex",
]  # fmt: skip

DIFFERENCE, POINT_ONE, POINT_OTHER, WEIGHT = 0, 3, 6, 9
SIMPLEX_COLUMNS = 10
ENCLOSED = 4  # result of a tetrahedron that holds the origin; at most three rows span any other nearest point


@inner
def on_segment(c, i, j):
    """Weights of the point of the segment between rows i and j nearest to the origin."""
    ex, ey, ez = c[j, 0] - c[i, 0], c[j, 1] - c[i, 1], c[j, 2] - c[i, 2]
    square = ex * ex + ey * ey + ez * ez
    along = -(c[i, 0] * ex + c[i, 1] * ey + c[i, 2] * ez)
    # beyond an end, the end itself; a weight of exactly 0 lets `reduce_simplex` drop the row
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
    # barycentric coordinates of the projection, times the squared area: vc of row k, vb of row j, va of row i
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
    wb, wc = vb / total, vc / total
    return 1.0 - wb - wc, wb, wc


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
    # a product of 0, of a flat tetrahedron, says no: all its faces are searched then
    other = (c[m, 0] - c[i, 0]) * nx + (c[m, 1] - c[i, 1]) * ny + (c[m, 2] - c[i, 2]) * nz
    return origin * other > 0.0


@inner
def on_tetrahedron(c):
    """Set the weights of the point of a tetrahedron nearest to the origin; say whether the origin is inside."""
    best, inside = math.inf, True
    # the origin is inside if no face separates it from the opposite corner; else the nearest point is on such a face
    for skip in range(4):
        # the three rows other than `skip`
        # of several faces that see the origin, the nearest point is on the nearest
        i, j, k = (1 if skip == 0 else 0), (2 if skip <= 1 else 1), (3 if skip <= 2 else 2)
        if hides_origin(c, i, j, k, skip):
            continue
        inside = False
        p, q, r = on_triangle(c, i, j, k, 0.0, 0.0, 0.0)
        square = 0.0
        for axis in range(3):
            part = p * c[i, axis] + q * c[j, axis] + r * c[k, axis]
            square += part * part
        if square < best:
            best = square
            c[i, WEIGHT], c[j, WEIGHT], c[k, WEIGHT], c[skip, WEIGHT] = p, q, r, 0.0
    return inside


@inner
def reduce_simplex(simplex, count):
    """Find the point of a simplex nearest to the origin.

    Parameters
    ----------
    simplex : (>= 4, 10)
        Rows; weights are set, and rows of weight zero dropped.
    count : int
        Number of rows, 1 to 4.

    Returns
    -------
    int
        How many rows are left; `ENCLOSED` if the origin is inside, and all rows are left as they are.
    """
    if count == 1:
        simplex[0, WEIGHT] = 1.0
    elif count == 2:
        simplex[0, WEIGHT], simplex[1, WEIGHT] = on_segment(simplex, 0, 1)
    elif count == 3:
        simplex[0, WEIGHT], simplex[1, WEIGHT], simplex[2, WEIGHT] = on_triangle(simplex, 0, 1, 2, 0.0, 0.0, 0.0)
    elif on_tetrahedron(simplex):
        return ENCLOSED
    # only rows that carry the nearest point go on: at most three, so that there is room for the next support point
    kept = 0
    for k in range(count):
        if simplex[k, WEIGHT] > 0.0:
            if kept != k:
                for c in range(SIMPLEX_COLUMNS):
                    simplex[kept, c] = simplex[k, c]
            kept += 1
    return kept
