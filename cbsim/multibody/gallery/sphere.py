"""A ball on the ground."""

from __future__ import annotations

from numpy.typing import ArrayLike

from cbsim.multibody.gallery.assembly import free_body
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.contacts import contact_constraint
from cbsim.spec.mechanism.shapes import Sphere

__all__ = ["sphere"]


def sphere(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    radius: float = 0.5,
    mass: float = 1.0,
    friction: float = 0.8,
    ground: bool = True,
    height: float = 0.0,
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build a solid ball that touches the plane z = 0.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    radius, mass : float
        [m], [kg].
    friction : float
        Coefficient at the contact.
    ground : bool
        Let it touch.
    height : float
        Of the lowest point above the ground [m].
    velocity, angular_velocity : array_like, shape (3,)
        [m/s], [rad/s] in the ball's frame.
    contact_type : str
        Law of the contact.
    """
    ball = Sphere(radius, mass=mass).body(name="ball")
    contacts = contact_constraint(
        ball, (0, 0, 1), friction_coefficient=friction, contact_radius=radius, name="ground", contact_type=contact_type
    )
    return free_body(
        ball, contacts if ground else [], height=height + radius, velocity=velocity,
        angular_velocity=angular_velocity, timestep=timestep, gravity=gravity,
    )  # fmt: skip
