"""Mechanism of an assembled Shift model: bodies about their centres of mass, upright."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.formats.shift.bodies import tensor_of
from cbsim.geometry.linear import eigh, eigvalsh, norm, times
from cbsim.models.shift.assembly import Assembled
from cbsim.models.shift.chains import Edge, arranged, edges_of
from cbsim.models.shift.kinematics import unspin
from cbsim.models.shift.laws import Laws
from cbsim.models.shift.network import GROUND, HERE, Place
from cbsim.models.shift.upright import quaternion_of
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.drives import DryFriction
from cbsim.spec.mechanism.joints import JointConstraint, Rotational, Translational
from cbsim.spec.mechanism.shapes import Shape
from cbsim.spec.shift.model import Body as ShiftBody

__all__ = ["Built", "Names", "build", "is_linear"]

ROUGH = 1e-12  # [m, rad] gap by the digits of a file
LIGHT = 1e-9  # mass of massless bodies relative to the least mass; results change by as much


class Names:
    """Names of parts: those of the file where unique, else with their paths."""

    def __init__(self) -> None:
        self.taken = {"origin"}

    def __call__(self, path: tuple[str, ...], kind: str) -> str:
        """Name a part."""
        whole = ":".join(path)
        for name in (path[-1], whole, f"{kind} {whole}"):
            if name and name not in self.taken:
                break
        else:
            number = 2
            while f"{kind} {whole} {number}" in self.taken:
                number += 1
            name = f"{kind} {whole} {number}"
        self.taken.add(name)
        return name


class Built(NamedTuple):
    """A mechanism of a Shift model.

    Attributes
    ----------
    origin : Origin
    bodies : dict
        Number of a body in the model → body of the mechanism, those that depend on something.
    centers : dict
        Number of a body → its centre of mass from its origin [m].
    joints : list of JointConstraint
        In the order of their inputs.
    inputs : dict
        Number of a joint in the tree's `ties` → place of its first input, of those that are joints of the core.
    start : dict
        Name of a joint → its coordinates at the start.
    velocities : dict
        Name of a body → velocity of its centre at the start (3) [m/s], in the world, and turning (3) [rad/s], in
        its own frame.
    light : float
        Mass that bodies without any were given [kg]; 0 if there are none.
    edges : list of Edge
        Edge of each joint.
    shares : dict
        Number of a joint → share of its linear dampers that the core has: all, where none closes a loop.
    """

    origin: Origin
    bodies: dict[int, Body]
    centers: dict[int, Floats]
    joints: list[JointConstraint]
    inputs: dict[int, int]
    start: dict[str, tuple[float, ...]]
    velocities: dict[str, tuple[float, ...]]
    light: float
    edges: list[Edge]
    shares: dict[int, float]


def build(
    assembled: Assembled,
    turn: Floats,
    laws: Mapping[int, Laws],
    shapes: Mapping[int, Shape],
    needed: tuple[Collection[int], Collection[int]] = ((), ()),
    *,
    shares: Mapping[int, float] | None = None,
    about_origin: bool = False,
) -> Built:
    """Build the parts of a mechanism.

    Parameters
    ----------
    assembled : Assembled
    turn : ndarray, shape (3, 3)
        From the file's axes to the world's.
    laws : mapping
        What acts along joints; the core takes linear springs of sliding joints and linear dampers, of these a share
        where a joint with one closes a loop.
    shapes : mapping
        Number of a body → shape.
    needed : (collection of int, collection of int)
        Bodies and joints that must not be merged into others.
    shares : mapping
        Number of a joint → share of its linear dampers that the core takes where one closes a loop; half without.
    about_origin : bool
        Moments of inertia are about the bodies' origins, not about their centres of mass.
    """
    edges, gone = edges_of(assembled, laws, *needed)
    maker = _Builder(assembled, turn, gone, about_origin=about_origin, shares=shares or {})
    bodies = {number: maker.body(number, shapes.get(number)) for number in maker.held}
    damped = {number for number, law in laws.items() if law.viscous or law.dry}
    joints: list[JointConstraint] = []
    inputs: dict[int, int] = {}
    first = 0
    order = arranged(edges, maker.massless, damped)
    if not any(edge.ties[0] in laws and laws[edge.ties[0]].viscous for edge, _ in order[len(bodies) :]):
        maker.shares |= dict.fromkeys((edge.ties[0] for edge, _ in order), 1.0)
    for place, (edge, turned) in enumerate(order):
        if place >= len(bodies) and edge.ties[0] not in {*laws, *needed[1]}:
            edge = maker.loosened(edge)  # noqa: PLW2901 (the joint that is made)
        make = maker.chain if edge.is_chain else maker.joint
        joints.append(make(edge, bodies, laws.get(edge.ties[0]), turned=turned))
        if joints[-1].dof:
            inputs[edge.ties[0]] = first
        first += joints[-1].dof
    return Built(
        maker.origin, bodies, maker.centers, joints, inputs, maker.start, maker.velocities(bodies),
        maker.light[0] if maker.massless else 0.0, edges, maker.shares,
    )  # fmt: skip


class _Builder:
    """Builder of bodies and joints."""

    def __init__(
        self, assembled: Assembled, turn: Floats, gone: set[int], *, about_origin: bool, shares: Mapping[int, float]
    ) -> None:
        self.shares = dict(shares)
        self.assembled, self.turn, self.about_origin = assembled, turn, about_origin
        self.names, self.origin = Names(), Origin()
        links, loose = assembled.network.links, {*assembled.tree.loose, *gone}
        self.held = [number for number in range(len(links)) if number not in loose]
        self.centers = {n: np.array(links[n].body.center_of_mass, float) for n in self.held}
        self.centers[GROUND] = np.zeros(3)
        self.start: dict[str, tuple[float, ...]] = {}
        heavy = [links[n].body for n in self.held if links[n].body.mass > 0.0]
        moments = [value for body in heavy for value in eigvalsh(tensor_of(body.inertia)) if value > 0.0]
        mass = LIGHT * min((body.mass for body in heavy), default=1.0)
        self.light = mass, LIGHT * min(moments, default=1e-2 * mass / LIGHT)
        self.massless = {n for n in self.held if links[n].body.is_massless}
        self.plane = _plane_normal(assembled)
        gaps = assembled.chain.gaps(assembled.posture, assembled.poses)
        self.rough = float(np.abs(gaps).max(initial=0.0)) > ROUGH

    def body(self, number: int, shape: Shape | None) -> Body:
        """Build a body of the core."""
        link = self.assembled.network.links[number]
        mass, inertia = self._matter(number, link.body)
        return Body(mass, inertia, shape, name=self.names(link.path, "body"), effective=True)

    def _matter(self, number: int, body: ShiftBody) -> tuple[float, Floats]:
        mass, least = self.light
        if body.is_massless:
            return mass, least * np.eye(3)
        tensor = tensor_of(body.inertia)
        if self.about_origin:
            c = self.centers[number]
            tensor = tensor - body.mass * (times(c, c) * np.eye(3) - np.outer(c, c))
        values, axes = eigh(tensor)
        if values[0] <= 1e-12 * abs(values[-1]):
            if self.plane is not None:  # all turn about one axis, so that nothing but the moment about it counts
                normal = times(self.assembled.poses[number].rotation.T, self.plane)
                about = max(float(times(times(normal, tensor), normal)), least)
                tensor = about * np.eye(3)
            else:
                tensor = times(times(axes, np.diag(np.maximum(values, max(least, 1e-9 * values[-1])))), axes.T)
        return max(body.mass, mass), 0.5 * (tensor + tensor.T)

    def _pose(self, number: int) -> Place:
        """Pose of a body's centre of mass in the world at the start."""
        if number == GROUND:
            return HERE
        pose = self.assembled.poses[number]
        center = times(pose.rotation, self.centers[number]) + pose.origin
        return Place(times(self.turn, pose.rotation), times(self.turn, center))

    def joint(self, edge: Edge, bodies: dict[int, Body], laws: Laws | None, *, turned: bool) -> JointConstraint:
        """Make a joint of the core, from the ground outwards, with the coordinate that the file has.

        Notes
        -----
        With R₁ and R₂ the frames' rotations in parent and child, the child is turned by R₁ J R₂⁻¹ against the parent:
        that is an offset R₁ R₂⁻¹, then R₂ J R₂⁻¹. Where it is walked from child to parent, ends change places and the
        axis turns round, so that its coordinate stays.
        """
        number = edge.ties[0]
        tie = self.assembled.tree.ties[number]
        ends = [(tie.parent, tie.at_parent), (tie.child, tie.at_child)]
        if tie.joint.kind == "rigid":
            ends[0] = (tie.parent, tie.at_parent @ Place.of(tie.joint.placement))
        (one, above), (other, below) = ends[::-1] if turned else ends
        above, below = self._about_center(one, above), self._about_center(other, below)
        axis = np.array(tie.joint.axis, float) * (-1.0 if turned else 1.0)
        name = self.names(tie.path, "joint")
        damper, dry = (self.shares.get(number, 0.5) * laws.viscous, laws.dry) if laws else (0.0, 0.0)
        halves = (times(above.rotation, axis), times(below.rotation, axis))
        offset = times(above.rotation, below.rotation.T)
        points = (above.origin, below.origin)
        made = self._make(edge.free, (one, other), bodies, halves, points, offset, name, (damper, dry, *_spring(laws)))
        if sum(edge.free) == 1:
            self.start[name] = (float(self.assembled.posture.numbers[number]),)
        return made

    def loosened(self, edge: Edge) -> Edge:
        """Reduce the constraints of a hinge that closes a planar loop to two, where its axes are not exactly parallel.

        Axes that are parallel up to the last digit of a file give nearly redundant rows, which cannot be solved. In a
        plane, two rows suffice.
        """
        return edge._replace(free=(1, 3)) if self.rough and self.plane is not None and edge.free == (0, 1) else edge

    def chain(self, edge: Edge, bodies: dict[int, Body], _laws: Laws | None, *, turned: bool) -> JointConstraint:
        """Make a joint of the core for several of the model, from where they are at the start."""
        ends = (edge.other, edge.one) if turned else (edge.one, edge.other)
        assert edge.point is not None
        point = times(self.turn, edge.point)
        points = []
        for end in ends:
            pose = self._pose(end)
            points.append(times(pose.rotation.T, point - pose.origin))
        parent, child = self._pose(ends[0]), self._pose(ends[1])
        offset = times(parent.rotation.T, child.rotation) if edge.free[1] == 0 else np.eye(3)
        name = self.names(self.assembled.tree.ties[edge.ties[0]].path, "joint")
        along = (np.array([0.0, 0.0, 1.0]),) * 2
        return self._make(edge.free, ends, bodies, along, (points[0], points[1]), offset, name)

    def _make(
        self,
        free: tuple[int, int],
        ends: tuple[int, int],
        bodies: dict[int, Body],
        axes: tuple[Floats, Floats],
        points: tuple[Floats, Floats],
        offset: Floats,
        name: str,
        element: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0),
    ) -> JointConstraint:
        """Make a joint of the core, and note the coordinates of what has several."""
        slides, turns = free
        damper, dry, stiffness, slack = element
        who = f"joint '{name}'"
        slide = Translational(
            slides, axes[0], vertices=(None, None) if slides == 3 else points, damper=damper, subject=who,
            spring=stiffness if slides == 1 else 0.0, spring_offset=[slack] * slides,
        )  # fmt: skip
        turning = Rotational(turns, axes[1], orientation_offset=quaternion_of(offset), damper=damper, subject=who)
        parent = self.origin if ends[0] == GROUND else bodies[ends[0]]
        if slides + turns > 1:
            self.start[name] = self._coordinates(*ends, free, offset)
        return JointConstraint(parent, bodies[ends[1]], slide, turning, [DryFriction(dry)] if dry else (), name=name)

    def _about_center(self, number: int, frame: Place) -> Place:
        """Take a frame of a body from its centre of mass, one of the ground into the world."""
        if number == GROUND:
            return Place(times(self.turn, frame.rotation), times(self.turn, frame.origin))
        return Place(frame.rotation, frame.origin - self.centers[number])

    def _coordinates(self, one: int, other: int, free: tuple[int, int], offset: Floats) -> tuple[float, ...]:
        """Coordinates at the start of a joint that has three of a kind."""
        parent, child = self._pose(one), self._pose(other)
        apart = times(parent.rotation.T, child.origin - parent.origin)
        vector = unspin(times(times(offset.T, parent.rotation.T), child.rotation))
        return (*apart[: free[0]].tolist(), *vector[: free[1]].tolist())

    def velocities(self, bodies: dict[int, Body]) -> dict[str, tuple[float, ...]]:
        """Velocities of all bodies at the start."""
        chain = self.assembled.chain
        motion = chain.velocities(self.assembled.posture, self.assembled.poses, self.assembled.rates)
        found = {}
        for number, body in bodies.items():
            pose = self.assembled.poses[number]
            turning = motion[number, :3]
            speed = motion[number, 3:] + np.cross(turning, times(pose.rotation, self.centers[number]))
            found[body.name] = (*times(self.turn, speed).tolist(), *times(pose.rotation.T, turning).tolist())
        return found


