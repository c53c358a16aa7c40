"""Upright orientation of a Shift model: files have gravity along any axis, mostly along +z as SAE's."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import norm
from cbsim.models.shift.kinematics import spin

__all__ = ["quaternion_of", "upright"]

SAE = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
"""x forward, y right, z down → x right, y forward, z up."""


def upright(gravity: ArrayLike) -> Floats:
    """Make the rotation (3, 3) from the file's axes to those of cbsim, in which gravity is along −z.

    Gravity along +z means the axes of SAE; along another direction, the shortest rotation is taken, and none where
    gravity is along −z already or zero.
    """
    g = np.asarray(gravity, float)
    size = float(norm(g))
    if size == 0.0:
        return np.eye(3)
    down = g / size
    if down[2] > 1.0 - 1e-12:
        return SAE.copy()
    if down[2] < -1.0 + 1e-12:
        return np.eye(3)
    axis = np.cross(down, (0.0, 0.0, -1.0))
    angle = math.atan2(norm(axis), -down[2])
    turned = spin(axis / norm(axis) * angle)
    return np.where(np.abs(turned) < 1e-16, 0.0, turned)


def quaternion_of(rotation: Floats) -> Floats:
    """Return the unit quaternion (4,), scalar first and not below 0, of a rotation, by its largest component."""
    r = rotation
    trace = float(np.trace(r))
    squares = np.array([1.0 + trace, *(1.0 + 2.0 * np.diag(r) - trace)])
    k = int(np.argmax(squares))
    rows = [
        [squares[0], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]],
        [r[2, 1] - r[1, 2], squares[1], r[0, 1] + r[1, 0], r[0, 2] + r[2, 0]],
        [r[0, 2] - r[2, 0], r[0, 1] + r[1, 0], squares[2], r[1, 2] + r[2, 1]],
        [r[1, 0] - r[0, 1], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], squares[3]],
    ]
    q = np.array(rows[k])
    q /= norm(q)
    return np.asarray(q if q[0] >= 0.0 else -q) + 0.0
