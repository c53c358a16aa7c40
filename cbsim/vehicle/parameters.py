"""Parameters of a vehicle: what the object file says, extension attributes, and documented defaults (D22)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import ModelError
from cbsim.spec.drives import DEFAULT_DRIVES, DRIVES, drives_on
from cbsim.spec.objects import Steering, TrafficObject, Wheels, WheelType

__all__ = ["PARAMETERS", "drive_code", "drive_name", "vehicle_parameters"]

PARAMETERS = (  # columns, in the order that `cbsim.vehicle.kernels.columns` numbers
    "wheelbase",
    "track",
    "max_steer",
    "throttle_rate",
    "lever_rate",
    "max_acceleration",
    "max_deceleration",
    "max_speed",
    "mass",
    "yaw_inertia",
    "cg_height",
    "front_load",
    "front_stiffness",
    "rear_stiffness",
    "friction",
    "wheel_radius",
    "axles",
    "drive_split",
    "rolling_resistance",
    "drag_area",
    "drive_force",
    "throttle_delay",
    "steering_delay",
    "throttle_lag",
    "steering_lag",
    "restitution",
    "body_friction",
    "front_grip",
)

DEFAULTS = {
    "max_steer": math.radians(35.0),  # [rad] (docs/formats/objects.md D22)
    "max_acceleration": 3.0,  # [m/s²] brisk road car
    "max_deceleration": 8.0,  # [m/s²] full brakes on dry asphalt, short of locking the wheels
    "front_load": 0.5,  # of the weight on the front axle at rest
    "front_stiffness": 10.0,  # [1/rad] lateral force per load and slip; radial tyres have 8 to 14
    "friction": 0.9,  # dry asphalt
    "front_grip": 0.85,  # sideways, of the rear axle's: roll stiffness in front makes road cars understeer at the limit
    "axles": 2.0,
    "drive_split": 0.0,  # of the drive force on the front axle: rear-wheel drive
    "rolling_resistance": 0.013,  # force per load; radial tyres on asphalt
    "throttle_delay": 0.1,  # [s] these four are scenario_simulator_v2's for DELAY_STEER_ACC
    "steering_delay": 0.24,  # [s]
    "throttle_lag": 0.1,  # [s]
    "steering_lag": 0.27,  # [s]
    "restitution": 0.2,  # car bodies crumple
    "body_friction": 0.5,  # sheet metal on sheet metal
}
WHEELBASE = 0.64  # of the length: 2.36 m for the Jeep's 3.68 m (docs/formats/objects.md D22)
TOP_SPEED = {WheelType.SKID: 10.0, WheelType.CONVENTIONAL: 30.0}  # [m/s] an all-terrain vehicle, a road car
REAR_STIFFNESS = {WheelType.SKID: 10.0, WheelType.CONVENTIONAL: 13.0}  # [1/rad] more than in front: 1.3° per g
DENSITY = 120.0  # [kg/m³] of the box around a car: 1621 kg for the Jeep's, 1458 kg for 1.8 m by 4.5 m by 1.5 m
CG_HEIGHT = 0.35  # of the height: 0.76 m for the Jeep's 2.16 m
FRONTAL_AREA = 0.35 * 0.85  # drag coefficient times the part of width by height that a car fills
GRAVITY = 9.81  # [m/s²]


def drive_name(item: TrafficObject) -> str:
    """Name of the drive that moves a vehicle: its own, else the default of its wheels.

    Raises
    ------
    ModelError
        If that drive does not run on its wheels.
    """
    wheels = (item.wheels or Wheels()).type
    name = item.drive or DEFAULT_DRIVES[wheels]
    if name not in drives_on(wheels):
        known = ", ".join(drives_on(wheels))
        message = f"no drive '{name}' on {wheels.name.lower()} wheels; there is {known}"
        raise ModelError(message, subject=item.name, location=item.location)
    return name


def drive_code(item: TrafficObject) -> int:
    """Code by which kernels know the drive of a vehicle: its place in the table."""
    return list(DRIVES).index(drive_name(item))


def vehicle_parameters(item: TrafficObject) -> NDArray[np.float64]:
    """Assemble the parameter row of a vehicle, in the order of `PARAMETERS`; SI units, angles in radians.

    A default may follow from a given parameter: the yaw inertia from the mass, the drive force from mass and friction.

    Returns
    -------
    ndarray, shape (28,)
    """
    wheels, steering = item.wheels or Wheels(), item.steering or Steering()
    width, length, height = map(float, item.size)
    given = {name: float(value) for name, value in item.parameters}
    mass = given.get("mass", DENSITY * width * length * height)
    friction = given.get("friction", DEFAULTS["friction"])
    values = {
        "wheelbase": WHEELBASE * length,
        "track": max(width - wheels.width, 0.1),  # a body narrower than its wheels still turns
        "throttle_rate": float(steering.throttle_rate),
        "lever_rate": float(steering.lever_rate),
        "max_speed": TOP_SPEED[wheels.type],
        "mass": mass,
        "yaw_inertia": mass * (width * width + length * length) / 12.0,  # a uniform box
        "cg_height": CG_HEIGHT * height,
        "rear_stiffness": REAR_STIFFNESS[wheels.type],
        "wheel_radius": float(wheels.radius),
        "drag_area": FRONTAL_AREA * width * height,
        "drive_force": 0.5 * friction * mass * GRAVITY,  # of each side: enough to spin its wheels
    }
    values = DEFAULTS | values | given
    return np.array([values[name] for name in PARAMETERS])
