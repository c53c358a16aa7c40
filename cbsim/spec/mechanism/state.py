"""State of one body: names of Dojo's API over the rows of a mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.geometry.linear import times
from cbsim.geometry.pose import conjugate, multiply, rotate
from cbsim.spec.mechanism.values import array, vector

__all__ = ["State", "StateRows", "Terms", "step_quaternion"]


class Terms(NamedTuple):
    """What the solver knows of a body at the step at hand; shapes (3,), (3,), (6,), (6, 6)."""

    linear_impulse: Floats
    angular_impulse: Floats
    missing: Floats
    slope: Floats


NO_TERMS = Terms(np.zeros(3), np.zeros(3), np.zeros(6), np.zeros((6, 6)))


class StateRows(NamedTuple):
    """Rows of a mechanism's tables that belong to one body."""

    pose: Floats  # (13,) x2, v15, q2, w15
    after: Floats  # (13,) the same at node 3, as the candidate velocities have it
    external: Floats  # (6,) force and torque in the body's frame
    timestep: Floats  # (1,)
    terms: Callable[[], Terms]


def _alone() -> StateRows:
    pose = np.zeros(13)
    pose[6] = 1.0
    return StateRows(pose, pose.copy(), np.zeros(6), np.array([0.01]), lambda: NO_TERMS)


def step_quaternion(w: ArrayLike, h: float) -> Floats:
    """Rotation (..., 4) of a step of length h [s] at w [rad/s] in the body's frame: (√(1 − p²), p), p = h w / 2."""
    p = 0.5 * h * np.asarray(w, float)
    c = np.sqrt(np.maximum(0.0, 1.0 - (p * p).sum(axis=-1, keepdims=True)))
    return np.concatenate([c, p], axis=-1)


class State:
    """A body's state around node 2, where a step begins; node 1 lies a step before, node 3 a step after.

    Attributes
    ----------
    x1, q1 : ndarray, shape (3,), (4,)
        Position [m] and orientation at node 1, from those of node 2 and the velocities between.
    v15, w15 : ndarray, shape (3,)
        Velocities between nodes 1 and 2: linear in the world [m/s], angular in the body's frame [rad/s].
    x2, q2 : ndarray, shape (3,), (4,)
        Position [m] and orientation (unit quaternion, scalar first, body to world) at node 2.
    JF2, Jtau2 : ndarray, shape (3,)
        Impulses of the joints' inputs on the body: force in the world [N s], torque in the body's frame [N m s].
    Fext, tauext : ndarray, shape (3,)
        External force in the world [N] and torque in the body's frame [N m].
    vsol, wsol : ndarray, shape (2, 3)
        Velocities between nodes 2 and 3: row 0 the current ones (those before node 2), row 1 the candidate.
    d : ndarray, shape (6,)
        What the body's equation of motion misses after the last solve, force and torque in the world; zero if it holds.
    D : ndarray, shape (6, 6)
        Its derivative by the motion of the body at node 3 (translation, rotation in the world).

    All but ``x1``, ``q1``, ``JF2``, ``Jtau2``, ``vsol``, ``wsol``, ``d`` and ``D`` may be assigned to.
    """

    __slots__ = ("_rows",)
    _rows: StateRows

    def __init__(self, rows: StateRows | None = None) -> None:
        self._rows = _alone() if rows is None else rows

    def __repr__(self) -> str:
        return f"State(x2={self.x2}, q2={self.q2}, v15={self.v15}, w15={self.w15})"

    @property
    def x2(self) -> Floats:  # noqa: D102
        return self._rows.pose[0:3]

    @x2.setter
    def x2(self, value: ArrayLike) -> None:
        self._rows.pose[0:3] = vector(value, "state", "x2")

    @property
    def v15(self) -> Floats:  # noqa: D102
        return self._rows.pose[3:6]

    @v15.setter
    def v15(self, value: ArrayLike) -> None:
        self._rows.pose[3:6] = vector(value, "state", "v15")

    @property
    def q2(self) -> Floats:  # noqa: D102
        return self._rows.pose[6:10]

    @q2.setter
    def q2(self, value: ArrayLike) -> None:
        given = array(value, (4,), "state", "q2")
        length = math.sqrt(float(times(given, given)))
        if not 1e-12 < length < math.inf:
            raise ModelError(f"q2 is {value!r}, which is no direction of a quaternion", subject="state")
        self._rows.pose[6:10] = given / length

    @property
    def w15(self) -> Floats:  # noqa: D102
        return self._rows.pose[10:13]

    @w15.setter
    def w15(self, value: ArrayLike) -> None:
        self._rows.pose[10:13] = vector(value, "state", "w15")

    @property
    def x1(self) -> Floats:  # noqa: D102
        return np.asarray(self.x2 - self._rows.timestep[0] * self.v15)

    @property
    def q1(self) -> Floats:  # noqa: D102
        return multiply(self.q2, step_quaternion(-self.w15, self._rows.timestep[0]))

    @property
    def JF2(self) -> Floats:  # noqa: D102, N802
        return self._rows.terms().linear_impulse

    @property
    def Jtau2(self) -> Floats:  # noqa: D102, N802
        return self._rows.terms().angular_impulse

    @property
    def Fext(self) -> Floats:  # noqa: D102, N802
        return rotate(self.q2, self._rows.external[0:3])

    @Fext.setter
    def Fext(self, value: ArrayLike) -> None:  # noqa: N802
        self._rows.external[0:3] = rotate(conjugate(self.q2), vector(value, "state", "Fext"))

    @property
    def tauext(self) -> Floats:  # noqa: D102
        return self._rows.external[3:6]

    @tauext.setter
    def tauext(self, value: ArrayLike) -> None:
        self._rows.external[3:6] = vector(value, "state", "tauext")

    @property
    def external(self) -> Floats:
        """External force and torque in the body's frame (6,), to be written to."""
        return self._rows.external

    @property
    def vsol(self) -> Floats:  # noqa: D102
        return np.stack([self.v15, self._rows.after[3:6]])

    @property
    def wsol(self) -> Floats:  # noqa: D102
        return np.stack([self.w15, self._rows.after[10:13]])

    @property
    def d(self) -> Floats:  # noqa: D102
        return self._rows.terms().missing

    @property
    def D(self) -> Floats:  # noqa: D102, N802
        return self._rows.terms().slope
