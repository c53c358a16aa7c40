"""A four-legged robot after Unitree's A1: masses, inertias and lengths of its public URDF description."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.multibody.coordinates import set_minimal_coordinates
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.contacts import ContactConstraint, contact_constraint
from cbsim.spec.mechanism.joints import JointConstraint
from cbsim.spec.mechanism.prototypes import Floating, Revolute

__all__ = ["quadruped"]


class Part(NamedTuple):
    """Mass [kg], centre of mass in the link's own frame [m], inertia xx xy xz yy yz zz about it [kg m²]."""

    mass: float
    centre: tuple[float, float, float]
    inertia: tuple[float, float, float, float, float, float]


TRUNK = Part(
    4.713,
    (0.012731, 0.002186, 0.000515),
    (0.01683993, 8.3902e-05, 0.000597679, 0.056579028, 2.5134e-05, 0.064713601),
)
HIP = Part(
    0.696, (-0.003311, 0.000635, 3.1e-05), (0.000469246, -9.409e-06, -3.42e-07, 0.00080749, -4.66e-07, 0.000552929)
)
THIGH = Part(
    1.013,
    (-0.003237, -0.022327, -0.027326),
    (0.005529065, 4.825e-06, 0.000343869, 0.005139339, 2.2448e-05, 0.001367788),
)
CALF = Part(0.166, (0.006435, 0.0, -0.107388), (0.002997972, 0.0, -0.000141163, 0.003014022, 0.0, 3.2426e-05))
HIP_AT = np.array([0.183, 0.047, 0.0])
THIGH_AT = np.array([0.0, 0.08505, 0.0])
CALF_AT = np.array([0.0, 0.0, -0.2])
FOOT_AT, FOOT_RADIUS = np.array([0.0, 0.0, -0.2]), 0.02
LIMITS = {"hip": (-0.5, 0.5), "thigh": (-0.5, 1.5), "calf": (-2.5, -1.0)}
LEGS = {"FR": (1.0, -1.0), "FL": (1.0, 1.0), "RR": (-1.0, -1.0), "RL": (-1.0, 1.0)}
"""Sides of a leg: front +1 or rear −1, left +1 or right −1."""


def quadruped(
    *,
    timestep: float = 0.01,
    gravity: float = -9.81,
    spring: float = 0.0,
    damper: float = 0.0,
    friction: float = 0.8,
    limited: bool = False,
    body_contacts: bool = False,
    height: float | None = None,
    thigh: float = 0.25 * math.pi,
    calf: float = -0.5 * math.pi,
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build a trunk with four legs of hip (about x), thigh and calf (about y), its feet on the plane z = 0.

    Parameters
    ----------
    spring, damper : float
        Of every leg joint [N m/rad], [N m s/rad]; springs pull towards the pose it is built in.
    limited : bool
        Give the joints their limits.
    body_contacts : bool
        Let hips and thighs touch the ground too, not the feet alone: twelve contacts in place of four.
    height : float
        Of the trunk's frame [m]; by default the feet just touch.
    thigh, calf : float
        Angles of the pose [rad].
    """
    origin = Origin()
    trunk = _body(TRUNK, "trunk", 1.0, 1.0)
    bodies, contacts = [trunk], list[ContactConstraint]()
    joints: list[JointConstraint] = [Floating(origin, trunk, name="base")]
    pose = {"hip": 0.0, "thigh": thigh, "calf": calf}
    for leg, (front, left) in LEGS.items():
        parent, parent_part, sides = trunk, TRUNK, (1.0, 1.0)
        for part, at, name in ((HIP, HIP_AT, "hip"), (THIGH, THIGH_AT, "thigh"), (CALF, CALF_AT, "calf")):
            own = (front, left) if name == "hip" else (1.0, left)
            body = _body(part, f"{leg}_{name}", *own)
            mirrored = at * (front if name == "hip" else 1.0, left, 1.0)
            joints.append(
                Revolute(
                    parent,
                    body,
                    (1, 0, 0) if name == "hip" else (0, 1, 0),
                    parent_vertex=mirrored - _centre(parent_part, *sides),
                    child_vertex=-_centre(part, *own),
                    spring=spring,
                    damper=damper,
                    spring_offset=[pose[name]] if spring else None,
                    joint_limits=LIMITS[name] if limited else None,
                    name=f"{leg}_{name}_joint",
                )
            )
            bodies.append(body)
            parent, parent_part, sides = body, part, own
        contacts += _contacts(bodies[-3:], leg, left, friction, contact_type, body_contacts=body_contacts)
    mechanism = Mechanism(origin, bodies, joints, contacts, timestep=timestep, gravity=gravity)
    drop = 0.2 * math.cos(thigh) + 0.2 * math.cos(thigh + calf) + FOOT_RADIUS
    at = _centre(TRUNK, 1.0, 1.0) + np.array([0.0, 0.0, drop if height is None else height])
    set_minimal_coordinates(mechanism, "base", [*at, 0.0, 0.0, 0.0])
    for leg in LEGS:
        set_minimal_coordinates(mechanism, f"{leg}_thigh_joint", [thigh])
        set_minimal_coordinates(mechanism, f"{leg}_calf_joint", [calf])
    return mechanism


def _centre(part: Part, front: float, left: float) -> NDArray[np.float64]:
    """Centre of mass of a part on one side of the robot; it is described at the front left."""
    return np.array(part.centre) * (front, left, 1.0)


def _body(part: Part, name: str, front: float, left: float) -> Body:
    """Make the mirror image of a part."""
    xx, xy, xz, yy, yz, zz = part.inertia
    xy, xz, yz = xy * front * left, xz * front, yz * left
    return Body(part.mass, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), name=name)


def _contacts(
    leg: list[Body], name: str, left: float, friction: float, contact_type: str, *, body_contacts: bool
) -> list[ContactConstraint]:
    """Foot of a leg, and its knee and hip where they are asked for (radii of dojo.md §1.4)."""
    hip, thigh, calf = leg
    spots = [(calf, FOOT_AT - _centre(CALF, 1.0, left), FOOT_RADIUS, "foot")]
    if body_contacts:
        spots.append((thigh, CALF_AT - _centre(THIGH, 1.0, left), 0.023, "knee"))
        spots.append((hip, THIGH_AT * (1.0, left, 1.0) * 0.5, 0.05, "hip"))
    return [
        contact
        for body, at, radius, spot in spots
        for contact in contact_constraint(
            body,
            (0, 0, 1),
            friction_coefficient=friction,
            contact_origin=at,
            contact_radius=radius,
            name=f"{name}_{spot}_contact",
            contact_type=contact_type,
        )
    ]
