"""Quadrotors: AscTec's Pelican and Skydio's X2, after their public descriptions.

Masses, inertias and places of the Pelican are those of rotors_simulator's URDF that Dojo uses, those of the X2 of
MuJoCo Menagerie's model, which fills ellipsoids evenly.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.errors import ModelError, did_you_mean
from cbsim.geometry.linear import times
from cbsim.multibody.gallery.assembly import Assembly, Link, merged
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.shapes import Box, Cylinder

__all__ = ["AIRFRAMES", "Airframe", "quadrotor"]


class Airframe(NamedTuple):
    """What a quadrotor is made of.

    Attributes
    ----------
    frame, rotor : Link
        All but the rotors, and one of them.
    rotors : ndarray, shape (4, 3)
        Where they are [m]; the thrust of each is along z.
    drag : ndarray, shape (4,)
        Torque about z on the frame per thrust [m]; rotors across from each other turn alike.
    radius : float
        Of a rotor [m], to look at.
    reach : float
        Of the balls at the rotors that touch the ground [m].
    feet : ndarray, shape (4, 3)
        Points on which it stands [m].
    body : Box
        What it looks like.
    """

    frame: Link
    rotor: Link
    rotors: Floats
    drag: Floats
    radius: float
    reach: float
    feet: Floats
    body: Box

    @property
    def whole(self) -> Link:
        """Frame and rotors as one link."""
        return merged(self.frame, *(self.rotor.placed(at) for at in self.rotors))

    def wrench(self, thrusts: ArrayLike) -> tuple[Floats, Floats]:
        """Force [N] and torque [N m] (3,) on the whole about its centre of mass, in its frame, of four thrusts [N].

        They are what `cbsim.multibody.set_external_force` takes.
        """
        lift = np.asarray(thrusts, float)
        forces = np.zeros((4, 3))
        forces[:, 2] = lift
        torque = np.cross(self.rotors - self.whole.centre, forces).sum(axis=0)
        torque[2] += times(self.drag, lift)
        return forces.sum(axis=0), torque


def _ellipsoid(mass: float, centre: tuple[float, float, float], axes: tuple[float, float, float]) -> Link:
    """Fill an ellipsoid with half axes [m] evenly: J = m/5 diag(b² + c², a² + c², a² + b²)."""
    squares = np.square(axes)
    return Link.of(mass, centre, mass / 5.0 * np.diag(squares.sum() - squares))


ALTERNATING = np.array([1.0, -1.0, 1.0, -1.0])
AIRFRAMES = {
    "x2": Airframe(
        frame=_ellipsoid(0.325, (0.0, 0.0, 0.02), (0.16, 0.04, 0.02)),
        rotor=_ellipsoid(0.25, (0.0, 0.0, 0.0), (0.13, 0.13, 0.01)),
        rotors=np.array([(-0.14, -0.18, 0.05), (-0.14, 0.18, 0.05), (0.14, 0.18, 0.08), (0.14, -0.18, 0.08)]),
        drag=-0.0201 * ALTERNATING,
        radius=0.13,
        reach=0.02,
        feet=np.array(list(product((-0.02, 0.1), (-0.027, 0.027), (0.0,)))),
        body=Box(0.12, 0.054, 0.08, position_offset=(0.04, 0.0, 0.04)),
    ),
    "pelican": Airframe(
        frame=Link(1.0, (0.0, 0.0, 0.0), (0.01, 0.0, 0.0, 0.01, 0.0, 0.02)),
        rotor=Link(0.01, (0.0, 0.0, 0.0), (1.94999922e-06, 0.0, 0.0, 0.00013660827869, 0.0, 0.00013840827797)),
        rotors=np.array([(0.21, 0.0, 0.05), (0.0, 0.21, 0.05), (-0.21, 0.0, 0.05), (0.0, -0.21, 0.05)]),
        drag=0.016 * ALTERNATING,
        radius=0.128,
        reach=0.07,
        feet=np.array([(0.11, 0.0, -0.085), (0.0, 0.11, -0.085), (-0.11, 0.0, -0.085), (0.0, -0.11, -0.085)]),
        body=Box(0.1, 0.1, 0.2),
    ),
}


def quadrotor(
    airframe: str = "x2",
    *,
    timestep: float = 0.01,
    gravity: ArrayLike = -9.81,
    spring: float = 0.0,
    damper: float = 0.0,
    friction: float = 0.5,
    spinning: bool = False,
    ground: bool = True,
    body_contacts: bool = False,
    height: float = 0.0,
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build a frame with four rotors, one body with them or each on a hinge.

    Parameters
    ----------
    airframe : str
        ``"x2"`` or ``"pelican"``.
    timestep, gravity : float
        [s], [m/s²].
    spring, damper : float
        Of the rotors' hinges [N m/rad], [N m s/rad].
    friction : float
        Coefficient at every contact.
    spinning : bool
        Let rotors turn against the frame: five bodies in place of one.
    ground : bool
        Let four feet touch the plane z = 0.
    body_contacts : bool
        Let balls at the rotors touch it too: eight contacts in place of four.
    height : float
        Of the feet above the ground [m].
    contact_type : str
        Law of the contacts.

    Raises
    ------
    ModelError
        No such airframe.
    """
    if airframe not in AIRFRAMES:
        known = ", ".join(AIRFRAMES)
        raise ModelError(f"there is no airframe {airframe!r} {did_you_mean(airframe, AIRFRAMES)} (there are {known})")
    made = AIRFRAMES[airframe]
    robot = Assembly(spring=spring, damper=damper, friction=friction, contact_type=contact_type)
    discs = [Cylinder(made.radius, 0.005, position_offset=at) for at in made.rotors]
    robot.base("frame", made.frame if spinning else made.whole, looks=[made.body, *([] if spinning else discs)])
    for k, (at, foot) in enumerate(zip(made.rotors, made.feet, strict=True)):
        if spinning:
            robot.add(f"rotor_{k + 1}", made.rotor, "frame", at, (0, 0, 1), looks=[Cylinder(made.radius, 0.005)])
        robot.touch("frame", foot, 0.0, f"foot_{k + 1}", foot=True)
        robot.touch("frame", at, made.reach, f"rotor_{k + 1}")
    return robot.mechanism(
        timestep=timestep, gravity=gravity, ground=ground, body_contacts=body_contacts, height=height
    )
