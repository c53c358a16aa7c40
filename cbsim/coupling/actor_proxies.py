"""The parts of a gathering: `Parts` takes models, guests and what stands in, one after another, into one frame."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cbsim.coupling.candidates import SMOOTH, Guest, Thing
from cbsim.coupling.collision_filter import DRIVEN, TOLD, Marks, Masks
from cbsim.coupling.static_obstacles import looks_of, outline_of, surface_of
from cbsim.geometry.pose import Pose, multiply, rotate
from cbsim.spec.mechanism.bodies import Body, Bond, Origin
from cbsim.spec.mechanism.colliders import Collider
from cbsim.spec.mechanism.contacts import ContactConstraint
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.prototypes import Floating, PlanarAxis
from cbsim.spec.mechanism.similar import Change, Similar, grown
from cbsim.spec.objects import ShapeKind
from cbsim.world.frames import HERE, Frame
from cbsim.world.model_instances import ModelInstance
from cbsim.world.tables import Floats

__all__ = ["Member", "Parts"]

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True, eq=False)
class Member:
    """A model in a gathering.

    Attributes
    ----------
    number : int
        In `World.instances`.
    instance : ModelInstance
    rows, inputs : slice
        Its bodies and its inputs among those of the gathering.
    steps : int
        Of the gathering in one of the World: not fewer than its own.
    frame : Frame
        Its own frame in that of the gathering.
    feeds : (inputs,)
        What its inputs are times.
    weight : (bodies, 3)
        Force in the gathering's frame by which its gravity differs from that of the gathering.
    """

    number: int
    instance: ModelInstance
    rows: slice
    inputs: slice
    steps: int
    frame: Frame
    feeds: Floats
    weight: Floats

    def at(self, n: int) -> int:
        """Give the number of its own step that is underway when step n of the gathering begins."""
        return n * self.instance.steps // self.steps

    def begins(self, n: int) -> bool:
        """Whether a step of its own begins with step n of the gathering, or has begun since the one before."""
        return n == 0 or self.at(n) != self.at(n - 1)


class Parts:
    """What is put together: bodies, joints, contacts and colliders, under names of their own, and whose they are.

    Parameters
    ----------
    frame : Frame
        In which it is.
    gravity : (3,)
        There.
    marks : sequence of Marks
        Of the models that the solver moves; they are put in first, in that order.

    Attributes
    ----------
    models : int
        How many of them the solver moves.
    masks : Masks
    bodies, joints, contacts, colliders : list
    static_cache : list of (Collider, int)
        Colliders of the world, and whose they are.
    rests : list of (Body, Pose, int)
        Bodies that stand for the worlds of models, where they are, and whose they are.
    names : list of (str, int)
        Kind and number of everybody: ``model``, ``guest`` or ``thing``.
    owner : list of int
        Of each body its place in `names`.
    inputs : int
        Of the joints so far.
    """

    def __init__(self, frame: Frame, gravity: Floats, marks: Sequence[Marks]) -> None:
        self.origin, self.frame, self.gravity = Origin(), frame, gravity
        self.masks, self.models = Masks(marks), len(marks)
        self.bodies: list[Body] = []
        self.joints: list[JointConstraint] = []
        self.contacts: list[ContactConstraint] = []
        self.colliders: list[Collider] = []
        self.static_cache: list[tuple[Collider, int]] = []
        self.rests: list[tuple[Body, Pose, int]] = []
        self.names: list[tuple[str, int]] = []
        self.owner: list[int] = []
        self.inputs = 0
        self._taken = {"origin"}

    def join(self, number: int, instance: ModelInstance, steps: int, step: float) -> Member:
        """Put a model in that the solver moves, in so many steps of a length [s] in one of the World."""
        seen, owner = instance.frame.seen_from(self.frame), len(self.names)
        self.names.append(("model", number))
        made = self._similar(instance, seen, instance.spec.timestep if steps == instance.steps else step)
        count, first, fed = len(instance.rows), len(self.bodies), self.inputs
        bodies = made.bodies[:count]
        self.bodies += bodies
        self.owner += [owner] * count
        self.rests += [(body, seen.pose, owner) for body in made.bodies[count:]]
        self.joints += made.joints
        self.inputs += len(made.feeds)
        self.contacts += made.contacts
        self.colliders += self.masks.of_own(owner, made.colliders)
        self.colliders += self._by_looks(bodies, instance.spec, *self.masks.of_looks(owner))
        masses = np.array([[body.mass] for body in bodies])
        pull = seen.scale * rotate(seen.orientation, instance.spec.gravity) - self.gravity
        rows, inputs = slice(first, first + count), slice(fed, self.inputs)
        return Member(number, instance, rows, inputs, steps, seen, made.feeds, masses * pull)

    def _similar(self, instance: ModelInstance, seen: Frame, step: float) -> Similar:
        """Bring a model into the frame and the steps of all, as it is where it is alone in them."""
        spec, prefix = instance.spec, "" if self.models == 1 else f"{instance.name}: "
        if seen is HERE and self.models == 1 and step == spec.timestep:
            for node in spec.nodes[1:]:
                self._named(node.name)
            return Similar(spec.bodies, spec.joints, spec.contacts, spec.colliders, np.ones(instance.compiled.inputs))
        steps = spec.timestep, step
        change = Change(seen.pose, seen.scale, seen.weight, steps, lambda name: self._named(prefix + name))
        return Similar.of(spec, change)

    def carry(self, number: int, instance: ModelInstance, heavy: float) -> Member:
        """Put a model in that is moved without dynamics: each body by itself, and heavy."""
        seen, first, count = instance.frame.seen_from(self.frame), len(self.bodies), len(instance.rows)
        self.names.append(("model", number))
        for body in instance.spec.bodies:
            inertia, name = (
                heavy / body.mass * seen.scale**2 * body.inertia,
                self._named(f"{instance.name}: {body.name}"),
            )
            shape = grown(body.shape, seen.scale)
            made = replace(body, mass=heavy, inertia=inertia, shape=shape, name=name, bond=Bond())
            self._add(made, Floating(self.origin, made, name=self._named(f"way of {name}")))
        self.colliders += self._by_looks(self.bodies[first:], instance.spec, TOLD, DRIVEN | self.masks.looks)
        rows, weight = slice(first, first + count), np.tile(-heavy * self.gravity, (count, 1))
        return Member(number, instance, rows, slice(0, 0), 1, seen, np.zeros(0), weight)

    def rest(self) -> None:
        """Put in the bodies that stand for the worlds of models: behind all others of theirs."""
        self.bodies += [body for body, _, _ in self.rests]
        self.owner += [owner for _, _, owner in self.rests]

    def invite(self, number: int, guest: Guest, mass: float, level: float | None) -> None:
        """Put a guest in, with a mass in units of all, on level ground [m] or None."""
        self.names.append(("guest", number))
        frame, is_driven = self.frame, math.isfinite(guest.mass)
        x, y, z = guest.size / frame.scale
        yaw = mass * (x * x + y * y) / 12.0
        if is_driven:
            yaw = guest.yaw_inertia / frame.work * (mass * frame.weight / guest.mass)
        inertia = np.diag([mass * (y * y + z * z) / 12.0, mass * (x * x + z * z) / 12.0, yaw])
        body = Body(mass, inertia, effective=True, name=self._named(f"guest {guest.row}"))
        name = self._named(f"way of guest {guest.row}")
        joint = Floating(self.origin, body, name=name)
        if level is not None and is_driven:  # it keeps to its ground
            height = (level - frame.position[2]) / frame.scale
            joint = PlanarAxis(self.origin, body, (0.0, 0.0, 1.0), parent_vertex=(0.0, 0.0, height), name=name)
        self._add(body, joint)
        group, meets = (DRIVEN, self.masks.looks | DRIVEN | TOLD) if is_driven else (TOLD, self.masks.looks | DRIVEN)
        shape, name = outline_of(guest.kind, guest.size / frame.scale), self._named(f"body of guest {guest.row}")
        laws = guest.friction, guest.restitution
        self.colliders.append(Collider(body, shape, *laws, group=group, meets=meets, name=name))

    def stand(self, number: int, thing: Thing) -> None:
        """Put in what stands, for models, and for vehicles unless they drive on it."""
        self.names.append(("thing", number))
        meets = self.masks.looks | (0 if thing.is_ground else DRIVEN)
        frame, turn = self.frame, thing.orientation
        if thing.kind is not ShapeKind.MESH:
            shapes = [outline_of(thing.kind, thing.size)]
        elif thing.is_ground:  # what is above is so in the World
            shapes, turn = surface_of(rotate(turn, thing.triangles), True), UPRIGHT
        else:
            shapes = surface_of(thing.triangles, False)
        at = frame.pose.inverse @ Pose(thing.position, turn)
        for shape in shapes:
            placed = shape.replaced(
                position_offset=at.position / frame.scale,
                orientation_offset=multiply(at.orientation, shape.orientation_offset),
                scale=np.asarray(shape.scale) / frame.scale,
            )
            name = self._named(f"what stands in row {thing.row}")
            solid = Collider(self.origin, placed, SMOOTH, group=self.masks.looks | DRIVEN, meets=meets, name=name)
            self.static_cache.append((solid, len(self.names) - 1))

    def _add(self, body: Body, joint: JointConstraint) -> None:
        """Put a body in with the joint that leads to it; it belongs to whoever was named last."""
        self.bodies.append(body)
        self.owner.append(len(self.names) - 1)
        self.joints.append(joint)
        self.inputs += joint.dof

    def _named(self, wish: str) -> str:
        """Find a name that no part has."""
        name = wish
        while name in self._taken:
            name += "'"
        self._taken.add(name)
        return name

    def _by_looks(self, bodies: Sequence[Body], told: MechanismSpec, group: int, meets: int) -> Iterable[Collider]:
        """Colliders of bodies by their looks, as rough as those of the model."""
        rough = {one.owner.name: one.friction_coefficient for one in told.colliders if isinstance(one.owner, Body)}
        for body, old in zip(bodies, told.bodies, strict=True):
            shape = looks_of(body.shape)
            if shape is not None:
                name, friction = self._named(f"looks of {body.name}"), rough.get(old.name, SMOOTH)
                yield Collider(body, shape, friction, group=group, meets=meets, name=name)
