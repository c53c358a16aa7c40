"""Restraints between frames: springs, dampers and friction along a line or an axis."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from cbsim.formats.shift.behaviour import Floats, Grip, Moment
from cbsim.formats.shift.laws import Law

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
    rated : bool
        f is of the rate of the distance, not of the distance.
    rate : float
        At the start [m/s].
    """

    def __init__(self, parent: Grip, child: Grip, along: str, law: Law, *, rated: bool, rate: float = 0.0) -> None:
        self.parent, self.child, self.along, self.law, self.rated = parent, child, along, law, rated
        self.rate = rate

    @property
    def memory(self) -> Floats:
        """The last rate, of a restraint that depends on it."""
        return np.array([self.rate] if self.rated else [])

    def _ends(self, x: Floats, rotation: Floats) -> tuple[Floats, Floats, Floats]:
        """Both points, and the direction in which the distance grows."""
        one, other = (x[grip.body] + rotation[grip.body] @ grip.point for grip in (self.parent, self.child))
        if self.along:
            return one, other, (rotation[self.parent.body] @ self.parent.rotation)[:, AXES[self.along]]
        apart = other - one
        length = float(np.sqrt(apart @ apart))
        return one, other, apart / length if length > NEAR else np.zeros(3)

    def act(self, now: Moment, memory: Floats, inputs: Floats, forces: Floats) -> None:  # noqa: ARG002 (of a Driver)
        """Add equal and opposite forces at the child's point."""
        one, other, way = self._ends(now.x, now.rotation)
        value = float((other - one) @ way)
        if self.rated:
            first, second, before = self._ends(now.x_before, now.rotation_before)
            rate = (value - float((second - first) @ before)) / now.step
            value = 1.5 * rate - 0.5 * memory[0]
            memory[0] = rate
        force = -self.law.at(value) * way
        for grip, sign in ((self.child, 1.0), (self.parent, -1.0)):
            if grip.body >= 0:
                forces[grip.body, :3] += sign * force
                forces[grip.body, 3:] += sign * np.cross(other - now.x[grip.body], force)

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """Where it acts and how."""
        yield np.array([self.parent.body, self.child.body, AXES.get(self.along, 3), self.rated])
        for grip in (self.parent, self.child):
            yield from (grip.rotation, grip.point)
        yield from (self.memory, np.array(self.law.knots), *(np.array(piece) for piece in self.law.pieces))
