"""Dzhanibekov's wing nut: a handle with a rod on one side that turns over, again and again, as it spins."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from cbsim.multibody.coordinates import set_minimal_velocities
from cbsim.multibody.gallery.assembly import about
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.prototypes import Fixed, Floating
from cbsim.spec.mechanism.shapes import Capsule

__all__ = ["dzhanibekov"]

MOMENTS, OFFSET = (0.03, 0.001, 0.1), 0.25


def dzhanibekov(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = 0.0,
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    angular_velocity: ArrayLike = (15.0, 0.01, 0.0),
) -> Mechanism:
    """Build a handle of 1 kg with a rod of 0.5 kg fixed a quarter of a metre beside it.

    The handle's moments are no body's, as the one about z is above the sum of the others; so are those of the whole.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    velocity, angular_velocity : array_like, shape (3,)
        Of the handle [m/s], in its own frame [rad/s]; the axis of x is the one in between.
    """
    origin = Origin()
    looks = Capsule(0.1, 1.0, orientation_offset=about("x", 0.5 * math.pi))
    handle = Body(1.0, np.diag(MOMENTS), looks, effective=True, name="handle")
    rod = Capsule(0.05, 0.35, mass=0.5).body(name="rod")
    joints = [
        Floating(origin, handle, name="base"),
        Fixed(handle, rod, child_vertex=(-OFFSET, 0, 0), name="glue"),
    ]
    mechanism = Mechanism(origin, [handle, rod], joints, timestep=timestep, gravity=gravity)
    set_minimal_velocities(mechanism, "base", [*np.ravel(velocity), *np.ravel(angular_velocity)])
    return mechanism
