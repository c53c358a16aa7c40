"""Convex pieces of colliders: corners and faces, or a round kind and its sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from cbsim.arrays import Floats
from cbsim.dynamics.detection.kernels import columns as d
from cbsim.errors import ModelError
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import norm, times
from cbsim.geometry.pose import multiply
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.colliders import Collider, ConvexHull, HalfSpace, HeightField
from cbsim.spec.mechanism.mesh import Mesh
from cbsim.spec.mechanism.shapes import Box, Capsule, CombinedShapes, Cylinder, Pyramid, Shape, Sphere, matrix

__all__ = ["Piece", "pieces_of"]

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


@dataclass
class Piece:
    """A convex piece in the frame of its owner.

    Attributes
    ----------
    kind : int
        Of `cbsim.dynamics.detection.kernels.columns`.
    at, turned : ndarray, shape (3,), (4,)
        Its frame, the origin inside the piece.
    size : tuple of float
        Of a round kind.
    margin : float
        Around corners [m].
    corners : ndarray, shape (n, 3)
    faces : list of list of int
        Corners of each face, counter-clockwise from outside.
    triangles : ndarray, shape (n, 3, 3)
        Of a surface, in the world.
    """

    kind: int
    at: Floats
    turned: Floats = field(default_factory=lambda: UPRIGHT)
    size: tuple[float, ...] = ()
    margin: float = 0.0
    corners: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    faces: list[list[int]] = field(default_factory=list)
    triangles: Floats = field(default_factory=lambda: np.zeros((0, 3, 3)))

    @property
    def bound(self) -> float:
        """Radius about the origin of its frame [m]."""
        reach = float(norm(self.corners, axis=1).max(initial=0.0))
        return max(reach + self.margin, float(norm(self.size)))

    def reach(self, direction: Floats) -> float:
        """Support along a unit direction, from the origin of its owner's frame [m]."""
        along = times(matrix(self.turned).T, direction)
        size = np.asarray(self.size)
        if self.kind == d.ELLIPSOID:
            far = float(norm(size * along))
        elif self.kind == d.CYLINDER:
            far = float(size[0] * math.hypot(along[0], along[1]) + size[1] * abs(along[2]))
        else:
            far = float(times(self.corners, along).max(initial=-np.inf)) + self.margin
        return float(times(self.at, direction)) + far

    @property
    def normals(self) -> Floats:
        """Outward normals of the faces (n, 3)."""
        rows = []
        for face in self.faces:
            a, b, c = self.corners[face[0]], self.corners[face[1]], self.corners[face[2]]
            across = np.cross(b - a, c - a)
            rows.append(across / norm(across))
        return np.array(rows).reshape(-1, 3)


def pieces_of(collider: Collider) -> Iterator[Piece]:
    """Yield the convex pieces of a collider.

    Raises
    ------
    ModelError
        If there is no routine for its shape; the message names the collider and the shape.
    """
    is_still = isinstance(collider.owner, Origin)
    yield from _pieces(collider.shape, np.zeros(3), UPRIGHT, is_still, f"collider '{collider.name}'")


