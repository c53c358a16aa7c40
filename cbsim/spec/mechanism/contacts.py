"""Contacts between bodies: a collision with a friction law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.errors import ModelError, did_you_mean
from cbsim.spec.mechanism.bodies import Body, Node, Origin
from cbsim.spec.mechanism.collisions import Collision, Meeting, SphereHalfSpaceCollision, tangents_of
from cbsim.spec.mechanism.drives import softness_of
from cbsim.spec.mechanism.values import array, floats, number

__all__ = [
    "CONTACT_TYPES",
    "Contact",
    "ContactConstraint",
    "ForceContact",
    "ImpactContact",
    "LinearContact",
    "NonlinearContact",
    "contact_constraint",
    "contact_location",
    "contact_normal",
    "contact_tangent",
    "gap",
]


@dataclass(frozen=True, eq=False)
class Contact:
    """A contact law at a collision, with the collision's attributes.

    Attributes
    ----------
    collision : Collision
        Pair of shapes.
    restitution : float
        Ratio of separation to closing speed, 0 to 1. Below twice the velocity by gravity in a step, nothing bounces.
    softness : (float, float)
        ERP and CFM as ODE has them: the share of a penetration that a step takes away, more than 0 and at most 1, and
        how far bodies sink in per impulse, at least 0 [m/(N s)]. (1, 0) is rigid.
    """

    collision: Collision
    restitution: float = field(default=0.0, kw_only=True)
    softness: Any = field(default=(1.0, 0.0), kw_only=True)

    def __post_init__(self) -> None:
        who = type(self).__name__
        if not isinstance(self.collision, Collision):
            raise ModelError(f"collision is {self.collision!r}, expected a Collision", subject=who)
        bounce = number(self.restitution, who, "restitution", least=0.0)
        if bounce > 1.0:
            raise ModelError(f"restitution is {bounce:g}, expected 0 to 1", subject=who)
        object.__setattr__(self, "restitution", bounce)
        object.__setattr__(self, "softness", softness_of(self.softness, who, "softness"))

    @property
    def mu(self) -> float:
        """Coefficient of friction, 0 where there is none; of a `ForceContact` its limit [N]."""
        return 0.0

    @property
    def contact_normal(self) -> Floats:
        """The half-space's normal (3,)."""
        return self._half_space().contact_normal  # type: ignore[no-any-return]

    @property
    def contact_tangent(self) -> Floats:
        """The half-space's tangents (2, 3)."""
        return self._half_space().contact_tangent

    @property
    def contact_origin(self) -> Floats:
        """The sphere's centre in its body's frame (3,) [m]."""
        return self._half_space().contact_origin  # type: ignore[no-any-return]

    @property
    def contact_radius(self) -> float:
        """The sphere's radius [m]."""
        return self._half_space().contact_radius

    @property
    def contact_offset(self) -> Floats:
        """A point of the plane (3,) [m]."""
        return self._half_space().contact_offset  # type: ignore[no-any-return]

    def _half_space(self) -> SphereHalfSpaceCollision:
        if not isinstance(self.collision, SphereHalfSpaceCollision):
            raise ModelError("only a half-space has one; ask the collision", subject=type(self.collision).__name__)
        return self.collision


@dataclass(frozen=True, eq=False)
class ImpactContact(Contact):
    """No friction: gap and normal impulse, one of them zero."""


@dataclass(frozen=True, eq=False)
class _Rough(Contact):
    """A contact with friction.

    Attributes
    ----------
    friction_coefficient : float
        Largest friction per normal force, at least 0.
    """

    friction_coefficient: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        given = number(self.friction_coefficient, type(self).__name__, "friction_coefficient", least=0.0)
        object.__setattr__(self, "friction_coefficient", given)

    @property
    def mu(self) -> float:
        """Coefficient of friction."""
        return self.friction_coefficient


@dataclass(frozen=True, eq=False)
class LinearContact(_Rough):
    """Friction from a four-sided pyramid along the tangents."""


@dataclass(frozen=True, eq=False)
class NonlinearContact(_Rough):
    """Friction from a round cone (Coulomb)."""


@dataclass(frozen=True, eq=False)
class ForceContact(_Rough):
    """Friction up to a force along each of two tangents, whatever presses the bodies together, while they touch.

    Attributes
    ----------
    friction_coefficient : float
        The largest friction along each tangent [N], at least 0. A body that comes down slips freely until the end of
        the step in which it touches.
    """


CONTACT_TYPES: dict[str, type[Contact]] = {
    "impact": ImpactContact,
    "linear": LinearContact,
    "nonlinear": NonlinearContact,
    "force": ForceContact,
}


