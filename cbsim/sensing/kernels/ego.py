"""Motion of one vehicle, as its planner is told of it."""

from __future__ import annotations

from cbsim.geometry.kernels import elementary as math
from cbsim.jit import kernel

__all__ = ["ego_motion"]


@kernel
def ego_motion(orientation, velocity, angular_velocity, body):
    """Heading [rad], speed forward [m/s] and yaw rate [rad/s] of a body.

    Parameters
    ----------
    orientation, velocity, angular_velocity : (bodies, 4), (bodies, 3) [m/s], (bodies, 3) [rad/s]
    body : int
        Its row.
    """
    a, b, c, d = orientation[body, 0], orientation[body, 1], orientation[body, 2], orientation[body, 3]
    tx, tz = -2.0 * d, 2.0 * b
    east, north, up = a * tx + c * tz, 1.0 + d * tx - b * tz, a * tz - c * tx
    speed = east * velocity[body, 0] + north * velocity[body, 1] + up * velocity[body, 2]
    return math.atan2(-east, north), speed, angular_velocity[body, 2]
