"""Behaviour of a Shift model: polynomial springs and dampers, restraints between frames, force modules.

Forces that depend on positions are evaluated where a step begins, which is of second order. Velocities there are
extrapolated from the two half steps before. Linear dampers along joints are left to the core; where a joint with one
closes a loop, half of it acts explicitly on the incoming velocity and half, in the core, implicitly on the outgoing
one, which is of second order and unconditionally stable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import times
from cbsim.geometry.pose import multiply
from cbsim.models.shift.laws import Law
from cbsim.spec.mechanism.state import step_quaternion

__all__ = ["Driver", "Grip", "Line", "Moment", "ShiftBehaviour", "crossed", "dot", "matrices"]

TURN = 2.0 * np.pi
NEVER = -1.0  # [s] before any step


def matrices(q: Floats) -> Floats:
    """Rotations (n, 3, 3) of unit quaternions (n, 4), scalar first."""
    w, x, y, z = q.T
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.ascontiguousarray(np.array(rows).transpose(2, 0, 1))


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """Compute the inner product of two vectors of three."""
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


def crossed(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """Compute a × b."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


class Moment(NamedTuple):
    """Poses and velocities of bodies where a step begins; the last row is the ground's.

    Attributes
    ----------
    time, step : float
        [s].
    state : ndarray, shape (bodies, 13)
    x, rotation : ndarray, shape (bodies + 1, 3), (bodies + 1, 3, 3)
    x_before, rotation_before : ndarray
        A step before.
    v, w : ndarray, shape (bodies + 1, 3)
        Velocities in between, both in the world.
    """

    time: float
    step: float
    state: Floats
    x: Floats
    rotation: Floats
    x_before: Floats
    rotation_before: Floats
    v: Floats
    w: Floats

    @classmethod
    def of(cls, time: float, step: float, state: Floats) -> Moment:
        """Compute a moment from a state."""
        ground = np.zeros((1, 13))
        ground[0, 6] = 1.0
        rows = np.concatenate([state, ground])
        q = rows[:, 6:10]
        before = multiply(q, step_quaternion(-rows[:, 10:], step))
        # one call for both nodes: these are small arrays, whose cost is the calls
        both = matrices(np.concatenate([q, before]))
        n = len(rows)
        x, v = rows[:, :3], rows[:, 3:6]
        w = np.einsum("nij,nj->ni", both[:n], rows[:, 10:])
        return cls(time, step, state, x, both[:n], x - step * v, both[n:], v, w)


class Grip(NamedTuple):
    """A frame on a body: its row in the state, −1 for the ground, its rotation and its origin in the body's frame."""

    body: int
    rotation: Floats
    point: Floats


