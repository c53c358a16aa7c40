"""Franka Emika's Panda: an arm of seven hinges on the ground, a hand and two fingers that slide.

Lengths and bounds are those of the manufacturer's public description; masses, centres of mass and inertias of the
arm are those that Gaz, Cognetti, Oliva, Robuffo Giordano and De Luca identified ("Dynamic identification of the Franka
Emika Panda robot with retrieval of feasible parameters using penalty-based optimization", 2019).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cbsim.geometry import elementary as math
from cbsim.multibody.gallery.assembly import Assembly, Link, about, limb, merged
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.shapes import Box

__all__ = ["panda"]

QUARTER = 0.5 * math.pi


class Hinge(NamedTuple):
    """A link, where its frame is in the one before [m], how it is rolled about x [rad], and bounds [rad]."""

    link: Link
    at: tuple[float, float, float]
    roll: float
    limits: tuple[float, float]


HAND = Link(0.73, (-0.01, 0.0, 0.03), (0.001, 0.0, 0.0, 0.0025, 0.0, 0.0017))
FINGER = Link(0.015, (0.0, 0.0, 0.0), (2.375e-6, 0.0, 0.0, 2.375e-6, 0.0, 7.5e-7))
WRIST = Link(0.735522, (0.010517, -0.004252, 0.061597), (0.012516, -0.000428, -0.001196, 0.010027, -0.000741, 0.004815))
HAND_AT, HAND_TURNED, FINGERS_AT = np.array([0.0, 0.0, 0.107]), -0.25 * math.pi, np.array([0.0, 0.0, 0.0584])
OPEN = 0.04
ARM = (
    Hinge(
        Link(4.970684, (0.003875, 0.002081, -0.04762), (0.70337, -0.000139, 0.006772, 0.70661, 0.019169, 0.009117)),
        (0.0, 0.0, 0.333), 0.0, (-2.8973, 2.8973),
    ),
    Hinge(
        Link(0.646926, (-0.003141, -0.02872, 0.003495), (0.007962, -0.003925, 0.010254, 0.02811, 0.000704, 0.025995)),
        (0.0, 0.0, 0.0), -QUARTER, (-1.7628, 1.7628),
    ),
    Hinge(
        Link(3.228604, (0.027518, 0.039252, -0.066502), (0.037242, -0.004761, -0.011396, 0.036155, -0.012805, 0.01083)),
        (0.0, -0.316, 0.0), QUARTER, (-2.8973, 2.8973),
    ),
    Hinge(
        Link(3.587895, (-0.05317, 0.104419, 0.027454), (0.025853, 0.007796, -0.001332, 0.019552, 0.008641, 0.028323)),
        (0.0825, 0.0, 0.0), QUARTER, (-3.0718, -0.0698),
    ),
    Hinge(
        Link(
            1.225946, (-0.011953, 0.041065, -0.038437), (0.035549, -0.002117, -0.004037, 0.029474, 0.000229, 0.008627)
        ),
        (-0.0825, 0.384, 0.0), -QUARTER, (-2.8973, 2.8973),
    ),
    Hinge(
        Link(1.666555, (0.060149, -0.014117, -0.010517), (0.001964, 0.000109, -0.001158, 0.004354, 0.000341, 0.005433)),
        (0.0, 0.0, 0.0), QUARTER, (-0.0175, 3.7525),
    ),
    Hinge(
        merged(WRIST, HAND.placed(HAND_AT, about("z", HAND_TURNED))), (0.088, 0.0, 0.0), QUARTER, (-2.8973, 2.8973)
    ),
)  # fmt: skip
HOME = (0.0, 0.0, 0.0, -QUARTER, 0.0, QUARTER, 0.25 * math.pi)


def panda(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    spring: float = 0.0,
    damper: float = 1.0,
    limited: bool = False,
    angles: tuple[float, ...] = HOME,
    opening: float = 0.5 * OPEN,
) -> Mechanism:
    """Build an arm of seven links, the hand one with the last, and two fingers. It touches nothing.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    spring, damper : float
        Of every joint [N m/rad, N/m], [N m s/rad, N s/m]; springs pull towards the pose it is built in.
    limited : bool
        Bound all nine joints.
    angles : tuple of float
        Seven angles of the pose [rad].
    opening : float
        Of each finger, up to 0.04 m.
    """
    names = [f"link{k + 1}" for k in range(len(ARM))]
    pose = {f"{name}_joint": [angle] for name, angle in zip(names, angles, strict=True)}
    pose |= {f"{side}_finger_joint": [opening] for side in ("left", "right")}
    robot = Assembly(pose=pose, spring=spring, damper=damper, limited=limited)
    parent = "origin"
    following = [np.array(hinge.at) for hinge in ARM[1:]] + [HAND_AT]
    for name, (link, at, roll, limits), end in zip(names, ARM, following, strict=True):
        drawn = [limb(np.zeros(3), end, 0.06)] if end.any() else []
        robot.add(name, link, parent, at, (0, 0, 1), turned=about("x", roll), limits=limits, looks=drawn)
        parent = name
    for side, way in (("left", 1.0), ("right", -1.0)):
        turn = HAND_TURNED if way > 0.0 else HAND_TURNED + math.pi
        along = (-math.sin(turn), math.cos(turn), 0.0)
        robot.add(
            f"{side}_finger", FINGER, parent, HAND_AT + FINGERS_AT, along, joint="Prismatic", turned=about("z", turn),
            limits=(0.0, OPEN), looks=[Box(0.02, 0.015, 0.054, position_offset=(0.0, 0.0, 0.027))],
        )  # fmt: skip
    return robot.mechanism(timestep=timestep, gravity=gravity, ground=False, body_contacts=False)
