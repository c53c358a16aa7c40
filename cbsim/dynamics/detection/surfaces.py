"""Static surfaces as triangles with their neighbours: meshes and height fields."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.dynamics.detection.kernels import columns as d
from cbsim.errors import ModelError
from cbsim.geometry.forest import plant
from cbsim.geometry.linear import norm, times

__all__ = ["Surfaces", "surfaces_of"]


SAME = 1e-7  # of a surface's size: distance below which corners are merged
LEVEL = 1e-6  # sine of the angle below which a neighbour is coplanar


class Surfaces(NamedTuple):
    """All triangles of the world, surface by surface.

    Attributes
    ----------
    facet : (m, FACET_COLUMNS)
        In the world.
    facet_next : (m, 3) int64
        Neighbour along each edge, or -1.
    triangle : (m, 3, 3) [m]
    node_box, node_link : (nodes, 6) [m], (nodes, 2) int64
        Trees, as in `cbsim.geometry.kernels.bvh`.
    root : tuple of int
        First node of each surface.
    """

    facet: Floats
    facet_next: Ints
    triangle: Floats
    node_box: Floats
    node_link: Ints
    root: tuple[int, ...]


def surfaces_of(meshes: list[tuple[str, Floats]]) -> Surfaces:
    """Put surfaces in tables.

    Parameters
    ----------
    meshes : list of (str, ndarray)
        Owner, for messages, and triangles (n, 3, 3) [m] in the world, counter-clockwise from outside.

    Raises
    ------
    ModelError
        If one has no triangle with an area.
    """
    sound = [(who, _with_area(triangles)) for who, triangles in meshes]
    for who, triangles in sound:
        if not len(triangles):
            raise ModelError("has no triangle with an area", subject=who)
    forest = plant(triangles for _, triangles in sound)
    facets, neighbours, first = [np.zeros((0, d.FACET_COLUMNS))], [np.zeros((0, 3), np.int64)], 0
    for _, triangles in sound:
        rows = forest.triangles[first : first + len(triangles)]
        beside = _neighbours(rows)
        facets.append(_facets(rows, beside))
        neighbours.append(np.where(beside >= 0, beside + first, -1))
        first += len(rows)
    return Surfaces(
        np.concatenate(facets), np.concatenate(neighbours), forest.triangles, forest.node_box, forest.node_link,
        tuple(forest.root.tolist()),
    )  # fmt: skip


def _with_area(triangles: Floats) -> Floats:
    """Triangles with a nonzero area."""
    sides = triangles[:, 1:] - triangles[:, :1]
    area = norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    longest = np.maximum((sides * sides).sum(axis=2).max(axis=1, initial=0.0), 1e-300)
    return np.asarray(triangles[np.isfinite(area) & (area > 1e-9 * longest)])


def _neighbours(triangles: Floats) -> Ints:
    """Neighbour (m, 3) across the edge from each corner to the next; -1 without exactly one opposite edge."""
    size = float(np.ptp(triangles.reshape(-1, 3), axis=0).max())
    _, corner = np.unique(
        np.round(triangles.reshape(-1, 3) / (SAME * size)).astype(np.int64), axis=0, return_inverse=True
    )
    corner = corner.reshape(-1, 3)
    start, end = corner.reshape(-1), np.roll(corner, -1, axis=1).reshape(-1)
    count = int(corner.max()) + 1
    key, against = start * count + end, end * count + start
    order = np.argsort(key, kind="stable")
    sorted_key = key[order]
    left, right = np.searchsorted(sorted_key, against), np.searchsorted(sorted_key, against, side="right")
    alone = (right - left == 1) & (
        np.searchsorted(sorted_key, key, side="right") - np.searchsorted(sorted_key, key) == 1
    )
    found = order[np.minimum(left, len(order) - 1)] // 3
    return np.asarray(np.where(alone, found, -1).reshape(-1, 3))


def _facets(triangles: Floats, beside: Ints) -> Floats:
    """Corners, normals, and along each edge the direction in the neighbour's plane into the neighbour."""
    out = np.zeros((len(triangles), d.FACET_COLUMNS))
    along = np.roll(triangles, -1, axis=1) - triangles
    normal = np.cross(along[:, 0], along[:, 1])
    normal /= norm(normal, axis=1, keepdims=True)
    into = np.cross(along, normal[beside])  # the neighbour has the edge in the opposite direction
    into[beside < 0] = 0.0
    into /= np.maximum(norm(into, axis=2, keepdims=True), 1e-300)
    out[:, d.FACET_CORNERS : d.FACET_CORNERS + 9] = triangles.reshape(-1, 9)
    out[:, d.FACET_NORMAL : d.FACET_NORMAL + 3] = normal
    out[:, d.FACET_BESIDE : d.FACET_BESIDE + 9] = into.reshape(-1, 9)
    rise = np.abs(np.einsum("fek,fk->fe", into, normal))
    out[:, d.FACET_LEVEL] = times((beside >= 0) & (rise < LEVEL), (1, 2, 4))
    return out
