"""A hopper: torso, thigh, leg and foot in the plane of x and z.

Masses, inertias and lengths are those of the public URDF description that Dojo uses, limits and friction Dojo's own.
The walker is made of the same parts.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from cbsim.multibody.gallery.assembly import Assembly, Link, limb
from cbsim.multibody.mechanism import Mechanism

__all__ = ["add_leg", "add_torso", "flat_footed", "hopper"]

TORSO = Link(3.53429, (0.0, 0.0, 0.0), (0.06185, 0.0, 0.0, 0.06185, 0.0, 0.00441))
THIGH = Link(3.92699, (0.0, 0.0, -0.225), (0.08426, 0.0, 0.0, 0.08426, 0.0, 0.0049))
LEG = Link(2.71433, (0.0, 0.0, -0.25), (0.06704, 0.0, 0.0, 0.06704, 0.0, 0.00217))
FOOT_MASS, FOOT_INERTIA = 5.08938, (0.00916, 0.0, 0.0, 0.09046, 0.0, 0.09046)  # it lies along x
HIP, TOP = np.array([0.0, 0.0, -0.2]), np.array([0.0, 0.0, 0.2])
KNEE, ANKLE = np.array([0.0, 0.0, -0.45]), np.array([0.0, 0.0, -0.5])
RADIUS, LEG_RADIUS, FOOT_RADIUS = 0.05, 0.04, 0.06
BENT, FLEXED = (0.0, math.radians(150.0)), (-math.radians(45.0), math.radians(45.0))


def flat_footed(side: str, thigh: float, leg: float) -> dict[str, list[float]]:
    """Return the pose of a leg whose foot is level while the torso is upright, by joints."""
    return {f"thigh{side}_joint": [thigh], f"leg{side}_joint": [leg], f"foot{side}_joint": [-thigh - leg]}


def add_torso(robot: Assembly) -> None:
    """Add the torso on the joint that keeps it in the plane."""
    robot.base("torso", TORSO, "PlanarAxis", axis=(0, 1, 0), looks=[limb(HIP, TOP, RADIUS)])
    robot.touch("torso", TOP, RADIUS, "torso")


def add_leg(robot: Assembly, side: str, foot_centre: float, foot_length: float) -> None:
    """Add thigh, leg and foot with a suffix to their names; the foot is a capsule around a centre along x [m]."""
    thigh, leg, foot = f"thigh{side}", f"leg{side}", f"foot{side}"
    centre, half = np.array([foot_centre, 0.0, 0.0]), np.array([0.5 * foot_length, 0.0, 0.0])
    heel, toe = centre - half, centre + half
    robot.add(thigh, THIGH, "torso", HIP, (0, 1, 0), limits=BENT, looks=[limb(np.zeros(3), KNEE, RADIUS)])
    robot.add(leg, LEG, thigh, KNEE, (0, 1, 0), limits=BENT, looks=[limb(np.zeros(3), ANKLE, LEG_RADIUS)])
    link = Link(FOOT_MASS, (foot_centre, 0.0, 0.0), FOOT_INERTIA)
    robot.add(foot, link, leg, ANKLE, (0, 1, 0), limits=FLEXED, looks=[limb(heel, toe, FOOT_RADIUS)])
    robot.touch(foot, heel, FOOT_RADIUS, f"heel{side}", foot=True)
    robot.touch(foot, toe, FOOT_RADIUS, f"toe{side}", foot=True)
    robot.touch(thigh, np.zeros(3), RADIUS, f"hip{side}")
    robot.touch(leg, np.zeros(3), LEG_RADIUS, f"knee{side}")


def hopper(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    spring: float = 0.0,
    damper: float = 1.0,
    friction: float = 2.0,
    limited: bool = False,
    ground: bool = True,
    body_contacts: bool = False,
    height: float = 0.0,
    thigh: float = 0.0,
    leg: float = 0.0,
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build a torso on a `PlanarAxis` joint with one leg of thigh, leg and foot, all about y.

    The base's coordinates are x, −z and the angle about y.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    spring, damper : float
        Of every leg joint [N m/rad], [N m s/rad]; springs pull towards the pose it is built in.
    friction : float
        Coefficient at every contact.
    limited : bool
        Give the joints their limits: hip and knee 0° to 150°, ankle ±45°.
    ground : bool
        Let heel and toe touch the plane z = 0.
    body_contacts : bool
        Let head, hip and knee touch it too: five contacts in place of two.
    height : float
        Of the foot above the ground [m].
    thigh, leg : float
        Angles of the pose [rad]; the foot stays level.
    contact_type : str
        Law of the contacts.
    """
    robot = Assembly(
        pose=flat_footed("", thigh, leg), spring=spring, damper=damper, limited=limited, friction=friction,
        contact_type=contact_type,
    )  # fmt: skip
    add_torso(robot)
    add_leg(robot, "", 0.065, 0.39)
    return robot.mechanism(
        timestep=timestep, gravity=gravity, ground=ground, body_contacts=body_contacts, height=height
    )
