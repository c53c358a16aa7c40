"""An ant with four legs: a ball on hips and ankles, after the task that reinforcement learners practise on.

Masses, lengths and limits are those of the public URDF description that Dojo uses; its inertias are told along the
links' axes, not along the slanting capsules, and stand here as they do there.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from cbsim.multibody.gallery.assembly import Assembly, Link, limb, merged
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.shapes import Sphere

__all__ = ["ant"]

TORSO = Link(0.32724923474893675, (0.0, 0.0, 0.0), (0.00818123, 0.0, 0.0, 0.00818123, 0.0, 0.00818123))
LEG = Link(0.03647692799740343, (0.1, 0.1, 0.0), (0.00045856, 0.0, 0.0, 0.00045856, 0.0, 0.000116726))
FOOT = Link(0.06491137880161697, (0.2, 0.2, 0.0), (0.00235904, 0.0, 0.0, 0.00235904, 0.0, 0.000207716))
LEGS = {"front_left": (1.0, 1.0), "front_right": (-1.0, 1.0), "left_back": (-1.0, -1.0), "right_back": (1.0, -1.0)}
"""Where a leg points, along x and y; parts are described at the first."""
BODY_RADIUS, LEG_RADIUS = 0.25, 0.08
HIP_RANGE, ANKLE_RANGE = math.radians(30.0), (math.radians(30.0), math.radians(70.0))


def ant(
    *,
    timestep: float = 0.05,
    gravity: ArrayLike = -9.81,
    spring: float = 0.0,
    damper: float = 1.0,
    friction: float = 0.5,
    limited: bool = False,
    ground: bool = True,
    body_contacts: bool = False,
    height: float = 0.0,
    ankle: float = 0.25 * math.pi,
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build a ball with four legs of a hip (about z) and an ankle (about a level axis across the leg).

    Upper links that a fixed joint ties to the feet are one with them: nine bodies in place of thirteen.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    spring, damper : float
        Of every leg joint [N m/rad], [N m s/rad]; springs pull towards the pose it is built in.
    friction : float
        Coefficient at every contact.
    limited : bool
        Give the joints their limits: hips ±30°, ankles 30° to 70° downwards.
    ground : bool
        Let the feet touch the plane z = 0.
    body_contacts : bool
        Let ball and ankles touch it too: nine contacts in place of four.
    height : float
        Of the feet above the ground [m].
    ankle : float
        How far the feet point down [rad].
    contact_type : str
        Law of the contacts.
    """
    lower = {leg: f"{leg}_foot" for leg in LEGS}
    pose = {f"{lower[leg]}_joint": [x * ankle] for leg, (x, _) in LEGS.items()}
    robot = Assembly(
        pose=pose, spring=spring, damper=damper, limited=limited, friction=friction, contact_type=contact_type
    )
    robot.base("torso", TORSO, looks=[Sphere(BODY_RADIUS)])
    robot.touch("torso", np.zeros(3), BODY_RADIUS, "torso")
    for leg, (x, y) in LEGS.items():
        out = np.array([x, y, 0.0])
        upper, foot, tip = f"{leg}_leg", lower[leg], 0.4 * out
        bend = ANKLE_RANGE if x > 0.0 else (-ANKLE_RANGE[1], -ANKLE_RANGE[0])
        robot.add(
            upper, LEG.mirrored(x, y), "torso", 0.2 * out, (0, 0, 1), limits=(-HIP_RANGE, HIP_RANGE),
            looks=[limb(np.zeros(3), 0.2 * out, LEG_RADIUS)],
        )  # fmt: skip
        robot.add(
            foot, merged(LEG, FOOT).mirrored(x, y), upper, 0.2 * out, (-x * y, 1, 0), limits=bend,
            looks=[limb(np.zeros(3), tip, LEG_RADIUS)],
        )  # fmt: skip
        robot.touch(foot, tip, LEG_RADIUS, foot, foot=True)
        robot.touch(foot, np.zeros(3), LEG_RADIUS, f"{leg}_ankle")
    return robot.mechanism(
        timestep=timestep, gravity=gravity, ground=ground, body_contacts=body_contacts, height=height
    )
