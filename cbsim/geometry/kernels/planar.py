"""Heading and speed of bodies, as seen from above."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.geometry.kernels.columns import ORIENTATION, VELOCITY
from cbsim.jit import kernel

__all__ = ["planar_into"]


@kernel
def planar_into(motion, out):
    """Compute where bodies face, and how fast they are.

    Parameters
    ----------
    motion : (n, 13)
        Position, orientation, velocity, angular velocity.
    out : (n, 4), out
        Heading [rad], the unit vector along it, and the magnitude of the velocity [m/s].
    """
    for k in range(len(motion)):
        body = motion[k]
        a, b, c, d = body[ORIENTATION], body[ORIENTATION + 1], body[ORIENTATION + 2], body[ORIENTATION + 3]
        # horizontal components of the body's forward axis y, turned by the quaternion
        east, north = a * (-2.0 * d) + c * (2.0 * b), 1.0 + d * (-2.0 * d) - b * (2.0 * b)
        heading = math.atan2(-east, north)
        out[k, 0], out[k, 1], out[k, 2] = heading, -math.sin(heading), math.cos(heading)
        u, v, w = body[VELOCITY], body[VELOCITY + 1], body[VELOCITY + 2]
        out[k, 3] = math.sqrt(u * u + v * v + w * w)
