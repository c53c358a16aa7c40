"""A cube with contacts at its eight corners."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from cbsim.multibody.coordinates import set_maximal_state
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.contacts import contact_constraint
from cbsim.spec.mechanism.prototypes import Floating
from cbsim.spec.mechanism.shapes import Box

__all__ = ["block"]


def block(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    edge: float = 0.5,
    mass: float = 1.0,
    friction: float = 0.8,
    radius: float = 0.0,
    height: float = 0.0,
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build a cube of an `edge` [m] whose bottom is at a `height` [m] over the plane z = 0, moving as given."""
    origin = Origin()
    cube = Box(edge, edge, edge, mass=mass).body(name="cube")
    half = 0.5 * edge - radius
    corners = np.array(list(product((-half, half), repeat=3)))
    contacts = contact_constraint(
        cube, (0, 0, 1), friction_coefficient=friction, contact_origin=corners, contact_radius=radius,
        name="corner", contact_type=contact_type,
    )  # fmt: skip
    mechanism = Mechanism(
        origin, [cube], [Floating(origin, cube, name="base")], contacts, timestep=timestep, gravity=gravity
    )
    at = (0.0, 0.0, height + 0.5 * edge)
    set_maximal_state(mechanism, np.concatenate([at, np.ravel(velocity), (1, 0, 0, 0), np.ravel(angular_velocity)]))
    return mechanism
