"""Behaviours, which drive joints and bodies of models, and motions, which replace dynamics.

Both keep their state in a memory that is part of the Snapshot, so that a run can be stopped and resumed at any time;
objects of these classes hold constants only. Some numbers of the memory are controls, which an operator may set
between steps: joysticks, keys, switches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.spec.mechanism.bodies import Body

__all__ = ["Behaviour", "MasslessLinks", "Motion"]


class _Minded(Protocol):
    @property
    def memory(self) -> Floats:
        """Memory (n,) at the start."""

    @property
    def controls(self) -> Mapping[str, int]:
        """Name of each control, as in ``--set joystick1.y=-1`` → its index in the memory."""

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that what it does follows from, for the digest of a World."""


class Behaviour(_Minded, Protocol):
    """Driver of a model of the rigid-body core."""

    def act(self, time: float, state: Floats, memory: Floats, inputs: Floats, forces: Floats) -> None:
        """Write inputs and forces of the model's next step.

        Parameters
        ----------
        time : float
            Of the state [s].
        state : ndarray, shape (bodies, 13)
            Position [m], velocity [m/s], orientation, angular velocity [rad/s] of each body; only read.
        memory : ndarray, shape (n,)
            Changed in place.
        inputs : ndarray, shape (inputs,)
            Zeros; takes the inputs of the joints in their order, as of `cbsim.multibody.step`. NaN lets a motor go.
        forces : ndarray, shape (bodies, 6)
            Zeros; takes force [N] and torque [N·m] in the body's frame.
        """


class Motion(_Minded, Protocol):
    """Kinematic motion of a model without dynamics."""

    def move(self, time: float, step: float, state: Floats, memory: Floats) -> None:
        """Continue by one step of the model.

        Parameters
        ----------
        time : float
            Before the step [s].
        step : float
            Its length [s].
        state : ndarray, shape (bodies, 13)
            As `Behaviour.act` has it; changed in place.
        memory : ndarray, shape (n,)
            Changed in place.
        """


class MasslessLinks(Protocol):
    """Links without mass that are not part of a mechanism; their poses follow from those of its bodies."""

    @property
    def bodies(self) -> Sequence[Body]:
        """Their names and shapes; masses do not count."""

    def follow(self, states: Floats, step: float) -> Floats:
        """Find their states (n, links, 13) from the mechanism's (n, bodies, 13); ``step`` is the model's [s]."""

    def tables(self) -> Iterable[NDArray[np.generic]]:
        """All numbers that it follows from, for the digest of a World."""
