"""Rods one under another: an n-pendulum on hinges, or on any joint that takes an axis."""

from __future__ import annotations

import math
from itertools import pairwise

from numpy.typing import ArrayLike

from cbsim.multibody.coordinates import set_minimal_coordinates
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.prototypes import Prototype, Revolute
from cbsim.spec.mechanism.shapes import Box

__all__ = ["chain"]


def chain(
    links: int = 5,
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    angle: float = 0.25 * math.pi,
    length: float = 1.0,
    joint: str = "Revolute",
    spring: float = 0.0,
    damper: float = 0.0,
) -> Mechanism:
    """Build rods of 0.05 × 0.05 m across and 1 kg, in line, the first on a hinge about x.

    Parameters
    ----------
    links : int
        How many.
    timestep, gravity : float
        [s], [m/s²].
    angle : float
        Of all rods from hanging down [rad].
    length : float
        Of a rod [m].
    joint : str
        Prototype of all joints but the first, about x.
    spring, damper : float
        Of every joint [N m/rad], [N m s/rad].
    """
    origin = Origin()
    rods = [Box(0.05, 0.05, length, mass=1.0).body(name=f"rod_{k + 1}") for k in range(links)]
    tip, top = (0, 0, -0.5 * length), (0, 0, 0.5 * length)
    first = Revolute(origin, rods[0], (1, 0, 0), child_vertex=top, spring=spring, damper=damper, name="joint_1")
    rest = [
        Prototype(
            joint, above, below, (1, 0, 0), parent_vertex=tip, child_vertex=top, spring=spring, damper=damper,
            name=f"joint_{k + 2}",
        )
        for k, (above, below) in enumerate(pairwise(rods))
    ]  # fmt: skip
    mechanism = Mechanism(origin, rods, [first, *rest], timestep=timestep, gravity=gravity)
    set_minimal_coordinates(mechanism, "joint_1", [angle])
    return mechanism
