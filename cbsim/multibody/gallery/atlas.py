"""A biped like Boston Dynamics' Atlas: 31 links on 30 hinges and a floating pelvis, 174 kg.

Masses, inertias, lengths, bounds and contacts are those of the public URDF description (version 5) that Dojo's
environments use. The left side is the right one mirrored, the angles of both have the same sign where they bend alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cbsim.geometry.elementary import power
from cbsim.multibody.gallery.assembly import Assembly, Link
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.shapes import Box, Sphere

__all__ = ["atlas"]

Vector = tuple[float, float, float]
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


class Hinge(NamedTuple):
    """A link, what carries it, where its frame is in that one's [m], its axis, and bounds [rad]."""

    name: str
    parent: str
    at: Vector
    axis: Vector
    limits: tuple[float, float]
    link: Link


PELVIS = Link(9.509, (0.0111, 0.0, 0.0271), (0.1244, 0.0008, -0.0007, 0.0958, -0.0005, 0.1167))
TRUNK = (
    Hinge("ltorso", "pelvis", (-0.0125, 0.0, 0.0), Z, (-0.663225, 0.663225),
          Link(2.27, (-0.0112984, -3.15366e-06, 0.0746835),
               (0.0039092, -5.04491e-08, -0.000342157, 0.00341694, 4.87119e-07, 0.00174492))),
    Hinge("mtorso", "ltorso", (0.0, 0.0, 0.162), Y, (-0.219388, 0.538783),
          Link(0.799, (-0.00816266, -0.0131245, 0.0305974),
               (0.000454181, -6.10764e-05, 3.94009e-05, 0.000483282, 5.27463e-05, 0.000444215))),
    Hinge("utorso", "mtorso", (0.0, 0.0, 0.05), X, (-0.523599, 0.523599),
          Link(84.409, (-0.0622, 0.0023, 0.3157), (1.577, -0.032, 0.102, 1.602, 0.047, 0.565))),
    Hinge("head", "utorso", (0.2546, 0.0, 0.6215), Y, (-0.602139, 1.14319),
          Link(1.4199, (-0.075493, 3.3383e-05, 0.02774),
               (0.0039688, -1.5797e-06, -0.00089293, 0.0041178, -6.8415e-07, 0.0035243))),
)  # fmt: skip
RIGHT = (
    Hinge("uglut", "pelvis", (0.0, -0.089, 0.0), Z, (-0.786794, 0.174358),
          Link(1.959, (0.00529262, 0.00344732, 0.00313046),
               (0.00074276, 3.79607e-08, -2.79549e-05, 0.000688179, 3.2735e-08, 0.00041242))),
    Hinge("lglut", "uglut", (0.0, 0.0, 0.0), X, (-0.523599, 0.523599),
          Link(0.898, (0.0133341, -0.0170484, -0.0312052),
               (0.000691326, 2.24344e-05, 2.50508e-06, 0.00126856, -0.000137862, 0.00106487))),
    Hinge("uleg", "lglut", (0.05, -0.0225, -0.066), Y, (-1.61234, 0.65764),
          Link(8.204, (0.0, 0.0, -0.21), (0.09, 0.0, 0.0, 0.09, 0.0, 0.02))),
    Hinge("lleg", "uleg", (-0.05, 0.0, -0.374), Y, (0.0, 2.35637),
          Link(4.515, (0.001, 0.0, -0.187), (0.077, 0.0, -0.003, 0.076, 0.0, 0.01))),
    Hinge("talus", "lleg", (0.0, 0.0, -0.422), Y, (-1.0, 0.7),
          Link(0.125, (0.0, 0.0, 0.0), (1.01674e-05, 0.0, 0.0, 8.42775e-06, 0.0, 1.30101e-05))),
    Hinge("foot", "talus", (0.0, 0.0, 0.0), X, (-0.8, 0.8),
          Link(2.41, (0.027, 0.0, -0.067), (0.002, 0.0, 0.0, 0.007, 0.0, 0.008))),
    Hinge("clav", "utorso", (0.1406, -0.2256, 0.4776), Z, (-0.785398, 1.5708),
          Link(4.466, (0.0, 0.0, -0.084), (0.011, 0.0, 0.0, 0.009, 0.004, 0.004))),
    Hinge("scap", "clav", (0.0, -0.11, -0.245), X, (-1.5708, 1.5708),
          Link(3.899, (0.0, 0.0, 0.0), (0.00319, 0.0, 0.0, 0.00583, 0.0, 0.00583))),
    Hinge("uarm", "scap", (0.0, -0.187, -0.016), Y, (0.0, 3.14159),
          Link(4.386, (0.0, 0.065, 0.0), (0.00656, 0.0, 0.0, 0.00358, 0.0, 0.00656))),
    Hinge("larm", "uarm", (0.0, -0.119, 0.0092), X, (-2.35619, 0.0),
          Link(3.248, (0.0, 0.0, 0.0), (0.00265, 0.0, 0.0, 0.00446, 0.0, 0.00446))),
    Hinge("ufarm", "larm", (0.0, -0.29955, -0.00921), Y, (-3.011, 3.011),
          Link(2.4798, (0.00015, 0.08296, 0.00037), (0.012731, 0.0, 0.0, 0.002857, 0.0, 0.011948))),
    Hinge("lfarm", "ufarm", (0.0, 0.0, 0.0), X, (-1.7628, 1.7628),
          Link(0.648, (0.00017, -0.02515, 0.00163), (0.000764, 0.0, 0.0, 0.000429, 0.0, 0.000825))),
    Hinge("hand", "lfarm", (0.0, 0.0, 0.0), Y, (-2.9671, 2.9671),
          Link(0.5839, (0.00016, -0.08159, 0.00002), (0.000388, 0.0, 0.0, 0.000477, 0.0, 0.000379))),
)  # fmt: skip
SOLE = ((-0.053, 0.04), (0.147, 0.02), (-0.053, -0.04), (0.147, -0.02))  # x and y of the balls under a foot [m]
SOLE_HEIGHT, SOLE_RADIUS = -0.052, 0.025
BODY_SPOTS = (
    ("pelvis", (0.0111, 0.0, 0.0771), 0.19), ("head", (-0.075, 0.0, 0.028), 0.175),
    ("utorso", (-0.157, 0.0, 0.566), 0.15), ("r_hand", (0.0, -0.082, 0.0), 0.06),
    ("r_lleg", (0.026, 0.0, -0.012), 0.075), ("r_uarm", (0.0, -0.12, 0.0), 0.085),
)  # fmt: skip


