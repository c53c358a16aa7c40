"""Compliant joint points, after ODE's CFM: forces on them in a step.

ODE asks of a joint's point J v + CFM f = −ERP/h e, with the force f that holds it and the error e that is left of steps
before (docs/theory/contact.md §7). Here the point of the child slides freely in the parent's frame along three
coordinates, each with a motor without a limit, whose compliance is CFM and whose target is the right-hand side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.geometry.linear import times

__all__ = ["Point", "Yielding"]

SLIDES = np.arange(3)


class Point(NamedTuple):
    """A joint with a compliant point.

    Attributes
    ----------
    input : int
        Place of the first of its three slides among the mechanism's inputs.
    parent, child : int
        Bodies that it ties, by their rows in the state.
    arms : (2, 3)
        The point in the parent's and in the child's frame [m].
    """

    input: int
    parent: int
    child: int
    arms: Floats


def _turning() -> Floats:
    """Coefficients (16, 9) of a rotation matrix, row by row, in the products q qᵀ of a quaternion with itself."""
    table = np.zeros((4, 4, 3, 3))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        table[0, 0, i, i] = table[i + 1, i + 1, i, i] = 1.0
        table[j + 1, j + 1, i, i] = table[k + 1, k + 1, i, i] = -1.0
        table[j + 1, k + 1, j, k] = table[j + 1, k + 1, k, j] = 2.0
        table[0, i + 1, k, j], table[0, i + 1, j, k] = 2.0, -2.0
    return table.reshape(16, 9)


TURNING = _turning()


class Yielding:
    """All joints of a model with compliant points.

    Parameters
    ----------
    points : sequence of Point
    erp : float
        Share of an error that a step takes away, 0 to 1.
    """

    def __init__(self, points: Sequence[Point], erp: float) -> None:
        self.parents = np.array([point.parent for point in points], int)
        self.children = np.array([point.child for point in points], int)
        self.arms = np.array([point.arms for point in points]).reshape(-1, 2, 3)
        self.inputs = np.array([point.input for point in points], int)[:, None] + SLIDES
        self.erp = erp

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that it follows from."""
        yield from (self.parents, self.children, self.arms, self.inputs, np.array([self.erp]))

    def gaps(self, state: Floats) -> Floats:
        """How far the point of each child (n, 3) [m] is from that of its parent, in the parent's frame."""
        turns = state[:, 6:10]
        matrices = times((turns[:, :, None] * turns[:, None]).reshape(-1, 16), TURNING).reshape(-1, 3, 3)
        points = times(matrices[self.children], self.arms[:, 1, :, None])[..., 0] + state[self.children, :3]
        away = points - state[self.parents, :3]
        seen: Floats = times(away[:, None], matrices[self.parents])[:, 0] - self.arms[:, 0]
        return seen

    def drive(self, state: Floats, inputs: Floats, step: float) -> None:
        """Write the velocities [m/s] that close the gaps in a step [s]; zero in the first step."""
        if step > 0.0 and len(self.inputs):
            inputs[self.inputs] = -self.erp / step * self.gaps(state)
