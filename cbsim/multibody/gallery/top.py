"""A free rigid body in space, which flips when it turns about its middle axis."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cbsim.multibody.coordinates import set_maximal_state
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.prototypes import Floating

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
    origin = Origin()
    body = Body(1.0, np.diag(np.asarray(moments, float)), name="body")
    mechanism = Mechanism(origin, [body], [Floating(origin, body, name="base")], timestep=timestep, gravity=gravity)
    set_maximal_state(mechanism, np.concatenate([np.zeros(6), (1, 0, 0, 0), np.ravel(angular_velocity)]))
    return mechanism
