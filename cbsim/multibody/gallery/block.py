"""A cube with contacts at its eight corners."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from cbsim.multibody.gallery.assembly import free_body
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.contacts import contact_constraint
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
    ground: bool = True,
    height: float = 0.0,
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build a cube whose corners touch the plane z = 0.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    edge, mass : float
        [m], [kg].
    friction : float
        Coefficient at every contact.
    radius : float
        Of the corners [m].
    ground : bool
        Let them touch.
    height : float
        Of the bottom above the ground [m].
    velocity, angular_velocity : array_like, shape (3,)
        [m/s], [rad/s] in the cube's frame.
    contact_type : str
        Law of the contacts.
    """
    cube = Box(edge, edge, edge, mass=mass).body(name="cube")
    half = 0.5 * edge - radius
    corners = np.array(list(product((-half, half), repeat=3)))
    contacts = contact_constraint(
        cube, (0, 0, 1), friction_coefficient=friction, contact_origin=corners, contact_radius=radius,
        name="corner", contact_type=contact_type,
    )  # fmt: skip
    return free_body(
        cube, contacts if ground else [], height=height + 0.5 * edge, velocity=velocity,
        angular_velocity=angular_velocity, timestep=timestep, gravity=gravity,
    )  # fmt: skip
