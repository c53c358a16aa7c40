"""Tables of collision detection for kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.kernels.grid import Grid

__all__ = ["ColliderTables"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


class ColliderTables(NamedTuple):
    """Colliders of a mechanism, and the workspace of detection.

    Rows and columns are those of `cbsim.dynamics.detection.kernels.columns`, and of contacts those of
    `cbsim.dynamics.kernels.columns`.
    """

    collider_link: Whole
    collider: Floats
    corner: Floats  # (corners, 3) in their collider's frame
    face: Whole
    face_normal: Floats
    rim: Whole  # corners of faces, counter-clockwise from outside
    apart: Whole  # sorted keys of pairs of links that never collide
    parent: Whole  # (nodes,) in the tree, -1 for loop joints
    chord_tie: Whole  # (loop joints, 2) rows of `tie`: with the child, with the parent or -1
    chord_loop: Whole  # (loop joints,) nearest common ancestor of the loop, or -1
    fixed_ties: int
    colliders: int
    facet: Floats
    facet_next: Whole  # (m, 3) neighbour along each edge, or -1
    triangle: Floats  # (m, 3, 3) in the world
    node_box: Floats
    node_link: Whole
    window: Floats  # (2, 3)
    stack: Whole
    hit: Whole  # triangles near a collider
    placed: Floats
    world: Floats  # (corners, 3) in the world
    simplex: Floats
    patch: Floats  # (4, corners, 4): the two facing features, two buffers for clipping; sides at which a corner was cut
    grid: Grid
    found: Whole
    candidate: Whole
    contact_link: Whole
    contact: Floats
    key: Whole
    old_key: Whole
    old: Floats
    slot: Whole
    tie: Whole
    tie_slot: Whole
    mark: Whole
    carried: Whole
    ready: Whole
    near: Whole
    near_count: Whole
    program: Whole
    fan: Whole
    pair: Whole
    loop_block: Whole
    block_room: int
