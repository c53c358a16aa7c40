"""Reduction of fixed joints: the bodies that they connect become one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.geometry.linear import times
from cbsim.geometry.pose import Pose, conjugate, multiply, rotate
from cbsim.spec.mechanism.bodies import Body, Bond, Origin
from cbsim.spec.mechanism.colliders import Collider
from cbsim.spec.mechanism.collisions import SphereBoxCollision
from cbsim.spec.mechanism.contacts import ContactConstraint
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.drives import Drive
from cbsim.spec.mechanism.joints import Joint, JointConstraint, Rotational, Translational
from cbsim.spec.mechanism.shapes import CombinedShapes, EmptyShape, Shape, matrix
from cbsim.spec.mechanism.state import step_quaternion

__all__ = ["Reduction", "reduce_fixed"]

HERE = Pose(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
PARENT_POINTS = ("contact_origin", "origin_parent", "origin_sphere")
CHILD_POINTS = ("origin_child", "origin_capsule_a", "origin_capsule_b", "origin_box_a", "origin_box_b")
WORLD = ("contact_normal", "contact_offset")
ACROSS = 1e-9  # largest rotation between bodies with equal axes


@dataclass(frozen=True)
class _Places:
    """Merged body of each old one, and its pose in that one's frame."""

    part_of: Mapping[Body, Body]
    pose: Mapping[Body, Pose]

    def of(self, end: Body | Origin) -> tuple[Body | Origin, Pose]:
        return (self.part_of[end], self.pose[end]) if isinstance(end, Body) else (end, HERE)


class Reduction(NamedTuple):
    """A mechanism with fewer bodies.

    Attributes
    ----------
    spec : MechanismSpec
        The mechanism.
    of : tuple of (int, Pose)
        For each of its bodies: the number of an old one, and that one's pose in the new one's frame.
    """

    spec: MechanismSpec
    of: tuple[tuple[int, Pose], ...]

    def state(self, z: ArrayLike) -> Floats:
        """Turn a maximal state (bodies, 13) of the old mechanism into one of the new (bodies, 13).

        Velocities are differences over the step before (docs/theory/integrator.md §2), so the new centre's is that of
        its places.
        """
        old, h = np.asarray(z, float).reshape(-1, 13), self.spec.timestep
        out = np.empty((len(self.of), 13))
        for row, (i, pose) in zip(out, self.of, strict=True):
            back = pose.inverse  # the new body's frame in the old one's
            x, v, q, w = old[i, :3], old[i, 3:6], old[i, 6:10], old[i, 10:]
            arm, before = rotate(q, back.position), rotate(multiply(q, step_quaternion(-w, h)), back.position)
            row[:3], row[3:6] = x + arm, v + (arm - before) / h
            row[6:10] = multiply(q, back.orientation)
            row[10:] = rotate(pose.orientation, w)
        return out


def reduce_fixed(spec: MechanismSpec) -> Reduction:
    """Merge bodies connected by fixed joints; a body fixed to the origin keeps its joint.

    A merged body has the name and the axes of the one nearest to the origin, and its origin in the common centre of
    mass. What moves, and with which coordinates, is as before; joints with two free rotations or translations may
    count theirs along other axes of the same plane.

    Raises
    ------
    ModelError
        If fixed joints close a loop that is open, or a contact cannot be carried along: a box keeps its axes.
    """
    leaders, poses = _groups(spec)
    places, bodies = _merge(spec, leaders, poses)
    joints = [made for joint in spec.joints if (made := _joint(joint, places)) is not None]
    contacts = [_contact(contact, places) for contact in spec.contacts]
    colliders = [_collider(collider, spec, places) for collider in spec.colliders]
    reduced = replace(
        spec, bodies=tuple(bodies), joints=tuple(joints), contacts=tuple(contacts), colliders=tuple(colliders)
    )  # fmt: skip
    kept = [(i, places.pose[body]) for i, body in enumerate(spec.bodies) if leaders[body] is body]
    return Reduction(reduced, tuple(kept))


