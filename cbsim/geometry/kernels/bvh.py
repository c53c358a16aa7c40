"""Bounding volume hierarchies over triangles: built once per mesh in its own frame, traversed by rays and by boxes.

A tree is two tables. `boxes` (nodes, 6) [m] holds the low and the high corner of each node; `links` (nodes, 2) holds
(first triangle, count) of a leaf, or (second child, 0) of a fork, whose first child is the row after it. Triangles are
put in the order of the leaves, so that a leaf is a run of them.
"""

from __future__ import annotations

import math

import numpy as np

from cbsim.geometry.kernels.columns import HIGH_X, HIGH_Y, HIGH_Z, LOW_X, LOW_Y, LOW_Z
from cbsim.geometry.kernels.rays import ray_triangle
from cbsim.jit import inlined, inner, kernel

__all__ = ["DEPTH", "build_into", "overlaps_into", "ray_tree"]

LEAF = 4  # triangles
FIRST, COUNT = range(2)  # of links: first triangle and how many, or second child and 0
START, STOP, FORK, LEVEL = range(4)  # of a build: triangles from … to, the fork to link back to, its depth
BINS = 16
DEPTH = 96  # rows of a traversal's stack: SAH_DEPTH, and the halvings of 2⁴⁸ triangles below it
SAH_DEPTH = 48  # deeper nodes are split in halves: a chain of unbalanced splits would make the tree too deep
MARGIN = 1e-6  # enlargement of boxes relative to the mesh, far more than the rounding errors of hits


@inner
def bounds_into(corners, order, start, stop, box, spread):
    """Write the bounds of triangles order[start:stop] to `box` (6,), and those of their centres to `spread` (6,)."""
    for k in range(3):
        box[k] = spread[k] = math.inf
        box[HIGH_X + k] = spread[HIGH_X + k] = -math.inf
    for i in range(start, stop):
        t = order[i]
        for k in range(3):
            a, b, c = corners[t, 0, k], corners[t, 1, k], corners[t, 2, k]
            low, high = min(a, b, c), max(a, b, c)
            box[k], box[HIGH_X + k] = min(box[k], low), max(box[HIGH_X + k], high)
            middle = 0.5 * (low + high)
            spread[k], spread[HIGH_X + k] = min(spread[k], middle), max(spread[HIGH_X + k], middle)


@inner
def bin_of(corners, t, axis, low, width):
    """Which of the bins along an axis the centre of a triangle falls in."""
    a, b, c = corners[t, 0, axis], corners[t, 1, axis], corners[t, 2, axis]
    middle = 0.5 * (min(a, b, c) + max(a, b, c))
    return min(int((middle - low) / width * BINS), BINS - 1)  # the largest centre belongs to the last bin


@inner
def area_of(box):
    """Half the surface of a box (6,), 0 if it is empty."""
    x, y, z = box[HIGH_X] - box[LOW_X], box[HIGH_Y] - box[LOW_Y], box[HIGH_Z] - box[LOW_Z]
    return x * y + y * z + z * x if x >= 0.0 else 0.0


@inner
def best_split(corners, order, start, stop, spread, tallies, bounds, behind):
    """Choose (axis, bin) of the cheapest split by the surface area heuristic (Wald 2007), axis -1 if there is none."""
    best, best_axis, best_bin = math.inf, -1, 0
    for axis in range(3):
        low, width = spread[axis], spread[HIGH_X + axis] - spread[axis]
        # all centres are equal along this axis
        if not width > 0.0:
            continue
        tallies[:] = 0
        bounds[:, :HIGH_X], bounds[:, HIGH_X:] = math.inf, -math.inf
        for i in range(start, stop):
            t = order[i]
            b = bin_of(corners, t, axis, low, width)
            tallies[b] += 1
            for k in range(3):
                for c in range(3):
                    bounds[b, k] = min(bounds[b, k], corners[t, c, k])
                    bounds[b, HIGH_X + k] = max(bounds[b, HIGH_X + k], corners[t, c, k])
        # cost of a split: numbers of triangles times areas of both sides; sweep from the end, then from the start
        behind[BINS - 1] = 0.0
        # the row behind the bins, empty so far, is scratch
        box = bounds[BINS]
        count = 0
        for b in range(BINS - 1, 0, -1):
            count += tallies[b]
            for k in range(3):
                box[k], box[HIGH_X + k] = min(box[k], bounds[b, k]), max(box[HIGH_X + k], bounds[b, HIGH_X + k])
            behind[b - 1] = count * area_of(box)
        box[:HIGH_X], box[HIGH_X:] = math.inf, -math.inf
        count = 0
        for b in range(BINS - 1):
            count += tallies[b]
            for k in range(3):
                box[k], box[HIGH_X + k] = min(box[k], bounds[b, k]), max(box[HIGH_X + k], bounds[b, HIGH_X + k])
            cost = count * area_of(box) + behind[b]
            if 0 < count < stop - start and cost < best:
                best, best_axis, best_bin = cost, axis, b
    return best_axis, best_bin


