"""Distance of two convex shapes by the algorithm of Gilbert, Johnson and Keerthi (IEEE J. Robotics Automation 4, 1988).

The nearest points of A and B belong to the point of the Minkowski difference A − B nearest to the origin, which a
simplex of at most four support points approaches (`cbsim.geometry.kernels.simplex`). Whoever searches asks shapes of
its own for support points, and hands each pair to `advance`; `core_distance` does so for solids.
"""

from __future__ import annotations

import math

from cbsim.geometry.kernels.simplex import (
    DIFFERENCE,
    ENCLOSED,
    POINT_ONE,
    POINT_OTHER,
    SIMPLEX_COLUMNS,
    WEIGHT,
    reduce_simplex,
)
from cbsim.geometry.kernels.solids import CENTRE, support
from cbsim.jit import inlined, inner

__all__ = [
    "CLOSE", "DISTANCE", "KEPT_ROWS", "NEAREST_ONE", "NEAREST_TWO", "NORMAL", "SIMPLEX_ROWS", "advance",
    "core_distance", "corner_into", "weighted",
]  # fmt: skip

KEPT_ROWS = 4  # of the simplex: three rows during the search, those of the iteration before
SIMPLEX_ROWS = 7
DISTANCE, NORMAL, NEAREST_ONE, NEAREST_TWO = 0, 1, 4, 7  # columns of a result
ROUNDS = 100  # largest number of iterations; polytopes need about 10, rims of cylinders about 30
CLOSE = 1e-11  # relative tolerance of the square of the distance
ROUNDING = 4e-15  # error of the bound of the distance, as a share of the largest coordinate
OVERLAP = 1e-10  # distance that counts as an overlap, as a share of the largest coordinate: its direction is rounded
APART = 1e-6  # relative distance from which the shapes are certainly separate


@inlined
def advance(simplex, count, size, far, is_apart, close, v, a, b):
    """Add a support point to the simplex, unless it is no nearer, and reduce that to the rows that carry the nearest.

    Parameters
    ----------
    simplex : (≥ 7, 10)
        Written.
    count, size, far, is_apart : int, float, float, bool
        0, infinity, 0 and False at first, then what the call before returned.
    close : float
        Relative tolerance of the square of the distance.
    v : (float, float, float)
        Nearest point of the simplex to the origin; at first any vector from two towards one.
    a, b : (float, float, float)
        Support points of one along −v, of two along v.

    Returns
    -------
    count, size, far, is_apart
        Rows of the simplex, 0 if the shapes overlap; square of the distance; largest coordinate; whether they do not.
    is_done : bool
    """
    (vx, vy, vz), (ax, ay, az), (bx, by, bz) = v, a, b
    wx, wy, wz = ax - bx, ay - by, az - bz
    far = max(far, abs(wx) + abs(wy) + abs(wz))
    if count > 0:
        # lower bound of the distance: no point of the difference is nearer along v
        ahead = vx * wx + vy * wy + vz * wz
        # of large shapes that nearly touch, rounding of the bound is more than the tolerance of the distance
        error = close * size + ROUNDING * far * math.sqrt(size)
        if size - ahead <= error or _is_known(simplex, count, wx, wy, wz):
            return count, size, far, is_apart, True
        is_apart = is_apart or ahead > APART * size
    # the rows of this simplex are kept until the next one has proved nearer
    k = count
    for row in range(k):
        _copy(simplex, row, KEPT_ROWS + row)
    simplex[k, DIFFERENCE], simplex[k, DIFFERENCE + 1], simplex[k, DIFFERENCE + 2] = wx, wy, wz
    simplex[k, POINT_ONE], simplex[k, POINT_ONE + 1], simplex[k, POINT_ONE + 2] = ax, ay, az
    simplex[k, POINT_OTHER], simplex[k, POINT_OTHER + 1], simplex[k, POINT_OTHER + 2] = bx, by, bz
    count = reduce_simplex(simplex, k + 1)
    # the origin inside by rounding, although a plane with a gap has been found: the simplex before holds
    if count == ENCLOSED:
        return k if is_apart else 0, size, far, is_apart, True  # the rows before are unchanged
    x, y, z = weighted(simplex, count, DIFFERENCE)
    before, size = size, x * x + y * y + z * z
    if size < (OVERLAP * far) ** 2:
        return 0, size, far, is_apart, True
    if size >= before:  # no progress, by rounding of a nearly flat simplex: the one before is nearer
        for row in range(k):
            _copy(simplex, KEPT_ROWS + row, row)
        return k, size, far, is_apart, True
    return count, size, far, is_apart, False


@inlined
def weighted(simplex, count, column):
    """Point of the simplex by its weights, in three columns from one on."""
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


@inner
def corner_into(one, two, dx, dy, dz, out, row):
    """Write the corner of the Minkowski difference farthest along a direction to a row of a simplex."""
    ax, ay, az = support(one, dx, dy, dz)
    bx, by, bz = support(two, -dx, -dy, -dz)
    out[row, DIFFERENCE], out[row, DIFFERENCE + 1], out[row, DIFFERENCE + 2] = ax - bx, ay - by, az - bz
    out[row, POINT_ONE], out[row, POINT_ONE + 1], out[row, POINT_ONE + 2] = ax, ay, az
    out[row, POINT_OTHER], out[row, POINT_OTHER + 1], out[row, POINT_OTHER + 2] = bx, by, bz


@inner
def core_distance(one, two, simplex, out):
    """Find the distance of two solids' cores.

    Parameters
    ----------
    one, two : (17,)
        Solids (`fill_solid`).
    simplex : (≥ 7, 10)
        Room.
    out : (10,), out
        Distance [m], unit normal from one to two, nearest point of one, of two [m].

    Returns
    -------
    bool
        Whether the cores overlap; then `out` says nothing.
    """
    vx, vy, vz = one[CENTRE] - two[CENTRE], one[CENTRE + 1] - two[CENTRE + 1], one[CENTRE + 2] - two[CENTRE + 2]
    if vx == 0.0 and vy == 0.0 and vz == 0.0:  # concentric: any direction
        vx = 1.0
    count, size, far, is_apart = 0, math.inf, 0.0, False
    for _ in range(ROUNDS):
        a, b = support(one, -vx, -vy, -vz), support(two, vx, vy, vz)
        count, size, far, is_apart, is_done = advance(simplex, count, size, far, is_apart, CLOSE, (vx, vy, vz), a, b)
        if count == 0 or size == 0.0:  # equal points overlap too
            return True
        vx, vy, vz = weighted(simplex, count, DIFFERENCE)
        if is_done:
            break
    length = math.sqrt(vx * vx + vy * vy + vz * vz)
    out[DISTANCE], out[NORMAL], out[NORMAL + 1], out[NORMAL + 2] = length, -vx / length, -vy / length, -vz / length
    out[NEAREST_ONE], out[NEAREST_ONE + 1], out[NEAREST_ONE + 2] = weighted(simplex, count, POINT_ONE)
    out[NEAREST_TWO], out[NEAREST_TWO + 1], out[NEAREST_TWO + 2] = weighted(simplex, count, POINT_OTHER)
    return False
