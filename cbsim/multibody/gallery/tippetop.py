"""A tippe top: a ball with a stem that, spun fast, turns over and stands on it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cbsim.geometry.elementary import whole_power
from cbsim.multibody.coordinates import set_minimal_coordinates, set_minimal_velocities
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.contacts import contact_constraint
from cbsim.spec.mechanism.prototypes import Fixed, Floating
from cbsim.spec.mechanism.shapes import Sphere

__all__ = ["tippetop"]

MOMENTS, STEM = (1.9, 2.1, 2.0), 0.2


def tippetop(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    radius: float = 0.5,
    mass: float = 1.0,
    friction: float = 0.4,
    ground: bool = True,
    height: float = 0.0,
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    angular_velocity: ArrayLike = (0.0, 0.1, 50.0),
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build a ball with moments of 1.9, 2.1 and 2.0 kg m² and a small ball fixed at its upper pole.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    radius, mass : float
        Of the ball [m], [kg]; the small one has a fifth of the radius and the same density.
    friction : float
        Coefficient at both contacts.
    ground : bool
        Let both touch the plane z = 0.
    height : float
        Of the lowest point above the ground [m].
    velocity, angular_velocity : array_like, shape (3,)
        Of the ball [m/s], in its own frame [rad/s].
    contact_type : str
        Law of the contacts.
    """
    origin = Origin()
    ball = Body(mass, np.diag(MOMENTS), Sphere(radius), name="ball")
    stem = Sphere(STEM * radius, mass=mass * whole_power(STEM, 3)).body(name="stem")
    joints = [
        Floating(origin, ball, name="base"),
        Fixed(ball, stem, parent_vertex=(0, 0, radius), name="glue"),
    ]
    spots = contact_constraint(
        [ball, stem], (0, 0, 1), friction_coefficient=friction, contact_radius=[radius, STEM * radius],
        name=["ball_contact", "stem_contact"], contact_type=contact_type,
    )  # fmt: skip
    mechanism = Mechanism(origin, [ball, stem], joints, spots if ground else [], timestep=timestep, gravity=gravity)
    set_minimal_coordinates(mechanism, "base", [0, 0, height + radius, 0, 0, 0])
    set_minimal_velocities(mechanism, "base", [*np.ravel(velocity), *np.ravel(angular_velocity)])
    return mechanism
