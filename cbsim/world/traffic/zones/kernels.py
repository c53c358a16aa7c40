"""Search of ways through a zone: all poses that a car can come to in one gear, and the way on from one of them.

The search is Dijkstra's over a lattice of poses, of which each cell keeps the continuous pose that it was first reached
with (hybrid A* without a heuristic: Dolgov, Thrun, Montemerlo and Diebel 2010, Int. J. Robotics Research 29, 485). Ways
on are Dubins paths. A car is taken as four discs.
"""

from __future__ import annotations

import numpy as np

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.arc_paths import advance, dubins_into
from cbsim.jit import inner, kernel

__all__ = ["BENDS", "HEADINGS", "connect", "grow_tree", "stays_clear"]

HEADINGS = 36  # of the lattice
BENDS = 5  # curvatures of a step of the search
STEP = 1.5  # [m] of the search
SAMPLE = 0.3  # [m] between poses that are tested
NEAR, CLOSE = 0.8, 0.6  # [m] from obstacles within which a way is dearer, and by how much of its length
SWERVE = 0.5  # [m] that a change of curvature by the largest one costs
TRIED = 800  # poses from which a way on is tried


@inner
def clearance(field, frame, discs, x, y, heading):
    """Least distance of the discs of a car, at a pose of its rear axle, from what is in the way [m].

    Parameters
    ----------
    field : (columns, rows) [m]
        Distance of each cell from what is in the way.
    frame : tuple of float
        West, south, and size of a cell [m].
    discs : (k,) [m]
        Distances of their centres ahead of the rear axle, and their radius last.
    """
    west, south, cell = frame
    sine, cosine, least = math.sin(heading), math.cos(heading), math.inf
    for k in range(discs.shape[0] - 1):
        column = int(math.floor((x - discs[k] * sine - west) / cell + 0.5))
        row = int(math.floor((y + discs[k] * cosine - south) / cell + 0.5))
        if column < 0 or row < 0 or column >= field.shape[0] or row >= field.shape[1]:
            return -1.0
        least = min(least, field[column, row])
    return least - discs[discs.shape[0] - 1]


@inner
def arc_clearance(field, frame, discs, x, y, heading, bend, length):
    """Least clearance along an arc from a pose; negative where something is in the way [m]."""
    count, least = max(1, int(math.ceil(abs(length) / SAMPLE))), math.inf
    for k in range(1, count + 1):
        px, py, ph = advance(x, y, heading, bend, length * k / count)
        least = min(least, clearance(field, frame, discs, px, py, ph))
        if least < 0.0:
            return least
    return least


@kernel
def stays_clear(pose, arcs, field, frame, discs):
    """Whether a car that drives arcs (n, 2) from a pose (3,) touches nothing."""
    x, y, heading = pose[0], pose[1], pose[2]
    if clearance(field, frame, discs, x, y, heading) < 0.0:
        return False
    for k in range(arcs.shape[0]):
        if arc_clearance(field, frame, discs, x, y, heading, arcs[k, 0], arcs[k, 1]) < 0.0:
            return False
        x, y, heading = advance(x, y, heading, arcs[k, 0], arcs[k, 1])
    return True


