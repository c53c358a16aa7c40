"""Laying of ways through a zone: forwards into each spot; out of it in reverse, then forwards to a way out.

One search from each way in, and one back from each way out, finds the poses that a car can come to; a Dubins path joins
them to what a spot needs: a straight into it, or where a car stands that has backed out of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.geometry import elementary as math
from cbsim.world.traffic.zones.ground import CarShape, Ground
from cbsim.world.traffic.zones.kernels import HEADINGS, connect, grow_tree, stays_clear

__all__ = ["Pose", "Tree", "Way", "lay_in", "lay_out", "tree_of"]

Pose = tuple[float, float, float]

WIDE, CELLS = 0.8, 40_000  # [m] size of the cells of the lattice, and greatest number of cells
NODES = 2_000_000
AROUND = 20.0  # [m] of a spot within which nodes are looked at
THIN, SECTORS = 1.6, 12  # [m] and number of headings in which one node is looked at, the cheapest
RUN_INS = (0.0, 1.0, 2.5)  # [m] of straight before a spot
BACKS = (0.6, 0.8, 1.0, 1.3, 1.7)  # straight reverse out of a spot, in lengths of a car
SWINGS = (0.0, 0.5, 1.0, 1.57)  # [rad] turned in reverse after it
GEAR_CHANGE, REVERSE = 4.0, 1.5  # cost [m], and dearer by
MOST, PART = 8000, 800  # nodes that are tried, and at once
STEP = 0.25  # [m] between samples of a way


class Tree(NamedTuple):
    """Poses that a car can come to from a pose, or from which it can come to it."""

    gear: float
    poses: Floats
    parents: Ints
    bends: Floats
    costs: Floats


class Way(NamedTuple):
    """Way of a car through a zone.

    Attributes
    ----------
    poses : ndarray, shape (n, 3)
        Of the rear axle, heading last [m], [rad].
    stations : ndarray, shape (n,)
        Length of the way up to each [m].
    bends : ndarray, shape (n,)
        Curvature of the part before each [1/m].
    back : float
        Length of its first part that is driven in reverse [m].
    """

    poses: Floats
    stations: Floats
    bends: Floats
    back: float


def tree_of(ground: Ground, field: Floats, pose: Pose, gear: float, shape: CarShape) -> Tree:
    """Search from a pose; `field` has all spots taken."""
    area = float(np.prod(field.shape)) * ground.frame[2] * ground.frame[2]
    wide = max(WIDE, math.sqrt(area / CELLS))
    size = [int(math.ceil(n * ground.frame[2] / wide)) for n in field.shape]
    places = np.full((*size, HEADINGS), -1, np.int64)
    capacity = min(5 * places.size, NODES)
    poses, parents = np.empty((capacity, 3)), np.empty(capacity, np.int64)
    bends, costs = np.empty(capacity), np.empty(capacity)
    count = grow_tree(
        *(np.array(pose, float), gear, shape.radius, wide, field, ground.frame, shape.discs),
        *(places, poses, parents, bends, costs),
    )
    return Tree(gear, poses[:count].copy(), parents[:count].copy(), bends[:count].copy(), costs[:count].copy())


def lay_in(ground: Ground, field: Floats, tree: Tree, parked: Pose, depth: float, shape: CarShape) -> Way | None:
    """Lay the way into a spot.

    Parameters
    ----------
    ground : Ground
    field : ndarray
        Distances with this spot free.
    tree : Tree
        From a way in.
    parked : tuple of float
        Pose in the spot.
    depth : float
        Straight that leads into it at least [m].
    shape : CarShape
    """
    near = _near(tree, parked)
    best: tuple[float, int, Floats, float] | None = None
    for more in RUN_INS:
        run = depth + more
        target = _advance(parked, 0.0, -run)
        if not stays_clear(np.array(target), np.array([[0.0, run]]), field, ground.frame, shape.discs):
            continue
        bound = math.inf if best is None else best[0] - run
        node, cost, arcs = _connect(ground, field, tree, near, target, 1.0, bound, shape)
        if node >= 0:
            best = cost + run, node, arcs, run
    if best is None:
        return None
    _, node, arcs, run = best
    start, path = _path(tree, node)
    return _sampled(start, [*path, *map(tuple, arcs.tolist()), (0.0, run)])


def lay_out(ground: Ground, field: Floats, tree: Tree, parked: Pose, depth: float, shape: CarShape) -> Way | None:
    """Lay the way out of a spot, arguments as of `lay_in`; the tree leads to a way out."""
    near = _near(tree, parked)
    best: tuple[float, int, Floats, list[tuple[float, float]]] | None = None
    for cost, back in _backs(depth, shape):
        if best is not None and cost >= best[0]:
            break
        table = np.array(back)
        if not stays_clear(np.array(parked), table, field, ground.frame, shape.discs):
            continue
        pose = parked
        for bend, length in back:
            pose = _advance(pose, bend, length)
        bound = math.inf if best is None else best[0] - cost
        node, rest, arcs = _connect(ground, field, tree, near, pose, -1.0, bound, shape)
        if node >= 0:
            best = cost + rest, node, arcs, back
    if best is None:
        return None
    _, node, arcs, back = best
    _, path = _path(tree, node)
    return _sampled(parked, [*back, *map(tuple, arcs.tolist()), *path])


def _backs(depth: float, shape: CarShape) -> list[tuple[float, list[tuple[float, float]]]]:
    """Ways out of a spot in reverse: a straight, then a bend; the cheapest first."""
    found = []
    for back in BACKS:
        straight = max(back * shape.length, 0.5 * depth)
        for swing in SWINGS:
            for side in (1.0, -1.0) if swing > 0.0 else (0.0,):
                arcs = [(0.0, -straight)] + ([(side / shape.radius, -swing * shape.radius)] if swing > 0.0 else [])
                found.append((GEAR_CHANGE + REVERSE * (straight + swing * shape.radius), arcs))
    return sorted(found, key=lambda each: each[0])


def _near(tree: Tree, place: Pose) -> Ints:
    """Nodes near a spot: the cheapest of those that are nearly alike."""
    gaps = tree.poses[:, :2] - np.array(place[:2])
    near = np.flatnonzero(gaps[:, 0] * gaps[:, 0] + gaps[:, 1] * gaps[:, 1] < AROUND * AROUND)
    cells = np.floor(gaps[near] / THIN).astype(np.int64) + 1000
    sectors = np.floor(tree.poses[near, 2] * (SECTORS / (2.0 * np.pi))).astype(np.int64) % SECTORS
    _, first = np.unique((cells[:, 0] * 2000 + cells[:, 1]) * SECTORS + sectors, return_index=True)
    return np.asarray(near[np.sort(first)])


def _connect(
    ground: Ground, field: Floats, tree: Tree, near: Ints, pose: Pose, gear: float, bound: float, shape: CarShape
) -> tuple[int, float, Floats]:
    """Join a pose to the tree: node, or -1, cost, and arcs."""
    gaps = tree.poses[near, :2] - np.array(pose[:2])
    order = near[
        np.argsort(tree.costs[near] + np.sqrt(gaps[:, 0] * gaps[:, 0] + gaps[:, 1] * gaps[:, 1]), kind="stable")
    ]
    best, arcs, found = -1, np.zeros((3, 2)), np.zeros((3, 2))
    ends = np.array(pose, float), gear, shape.radius, field, ground.frame, shape.discs
    for first in range(0, min(len(order), MOST), PART):
        if tree.costs[order[first]] >= bound:
            break
        part = order[first : first + PART]
        node, cost = connect(tree.poses, tree.costs, part, *ends, float(bound), found)
        if node >= 0:
            best, bound, arcs = int(node), float(cost), found.copy()
    return best, bound, arcs


def _path(tree: Tree, node: int) -> tuple[Pose, list[tuple[float, float]]]:
    """Begin of a tree, and the arcs between it and a node, in the order in which they are driven."""
    from cbsim.world.traffic.zones.kernels import STEP as LENGTH

    arcs = []
    while tree.parents[node] >= 0:
        arcs.append((float(tree.bends[node]), LENGTH))
        node = int(tree.parents[node])
    x, y, heading = tree.poses[0].tolist()
    return (x, y, heading), arcs[::-1] if tree.gear > 0.0 else arcs


def _advance(pose: Pose, bend: float, length: float) -> Pose:
    """Move a pose along an arc."""
    x, y, heading = pose
    after = heading + bend * length
    if abs(bend) < 1e-9:
        return x - length * math.sin(heading), y + length * math.cos(heading), heading
    return (
        x + (math.cos(after) - math.cos(heading)) / bend,
        y + (math.sin(after) - math.sin(heading)) / bend,
        after,
    )


def _sampled(start: Pose, arcs: list[tuple[float, float]]) -> Way:
    """Sample arcs, those in reverse first."""
    poses, stations, bends, pose, back = [start], [0.0], [0.0], start, 0.0
    for bend, length in arcs:
        if abs(length) < 1e-6:
            continue
        count = max(1, int(math.ceil(abs(length) / STEP)))
        base = stations[-1]
        for k in range(1, count + 1):
            poses.append(_advance(pose, bend, length * k / count))
            stations.append(base + abs(length) * k / count)
            bends.append(bend)
        pose = poses[-1]
        back = stations[-1] if length < 0.0 else back
    return Way(np.array(poses), np.array(stations), np.array(bends), back)
