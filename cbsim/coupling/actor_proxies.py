"""Assembly of a contact island: `IslandBuilder` collects models, actor proxies and obstacles in one frame."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cbsim.arrays import Floats
from cbsim.coupling.candidates import SMOOTH, ActorProxy, StaticObstacle
from cbsim.coupling.collision_filter import KINEMATIC, VEHICLES, CollisionFilter, FilterGroups
from cbsim.coupling.static_obstacles import collision_shape_of, outline_of, surface_of
from cbsim.geometry.pose import Pose, multiply, rotate
from cbsim.spec.mechanism.bodies import Body, Bond, Origin
from cbsim.spec.mechanism.colliders import Collider
from cbsim.spec.mechanism.contacts import ContactConstraint
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.prototypes import Floating, PlanarAxis
from cbsim.spec.mechanism.similar import Change, Similar, grown
from cbsim.spec.objects import ShapeKind
from cbsim.world.frames import WORLD_FRAME, Frame
from cbsim.world.model_instances import ModelInstance

__all__ = ["IslandBuilder", "Member"]

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True, eq=False)
class Member:
    """A model in a contact island.

    Attributes
    ----------
    number : int
        In `World.instances`.
    instance : ModelInstance
    rows, inputs : slice
        Its bodies and inputs among those of the island.
    steps : int
        Island steps per step of the World; at least as many as the model's own.
    frame : Frame
        The model's frame, relative to the island's.
    input_scales : (inputs,)
        Factors from the model's inputs to the island's.
    weight : (bodies, 3)
        Difference between the model's gravity and the island's, as a force in the island's frame.
    """

    number: int
    instance: ModelInstance
    rows: slice
    inputs: slice
    steps: int
    frame: Frame
    input_scales: Floats
    weight: Floats

    def at(self, n: int) -> int:
        """Return the number of the model's own step in progress when step n of the island begins."""
        return n * self.instance.steps // self.steps

    def begins(self, n: int) -> bool:
        """Whether a step of the model begins with step n of the island, or has begun since step n - 1."""
        return n == 0 or self.at(n) != self.at(n - 1)


