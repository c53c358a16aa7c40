"""Conversion of mechanisms to robots, for URDF, with a warning for each loss.

A link's frame has the position of its parent joint and the axes of its body. The joint's frame in the parent then
consists of its vertex and offset, and joint coordinates are unchanged.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbsim.dynamics.spanning_tree import span
from cbsim.errors import Location, Problems
from cbsim.formats.urdf.frames import angles_of, frame_of
from cbsim.formats.urdf.grammar import SHAPES
from cbsim.formats.urdf.tree import FREE
from cbsim.geometry.pose import Pose, conjugate, rotate
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.colliders import HalfSpace
from cbsim.spec.mechanism.collisions import SphereHalfSpaceCollision
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.drives import DryFriction
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.mesh import Mesh
from cbsim.spec.mechanism.shapes import CombinedShapes, EmptyShape, FrameShape, Shape
from cbsim.spec.objects import Triple
from cbsim.spec.urdf import (
    JOINT_TYPES,
    Collision,
    Frame,
    Geometry,
    Inertial,
    Joint,
    Limit,
    Link,
    LoopJoint,
    Material,
    Robot,
    Visual,
)

__all__ = ["robot_of"]

TYPES = {prototype: kind for kind, prototype in reversed(JOINT_TYPES.items())}
"""Prototype → joint type; the first in the table where there are several."""

UNBOUNDED = 1e6  # effort [N, N m] and velocity [m/s, rad/s], which the format asks for and nothing here bounds
PLAIN = (0.75, 0.75, 0.75, 1.0)  # color of shapes without one


def robot_of(spec: MechanismSpec, problems: Problems, *, name: str = "robot") -> Robot:
    """Make a robot of a mechanism.

    Parameters
    ----------
    spec : MechanismSpec
    problems : Problems
        Gets a warning (W930) for everything that URDF cannot hold: springs, bounds of joints with several freedoms,
        contacts other than balls on the ground, triangles without a file.
    name : str
        Of the robot.
    """
    return _Writer(spec, problems).robot(name)


class _Writer:
    def __init__(self, spec: MechanismSpec, problems: Problems) -> None:
        self.spec, self.problems = spec, problems
        spanning = span(spec)
        self.chords = set(spanning.loop_joints)
        carriers = {spec.joints[j].child: spec.joints[j] for j in spanning.links}
        self.shift: dict[Body | Origin, Any] = {b: j.translational.vertices[1] for b, j in carriers.items()}
        at_origin = [spec.joints[j] for j in spanning.links if isinstance(spec.joints[j].parent, Origin)]
        self.left_out = at_origin[0] if len(at_origin) == 1 and self._floats_alone(at_origin[0]) else None
        self.names: dict[Body | Origin, str] = {body: body.name for body in spec.bodies}
        world = "world"
        while world in self.names.values():
            world += "_"
        self.names[spec.origin] = world

    def _floats_alone(self, base: JointConstraint) -> bool:
        """Whether a reader would make the root float by itself, so that neither the joint nor the world is written."""
        others = [joint for joint in self.spec.joints if joint is not base]
        through_world = any(isinstance(joint.parent, Origin) for joint in others)
        stands = any(joint.parent is base.child and TYPES[joint.prototype] in FREE for joint in others)
        return base.dof == 6 and not through_world and not stands and base.child.name != "world" and _is_at_zero(base)

    def lose(self, what: str) -> None:
        """Report something that URDF cannot hold."""
        self.problems.warning("W930", f"URDF cannot hold {what}; it is left out", Location(""))

    def robot(self, name: str) -> Robot:
        """Assemble the robot."""
        for solid in self.spec.colliders:
            if isinstance(solid.owner, Origin) and not isinstance(solid.shape, HalfSpace):  # every robot has a ground
                self.lose(f"the {type(solid.shape).__name__} '{solid.name}' that stands in the world")
        links = [] if self.left_out is not None else [Link(self.names[self.spec.origin])]
        links += [self._link(body) for body in self.spec.bodies]
        joints = [j for k, j in enumerate(self.spec.joints) if k not in self.chords and j is not self.left_out]
        loops = [self.spec.joints[k] for k in sorted(self.chords)]
        return Robot(name, tuple(links), tuple(map(self._joint, joints)), tuple(map(self._loop, loops)))

    # --- links --------------------------------------------------------------------------------------------------------
    def _link(self, body: Body) -> Link:
        centre = Pose(-np.asarray(self.shift.get(body, np.zeros(3)), float), np.array([1.0, 0.0, 0.0, 0.0]))
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia.tolist()
        inertial = Inertial(body.mass, (xx, xy, xz, yy, yz, zz), frame_of(centre))
        visuals = tuple(self._visuals(body.shape, centre, body.name))
        return Link(body.name, inertial, visuals, tuple(self._collisions(body, centre)))

    def _visuals(self, shape: Shape, pose: Pose, name: str) -> list[Visual]:
        place = pose @ Pose(np.asarray(shape.position_offset), np.asarray(shape.orientation_offset))
        if isinstance(shape, CombinedShapes):
            if (np.asarray(shape.scale) != 1.0).any():
                self.lose(f"the scale of the shapes of '{name}'")
            return [visual for part in shape.shape for visual in self._visuals(part, place, name)]
        if isinstance(shape, EmptyShape | FrameShape):
            return []
        geometry = self._geometry(shape, name)
        color = tuple(float(part) for part in shape.color)
        material = None if color == PLAIN else Material("", color)
        return [] if geometry is None else [Visual(geometry, frame_of(place), material)]

    def _geometry(self, shape: Shape, name: str) -> Geometry | None:
        if isinstance(shape, Mesh):
            if shape.path is not None:
                return Geometry("mesh", (), str(shape.path), Triple(*(float(part) for part in shape.scale)))
            self.lose(f"the triangles of '{name}', which are in no file")
            return None
        kind = type(shape).__name__.lower()
        scale = np.abs(shape.scale)
        if kind not in SHAPES or (kind != "box" and np.ptp(scale)):
            self.lose(f"a {type(shape).__name__} of '{name}'" + (" with scales" if kind in SHAPES else ""))
            return None
        size = np.array([getattr(shape, length) for length in shape.LENGTHS])
        return Geometry(kind, tuple(float(part) for part in size * (scale if kind == "box" else scale[0])))

    def _collisions(self, body: Body, centre: Pose) -> list[Collision]:
        found = []
        for contact in self.spec.contacts:
            collision = contact.model.collision
            if contact.parent is not body:
                continue
            if not isinstance(collision, SphereHalfSpaceCollision) or not collision.contact_radius:
                self.lose(f"the contact '{contact.name}': only balls on the ground can be written")
                continue
            frame = Frame(Triple(*(float(part) for part in centre.apply(collision.contact_origin))))
            found.append(Collision(Geometry("sphere", (collision.contact_radius,)), frame, contact.name))
        for solid in self.spec.colliders:
            if solid.owner is body:
                found += [
                    Collision(v.geometry, v.origin, solid.name) for v in self._visuals(solid.shape, centre, body.name)
                ]
        return found

    # --- joints -------------------------------------------------------------------------------------------------------
    def _above(self, joint: JointConstraint) -> Frame:
        """Where the joint's frame is in its parent's link."""
        shift = np.asarray(self.shift.get(joint.parent, np.zeros(3)))
        x, y, z = (float(part) for part in joint.translational.vertices[0] - shift)
        return Frame(Triple(x, y, z), angles_of(joint.rotational.orientation_offset))

    def _joint(self, joint: JointConstraint) -> Joint:
        kind, axis, limit, damping = self._motion(joint)
        parent, child = self.names[joint.parent], self.names[joint.child]
        friction = self._friction(joint)
        return Joint(joint.name, kind, parent, child, self._above(joint), axis, limit, damping, friction)

    def _loop(self, joint: JointConstraint) -> LoopJoint:
        kind, axis, limit, damping = self._motion(joint)
        below = joint.translational.vertices[1] - np.asarray(self.shift.get(joint.child, np.zeros(3)))
        there = Frame(Triple(*(float(part) for part in below)))
        parent, child = self.names[joint.parent], self.names[joint.child]
        return LoopJoint(joint.name, kind, parent, child, self._above(joint), there, axis, limit, damping)

    def _motion(self, joint: JointConstraint) -> tuple[str, Triple, Limit | None, float]:
        kind, slide, turn = TYPES[joint.prototype], joint.translational, joint.rotational
        if joint.spring:
            self.lose(f"the spring of joint '{joint.name}'")
        limit = self._limit(joint)
        if kind == "revolute" and limit is None:
            kind = "continuous"
        if kind == "prismatic" and limit is None:
            limit = Limit(None, None, UNBOUNDED, UNBOUNDED)
        return kind, self._axis(joint), limit, max(slide.damper, turn.damper) if joint.dof else 0.0

    def _friction(self, joint: JointConstraint) -> float:
        """Dry friction that all coordinates have in common [N or N m]."""
        forces = [drive.max_force for drive in joint.drives if isinstance(drive, DryFriction)]
        count = joint.translational.free + (joint.rotational.free == 1)
        alike = len(forces) == count == len(joint.drives) and len(set(forces)) == 1
        if joint.drives and not alike:
            self.lose(f"the drives of joint '{joint.name}'")
        if joint.stop_softness != (1.0, 0.0):
            self.lose(f"the softness of the bounds of joint '{joint.name}'")
        return float(forces[0]) if alike else 0.0

    def _axis(self, joint: JointConstraint) -> Triple:
        """Axis in the joint's frame: that of rotations, or that of translations turned back into it."""
        slide, turn = joint.translational, joint.rotational
        slid = rotate(conjugate(turn.orientation_offset), slide.masks.frame[2])
        wants = (slide.free in {1, 2}, turn.free in {1, 2})
        if all(wants) and np.abs(slid - turn.masks.frame[2]).max() > 1e-9:
            self.lose(f"the axis of translations of joint '{joint.name}', which is not that of its rotations")
        axis = turn.masks.frame[2] if wants[1] else slid if wants[0] else (1.0, 0.0, 0.0)
        return Triple(*(float(part) for part in axis))

    def _limit(self, joint: JointConstraint) -> Limit | None:
        halves = (joint.translational, joint.rotational)
        bounds = [half.joint_limits for half in halves if half.joint_limits is not None]
        if not bounds:
            return None
        if joint.dof > 1:
            self.lose(f"the bounds of joint '{joint.name}', which has several freedoms")
            return None
        low, high = (float(bound[0]) for bound in bounds[0])
        return Limit(low, high, UNBOUNDED, UNBOUNDED)


def _is_at_zero(joint: JointConstraint) -> bool:
    """Whether a joint at zero puts the child's frame into the parent's."""
    away, turned = joint.translational.vertices[0], joint.rotational.orientation_offset
    return not np.asarray(away).any() and bool(abs(abs(turned[0]) - 1.0) < 1e-12)
