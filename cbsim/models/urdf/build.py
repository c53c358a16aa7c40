"""Mechanism of a `Robot`: bodies at their centres of mass, joints, contacts with the ground.

A body's frame has the axes of its link and its origin in the centre of mass; the inertia is turned into it. So joint
axes and poses are those of the file, and no mask turns with an inertial frame (docs/formats/urdf.md).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from cbsim.errors import ModelError
from cbsim.formats.urdf.frames import pose_of
from cbsim.formats.urdf.tree import FREE, Tree, sound
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import norm
from cbsim.geometry.pose import Pose, conjugate, multiply, rotate
from cbsim.models.urdf.solids import MeshData, shape_of
from cbsim.models.urdf.touching import FIXTURE, GROUND, at_start, motion, overlaps, solids_of, things, tied
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.colliders import Collider, HalfSpace
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.drives import DryFriction
from cbsim.spec.mechanism.joints import PROTOTYPES, JointConstraint, Rotational, Translational
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.mechanism.prototypes import Fixed, Floating
from cbsim.spec.urdf import JOINT_TYPES, Joint, LoopJoint, Robot

__all__ = ["FRICTION", "GRAVITY", "description_of", "mechanism_of"]

Base = Body | Origin
FRICTION = 0.8  # of feet on the ground, where nothing else is said
GRAVITY = -9.81  # along z [m/s²]
FIXED = "origin"  # the name of what is at rest
SUNK = 1e-3  # [m] what is held and is so deep in the ground at first does not touch it


def mechanism_of(robot: Robot, **options: Any) -> MechanismSpec:
    """Make a mechanism of a robot; options as `description_of`."""
    return description_of(robot, **options).spec


def description_of(  # noqa: PLR0913 (every option of a robot)
    robot: Robot,
    *,
    floating: bool | None = None,
    merge_fixed: bool = False,
    contacts: bool | None = False,
    friction: float = FRICTION,
    joint_friction: bool = False,
    self_contacts: bool = False,
    meshes: Mapping[str, MeshData] | None = None,
    timestep: float = 0.01,
    gravity: float = GRAVITY,
) -> ModelDescription:
    """Make a mechanism of a robot whose file has no errors.

    Parameters
    ----------
    robot : Robot
        What the file says.
    floating : bool, optional
        Whether the root moves freely in the world. By default it does, unless it stands for the world: it is called
        ``world``, has no mass, or a joint by which things move about (floating, planar and the like) depends on it.
    merge_fixed : bool
        Make one body of links that fixed joints tie; else only links without mass are part of another.
    contacts : bool or None
        Let collision geometry touch the ground z = 0, and start standing on it; None: where something is free to come
        down to it. Meshes are their convex hulls.
    friction : float
        Coefficient of those contacts.
    joint_friction : bool
        Give joints the dry friction of their ``dynamics``.
    self_contacts : bool
        Let links touch one another, too, but those that a joint ties (fixed joints between count as none) or that
        stand in one another at first. Things that move about in the world by themselves always touch one another.
    meshes : mapping, optional
        File name of a mesh as the robot has it → vertices and triangles.
    timestep : float
        [s].
    gravity : float
        Along z [m/s²].

    Raises
    ------
    ModelError
        If the root shall float, but has no mass; located where the part is described.
    """
    return _Builder(robot, floating, merge_fixed, joint_friction, self_contacts, meshes or {}).described(
        contacts, friction, timestep, gravity
    )


class _Builder:
    """Makes parts, names them, and remembers which link is where."""

    def __init__(
        self,
        robot: Robot,
        floating: bool | None,
        merge_fixed: bool,
        joint_friction: bool,
        self_contacts: bool,
        meshes: Mapping[str, MeshData],
    ) -> None:
        self.robot, self.joint_friction, self.self_contacts, self.meshes = robot, joint_friction, self_contacts, meshes
        self.tree = Tree(robot)
        self.origin = Origin()
        self.taken = {"origin"}
        self.top = self.tree.root.name
        grounded = self.tree.is_grounded
        self.floats = not grounded if floating is None else floating
        self.place: dict[str, tuple[Base, Pose]] = {}  # link → what it is part of, and its frame in that one's
        self.bodies: list[Body] = []
        self.start: dict[str, tuple[float, ...]] = {}
        self.named: list[tuple[Joint, str]] = []  # joints of the file, and what they are called here
        for top in self.tree.members:
            self._make_bodies(top, merge_fixed)

    def described(self, contacts: bool | None, friction: float, timestep: float, gravity: float) -> ModelDescription:
        """Put everything together."""
        joints = [*self._base(), *(made for j in self.robot.joints if (made := self._joint(j)) is not None)]
        joints += [self._loop(loop) for loop in self.robot.loops]
        wanted = self.moves_about if contacts is None else contacts
        solid = list(self._colliders(friction)) if wanted else []
        spec = MechanismSpec(self.origin, self.bodies, joints, (), timestep, gravity, colliders=solid)
        return ModelDescription(spec, self.start, set_down=wanted)

    def _name(self, name: str, kind: str) -> str:
        """Return a name of its own: links, joints and contacts of a file may share theirs, parts of a mechanism not."""
        chosen, count = name, 1
        while chosen in self.taken:
            count += 1
            chosen = f"{name} ({kind})" if count == 2 else f"{name} ({kind} {count - 1})"
        self.taken.add(chosen)
        return chosen

    # --- bodies -------------------------------------------------------------------------------------------------------
    def _make_bodies(self, top: str, merge_fixed: bool) -> None:
        homes = self.tree.home_of(top, merged=merge_fixed)
        for home in dict.fromkeys(homes.values()):
            names = [name for name, where in homes.items() if where == home]
            body, centre = self._body(home, names, homes)
            for name in names:
                frame = self.tree.between(name, home)
                self.place[name] = body, Pose(frame.position - centre, frame.orientation)

    def _body(self, home: str, names: list[str], homes: dict[str, str]) -> tuple[Base, Any]:
        total = self.tree.mass_of(home, homes)
        if total is None:
            if home != self.top or self.floats:
                link = self.tree.links[home]
                raise ModelError("has no mass, so it cannot move", subject=f"link '{home}'", location=link.location)
            return self.origin, np.zeros(3)
        inertia = sound(total.mass, total.inertia)
        if inertia is None:
            if self.floats or home not in self.tree.members[self.top]:
                link = self.tree.links[home]
                raise ModelError("has no inertia, so it cannot move", subject=f"link '{home}'", location=link.location)
            inertia = total.mass * np.eye(3)  # it is at rest, so that any will do
        links = [(self.tree.links[name], self.tree.between(name, home)) for name in names]
        shape = shape_of(links, total.centre, self.meshes, self.robot.materials)
        body = Body(total.mass, 0.5 * (inertia + inertia.T), shape, effective=True, name=self._name(home, "link"))
        self.bodies.append(body)
        return body, total.centre

    # --- joints -------------------------------------------------------------------------------------------------------
    def _base(self) -> Iterable[JointConstraint]:
        """Join the root to the world, if it is a body: where its frame is, the world's is at first."""
        body, frame = self.place[self.top]
        if not isinstance(body, Body):
            return
        if self.floats:
            name = self._name("floating_base", "joint")
            where = frame.inverse  # its frame is in the world's
            self.start[name] = (*map(float, where.position), *_vector(where.orientation))
            yield Floating(self.origin, body, name=name)
            return
        offset = conjugate(frame.orientation)
        vertex = frame.position
        yield Fixed(
            self.origin, body, child_vertex=vertex, orientation_offset=offset, name=self._name("fixed_base", "joint")
        )

    def _joint(self, joint: Joint) -> JointConstraint | None:
        (parent, above), (child, below) = self.place[joint.parent], self.place[joint.child]
        if parent is child:
            return None  # a fixed joint inside of one body
        assert isinstance(child, Body)  # no joint leads to the root, and whatever else is moved has a mass
        return self._make(joint, parent, child, above @ pose_of(joint.origin), below)

    def _loop(self, loop: LoopJoint) -> JointConstraint:
        (one, above), (other, below) = self.place[loop.link1], self.place[loop.link2]
        if not isinstance(other, Body):
            one, above, other, below = other, below, one, above
        if not isinstance(other, Body):
            raise ModelError("joins the world to itself", subject=f"joint '{loop.name}'", location=loop.location)
        return self._make(loop, one, other, above @ pose_of(loop.origin1), below @ pose_of(loop.origin2))

    def _make(self, joint: Joint | LoopJoint, parent: Base, child: Body, above: Pose, below: Pose) -> JointConstraint:
        """Join two bodies, given the joint's frame in each while it is at zero.

        Notes
        -----
        With R₁ and R₂ the frame's rotations in parent and child, the child is turned by R₁ r R₂⁻¹ against the parent,
        r about the axis a: that is an offset R₁ R₂⁻¹, then R₂ r R₂⁻¹, a rotation about R₂ a.
        """
        name = self._name(joint.name, "joint")
        if isinstance(joint, Joint):
            self.named.append((joint, name))
        axis = np.asarray(joint.axis, float)
        slides, turns = PROTOTYPES[JOINT_TYPES[joint.type]]
        limits = self._limits(joint, name)
        if limits is not None and limits[0] == limits[1]:
            slides, turns, above, limits = 0, 0, above @ _locked(joint, limits[0]), None
        damper = 0.0 if isinstance(joint, LoopJoint) else float(joint.damping)
        shared: dict[str, Any] = {"damper": damper, "subject": f"joint '{joint.name}'"}
        slide = Translational(
            slides, rotate(above.orientation, axis), vertices=(above.position, below.position),
            joint_limits=limits if slides == 1 else None, **shared,
        )  # fmt: skip
        turn = Rotational(
            turns, rotate(below.orientation, axis), joint_limits=limits if turns == 1 and not slides else None,
            orientation_offset=multiply(above.orientation, conjugate(below.orientation)), **shared,
        )  # fmt: skip
        rubs = self.joint_friction and isinstance(joint, Joint)
        drives = [] if not rubs else _friction(float(joint.friction), slides, turns)
        return JointConstraint(parent, child, slide, turn, drives, name=name)

    def _limits(self, joint: Joint | LoopJoint, name: str) -> tuple[float, float] | None:
        """Bounds of a joint that has one freedom; it starts as near to zero as they let it.

        Missing ones are 0, unless both are; bounds that cross are none.
        """
        limit = joint.limit
        if limit is None or isinstance(joint, LoopJoint) or joint.type not in ("revolute", "prismatic"):
            return None
        if limit.lower is None and limit.upper is None:
            return None
        lower, upper = float(limit.lower or 0.0), float(limit.upper or 0.0)
        if lower > upper:
            return None
        start = min(max(0.0, lower), upper)
        if start and lower < upper:
            self.start[name] = (start,)
        return lower, upper

    # --- contacts -----------------------------------------------------------------------------------------------------
    def _colliders(self, friction: float) -> Iterable[Collider]:
        """Collision geometry as solid shapes, the ground, and who of them leaves whom alone.

        What is at rest touches neither the ground nor its like; what is held over the ground, but stands in it at
        first, does not touch it either.
        """
        first = {name: value[0] for name, value in self._first.items()}
        solids = [solid for _, solid in solids_of(self.tree, self.meshes) if solid is not None]
        poses, groups = at_start(self.tree, first), things(self.tree)
        meet = self.self_contacts or len(set(groups.values())) > 1 or self.tree.is_grounded
        apart = self._apart(overlaps(self.tree, solids, first)) if meet else {}
        yield Collider(self.origin, HalfSpace(), friction, group=GROUND, name=self._name("ground", "solid"))
        for solid in solids:
            body, frame = self.place[solid.link]
            place = frame @ Pose(np.asarray(solid.shape.position_offset), np.asarray(solid.shape.orientation_offset))
            shape = solid.shape.replaced(position_offset=place.position, orientation_offset=place.orientation)
            name = self._name(f"{solid.link} solid", "solid")
            if not isinstance(body, Body):
                yield Collider(body, shape, friction, group=FIXTURE, name=name)
                continue
            lowest = float(poses[solid.link].apply(solid.points)[:, 2].min()) - solid.margin
            thing = groups[solid.link]
            meets = self._meets(body, lowest, apart) & ~(0 if self.self_contacts else thing)
            ignores = sorted(apart.get(body.name, set()) - {FIXED})
            yield Collider(body, shape, friction, group=thing, meets=meets, ignores=ignores, name=name)

    def _meets(self, body: Body, lowest: float, apart: Mapping[str, set[str]]) -> int:
        """Choose the groups that a solid of a body meets, which reaches down to a height at first."""
        if not self.floats and body in self._held():
            return ~(GROUND | FIXTURE)
        meets = ~FIXTURE if FIXED in apart.get(body.name, ()) else -1
        return meets & ~GROUND if lowest < -SUNK and not self.moves_about else meets

    @property
    def _first(self) -> dict[str, tuple[float, ...]]:
        """First coordinates of revolute and prismatic joints, by the names that the file has."""
        return {joint.name: self.start[own] for joint, own in self.named if own in self.start}

    def _apart(self, overlapping: Iterable[frozenset[str]]) -> dict[str, set[str]]:
        """Name of a body → names of those that it leaves alone: what fixed joints come between counts as tied."""
        found: dict[str, set[str]] = {}
        tops = tied(self.tree)
        links = list(self.place)
        pairs = {pair for pair in itertools.combinations(links, 2) if self._are_tied(tops, *pair)}
        for one, other in (*pairs, *map(tuple, overlapping)):
            a, b = self.place[one][0], self.place[other][0]
            if a is not b:
                found.setdefault(a.name, set()).add(b.name)
                found.setdefault(b.name, set()).add(a.name)
        return found

    def _are_tied(self, tops: set[frozenset[str]], one: str, other: str) -> bool:
        pair = frozenset((self.tree.groups[one], self.tree.groups[other]))
        return len(pair) < 2 or pair in tops

    def _held(self) -> set[Body]:
        """Bodies of the root's group, which stand still if it does not float."""
        found = (self.place[name][0] for name in self.tree.members[self.top])
        return {body for body in found if isinstance(body, Body)}

    @property
    def moves_about(self) -> bool:
        """Whether anything is free to come down to the ground."""
        return self.floats or any(joint.type in FREE for joint in self.tree.leavers[self.top])


def _friction(force: float, slides: int, turns: int) -> list[DryFriction]:
    """Dry friction of every coordinate that can have it; several rotations together have none."""
    count = slides + (turns if turns == 1 else 0)
    return [DryFriction(force, coordinate=k) for k in range(count)] if force else []


def _locked(joint: Joint | LoopJoint, value: float) -> Pose:
    """Pose of a revolute or prismatic joint that is locked at a coordinate."""
    assert isinstance(joint, Joint)  # loop joints have no bounds
    return motion(joint, value)


def _vector(q: Any) -> tuple[float, ...]:
    """Rotation vector [rad] of a unit quaternion."""
    turned = np.asarray(q) if q[0] >= 0.0 else -np.asarray(q)
    length = float(norm(turned[1:]))
    factor = 2.0 * math.atan2(length, turned[0]) / length if length > 1e-12 else 2.0
    return tuple(float(factor * part) for part in turned[1:])