@dataclass(frozen=True, eq=False)
class ContactConstraint(Node):
    """A contact of a body with the world, or of two bodies.

    Attributes
    ----------
    model : Contact
        Law and collision.
    parent : Body
        The body that carries the sphere.
    child : Body or Origin
        The other body; the origin for a half-space.
    """

    model: Contact
    parent: Body
    child: Body | Origin | None = None

    def __post_init__(self) -> None:
        who = f"contact '{self.name}'" if self.name else "contact"
        if not isinstance(self.model, Contact):
            raise ModelError(f"its model is {self.model!r}, expected a Contact", subject=who)
        if not isinstance(self.parent, Body):
            raise ModelError(f"its parent is {self.parent!r}, expected a body", subject=who)
        if self.parent is self.child:
            raise ModelError(f"is between '{self.parent.name}' and itself", subject=who)
        against_world = isinstance(self.model.collision, SphereHalfSpaceCollision)
        if against_world == isinstance(self.child, Body):
            need = (
                "no other body" if against_world else "a body as its child (a Fixed joint makes one that stands still)"
            )
            raise ModelError(f"{type(self.model.collision).__name__} needs {need}", subject=who)

    @property
    def parent_id(self) -> int:
        """Number of the body that carries the sphere."""
        return self.parent.id

    @property
    def child_id(self) -> int:
        """Number of the other body, 0 for the world."""
        return self.child.id if isinstance(self.child, Body) else 0

    @property
    def impulses(self) -> Floats:
        """Impulses of the last solve [N s]: normal; nonlinear also cone and frictions (4), linear all six.

        Of a `ForceContact` the normal one, then of each tangent's friction how far it is from its two bounds.
        """
        return self._owner().contact_impulses(self.bond.place)  # type: ignore[no-any-return]

    @property
    def impulses_dual(self) -> Floats:
        """Slacks of the last solve, complementary to the impulses: gap [m] first, then those of friction [m/s]."""
        return self._owner().contact_slacks(self.bond.place)  # type: ignore[no-any-return]

    def _owner(self) -> Any:
        if self.bond.owner is None:
            raise ModelError("belongs to no mechanism yet", subject=f"contact '{self.name}'")
        return self.bond.owner


def contact_constraint(  # noqa: PLR0913 (what a contact has)
    body_or_bodies: Body | Sequence[Body],
    normal_or_normals: ArrayLike,
    *,
    friction_coefficient: ArrayLike = 1.0,
    contact_origin: ArrayLike | None = None,
    contact_radius: ArrayLike = 0.0,
    contact_offset: ArrayLike | None = None,
    name: str | Sequence[str] = "",
    contact_type: str = "nonlinear",
    restitution: ArrayLike = 0.0,
    softness: tuple[float, float] = (1.0, 0.0),
) -> list[ContactConstraint]:
    """Make contacts of bodies with half-spaces.

    Every argument but `contact_type` and `softness` is either one, for all contacts, or one for each; at least one of
    them says how many there are, else there is one.

    Parameters
    ----------
    body_or_bodies : Body or sequence of Body
        Bodies of the contacts.
    normal_or_normals : array_like, shape (3,) or (n, 3)
        Out of the half-space.
    friction_coefficient : float or (n,)
        Not used by ``"impact"``; with ``"force"`` the limit of friction along each tangent [N].
    contact_origin : array_like, shape (3,) or (n, 3)
        Centre of the sphere from the body's centre of mass, in its frame [m].
    contact_radius : float or (n,)
        Radius of the sphere [m].
    contact_offset : array_like, shape (3,) or (n, 3)
        A point of the plane [m].
    name : str or sequence of str
        One name for several contacts is numbered: ``foot_1``, ``foot_2``.
    contact_type : str
        ``"impact"``, ``"linear"``, ``"nonlinear"`` or ``"force"``.
    restitution : float or (n,)
        Share of the closing speed with which bodies part again, 0 to 1.
    softness : (float, float)
        ERP and CFM of the contacts; (1, 0) is rigid.
    """
    if not isinstance(contact_type, str) or contact_type not in CONTACT_TYPES:
        hint = did_you_mean(str(contact_type), CONTACT_TYPES)
        raise ModelError(f"there is no contact_type {contact_type!r}, only {', '.join(CONTACT_TYPES)} {hint}".rstrip())
    bodies = _listed(body_or_bodies, Body, "body")
    names = _listed(name, str, "name")
    columns = {
        "body": bodies,
        "normal": _rows(normal_or_normals, "normal"),
        "friction_coefficient": _numbers(friction_coefficient, "friction_coefficient"),
        "contact_origin": _rows(0.0 if contact_origin is None else contact_origin, "contact_origin"),
        "contact_radius": _numbers(contact_radius, "contact_radius"),
        "contact_offset": _rows(0.0 if contact_offset is None else contact_offset, "contact_offset"),
        "restitution": _numbers(restitution, "restitution"),
        "name": names,
    }
    count = max(len(column) for column in columns.values())
    for what, column in columns.items():
        if len(column) not in {1, count}:
            raise ModelError(f"{what} has {len(column)} rows, expected 1 or {count}", subject="contact_constraint")
    law = CONTACT_TYPES[contact_type]
    made = []
    for i in range(count):
        row = {what: column[i if len(column) > 1 else 0] for what, column in columns.items()}
        collision = SphereHalfSpaceCollision(
            row["normal"], row["contact_origin"], row["contact_radius"], row["contact_offset"]
        )
        rough = () if law is ImpactContact else (row["friction_coefficient"],)
        model = law(collision, *rough, restitution=row["restitution"], softness=softness)
        label = row["name"] if len(names) > 1 or count == 1 or not row["name"] else f"{row['name']}_{i + 1}"
        made.append(ContactConstraint(model, row["body"], name=label))
    return made


