"""An underwater vehicle: a hull that floats in water which brakes it, with six thrusters.

Mass, inertia, damping and thrusters are those of the Mini Tortuga in Dojo's environments: thrust and torque of a
thruster are 0.01 and 0.001 times its signed squared speed; the water carries 19.5 kg at 0.2 m above the hull's frame,
a little more than it weighs, and brakes with 10 N s/m and 10 N m s/rad.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.geometry.pose import rotate
from cbsim.multibody.coordinates import set_maximal_state
from cbsim.multibody.gallery.assembly import Link, lift, merged
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.contacts import contact_constraint
from cbsim.spec.mechanism.prototypes import Floating
from cbsim.spec.mechanism.shapes import Box
from cbsim.spec.mechanism.values import array

__all__ = ["uuv", "uuv_input"]


class Thruster(NamedTuple):
    """Place in the hull's frame [m], direction of its thrust, and the sign of its torque about that."""

    at: tuple[float, float, float]
    along: tuple[float, float, float]
    turns: float


HULL = Link(
    19.1834, (0.0, 0.0, 0.0),
    (0.29874124659, -0.03211874071, 0.00179507011, 0.50529405748, -0.00095289894, 0.62284393213),
)  # fmt: skip
ROTOR = Link(0.01, (0.0, 0.0, 0.0), (1.94999922e-06, 0.0, 0.0, 0.00013660827869, 0.0, 0.00013840827797))
SLANT = math.sqrt(0.5)
THRUSTERS = (
    Thruster((0.14, -0.09, 0.059), (SLANT, SLANT, 0.0), 1.0),
    Thruster((0.14, 0.09, 0.059), (SLANT, -SLANT, 0.0), 1.0),
    Thruster((-0.14, -0.09, 0.059), (SLANT, -SLANT, 0.0), -1.0),
    Thruster((-0.14, 0.09, 0.059), (SLANT, SLANT, 0.0), -1.0),
    Thruster((0.0, -0.0855, 0.165), (0.0, 0.0, 1.0), 1.0),
    Thruster((0.0, 0.0855, 0.165), (0.0, 0.0, 1.0), -1.0),
)
WHOLE = merged(HULL, *(ROTOR.placed(thruster.at) for thruster in THRUSTERS))
THRUST, TORQUE = 0.01, 0.001  # [N] and [N m] per squared speed of a thruster, (rad/s)²
DISPLACED, BUOYED_AT = 19.5, np.array([0.0, 0.0, 0.2])  # [kg] of water, [m]
WATER_DAMPER = 10.0
SKIDS, SKID_RADIUS = np.array([(0.12, 0.0, 0.07), (-0.12, 0.0, 0.07)]), 0.21


def uuv(
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    damper: float = WATER_DAMPER,
    friction: float = 0.5,
    ground: bool = True,
    height: float = 1.0,
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build a hull with its thrusters as one body, over the bottom z = 0 of the water.

    `uuv_input` gives what the water's lift and the thrusters push; without inputs it sinks.

    Parameters
    ----------
    timestep, gravity : float
        [s], [m/s²].
    damper : float
        Of the water, along and about every axis [N s/m], [N m s/rad].
    friction : float
        Coefficient at the contacts.
    ground : bool
        Let two balls around the hull touch the bottom.
    height : float
        Of the balls above it [m].
    contact_type : str
        Law of the contacts.
    """
    origin = Origin()
    shape = Box(0.4, 0.35, 0.25, color=(0.9, 0.6, 0.1, 1.0))
    hull = Body(WHOLE.mass, WHOLE.matrix, shape, name="hull")
    skids = contact_constraint(
        hull, (0, 0, 1), friction_coefficient=friction, contact_origin=SKIDS - np.array(WHOLE.centre),
        contact_radius=SKID_RADIUS, name="skid", contact_type=contact_type,
    )  # fmt: skip
    base = Floating(origin, hull, damper=damper, name="base")
    mechanism = Mechanism(origin, [hull], [base], skids if ground else [], timestep=timestep, gravity=gravity)
    set_maximal_state(mechanism, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, *[0.0] * 6])
    lift(mechanism, skids, height)
    return mechanism


def uuv_input(mechanism: Mechanism, z: ArrayLike, speeds: ArrayLike = 0.0) -> Floats:
    """Return the input (6,) of a `uuv` in a maximal state: force and torque of the water's lift and the thrusters.

    Parameters
    ----------
    mechanism : Mechanism
        Whose gravity counts.
    z : array_like, shape (13,)
    speeds : array_like, shape (6,)
        Of the thrusters [rad/s]: two in front and two at the back, slanted, then two that lift.
    """
    turned, rates = np.ravel(np.asarray(z, float))[6:10], array(speeds, (6,), "uuv", "speeds")
    force = -DISPLACED * mechanism.gravity
    torque = np.cross(rotate(turned, BUOYED_AT - np.array(WHOLE.centre)), force)
    for thruster, rate in zip(THRUSTERS, rates, strict=True):
        along = rotate(turned, thruster.along)
        push = THRUST * rate * abs(rate) * along
        arm = rotate(turned, np.array(thruster.at) - np.array(WHOLE.centre))
        force = force + push
        torque = torque + np.cross(arm, push) + thruster.turns * TORQUE * rate * abs(rate) * along
    return np.concatenate([force, torque])
