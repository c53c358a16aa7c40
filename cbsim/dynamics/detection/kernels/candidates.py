"""Broad phase: pairs of colliders with overlapping boxes, found by a uniform grid in linear time.

Cells are as large as the largest of the small colliders, so that each is tested against its own cell and the 26 around
it; much larger ones (grounds, walls) are tested against all.
"""

from __future__ import annotations

from cbsim.dynamics.detection.kernels.columns import CANDIDATES, FULL, GROUP, HIGH, LINK, LOW, SOLID, UNMOVED
from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.grid import BUCKET, NO_BUCKET, near_into, overlap, sort_into_buckets
from cbsim.jit import inlined, inner

__all__ = ["find_candidates"]

LARGE = 4.0  # multiple of the geometric mean of all extents from which a collider is large


@inner
def _add(colliders, i, j):
    """Add a candidate pair whose boxes overlap, the lower number first."""
    collider_link = colliders.collider_link
    b, q = collider_link[i, LINK], collider_link[j, LINK]
    # no pair: of one body; neither can give way; groups; links that never collide
    if b == q or (collider_link[i, UNMOVED] != 0 and collider_link[j, UNMOVED] != 0):
        return
    if not (collider_link[i, GROUP] & collider_link[j, SOLID] and collider_link[j, GROUP] & collider_link[i, SOLID]):
        return
    low, high = min(b, q), max(b, q)
    if low >= 0 and _holds(colliders.apart, low * len(colliders.mark) + high):
        return
    # out of room: the caller enlarges the tables and detects again
    n = colliders.found[CANDIDATES]
    if n >= len(colliders.candidate):
        colliders.found[FULL] = 1
        return
    colliders.candidate[n, 0], colliders.candidate[n, 1] = min(i, j), max(i, j)
    colliders.found[CANDIDATES] = n + 1


@inlined
def _holds(keys, key):
    """Whether a sorted list contains a key."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < len(keys) and keys[low] == key


@inlined
def _extent(placed, i):
    return max(
        placed[i, HIGH] - placed[i, LOW],
        placed[i, HIGH + 1] - placed[i, LOW + 1],
        placed[i, HIGH + 2] - placed[i, LOW + 2],
    )


@inner
def find_candidates(colliders):
    """Write the pairs whose boxes overlap to ``colliders.candidate``, in an order that depends on positions only."""
    placed, cells, near, n = colliders.placed, colliders.grid.cells, colliders.grid.near, colliders.colliders
    colliders.found[CANDIDATES] = 0
    total, counted = 0.0, 0
    for i in range(n):
        # planes are infinite, points have no extent: both are left out of the mean
        extent = _extent(placed, i)
        if 0.0 < extent < math.inf:
            total += math.log(extent)
            counted += 1
    # the geometric mean: one ground of a kilometre must not make the cells of a pile as large as itself
    side = LARGE * math.exp(total / max(counted, 1))
    for i in range(n):
        cells[i, BUCKET] = NO_BUCKET if _extent(placed, i) > side else 0
        if cells[i, BUCKET] != NO_BUCKET:
            for k in range(3):
                cells[i, k] = math.floor(0.5 * (placed[i, LOW + k] + placed[i, HIGH + k]) / side)
    sort_into_buckets(colliders.grid, placed, LOW, n)
    for i in range(n):
        # of two large ones the first adds the pair; small ones find each other
        if cells[i, BUCKET] == NO_BUCKET:
            for j in range(n):
                if (cells[j, BUCKET] != NO_BUCKET or j > i) and overlap(placed, i, LOW, placed, j, LOW, 3):
                    _add(colliders, i, j)
            continue
        x, y, z = cells[i, 0], cells[i, 1], cells[i, 2]
        for m in range(near_into(colliders.grid, placed, i, LOW, x - 1, x + 1, y - 1, y + 1, z - 1, z + 1)):
            if near[m] > i:
                _add(colliders, i, near[m])
