"""A cube that moves in a plane, with contacts at the four corners of its middle.

Edge, mass and friction are those of Dojo's block in the plane.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from cbsim.geometry import elementary as math
from cbsim.multibody.coordinates import set_maximal_state
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.contacts import contact_constraint
from cbsim.spec.mechanism.prototypes import PlanarAxis
from cbsim.spec.mechanism.shapes import Box

__all__ = ["block2d"]


def block2d(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    edge: float = 0.5,
    mass: float = 1.0,
    friction: float = 0.8,
    radius: float = 0.0,
    ground: bool = True,
    height: float = 0.0,
    angle: float = 0.0,
    velocity: tuple[float, float] = (0.0, 0.0),
    angular_velocity: float = 0.0,
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build a cube on a `PlanarAxis` joint about x: it moves along y and z and turns about x.

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
        Let them touch the plane z = 0.
    height : float
        Of the lowest corner above the ground [m].
    angle : float
        By which it is turned about x [rad].
    velocity : (float, float)
        Along y and z [m/s].
    angular_velocity : float
        About x [rad/s].
    contact_type : str
        Law of the contacts.
    """
    origin = Origin()
    cube = Box(edge, edge, edge, mass=mass).body(name="cube")
    half = 0.5 * edge - radius
    corners = np.array([(0.0, y, z) for y, z in product((-half, half), repeat=2)])
    contacts = contact_constraint(
        cube, (0, 0, 1), friction_coefficient=friction, contact_origin=corners, contact_radius=radius,
        name="corner", contact_type=contact_type,
    )  # fmt: skip
    mechanism = Mechanism(
        origin, [cube], [PlanarAxis(origin, cube, (1, 0, 0), name="plane")], contacts if ground else [],
        timestep=timestep, gravity=gravity,
    )  # fmt: skip
    middle = height + radius + half * (abs(math.cos(angle)) + abs(math.sin(angle)))
    turned = (math.cos(0.5 * angle), math.sin(0.5 * angle), 0.0, 0.0)
    set_maximal_state(mechanism, [0.0, 0.0, middle, 0.0, *velocity, *turned, angular_velocity, 0.0, 0.0])
    return mechanism
