"""Collisions: gap, points, normal and tangents of five pairs of shapes (docs/theory/contact.md §2).

The parent carries a sphere (of radius 0: a point); the child is a half-space of the world or a body with another shape.
The normal points from the child to the parent, also while they overlap.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.geometry.linear import norm, times
from cbsim.geometry.pose import conjugate, rotate
from cbsim.spec.mechanism.values import number, unit, vector

__all__ = [
    "Collision",
    "Meeting",
    "SphereBoxCollision",
    "SphereCapsuleCollision",
    "SphereHalfSpaceCollision",
    "SphereSphereCollision",
    "StringCollision",
    "tangents_of",
]


class Meeting(NamedTuple):
    """Result of a pair: gap [m], normal (3,) from child to parent, nearest points (3,)."""

    distance: float
    normal: Floats
    parent_point: Floats
    child_point: Floats


def tangents_of(normal: ArrayLike) -> Floats:
    """Two unit tangents (2, 3) of a normal: e × n with e = x, or y where that is degenerate, then their product."""
    n = np.asarray(normal, float)
    first = np.cross((1.0, 0.0, 0.0), n)
    if times(first, first) < 1e-6:
        first = np.cross((0.0, 1.0, 0.0), n)
    first = first / norm(first)
    return np.stack([first, np.cross(first, n)])


@dataclass(frozen=True, eq=False)
class Collision:
    """A pair of shapes."""

    def __post_init__(self) -> None:
        who = type(self).__name__
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if name == "contact_normal":
                settled: object = unit(value, who, name)
            elif name.startswith("radius") or name in {"contact_radius", "length"}:
                settled = number(value, who, name, least=0.0)
            else:
                settled = vector(value, who, name)
            object.__setattr__(self, name, settled)

    def meet(self, xp: ArrayLike, qp: ArrayLike, xc: ArrayLike | None = None, qc: ArrayLike | None = None) -> Meeting:
        """Evaluate the pair with the parent at (xp, qp) and the child at (xc, qc)."""
        raise NotImplementedError

    def _child(self, xc: ArrayLike | None, qc: ArrayLike | None) -> tuple[Floats, Floats]:
        if xc is None or qc is None:
            raise ModelError("needs the child's position and orientation too", subject=type(self).__name__)
        return np.asarray(xc, float), np.asarray(qc, float)


def _apart(centre: Floats, other: Floats, radius: float, other_radius: float) -> Meeting:
    """Two spheres; where the centres coincide, the normal is z."""
    offset = centre - other
    distance = float(norm(offset))
    normal = offset / distance if distance > 1e-12 else np.array([0.0, 0.0, 1.0])
    return Meeting(distance - radius - other_radius, normal, centre - radius * normal, other + other_radius * normal)


@dataclass(frozen=True, eq=False)
class SphereHalfSpaceCollision(Collision):
    """A sphere of a body against the half-space below a plane that never moves.

    Attributes
    ----------
    contact_normal : ndarray, shape (3,)
        Out of the half-space, in the world.
    contact_origin : ndarray, shape (3,)
        Centre of the sphere in the body's frame, from its centre of mass [m].
    contact_radius : float
        Radius of the sphere [m]; 0: a point.
    contact_offset : ndarray, shape (3,)
        A point of the plane, in the world [m].
    """

    contact_normal: Any
    contact_origin: Any = 0.0
    contact_radius: float = 0.0
    contact_offset: Any = 0.0

    @property
    def contact_tangent(self) -> Floats:
        """Two unit tangents of the plane (2, 3)."""
        return tangents_of(self.contact_normal)

    def meet(self, xp: ArrayLike, qp: ArrayLike, xc: ArrayLike | None = None, qc: ArrayLike | None = None) -> Meeting:  # noqa: ARG002
        """Evaluate the sphere above the plane; the plane's point is below the sphere's centre."""
        centre = np.asarray(xp, float) + rotate(qp, self.contact_origin)
        height = float(times(self.contact_normal, centre - self.contact_offset))
        normal = np.array(self.contact_normal)
        below = centre - height * normal
        return Meeting(height - self.contact_radius, normal, centre - self.contact_radius * normal, below)


@dataclass(frozen=True, eq=False)
class SphereSphereCollision(Collision):
    """Two spheres, at ``origin_parent`` and ``origin_child`` (3,) in their bodies' frames, with their radii [m]."""

    origin_parent: Any = 0.0
    origin_child: Any = 0.0
    radius_parent: float = 0.0
    radius_child: float = 0.0

    def meet(self, xp: ArrayLike, qp: ArrayLike, xc: ArrayLike | None = None, qc: ArrayLike | None = None) -> Meeting:
        """Evaluate along the line of the centres."""
        x, q = self._child(xc, qc)
        centre = np.asarray(xp, float) + rotate(qp, self.origin_parent)
        return _apart(centre, x + rotate(q, self.origin_child), self.radius_parent, self.radius_child)


