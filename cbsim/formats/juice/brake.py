"""A brake on bodies that spin faster than steps can follow: thin parts that a model throws about.

A step turns a body by a rotation whose sine is half of what its speed says; near one turn per six steps momentum is no
longer told from less of it. What spins faster than a radian per step gets a torque against the excess.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from cbsim.spec.mechanism.description import MechanismSpec

__all__ = ["Brake"]

Floats = NDArray[np.float64]
MOST = 1.0  # [rad] in a step


class Brake:
    """Torques against spin beyond `MOST` per step, explicit: they take the excess away in one step.

    Parameters
    ----------
    spec : MechanismSpec
        Its bodies and its step.
    """

    def __init__(self, spec: MechanismSpec) -> None:
        self.step = spec.timestep
        self.inertia = np.array([body.inertia for body in spec.bodies])

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that it follows from."""
        yield self.inertia
        yield np.array([self.step, MOST])

    def press(self, state: Floats, forces: Floats) -> None:
        """Add torques [N m] in the bodies' frames; arguments as `cbsim.spec.mechanism.behaviour.Behaviour.act`."""
        spin = state[:, 10:13]
        squares = (spin * spin).sum(axis=1)
        most = MOST / self.step
        if squares.max() <= most * most:
            return
        for i in np.flatnonzero(squares > most * most):
            excess = 1.0 - most / float(np.sqrt(squares[i]))
            forces[i, 3:] -= self.inertia[i] @ spin[i] * (excess / self.step)
