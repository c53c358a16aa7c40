"""Tessellation of simple solids, with vertices duplicated along sharp edges so that renderers can share normals.

Every vertex lies on the solid's surface; faces are counter-clockwise seen from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cbsim.arrays import Floats
from cbsim.errors import ModelError

__all__ = ["Triangles", "arrow", "box", "capsule", "creased", "cylinder", "height_field", "joined", "pyramid", "sphere"]

Faces = NDArray[np.int64]

SEGMENTS = 24  # segments of a circle: 15° steps, well below the crease angle
MAX_SMOOTH_FACES = 32  # faces per vertex up to which normals are smoothed; comparing all pairs is quadratic
CREASE = np.deg2rad(30.0)  # [rad] mesh edges with larger angles are drawn sharp


class Triangles(NamedTuple):
    """A surface: `vertices` (n, 3) [m] and `faces` (m, 3), rows of `vertices`."""

    vertices: Floats
    faces: Faces

    @property
    def is_closed(self) -> bool:
        """Whether every edge is shared by exactly two faces of consistent orientation."""
        faces = welded(self.vertices)[1][self.faces]
        start, end = faces.reshape(-1), faces[:, [1, 2, 0]].reshape(-1)
        there, back = np.sort(start * len(self.vertices) + end), np.sort(end * len(self.vertices) + start)
        return bool((there == back).all() and (np.diff(there) > 0).all())

    def moved(self, matrix: ArrayLike, shift: ArrayLike) -> Triangles:
        """Return M v + s for every vertex v; faces are flipped under reflections."""
        turn = np.asarray(matrix, float)
        faces = self.faces if np.linalg.det(turn) >= 0.0 else self.faces[:, ::-1]
        return Triangles(self.vertices @ turn.T + np.asarray(shift, float), faces)


def joined(parts: Sequence[Triangles]) -> Triangles:
    """Concatenate surfaces."""
    first = np.cumsum([0, *(len(part.vertices) for part in parts)])
    return Triangles(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.faces + start for part, start in zip(parts, first[:-1], strict=True)]),
    )


def lathe(*strips: ArrayLike) -> Triangles:
    """Revolve profiles (k, 2) of radius and height [m] about z; each is smooth and runs upwards on the outside."""
    angle = 2.0 * np.pi * np.arange(SEGMENTS) / SEGMENTS
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return joined([_turned(np.asarray(strip, float), circle) for strip in strips])


def _turned(profile: Floats, circle: Floats) -> Triangles:
    """Revolve one profile; a point on the axis becomes one vertex, so that a pole has one normal."""
    vertices, rows = list[Floats](), list[Faces]()
    for radius, height in profile:
        first = len(vertices)
        ring = circle[:1] * 0.0 if radius == 0.0 else circle * radius
        vertices += [np.array([x, y, height]) for x, y in ring]
        rows.append(np.resize(np.arange(first, len(vertices)), SEGMENTS))
    faces = list[Faces]()
    for low, high in pairwise(rows):
        after_low, after_high = np.roll(low, -1), np.roll(high, -1)
        faces += [np.stack([low, after_low, after_high], axis=1), np.stack([low, after_high, high], axis=1)]
    corners = np.concatenate(faces)
    whole = (corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2]) & (corners[:, 2] != corners[:, 0])
    return Triangles(np.array(vertices), corners[whole])


def box(edges: ArrayLike) -> Triangles:
    """Box about the origin with edges (3,) [m]."""
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * 0.5
    faces = []
    for axis in range(3):
        for side in (-0.5, 0.5):
            corners = np.insert(square, axis, side, axis=1)
            # (x, y, z) without the axis is a right-handed pair for z and x, a left-handed one for y
            faces.append(corners if (side > 0.0) == (axis != 1) else corners[::-1])
    quads = np.arange(24).reshape(6, 4)
    return Triangles(np.concatenate(faces) * np.asarray(edges, float), quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3))


def cylinder(radius: float, height: float) -> Triangles:
    """Cylinder along z about the origin."""
    low, high = (radius, -0.5 * height), (radius, 0.5 * height)
    return lathe([(0.0, -0.5 * height), low], [low, high], [high, (0.0, 0.5 * height)])


def capsule(radius: float, height: float) -> Triangles:
    """Capsule along z with a cylindrical height [m]; height 0 gives a sphere."""
    angle = np.linspace(-0.5 * np.pi, 0.0, SEGMENTS // 4 + 1)
    low = np.stack([radius * np.cos(angle), radius * np.sin(angle) - 0.5 * height], axis=1)
    low[0, 0] = 0.0
    return lathe(np.concatenate([low, (low * (1.0, -1.0))[::-1][height == 0.0 :]]))


def sphere(radius: float) -> Triangles:
    """Sphere about the origin."""
    return capsule(radius, 0.0)


def pyramid(width: float, height: float) -> Triangles:
    """Square pyramid with its base at −h/4 and its apex at 3h/4, so that the origin is its centre of mass."""
    w, low, tip = 0.5 * width, -0.25 * height, np.array([0.0, 0.0, 0.75 * height])
    base = np.array([[-w, -w, low], [w, -w, low], [w, w, low], [-w, w, low]])
    sides = [np.stack([base[i], base[(i + 1) % 4], tip]) for i in range(4)]
    bottom = np.array([[0, 2, 1], [0, 3, 2]])
    return joined([Triangles(base, bottom), *(Triangles(side, np.array([[0, 1, 2]])) for side in sides)])


def arrow(length: float, shaft: float, head: float) -> Triangles:
    """Arrow from the origin along z with radii of shaft and head [m]; the head takes at most a third of the length."""
    neck = max(length - 3.0 * head, length * 2.0 / 3.0)
    tip = (0.0, length)
    return lathe(
        [(0.0, 0.0), (shaft, 0.0)], [(shaft, 0.0), (shaft, neck)], [(shaft, neck), (head, neck)], [(head, neck), tip]
    )


def height_field(f: Callable[..., object], xlims: ArrayLike, ylims: ArrayLike, n: int) -> Triangles:
    """Surface z = f(x, y) over a rectangle, with n points per side.

    Parameters
    ----------
    f : callable
        Called with arrays of x and y [m], or with two numbers; returns heights [m].
    """
    (x0, x1), (y0, y1) = np.asarray(xlims, float), np.asarray(ylims, float)
    x, y = np.meshgrid(np.linspace(x0, x1, n), np.linspace(y0, y1, n), indexing="xy")
    corner = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).reshape(-1)
    quad = np.stack([corner, corner + 1, corner + n + 1, corner + n], axis=1)
    return Triangles(
        np.stack([x, y, _heights(f, x, y)], axis=-1).reshape(-1, 3), quad[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    )


def _heights(f: Callable[..., object], x: Floats, y: Floats) -> Floats:
    try:
        z = np.asarray(f(x, y), float)
    except (TypeError, ValueError):  # a function of scalars
        z = np.array([float(f(a, b)) for a, b in zip(x.flat, y.flat, strict=True)])  # type: ignore[arg-type]
    if z.size not in {1, x.size} or not np.isfinite(z).all():
        raise ModelError("f(x, y) is not a finite height at every point", subject="set_surface")
    return np.broadcast_to(z.reshape(x.shape if z.size > 1 else ()), x.shape)


def creased(surface: Triangles) -> Triangles:
    """Weld coincident vertices, and split them where faces meet at an angle above `CREASE`.

    Notes
    -----
    The normal of a face at a vertex is the area-weighted mean over the faces within the crease angle; equal positions
    with equal normals become one vertex.
    """
    places, place = welded(surface.vertices)
    corners = place[surface.faces]
    a, b, c = (places[corners[:, i]] for i in range(3))
    area = np.cross(b - a, c - a)
    size = np.linalg.norm(area, axis=1)
    corners, area, size = corners[size > 0.0], area[size > 0.0], size[size > 0.0]
    own = area / size[:, None]
    normals = _meeting_normals(corners.reshape(-1), own, area)
    around = np.round(1000.0 * normals).astype(np.int64) + 1000  # 0 to 2000: position and normal in one key
    key = ((corners.reshape(-1) * 2001 + around[:, 0]) * 2001 + around[:, 1]) * 2001 + around[:, 2]
    _, first, row = np.unique(key, return_index=True, return_inverse=True)
    return Triangles(places[corners.reshape(-1)[first]], row.reshape(-1, 3))


def welded(vertices: Floats) -> tuple[Floats, Faces]:
    """Return the distinct rows of vertices (k, 3), and the index of each vertex among them (n,)."""
    order = np.lexsort(vertices.T)
    inorder = vertices[order]
    new = np.concatenate([[True], (inorder[1:] != inorder[:-1]).any(axis=1)])
    place = np.empty(len(vertices), np.int64)
    place[order] = np.cumsum(new) - 1
    return inorder[new], place


def _meeting_normals(place: Faces, own: Floats, area: Floats) -> Floats:
    """Mean normals (3 m, 3) at the corners of faces; `place` (3 m,) is each corner's position index."""
    order = np.argsort(place, kind="stable")
    start = np.searchsorted(place[order], place)
    count = np.searchsorted(place[order], place, side="right") - start
    crowded = count > MAX_SMOOTH_FACES
    start[crowded], count[crowded] = np.argsort(order)[crowded], 1
    corner = np.repeat(np.arange(len(place)), count)
    within = np.arange(len(corner)) - np.repeat(np.cumsum(count) - count, count)
    other = order[start[corner] + within]
    near = (own[corner // 3] * own[other // 3]).sum(1) > np.cos(CREASE)
    row, share = corner[near], area[other[near] // 3]
    total = np.stack([np.bincount(row, share[:, axis], len(place)) for axis in range(3)], axis=1)
    return np.asarray(total / np.linalg.norm(total, axis=1)[:, None])