@dataclass(frozen=True, eq=False)
class SphereCapsuleCollision(Collision):
    """A sphere of the parent against a capsule of the child between the points a and b of its axis [m]."""

    origin_sphere: Any = 0.0
    origin_capsule_a: Any = (0.0, 0.0, -0.5)
    origin_capsule_b: Any = (0.0, 0.0, 0.5)
    radius_sphere: float = 0.0
    radius_capsule: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if norm(self.origin_capsule_b - self.origin_capsule_a) < 1e-12:
            raise ModelError("the capsule's ends coincide: a sphere is SphereSphereCollision", subject="SphereCapsule")

    def meet(self, xp: ArrayLike, qp: ArrayLike, xc: ArrayLike | None = None, qc: ArrayLike | None = None) -> Meeting:
        """Evaluate the sphere's centre and the nearest point of the axis."""
        x, q = self._child(xc, qc)
        centre = np.asarray(xp, float) + rotate(qp, self.origin_sphere)
        a, b = x + rotate(q, self.origin_capsule_a), x + rotate(q, self.origin_capsule_b)
        share = float(np.clip(times(centre - a, b - a) / times(b - a, b - a), 0.0, 1.0))
        return _apart(centre, a + share * (b - a), self.radius_sphere, self.radius_capsule)


@dataclass(frozen=True, eq=False)
class SphereBoxCollision(Collision):
    """A sphere of the parent against a box of the child with edges along the child's axes.

    Attributes
    ----------
    origin_sphere : ndarray, shape (3,)
        Centre of the sphere in the parent's frame [m].
    origin_box_a, origin_box_b : ndarray, shape (3,)
        Opposite corners of the box in the child's frame [m].
    radius_sphere : float
        Radius of the sphere [m].
    """

    origin_sphere: Any = 0.0
    origin_box_a: Any = (-0.5, -0.5, -0.5)
    origin_box_b: Any = (0.5, 0.5, 0.5)
    radius_sphere: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.abs(self.origin_box_b - self.origin_box_a).min() <= 0.0:
            raise ModelError("the box has no volume: its corners are not opposite", subject="SphereBoxCollision")

    @classmethod
    def of_size(
        cls, width: float, depth: float, height: float, *, origin_sphere: ArrayLike = 0.0, radius_sphere: float = 0.0
    ) -> SphereBoxCollision:
        """Make one against a box about the child's centre of mass: edges along x, y and z [m]."""
        half = 0.5 * np.array([width, depth, height])
        return cls(origin_sphere, -half, half, radius_sphere)

    @property
    def width(self) -> float:
        """Edge along x [m]."""
        return float(abs(self.origin_box_b[0] - self.origin_box_a[0]))

    @property
    def depth(self) -> float:
        """Edge along y [m]."""
        return float(abs(self.origin_box_b[1] - self.origin_box_a[1]))

    @property
    def height(self) -> float:
        """Edge along z [m]."""
        return float(abs(self.origin_box_b[2] - self.origin_box_a[2]))

    def meet(self, xp: ArrayLike, qp: ArrayLike, xc: ArrayLike | None = None, qc: ArrayLike | None = None) -> Meeting:
        """Evaluate the nearest point of the box; from inside, through the nearest face."""
        x, q = self._child(xc, qc)
        centre = np.asarray(xp, float) + rotate(qp, self.origin_sphere)
        middle, half = (
            0.5 * (self.origin_box_a + self.origin_box_b),
            0.5 * np.abs(self.origin_box_b - self.origin_box_a),
        )
        local = rotate(conjugate(q), centre - x) - middle
        nearest = np.clip(local, -half, half)
        depth = 0.0
        if (np.abs(local) <= half).all():
            face = int(np.argmin(half - np.abs(local)))
            depth = float(half[face] - abs(local[face]))
            nearest[face] = np.copysign(half[face], local[face])
            normal = np.zeros(3)
            normal[face] = np.copysign(1.0, local[face])
        else:
            normal = (local - nearest) / norm(local - nearest)
        distance = -depth if depth > 0.0 else float(times(local - nearest, normal))
        normal = rotate(q, normal)
        point = x + rotate(q, middle + nearest)
        return Meeting(distance - self.radius_sphere, normal, centre - self.radius_sphere * normal, point)


@dataclass(frozen=True, eq=False)
class StringCollision(Collision):
    """A string between two points with the largest ``length`` [m]: it only pulls."""

    origin_parent: Any = 0.0
    origin_child: Any = 0.0
    length: float = field(default=1.0)

    def meet(self, xp: ArrayLike, qp: ArrayLike, xc: ArrayLike | None = None, qc: ArrayLike | None = None) -> Meeting:
        """Evaluate along the string; the gap is the rest of its length."""
        x, q = self._child(xc, qc)
        near = np.asarray(xp, float) + rotate(qp, self.origin_parent)
        far = x + rotate(q, self.origin_child)
        seen = _apart(near, far, 0.0, 0.0)
        return Meeting(self.length - seen.distance, -seen.normal, near, far)
