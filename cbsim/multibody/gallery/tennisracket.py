"""A flat box in space, that turns over when it is spun about its middle axis: the tennis racket theorem.

Edges of 1/25, 1/2 and 1 m and a mass of 1 kg are those of the tennis racket among Dojo's environments of 2022.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from cbsim.multibody.gallery.assembly import free_body
from cbsim.multibody.mechanism import Mechanism
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
    racket = Box(length / 25.0, 0.5 * length, length, mass=mass).body(name="racket")
    return free_body(racket, velocity=velocity, angular_velocity=angular_velocity, timestep=timestep, gravity=gravity)
