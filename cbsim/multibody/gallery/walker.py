"""A walker: the hopper's torso on two legs, in the plane of x and z.

Masses, inertias, lengths and damping are those of the public URDF description that Dojo uses, limits and friction
Dojo's own.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from cbsim.multibody.gallery.assembly import Assembly
from cbsim.multibody.gallery.hopper import add_leg, add_torso, flat_footed
from cbsim.multibody.mechanism import Mechanism

__all__ = ["walker"]

SIDES = ("", "_left")


def walker(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    spring: float = 0.0,
    damper: float = 0.1,
    friction: float = 0.5,
    limited: bool = False,
    ground: bool = True,
    body_contacts: bool = False,
    height: float = 0.0,
    thigh: tuple[float, float] = (0.0, 0.0),
    leg: tuple[float, float] = (0.0, 0.0),
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build a torso on a `PlanarAxis` joint with two legs of thigh, leg and foot, all about y.

    The base's coordinates are x, −z and the angle about y. The legs pass through one another, as both are in one plane.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    spring, damper : float
        Of every leg joint [N m/rad], [N m s/rad]; springs pull towards the pose it is built in.
    friction : float
        Coefficient at every contact.
    limited : bool
        Give the joints their limits: hips and knees 0° to 150°, ankles ±45°.
    ground : bool
        Let heels and toes touch the plane z = 0.
    body_contacts : bool
        Let head, hips and knees touch it too: nine contacts in place of four.
    height : float
        Of the lower foot above the ground [m].
    thigh, leg : (float, float)
        Angles of the pose, right and left [rad]; the feet stay level.
    contact_type : str
        Law of the contacts.
    """
    pose: dict[str, list[float]] = {}
    for side, hip, knee in zip(SIDES, thigh, leg, strict=True):
        pose |= flat_footed(side, hip, knee)
    robot = Assembly(
        pose=pose, spring=spring, damper=damper, limited=limited, friction=friction, contact_type=contact_type
    )
    add_torso(robot)
    for side in SIDES:
        add_leg(robot, side, 0.1, 0.3)
    return robot.mechanism(
        timestep=timestep, gravity=gravity, ground=ground, body_contacts=body_contacts, height=height
    )
