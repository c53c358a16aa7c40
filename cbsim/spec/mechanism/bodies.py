"""Bodies and the origin, and what a mechanism lends to its parts.

A description is frozen. What only a mechanism knows of a part (its number, its state, the impulses of the last step)
stands in the part's `Bond`, which the mechanism fills. The mechanism that was made last of a part holds the bond.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cbsim.errors import ModelError
from cbsim.geometry.linear import eigvalsh
from cbsim.spec.mechanism.shapes import EmptyShape, Shape
from cbsim.spec.mechanism.state import State
from cbsim.spec.mechanism.values import Array, array, floats, number

__all__ = ["Body", "Bond", "Node", "Origin"]

NOTHING = np.zeros(0)


class Bond:
    """What a mechanism lends to one of its parts.

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
    """The world's frame, that never moves: number 0, named ``origin``. There is one world: all origins are equal."""

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
        Take an inertia that no distribution of mass has, as models of gears and rotors state it: the last condition is
        left out.
    kinematic : bool
        Whether its motion is prescribed (the term of Box2D and Bullet): it moves with the velocities of its state, step
        by step, and no contact, joint, force or gravity changes them. What touches it or hangs on it feels its motion.
        Its mass and inertia do not matter to that. It hangs on the world by a `Floating` joint, whose inputs do
        nothing, and has no contact with the world and with other kinematic bodies.
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
        """Where the body is and how it moves, in the mechanism that was made last of it."""
        return self.bond.state


def _check_inertia(inertia: Array, who: str, effective: bool) -> None:
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
