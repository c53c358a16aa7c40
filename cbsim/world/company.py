"""`Company`: a model together with what is near it, as one mechanism of the rigid-body core.

While a vehicle, a literal mover or a prop is near, it joins the mechanism of the model as a body of its own: a solid of
its size, mass and inertia, against which all bodies of the model are solid by their looks. So what one gains in a blow
the other loses, to the tolerance of the solver. What drives a vehicle has been worked out before, as if it were alone;
here it acts as a force all through the step.

A mover does as it is told, so do the bodies of a model that is moved without dynamics, and a prop stands: they are held
by a force. A vehicle that is very much heavier than the model is held likewise, and takes the impulses afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.dynamics.compile import Compiled, compile_mechanism
from cbsim.dynamics.failure import step_error
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.rooms import Rooms
from cbsim.geometry.pose import multiply, rotate
from cbsim.spec.mechanism.bodies import Body, Bond, Origin
from cbsim.spec.mechanism.colliders import Collider, ConvexHull, HalfSpace
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.prototypes import Floating, PlanarAxis
from cbsim.spec.mechanism.shapes import Box, CombinedShapes, Cylinder, EmptyShape, FrameShape, Shape, Sphere
from cbsim.spec.mechanism.state import step_quaternion
from cbsim.spec.objects import ShapeKind
from cbsim.world.islands import Island, manners_of, take_step
from cbsim.world.tables import Floats, Ints
from cbsim.world.watch import Encounter, Watch

__all__ = ["Company", "Guest", "Met", "company_of"]

BACK = np.array([1.0, -1.0, -1.0, -1.0])
HEAVY = 1e2  # times the mass of what may be pushed, of bodies in the solver: more is harder to solve
HOLD = 1e-6  # share of its speed that what does as it is told may lose before it is held
THICK = 0.02  # [m] of the plates that triangles of a mesh are
GUESTS, MODEL = 1 << 61, 1 << 60  # groups of colliders
ALONG = np.array([np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0])  # turns z to x, as the axle of a wheel has it


class Guest(NamedTuple):
    """A vehicle, a mover, a prop or a mesh that may touch a model.

    Attributes
    ----------
    row : int
        In the table of bodies.
    kind, size : ShapeKind, (3,) [m]
        Its outline.
    mass, yaw_inertia : float
        [kg], [kg m²]; a mass of infinity for what does as it is told.
    friction, restitution : float
        Of its body.
    height : float or None
        Of its centre above level ground [m], to which it keeps; None where it stands on slopes.
    triangles : (n, 3, 3) [m] or None
        Of a mesh.
    """

    row: int
    kind: ShapeKind
    size: Floats
    mass: float
    yaw_inertia: float
    friction: float
    restitution: float
    height: float | None
    triangles: Floats | None


class Met(NamedTuple):
    """What came of a step of the World.

    Attributes
    ----------
    state, mind : (bodies, 13), (m,)
        Of the model, in the World.
    guests : (guests, 13)
        In the World: position, velocity, orientation, angular velocity.
    moved : (guests,) bool
        Whether it was touched.
    touches : list of Encounter
        First touch of each pair.
    """

    state: Floats
    mind: Floats
    guests: Floats
    moved: NDArray[np.bool_]
    touches: list[Encounter]


@dataclass(frozen=True, eq=False)
class Company:
    """A model with its guests.

    Attributes
    ----------
    island : Island
    guests : tuple of Guest
    spec, compiled : MechanismSpec, Compiled
        Of all together, in the frame of the island.
    manners : tuple of (ndarray, ndarray)
        Options of the solver: its own, and in turn those for hard blows that it cannot solve so.
    masses, inertias : (guests,)
        As the solver has them, in units of the model; inertias about the upright axis.
    lightness : (guests,)
        What is left of those over what guests have: less than 1 for those too heavy for the solver, 0 for movers.
    told : (all,) bool
        Which of all bodies the solver does not move: those, and the bodies of a model without dynamics.
    """

    island: Island
    guests: tuple[Guest, ...]
    spec: MechanismSpec
    compiled: Compiled
    manners: tuple[tuple[Floats, Ints], ...]
    masses: Floats
    inertias: Floats
    lightness: Floats
    told: NDArray[np.bool_]
    _rooms: list[Rooms] = field(default_factory=list, repr=False)

    def meet(self, state: Floats, mind: Floats, before: Floats, after: Floats, step: int) -> Met:
        """Go through one step of the World together.

        Parameters
        ----------
        state, mind : ndarray, shape (bodies, 13), (m,)
            Of the model, in the World; left as they are.
        before, after : ndarray, shape (guests, 13)
            Where guests are before the step, and where they would be after it without the model.
        step : int
            Number of the World's step.

        Raises
        ------
        StepError
            If the solver fails.
        """
        island, frame = self.island, self.island.frame
        rooms = self._rooms.pop() if self._rooms else Rooms(self.compiled)
        count, h = len(self.island.rows), self.spec.timestep
        own, mind = frame.inwards(state), mind.copy()
        start, pushes, turns = self._driven(before, after, island.steps * h)
        if island.motion is not None:
            goal = own.copy()
            for n in range(island.steps):
                island.motion.move(island.time(step, n), h, goal, mind)
            own = _underway(own, goal, island.steps * h)
        z, watch = np.concatenate([own, start]), Watch(island, self.masses, step)
        inputs, external = np.zeros((1, max(1, self.compiled.inputs))), np.zeros((len(z), 6))
        for n in range(island.steps):
            inputs[:], external[:] = 0.0, 0.0
            if island.behaviour is not None:
                fed = inputs[0, : island.compiled.inputs]
                island.behaviour.act(island.time(step, n), z[:count].copy(), mind, fed, external[:count])
            external[count:, :3] = rotate(z[count:, 6:10] * BACK, self.masses[:, None] * (pushes - self.spec.gravity))
            external[count:, 5] = self.inertias * turns
            was, free = z.copy(), z.copy()
            free[count:, 3:6] += h * pushes
            free[count:, 12] += h * turns
            self._go(rooms, z, free, inputs, external, island.time(step, n))
            given = rotate(was[count:, 6:10], external[count:, :3]) + self.masses[:, None] * self.spec.gravity
            blows = self.masses[:, None] * (z[count:, 3:6] - was[count:, 3:6]) - h * given
            twists = self.inertias * (z[count:, 12] - was[count:, 12]) - h * external[count:, 5]
            watch.look(rooms, was, blows, n)
            free[count:, 3:6] += blows * self.lightness[:, None] / self.masses[:, None]
            free[count:, 12] += twists * self.lightness / self.inertias
            free[:, :3] += h * free[:, 3:6]
            free[:, 6:10] = multiply(free[:, 6:10], step_quaternion(free[:, 10:], h))
            z[self.told] = free[self.told]
        self._rooms.append(rooms)
        ended = goal if island.motion is not None else z[:count]
        return Met(frame.outwards(ended), mind, frame.outwards(z[count:]), watch.moved, watch.touches)

    def _go(self, rooms: Rooms, z: Floats, free: Floats, inputs: Floats, external: Floats, time: float) -> None:
        """Make one step of the model; what does as it is told is held to its way by a force, found in a first try."""
        was, report, told = z.copy(), np.zeros(c.REPORT), self.told
        self._solve(rooms, z, inputs, external, report, time)
        slowed, turned = z[told, 3:6] - free[told, 3:6], z[told, 10:] - free[told, 10:]
        if not (np.abs(slowed) > HOLD * (1.0 + np.abs(free[told, 3:6]))).any():
            return
        bodies = [body for body, is_told in zip(self.spec.bodies, told, strict=True) if is_told]
        mass, inertia = np.array([body.mass for body in bodies]), np.array([body.inertia for body in bodies])
        external[told, :3] -= rotate(was[told, 6:10] * BACK, mass[:, None] * slowed / self.spec.timestep)
        external[told, 3:] -= np.einsum("bij,bj->bi", inertia, turned) / self.spec.timestep
        z[:] = was
        self._solve(rooms, z, inputs, external, report, time)

    def _solve(self, rooms: Rooms, z: Floats, inputs: Floats, external: Floats, report: Floats, time: float) -> None:
        if not take_step(rooms, self.manners, z, inputs, external, report):
            raise step_error(self.spec, self.compiled, z, rooms.others, report, time)

    def _driven(self, before: Floats, after: Floats, length: float) -> tuple[Floats, Floats, Floats]:
        """Give guests as they start, and what drives them, of the model: accelerations (guests, 3) and (guests,)."""
        frame = self.island.frame
        start, goal = frame.inwards(before), frame.inwards(after)
        told = np.isinf([guest.mass for guest in self.guests])
        start[told] = _underway(start[told], goal[told], length)
        gain = np.where(told[:, None], 0.0, (goal[:, 3:6] - start[:, 3:6]) / length)
        return start, gain, np.where(told, 0.0, (goal[:, 12] - start[:, 12]) / length)


def _underway(start: Floats, goal: Floats, length: float) -> Floats:
    """Give states (n, 13) that go straight from one to the other in a time [s], turned as at its end."""
    out = start.copy()
    out[:, 3:6] = (goal[:, :3] - start[:, :3]) / length
    out[:, 6:10], out[:, 10:] = goal[:, 6:10], 0.0
    return out


# --- making one -------------------------------------------------------------------------------------------------------
def company_of(island: Island, guests: Sequence[Guest]) -> Company:
    """Compile a model together with its guests.

    Raises
    ------
    ModelError
        If there is no routine of contact for the shape of a body.
    """
    frame, told = island.frame, island.spec
    own = sum(body.mass for body in told.bodies)
    finite = [guest.mass / frame.weight for guest in guests if np.isfinite(guest.mass)]
    heavy = HEAVY * (own if island.motion is None else max([*finite, 1.0]))
    names = {node.name for node in told.nodes}
    spec = told if island.motion is None else _carried(told, heavy)
    bodies, joints, colliders = list(spec.bodies), list(spec.joints), [_apart(one) for one in spec.colliders]
    colliders += _looks(spec, told, names)
    weights = np.array([guest.mass / frame.weight for guest in guests])
    masses = np.minimum(weights, heavy)
    for guest, mass in zip(guests, masses, strict=True):
        body, joint, solid = _member(guest, float(mass), spec.origin, island, names)
        bodies.append(body)
        joints.append(joint)
        colliders.append(solid)
    together = replace(spec, bodies=tuple(bodies), joints=tuple(joints), colliders=tuple(colliders))
    manners = island.manners if island.motion is None else manners_of(spec, None)
    inertias = np.array([body.inertia[2, 2] for body in bodies[len(told.bodies) :]])
    is_told = np.array([island.motion is not None] * len(told.bodies) + [*(masses < weights)])
    compiled = compile_mechanism(together)
    return Company(island, tuple(guests), together, compiled, manners, masses, inertias, masses / weights, is_told)


def _carried(spec: MechanismSpec, heavy: float) -> MechanismSpec:
    """Bodies of a model that is moved without dynamics: each by itself, and heavy."""
    bodies = [replace(body, mass=heavy, inertia=heavy / body.mass * body.inertia, bond=Bond()) for body in spec.bodies]
    joints = [Floating(spec.origin, body, name=f"way of {body.name}") for body in bodies]
    return MechanismSpec(spec.origin, bodies, joints, timestep=spec.timestep, gravity=0.0)


def _apart(collider: Collider) -> Collider:
    """Let guests pass a collider of the model: they meet its looks."""
    return replace(collider, group=collider.group & ~GUESTS, meets=collider.meets & ~GUESTS, bond=Bond())


def _looks(spec: MechanismSpec, told: MechanismSpec, names: set[str]) -> Iterable[Collider]:
    """Colliders for guests: all bodies by their looks."""
    rough = {one.owner.name: one.friction_coefficient for one in told.colliders if isinstance(one.owner, Body)}
    for body in spec.bodies:
        shape = _solid(body.shape)
        if shape is not None:
            name, friction = _named(f"looks of {body.name}", names), rough.get(body.name, 0.5)
            yield Collider(body, shape, friction, group=MODEL, meets=GUESTS, name=name)


def _solid(shape: Shape) -> Shape | None:
    """Take what of a shape is solid; None for nothing."""
    if isinstance(shape, EmptyShape | FrameShape | HalfSpace):
        return None
    if isinstance(shape, CombinedShapes):
        parts = [part for part in map(_solid, shape.shape) if part is not None]
        return shape.replaced(shape=parts) if parts else None
    return shape


def _named(wish: str, names: set[str]) -> str:
    """Find a name that no part has."""
    name = wish
    while name in names:
        name += "'"
    names.add(name)
    return name


def _member(
    guest: Guest, mass: float, origin: Origin, island: Island, names: set[str]
) -> tuple[Body, JointConstraint, Collider]:
    """Make the body, joint and collider of a guest, in the frame and units of the model."""
    frame = island.frame
    x, y, z = guest.size / frame.scale
    yaw = mass * (x * x + y * y) / 12.0
    if np.isfinite(guest.mass):
        yaw = guest.yaw_inertia / frame.work * (mass * frame.weight / guest.mass)
    inertia = np.diag([mass * (y * y + z * z) / 12.0, mass * (x * x + z * z) / 12.0, yaw])
    body = Body(mass, inertia, effective=True, name=_named(f"guest {guest.row}", names))
    name = _named(f"way of guest {guest.row}", names)
    joint = Floating(origin, body, name=name)
    if guest.height is not None:  # it keeps to its ground
        level = (guest.height - frame.position[2]) / frame.scale
        joint = PlanarAxis(origin, body, (0.0, 0.0, 1.0), parent_vertex=(0.0, 0.0, level), name=name)
    shape = _outline(guest, frame.scale)
    solid = Collider(
        body, shape, guest.friction, guest.restitution, group=GUESTS, meets=MODEL,
        name=_named(f"body of guest {guest.row}", names),
    )  # fmt: skip
    return body, joint, solid


def _outline(guest: Guest, scale: float) -> Shape:
    """Outline a guest, whose lengths are over a scale."""
    x, y, z = guest.size / scale
    if guest.kind is ShapeKind.SPHERE:
        return Sphere(0.5 * x)
    if guest.kind is ShapeKind.CYLINDER:
        return Cylinder(0.5 * x, z)
    if guest.kind is ShapeKind.WHEEL:
        return Cylinder(0.5 * y, x, orientation_offset=ALONG)
    if guest.triangles is not None:
        return _plates(guest.triangles / scale, THICK / scale)
    return Box(x, y, z)


def _plates(triangles: Floats, thick: float) -> Shape:
    """Make a plate of every triangle (n, 3, 3), of a thickness [m]; those without an area are left out."""
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    areas = np.linalg.norm(across, axis=1)
    sound = areas > 1e-6 * areas.max(initial=0.0)
    shift = 0.5 * thick * across[sound] / areas[sound, None]
    return CombinedShapes([
        ConvexHull(np.concatenate([corners + out, corners - out]))
        for corners, out in zip(triangles[sound], shift, strict=True)
    ])  # fmt: skip
