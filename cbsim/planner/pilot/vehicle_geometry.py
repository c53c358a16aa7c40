"""Geometry of a vehicle for path planning: control point, size, turning radius and rate of curvature."""

from __future__ import annotations

from dataclasses import dataclass

from cbsim.geometry import elementary as math
from cbsim.spec.command import Vehicle

__all__ = ["VehicleGeometry", "vehicle_geometry"]

SPARE = 1.12  # ratio of the least planned to the least possible turning radius: margin for corrections
SKID_RADIUS = 2.5  # [m] skid-steered vehicles can turn on the spot, but scrub less on a circle
SKID_SHARE = 0.8  # share of the curvature with one side at rest


@dataclass(frozen=True)
class VehicleGeometry:
    """Geometry and limits of a vehicle.

    Attributes
    ----------
    vehicle : Vehicle
    arm : float
        Distance of the control point, which follows the path, behind the body's centre [m]: that of the rear axle; 0 on
        skid-steered vehicles.
    nose, tail : float
        Distance from the control point to the front and to the rear bumper [m].
    radius : float
        Least turning radius of planned paths [m].
    curvature_limit : float
        Greatest curvature that the vehicle can steer [1/m].
    curvature_rate : float
        Guaranteed rate of change of curvature [1/(m s)].
    scrub : float
        Greatest ratio of the kinematic to the actual yaw rate of a skid-steered vehicle.
    """

    vehicle: Vehicle
    arm: float
    nose: float
    tail: float
    radius: float
    curvature_limit: float
    curvature_rate: float
    scrub: float = 1.0


def vehicle_geometry(vehicle: Vehicle) -> VehicleGeometry:
    """Measure a vehicle.

    Notes
    -----
    Skid-steered wheels scrub: with two axles a wheelbase L apart and the track T, the vehicle turns 1 + (L / T)² times
    slower than without slip, for equal stiffness of all tyres.
    """
    half = 0.5 * vehicle.length
    if vehicle.skid:
        scrub = 1.0 + math.square(vehicle.wheelbase / vehicle.track)
        rate = 2.0 * vehicle.lever_rate / (vehicle.track * scrub)
        limit = SKID_SHARE * 2.0 / (vehicle.track * scrub)
        return VehicleGeometry(vehicle, 0.0, half, half, max(SKID_RADIUS, SPARE / limit), limit, rate, scrub)
    arm, limit = 0.5 * vehicle.wheelbase, math.tan(vehicle.max_steer) / vehicle.wheelbase
    rate = vehicle.lever_rate * vehicle.max_steer / vehicle.wheelbase
    return VehicleGeometry(vehicle, arm, half + arm, half - arm, SPARE / limit, limit, rate)
