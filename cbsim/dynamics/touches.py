"""`touches_of`: which bodies touched in the last step that rooms have made, where, and how hard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.model import Floats
from cbsim.dynamics.rooms import Rooms

__all__ = ["Touch", "touches_of"]


class Touch(NamedTuple):
    """One contact between colliders.

    Attributes
    ----------
    one, other : int
        Bodies, in the order of the maximal state; -1 for the world.
    place, normal : ndarray, shape (3,)
        Where it is [m], and the unit normal that points to the first.
    impulse : float
        Along the normal [N s].
    gap : float
        That is left at the end of the step [m]; below zero where they overlap.
    """

    one: int
    other: int
    place: Floats
    normal: Floats
    impulse: float
    gap: float


def touches_of(rooms: Rooms) -> Iterator[Touch]:
    """List contacts of colliders that the last step on a state that was passed has had, those with an impulse or near.

    A step that had to be made in parts has those of its last part.
    """
    crowd, work = rooms.other_crowd, rooms.others
    if crowd is None:
        return
    model = rooms.compiled.model
    links = crowd.collider_link[:, d.LINK]
    bodies = np.where(links >= 0, model.link[links, c.BODY], -1)
    for row in range(len(model.contact), int(crowd.found[d.CONTACTS])):
        touch = work.touch[row]
        if touch[c.ACTIVE] == 0.0:
            continue
        one, other = (int(bodies[i]) for i in crowd.key[row])
        place, normal = touch[c.POINT : c.POINT + 3].copy(), touch[c.AXES : c.AXES + 3].copy()
        yield Touch(one, other, place, normal, float(touch[c.FORCE]), float(touch[c.GAP]))
