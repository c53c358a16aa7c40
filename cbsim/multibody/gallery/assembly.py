"""Putting robots together as descriptions tell them: masses, joints and contact points in the links' own frames.

A body of the core has its frame at its centre of mass; a description puts it at the joint that carries the link. What
turns the one into the other stands here once, with what all robots of the gallery have in common: springs towards the
pose they are built in, bounds and contacts that can be left out, and looks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import norm, times
from cbsim.multibody.coordinates import get_maximal_state, set_maximal_state, set_minimal_coordinates
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.contacts import ContactConstraint, contact_constraint, gap
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.prototypes import Floating, Prototype
from cbsim.spec.mechanism.shapes import Capsule, CombinedShapes, Shape, matrix

__all__ = ["Assembly", "Link", "about", "free_body", "lift", "limb", "merged"]


class Link(NamedTuple):
    """Mass [kg], centre of mass in the link's own frame [m], inertia xx xy xz yy yz zz about it [kg m²]."""

    mass: float
    centre: tuple[float, float, float]
    inertia: tuple[float, float, float, float, float, float]

    @property
    def matrix(self) -> Floats:
        """Inertia (3, 3) [kg m²] about the centre of mass."""
        xx, xy, xz, yy, yz, zz = self.inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    @classmethod
    def of(cls, mass: float, centre: ArrayLike, inertia: ArrayLike) -> Self:
        """Make one from a centre (3,) and an inertia (3, 3)."""
        x, y, z = (float(value) for value in np.ravel(centre))
        six = np.asarray(inertia, float)[np.triu_indices(3)]
        xx, xy, xz, yy, yz, zz = (float(value) for value in six)
        return cls(mass, (x, y, z), (xx, xy, xz, yy, yz, zz))

    def mirrored(self, x: float, y: float) -> Self:
        """Reflect it where a factor is −1: `x` front to rear, `y` left to right."""
        flip = np.array([x, y, 1.0])
        return self.of(self.mass, flip * self.centre, flip[:, None] * self.matrix * flip)

    def placed(self, at: ArrayLike = (0.0, 0.0, 0.0), turned: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> Self:
        """Tell it in another frame, in which its own is at a place (3,) [m], turned by a quaternion (4,)."""
        rotation = matrix(turned)
        inertia = times(times(rotation, self.matrix), rotation.T)
        return self.of(self.mass, np.asarray(at) + times(rotation, self.centre), inertia)


def merged(*links: Link) -> Link:
    """Make one link of several that are told in one frame and never move against each other (Steiner)."""
    mass = math.fsum(link.mass for link in links)
    centre = sum((link.mass * np.array(link.centre) for link in links), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for link in links:
        arm = link.centre - centre
        inertia += link.matrix + link.mass * (times(arm, arm) * np.eye(3) - np.outer(arm, arm))
    return Link.of(mass, centre, inertia)


def about(axis: str, angle: float) -> Floats:
    """Return the quaternion (4,) of a rotation by an angle [rad] about ``"x"``, ``"y"`` or ``"z"``."""
    q = np.zeros(4)
    q[0], q[1 + "xyz".index(axis)] = math.cos(0.5 * angle), math.sin(0.5 * angle)
    return q


def limb(one: ArrayLike, other: ArrayLike, radius: float) -> Capsule:
    """Draw a capsule around the line from one point to another [m]."""
    start, end = np.asarray(one, float), np.asarray(other, float)
    length = float(norm(end - start))
    x, y, z = (end - start) / length
    q = np.array([1.0 + z, -y, x, 0.0]) if z > -1.0 + 1e-12 else np.array([0.0, 1.0, 0.0, 0.0])
    return Capsule(radius, length, position_offset=0.5 * (start + end), orientation_offset=q / norm(q))


def free_body(
    body: Body,
    contacts: Sequence[ContactConstraint] = (),
    *,
    height: float = 0.0,
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    angular_velocity: ArrayLike,
    timestep: float,
    gravity: ArrayLike,
) -> Mechanism:
    """Build one body on a `Floating` joint named ``base``, upright with its centre at a height [m], and in motion."""
    origin = Origin()
    joints = [Floating(origin, body, name="base")]
    mechanism = Mechanism(origin, [body], joints, contacts, timestep=timestep, gravity=gravity)
    at = (0.0, 0.0, height)
    set_maximal_state(mechanism, np.concatenate([at, np.ravel(velocity), (1, 0, 0, 0), np.ravel(angular_velocity)]))
    return mechanism


def lift(mechanism: Mechanism, spots: Sequence[ContactConstraint], height: float) -> None:
    """Move a mechanism along z until the lowest of some spots that touch the ground is at a height [m] above it."""
    pose = get_maximal_state(mechanism).reshape(-1, 13)
    rows = [pose[mechanism.place_of[spot.parent]] for spot in spots]
    lowest = min(gap(spot, row[:3], row[6:10]) for spot, row in zip(spots, rows, strict=True))
    pose[:, 2] += height - lowest
    set_maximal_state(mechanism, pose)


class Assembly:
    """A robot while it is assembled.

    Parameters
    ----------
    pose : mapping
        Coordinates of joints by name, in which it is built and its springs are slack; zero where none are given.
    spring : float
        Of every joint but the first, which carries the base [N m/rad, N/m].
    damper : float, optional
        Likewise [N m s/rad, N s/m]; None: what each joint says.
    limited : bool
        Give joints the bounds that they say.
    friction : float
        Coefficient at every contact.
    contact_type : str
        Law of every contact.
    """

    def __init__(
        self,
        *,
        pose: Mapping[str, Sequence[float]] | None = None,
        spring: float = 0.0,
        damper: float | None = None,
        limited: bool = False,
        friction: float = 0.8,
        contact_type: str = "nonlinear",
    ) -> None:
        self.pose = dict(pose or {})
        self.spring, self.damper, self.limited = spring, damper, limited
        self.friction, self.contact_type = friction, contact_type
        self.origin = Origin()
        self.bodies: dict[str, Body] = {}
        self.centres: dict[str, Floats] = {}
        self.joints: list[JointConstraint] = []
        self.feet: list[ContactConstraint] = []
        self.others: list[ContactConstraint] = []

    def base(
        self,
        name: str,
        link: Link,
        joint: str = "Floating",
        *,
        looks: Sequence[Shape] = (),
        effective: bool = False,
        axis: ArrayLike | None = None,
    ) -> None:
        """Add the link that the origin carries, by a joint named ``base`` at its frame, without spring and bounds."""
        body = self._body(name, link, looks, effective=effective)
        self._joint(joint, self.origin, body, np.zeros(3), "base", axis=axis)

    def add(
        self,
        name: str,
        link: Link,
        parent: str,
        at: ArrayLike,
        axis: ArrayLike | None = None,
        *,
        joint: str = "Revolute",
        turned: ArrayLike | None = None,
        limits: Any = None,
        damper: float = 0.0,
        looks: Sequence[Shape] = (),
    ) -> None:
        """Add a link on a joint at its frame's origin.

        Parameters
        ----------
        parent : str
            The link that carries it, or ``origin``.
        at : array_like, shape (3,)
            Where its frame is in the parent's [m].
        axis : array_like, shape (3,), optional
            Of the joint, in the link's own frame; of a `Prismatic` joint in the parent's.
        turned : array_like, shape (4,), optional
            How its frame is turned in the parent's where all coordinates are zero.
        limits : (low, high), optional
            Bounds of its coordinates.
        damper : float
            What the joint has of itself.
        looks : sequence of Shape
            Shapes in the link's frame.
        """
        label = f"{name}_joint"
        carrier = self.origin if parent == "origin" else self.bodies[parent]
        place = np.asarray(at) - self.centres.get(parent, np.zeros(3))
        self._joint(
            joint, carrier, self._body(name, link, looks), place, label, axis=axis, orientation_offset=turned,
            spring=self.spring, damper=damper if self.damper is None else self.damper,
            spring_offset=self.pose.get(label), joint_limits=limits if self.limited else None,
        )  # fmt: skip

    def touch(self, link: str, at: ArrayLike, radius: float, name: str, *, foot: bool = False) -> None:
        """Let a ball around a point of a link [m] touch the plane z = 0; whether all do is asked in the end."""
        spot = contact_constraint(
            self.bodies[link], (0, 0, 1), friction_coefficient=self.friction, contact_radius=radius,
            contact_origin=np.asarray(at) - self.centres[link], contact_type=self.contact_type, name=f"{name}_contact",
        )  # fmt: skip
        (self.feet if foot else self.others).extend(spot)

    def mechanism(
        self, *, timestep: float, gravity: ArrayLike, ground: bool, body_contacts: bool, height: float | None = None
    ) -> Mechanism:
        """Make the mechanism, in its pose, and lift it to a height [m] of its lowest spot above the ground."""
        contacts = (self.feet if ground else []) + (self.others if body_contacts else [])
        made = Mechanism(
            self.origin, list(self.bodies.values()), self.joints, contacts, timestep=timestep, gravity=gravity
        )
        for joint, coordinates in self.pose.items():
            set_minimal_coordinates(made, joint, coordinates)
        if height is not None:
            lift(made, self.feet + self.others, height)
        return made

    def _body(self, name: str, link: Link, looks: Sequence[Shape], *, effective: bool = False) -> Body:
        centre = np.array(link.centre)
        moved = [shape.replaced(position_offset=shape.position_offset - centre) for shape in looks]
        shape = CombinedShapes(moved) if len(moved) > 1 else next(iter(moved), None)
        self.bodies[name] = body = Body(link.mass, link.matrix, shape, name=name, effective=effective)
        self.centres[name] = centre
        return body

    def _joint(self, kind: str, parent: Body | Origin, child: Body, at: Floats, name: str, **options: Any) -> None:
        vertex = -self.centres[child.name]
        self.joints.append(Prototype(kind, parent, child, parent_vertex=at, child_vertex=vertex, name=name, **options))
