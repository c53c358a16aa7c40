"""Raibert's hopper: a ball for a body, on a leg that slides, with a small ball for a foot."""

from __future__ import annotations

from numpy.typing import ArrayLike

from cbsim.multibody.coordinates import set_minimal_coordinates
from cbsim.multibody.gallery.assembly import lift
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.contacts import contact_constraint
from cbsim.spec.mechanism.prototypes import Floating, Prismatic
from cbsim.spec.mechanism.shapes import Sphere

__all__ = ["raiberthopper"]

BODY_MASS, BODY_RADIUS, FOOT_MASS, FOOT_RADIUS = 4.18, 0.1, 0.52, 0.05


def raiberthopper(
    *,
    timestep: float = 0.05,
    gravity: ArrayLike = -9.81,
    spring: float = 0.0,
    damper: float = 0.1,
    friction: float = 0.5,
    limits: tuple[float, float] | None = None,
    ground: bool = True,
    height: float = 0.0,
    leg: float = 0.5,
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build a body of 4.18 kg that floats and a foot of 0.52 kg on a leg along its z axis.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    spring, damper : float
        Of the leg [N/m], [N s/m]; the spring is slack at the length it is built with.
    friction : float
        Coefficient at both contacts.
    limits : (float, float), optional
        Bounds of the leg's coordinate, which is minus its length [m].
    ground : bool
        Let body and foot touch the plane z = 0.
    height : float
        Of the foot above the ground [m].
    leg : float
        Distance of the balls' centres [m].
    contact_type : str
        Law of the contacts.
    """
    origin = Origin()
    body = Sphere(BODY_RADIUS, mass=BODY_MASS).body(name="body")
    foot = Sphere(FOOT_RADIUS, mass=FOOT_MASS).body(name="foot")
    slide = Prismatic(
        body, foot, (0, 0, 1), spring=spring, damper=damper, spring_offset=[-leg], joint_limits=limits, name="leg"
    )
    spots = contact_constraint(
        [body, foot], (0, 0, 1), friction_coefficient=friction, contact_radius=[BODY_RADIUS, FOOT_RADIUS],
        name=["body_contact", "foot_contact"], contact_type=contact_type,
    )  # fmt: skip
    mechanism = Mechanism(
        origin, [body, foot], [Floating(origin, body, name="base"), slide], spots if ground else [],
        timestep=timestep, gravity=gravity,
    )  # fmt: skip
    set_minimal_coordinates(mechanism, "leg", [-leg])
    lift(mechanism, spots, height)
    return mechanism