def _spring(laws: Laws | None) -> tuple[float, float]:
    """Stiffness, and coordinate without force, of what is one linear spring; else zeros."""
    if laws is None or not is_linear(laws):
        return 0.0, 0.0
    constant, stiffness = (laws.springs[0].pieces[0] + (0.0, 0.0))[:2]
    return stiffness, -constant / stiffness


def is_linear(laws: Laws) -> bool:
    """Whether the springs of a joint are one that is linear and pulls back."""
    if len(laws.springs) != 1 or laws.springs[0].knots:
        return False
    piece = laws.springs[0].pieces[0]
    return len(piece) == 2 and piece[1] > 0.0


def _plane_normal(assembled: Assembled) -> Floats | None:
    """Axis, in the file's axes, of a model in which everything turns about parallel axes and slides normal to them."""
    normal: Floats | None = None
    slides: list[Floats] = []
    for tie, axis in zip(assembled.tree.ties, assembled.chain.axes, strict=True):
        if tie.joint.kind not in ("revolute", "prismatic", "rigid"):
            return None
        here = times((assembled.poses[tie.parent] @ tie.at_parent).rotation, axis)
        if tie.joint.kind == "prismatic":
            slides.append(here)
        elif tie.joint.kind == "revolute":
            if normal is not None and norm(np.cross(normal, here)) > 1e-3:
                return None
            normal = here if normal is None else normal
    if normal is None or any(abs(float(times(normal, slide))) > 1e-3 for slide in slides):
        return None
    return normal
