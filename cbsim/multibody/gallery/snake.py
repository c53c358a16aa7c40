"""A free chain of boxes end to end, on any of the sixteen joints, about one axis or about several by turns."""

from __future__ import annotations

from itertools import cycle, pairwise

import numpy as np
from numpy.typing import ArrayLike

from cbsim.multibody.coordinates import set_minimal_coordinates
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.contacts import ContactConstraint, contact_constraint
from cbsim.spec.mechanism.prototypes import Floating, Prototype
from cbsim.spec.mechanism.shapes import Box

__all__ = ["snake"]

STRAIGHT, TWISTED = ((1.0, 0.0, 0.0),), ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))


def snake(
    links: int = 2,
    *,
    joint: str = "Revolute",
    timestep: float = 0.01,
    gravity: ArrayLike = 0.0,
    twisted: bool = False,
    axes: ArrayLike | None = None,
    orientation_offset: ArrayLike | None = None,
    height: float = 0.0,
    spring: float = 0.0,
    damper: float = 0.0,
    ground: bool = False,
    friction: float = 0.8,
    contact_type: str = "nonlinear",
) -> Mechanism:
    """Build boxes of 1 × 0.15 × 0.1 m and 1 kg along x, the first on a floating base.

    Parameters
    ----------
    links : int
        How many.
    joint : str
        One of the sixteen prototypes.
    timestep, gravity : float
        [s], [m/s²].
    twisted : bool
        Joints about y, z and x by turns, not all about x.
    axes : array_like, shape (n, 3), optional
        Axes of the joints by turns, in place of those.
    orientation_offset : array_like, shape (4,), optional
        Of every joint's frame in the link before.
    height : float
        Of the centre line above the ground [m].
    spring, damper : float
        Of every joint [N/m, N m/rad], [N s/m, N m s/rad].
    ground : bool
        Let both ends of every box touch the plane z = 0.
    friction : float
        Coefficient at every contact.
    contact_type : str
        Law of the contacts.
    """
    origin = Origin()
    boxes = [Box(1.0, 0.15, 0.1, mass=1.0).body(name=f"box_{k + 1}") for k in range(links)]
    joints = [Floating(origin, boxes[0], name="base")]
    given = (TWISTED if twisted else STRAIGHT) if axes is None else axes
    turns = cycle(np.atleast_2d(np.asarray(given, float)))
    for k, ((one, other), axis) in enumerate(zip(pairwise(boxes), turns, strict=False)):
        joints.append(
            Prototype(
                joint, one, other, axis, parent_vertex=(0.5, 0, 0), child_vertex=(-0.5, 0, 0),
                orientation_offset=orientation_offset, spring=spring, damper=damper, name=f"joint_{k + 1}",
            )
        )  # fmt: skip
    contacts: list[ContactConstraint] = []
    if ground:
        for box in boxes:
            contacts += contact_constraint(
                box, (0, 0, 1), friction_coefficient=friction, contact_origin=[(-0.5, 0, 0), (0.5, 0, 0)],
                name=f"{box.name}_end", contact_type=contact_type,
            )  # fmt: skip
    mechanism = Mechanism(origin, boxes, joints, contacts, timestep=timestep, gravity=gravity)
    set_minimal_coordinates(mechanism, "base", [0, 0, height, 0, 0, 0])
    return mechanism