class Driver(Protocol):
    """A force that acts in every step."""

    @property
    def memory(self) -> Floats:
        """Initial controller state."""

    def act(self, now: Moment, memory: Floats, inputs: Floats, forces: Floats) -> None:
        """Add to inputs, and to forces and torques (bodies, 6) in the world about centres of mass."""

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that it depends on."""


class Line(NamedTuple):
    """Forces along the coordinate of one joint.

    Attributes
    ----------
    parent, child : Grip
        Its frames.
    axis : ndarray, shape (3,)
        In its frames.
    turning : bool
        It is an angle.
    input : int
        Place of the joint's input; -1 of one that is only read.
    springs, dampers : list of Law
        Each acts with −f.
    viscous : float
        Explicit part of the linear dampers, on the incoming velocity.
    start : float
        Coordinate at the start, for the number of turns of an angle.
    """

    parent: Grip
    child: Grip
    axis: Floats
    turning: bool
    input: int
    springs: list[Law]
    dampers: list[Law]
    viscous: float
    start: float
    rate: float


class JointForces:
    """Springs and dampers of all joints, vectorised; the memory has coordinate and last rate of each."""

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines
        self.parent = np.array([line.parent.body for line in lines])
        self.child = np.array([line.child.body for line in lines])
        self.frames = [np.array([getattr(line, end).rotation for line in lines]) for end in ("parent", "child")]
        self.points = [np.array([getattr(line, end).point for line in lines]) for end in ("parent", "child")]
        self.axes = np.array([line.axis for line in lines])
        self.turning = np.array([line.turning for line in lines])
        self.inputs = np.array([line.input for line in lines])
        self.viscous = np.array([line.viscous for line in lines])
        self.constant = np.array([math.fsum(law.at(0.0) for law in line.springs) for line in lines])
        self.curved = [n for n, line in enumerate(lines) if any(_varies(law) for law in line.springs)]
        self.rated = [n for n, line in enumerate(lines) if line.dampers]

    @property
    def memory(self) -> Floats:
        """Coordinates, then rates."""
        return np.array([*(line.start for line in self.lines), *(line.rate for line in self.lines)])

    def coordinates(self, x: Floats, rotation: Floats) -> Floats:
        """Coordinates (n,) of all its joints; angles from −π to π."""
        above, below = rotation[self.parent], rotation[self.child]
        base = times(above, self.frames[0])
        turned = np.einsum("nji,njk->nik", base, times(below, self.frames[1]))
        axial = 0.5 * np.stack(
            [turned[:, 2, 1] - turned[:, 1, 2], turned[:, 0, 2] - turned[:, 2, 0], turned[:, 1, 0] - turned[:, 0, 1]], 1
        )
        angle = math.atan2((axial * self.axes).sum(1), 0.5 * (np.trace(turned, axis1=1, axis2=2) - 1.0))
        one = x[self.parent] + np.einsum("nij,nj->ni", above, self.points[0])
        other = x[self.child] + np.einsum("nij,nj->ni", below, self.points[1])
        along = np.einsum("ni,nij,nj->n", other - one, base, self.axes)
        return np.asarray(np.where(self.turning, angle, along))

    def act(self, now: Moment, memory: Floats, inputs: Floats, forces: Floats) -> None:  # noqa: ARG002 (of a Driver)
        """Add forces along joints to their inputs."""
        count = len(self.lines)
        here, before = self.coordinates(now.x, now.rotation), self.coordinates(now.x_before, now.rotation_before)
        change = here - before
        change -= np.where(self.turning, TURN * np.round(change / TURN), 0.0)
        rate = change / now.step
        q = here + np.where(self.turning, TURN * np.round((memory[:count] - here) / TURN), 0.0)
        force = -self.constant - self.viscous * rate
        for n in self.curved:
            force[n] += self.constant[n] - math.fsum(law.at(float(q[n])) for law in self.lines[n].springs)
        if self.rated:
            nodal = 1.5 * rate - 0.5 * memory[count : 2 * count]
            for n in self.rated:
                force[n] -= math.fsum(law.at(float(nodal[n])) for law in self.lines[n].dampers)
        np.add.at(inputs, self.inputs, force)
        memory[:count], memory[count:] = q, rate

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """Everything about its joints."""
        yield from (self.parent, self.child, *self.frames, *self.points, self.axes, self.turning, self.inputs)
        yield from (self.viscous, self.memory)
        for line in self.lines:
            for law in (*line.springs, *line.dampers):
                yield from (np.array(law.knots), *(np.array(piece) for piece in law.pieces))


def _varies(law: Law) -> bool:
    return bool(law.knots) or len(law.pieces[0]) > 1


class ShiftBehaviour:
    """All drivers of a model; a `cbsim.spec.mechanism.behaviour.Behaviour`.

    Parameters
    ----------
    drivers : list of Driver
    step : float
        Of the model [s], for its first step; a scenario may make others a little longer or shorter.
    """

    def __init__(self, drivers: list[Driver], step: float) -> None:
        self.drivers, self.step = drivers, step
        parts = [driver.memory for driver in drivers]
        self._memory = np.concatenate([np.full(1, NEVER), *parts])  # the time of the last step, first
        ends = (1 + np.cumsum([len(part) for part in parts])).tolist()
        self.slices = [slice(end - len(part), end) for end, part in zip(ends, parts, strict=True)]

    @property
    def memory(self) -> Floats:
        """Time of the last step, and controller state of all drivers."""
        return self._memory

    @property
    def controls(self) -> Mapping[str, int]:
        """None."""
        return {}

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers of all drivers."""
        yield np.array([self.step])
        for driver in self.drivers:
            yield from driver.tables()

    def act(self, time: float, state: Floats, memory: Floats, inputs: Floats, forces: Floats) -> None:
        """Apply all drivers."""
        before, memory[0] = float(memory[0]), time
        now = Moment.of(time, time - before if NEVER < before < time else self.step, state)
        total = np.zeros_like(forces)
        for driver, own in zip(self.drivers, self.slices, strict=True):
            driver.act(now, memory[own], inputs, total)
        if total.any():
            back = now.rotation[:-1]
            forces[:, :3] += np.einsum("nji,nj->ni", back, total[:, :3])
            forces[:, 3:] += np.einsum("nji,nj->ni", back, total[:, 3:])
