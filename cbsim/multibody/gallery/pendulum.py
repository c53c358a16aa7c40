"""A rod on a hinge."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from cbsim.multibody.coordinates import set_minimal_coordinates
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.prototypes import Revolute
from cbsim.spec.mechanism.shapes import Box

__all__ = ["pendulum"]


def pendulum(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    angle: float = 0.25 * math.pi,
    length: float = 1.0,
    mass: float = 1.0,
    spring: float = 0.0,
    damper: float = 0.0,
    spring_offset: float = 0.0,
    limits: tuple[float, float] | None = None,
) -> Mechanism:
    """Build a rod of 0.1 × 0.1 m across that depends on a hinge about x, at rest.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    angle : float
        From hanging down [rad].
    length, mass : float
        [m], [kg].
    spring, damper : float
        Of the hinge [N m/rad], [N m s/rad].
    spring_offset : float
        Angle at which the spring is slack [rad].
    limits : (float, float), optional
        Bounds of the angle [rad].
    """
    origin = Origin()
    rod = Box(0.1, 0.1, length, mass=mass).body(name="rod")
    hinge = Revolute(
        origin, rod, (1, 0, 0), parent_vertex=(0, 0, 1.1 * length), child_vertex=(0, 0, 0.5 * length),
        spring=spring, damper=damper, spring_offset=[spring_offset], joint_limits=limits, name="hinge",
    )  # fmt: skip
    mechanism = Mechanism(origin, [rod], [hinge], timestep=timestep, gravity=gravity)
    set_minimal_coordinates(mechanism, "hinge", [angle])
    return mechanism
