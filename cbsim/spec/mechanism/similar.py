"""Similarity transforms of mechanisms: rotation, scale, mass and length of steps.

Time runs the same in both, so with lengths times λ and masses times μ forces are times μ λ, torques and inertias times
μ λ², springs and dampers of translations times μ and those of rotations times μ λ². What was tied to the world is tied
to a carrier: a body that a fixed joint holds where the world's origin has come to, so that no axis of a joint changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from cbsim.errors import ModelError
from cbsim.geometry.elementary import power, square
from cbsim.geometry.pose import Pose, multiply, rotate
from cbsim.spec.mechanism.bodies import Body, Bond, Origin
from cbsim.spec.mechanism.colliders import Collider
from cbsim.spec.mechanism.contacts import ContactConstraint, ForceContact
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.drives import Drive
from cbsim.spec.mechanism.joints import JointConstraint, Rotational, Translational
from cbsim.spec.mechanism.prototypes import Fixed, Floating
from cbsim.spec.mechanism.shapes import Shape

__all__ = ["Change", "Similar", "can_change_size", "grown", "softened"]

TURNED = ("contact_normal",)
MOVED = ("contact_offset",)


class Change(NamedTuple):
    """What becomes of a mechanism.

    Attributes
    ----------
    pose : Pose
        Where the world's origin comes to.
    scale, weight : float
        Lengths and masses are times those.
    steps : (float, float)
        Length of a step before, and after [s].
    named : callable
        Gives a part's new name.
    """

    pose: Pose
    scale: float
    weight: float
    steps: tuple[float, float]
    named: Callable[[str], str]


@dataclass(frozen=True, eq=False)
class Similar:
    """The parts of a mechanism after a change.

    Attributes
    ----------
    bodies, joints, contacts, colliders : tuple
        In their order; the carrier and its joint, where there is one, stand behind.
    feeds : ndarray, shape (inputs,)
        Inputs of the joints as forces, and as target velocities, are times those.
    """

    bodies: tuple[Body, ...]
    joints: tuple[JointConstraint, ...]
    contacts: tuple[ContactConstraint, ...]
    colliders: tuple[Collider, ...]
    feeds: Any

    @classmethod
    def of(cls, spec: MechanismSpec, change: Change) -> Similar:
        """Change a mechanism.

        Raises
        ------
        ModelError
            If a joint has one number for lengths and angles that would have to become two (`can_change_size`).
        """
        bodies = {body: _body(body, change) for body in spec.bodies}
        carrier = Body(1.0, np.eye(3), name=change.named("its world"))
        joints = [_joint(joint, bodies, carrier, change) for joint in spec.joints]
        contacts = tuple(_contact(contact, bodies, change) for contact in spec.contacts)
        colliders = tuple(_collider(collider, bodies, change) for collider in spec.colliders)
        feeds = [feed for joint in spec.joints for feed in _feeds(joint, spec, change)]
        made = list(bodies.values())
        if any(joint.parent is carrier for joint in joints):
            made.append(carrier)
            at, turn = change.pose
            name = change.named("place of its world")
            joints.append(Fixed(spec.origin, carrier, parent_vertex=at, orientation_offset=turn, name=name))
        return cls(tuple(made), tuple(joints), contacts, colliders, np.array(feeds))


def can_change_size(spec: MechanismSpec) -> bool:
    """Whether no joint has one spring, damper or softness for both lengths and angles."""
    return not any(_has_one_for_both(joint) for joint in spec.joints)


def _has_one_for_both(joint: JointConstraint) -> bool:
    slide, turn = joint.translational, joint.rotational
    tied = slide.free and turn.free and (joint.spring or joint.damper)
    bounded = slide.joint_limits is not None and turn.joint_limits is not None and joint.stop_softness[1] > 0.0
    return bool(tied or bounded)


def softened(softness: tuple[float, float], change: Change, compliance: float) -> tuple[float, float]:
    """Return ERP and CFM of the same spring and damper in steps of another length, times a compliance.

    With k = ERP / (h CFM) and d = (1 − ERP) / CFM they are h k / (h k + d) and 1 / (h k + d) (ODE manual, §3.8.2).
    Without CFM the share that is left after the same time stays the same.
    """
    (erp, cfm), (h, step) = softness, change.steps
    if h != step:
        if cfm > 0.0:
            stiff, damp = erp / (h * cfm), (1.0 - erp) / cfm
            erp, cfm = step * stiff / (step * stiff + damp), 1.0 / (step * stiff + damp)
        else:
            erp = 1.0 - power(1.0 - erp, step / h)
    return erp, cfm * compliance


def _body(body: Body, change: Change) -> Body:
    mass, inertia = change.weight * body.mass, change.weight * square(change.scale) * body.inertia
    shape = grown(body.shape, change.scale)
    return replace(body, mass=mass, inertia=inertia, shape=shape, name=change.named(body.name), bond=Bond())


def grown(shape: Shape, scale: float) -> Shape:
    """Make a shape of a body larger."""
    if scale == 1.0:
        return shape
    return shape.replaced(position_offset=scale * shape.position_offset, scale=scale * np.asarray(shape.scale))


# --- joints -----------------------------------------------------------------------------------------------------------
def _joint(joint: JointConstraint, bodies: dict[Body, Body], carrier: Body, change: Change) -> JointConstraint:
    child, slide, turn = bodies[joint.child], joint.translational, joint.rotational
    name, scale, weight = change.named(joint.name), change.scale, change.weight
    if scale != 1.0 and _has_one_for_both(joint):
        raise ModelError("has one number for lengths and angles: it cannot change its size", subject=f"'{joint.name}'")
    if isinstance(joint.parent, Body):
        parent: Body | Origin = bodies[joint.parent]
    elif _is_free(joint) and (child.kinematic or not change.pose.orientation[1:].any()):  # inputs: along its axes
        return Floating(joint.parent, child, name=name)
    else:
        parent = carrier
    stiff = weight * square(scale)
    slides = _scaled(slide, scale, weight)
    vertices = tuple(scale * vertex for vertex in slide.vertices)
    turns = _scaled(turn, 1.0, stiff)
    return JointConstraint(
        parent,
        child,
        Translational(slide.free, vertices=vertices, **slides),
        Rotational(turn.free, orientation_offset=turn.orientation_offset, **turns),
        tuple(_drive(drive, slide.free, change) for drive in joint.drives),
        softened(joint.stop_softness, change, 1.0 / (weight if slide.joint_limits is not None else stiff)),
        implicit_spring=joint.implicit_spring,
        name=name,
    )


def _is_free(joint: JointConstraint) -> bool:
    """Whether a joint with the world leaves everything free and does nothing."""
    plain = joint.dof == 6 and not (joint.spring or joint.damper or joint.drives)
    offsets = [*joint.translational.vertices, joint.rotational.orientation_offset[1:]]
    bounded = joint.translational.joint_limits is not None or joint.rotational.joint_limits is not None
    return bool(plain and not bounded and not any(np.any(offset) for offset in offsets))


def _scaled(half: Translational | Rotational, length: float, stiffness: float) -> dict[str, Any]:
    limits = half.joint_limits
    return {
        "axis": half.axis,
        "spring": stiffness * half.spring,
        "damper": stiffness * half.damper,
        "spring_offset": length * half.spring_offset,
        "joint_limits": None if limits is None else tuple(length * bound for bound in limits),
        "subject": half.subject,
    }


def _drive(drive: Drive, slides: int, change: Change) -> Drive:
    is_slide = drive.coordinate < slides
    length, stiffness = (change.scale, change.weight) if is_slide else (1.0, change.weight * square(change.scale))
    wanted: dict[str, Any] = {
        "max_force": stiffness * length * drive.max_force,
        "cfm": drive.cfm / stiffness,
        "target": length * drive.target,
    }
    known = {item.name for item in fields(drive) if item.init}
    return replace(drive, **{name: value for name, value in wanted.items() if name in known})


def _feeds(joint: JointConstraint, spec: MechanismSpec, change: Change) -> list[float]:
    """List what the inputs of a joint are times: forces are given as impulses of the old step over its scaling."""
    slides = joint.translational.free
    impulse = 1.0 if spec.input_scaling is None else spec.input_scaling / change.steps[0]
    force = change.weight * change.scale * impulse
    feeds = [force] * slides + [force * change.scale] * joint.rotational.free
    for drive in joint.drives:
        if drive.is_fed:
            feeds[drive.coordinate] = change.scale if drive.coordinate < slides else 1.0
    return feeds


# --- contacts ---------------------------------------------------------------------------------------------------------
def _contact(contact: ContactConstraint, bodies: dict[Body, Body], change: Change) -> ContactConstraint:
    changes: dict[str, Any] = {}
    collision, model = contact.model.collision, contact.model
    for item in fields(collision):
        value = getattr(collision, item.name)
        if item.name in TURNED:
            changes[item.name] = rotate(change.pose.orientation, value)
        elif item.name in MOVED:
            changes[item.name] = change.pose.apply(change.scale * value)
        else:
            changes[item.name] = change.scale * value
    laws: dict[str, Any] = {"softness": softened(model.softness, change, 1.0 / change.weight)}
    if isinstance(model, ForceContact):
        laws["friction_coefficient"] = change.weight * change.scale * model.friction_coefficient
    made = replace(model, collision=replace(collision, **changes), **laws)
    child = bodies[contact.child] if isinstance(contact.child, Body) else contact.child
    return ContactConstraint(made, bodies[contact.parent], child, name=change.named(contact.name))


def _collider(collider: Collider, bodies: dict[Body, Body], change: Change) -> Collider:
    owner, shape = collider.owner, grown(collider.shape, change.scale)
    if isinstance(owner, Body):
        owner = bodies[owner]
    else:
        shape = shape.replaced(
            position_offset=change.pose.apply(shape.position_offset),
            orientation_offset=multiply(change.pose.orientation, shape.orientation_offset),
        )
    force = collider.friction_force
    ignored = tuple(made.name for body, made in bodies.items() if body.name in collider.ignores)
    return replace(
        collider, owner=owner, shape=shape, name=change.named(collider.name), bond=Bond(), ignores=ignored,
        friction_force=None if force is None else change.weight * change.scale * force,
        softness=softened(collider.softness, change, 1.0 / change.weight),
    )  # fmt: skip
