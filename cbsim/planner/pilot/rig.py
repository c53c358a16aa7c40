"""What the pilot knows of its vehicle: the point that follows the path, its size, and how tightly and soon it turns."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cbsim.spec.command import Vehicle

__all__ = ["Rig", "rig_of"]

SPARE = 1.12  # the smallest circle planned, over the smallest one there is: what is left is for corrections
SKID_RADIUS = 2.5  # [m] skid wheels can turn on the spot, but scrub less on a circle
SKID_SHARE = 0.8  # of the turn with one side standing still


@dataclass(frozen=True)
class Rig:
    """A vehicle as its pilot sees it.

    Attributes
    ----------
    vehicle : Vehicle
    arm : float
        How far the point that follows the path lies behind the body's centre: the rear axle, or nothing [m].
    nose, tail : float
        From that point to the front and the rear bumper [m].
    radius : float
        Smallest circle to plan with [m].
    curvature_limit : float
        Largest curvature there is [1/m].
    curvature_rate : float
        How fast curvature can change at least [1/(m s)].
    scrub : float
        Skid wheels: how many times slower than their sides' speeds say it turns, at most.
    """

    vehicle: Vehicle
    arm: float
    nose: float
    tail: float
    radius: float
    curvature_limit: float
    curvature_rate: float
    scrub: float = 1.0


def rig_of(vehicle: Vehicle) -> Rig:
    """Measure a vehicle.

    Notes
    -----
    Skid wheels scrub: with two axles a wheelbase L apart and the track T they turn 1 + (L / T)² times slower than
    wheels without slip would, on the same stiffness all round.
    """
    half = 0.5 * vehicle.length
    if vehicle.skid:
        scrub = 1.0 + (vehicle.wheelbase / vehicle.track) ** 2
        rate = 2.0 * vehicle.lever_rate / (vehicle.track * scrub)
        limit = SKID_SHARE * 2.0 / (vehicle.track * scrub)
        return Rig(vehicle, 0.0, half, half, max(SKID_RADIUS, SPARE / limit), limit, rate, scrub)
    arm, limit = 0.5 * vehicle.wheelbase, math.tan(vehicle.max_steer) / vehicle.wheelbase
    rate = vehicle.lever_rate * vehicle.max_steer / vehicle.wheelbase
    return Rig(vehicle, arm, half + arm, half - arm, SPARE / limit, limit, rate)
