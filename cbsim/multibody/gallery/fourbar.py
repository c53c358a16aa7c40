"""Four rods in a loop."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cbsim.multibody.coordinates import close_loops, set_minimal_coordinates
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.prototypes import Prototype, Revolute
from cbsim.spec.mechanism.shapes import Box

__all__ = ["fourbar"]


def fourbar(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    inner: float = 0.25,
    swing: float = 0.25 * np.pi,
    lengths: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0),
    closing: str = "Revolute",
    spring: float = 0.0,
    damper: float = 0.0,
) -> Mechanism:
    """Build two chains of two rods from one pivot, joined at their tips: a rhombus of rods of 1 m and 1 kg.

    Its rods 1 and 4, and 2 and 3, are parallel.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    inner, swing : float
        The upper rods hang at `swing` ± `inner` [rad] from down.
    lengths : tuple of float
        Of the rods [m]: upper and lower of one chain, then of the other. Where they make no rhombus the loop is closed
        in the pose that is nearest to that of one.
    closing : str
        Prototype of the joint that closes the loop, about x.
    spring, damper : float
        Of every joint of the chains [N m/rad], [N m s/rad]; the joint that closes the loop has none.
    """
    origin = Origin()
    rods = [Box(0.1, 0.1, length, mass=1.0).body(name=f"rod_{k + 1}") for k, length in enumerate(lengths)]
    tops = [(0.0, 0.0, 0.5 * length) for length in lengths]
    tips = [(0.0, 0.0, -0.5 * length) for length in lengths]

    def hinge(parent: Body | Origin, at: tuple[float, float, float], child: int, name: str) -> JointConstraint:
        return Revolute(
            parent, rods[child], (1, 0, 0), parent_vertex=at, child_vertex=tops[child], spring=spring, damper=damper,
            name=name,
        )  # fmt: skip

    pivot = (0.0, 0.0, 2.1)
    joints = [
        hinge(origin, pivot, 0, "left"),
        hinge(rods[0], tips[0], 1, "left_knee"),
        hinge(origin, pivot, 2, "right"),
        hinge(rods[2], tips[2], 3, "right_knee"),
        Prototype(closing, rods[1], rods[3], (1, 0, 0), parent_vertex=tips[1], child_vertex=tips[3], name="closing"),
    ]
    mechanism = Mechanism(origin, rods, joints, timestep=timestep, gravity=gravity)
    for name, angle in (
        ("left", swing + inner),
        ("left_knee", -2.0 * inner),
        ("right", swing - inner),
        ("right_knee", 2.0 * inner),
    ):
        set_minimal_coordinates(mechanism, name, [angle])
    close_loops(mechanism)
    return mechanism