@kernel
def divide(corners, order, start, stop, axis, last, spread, spare):
    """Partition triangles stably by bins up to `last`; return where the others begin."""
    low, width = spread[axis], spread[HIGH_X + axis] - spread[axis]
    front, back = start, 0
    for i in range(start, stop):
        t = order[i]
        if bin_of(corners, t, axis, low, width) <= last:
            order[front] = t
            front += 1
        else:
            spare[back] = t
            back += 1
    for i in range(back):
        order[front + i] = spare[i]
    return front


@kernel
def build_into(corners, order, boxes, links):
    """Build the tree of triangles (n, 3, 3) [m]; the same triangles give the same tree.

    Parameters
    ----------
    corners : (n, 3, 3) [m]
    order : (n,) int64, out
        Triangles in the order of the leaves.
    boxes, links : (2 n, 6) [m], (2 n, 2) int64, out
        Of the nodes; the first is the root.

    Returns
    -------
    int
        Number of nodes.
    """
    n = corners.shape[0]
    for i in range(n):
        order[i] = i
    box, spread = np.empty(6), np.empty(6)
    tallies, bounds, behind = np.empty(BINS, np.int64), np.empty((BINS + 1, 6)), np.empty(BINS)
    spare, stack = np.empty(n, np.int64), np.empty((DEPTH, 4), np.int64)
    margin, count, top = 0.0, 0, 1
    stack[0, START], stack[0, STOP], stack[0, FORK], stack[0, LEVEL] = 0, n, -1, 0
    while top > 0:
        top -= 1
        start, stop, fork, depth = stack[top, START], stack[top, STOP], stack[top, FORK], stack[top, LEVEL]
        bounds_into(corners, order, start, stop, box, spread)
        if count == 0:
            margin = MARGIN * max(box[HIGH_X] - box[LOW_X], box[HIGH_Y] - box[LOW_Y], box[HIGH_Z] - box[LOW_Z])
        for k in range(3):
            boxes[count, k], boxes[count, HIGH_X + k] = box[k] - margin, box[HIGH_X + k] + margin
        if fork >= 0:
            links[fork, FIRST] = count
        node = count
        count += 1
        if stop - start <= LEAF:
            links[node, FIRST], links[node, COUNT] = start, stop - start
            continue
        links[node, COUNT] = 0
        # the first child is the next node; the second is linked when it is popped
        middle, axis = (start + stop) // 2, -1
        if depth < SAH_DEPTH:
            axis, last = best_split(corners, order, start, stop, spread, tallies, bounds, behind)
            if axis >= 0:
                middle = divide(corners, order, start, stop, axis, last, spread, spare)
        stack[top, START], stack[top, STOP], stack[top, FORK], stack[top, LEVEL] = middle, stop, node, depth + 1
        top += 1
        stack[top, START], stack[top, STOP], stack[top, FORK], stack[top, LEVEL] = start, middle, -1, depth + 1
        top += 1
    return count


