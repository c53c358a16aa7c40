"""Parameters of a vehicle: what the object file says, extension attributes, and documented defaults (D22)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cbsim.spec.objects import Steering, TrafficObject, Wheels, WheelType

__all__ = ["DEFAULTS", "DRIVES", "PARAMETERS", "vehicle_parameters"]

DRIVES = {WheelType.SKID: 0, WheelType.CONVENTIONAL: 1}  # codes of `cbsim.traffic.kernels.drive_vehicles`

PARAMETERS = (  # columns, in the order that `cbsim.vehicle.kernels` numbers
    "wheelbase",
    "track",
    "max_steer",
    "throttle_rate",
    "lever_rate",
    "max_acceleration",
    "max_deceleration",
    "max_speed",
)

DEFAULTS = {
    "max_steer": math.radians(35.0),  # [rad] (cajunbot.md D22)
    "max_acceleration": 3.0,  # [m/s²] brisk road car
    "max_deceleration": 8.0,  # [m/s²] dry asphalt, μ ≈ 0.8
}
WHEELBASE = 0.64  # of the length: 2.36 m for the Jeep's 3.68 m (cajunbot.md D22)
TOP_SPEED = {WheelType.SKID: 10.0, WheelType.CONVENTIONAL: 30.0}  # [m/s] an all-terrain vehicle, a road car


def vehicle_parameters(item: TrafficObject) -> NDArray[np.float64]:
    """Assemble the parameter row (8,) of a vehicle, in the order that `cbsim.vehicle.kernels` numbers.

    Returns
    -------
    ndarray, shape (8,)
        Wheelbase, track [m], largest steering angle [rad], throttle and lever slew [1/s], largest acceleration and
        deceleration [m/s²], top speed [m/s].
    """
    wheels, steering = item.wheels or Wheels(), item.steering or Steering()
    given = dict(item.parameters)
    values = {
        "wheelbase": WHEELBASE * item.size.y,
        "track": max(item.size.x - wheels.width, 0.1),  # a body narrower than its wheels still turns
        "max_steer": DEFAULTS["max_steer"],
        "throttle_rate": float(steering.throttle_rate),
        "lever_rate": float(steering.lever_rate),
        "max_acceleration": DEFAULTS["max_acceleration"],
        "max_deceleration": DEFAULTS["max_deceleration"],
        "max_speed": TOP_SPEED[wheels.type],
    }
    return np.array([float(given.get(name, values[name])) for name in PARAMETERS])
