"""Rotations and poses as NumPy arrays, with broadcasting and without numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math

__all__ = ["Pose", "conjugate", "forward", "heading", "heading_quaternion", "mounting_quaternion", "multiply", "rotate"]


def multiply(p: ArrayLike, q: ArrayLike) -> Floats:
    """Hamilton product p ∘ q of quaternions (..., 4), scalar first."""
    a, b = np.asarray(p, float), np.asarray(q, float)
    pw, px, py, pz = (a[..., k] for k in range(4))
    qw, qx, qy, qz = (b[..., k] for k in range(4))
    return np.stack(
        [
            pw * qw - px * qx - py * qy - pz * qz,
            pw * qx + px * qw + py * qz - pz * qy,
            pw * qy - px * qz + py * qw + pz * qx,
            pw * qz + px * qy - py * qx + pz * qw,
        ],
        axis=-1,
    )


def conjugate(q: ArrayLike) -> Floats:
    """Conjugate of quaternions (..., 4): of those of length one the rotation back."""
    return np.asarray(q, float) * (1.0, -1.0, -1.0, -1.0)


def rotate(q: ArrayLike, vectors: ArrayLike) -> Floats:
    """Turn body vectors (..., 3) into the world by quaternions (..., 4)."""
    quaternion, v = np.asarray(q, float), np.asarray(vectors, float)
    a, b, c, d = (quaternion[..., k] for k in range(4))
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    tx, ty, tz = 2.0 * (c * z - d * y), 2.0 * (d * x - b * z), 2.0 * (b * y - c * x)
    turned = (x + a * tx + c * tz - d * ty, y + a * ty + d * tx - b * tz, z + a * tz + b * ty - c * tx)
    return np.stack(turned, axis=-1)


def heading_quaternion(angle: ArrayLike) -> Floats:
    """Quaternion (..., 4) of an upright body with a heading [rad], 0 = north (+y), counter-clockwise positive."""
    half = 0.5 * np.asarray(angle, float)
    zero = np.zeros_like(half)
    return np.stack([math.cos(half), zero, zero, math.sin(half)], axis=-1)


def mounting_quaternion(pitch: ArrayLike, roll: ArrayLike, yaw: ArrayLike) -> Floats:
    """Quaternion (..., 4) of R = Rz(yaw) · Rx(pitch) · Ry(roll) [rad]: nose up, right side down, counter-clockwise.

    Notes
    -----
    Source: docs/formats/objects.md D16, D17. With x to the right, a positive rotation about x lifts the nose (y) and
    one about y lowers the right side (x).
    """
    halves = [0.5 * np.asarray(angle, float) for angle in (pitch, roll, yaw)]
    (cp, cr, cy), (sp, sr, sy) = ([function(half) for half in halves] for function in (math.cos, math.sin))
    zero = np.zeros_like(halves[0])
    about_z, about_x = np.stack([cy, zero, zero, sy], axis=-1), np.stack([cp, sp, zero, zero], axis=-1)
    return multiply(multiply(about_z, about_x), np.stack([cr, zero, sr, zero], axis=-1))


def heading(q: ArrayLike) -> Floats:
    """Heading [rad] of the forward axis y of bodies with quaternions (..., 4)."""
    forward = rotate(q, np.array([0.0, 1.0, 0.0]))
    return np.asarray(math.atan2(-forward[..., 0], forward[..., 1]))


def forward(orientation: Floats) -> tuple[float, float, float]:
    """Compute the forward axis y in the world of one body with a quaternion (4,); plain numbers, for inner loops."""
    a, b, c, d = orientation.tolist()
    tx, tz = -2.0 * d, 2.0 * b
    return a * tx + c * tz, 1.0 + d * tx - b * tz, a * tz - c * tx


class Pose(NamedTuple):
    """Where a body is and how it is turned.

    Attributes
    ----------
    position : ndarray, shape (3,)
        Centre [m].
    orientation : ndarray, shape (4,)
        Unit quaternion, scalar first, body to world.
    """

    position: Floats
    orientation: Floats

    @property
    def heading(self) -> float:
        """Heading [rad], 0 = north, counter-clockwise positive."""
        x, y, _ = forward(self.orientation)
        return math.atan2(-x, y)

    def apply(self, points: ArrayLike) -> Floats:
        """Turn body points (..., 3) [m] into the world."""
        return rotate(self.orientation, points) + self.position

    @property
    def inverse(self) -> Pose:
        """The pose in this body of what is at the world's origin."""
        back = conjugate(self.orientation)
        return Pose(-rotate(back, self.position), back)

    def __matmul__(self, inner: Pose) -> Pose:
        """Compose: the pose in the world of an object with pose `inner` in this body."""
        return Pose(self.apply(inner.position), multiply(self.orientation, inner.orientation))