def _groups(spec: MechanismSpec) -> tuple[dict[Body, Body], dict[Body, Pose]]:
    """Find the first body of each body's group, and its pose in that one's frame."""
    leader = {body: body for body in spec.bodies}
    pose = dict.fromkeys(spec.bodies, HERE)
    for joint in spec.joints:
        if joint.dof or not isinstance(joint.parent, Body):
            continue
        apart = pose[joint.parent] @ _tie(joint) @ pose[joint.child].inverse  # child's leader in the parent's
        one, other = leader[joint.parent], leader[joint.child]
        if one is other:
            if np.abs(apart.position).max() > 1e-6 or np.abs(apart.orientation[1:]).max() > 1e-6:
                raise ModelError("closes a loop of fixed joints that is open", subject=f"joint '{joint.name}'")
            continue
        for body in [body for body, its in leader.items() if its is other]:
            leader[body], pose[body] = one, apart @ pose[body]
    return leader, pose


def _tie(joint: JointConstraint) -> Pose:
    """Pose of the child in the parent's frame by a fixed joint."""
    q = joint.rotational.orientation_offset
    above, below = joint.translational.vertices
    return Pose(above - rotate(q, below), np.asarray(q))


def _merge(spec: MechanismSpec, leaders: Mapping[Body, Body], poses: Mapping[Body, Pose]) -> tuple[_Places, list[Body]]:
    part_of: dict[Body, Body] = {}
    pose: dict[Body, Pose] = {}
    bodies = []
    for body in spec.bodies:
        if leaders[body] is not body:
            continue
        group = [one for one in spec.bodies if leaders[one] is body]
        total = math.fsum(one.mass for one in group)
        centre = np.asarray(sum(one.mass * poses[one].position for one in group) / total)
        if len(group) == 1:
            centre = np.zeros(3)
        moved = {one: Pose(poses[one].position - centre, poses[one].orientation) for one in group}
        merged = replace(body, bond=Bond()) if len(group) == 1 else _one(body, group, moved)
        bodies.append(merged)
        part_of |= dict.fromkeys(group, merged)
        pose |= moved
    return _Places(part_of, pose), bodies


def _one(leader: Body, group: list[Body], moved: Mapping[Body, Pose]) -> Body:
    """Merge several bodies, given their poses about the common centre of mass (Steiner's theorem)."""
    inertia = np.zeros((3, 3))
    for body in group:
        arm, rotation = moved[body].position, matrix(moved[body].orientation)
        inertia += times(times(rotation, body.inertia), rotation.T)
        inertia += body.mass * (times(arm, arm) * np.eye(3) - np.outer(arm, arm))
    shapes = [_shape(body.shape, moved[body]) for body in group if not isinstance(body.shape, EmptyShape)]
    shape = EmptyShape() if not shapes else shapes[0] if len(shapes) == 1 else CombinedShapes(shapes)
    mass, effective = math.fsum(body.mass for body in group), any(body.effective for body in group)
    inertia = 0.5 * (inertia + inertia.T)
    return Body(mass, inertia, shape, effective=effective, kinematic=leader.kinematic, name=leader.name)


def _shape(shape: Shape, pose: Pose) -> Shape:
    return shape.replaced(
        position_offset=pose.apply(shape.position_offset),
        orientation_offset=multiply(pose.orientation, shape.orientation_offset),
    )


# --- joints -----------------------------------------------------------------------------------------------------------
def _joint(joint: JointConstraint, places: _Places) -> JointConstraint | None:
    """Attach a joint to the merged bodies; None if both are one.

    Notes
    -----
    With P and C the old bodies' rotations in the new ones, the relative rotation O r becomes P O r C⁻¹: an offset
    P O C⁻¹, then C r C⁻¹, whose axes are C times the old ones. Translations are turned by P.
    """
    (parent, above), (child, below) = places.of(joint.parent), places.of(joint.child)
    if parent is child:
        return None
    slide, turn = joint.translational, joint.rotational
    vertices = (above.apply(slide.vertices[0]), below.apply(slide.vertices[1]))
    offset = multiply(multiply(above.orientation, turn.orientation_offset), conjugate(below.orientation))
    assert isinstance(child, Body)
    return JointConstraint(
        parent,
        child,
        Translational(slide.free, **_half(slide, above, joint.name), vertices=vertices),
        Rotational(turn.free, **_half(turn, below, joint.name), orientation_offset=offset),
        _drives(joint, above),
        joint.stop_softness,
        implicit_spring=joint.implicit_spring,
        name=joint.name,
    )