def _pieces(shape: Shape, at: Floats, turned: Floats, is_still: bool, who: str) -> Iterator[Piece]:
    at = at + times(matrix(turned), shape.position_offset)
    turned = multiply(turned, shape.orientation_offset)
    scale = np.asarray(shape.scale)
    if not scale.all():
        raise ModelError(f"has the scale {scale.tolist()}: it has no inside", subject=who)
    is_even = bool((np.abs(scale - scale[0]) <= 1e-12 * np.abs(scale[0])).all()) and scale[0] > 0.0
    even = float(scale[0])
    if isinstance(shape, CombinedShapes):
        if not is_even:
            raise ModelError("is several shapes scaled unevenly, which has no routine", subject=who)
        for part in shape.shape:
            grown = part.replaced(position_offset=even * part.position_offset, scale=even * np.asarray(part.scale))
            yield from _pieces(grown, at, turned, is_still, who)
    elif isinstance(shape, HalfSpace):
        yield Piece(d.PLANE, at, multiply(turned, _upright(shape.normal)))
    elif isinstance(shape, Sphere) and is_even:
        yield Piece(d.HULL, at, turned, margin=even * shape.r, corners=np.zeros((1, 3)))
    elif isinstance(shape, Sphere):
        yield Piece(d.ELLIPSOID, at, turned, tuple(float(v) for v in np.abs(scale) * shape.r))
    elif isinstance(shape, Capsule) and is_even:
        half = 0.5 * even * shape.h
        yield Piece(d.HULL, at, turned, margin=even * shape.r, corners=np.array([[0, 0, -half], [0, 0, half]]))
    elif isinstance(shape, Cylinder) and abs(scale[0]) == abs(scale[1]):
        yield Piece(d.CYLINDER, at, turned, (abs(even) * shape.r, 0.5 * abs(float(scale[2])) * shape.h))
    elif isinstance(shape, HeightField) or (is_still and isinstance(shape, Mesh) and not _is_convex(shape)):
        corners = shape.surface * scale
        corners = corners if np.prod(scale) > 0.0 else corners[:, ::-1]
        yield Piece(d.SURFACE, np.zeros(3), triangles=times(corners, matrix(turned).T) + at)
    else:
        yield _hull(_points(shape, who) * scale, at, turned, who)


def _is_convex(mesh: Mesh) -> bool:
    """Whether a mesh equals its convex hull."""
    return bool(mesh.triangles.is_watertight and mesh.triangles.is_convex)


def _points(shape: Shape, who: str) -> Floats:
    """Corners of a polyhedral shape, in its frame, without scale."""
    if isinstance(shape, Box):
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
        return np.asarray(0.5 * signs * shape.xyz)
    if isinstance(shape, Pyramid):
        half, base = 0.5 * shape.w, -0.25 * shape.h
        base_corners = [[x, y, base] for x in (-half, half) for y in (-half, half)]
        return np.array([*base_corners, [0.0, 0.0, 0.75 * shape.h]])
    if isinstance(shape, ConvexHull):
        return np.asarray(shape.points)
    if isinstance(shape, Mesh):
        return np.asarray(shape.triangles.vertices, float)
    raise ModelError(f"is a {type(shape).__name__}, for which there is no routine of contact", subject=who)


def _upright(normal: Floats) -> Floats:
    """Rotation from z to a direction."""
    axis = np.cross([0.0, 0.0, 1.0], normal)
    q = np.array([1.0 + normal[2], *axis])
    size = float(norm(q))
    return np.array([0.0, 1.0, 0.0, 0.0]) if size < 1e-9 else q / size


def _hull(points: Floats, at: Floats, turned: Floats, who: str) -> Piece:
    """Convex hull of points; triangles in one plane become one face."""
    from scipy.spatial import ConvexHull as Hull
    from scipy.spatial import QhullError

    try:
        hull = Hull(points)
    except (QhullError, ValueError):  # too few points, or coplanar ones
        raise ModelError(f"has {len(points)} corners that enclose nothing", subject=who) from None
    used = hull.vertices
    middle = points[used].mean(axis=0)
    place = {int(v): k for k, v in enumerate(used)}
    corners = points[used] - middle
    size = float(np.ptp(corners, axis=0).max())
    groups: list[tuple[Floats, set[int]]] = []
    for triangle, equation in zip(hull.simplices, hull.equations, strict=True):
        for known, members in groups:
            flat = float(times(known[:3], equation[:3])) > 1.0 - 1e-10 and abs(known[3] - equation[3]) < 1e-9 * size
            if flat:
                members.update(place[int(v)] for v in triangle)
                break
        else:
            groups.append((equation, {place[int(v)] for v in triangle}))
    faces = [_around(corners, sorted(members), equation[:3]) for equation, members in groups]
    return Piece(d.HULL, at + times(matrix(turned), middle), turned, corners=corners, faces=faces)


def _around(corners: Floats, members: list[int], normal: Floats) -> list[int]:
    """Corners of a face, ordered around its normal."""
    middle = corners[members].mean(axis=0)
    first = corners[members[0]] - middle
    across = np.cross(normal, first)
    arms = corners[members] - middle
    return [members[k] for k in np.argsort(math.atan2(times(arms, across), times(arms, first)), kind="stable")]
