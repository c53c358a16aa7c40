"""A free rigid body in space, which flips when it turns about its middle axis."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cbsim.multibody.gallery.assembly import free_body
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Body

__all__ = ["top"]


def top(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = 0.0,
    moments: ArrayLike = (1.0, 2.0, 3.0),
    angular_velocity: ArrayLike = (0.01, 5.0, 0.01),
) -> Mechanism:
    """Build a body of 1 kg that turns in space.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    moments : array_like, shape (3,)
        Principal moments of inertia [kg m²].
    angular_velocity : array_like, shape (3,)
        About the principal axes [rad/s].
    """
    body = Body(1.0, np.diag(np.asarray(moments, float)), name="body")
    return free_body(body, angular_velocity=angular_velocity, timestep=timestep, gravity=gravity)
