"""Shapes of bodies, with their inertia at uniform density.

A shape takes no part in collisions; contacts do (`cbsim.spec.mechanism.contacts`). All inertias come from one thing:
the second moments Σ of the mass about its centre per unit of mass: J = m (tr Σ 1 − Σ). Scaling by S turns Σ into
S Σ S, a rotation R into R Σ Rᵀ, parts add up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.geometry.elementary import square
from cbsim.geometry.linear import times
from cbsim.spec.mechanism.bodies import Body, EmptyShape, Shape, inertia_of, matrix
from cbsim.spec.mechanism.values import vector

__all__ = [
    "Box",
    "Capsule",
    "CombinedShapes",
    "Cylinder",
    "EmptyShape",
    "FrameShape",
    "Pyramid",
    "Shape",
    "Sphere",
    "inertia_of",
    "matrix",
]


@dataclass(frozen=True, eq=False)
class FrameShape(Shape):
    """A coordinate frame to look at; as a body its inertia is the mass times 1 m² about every axis."""

    mass: float | None = None

    @property
    def moments(self) -> Floats:
        """Half a square metre along every axis."""
        return 0.5 * np.eye(3)


@dataclass(frozen=True, eq=False)
class Box(Shape):
    """Cuboid with edges x, y, z [m]; J = m/12 diag(y² + z², x² + z², x² + y²)."""

    x: float
    y: float
    z: float
    mass: float | None = None
    LENGTHS: ClassVar[tuple[str, ...]] = ("x", "y", "z")

    @property
    def xyz(self) -> Floats:
        """Edges (3,) [m]."""
        return np.array([self.x, self.y, self.z])

    @property
    def moments(self) -> Floats:
        """Edges squared over twelve."""
        return np.diag(square(self.xyz)) / 12.0


@dataclass(frozen=True, eq=False)
class Cylinder(Shape):
    """Cylinder of radius r and height h [m] along z; J = m/12 diag(3r² + h², 3r² + h², 6r²)."""

    r: float
    h: float
    mass: float | None = None
    LENGTHS: ClassVar[tuple[str, ...]] = ("r", "h")

    @property
    def rh(self) -> Floats:
        """Radius and height (2,) [m]."""
        return np.array([self.r, self.h])

    @property
    def moments(self) -> Floats:
        """r²/4 across, h²/12 along."""
        across = square(self.r) / 4.0
        return np.diag([across, across, square(self.h) / 12.0])


@dataclass(frozen=True, eq=False)
class Capsule(Shape):
    """Cylinder of radius r and height h [m] along z between two half spheres of the same density."""

    r: float
    h: float
    mass: float | None = None
    LENGTHS: ClassVar[tuple[str, ...]] = ("r", "h")

    @property
    def rh(self) -> Floats:
        """Radius and height of the cylindrical part (2,) [m]."""
        return np.array([self.r, self.h])

    @property
    def moments(self) -> Floats:
        """Cylinder and half spheres, by their shares of the volume.

        Notes
        -----
        A half sphere has r²/5 along every axis about the centre of its flat side, and its centre is 3r/8 from there.
        """
        caps = (4.0 / 3.0 * self.r) / (4.0 / 3.0 * self.r + self.h)
        across = (1.0 - caps) * square(self.r) / 4.0 + caps * square(self.r) / 5.0
        along_cap = square(self.r) / 5.0 + 3.0 / 8.0 * self.r * self.h + square(self.h) / 4.0
        return np.diag([across, across, (1.0 - caps) * square(self.h) / 12.0 + caps * along_cap])


@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """Ball of radius r [m]; J = 2/5 m r²."""

    r: float
    mass: float | None = None
    LENGTHS: ClassVar[tuple[str, ...]] = ("r",)

    @property
    def moments(self) -> Floats:
        """r²/5 along every axis."""
        return square(self.r) / 5.0 * np.eye(3)


@dataclass(frozen=True, eq=False)
class Pyramid(Shape):
    """Square pyramid of width w and height h [m], tip up, centre of mass h/4 above the base."""

    w: float
    h: float
    mass: float | None = None
    LENGTHS: ClassVar[tuple[str, ...]] = ("w", "h")

    @property
    def wh(self) -> Floats:
        """Width and height (2,) [m]."""
        return np.array([self.w, self.h])

    @property
    def moments(self) -> Floats:
        """w²/20 across, 3h²/80 along: J = m/80 diag(4w² + 3h², 4w² + 3h², 8w²)."""
        across = square(self.w) / 20.0
        return np.diag([across, across, 3.0 * square(self.h) / 80.0])


@dataclass(frozen=True, eq=False)
class CombinedShapes(Shape):
    """Several shapes as one.

    Attributes
    ----------
    shape : tuple of Shape
        The parts, each with its own offsets in this shape's frame. Parts that have a mass make up the body's.
    xyz : ndarray, shape (3,)
        A size to remember [m]; nothing follows from it.
    """

    shape: Sequence[Shape]
    xyz: Any = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.shape, Iterable):
            raise ModelError(f"shape is {self.shape!r}, expected a sequence of Shape", subject="CombinedShapes")
        parts = tuple(self.shape)
        for part in parts:
            if not isinstance(part, Shape):
                raise ModelError(f"{part!r} is no shape", subject="CombinedShapes")
        self._settle("shape", parts)
        self._settle("xyz", vector(self.xyz, "CombinedShapes", "xyz"))

    @property
    def mass(self) -> float | None:
        """Mass of all parts [kg], or None if one has none."""
        masses = [getattr(part, "mass", None) for part in self.shape]
        return None if None in masses or not masses else math.fsum(float(m or 0.0) for m in masses)

    @property
    def centre(self) -> Floats:
        """Centre of mass (3,) [m] of the parts, in this shape's frame, without scale."""
        weights = np.array([part.weight() for part in self.shape])
        return np.asarray(times(weights, [part.position_offset for part in self.shape]) / weights.sum())

    @property
    def moments(self) -> Floats:
        """Moments of the parts, each moved to the common centre (Steiner)."""
        total, centre = np.zeros((3, 3)), self.centre
        for part in self.shape:
            arm = part.position_offset - centre
            total += part.weight() * (part.turned_moments() + np.outer(arm, arm))
        return np.asarray(total / math.fsum(part.weight() for part in self.shape))

    def body(self, mass: float | None = None, *, name: str = "") -> Body:
        """Make a body whose centre of mass is the parts' common one: they are moved so that it is the body's origin."""
        shift = self.centre
        parts = [part.replaced(position_offset=part.position_offset - shift) for part in self.shape]
        return Shape.body(self.replaced(shape=parts), mass, name=name)
