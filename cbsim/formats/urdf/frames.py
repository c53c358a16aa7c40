"""Frames of a URDF file as poses: rpy to quaternions and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cbsim.geometry import elementary as math
from cbsim.geometry.pose import Pose, multiply
from cbsim.spec.objects import Triple
from cbsim.spec.urdf import Frame

__all__ = ["HERE", "angles_of", "frame_of", "pose_of"]

HERE = Pose(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))


def pose_of(frame: Frame) -> Pose:
    """Pose of a frame: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    roll, pitch, yaw = frame.rpy
    about_x = np.array([math.cos(roll / 2), math.sin(roll / 2), 0.0, 0.0])
    about_y = np.array([math.cos(pitch / 2), 0.0, math.sin(pitch / 2), 0.0])
    about_z = np.array([math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)])
    return Pose(np.array(frame.xyz, float), multiply(about_z, multiply(about_y, about_x)))


def angles_of(orientation: ArrayLike) -> Triple:
    """Roll, pitch and yaw [rad] of a unit quaternion; where the pitch is a quarter turn, the roll is zero.

    Notes
    -----
    The pitch comes from two sides of a right triangle, not from its sine, which near a quarter turn says little.
    """
    w, x, y, z = (float(part) for part in np.asarray(orientation, float))
    # first column of R, and the two numbers of its last row that tell the roll
    r00, r10, r20 = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)
    r21, r22 = 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
    across = math.hypot(r00, r10)
    pitch = math.atan2(-r20, across)
    if across < 1e-9:  # roll and yaw turn about one axis
        r01, r11 = 2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z)
        return Triple(0.0, pitch, math.atan2(-r01, r11))
    return Triple(math.atan2(r21, r22), pitch, math.atan2(r10, r00))


def frame_of(pose: Pose) -> Frame:
    """Frame of a pose."""
    x, y, z = (float(part) for part in pose.position)
    return Frame(Triple(x, y, z), angles_of(pose.orientation))
