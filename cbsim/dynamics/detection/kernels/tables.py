"""Tables of collision detection for kernels."""

from __future__ import annotations

from typing import NamedTuple

from cbsim.arrays import Floats, Ints
from cbsim.geometry.kernels.grid import Grid

__all__ = ["ColliderTables"]


class ColliderTables(NamedTuple):
    """Colliders of a mechanism, and the workspace of detection.

    Rows and columns are those of `cbsim.dynamics.detection.kernels.columns`, and of contacts those of
    `cbsim.dynamics.kernels.columns`.
    """

    collider_link: Ints
    collider: Floats
    corner: Floats  # (corners, 3) in their collider's frame
    face: Ints
    face_normal: Floats
    rim: Ints  # corners of faces, counter-clockwise from outside
    apart: Ints  # sorted keys of pairs of links that never collide
    parent: Ints  # (nodes,) in the tree, -1 for loop joints
    chord_tie: Ints  # (loop joints, 2) rows of `tie`: with the child, with the parent or -1
    chord_loop: Ints  # (loop joints,) nearest common ancestor of the loop, or -1
    fixed_ties: int
    colliders: int
    facet: Floats
    facet_next: Ints  # (m, 3) neighbour along each edge, or -1
    triangle: Floats  # (m, 3, 3) in the world
    node_box: Floats
    node_link: Ints
    window: Floats  # (2, 3)
    stack: Ints
    hit: Ints  # triangles near a collider
    placed: Floats
    world: Floats  # (corners, 3) in the world
    simplex: Floats
    patch: Floats  # (4, corners, 4): the two facing features, two buffers for clipping; sides at which a corner was cut
    grid: Grid
    found: Ints
    candidate: Ints
    contact_link: Ints
    contact: Floats
    key: Ints
    old_key: Ints
    old: Floats
    slot: Ints
    tie: Ints
    tie_slot: Ints
    mark: Ints
    carried: Ints
    ready: Ints
    near: Ints
    near_count: Ints
    program: Ints
    fan: Ints
    pair: Ints
    loop_block: Ints
    block_room: int
