"""Rods one under another: an n-pendulum on hinges, or on any joint that takes an axis."""

from __future__ import annotations

import math
from itertools import pairwise

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
    gravity: float = -9.81,
    angle: float = 0.25 * math.pi,
    length: float = 1.0,
    joint: str = "Revolute",
    spring: float = 0.0,
    damper: float = 0.0,
) -> Mechanism:
    """Build rods of 0.05 × 0.05 × `length` m and 1 kg, in line, the first at an `angle` [rad] from hanging down."""
    origin = Origin()
    rods = [Box(0.05, 0.05, length, mass=1.0).body(name=f"rod_{k + 1}") for k in range(links)]
    tip, top = (0, 0, -0.5 * length), (0, 0, 0.5 * length)
    first = Revolute(origin, rods[0], (1, 0, 0), child_vertex=top, spring=spring, damper=damper, name="joint_1")
    rest = [
        Prototype(
            joint,
            above,
            below,
            (1, 0, 0),
            parent_vertex=tip,
            child_vertex=top,
            spring=spring,
            damper=damper,
            name=f"joint_{k + 2}",
        )
        for k, (above, below) in enumerate(pairwise(rods))
    ]
    mechanism = Mechanism(origin, rods, [first, *rest], timestep=timestep, gravity=gravity)
    set_minimal_coordinates(mechanism, "joint_1", [angle])
    return mechanism
