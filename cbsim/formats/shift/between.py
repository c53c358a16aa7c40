"""Restraints between frames: springs, dampers and friction along a line or an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from cbsim.formats.shift.behaviour import Floats, Grip, Moment, crossed, dot
from cbsim.formats.shift.laws import Law
from cbsim.formats.shift.network import Place

__all__ = ["FrameForce"]

AXES = {"x": 0, "y": 1, "z": 2}
NEAR = 1e-12  # [m] closer than this, the line between two points has no direction, and no force


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
    rate : float
        At the start [m/s].
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
        rate: float = 0.0,
    ) -> None:
        self.parent, self.child, self.along, self.law, self.rated = parent, child, along, law, rated
        self.frames, self.rate = frames, rate
        self.axis = parent.rotation[:, AXES[along]] if along else np.zeros(3)

    @property
    def memory(self) -> Floats:
        """The last rate, of a restraint that depends on it."""
        return np.array([self.rate] if self.rated else [])

    def _ends(self, x: Floats, rotation: Floats) -> tuple[list[float], list[float]]:
        """Return the vector from the parent's point to the child's, and the latter."""
        one, other = ((x[g.body] + rotation[g.body] @ g.point).tolist() for g in (self.parent, self.child))
        return [b - a for a, b in zip(one, other, strict=True)], other

    def _length(self, apart: list[float], rotation: Floats) -> tuple[float, list[float]]:
        """Measure the distance, and its direction."""
        if self.along:
            way = (rotation[self.parent.body] @ self.axis).tolist()
            return dot(apart, way), way
        length = math.sqrt(dot(apart, apart))
        return length, [a / length for a in apart] if length > NEAR else [0.0, 0.0, 0.0]

    def act(self, now: Moment, memory: Floats, inputs: Floats, forces: Floats) -> None:  # noqa: ARG002 (of a Driver)
        """Add equal and opposite forces at the child's point; in plain numbers, since arrays this small are slow."""
        apart, point = self._ends(now.x, now.rotation)
        value, way = self._length(apart, now.rotation)
        if self.rated:
            before = self._length(self._ends(now.x_before, now.rotation_before)[0], now.rotation_before)[0]
            rate = (value - before) / now.step
            value = 1.5 * rate - 0.5 * float(memory[0])
            memory[0] = rate
        strength = -self.law.at(value)
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