def _drives(joint: JointConstraint, above: Pose) -> tuple[Drive, ...]:
    """Drives of the new joint; coordinates have to keep their directions."""
    slide = joint.translational
    if joint.drives and slide.free > 1:
        rotation = matrix(above.orientation)
        axis = None if slide.axis is None else times(rotation, slide.axis)
        change = times(times(Joint(slide.free, axis).masks.free, rotation), slide.masks.free.T)
        if np.abs(change - np.eye(slide.free)).max() > ACROSS:
            raise ModelError("its drives are along axes that merging changes", subject=f"joint '{joint.name}'")
    return tuple(joint.drives)


def _half(half: Joint, pose: Pose, name: str) -> dict[str, Any]:
    """Rotate the axis, the offset and the bounds of half a joint."""
    rotation = matrix(pose.orientation)
    axis = None if half.axis is None else times(rotation, half.axis)
    change = times(times(Joint(half.free, axis).masks.free, rotation), half.masks.free.T)
    out: dict[str, Any] = {
        "axis": axis, "spring": half.spring, "damper": half.damper, "spring_offset": times(change, half.spring_offset),
        "subject": half.subject,
    }  # fmt: skip
    if half.joint_limits is not None:
        if np.abs(np.abs(change) - np.eye(half.free)).max() > ACROSS:
            raise ModelError("its bounds are along axes that merging changes", subject=f"joint '{name}'")
        pair = np.stack([np.diag(change) * bound for bound in half.joint_limits])
        out["joint_limits"] = (pair.min(axis=0), pair.max(axis=0))
    return out


def _collider(collider: Collider, spec: MechanismSpec, places: _Places) -> Collider:
    """Attach a collider to the merged body; it then ignores whole merged bodies."""
    owner, pose = places.of(collider.owner)
    shape = collider.shape
    place = pose @ Pose(np.asarray(shape.position_offset), np.asarray(shape.orientation_offset))
    named = {body.name: places.of(body)[0] for body in spec.bodies if body.name in collider.ignores}
    ignored = dict.fromkeys(named[name].name for name in collider.ignores if named[name] is not owner)
    moved = shape.replaced(position_offset=place.position, orientation_offset=place.orientation)
    return replace(collider, owner=owner, shape=moved, ignores=tuple(ignored), bond=Bond())


# --- contacts ---------------------------------------------------------------------------------------------------------
def _contact(contact: ContactConstraint, places: _Places) -> ContactConstraint:
    parent, above = places.of(contact.parent)
    child, below = (None, HERE) if contact.child is None else places.of(contact.child)
    if parent is child:
        raise ModelError("is between bodies that are one", subject=f"contact '{contact.name}'")
    collision, who = contact.model.collision, f"contact '{contact.name}'"
    if isinstance(collision, SphereBoxCollision) and np.abs(below.orientation[1:]).max() > ACROSS:
        raise ModelError("its box would be turned against the axes of the merged body", subject=who)
    changes: dict[str, Any] = {}
    for item in fields(collision):
        if item.name in PARENT_POINTS:
            changes[item.name] = above.apply(getattr(collision, item.name))
        elif item.name in CHILD_POINTS:
            changes[item.name] = below.apply(getattr(collision, item.name))
        elif item.name not in WORLD and np.ndim(getattr(collision, item.name)) and not _stays(above, below):
            raise ModelError(f"{type(collision).__name__} cannot be carried along", subject=who)
    model = replace(contact.model, collision=replace(collision, **changes))
    assert isinstance(parent, Body)
    return ContactConstraint(model, parent, child, name=contact.name)


def _stays(*poses: Pose) -> bool:
    return all(not pose.position.any() and not pose.orientation[1:].any() for pose in poses)
