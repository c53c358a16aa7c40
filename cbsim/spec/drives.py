"""The table of drives: which plant models there are, and on which wheels each runs.

The place in the table is the code by which kernels know a drive (`cbsim.vehicle.kernels.drives`).
"""

from __future__ import annotations

from typing import NamedTuple

from cbsim.registry import Registry
from cbsim.spec.objects import WheelType

__all__ = ["DEFAULT_DRIVES", "DRIVES", "Drive", "drives_on"]


class Drive(NamedTuple):
    """A plant model: the wheels it runs on, and what it is."""

    wheels: WheelType
    meaning: str


DRIVES: Registry[Drive] = Registry(
    "drive",
    (
        ("kinematic", Drive(WheelType.CONVENTIONAL, "single track without slip, on exact arcs")),
        ("delayed", Drive(WheelType.CONVENTIONAL, "kinematic, behind dead times and first-order lags")),
        ("dynamic", Drive(WheelType.CONVENTIONAL, "single track on slipping tyres with a friction circle")),
        ("skid-kinematic", Drive(WheelType.SKID, "each side runs at its own speed, without slip")),
        ("skid", Drive(WheelType.SKID, "two or three axles that scrub over the ground")),
    ),
)

DEFAULT_DRIVES = {WheelType.CONVENTIONAL: "dynamic", WheelType.SKID: "skid"}
"""What drives a vehicle whose file does not say."""


def drives_on(wheels: WheelType) -> list[str]:
    """Names of the drives that run on such wheels."""
    return [name for name, drive in DRIVES.items() if drive.wheels is wheels]
