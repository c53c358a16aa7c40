"""Restraints between frames: springs, dampers and friction along a line or an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry.linear import solve, times
from cbsim.models.shift.behaviour import Driver, Grip, Moment, crossed, dot
from cbsim.models.shift.compliance import Yielding
from cbsim.models.shift.laws import Law
from cbsim.models.shift.network import Place

__all__ = ["FrameDampers", "FrameForce", "gathered"]

AXES = {"x": 0, "y": 1, "z": 2}
MARGIN = 1.25  # factor of the compliance, which must not be too small for stability
NEAR = 1e-12  # [m] closer points have no direction between them, and no force


class FrameForce:
    """One restraint between two frames; the memory has its last rate.

    Parameters
    ----------
    parent, child : Grip
        The frames.
    along : str
        Axis of the parent's frame, or empty for the line between.
    law : Law
        f, of which −f acts along it on the child, and the opposite on the parent.
    frames : (Place, Place)
        The frames as the file has them.
    rated : bool
        f is of the rate of the distance, not of the distance.
    """

    def __init__(
        self,
        parent: Grip,
        child: Grip,
        along: str,
        law: Law,
        frames: tuple[Place, Place],
        *,
        rated: bool,
    ) -> None:
        self.parent, self.child, self.along, self.law, self.rated = parent, child, along, law, rated
        self.frames = frames
        self.axis = parent.rotation[:, AXES[along]] if along else np.zeros(3)

    @property
    def memory(self) -> Floats:
        """The last rate, 0 at the start, of a restraint that depends on it."""
        return np.array([0.0] if self.rated else [])

    def _ends(self, x: Floats, rotation: Floats) -> tuple[list[float], list[float]]:
        """Return the vector from the parent's point to the child's, and the latter."""
        one, other = ((x[g.body] + times(rotation[g.body], g.point)).tolist() for g in (self.parent, self.child))
        return [b - a for a, b in zip(one, other, strict=True)], other

    def _length(self, apart: list[float], rotation: Floats) -> tuple[float, list[float]]:
        """Measure the distance, and its direction."""
        if self.along:
            way = times(rotation[self.parent.body], self.axis).tolist()
            return dot(apart, way), way
        length = math.sqrt(dot(apart, apart))
        return length, [a / length for a in apart] if length > NEAR else [0.0, 0.0, 0.0]

    def act(self, now: Moment, memory: Floats, inputs: Floats, forces: Floats) -> None:  # noqa: ARG002 (of a Driver)
        """Add equal and opposite forces at the child's point."""
        value = self.length(now)
        if self.rated:
            rate = self.rate(now)
            value = 1.5 * rate - 0.5 * float(memory[0])
            memory[0] = rate
        self.push(now, -self.law.at(value), forces)

    def length(self, now: Moment) -> float:
        """Measure the distance [m]."""
        return self._length(self._ends(now.x, now.rotation)[0], now.rotation)[0]

    def rate(self, now: Moment) -> float:
        """Measure how fast the distance grew in the last step [m/s]."""
        before = self._length(self._ends(now.x_before, now.rotation_before)[0], now.rotation_before)[0]
        return (self.length(now) - before) / now.step

    def push(self, now: Moment, strength: float, forces: Floats) -> None:
        """Add a force that pushes the ends apart [N]; in plain numbers, since arrays this small are slow."""
        apart, point = self._ends(now.x, now.rotation)
        way = self._length(apart, now.rotation)[1]
        for grip, sign in ((self.child, strength), (self.parent, -strength)):
            if grip.body >= 0:
                force = [sign * w for w in way]
                arm = [p - c for p, c in zip(point, now.x[grip.body].tolist(), strict=True)]
                forces[grip.body] += force + crossed(arm, force)

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """Where it acts and how."""
        yield np.array([self.parent.body, self.child.body, AXES.get(self.along, 3), self.rated])
        for grip in (self.parent, self.child):
            yield from (grip.rotation, grip.point)
        yield from (self.memory, np.array(self.law.knots), *(np.array(piece) for piece in self.law.pieces))


class FrameDampers:
    """Linear dampers between frames that are too strong for explicit integration, vectorised.

    Notes
    -----
    Half of each acts on the incoming rate r of a step and half on the outgoing one, r + a h + h Y f: a is the
    acceleration by all other forces, taken from the step before, and Y the compliance to forces f along the dampers.
    So (1 + ½ h C Y) f = −C (r + ½ (Δr − h Y f′)), with Δr the change of the rate in the last step and f′ its forces.
    This is of second order for any Y, and stable for any step if Y is not less than the true compliance.

    Parameters
    ----------
    dampers : sequence of FrameForce
        With laws that are linear.
    yielding : Yielding
    """

    def __init__(self, dampers: Sequence[FrameForce], yielding: Yielding) -> None:
        self.dampers, self.yielding = list(dampers), yielding
        self.strengths = np.array([damper.law.linear for damper in dampers])

    @property
    def memory(self) -> Floats:
        """The last rates, then the last forces; all are 0 at the start."""
        return np.zeros(2 * len(self.dampers))

    def act(self, now: Moment, memory: Floats, inputs: Floats, forces: Floats) -> None:  # noqa: ARG002 (of a Driver)
        """Add all forces."""
        count = len(self.dampers)
        ways = np.zeros((count, *forces.shape))
        for damper, way in zip(self.dampers, ways, strict=True):
            damper.push(now, 1.0, way)
        gives = MARGIN * now.step * self.yielding.of(now.x, now.rotation, ways)
        rates = np.array([damper.rate(now) for damper in self.dampers])
        pull = rates + 0.5 * (rates - memory[:count] - times(gives, memory[count:]))
        along = solve(np.eye(count) + 0.5 * self.strengths[:, None] * gives, -self.strengths * pull)
        memory[:count], memory[count:] = rates, along
        forces += np.einsum("n,nbi->bi", along, ways)

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that it depends on."""
        for damper in self.dampers:
            yield from damper.tables()
        yield from self.yielding.tables()


def gathered(drivers: Sequence[Driver], yielding: Yielding) -> list[Driver]:
    """Combine all linear dampers between frames."""
    strong = [one for one in drivers if isinstance(one, FrameForce) and one.rated and one.law.linear > 0.0]
    rest = [one for one in drivers if not any(one is other for other in strong)]
    return [*rest, FrameDampers(strong, yielding)] if strong else rest
