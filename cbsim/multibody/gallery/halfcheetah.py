"""Half a cheetah: a torso with a back and a front leg that runs in the plane of x and z.

Masses, inertias, lengths, dampings and limits are those of the public URDF description that Dojo uses. The torso's
moments are no body's: the one about z is above the sum of the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cbsim.multibody.gallery.assembly import Assembly, Link, about, limb
from cbsim.multibody.mechanism import Mechanism

__all__ = ["halfcheetah"]

RADIUS = 0.046
TORSO = Link(6.36031, (0.0, 0.0, 0.0), (0.08944, 0.0, 0.0, 0.8835, 0.0, 1.0176))
NOSE, TAIL, HEAD = (0.5, 0.0, 0.0), (-0.5, 0.0, 0.0), (0.714, 0.0, 0.1935)


class Part(NamedTuple):
    """A link of a leg, that hangs down: mass [kg], moments across and along [kg m²], length, place [m]; its joint."""

    name: str
    mass: float
    across: float
    along: float
    length: float
    at: tuple[float, float, float]
    rest: float  # angle of its joint's frame about y [rad]
    limits: tuple[float, float]  # [rad]
    damper: float  # [N m s/rad]


LEGS = (
    (
        Part("bthigh", 1.5352, 0.01525, 0.001624, 0.29, TAIL, -0.658, (-0.52, 1.05), 6.0),
        Part("bshin", 1.5809, 0.0166, 0.00167, 0.29, (0.0, 0.0, -0.29), 1.7, (-0.785, 0.785), 4.5),
        Part("bfoot", 1.069, 0.005444, 0.001131, 0.188, (0.0, 0.0, -0.29), -1.5, (-0.4, 0.785), 3.0),
    ),
    (
        Part("fthigh", 1.42558, 0.01231, 0.001508, 0.266, NOSE, 0.52, (-1.0, 0.7), 4.5),
        Part("fshin", 1.17885, 0.00716, 0.00124, 0.212, (0.0, 0.0, -0.266), -1.11159, (-1.2, 0.87), 3.0),
        Part("ffoot", 0.84986, 0.002899, 0.000899, 0.14, (0.0, 0.0, -0.212), -0.1, (-0.5, 0.5), 1.5),
    ),
)


def halfcheetah(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    spring: float = 0.0,
    damper: float | None = None,
    friction: float = 0.4,
    limited: bool = False,
    ground: bool = True,
    body_contacts: bool = False,
    height: float = 0.0,
    pitch: float = 0.02792,
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build a torso on a `PlanarAxis` joint with two legs of thigh, shin and foot, all about y.

    The base's coordinates are x, −z and the angle about y.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    spring : float
        Of every leg joint [N m/rad], towards the pose it is built in.
    damper : float, optional
        Of every leg joint [N m s/rad]; by default each has its own, from 6 at the thigh to 1.5 at the front foot.
    friction : float
        Coefficient at every contact.
    limited : bool
        Give the joints their limits.
    ground : bool
        Let the feet touch the plane z = 0.
    body_contacts : bool
        Let torso, head, knees and ankles touch it too: nine contacts in place of two.
    height : float
        Of the feet above the ground [m].
    pitch : float
        Of the torso [rad]; both feet touch with the one it has by default.
    contact_type : str
        Law of the contacts.
    """
    robot = Assembly(
        pose={"base": [0.0, 0.0, pitch]}, spring=spring, damper=damper, limited=limited, friction=friction,
        contact_type=contact_type,
    )  # fmt: skip
    robot.base(
        "torso", TORSO, "PlanarAxis", axis=(0, 1, 0), effective=True,
        looks=[limb(TAIL, NOSE, RADIUS), limb(NOSE, HEAD, RADIUS)],
    )  # fmt: skip
    for name, spot in (("nose", NOSE), ("tail", TAIL), ("head", HEAD)):
        robot.touch("torso", spot, RADIUS, name)
    for leg in LEGS:
        parent = "torso"
        for part in leg:
            tip = np.array([0.0, 0.0, -part.length])
            link = Link(part.mass, (0.0, 0.0, -0.5 * part.length), (part.across, 0, 0, part.across, 0, part.along))
            robot.add(
                part.name, link, parent, part.at, (0, 1, 0), turned=about("y", part.rest), limits=part.limits,
                damper=part.damper, looks=[limb(np.zeros(3), tip, RADIUS)],
            )  # fmt: skip
            robot.touch(part.name, tip, RADIUS, part.name, foot=part is leg[-1])
            parent = part.name
    return robot.mechanism(
        timestep=timestep, gravity=gravity, ground=ground, body_contacts=body_contacts, height=height
    )
