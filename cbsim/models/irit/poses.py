"""Rotations of a walker's parts: matrices from headings and up vectors, quaternions, angular rates."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import times

__all__ = ["quaternion_of", "rate_between", "rotation_of"]


def rotation_of(heading: Floats, up: Floats) -> Floats:
    """Rotations (n, 3, 3): headings (n,) [rad] about z, then the shortest turn that brings z to (ux, uy, ·) (n, 2)."""
    c, s = math.cos(heading), math.sin(heading)
    x, y = up[:, 0], up[:, 1]
    z = np.sqrt(np.maximum(1.0 - x * x - y * y, 0.0))
    k = 1.0 / (1.0 + z)
    zero = np.zeros_like(c)
    turn = np.stack([c, -s, zero, s, c, zero, zero, zero, zero + 1.0], axis=-1).reshape(-1, 3, 3)
    tilt = np.stack([1.0 - k * x * x, -k * x * y, x, -k * x * y, 1.0 - k * y * y, y, -x, -y, z], axis=-1)
    return np.asarray(times(tilt.reshape(-1, 3, 3), turn))


def quaternion_of(rotation: Floats) -> Floats:
    """Return unit quaternions (…, 4), scalar first, of rotation matrices (…, 3, 3); the scalar is never negative.

    Of the four ways to work it out, that with the largest divisor (Shepperd's method).
    """
    m = rotation
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    squares = np.stack([1.0 + xx + yy + zz, 1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz], axis=-1)
    a, b, c = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    d, e, f = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    w, x, y, z = (squares[..., k] for k in range(4))
    rows = np.stack(
        [w, a, b, c, a, x, d, e, b, d, y, f, c, e, f, z],
        axis=-1,
    ).reshape(*m.shape[:-2], 4, 4)
    best = squares.argmax(axis=-1)
    chosen = np.take_along_axis(rows, best[..., None, None], axis=-2)[..., 0, :]
    chosen = chosen / np.sqrt((chosen * chosen).sum(axis=-1, keepdims=True))
    return np.asarray(np.where(chosen[..., :1] < 0.0, -chosen, chosen))


def rate_between(before: Floats, after: Floats, step: float) -> Floats:
    """Return the rate (…, 3) in the body's frame [rad/s] that brings one quaternion (…, 4) to another in a step."""
    a, b = before, after
    w = (a * b).sum(axis=-1)
    x = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0] - a[..., 2] * b[..., 3] + a[..., 3] * b[..., 2]
    y = a[..., 0] * b[..., 2] + a[..., 1] * b[..., 3] - a[..., 2] * b[..., 0] - a[..., 3] * b[..., 1]
    z = a[..., 0] * b[..., 3] - a[..., 1] * b[..., 2] + a[..., 2] * b[..., 1] - a[..., 3] * b[..., 0]
    axis = np.stack([x, y, z], axis=-1) * np.where(w < 0.0, -1.0, 1.0)[..., None]
    sine = np.sqrt((axis * axis).sum(axis=-1, keepdims=True))
    angle = 2.0 * math.atan2(sine, np.abs(w)[..., None])
    factor = np.where(sine > 1e-12, angle / np.where(sine > 1e-12, sine, 1.0), 2.0)
    return np.asarray(axis * factor / step)
