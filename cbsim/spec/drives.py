"""Table of drives: plant models, and the wheels that each supports.

The index in the table is the code of a drive in kernels (`cbsim.vehicle.kernels.drives`).
"""

from __future__ import annotations

from typing import NamedTuple

from cbsim.registry import Registry
from cbsim.spec.objects import WheelType

__all__ = ["DEFAULT_DRIVES", "DRIVES", "Drive", "drives_on"]


ANY = ("wheelbase", "mass", "yaw_inertia", "restitution", "body_friction")  # sensors at the rear axle, and collisions
POWER = ("max_acceleration", "max_deceleration", "max_speed")
DEAD_TIMES = ("throttle_delay", "steering_delay", "throttle_lag", "steering_lag")
TYRES = ("cg_height", "front_stiffness", "rear_stiffness", "friction", "drag_area")


class Drive(NamedTuple):
    """A plant model.

    Attributes
    ----------
    wheels : WheelType
        Wheels of its vehicles.
    meaning : str
        What it is.
    uses : tuple of str
        Vehicle parameters that it, or a collision of its vehicles, depends on.
    """

    wheels: WheelType
    meaning: str
    uses: tuple[str, ...]


ROLLING = (*ANY, *POWER, "max_steer")
SLIPPING = (*ROLLING, *TYRES, "front_grip", "front_load", "drive_split", "rolling_resistance")
SCRUBBING = (*ANY, *POWER, *TYRES, "track", "axles", "drive_force")
CAR, SKID = WheelType.CONVENTIONAL, WheelType.SKID

DRIVES: Registry[Drive] = Registry(
    "drive",
    (
        ("kinematic", Drive(CAR, "single track without slip, on exact arcs", ROLLING)),
        ("delayed", Drive(CAR, "kinematic, behind dead times and first-order lags", (*ROLLING, *DEAD_TIMES))),
        ("dynamic", Drive(CAR, "single track on slipping tyres with a friction circle", SLIPPING)),
        ("skid-kinematic", Drive(SKID, "each side runs at its own speed, without slip", (*ANY, "track", "max_speed"))),
        ("skid", Drive(SKID, "two or three axles that scrub over the ground", SCRUBBING)),
    ),
)

DEFAULT_DRIVES = {WheelType.CONVENTIONAL: "dynamic", WheelType.SKID: "skid"}
"""Default drives of vehicles."""


def drives_on(wheels: WheelType) -> list[str]:
    """Names of the drives that run on such wheels."""
    return [name for name, drive in DRIVES.items() if drive.wheels is wheels]
