"""`set_down`: a vehicle on the ground, with its height and attitude from where its wheels touch it."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.kernels.bvh import DEPTH
from cbsim.geometry.kernels.ground import ground_height, lean_into, stand
from cbsim.geometry.pose import forward
from cbsim.vehicle.kernels.columns import TRACK, WHEELBASE
from cbsim.world.tables import Constants

__all__ = ["set_down"]

SKY = 1e6  # [m] above any drivable mesh
TRIES = 8  # iterations of wheel positions and slope, which depend on each other


def set_down(constants: Constants, vehicle: int, position: Floats, orientation: Floats) -> None:
    """Set a vehicle, placed at z = 0, on the highest ground below the sky, tilted by its wheels' contact.

    Parameters
    ----------
    constants : Constants
    vehicle : int
    position, orientation : ndarray, shape (3,) and (4,)
        Of its body; written.
    """
    stack = np.empty(DEPTH, np.int64)
    ground = constants.ground_triangles, constants.ground_box, constants.ground_link
    fx, fy, _ = forward(orientation)
    heading = math.atan2(-fx, fy)
    half_base, half_track = 0.5 * constants.vehicle_parameters[vehicle, [WHEELBASE, TRACK]]
    x, y, centre = map(float, position)
    p, q = 0.0, 0.0
    for _ in range(TRIES):
        secant = math.sqrt(1.0 + p * p + q * q)
        place = x + centre * p / secant, y + centre * q / secant
        feet = ground_height(*ground, *place, SKY, stack)
        height, p, q = stand(*ground, *place, heading, half_base, half_track, (feet, p, q), 2.0 * half_base, stack)
    position[2] = height + centre / math.sqrt(1.0 + p * p + q * q)
    if p != 0.0 or q != 0.0 or orientation[1:3].any():
        lean_into(heading, p, q, orientation)