T = TypeVar("T")


def _listed(value: T | Sequence[T], kind: type[T], what: str) -> list[T]:
    """Return one or several of a kind as a list."""
    if isinstance(value, kind):
        return [value]
    if not isinstance(value, (list, tuple)) or not all(isinstance(each, kind) for each in value):
        text = f"{what} is {value!r}, expected one or several of {kind.__name__}"
        raise ModelError(text, subject="contact_constraint")
    return list(value)


def _numbers(value: ArrayLike, what: str) -> list[float]:
    given: list[float] = np.ravel(floats(value, "contact_constraint", what)).tolist()
    return given


def _rows(value: ArrayLike, what: str) -> list[Any]:
    given: Floats = np.array(_numbers(value, what)).reshape(np.shape(value))
    if given.ndim == 0 and given == 0.0:
        given = np.zeros(3)
    if given.shape[-1:] != (3,) or given.ndim not in {1, 2}:
        raise ModelError(f"{what} has the shape {given.shape}, expected (3,) or (n, 3)", subject="contact_constraint")
    return list(given.reshape(-1, 3))


def _meeting(
    contact: ContactConstraint | Contact | Collision,
    x: ArrayLike, q: ArrayLike, xc: ArrayLike | None, qc: ArrayLike | None,
) -> Meeting:  # fmt: skip
    law = contact.model if isinstance(contact, ContactConstraint) else contact
    collision = law.collision if isinstance(law, Contact) else law
    if not isinstance(collision, Collision):
        raise ModelError(f"{contact!r} is no contact, and no collision either")
    who = type(collision).__name__
    child = [None if v is None else array(v, (n,), who, what)
             for v, n, what in ((xc, 3, "position of the child"), (qc, 4, "orientation of the child"))]  # fmt: skip
    return collision.meet(array(x, (3,), who, "position"), array(q, (4,), who, "orientation"), *child)


def contact_location(
    contact: ContactConstraint | Contact | Collision,
    x: ArrayLike,
    q: ArrayLike,
    xc: ArrayLike | None = None,
    qc: ArrayLike | None = None,
) -> Floats:
    """Where the contact's point on the parent is in the world (3,) [m]: x + R p − n r.

    Parameters
    ----------
    x, q : array_like, shape (3,), (4,)
        The parent's position and orientation.
    xc, qc : array_like, optional
        The child's, where it is a body.
    """
    return _meeting(contact, x, q, xc, qc).parent_point


def gap(
    contact: ContactConstraint | Contact | Collision,
    x: ArrayLike,
    q: ArrayLike,
    xc: ArrayLike | None = None,
    qc: ArrayLike | None = None,
) -> float:
    """Signed distance [m] of a contact: n·(x + R p − offset) − r for a half-space."""
    return _meeting(contact, x, q, xc, qc).distance


def contact_normal(
    collision: Collision, xp: ArrayLike, qp: ArrayLike, xc: ArrayLike | None = None, qc: ArrayLike | None = None
) -> Floats:
    """Contact normal (3,) from child to parent, of length one; that of a string points the other way: it pulls."""
    return _meeting(collision, xp, qp, xc, qc).normal


def contact_tangent(
    collision: Collision, xp: ArrayLike, qp: ArrayLike, xc: ArrayLike | None = None, qc: ArrayLike | None = None
) -> Floats:
    """Two tangents (2, 3) of the contact, of length one, normal to each other and to the normal."""
    return tangents_of(contact_normal(collision, xp, qp, xc, qc))
