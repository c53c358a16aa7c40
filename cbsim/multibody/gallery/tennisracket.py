"""A flat box in space, that turns over when it is spun about its middle axis: the tennis racket theorem.

Edges of 1/25, 1/2 and 1 m and a mass of 1 kg are those of the tennis racket among Dojo's environments of 2022.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cbsim.multibody.coordinates import set_maximal_state
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.prototypes import Floating
from cbsim.spec.mechanism.shapes import Box

__all__ = ["tennisracket"]


def tennisracket(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = 0.0,
    length: float = 1.0,
    mass: float = 1.0,
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    angular_velocity: ArrayLike = (0.01, 5.0, 0.01),
) -> Mechanism:
    """Build a box length / 25 thick, length / 2 wide and as long as said, along x, y and z.

    Its moments about x, y and z are the largest, the middle and the least: a spin about y alone grows unstable.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    length, mass : float
        [m], [kg].
    velocity, angular_velocity : array_like, shape (3,)
        [m/s], [rad/s] in the box's frame.
    """
    origin = Origin()
    racket = Box(length / 25.0, 0.5 * length, length, mass=mass).body(name="racket")
    mechanism = Mechanism(origin, [racket], [Floating(origin, racket, name="base")], timestep=timestep, gravity=gravity)
    set_maximal_state(mechanism, np.r_[np.zeros(3), np.ravel(velocity), 1.0, np.zeros(3), np.ravel(angular_velocity)])
    return mechanism
