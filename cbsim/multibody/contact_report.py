"""Contact points of a step: positions, gaps and impulses.

Contacts that the mechanism states and those found between colliders are listed alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cbsim.arrays import Floats
from cbsim.dynamics.compile import Compiled
from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.detection.kernels.tables import ColliderTables
from cbsim.dynamics.detection.solids import pieces_of
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.tables import Work
from cbsim.spec.mechanism.description import MechanismSpec

__all__ = ["ContactPoint", "points_in"]


@dataclass(frozen=True, eq=False)
class ContactPoint:
    """One contact of a step.

    Attributes
    ----------
    body, other : str
        Names of the bodies that touch; ``other`` is ``"origin"`` for what is at rest.
    contact : str
        Name of the contact constraint, empty between colliders.
    colliders : (str, str)
        Names of the colliders of ``body`` and of ``other``, both empty for a contact constraint.
    point : ndarray, shape (3,)
        Where the impulse acts, at the end of the step, in the world [m].
    normal : ndarray, shape (3,)
        Unit vector towards ``body``.
    gap : float
        Between them at the end of the step [m]; below zero where they overlap.
    impulse : ndarray, shape (3,)
        On ``body`` in this step, friction included, in the world [N s]; ``other`` gets the opposite.
    force : ndarray, shape (3,)
        The impulse over the length of the step [N].
    """

    body: str
    other: str
    contact: str
    colliders: tuple[str, str]
    point: Floats
    normal: Floats
    gap: float
    impulse: Floats
    force: Floats

    @property
    def normal_impulse(self) -> float:
        """Part of the impulse along the normal [N s]."""
        return float((self.normal * self.impulse).sum())

    @property
    def normal_force(self) -> float:
        """Part of the force along the normal [N]."""
        return float((self.normal * self.force).sum())


def points_in(
    spec: MechanismSpec, compiled: Compiled, work: Work, colliders: ColliderTables | None
) -> tuple[ContactPoint, ...]:
    """List the contact points of the last step in a workspace."""
    model = compiled.model
    stated, whole = len(spec.contacts), model.contact_link
    found = stated
    if colliders is not None:
        owners = [collider for collider in spec.colliders for _ in pieces_of(collider)]
        found, whole = min(int(colliders.found[d.CONTACTS]), len(work.contact_work)), colliders.contact_link
    points = []
    for row in np.flatnonzero(work.contact_work[:found, c.ACTIVE] != 0.0).tolist():
        contact_work, other = work.contact_work[row], int(whole[row, c.OTHER])
        contact, names = "", ("", "")
        if row < stated:
            contact = spec.contacts[row].name
        else:
            assert colliders is not None  # as there are contacts of colliders
            one, two = (owners[k].name for k in colliders.key[row])
            names = one, two
        impulse = contact_work[c.TOTAL : c.TOTAL + 3].copy()
        points.append(
            ContactPoint(
                spec.bodies[int(model.link[whole[row, c.ONE], c.BODY])].name,
                spec.bodies[int(model.link[other, c.BODY])].name if other >= 0 else spec.origin.name,
                contact, names, contact_work[c.POINT : c.POINT + 3].copy(),
                contact_work[c.AXES : c.AXES + 3].copy(), float(contact_work[c.GAP]), impulse,
                impulse / spec.timestep,
            )
        )  # fmt: skip
    return tuple(points)
