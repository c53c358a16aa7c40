"""An exoskeleton of an arm with the arm in it: three joints of the shoulder and an elbow, held by the world.

Masses, inertias, lengths and bounds are those of the public URDF description that Dojo's environments use; upper and
lower arm are 3 % and 2 % of a person of 75 kg.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from cbsim.geometry.pose import multiply
from cbsim.multibody.gallery.assembly import Assembly, Link, about, limb, merged
from cbsim.multibody.mechanism import Mechanism

__all__ = ["exoskeleton"]

UPPER_ARM = Link(2.25, (0.0, 0.0, -0.155), (0.01875, 0.0, 0.0, 0.01875, 0.0, 0.00375))
LOWER_ARM = Link(1.5, (0.0, 0.125, 0.0), (0.008515625, 0.0, 0.0, 0.00140625, 0.0, 0.008515625))
ABDUCTION = Link(6.712, (0.0, 0.1301, -0.1279), (0.3787893, -0.0006556, -0.0006709, 0.192833, 0.0540633, 0.1956839))
FLEXION = Link(3.487, (0.0001, 0.1051, -0.1201), (0.1108677, -9.77e-05, 3.99e-05, 0.0689688, 0.0384741, 0.0569634))
ROTATION = Link(1.663, (-0.0006, 0.1079, -0.03), (0.0266938, 0.0001282, -5.56e-05, 0.007941, 0.0038772, 0.0235228))
ELBOW = Link(0.494, (0.0, 0.0557, -0.0803), (0.0069974, -9e-07, -4e-07, 0.0035498, 0.001812, 0.0037622))
QUARTER = 0.5 * math.pi
SHOULDER, ELBOW_AT = np.array([0.2483, 0.0, 1.15]), np.array([0.0, 0.3087, 0.0])
BOUNDS = {
    "abduction": (0.0, QUARTER),
    "flexion": (0.0, QUARTER),
    "rotation": (math.radians(-80.0), math.radians(25.0)),
    "elbow": (math.radians(-125.0), 0.0),
}


def exoskeleton(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    spring: float = 0.0,
    damper: float = 0.0,
    limited: bool = False,
    angles: tuple[float, float, float, float] = (QUARTER, QUARTER - 0.1, 0.0, -0.1),
) -> Mechanism:
    """Build four links on hinges. It touches nothing.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    spring, damper : float
        Of every joint [N m/rad], [N m s/rad]; springs pull towards the pose it is built in.
    limited : bool
        Bound the joints as an arm does.
    angles : tuple of float
        Of abduction, flexion and inner rotation of the shoulder, and of the elbow [rad].
    """
    pose = {f"{name}_joint": [angle] for name, angle in zip(BOUNDS, angles, strict=True)}
    robot = Assembly(pose=pose, spring=spring, damper=damper, limited=limited)
    parent = "origin"
    for name, link, at, turned, end in (
        ("abduction", ABDUCTION, SHOULDER, multiply(about("z", QUARTER), about("x", QUARTER)), (0.0, 0.26, -0.25)),
        ("flexion", FLEXION, np.zeros(3), about("x", QUARTER), ELBOW_AT),
        ("rotation", merged(ROTATION, UPPER_ARM), ELBOW_AT, about("x", -QUARTER), (0.0, 0.0, -0.31)),
        ("elbow", merged(ELBOW, LOWER_ARM), np.zeros(3), about("x", QUARTER), (0.0, 0.25, 0.0)),
    ):
        robot.add(
            name, link, parent, at, (0, 0, 1), turned=turned, limits=BOUNDS[name],
            looks=[limb(np.zeros(3), end, 0.03)],
        )  # fmt: skip
        parent = name
    return robot.mechanism(timestep=timestep, gravity=gravity, ground=False, body_contacts=False)
