"""A humanoid: torso, waist and pelvis, legs on ball joints, arms on joints with two axes.

Masses, inertias, lengths and axes are those of the public URDF description that Dojo uses, bounds those of the DeepMind
control suite's humanoid, from which it comes. The description's ankles turn about one slanting axis, where the suite's
have two normal to it; they do so here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cbsim.multibody.gallery.assembly import Assembly, Link, about, limb
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.shapes import Sphere

__all__ = ["humanoid"]


def _level(mass: float, centre: tuple[float, float, float], xx: float, yy: float, zz: float) -> Link:
    return Link(mass, centre, (xx, 0.0, 0.0, yy, 0.0, zz))


TORSO = _level(8.90746, (-0.01, 0.0, -0.12), 0.21526, 0.18112, 0.08225)
WAIST = _level(2.26195, (0.0, 0.0, 0.0), 0.01357, 0.00543, 0.01357)
PELVIS = _level(6.61619, (-0.02, 0.0, 0.0), 0.07432, 0.03573, 0.07432)
THIGH = _level(4.75175, (0.0, -0.005, -0.17), 0.09212, 0.09076, 0.01276)
SHIN = _level(2.7557, (0.0, 0.0, -0.15), 0.03858, 0.03858, 0.00441)
FOOT = _level(1.13114, (0.035, -0.01, 0.0), 0.00177, 0.00716, 0.00828)
UPPER_ARM = _level(1.66108, (0.08, 0.08, -0.08), 0.02368, 0.02368, 0.02267)
LOWER_ARM = _level(1.22954, (0.0, 0.0, 0.0), 0.01419, 0.01419, 0.01374)
HALF_FOOT, FOOT_RADIUS, HAND_RADIUS = 0.105475, 0.027, 0.04
SIDES = {"right": -1.0, "left": 1.0}
"""Along y; parts of a side are told at the left."""


def _bounds(*degrees: tuple[float, float]) -> tuple[ArrayLike, ArrayLike]:
    """Bounds [rad] of a joint's coordinates."""
    low, high = np.radians(np.array(degrees).T)
    return low, high


def humanoid(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    spring: float = 0.0,
    damper: float = 1.0,
    friction: float = 0.8,
    limited: bool = False,
    ground: bool = True,
    body_contacts: bool = False,
    height: float = 0.0,
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build 13 bodies on 3 `Orbital`, 7 `Revolute` and 2 `Spherical` joints, standing, the arms held out.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    spring, damper : float
        Of every joint [N m/rad], [N m s/rad]; springs pull towards the pose it is built in.
    friction : float
        Coefficient at every contact.
    limited : bool
        Bound every coordinate of every joint, 19 of them.
    ground : bool
        Let heels and toes touch the plane z = 0.
    body_contacts : bool
        Let head, shoulders, pelvis, knees, elbows and hands touch it too: 15 contacts in place of four.
    height : float
        Of the feet above the ground [m].
    contact_type : str
        Law of the contacts.
    """
    robot = Assembly(spring=spring, damper=damper, limited=limited, friction=friction, contact_type=contact_type)
    across = np.array([0.0, 0.07, 0.0])
    robot.base(
        "torso", TORSO,
        looks=[limb(-across, across, 0.07), Sphere(0.09, position_offset=(0.0, 0.0, 0.19)),
               limb((-0.01, -0.06, -0.12), (-0.01, 0.06, -0.12), 0.06)],
    )  # fmt: skip
    tilted = about("y", -0.004)
    robot.add(
        "waist", WAIST, "torso", (-0.01026, 0.0, -0.255), (1, 0, 0), joint="Orbital", turned=tilted,
        limits=_bounds((-75, 30), (-45, 45)), looks=[limb((0.0, -0.06, 0.0), (0.0, 0.06, 0.0), 0.06)],
    )  # fmt: skip
    robot.add(
        "pelvis", PELVIS, "waist", (-0.0004, 0.0, -0.165), (1, 0, 0), turned=tilted, limits=_bounds((-35, 35)),
        looks=[limb((-0.02, -0.07, 0.0), (-0.02, 0.07, 0.0), 0.09)],
    )  # fmt: skip
    robot.touch("torso", (0.0, 0.0, 0.19), 0.09, "head")
    for side, left in SIDES.items():
        _leg(robot, side, left)
        _arm(robot, side, left)
        robot.touch("torso", left * across, 0.07, f"{side}_shoulder")
        robot.touch("pelvis", (-0.02, left * 0.07, 0.0), 0.09, f"{side}_pelvis")
    return robot.mechanism(
        timestep=timestep, gravity=gravity, ground=ground, body_contacts=body_contacts, height=height
    )


def _leg(robot: Assembly, side: str, left: float) -> None:
    """Add a leg; angles about x and z are those of its mirror image turned round."""
    thigh, shin, foot = (f"{side}_{part}" for part in ("thigh", "shin", "foot"))
    knee, ankle = np.array([0.0, -left * 0.01, -0.403]), np.array([0.0, 0.0, -0.43])
    twist, spread = ((-5, 25), (-35, 60)) if left > 0.0 else ((-25, 5), (-60, 35))
    robot.add(
        thigh, THIGH.mirrored(1.0, left), "pelvis", (0.0, left * 0.1, -0.04), joint="Spherical",
        limits=_bounds(twist, (-110, 20), spread), looks=[limb(np.zeros(3), (0.0, -left * 0.01, -0.34), 0.06)],
    )  # fmt: skip
    robot.add(
        shin,
        SHIN,
        thigh,
        knee,
        (0, -1, 0),
        limits=_bounds((-160, 2)),
        looks=[limb(np.zeros(3), (0.0, 0.0, -0.3), 0.049)],
    )
    centre, half = np.array(FOOT.mirrored(1.0, left).centre), np.array([HALF_FOOT, 0.0, 0.0])
    robot.add(
        foot, FOOT.mirrored(1.0, left), shin, ankle, (-0.44721, 0.0, 0.89442), limits=_bounds((-50, 50)),
        looks=[limb(centre - half, centre + half, FOOT_RADIUS)],
    )  # fmt: skip
    robot.touch(foot, centre - half, FOOT_RADIUS, f"{side}_heel", foot=True)
    robot.touch(foot, centre + half, FOOT_RADIUS, f"{side}_toe", foot=True)
    robot.touch(shin, np.zeros(3), 0.049, f"{side}_knee")


def _arm(robot: Assembly, side: str, left: float) -> None:
    """Add an arm; the shoulder's third axis is the one about which it does not turn."""
    upper, lower = f"{side}_upper_arm", f"{side}_lower_arm"
    elbow, hand = np.array([0.18, left * 0.18, -0.18]), np.array([0.18, -left * 0.18, 0.18])
    shoulder = ((-60, 85), (-85, 60)) if left > 0.0 else ((-85, 60), (-60, 85))
    robot.add(
        upper, UPPER_ARM.mirrored(1.0, left), "torso", (0.0, left * 0.17, 0.06), (left, 1.0, -left),
        joint="Orbital", limits=_bounds(*shoulder), looks=[limb(np.zeros(3), 0.9 * elbow, 0.04)],
    )  # fmt: skip
    robot.add(
        lower, LOWER_ARM, upper, elbow, (0.0, -1.0, -left), limits=_bounds((-90, 50)),
        looks=[limb(np.zeros(3), hand, 0.031), Sphere(HAND_RADIUS, position_offset=hand)],
    )  # fmt: skip
    robot.touch(lower, np.zeros(3), 0.031, f"{side}_elbow")
    robot.touch(lower, hand, HAND_RADIUS, f"{side}_hand")