class IslandBuilder:
    """Collects bodies, joints, contacts and colliders of an island, with unique names and their owners.

    Parameters
    ----------
    frame : Frame
        Of the island.
    gravity : (3,)
        In that frame.
    filter_groups : sequence of FilterGroups
        Of the dynamic models, which are added first and in this order.

    Attributes
    ----------
    models : int
        Number of dynamic models.
    collision_filter : CollisionFilter
    bodies, joints, contacts, colliders : list
    obstacle_colliders : list of (Collider, int)
        Colliders of static obstacles, and the index of their owner in `names`.
    world_bodies : list of (Body, Pose, int)
        Bodies that represent the worlds of models, their poses, and the index of their owner in `names`.
    names : list of (str, int)
        Kind and number of every owner; the kind is ``model``, ``actor`` or ``obstacle``.
    owner : list of int
        Index in `names` of each body's owner.
    inputs : int
        Degrees of freedom of the joints so far.
    """

    def __init__(self, frame: Frame, gravity: Floats, filter_groups: Sequence[FilterGroups]) -> None:
        self.origin, self.frame, self.gravity = Origin(), frame, gravity
        self.collision_filter, self.models = CollisionFilter(filter_groups), len(filter_groups)
        self.bodies: list[Body] = []
        self.joints: list[JointConstraint] = []
        self.contacts: list[ContactConstraint] = []
        self.colliders: list[Collider] = []
        self.obstacle_colliders: list[tuple[Collider, int]] = []
        self.world_bodies: list[tuple[Body, Pose, int]] = []
        self.names: list[tuple[str, int]] = []
        self.owner: list[int] = []
        self.inputs = 0
        self._taken = {"origin"}

    def add_model(self, number: int, instance: ModelInstance, steps: int, step: float) -> Member:
        """Add a dynamic model, advanced by a number of island steps of a length [s] per step of the World."""
        seen, owner = instance.frame.relative_to(self.frame), len(self.names)
        self.names.append(("model", number))
        made = self._similar(instance, seen, instance.spec.timestep if steps == instance.steps else step)
        count, first, fed = len(instance.rows), len(self.bodies), self.inputs
        bodies = made.bodies[:count]
        self.bodies += bodies
        self.owner += [owner] * count
        self.world_bodies += [(body, seen.pose, owner) for body in made.bodies[count:]]
        self.joints += made.joints
        self.inputs += len(made.feeds)
        self.contacts += made.contacts
        self.colliders += self.collision_filter.of_own(owner, made.colliders)
        self.colliders += self._shape_colliders(bodies, instance.spec, *self.collision_filter.of_shapes(owner))
        masses = np.array([[body.mass] for body in bodies])
        pull = seen.scale * rotate(seen.orientation, instance.spec.gravity) - self.gravity
        rows, inputs = slice(first, first + count), slice(fed, self.inputs)
        return Member(number, instance, rows, inputs, steps, seen, made.feeds, masses * pull)

    def _similar(self, instance: ModelInstance, seen: Frame, step: float) -> Similar:
        """Transform a model to the island's frame, units and step; unchanged where it already has them."""
        spec, prefix = instance.spec, "" if self.models == 1 else f"{instance.name}: "
        if seen is WORLD_FRAME and self.models == 1 and step == spec.timestep:
            for node in spec.nodes[1:]:
                self._named(node.name)
            return Similar(spec.bodies, spec.joints, spec.contacts, spec.colliders, np.ones(instance.compiled.inputs))
        steps = spec.timestep, step
        change = Change(seen.pose, seen.scale, seen.weight, steps, lambda name: self._named(prefix + name))
        return Similar.of(spec, change)

    def add_kinematic_model(self, number: int, instance: ModelInstance) -> Member:
        """Add a kinematic model: every body is a kinematic body by itself."""
        seen, first, count = instance.frame.relative_to(self.frame), len(self.bodies), len(instance.rows)
        self.names.append(("model", number))
        for body in instance.spec.bodies:
            name, shape = self._named(f"{instance.name}: {body.name}"), grown(body.shape, seen.scale)
            made = replace(body, shape=shape, name=name, kinematic=True, bond=Bond())
            self._add(made, Floating(self.origin, made, name=self._named(f"joint of {name}")))
        self.colliders += self._shape_colliders(
            self.bodies[first:], instance.spec, KINEMATIC, VEHICLES | self.collision_filter.shape_groups
        )
        rows = slice(first, first + count)
        return Member(number, instance, rows, slice(0, 0), 1, seen, np.zeros(0), np.zeros((count, 3)))

    def add_world_bodies(self) -> None:
        """Add the bodies that represent the worlds of models, behind all other bodies of models."""
        self.bodies += [body for body, _, _ in self.world_bodies]
        self.owner += [owner for _, _, owner in self.world_bodies]

    def add_actor(self, number: int, actor: ActorProxy, ground_height: float | None, *, kinematic: bool) -> None:
        """Add an actor proxy; a ground height [m] confines a dynamic one to that level plane."""
        self.names.append(("actor", number))
        frame, is_driven = self.frame, math.isfinite(actor.mass)
        mass = actor.mass / frame.weight if is_driven else 1.0  # that of a mover plays no part
        x, y, z = actor.size / frame.scale
        yaw = actor.yaw_inertia / frame.work if is_driven else mass * (x * x + y * y) / 12.0
        inertia = np.diag([mass * (y * y + z * z) / 12.0, mass * (x * x + z * z) / 12.0, yaw])
        name = self._named(f"actor {actor.row}")
        body = Body(mass, inertia, effective=True, kinematic=kinematic, name=name)
        name = self._named(f"joint of actor {actor.row}")
        joint = Floating(self.origin, body, name=name)
        if ground_height is not None and not kinematic:  # it keeps to its ground
            height = (ground_height - frame.position[2]) / frame.scale
            joint = PlanarAxis(self.origin, body, (0.0, 0.0, 1.0), parent_vertex=(0.0, 0.0, height), name=name)
        self._add(body, joint)
        group, meets = (
            (VEHICLES, self.collision_filter.shape_groups | VEHICLES | KINEMATIC)
            if is_driven
            else (KINEMATIC, self.collision_filter.shape_groups | VEHICLES)
        )
        shape, name = outline_of(actor.kind, actor.size / frame.scale), self._named(f"shape of actor {actor.row}")
        laws = actor.friction, actor.restitution
        self.colliders.append(Collider(body, shape, *laws, group=group, meets=meets, name=name))

    def add_obstacle(self, number: int, obstacle: StaticObstacle) -> None:
        """Add a static obstacle, solid to models, and to vehicles unless they drive on it."""
        self.names.append(("obstacle", number))
        meets = self.collision_filter.shape_groups | (0 if obstacle.is_ground else VEHICLES)
        frame, turn = self.frame, obstacle.orientation
        if obstacle.kind is not ShapeKind.MESH:
            shapes = [outline_of(obstacle.kind, obstacle.size)]
        elif obstacle.is_ground:  # what is above is so in the World
            shapes, turn = surface_of(rotate(turn, obstacle.triangles), True), UPRIGHT
        else:
            shapes = surface_of(obstacle.triangles, False)
        at = frame.pose.inverse @ Pose(obstacle.position, turn)
        for shape in shapes:
            placed = shape.replaced(
                position_offset=at.position / frame.scale,
                orientation_offset=multiply(at.orientation, shape.orientation_offset),
                scale=np.asarray(shape.scale) / frame.scale,
            )
            name = self._named(f"static obstacle {obstacle.row}")
            solid = Collider(
                self.origin, placed, SMOOTH, group=self.collision_filter.shape_groups | VEHICLES, meets=meets, name=name
            )
            self.obstacle_colliders.append((solid, len(self.names) - 1))

    def _add(self, body: Body, joint: JointConstraint) -> None:
        """Add a body and the joint that leads to it; it belongs to the owner named last."""
        self.bodies.append(body)
        self.owner.append(len(self.names) - 1)
        self.joints.append(joint)
        self.inputs += joint.dof

    def _named(self, wish: str) -> str:
        """Make a name unique."""
        name = wish
        while name in self._taken:
            name += "'"
        self._taken.add(name)
        return name

    def _shape_colliders(
        self, bodies: Sequence[Body], spec: MechanismSpec, group: int, meets: int
    ) -> Iterable[Collider]:
        """Make colliders from the visual shapes of bodies, with the friction of the model's own colliders."""
        rough = {one.owner.name: one.friction_coefficient for one in spec.colliders if isinstance(one.owner, Body)}
        for body, old in zip(bodies, spec.bodies, strict=True):
            shape = collision_shape_of(body.shape)
            if shape is not None:
                name, friction = self._named(f"shape of {body.name}"), rough.get(old.name, SMOOTH)
                yield Collider(body, shape, friction, group=group, meets=meets, name=name)
