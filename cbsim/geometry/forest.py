"""Meshes for kernels: triangles in the order of the leaves of a bounding volume hierarchy, and the hierarchy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.geometry.kernels.bvh import build_into

__all__ = ["Forest", "plant"]


class Forest(NamedTuple):
    """The trees of several meshes in common tables, as in `cbsim.world.tables.Shapes`.

    Attributes
    ----------
    triangles : (triangles, 3, 3) [m]
        In the order of the leaves, mesh by mesh.
    node_box, node_link : (nodes, 6) [m], (nodes, 2) int64
        As in `cbsim.geometry.kernels.bvh`; triangles and nodes are rows of these tables.
    root : (meshes,) int64
        First node of each mesh; that of an empty one is not to be looked at.
    """

    triangles: Floats
    node_box: Floats
    node_link: Ints
    root: Ints


def plant(meshes: Iterable[Floats]) -> Forest:
    """Build the tree of each mesh, given as corners (n, 3, 3) [m]."""
    triangles, boxes, links = [np.zeros((0, 3, 3))], [np.zeros((0, 6))], [np.zeros((0, 2), np.int64)]
    roots, nodes, rows = [], 0, 0
    for corners in meshes:
        n = len(corners)
        roots.append(nodes)
        if not n:
            continue
        order, box, link = np.empty(n, np.int64), np.empty((2 * n, 6)), np.empty((2 * n, 2), np.int64)
        count = build_into(np.ascontiguousarray(corners), order, box, link)
        box, link = box[:count], link[:count]
        link[:, 0] += np.where(link[:, 1] > 0, rows, nodes)
        triangles.append(corners[order])
        boxes.append(box)
        links.append(link)
        nodes, rows = nodes + count, rows + n
    return Forest(
        np.concatenate(triangles), np.concatenate(boxes), np.concatenate(links), np.array(roots, np.int64).reshape(-1)
    )
