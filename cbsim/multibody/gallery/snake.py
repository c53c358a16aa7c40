"""A free chain of boxes end to end, on any of the sixteen joints, about one axis or about x, y, z in turn."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from cbsim.multibody.coordinates import set_minimal_coordinates
from cbsim.multibody.mechanism import Mechanism
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.contacts import ContactConstraint, contact_constraint
from cbsim.spec.mechanism.prototypes import Floating, Prototype
from cbsim.spec.mechanism.shapes import Box

__all__ = ["snake"]


def snake(
    links: int = 2,
    *,
    joint: str = "Revolute",
    timestep: float = 0.01,
    gravity: float = 0.0,
    twisted: bool = False,
    height: float = 0.0,
    spring: float = 0.0,
    damper: float = 0.0,
    ground: bool = False,
    friction: float = 0.8,
) -> Mechanism:
    """Build boxes of 1 × 0.15 × 0.1 m and 1 kg along x, the first on a floating base.

    Parameters
    ----------
    joint : str
        One of the sixteen prototypes, about x; `twisted`: about x, y, z in turn.
    ground : bool
        Let both ends of every box touch the plane z = 0, with a coefficient of `friction`.
    """
    origin = Origin()
    boxes = [Box(1.0, 0.15, 0.1, mass=1.0).body(name=f"box_{k + 1}") for k in range(links)]
    joints = [Floating(origin, boxes[0], name="base")]
    for k, (one, other) in enumerate(pairwise(boxes)):
        axis = np.eye(3)[(k + 1) % 3 if twisted else 0]
        joints.append(
            Prototype(
                joint,
                one,
                other,
                axis,
                parent_vertex=(0.5, 0, 0),
                child_vertex=(-0.5, 0, 0),
                spring=spring,
                damper=damper,
                name=f"joint_{k + 1}",
            )
        )
    contacts: list[ContactConstraint] = []
    if ground:
        for box in boxes:
            contacts += contact_constraint(
                box, (0, 0, 1), friction_coefficient=friction,
                contact_origin=[(-0.5, 0, 0), (0.5, 0, 0)], name=f"{box.name}_end",
            )  # fmt: skip
    mechanism = Mechanism(origin, boxes, joints, contacts, timestep=timestep, gravity=gravity)
    set_minimal_coordinates(mechanism, "base", [0, 0, height, 0, 0, 0])
    return mechanism
