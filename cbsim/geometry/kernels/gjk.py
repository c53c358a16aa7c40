"""Distance of two convex solids by the algorithm of Gilbert, Johnson and Keerthi (IEEE J. Robotics Automation 4, 1988).

The nearest points of A and B belong to the point of the Minkowski difference A − B nearest to the origin, which a
simplex of at most four support points approaches (`cbsim.geometry.kernels.simplex`). The loop ends when the lower bound
by the newest support plane agrees with the distance.
"""

from __future__ import annotations

import math

from cbsim.geometry.kernels.simplex import ENCLOSED, POINT_ONE, SIMPLEX_COLUMNS, WEIGHT, reduce_simplex
from cbsim.geometry.kernels.solids import support
from cbsim.jit import inner

__all__ = ["core_distance"]

ROUNDS = 100  # largest number of iterations; polytopes need about 10, rims of cylinders about 30
GAP = 1e-11  # [m] between the distance and its lower bound
RESTARTS = 4
INSIDE = 1e-13  # share of the solids' extent below which a distance is an overlap


@inner
def corner_into(one, two, dx, dy, dz, out, row):
    """Write the corner of the Minkowski difference farthest along a direction to a row of a simplex."""
    ax, ay, az = support(one, dx, dy, dz)
    bx, by, bz = support(two, -dx, -dy, -dz)
    out[row, 0], out[row, 1], out[row, 2] = ax - bx, ay - by, az - bz
    out[row, 3], out[row, 4], out[row, 5] = ax, ay, az
    out[row, 6], out[row, 7], out[row, 8] = bx, by, bz


@inner
def core_distance(one, two, simplex, out):
    """Find the distance of two solids' cores.

    Parameters
    ----------
    one, two : (17,)
        Solids (`fill_solid`).
    simplex : (4, 10)
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
    # the first point lies towards the origin
    corner_into(one, two, -dx, -dy, -dz, simplex, 0)
    simplex[0, WEIGHT] = 1.0
    count, scale = 1, abs(dx) + abs(dy) + abs(dz)
    before, best, restarts = math.inf, math.inf, 0
    for _ in range(ROUNDS):
        vx = vy = vz = 0.0
        for k in range(count):
            vx += simplex[k, WEIGHT] * simplex[k, 0]
            vy += simplex[k, WEIGHT] * simplex[k, 1]
            vz += simplex[k, WEIGHT] * simplex[k, 2]
            scale = max(scale, abs(simplex[k, 0]) + abs(simplex[k, 1]) + abs(simplex[k, 2]))
        length = math.sqrt(vx * vx + vy * vy + vz * vz)
        if length <= INSIDE * scale:
            return True
        # rounding may increase the distance in late iterations: keep the best
        if length < best:
            best = length
            write_nearest(simplex, count, vx, vy, vz, length, out)
        corner_into(one, two, -vx, -vy, -vz, simplex, count)
        # no point of the difference is nearer along v than the newest
        bound = (simplex[count, 0] * vx + simplex[count, 1] * vy + simplex[count, 2] * vz) / length
        if length - bound <= GAP + 1e-14 * scale:
            break
        if length >= before:  # no progress, by rounding of slivers at a rim: restart from the newest support point
            restarts += 1
            if restarts > RESTARTS:
                break
            for c in range(SIMPLEX_COLUMNS):
                simplex[0, c] = simplex[count, c]
            simplex[0, WEIGHT], count, before = 1.0, 1, math.inf
            continue
        before = length
        count = reduce_simplex(simplex, count + 1)
        if count == ENCLOSED:
            return True
    return False


@inner
def write_nearest(simplex, count, vx, vy, vz, length, out):
    """Write distance, normal and both nearest points to out (10,)."""
    out[0], out[1], out[2], out[3] = length, -vx / length, -vy / length, -vz / length
    for c in range(6):
        out[4 + c] = 0.0
        for k in range(count):
            out[4 + c] += simplex[k, WEIGHT] * simplex[k, POINT_ONE + c]
