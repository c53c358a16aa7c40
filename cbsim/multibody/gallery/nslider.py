"""Rods side by side, each on a rail along the one before."""

from __future__ import annotations

from itertools import pairwise

from numpy.typing import ArrayLike

from cbsim.multibody.coordinates import set_minimal_coordinates
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.prototypes import Prismatic
from cbsim.spec.mechanism.shapes import Cylinder

__all__ = ["nslider"]

RADIUS = 0.05


def nslider(
    links: int = 5,
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    spring: float = 0.0,
    damper: float = 0.0,
    limits: tuple[float, float] | None = None,
    height: float = 1.0,
) -> Mechanism:
    """Build upright cylinders of 0.05 × 1 m and 1 kg along y, the first on a rail in the world.

    Parameters
    ----------
    links : int
        How many.
    timestep, gravity : float
        [s], [m/s²].
    spring, damper : float
        Of every rail [N/m], [N s/m].
    limits : (float, float), optional
        Bounds of every rail's coordinate but the first's [m].
    height : float
        Of all centres [m].
    """
    origin = Origin()
    rods = [Cylinder(RADIUS, 1.0, mass=1.0).body(name=f"rod_{k + 1}") for k in range(links)]
    rails = [Prismatic(origin, rods[0], (0, 0, 1), spring=spring, damper=damper, name="rail_1")]
    for k, (one, other) in enumerate(pairwise(rods)):
        rails.append(
            Prismatic(
                one, other, (0, 0, 1), parent_vertex=(0, RADIUS, 0), child_vertex=(0, -RADIUS, 0), spring=spring,
                damper=damper, joint_limits=limits, name=f"rail_{k + 2}",
            )
        )  # fmt: skip
    mechanism = Mechanism(origin, rods, rails, timestep=timestep, gravity=gravity)
    set_minimal_coordinates(mechanism, "rail_1", [height])
    return mechanism