def atlas(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    spring: float = 0.0,
    damper: float = 0.1,
    friction: float = 0.8,
    limited: bool = False,
    ground: bool = True,
    body_contacts: bool = False,
    height: float = 0.0,
    knee: float = 0.0,
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build a pelvis with a trunk of three links, a head, legs of six links and arms of seven.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    spring, damper : float
        Of every joint [N m/rad], [N m s/rad]; springs pull towards the pose it is built in.
    friction : float
        Coefficient at every contact.
    limited : bool
        Give all 30 hinges their bounds.
    ground : bool
        Let four balls under each foot touch the plane z = 0.
    body_contacts : bool
        Let pelvis, head, back, hands, knees and elbows touch it too: 17 contacts in place of 8.
    height : float
        Of the feet above the ground [m].
    knee : float
        By how much the knees are bent [rad]; the feet stay level under the hips.
    contact_type : str
        Law of the contacts.
    """
    pose: dict[str, list[float]] = {}
    for side in "rl":
        pose |= {
            f"{side}_uleg_joint": [-0.5 * knee],
            f"{side}_lleg_joint": [knee],
            f"{side}_talus_joint": [-0.5 * knee],
        }
    robot = Assembly(
        pose=pose, spring=spring, damper=damper, limited=limited, friction=friction, contact_type=contact_type
    )
    robot.base("pelvis", PELVIS, looks=[Box(0.2, 0.25, 0.15)])
    for hinge in TRUNK:
        _add(robot, hinge, hinge.name, hinge.parent)
    for side, sign in (("r", 1.0), ("l", -1.0)):
        for hinge in RIGHT:
            parent = hinge.parent if hinge.parent in {"pelvis", "utorso"} else f"{side}_{hinge.parent}"
            _add(robot, hinge if sign > 0.0 else _mirrored(hinge), f"{side}_{hinge.name}", parent)
        for k, (x, y) in enumerate(SOLE):
            robot.touch(f"{side}_foot", (x, y, SOLE_HEIGHT), SOLE_RADIUS, f"{side}_sole{k + 1}", foot=True)
    for link, at, radius in BODY_SPOTS:
        robot.touch(link, at, radius, link)
        if link.startswith("r_"):
            robot.touch(f"l_{link[2:]}", at * np.array([1.0, -1.0, 1.0]), radius, f"l_{link[2:]}")
    return robot.mechanism(
        timestep=timestep, gravity=gravity, ground=ground, body_contacts=body_contacts, height=height
    )


def _add(robot: Assembly, hinge: Hinge, name: str, parent: str) -> None:
    """Add a link, drawn as a ball of its size around its centre of mass and a limb to what carries it."""
    size = 0.02 * power(hinge.link.mass, 1.0 / 3.0) + 0.02
    looks = [Sphere(size, position_offset=hinge.link.centre)]
    robot.add(name, hinge.link, parent, hinge.at, hinge.axis, limits=hinge.limits, looks=looks)


def _mirrored(hinge: Hinge) -> Hinge:
    """Reflect a hinge left to right; an axis that turns as its mirror image does keeps the sign of its angle."""
    x, y, z = hinge.at
    across, ahead, up = hinge.axis[1], -hinge.axis[0], -hinge.axis[2]
    return hinge._replace(at=(x, -y, z), axis=(ahead, across, up), link=hinge.link.mirrored(1.0, -1.0))
