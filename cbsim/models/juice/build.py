"""Mechanism of a `JuiceModel`: bodies, joints, motors, stops, contacts with the ground.

Bodies have the file's axes and poses, in which every joint is at zero. ERP and CFM soften stops, motors, contacts and
points of joints as in ODE. Rotations of joints are rigid, and so are sliders and all joints of bodies in loops, which
stay closed. Joints that are locked by others weld their bodies. In each group of connected bodies, one floats and is
the root of the rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from networkx.utils import UnionFind

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.geometry.pose import conjugate, multiply, rotate
from cbsim.models.juice.compliance import Point
from cbsim.models.juice.groups import Group, groups_of
from cbsim.models.juice.poses import axis_of, orientation_of, vector_of
from cbsim.models.juice.solids import ground_points, is_flat, shape_of
from cbsim.spec.juice import JointKind, JuiceBody, JuiceJoint, JuiceModel
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.contacts import ContactConstraint, contact_constraint
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.drives import Motor
from cbsim.spec.mechanism.joints import JointConstraint, make_joint
from cbsim.spec.mechanism.prototypes import Floating

__all__ = ["Built", "Choices", "Servo", "build", "mechanism_of", "stops_of"]

LOCKED = 1e-5  # range of a joint whose two stops are equal [rad or m]
RADIAN = math.pi / 180.0
BACK = 20.0  # [rad/s or m/s] largest rate of correction of what starts beyond a stop or below the ground
STILL = 180.0  # [degrees] stops of hinges beyond this never act


class Choices(NamedTuple):
    """Settings of a user; see ``docs/formats/juice.md``."""

    joint_axis: str = "compat"
    friction_law: str = "force"
    cylinder_inertia: str = "capsule"
    joints: str = "soft"


class Servo(NamedTuple):
    """A joint with a motor, for behaviours.

    Attributes
    ----------
    joint : JuiceJoint
        What the file says of it.
    input : int
        Index of its input in the mechanism.
    parent, child : int
        Bodies that it connects in the mechanism.
    offset : (4,)
        Orientation of the child in the parent's frame at design time.
    axis : (3,)
        Of a hinge in the child's frame, of a slider in the parent's.
    arms : (2, 3)
        The joint's point in the parent's and the child's frame [m].
    """

    joint: JuiceJoint
    input: int
    parent: int
    child: int
    offset: Floats
    axis: Floats
    arms: Floats


@dataclass(frozen=True)
class Built:
    """A mechanism with the maps from the model.

    Attributes
    ----------
    spec : MechanismSpec
    start : dict
        Name of a joint → coordinates at the start.
    servos : dict
        ID of a joint with a motor → `Servo`.
    bodies : dict
        ID → body.
    names : dict
        ID of a joint → its name in the mechanism.
    points : tuple of Point
        Joints whose points give way.
    welds : UnionFind
        Bodies, by their IDs, that locked joints weld together.
    """

    spec: MechanismSpec
    start: dict[str, tuple[float, ...]]
    servos: dict[int, Servo]
    bodies: dict[int, Body]
    names: dict[int, str] = field(default_factory=dict)
    points: tuple[Point, ...] = ()
    welds: UnionFind[int] = field(default_factory=UnionFind)


def mechanism_of(model: JuiceModel, timestep: float = 0.01) -> MechanismSpec:
    """Build the mechanism of a model without motors, softness and contacts, which only runs need."""
    return build(model, timestep, Choices(), frozenset(), touching=False).spec


def build(
    model: JuiceModel, timestep: float, choices: Choices, driven: frozenset[int], *, touching: bool = True
) -> Built:
    """Build the mechanism of a model whose file has no errors.

    Parameters
    ----------
    model : JuiceModel
    timestep : float
        [s].
    choices : Choices
    driven : frozenset of int
        Joints that behaviours drive, which get motors. The others are free, as in Juice.
    touching : bool
        Let bodies touch the ground, and soften stops and joints.

    Raises
    ------
    ModelError
        If there are no bodies.
    """
    if not model.bodies:
        raise ModelError("has no bodies, so there is nothing to simulate", subject="Juice model")
    return _Builder(model, timestep, choices, driven, touching).built(touching)


@contextmanager
def _blaming(part: JuiceBody | JuiceJoint) -> Iterator[None]:
    """Add the location of a part to its errors."""
    try:
        yield
    except ModelError as reason:
        reason.location = part.location
        raise


class _Builder:
    def __init__(
        self, model: JuiceModel, timestep: float, choices: Choices, driven: frozenset[int], soft: bool
    ) -> None:
        self.timestep = timestep
        self.model, self.choices, self.driven, self.soft = model, choices, driven, soft
        self.origin = Origin()
        self.taken, self.counts = {"origin"}, dict[str, int]()
        self.place = {body.id: k for k, body in enumerate(model.bodies)}
        self.given = {body.id: body for body in model.bodies}
        self.turned = {body.id: orientation_of(body.attitude) for body in model.bodies}
        self.bodies = {body.id: self._body(body) for body in model.bodies}
        self.start: dict[str, tuple[float, ...]] = {}
        self.servos: dict[int, Servo] = {}
        self.names: dict[int, str] = {}
        self.points: list[Point] = []
        self.welds: UnionFind[int] = UnionFind()
        self.inputs = 0

    def built(self, touching: bool) -> Built:
        """Assemble the mechanism."""
        joints: list[JointConstraint] = []
        for group in groups_of(self.model, self._wants_tree, self.choices.joint_axis):
            joints += self._group(group)
        contacts = [one for body in self.model.bodies for one in self._contacts(body)] if touching else []
        bodies = list(self.bodies.values())
        spec = MechanismSpec(self.origin, bodies, joints, contacts, self.timestep, -float(self.model.gravity))
        return Built(spec, self.start, self.servos, self.bodies, self.names, tuple(self.points), self.welds)

    def _wants_tree(self, joint: JuiceJoint) -> bool:
        """Whether a joint is better in the tree than closing a loop: it has a motor or stops."""
        return joint.kind is not JointKind.BALL and (joint.id in self.driven or _limits(joint) is not None)

    def _name(self, name: str, kind: str) -> str:
        """Return a name of its own: parts of a file may share theirs, parts of a mechanism not."""
        stem = " ".join(name.split()) or kind
        chosen, count = stem, self.counts.get(stem, 1)
        while chosen in self.taken:
            count += 1
            chosen = f"{stem} ({count})"
        self.counts[stem] = count
        self.taken.add(chosen)
        return chosen

    def _body(self, given: JuiceBody) -> Body:
        name, mass = self._name(given.name, "body"), float(given.mass)
        with _blaming(given):
            shape = shape_of(given)
            solid = shape_of(given, capped=True) if self.choices.cylinder_inertia == "capsule" else shape
            return Body(mass, solid.inertia(mass), shape, name=name)

    # --- joints -------------------------------------------------------------------------------------------------------
    def _group(self, group: Group) -> Iterable[JointConstraint]:
        root = self.given[group.root]
        name = self._name(f"{self.bodies[root.id].name} in the world", "base")
        self.start[name] = (*map(float, root.position), *vector_of(self.turned[root.id]))
        self.inputs += 6
        yield Floating(self.origin, self.bodies[root.id], name=name)
        gives = self.soft and self.choices.joints == "soft" and self.model.cfm > 0.0 and not group.is_closed
        for parent, joint in group.joints:
            with _blaming(joint):
                stuck = joint.id in group.stuck
                made = self._joint(
                    joint, parent, gives=gives and not stuck and joint.kind is not JointKind.SLIDER, stuck=stuck
                )
            yield made

    def _joint(self, joint: JuiceJoint, parent: int, *, gives: bool, stuck: bool) -> JointConstraint:
        """Make a joint whose coordinate is that of body 1 against body 2, whichever of them carries the other.

        Notes
        -----
        At the start the child is turned by q = q₁⁻¹ q₂ against the parent; with q as the joint's orientation offset the
        joint is at zero there, and its frame is the child's.
        """
        child = joint.body1 if parent == joint.body2 else joint.body2
        sign = 1.0 if child == joint.body1 else -1.0
        offset = np.asarray(multiply(conjugate(self.turned[parent]), self.turned[child]))
        arms = np.array([self._seen(joint, body) for body in (parent, child)])
        options: dict[str, Any] = {"parent_vertex": arms[0], "child_vertex": arms[1], "orientation_offset": offset}
        options["name"] = self.names[joint.id] = self._name(joint.name, "joint")
        ends = (self.bodies[parent], self.bodies[child])
        places = (self.place[parent], self.place[child])
        if stuck:
            self.welds.union(joint.body1, joint.body2)
            return make_joint("Fixed", *ends, None, **options)
        slides = 3 if gives else 0
        drives = [Motor(math.inf, coordinate=k, cfm=float(self.model.cfm)) for k in range(slides)]
        if gives:
            self.points.append(Point(self.inputs, *places, arms))
        if joint.kind is JointKind.BALL:
            self.inputs += 3 + slides
            return make_joint("Floating" if gives else "Spherical", *ends, None, drives=drives, **options)
        axis = sign * axis_of(joint.kind, joint.attitude, self.choices.joint_axis)
        hinge = joint.kind is JointKind.HINGE
        local = np.asarray(rotate(conjugate(self.turned[child if hinge else parent]), axis))
        if joint.id in self.driven:
            drives.append(Motor(float(joint.max_force), coordinate=slides, cfm=float(self.model.cfm)))
            self.servos[joint.id] = Servo(joint, self.inputs + slides, *places, offset, local, arms)
        if (limits := _limits(joint)) is not None:
            options["joint_limits"] = [
                [side * math.inf] * slides + [end] for side, end in zip((-1.0, 1.0), limits, strict=True)
            ]
            if self.soft:
                options["stop_softness"] = (self._gently(max(limits[0], -limits[1])), float(self.model.cfm))
        self.inputs += 1 + slides
        kind = "FreeRevolute" if gives else "Revolute" if hinge else "Prismatic"
        return make_joint(kind, *ends, local, drives=drives, **options)

    def _gently(self, beyond: float, gives: float = 0.0) -> float:
        """Share of an error that a step takes away, less where the file's pose is far beyond a bound [rad or m].

        What gives way by so much of its velocity is brought back as much more slowly by itself.
        """
        erp = float(self.model.erp)
        return min(erp, BACK * self.timestep * (1.0 + gives) / beyond) if beyond > 0.0 else erp

    def _seen(self, joint: JuiceJoint, body: int) -> Floats:
        """Where a joint's point is in a body's frame [m]."""
        away = np.array(joint.position, float) - np.array(self.given[body].position, float)
        return np.asarray(rotate(conjugate(self.turned[body]), away))

    # --- contacts -----------------------------------------------------------------------------------------------------
    def _ground_erp(self, given: JuiceBody, points: Sequence[tuple[float, ...]], radius: float) -> float:
        """Share of an error that a step takes away at a body's ground contacts; less where it begins deep below it."""
        heights = float(given.position[2]) + np.asarray(rotate(self.turned[given.id], np.array(points)))[:, 2]
        gives = float(self.model.cfm) * float(given.mass) / (len(points) * self.timestep)
        return self._gently(radius - float(heights.min()), gives)

    def _contacts(self, given: JuiceBody) -> list[ContactConstraint]:
        """Points of a body that may touch the ground; of a flat cylinder a collider does."""
        if is_flat(given):
            return []
        points, radius = ground_points(given)
        body, model = self.bodies[given.id], self.model
        coulomb = self.choices.friction_law == "coulomb"
        return contact_constraint(
            body, (0.0, 0.0, 1.0), friction_coefficient=float(model.friction), contact_origin=points,
            contact_radius=radius, name=[self._name(f"{body.name} on the ground", "contact") for _ in points],
            contact_type="nonlinear" if coulomb else "force", restitution=float(model.bounce),
            softness=(self._ground_erp(given, points, radius), float(model.cfm)),
        )  # fmt: skip


def stops_of(joint: JuiceJoint) -> tuple[float, float]:
    """Return the stops of a hinge [degrees] or slider [m] that act; ±inf for none."""
    hinge = joint.kind is JointKind.HINGE
    has_low = joint.has_low and not (hinge and abs(joint.low) >= STILL)
    has_high = joint.has_high and not (hinge and abs(joint.high) >= STILL)
    if has_low and has_high and joint.low > joint.high:
        has_low = has_high = False
    return float(joint.low) if has_low else -math.inf, float(joint.high) if has_high else math.inf


def _limits(joint: JuiceJoint) -> tuple[float, float] | None:
    """Return the stops as bounds of the coordinate [rad or m]; None for a joint without."""
    low, high = (bound * (RADIAN if joint.kind is JointKind.HINGE else 1.0) for bound in stops_of(joint))
    if math.isinf(low) and math.isinf(high):
        return None
    return (low - LOCKED, high + LOCKED) if low == high else (low, high)
