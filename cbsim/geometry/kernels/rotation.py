"""Unit quaternions, scalar first, body → world, Hamilton product; headings 0 = north, CCW positive."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import inlined, inner

__all__ = ["heading_of", "rotate", "rotate_back", "turn_in_place"]


@inlined
def rotate(q, x, y, z):
    """Turn a body vector into the world: q · (0, v) · q*."""
    a, b, c, d = q[0], q[1], q[2], q[3]
    # with t = 2 v × x the result is x + a t + v × t, v the vector part
    tx = 2.0 * (c * z - d * y)
    ty = 2.0 * (d * x - b * z)
    tz = 2.0 * (b * y - c * x)
    return (x + a * tx + c * tz - d * ty, y + a * ty + d * tx - b * tz, z + a * tz + b * ty - c * tx)


@inlined
def rotate_back(q, x, y, z):
    """Turn a world vector into the body: q* · (0, v) · q."""
    a, b, c, d = q[0], -q[1], -q[2], -q[3]
    tx = 2.0 * (c * z - d * y)
    ty = 2.0 * (d * x - b * z)
    tz = 2.0 * (b * y - c * x)
    return (x + a * tx + c * tz - d * ty, y + a * ty + d * tx - b * tz, z + a * tz + b * ty - c * tx)


@inner
def heading_of(q):
    """Heading [rad] of the body's forward axis y; exact for any pitch short of vertical."""
    fx, fy, _ = rotate(q, 0.0, 1.0, 0.0)
    return math.atan2(-fx, fy)


@inner
def turn_in_place(angle, q):
    """Turn a body about the vertical by an angle [rad], its pitch and roll kept; no turn leaves every bit as it was."""
    if angle == 0.0:
        return
    c, s = math.cos(0.5 * angle), math.sin(0.5 * angle)
    w, x, y, z = c * q[0] - s * q[3], c * q[1] - s * q[2], c * q[2] + s * q[1], c * q[3] + s * q[0]
    scale = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    q[0], q[1], q[2], q[3] = w * scale, x * scale, y * scale, z * scale
