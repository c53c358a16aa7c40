"""Four rods that close a loop, hung up at one corner."""

from __future__ import annotations

import numpy as np

from cbsim.multibody.coordinates import set_minimal_coordinates
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.prototypes import Revolute

__all__ = ["fourbar"]


def fourbar(
    *,
    timestep: float = 0.01,
    gravity: float = -9.81,
    inner: float = 0.25,
    swing: float = 0.25 * np.pi,
    damper: float = 0.0,
) -> Mechanism:
    """Build a rhombus of rods of 1 m and 1 kg: two chains of two from one pivot, joined at their tips.

    Its rods 1 and 4, and 2 and 3, are parallel (dojo.md §6.9). They hang at `swing` ± `inner` [rad] from down.
    """
    origin = Origin()
    moments = np.diag([0.0841667, 0.0841667, 0.00166667])
    rods = [Body(1.0, moments, name=f"rod_{k + 1}") for k in range(4)]
    up, down = (0, 0, 0.5), (0, 0, -0.5)
    pivot = (0, 0, 2.1)

    def hinge(parent: Body | Origin, child: Body, name: str, *, resistance: float = damper) -> JointConstraint:
        at = pivot if isinstance(parent, Origin) else down
        return Revolute(parent, child, (1, 0, 0), parent_vertex=at, child_vertex=up, damper=resistance, name=name)

    closing = Revolute(rods[1], rods[3], (1, 0, 0), parent_vertex=down, child_vertex=down, name="closing")
    joints = [
        hinge(origin, rods[0], "left"),
        hinge(rods[0], rods[1], "left_knee"),
        hinge(origin, rods[2], "right"),
        hinge(rods[2], rods[3], "right_knee"),
        closing,
    ]
    mechanism = Mechanism(origin, rods, joints, timestep=timestep, gravity=gravity)
    for name, angle in (
        ("left", swing + inner),
        ("left_knee", -2.0 * inner),
        ("right", swing - inner),
        ("right_knee", 2.0 * inner),
    ):
        set_minimal_coordinates(mechanism, name, [angle])
    return mechanism