@inner
def sift_up(heap, keys, at):
    """Move an entry of a binary heap to its place, towards the root."""
    item = heap[at]
    while at > 0 and keys[item] < keys[heap[(at - 1) // 2]]:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = item


@inner
def sift_down(heap, keys, size):
    """Move the root of a binary heap of a size to its place."""
    item, at = heap[0], 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and keys[heap[child + 1]] < keys[heap[child]]:
            child += 1
        if keys[item] <= keys[heap[child]]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = item


@kernel
def grow_tree(start, gear, radius, wide, field, frame, discs, places, poses, parents, bends, costs):
    """Find the cheapest ways from a pose to all others, in one gear.

    Parameters
    ----------
    start : (3,)
        Pose of the rear axle.
    gear : float
        1 for ways from there; -1 for ways that lead there, which are driven forwards, too.
    radius : float
        Smallest radius [m].
    wide : float
        Size of the cells of the lattice [m].
    field, frame, discs
        As of `clearance`.
    places : (columns, rows, HEADINGS) int64, out
        Node in each cell of the lattice, -1 for none.
    poses : (nodes, 3), out
    parents : (nodes,) int64, out
    bends, costs : (nodes,), out
        Curvature of the step from the parent, or to it [1/m]; cost [m].

    Returns
    -------
    int
        Number of nodes; they are in the order of their costs.
    """
    capacity = poses.shape[0]
    open_poses, open_costs = np.empty((capacity, 3)), np.empty(capacity)
    open_parents, open_bends, heap = np.empty(capacity, np.int64), np.empty(capacity), np.empty(capacity, np.int64)
    turn = 2.0 * math.pi / HEADINGS
    open_poses[0, 0], open_poses[0, 1], open_poses[0, 2] = start[0], start[1], start[2]
    open_costs[0], open_parents[0], open_bends[0], heap[0] = 0.0, -1, 0.0, 0
    made, size, count = 1, 1, 0
    while size > 0:
        n = heap[0]
        size -= 1
        heap[0] = heap[size]
        sift_down(heap, open_costs, size)
        x, y, heading = open_poses[n, 0], open_poses[n, 1], open_poses[n, 2]
        column, row = int(math.floor((x - frame[0]) / wide)), int(math.floor((y - frame[1]) / wide))
        angle = int(math.floor(heading / turn + 0.5)) % HEADINGS
        if column < 0 or row < 0 or column >= places.shape[0] or row >= places.shape[1]:
            continue
        # a cell belongs to the cheapest pose that comes into it: the first one off the heap
        if places[column, row, angle] >= 0 or count >= capacity:
            continue
        places[column, row, angle] = count
        poses[count, 0], poses[count, 1], poses[count, 2] = x, y, heading
        parents[count], bends[count], costs[count] = open_parents[n], open_bends[n], open_costs[n]
        for k in range(BENDS):
            # curvatures from −1/radius to 1/radius at equal distances
            bend = (k - BENDS // 2) / (BENDS // 2 * radius)
            clear = arc_clearance(field, frame, discs, x, y, heading, bend, gear * STEP)
            if clear < 0.0 or made >= capacity:
                continue
            px, py, ph = advance(x, y, heading, bend, gear * STEP)
            c, r = int(math.floor((px - frame[0]) / wide)), int(math.floor((py - frame[1]) / wide))
            a = int(math.floor(ph / turn + 0.5)) % HEADINGS
            if c < 0 or r < 0 or c >= places.shape[0] or r >= places.shape[1] or places[c, r, a] >= 0:
                continue
            # dearer near obstacles and with changes of curvature
            cost = STEP * (1.0 + CLOSE * max(1.0 - clear / NEAR, 0.0)) + SWERVE * radius * abs(bend - bends[count])
            open_poses[made, 0], open_poses[made, 1], open_poses[made, 2] = px, py, ph
            open_parents[made], open_bends[made], open_costs[made] = count, bend, costs[count] + cost
            heap[size] = made
            made, size = made + 1, size + 1
            sift_up(heap, open_costs, size - 1)
        count += 1
    return count


@kernel
def connect(poses, costs, order, pose, gear, radius, field, frame, discs, bound, found):
    """Find the cheapest way on from the nodes of a tree to a pose, or from a pose to them: a Dubins path.

    Parameters
    ----------
    poses, costs : (nodes, 3), (nodes,)
        Of `grow_tree`.
    order : (k,) int64
        Nodes in the order in which they are tried, by cost and distance.
    pose : (3,)
    gear : float
        1 to it, -1 from it.
    radius : float
        [m]
    field, frame, discs
        As of `clearance`.
    bound : float
        Cost from which on a way is of no use [m].
    found : (3, 2), out
        Arcs of the Dubins path.

    Returns
    -------
    node : int
        -1 for none.
    cost : float
        [m]
    """
    words, best, least, tried = np.empty((6, 3, 2)), -1, bound, 0
    for n in order:
        # no way on is shorter than the straight line
        lower = costs[n] + math.hypot(poses[n, 0] - pose[0], poses[n, 1] - pose[1])
        if lower >= least or tried >= TRIED:
            break
        tried += 1
        begin, end = (poses[n], pose) if gear > 0.0 else (pose, poses[n])
        many = dubins_into(begin, end, radius, words)
        for w in range(many):
            length = words[w, 0, 1] + words[w, 1, 1] + words[w, 2, 1]
            cost = costs[n] + length
            # arcs cost more than straights of the same length
            for k in range(3):
                cost += SWERVE * radius * abs(words[w, k, 0]) if words[w, k, 1] > 1e-3 else 0.0
            if cost >= least:
                continue
            # of those that are cheaper than the best so far, one that is clear all along
            x, y, heading, clear = begin[0], begin[1], begin[2], True
            for k in range(3):
                if words[w, k, 1] <= 0.0:
                    continue
                if arc_clearance(field, frame, discs, x, y, heading, words[w, k, 0], words[w, k, 1]) < 0.0:
                    clear = False
                    break
                x, y, heading = advance(x, y, heading, words[w, k, 0], words[w, k, 1])
            if clear:
                best, least = n, cost
                for k in range(3):
                    found[k, 0], found[k, 1] = words[w, k, 0], words[w, k, 1]
    return best, least
