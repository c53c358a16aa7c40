"""Signed distances of contacts, for one pose or along a trajectory."""

from __future__ import annotations

from typing import Any

import numpy as np

from cbsim.dynamics.model import Floats
from cbsim.multibody.mechanism import Mechanism
from cbsim.multibody.storage import Storage
from cbsim.spec.mechanism.bodies import Body
from cbsim.spec.mechanism.contacts import gap

__all__ = ["get_sdf"]


def get_sdf(contact: Any, *where: Any) -> Any:
    """Signed distance [m]: ``get_sdf(contact, x, q)``, or of all contacts ``get_sdf(mechanism, storage)``.

    Parameters
    ----------
    contact : ContactConstraint, Contact or Collision
        With the position and orientation of its parent, and of its child where that is a body.
    mechanism : Mechanism
        With a `Storage`.

    Returns
    -------
    float, or list of ndarray, shape (steps,)
        Below zero where things overlap.
    """
    if not isinstance(contact, Mechanism):
        return gap(contact, *where)
    (storage,) = where
    return [_along(contact, storage, i) for i in range(len(contact.contacts))]


def _along(mechanism: Mechanism, storage: Storage, i: int) -> Floats:
    contact = mechanism.contacts[i]
    parent = mechanism.place_of[contact.parent]
    child = mechanism.place_of[contact.child] if isinstance(contact.child, Body) else None
    out = np.empty(len(storage))
    for k in range(len(storage)):
        other = () if child is None else (storage.x[k, child], storage.q[k, child])
        out[k] = gap(contact, storage.x[k, parent], storage.q[k, parent], *other)
    return out
