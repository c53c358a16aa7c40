"""Rotations of Juice's yaw, pitch and roll, and axes of joints, which have other signs than bodies."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import norm
from cbsim.geometry.pose import multiply, rotate
from cbsim.spec.juice import Attitude, JointKind

__all__ = ["JOINT_AXES", "axis_of", "orientation_of", "vector_of"]

JOINT_AXES = ("compat", "design")
UP, DOWN = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -1.0])


def orientation_of(attitude: Attitude) -> Floats:
    """Quaternion (4,) of a part: R = Rz(yaw) Rx(pitch) Ry(roll), angles in degrees."""
    yaw, pitch, roll = (0.5 * np.deg2rad(float(angle)) for angle in attitude)
    turned = multiply(_about(yaw, 3), _about(pitch, 1))
    return np.asarray(multiply(turned, _about(roll, 2)))


def _about(half: float, axis: int) -> Floats:
    q = np.zeros(4)
    q[0], q[axis] = math.cos(half), math.sin(half)
    return q


def axis_of(kind: JointKind, attitude: Attitude, convention: str = "compat") -> Floats:
    """Axis (3,) of a hinge or slider in the world, at design time.

    Parameters
    ----------
    kind : JointKind
    attitude : Attitude
        [degrees].
    convention : str
        ``"compat"``: as Juice's dynamics had it, for which models were tuned: of a hinge with the roll turned round, of
        a slider downwards and with the yaw turned round. ``"design"``: the z axis of what is drawn.
    """
    yaw, pitch, roll = attitude
    if convention == "design":
        return np.asarray(rotate(orientation_of(attitude), UP))
    if kind is JointKind.SLIDER:
        return np.asarray(rotate(orientation_of(Attitude(-yaw, pitch, roll)), DOWN))
    return np.asarray(rotate(orientation_of(Attitude(yaw, pitch, -roll)), UP))


def vector_of(q: Floats) -> tuple[float, ...]:
    """Rotation vector (3,) [rad] of a unit quaternion, no longer than π."""
    turned = q if q[0] >= 0.0 else -q
    length = float(norm(turned[1:]))
    factor = 2.0 * math.atan2(length, turned[0]) / length if length > 1e-12 else 2.0
    return tuple(float(factor * part) for part in turned[1:])