@inlined
def enter(boxes, node, px, py, pz, ix, iy, iz):
    """Distance [m] at which a ray with inverse direction i enters a node, 0 from inside, infinity if it misses."""
    ax, bx = (boxes[node, LOW_X] - px) * ix, (boxes[node, HIGH_X] - px) * ix
    ay, by = (boxes[node, LOW_Y] - py) * iy, (boxes[node, HIGH_Y] - py) * iy
    az, bz = (boxes[node, LOW_Z] - pz) * iz, (boxes[node, HIGH_Z] - pz) * iz
    near = max(min(ax, bx), min(ay, by), min(az, bz), 0.0)
    far = min(max(ax, bx), max(ay, by), max(az, bz))
    return near if near <= far else math.inf


@inlined
def inverse_of(d):
    """Invert a direction component; those too small to divide by get a huge inverse, which gives the same hits."""
    return 1.0 / d if abs(d) > 1e-200 else 1e200


@kernel
def ray_tree(px, py, pz, dx, dy, dz, limit, triangles, boxes, links, root, stack):
    """First hit of a ray with the triangles of a tree that is nearer than `limit` [m], or infinity.

    Parameters
    ----------
    px, py, pz, dx, dy, dz : float
        Origin [m] and unit direction in the mesh's frame.
    limit : float
        Hits beyond it do not matter [m].
    triangles, boxes, links : (t, 3, 3) [m], (nodes, 6) [m], (nodes, 2)
    root : int
        First node of the tree.
    stack : (DEPTH,) int64, out
        Scratch.
    """
    ix, iy, iz = inverse_of(dx), inverse_of(dy), inverse_of(dz)
    best, top, node = math.inf, 0, root
    if not enter(boxes, root, px, py, pz, ix, iy, iz) <= limit:
        return best
    while True:
        if links[node, COUNT] > 0:
            for t in range(links[node, FIRST], links[node, FIRST] + links[node, COUNT]):
                hit = ray_triangle(px, py, pz, dx, dy, dz, triangles[t, 0], triangles[t, 1], triangles[t, 2])
                best = min(best, hit)
            limit = min(limit, best)
        else:
            one, two = node + 1, links[node, FIRST]
            first = enter(boxes, one, px, py, pz, ix, iy, iz)
            second = enter(boxes, two, px, py, pz, ix, iy, iz)
            # visit the nearer child first, so that its hits prune the farther one
            if second < first:
                one, two, first, second = two, one, second, first
            if first <= limit and first < math.inf:
                if second <= limit and second < math.inf:
                    stack[top] = two
                    top += 1
                node = one
                continue
        node = -1
        while top > 0 and node < 0:
            top -= 1
            # hits since it was put there may have come nearer
            if enter(boxes, stack[top], px, py, pz, ix, iy, iz) <= limit:
                node = stack[top]
        if node < 0:
            return best


@kernel
def overlaps_into(low, high, triangles, boxes, links, root, stack, out):
    """Collect the triangles of a tree whose bounds meet a box in the mesh's frame.

    Parameters
    ----------
    low, high : (3,) [m]
        Corners of the box.
    triangles, boxes, links, root : as `ray_tree`
    stack : (DEPTH,) int64, out
        Scratch.
    out : (capacity,) int64, out
        Rows of the triangles in ascending order; those that find no room are counted only.

    Returns
    -------
    int
        How many there are.
    """
    count, top = 0, 1
    stack[0] = root
    while top > 0:
        top -= 1
        node = stack[top]
        apart = False
        for k in range(3):
            apart = apart or boxes[node, k] > high[k] or boxes[node, 3 + k] < low[k]
        if apart:
            continue
        # a fork, whose first child is the next node; the link is its second
        if links[node, COUNT] == 0:
            # the first child is popped first, so that triangles are found in ascending order
            stack[top], stack[top + 1] = links[node, FIRST], node + 1
            top += 2
            continue
        for t in range(links[node, FIRST], links[node, FIRST] + links[node, COUNT]):
            meets = True
            for k in range(3):
                a, b, c = triangles[t, 0, k], triangles[t, 1, k], triangles[t, 2, k]
                meets = meets and min(a, b, c) <= high[k] and max(a, b, c) >= low[k]
            if meets:
                if count < out.shape[0]:
                    out[count] = t
                count += 1
    return count
