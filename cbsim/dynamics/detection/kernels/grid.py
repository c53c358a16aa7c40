"""Broad phase: pairs of colliders with overlapping boxes, found by a uniform grid in linear time.

Cells are as large as the largest of the small colliders, so that each is tested against its own cell and the 26 around
it; much larger ones (grounds, walls) are tested against all.
"""

from __future__ import annotations

from cbsim.dynamics.detection.kernels.columns import CANDIDATES, FULL, GROUP, HIGH, LINK, LOW, SOLID, UNMOVED
from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner

__all__ = ["find_candidates"]

LARGE = 4.0  # multiple of the geometric mean of all extents from which a collider is large


@inlined
def _overlap(placed, i, j):
    for k in range(3):
        if placed[i, LOW + k] > placed[j, HIGH + k] or placed[j, LOW + k] > placed[i, HIGH + k]:
            return False
    return True


@inner
def _add(colliders, i, j):
    """Add a candidate pair, the lower number first."""
    collider_link = colliders.collider_link
    b, q = collider_link[i, LINK], collider_link[j, LINK]
    # no pair: of one body, or apart; neither can give way; groups; links that never collide
    if b == q or not _overlap(colliders.placed, i, j):
        return
    if collider_link[i, UNMOVED] != 0 and collider_link[j, UNMOVED] != 0:
        return
    if not (collider_link[i, GROUP] & collider_link[j, SOLID] and collider_link[j, GROUP] & collider_link[i, SOLID]):
        return
    low, high = min(b, q), max(b, q)
    if low >= 0 and _holds(colliders.apart, low * len(colliders.mark) + high):
        return
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
def _bucket(x, y, z, size):
    return ((x * 73856093) ^ (y * 19349663) ^ (z * 83492791)) & (size - 1)


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
    placed, cell, start, item = colliders.placed, colliders.cell, colliders.start, colliders.item
    n, buckets = colliders.colliders, len(start) - 1
    colliders.found[CANDIDATES] = 0
    total, counted = 0.0, 0
    for i in range(n):
        # planes are infinite, points have no extent: both are left out of the mean
        extent = _extent(placed, i)
        if 0.0 < extent < math.inf:
            total += math.log(extent)
            counted += 1
    side = LARGE * math.exp(total / max(counted, 1))
    for k in range(len(start)):
        start[k] = 0
    for i in range(n):
        if _extent(placed, i) > side:
            cell[i, 3] = -1
            continue
        for k in range(3):
            cell[i, k] = math.floor(0.5 * (placed[i, LOW + k] + placed[i, HIGH + k]) / side)
        cell[i, 3] = _bucket(cell[i, 0], cell[i, 1], cell[i, 2], buckets)
        start[cell[i, 3] + 1] += 1
    # counting sort by bucket: numbers, sums, items from the back so that equal ones keep their order
    for k in range(buckets):
        start[k + 1] += start[k]
    for i in range(n - 1, -1, -1):
        if cell[i, 3] >= 0:  # afterwards bucket k is start[k + 1] … start[k + 2]
            start[cell[i, 3] + 1] -= 1
            item[start[cell[i, 3] + 1]] = i
    _pair_up(colliders, n, buckets)


@inner
def _pair_up(colliders, n, buckets):
    cell, start, item = colliders.cell, colliders.start, colliders.item
    small = 0
    for i in range(n):
        small += cell[i, 3] >= 0
    for i in range(n):
        # of two large ones the first adds the pair; small ones find each other below
        if cell[i, 3] < 0:
            for j in range(n):
                if cell[j, 3] >= 0 or j > i:
                    _add(colliders, i, j)
            continue
        for dx in range(-1, 2):
            for dy in range(-1, 2):
                for dz in range(-1, 2):
                    x, y, z = cell[i, 0] + dx, cell[i, 1] + dy, cell[i, 2] + dz
                    # bucket k begins at start[k + 1], and the last one ends where the small ones do
                    k = _bucket(x, y, z, buckets)
                    end = start[k + 2] if k + 1 < buckets else small
                    for m in range(start[k + 1], end):
                        j = item[m]
                        # cells share buckets
                        if j > i and cell[j, 0] == x and cell[j, 1] == y and cell[j, 2] == z:
                            _add(colliders, i, j)
