"""A four-legged robot after Unitree's A1: masses, inertias and lengths of its public URDF description."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from cbsim.multibody.gallery.assembly import Assembly, Link, limb
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.shapes import Box, Cylinder

__all__ = ["quadruped"]

TRUNK = Link(
    4.713,
    (0.012731, 0.002186, 0.000515),
    (0.01683993, 8.3902e-05, 0.000597679, 0.056579028, 2.5134e-05, 0.064713601),
)
HIP = Link(
    0.696, (-0.003311, 0.000635, 3.1e-05), (0.000469246, -9.409e-06, -3.42e-07, 0.00080749, -4.66e-07, 0.000552929)
)
THIGH = Link(
    1.013,
    (-0.003237, -0.022327, -0.027326),
    (0.005529065, 4.825e-06, 0.000343869, 0.005139339, 2.2448e-05, 0.001367788),
)
CALF = Link(0.166, (0.006435, 0.0, -0.107388), (0.002997972, 0.0, -0.000141163, 0.003014022, 0.0, 3.2426e-05))
HIP_AT = np.array([0.183, 0.047, 0.0])
THIGH_AT = np.array([0.0, 0.08505, 0.0])
KNEE = FOOT = np.array([0.0, 0.0, -0.2])
RADII = {"foot": 0.02, "knee": 0.023, "hip": 0.05}
LIMITS = {"hip": (-0.5, 0.5), "thigh": (-0.5, 1.5), "calf": (-2.5, -1.0)}
LEGS = {"FR": (1.0, -1.0), "FL": (1.0, 1.0), "RR": (-1.0, -1.0), "RL": (-1.0, 1.0)}
"""Sides of a leg: front +1 or rear −1, left +1 or right −1; parts are described at the front left."""


def quadruped(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    spring: float = 0.0,
    damper: float = 0.0,
    friction: float = 0.8,
    limited: bool = False,
    ground: bool = True,
    body_contacts: bool = False,
    height: float = 0.0,
    thigh: float = 0.25 * math.pi,
    calf: float = -0.5 * math.pi,
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build a trunk with four legs of hip (about x), thigh and calf (about y).

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    spring, damper : float
        Of every leg joint [N m/rad], [N m s/rad]; springs pull towards the pose it is built in.
    friction : float
        Coefficient at every contact.
    limited : bool
        Give the joints their limits.
    ground : bool
        Let the feet touch the plane z = 0.
    body_contacts : bool
        Let hips and knees touch it too: twelve contacts in place of four.
    height : float
        Of the feet above the ground [m].
    thigh, calf : float
        Angles of the pose [rad].
    contact_type : str
        Law of the contacts.
    """
    angles = {"hip": 0.0, "thigh": thigh, "calf": calf}
    pose = {f"{leg}_{name}_joint": [angle] for leg in LEGS for name, angle in angles.items()}
    robot = Assembly(
        pose=pose, spring=spring, damper=damper, limited=limited, friction=friction, contact_type=contact_type
    )
    robot.base("trunk", TRUNK, looks=[Box(0.267, 0.194, 0.114)])
    for leg, (front, left) in LEGS.items():
        names = [f"{leg}_{name}" for name in angles]
        hip, thigh_link, calf_link = names
        side = np.array([1.0, left, 1.0])
        robot.add(
            hip, HIP.mirrored(front, left), "trunk", HIP_AT * (front, left, 1.0), (1, 0, 0), limits=LIMITS["hip"],
            looks=[Cylinder(0.046, 0.04, orientation_offset=(math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0))],
        )  # fmt: skip
        robot.add(
            thigh_link, THIGH.mirrored(1.0, left), hip, THIGH_AT * side, (0, 1, 0), limits=LIMITS["thigh"],
            looks=[limb((0.0, 0.0, 0.0), KNEE, RADII["knee"])],
        )  # fmt: skip
        robot.add(
            calf_link, CALF.mirrored(1.0, left), thigh_link, KNEE, (0, 1, 0), limits=LIMITS["calf"],
            looks=[limb((0.0, 0.0, 0.0), FOOT, 0.8 * RADII["foot"])],
        )  # fmt: skip
        robot.touch(calf_link, FOOT, RADII["foot"], f"{leg}_foot", foot=True)
        robot.touch(thigh_link, KNEE, RADII["knee"], f"{leg}_knee")
        robot.touch(hip, 0.5 * THIGH_AT * side, RADII["hip"], f"{leg}_hip")
    return robot.mechanism(
        timestep=timestep, gravity=gravity, ground=ground, body_contacts=body_contacts, height=height
    )
