"""Bodies, the origin, the base class of shapes, and the `Bond` of a part to its mechanism.

A description is frozen. What only a mechanism knows of a part (its number, its state, the impulses of the last step)
is kept in the part's `Bond`, which the mechanism fills. A part belongs to the mechanism constructed last from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.geometry.linear import eigvalsh, times
from cbsim.geometry.pose import rotate
from cbsim.spec.mechanism.state import State
from cbsim.spec.mechanism.values import array, floats, number, quaternion, vector

__all__ = ["Body", "Bond", "EmptyShape", "Node", "Origin", "Shape", "inertia_of", "matrix"]


def matrix(q: ArrayLike) -> Floats:
    """Rotation matrix (3, 3) of a unit quaternion, scalar first."""
    return np.asarray(rotate(q, np.eye(3)).T)


def inertia_of(mass: float, moments: ArrayLike) -> Floats:
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
    def moments(self) -> Floats:
        """Second moments (3, 3) [m²] per unit of mass about the geometry's centre, in its frame, without scale."""
        raise ModelError("has no inertia of its own: give the body's", subject=type(self).__name__)

    def turned_moments(self) -> Floats:
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

    def inertia(self, mass: float | None = None) -> Floats:
        """Inertia (3, 3) [kg m²] about the geometry's own centre, in the body's frame."""
        return inertia_of(self.weight(mass), self.turned_moments())

    def body(self, mass: float | None = None, *, name: str = "") -> Body:
        """Build a body of uniform density, whose centre of mass is that of the geometry.

        A position offset moves the drawn geometry only, not the mass.
        """
        return Body(self.weight(mass), self.inertia(mass), self, name=name)

    def replaced(self, **changes: object) -> Self:
        """Return a copy with other offsets, scale, color or sizes."""
        return replace(self, **changes)


@dataclass(frozen=True, eq=False)
class EmptyShape(Shape):
    """No geometry at all."""


class Bond:
    """Reference of a part to its mechanism, with its number and state there.

    Attributes
    ----------
    id : int
        Number among the mechanism's nodes; -1 while the part belongs to none.
    state : State
        A body's state.
    place : int
        Number among parts of its kind.
    owner : object
        The mechanism, or None.
    """

    __slots__ = ("id", "owner", "place", "state")

    def __init__(self) -> None:
        self.id = -1
        self.place = -1
        self.owner: Any = None
        self.state = State()

    def __reduce__(self) -> tuple[type[Bond], tuple[()]]:
        """Copy to an empty bond: a copied part belongs to no mechanism until one is made of it."""
        return Bond, ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Node:
    """A named part of a mechanism.

    Attributes
    ----------
    name : str
        Unique in a mechanism, which names its unnamed parts by kind and number, such as ``body_3``.
    """

    name: str = ""
    bond: Bond = field(default_factory=Bond, repr=False)

    @property
    def id(self) -> int:
        """Number in the mechanism: the origin 0, joints from 1, then bodies, then contacts; -1 outside of one."""
        return self.bond.id


@dataclass(frozen=True, eq=False)
class Origin(Node):
    """The fixed world frame: number 0, named ``origin``. All origins are equal."""

    shape: Shape = field(default_factory=EmptyShape)
    name: str = field(default="origin", kw_only=True)

    def __post_init__(self) -> None:
        if self.name != "origin":
            raise ModelError("the origin is always named 'origin'", subject=repr(self.name))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origin)

    def __hash__(self) -> int:
        return hash(Origin)

    @property
    def id(self) -> int:
        """Always 0."""
        return 0

    @property
    def state(self) -> State:
        """A state of zeros."""
        return State()


@dataclass(frozen=True, eq=False)
class Body(Node):
    """A rigid body.

    Parameters
    ----------
    mass : float
        Mass [kg], above 0.
    inertia : array_like, shape (3, 3)
        Inertia about the centre of mass in the body's frame [kg m²]: symmetric, positive definite, no moment about an
        axis above the sum of those about two axes normal to it and each other.
    shape : Shape, optional
        What it looks like.
    name : str, optional
        Its name.
    effective : bool
        Allow an inertia that no distribution of mass has, as in models of gears and rotors: the last condition is not
        checked.
    kinematic : bool
        Whether its motion is prescribed (the term of Box2D and Bullet): it moves with the velocities of its state, step
        by step, and no contact, joint, force or gravity changes them. It acts on bodies in contact with it or
        jointed to it; its mass and inertia have no effect. It needs a `Floating` joint to the world, whose inputs have
        no effect, and has no contacts with the world and with other kinematic bodies.
    """

    mass: float
    inertia: Any
    shape: Any = None
    effective: bool = field(default=False, kw_only=True)
    kinematic: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        who = f"body '{self.name}'" if self.name else "body"
        settle = object.__setattr__
        settle(self, "mass", number(self.mass, who, "mass"))
        if self.mass <= 0.0:
            raise ModelError(f"mass is {self.mass:g} kg, expected more than 0", subject=who)
        if not floats(self.inertia, who, "inertia", "3 x 3 numbers").ndim:
            raise ModelError(f"inertia is {self.inertia!r}, expected 3 x 3 numbers", subject=who)
        settle(self, "inertia", array(self.inertia, (3, 3), who, "inertia"))
        _check_inertia(self.inertia, who, self.effective)
        settle(self, "shape", EmptyShape() if self.shape is None else self.shape)
        if not isinstance(self.shape, Shape):
            raise ModelError(f"shape is {self.shape!r}, expected a Shape", subject=who)

    @property
    def state(self) -> State:
        """State of the body in the mechanism constructed last from it."""
        return self.bond.state


def _check_inertia(inertia: Floats, who: str, effective: bool) -> None:
    scale = float(np.abs(inertia).max())
    if np.abs(inertia - inertia.T).max() > 1e-9 * scale:
        raise ModelError("inertia is not symmetric", subject=who)
    moments = eigvalsh(0.5 * (inertia + inertia.T))
    text = ", ".join(f"{m:.6g}" for m in moments)
    if moments[0] <= 1e-14 * scale:
        raise ModelError(f"inertia has the principal moments {text} kg m², expected all above 0", subject=who)
    if not effective and moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-9):
        raise ModelError(
            f"inertia has the principal moments {text} kg m², and no body has one above the sum of the other two "
            "(effective=True takes it all the same)",
            subject=who,
        )
