"""A block on a vertical rail."""

from __future__ import annotations

from numpy.typing import ArrayLike

from cbsim.multibody.coordinates import set_minimal_coordinates
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.prototypes import Prismatic
from cbsim.spec.mechanism.shapes import Box

__all__ = ["slider"]


def slider(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    height: float = 0.0,
    mass: float = 1.0,
    spring: float = 0.0,
    damper: float = 0.0,
    limits: tuple[float, float] | None = None,
) -> Mechanism:
    """Build a box of 0.1 × 0.1 × 1 m that slides along z, at rest.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    height : float
        Of its top [m].
    mass : float
        [kg].
    spring, damper : float
        Of the rail [N/m], [N s/m].
    limits : (float, float), optional
        Bounds of the height [m].
    """
    origin = Origin()
    box = Box(0.1, 0.1, 1.0, mass=mass).body(name="box")
    rail = Prismatic(
        origin, box, (0, 0, 1), child_vertex=(0, 0, 0.5), spring=spring, damper=damper, joint_limits=limits, name="rail"
    )
    mechanism = Mechanism(origin, [box], [rail], timestep=timestep, gravity=gravity)
    set_minimal_coordinates(mechanism, "rail", [height])
    return mechanism
