"""A pole that turns on a cart that slides."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from cbsim.multibody.coordinates import set_minimal_coordinates
from cbsim.multibody.gallery.assembly import about
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.prototypes import Prismatic, Revolute
from cbsim.spec.mechanism.shapes import Capsule

__all__ = ["cartpole"]


def cartpole(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    spring: float = 0.0,
    damper: float = 0.0,
    limits: tuple[float, float] | None = None,
    position: float = 0.0,
    angle: float = 0.25 * math.pi,
    length: float = 1.0,
    cart_mass: float = 1.0,
    pole_mass: float = 1.0,
) -> Mechanism:
    """Build a cart on a rail along y with a pole on a hinge about x.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    spring, damper : float
        Of both joints [N/m, N m/rad], [N s/m, N m s/rad].
    limits : (float, float), optional
        Ends of the rail [m].
    position : float
        Of the cart [m].
    angle : float
        Of the pole from upright [rad].
    length : float
        Of the pole without its round ends [m].
    cart_mass, pole_mass : float
        [kg].
    """
    origin = Origin()
    shape = Capsule(0.1125, 1.0, mass=cart_mass, orientation_offset=about("x", 0.5 * math.pi))
    cart, pole = shape.body(name="cart"), Capsule(0.075, length, mass=pole_mass).body(name="pole")
    rail = Prismatic(origin, cart, (0, 1, 0), spring=spring, damper=damper, joint_limits=limits, name="rail")
    hinge = Revolute(
        cart, pole, (1, 0, 0), child_vertex=(0, 0, -0.5 * length), spring=spring, damper=damper, name="hinge"
    )
    mechanism = Mechanism(origin, [cart, pole], [rail, hinge], timestep=timestep, gravity=gravity)
    set_minimal_coordinates(mechanism, rail, [position])
    set_minimal_coordinates(mechanism, hinge, [angle])
    return mechanism
