"""Shapes: what a body looks like, and the inertia it has when it is filled evenly.

A shape takes no part in collisions; contacts do (`cbsim.spec.mechanism.contacts`). All inertias come from one thing:
the second moments Σ of the mass about its centre per unit of mass: J = m (tr Σ 1 − Σ). Scaling by S turns Σ into
S Σ S, a rotation R into R Σ Rᵀ, parts add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from cbsim.errors import ModelError
from cbsim.geometry.elementary import square
from cbsim.geometry.linear import times
from cbsim.geometry.pose import rotate
from cbsim.spec.mechanism.values import Array, array, number, quaternion, vector

if TYPE_CHECKING:
    from cbsim.spec.mechanism.bodies import Body

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


def matrix(q: ArrayLike) -> Array:
    """Rotation matrix (3, 3) of a unit quaternion, scalar first."""
    return np.asarray(rotate(q, np.eye(3)).T)


def inertia_of(mass: float, moments: ArrayLike) -> Array:
    """Inertia (3, 3) [kg m²] about the centre from second moments (3, 3) [m²] per unit of mass."""
    given = np.asarray(moments, float)
    return np.asarray(mass * (np.trace(given) * np.eye(3) - given))


@dataclass(frozen=True, eq=False, kw_only=True)
class Shape:
    """Geometry of a body.

    Attributes
    ----------
    mass : float or None
        What the shape weighs when it becomes a body [kg].
    position_offset : ndarray, shape (3,)
        Centre of the geometry from the body's centre of mass [m].
    orientation_offset : ndarray, shape (4,)
        The geometry's frame in the body's, a unit quaternion, scalar first.
    scale : ndarray, shape (3,)
        Factors along the geometry's axes; they count for inertia too.
    color : ndarray, shape (4,)
        Red, green, blue, opacity, from 0 to 1.
    """

    position_offset: Any = None
    orientation_offset: Any = None
    scale: Any = 1.0
    color: Any = (0.75, 0.75, 0.75, 1.0)

    LENGTHS: ClassVar[tuple[str, ...]] = ()  # names of the sizes that a subclass has

    def __post_init__(self) -> None:
        who = type(self).__name__
        for name in self.LENGTHS:
            if number(getattr(self, name), who, name) <= 0.0:
                raise ModelError(f"{name} is {getattr(self, name)!r}, expected a length above 0 m", subject=who)
            self._settle(name, float(getattr(self, name)))
        self._settle("position_offset", vector(self.position_offset, who, "position_offset"))
        self._settle("orientation_offset", quaternion(self.orientation_offset, who, "orientation_offset"))
        self._settle("scale", array(self.scale, (3,), who, "scale"))
        self._settle("color", array(self.color, (4,), who, "color"))

    def _settle(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def moments(self) -> Array:
        """Second moments (3, 3) [m²] per unit of mass about the geometry's centre, in its frame, without scale."""
        raise ModelError("has no inertia of its own: give the body's", subject=type(self).__name__)

    def turned_moments(self) -> Array:
        """Second moments (3, 3) [m²] per unit of mass, scaled, in the body's frame."""
        rotation = matrix(self.orientation_offset)
        scaled = times(times(np.diag(self.scale), self.moments), np.diag(self.scale))
        return np.asarray(times(times(rotation, scaled), rotation.T))

    def weight(self, mass: float | None = None) -> float:
        """Mass [kg]: the one given, else the shape's own."""
        chosen = getattr(self, "mass", None) if mass is None else mass
        if chosen is None:
            raise ModelError("has no mass: give mass=…", subject=type(self).__name__)
        return number(chosen, type(self).__name__, "mass")

    def inertia(self, mass: float | None = None) -> Array:
        """Inertia (3, 3) [kg m²] about the geometry's own centre, in the body's frame."""
        return inertia_of(self.weight(mass), self.turned_moments())

    def body(self, mass: float | None = None, *, name: str = "") -> Body:
        """Make a body filled evenly, whose centre of mass is that of the geometry.

        A position offset says that the geometry is drawn elsewhere; it does not move the mass.
        """
        from cbsim.spec.mechanism.bodies import Body

        return Body(self.weight(mass), self.inertia(mass), self, name=name)

    def replaced(self, **changes: object) -> Self:
        """Return a copy with other offsets, scale, color or sizes."""
        return replace(self, **changes)


@dataclass(frozen=True, eq=False)
class EmptyShape(Shape):
    """No geometry at all."""


@dataclass(frozen=True, eq=False)
class FrameShape(Shape):
    """A coordinate frame to look at; as a body its inertia is the mass times 1 m² about every axis."""

    mass: float | None = None

    @property
    def moments(self) -> Array:
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
    def xyz(self) -> Array:
        """Edges (3,) [m]."""
        return np.array([self.x, self.y, self.z])

    @property
    def moments(self) -> Array:
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
    def rh(self) -> Array:
        """Radius and height (2,) [m]."""
        return np.array([self.r, self.h])

    @property
    def moments(self) -> Array:
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
    def rh(self) -> Array:
        """Radius and height of the cylindrical part (2,) [m]."""
        return np.array([self.r, self.h])

    @property
    def moments(self) -> Array:
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
    def moments(self) -> Array:
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
    def wh(self) -> Array:
        """Width and height (2,) [m]."""
        return np.array([self.w, self.h])

    @property
    def moments(self) -> Array:
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
        return None if None in masses or not masses else sum(float(m or 0.0) for m in masses)

    @property
    def centre(self) -> Array:
        """Centre of mass (3,) [m] of the parts, in this shape's frame, without scale."""
        weights = np.array([part.weight() for part in self.shape])
        return np.asarray(times(weights, [part.position_offset for part in self.shape]) / weights.sum())

    @property
    def moments(self) -> Array:
        """Moments of the parts, each moved to the common centre (Steiner)."""
        total, centre = np.zeros((3, 3)), self.centre
        for part in self.shape:
            arm = part.position_offset - centre
            total += part.weight() * (part.turned_moments() + np.outer(arm, arm))
        return np.asarray(total / sum(part.weight() for part in self.shape))

    def body(self, mass: float | None = None, *, name: str = "") -> Body:
        """Make a body whose centre of mass is the parts' common one: they are moved so that it is the body's origin."""
        shift = self.centre
        parts = [part.replaced(position_offset=part.position_offset - shift) for part in self.shape]
        return Shape.body(self.replaced(shape=parts), mass, name=name)
