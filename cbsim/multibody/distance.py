"""Signed distances of contacts, for one pose or along a trajectory."""

from __future__ import annotations

from typing import Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.multibody.mechanism import Mechanism
from cbsim.multibody.storage import Storage, check_storage
from cbsim.spec.mechanism.bodies import Body
from cbsim.spec.mechanism.contacts import ContactConstraint, gap

__all__ = ["get_sdf"]


def get_sdf(contact: Any, *where: Any) -> Any:
    """Signed distance [m]: ``get_sdf(contact, x, q)``, or of all contacts ``get_sdf(mechanism, storage)``.

    Without a storage, ``get_sdf(mechanism)`` is that of its own state.

    Parameters
    ----------
    contact : ContactConstraint, Contact or Collision
        With the position and orientation of its parent, and of its child where that is a body.
    mechanism : Mechanism
        With a `Storage` or alone.

    Returns
    -------
    float, or list of ndarray, shape (steps,), or list of float
        Below zero where things overlap.

    Raises
    ------
    ModelError
        More than a storage is given with a mechanism, or something else.
    """
    if not isinstance(contact, Mechanism):
        if len(where) not in {2, 4}:
            raise ModelError("get_sdf of a contact takes position and orientation of its parent, or of both its bodies")
        return gap(contact, *where)
    if len(where) > 1 or not all(isinstance(each, Storage) for each in where):
        raise ModelError("get_sdf of a mechanism takes a Storage, or nothing for the state that it holds")
    if not where:
        return [_gap(contact, each, contact.pose[:, :3], contact.pose[:, 6:10]) for each in contact.contacts]
    storage = where[0]
    check_storage(contact, storage)
    return [
        np.array([_gap(contact, each, x, q) for x, q in zip(storage.x, storage.q, strict=True)])
        for each in contact.contacts
    ]


def _gap(mechanism: Mechanism, contact: ContactConstraint, x: Floats, q: Floats) -> float:
    """Signed distance of a contact where the bodies are at x (bodies, 3) and turned by q (bodies, 4)."""
    bodies = [body for body in (contact.parent, contact.child) if isinstance(body, Body)]
    places = [mechanism.place_of[body] for body in bodies]
    return gap(contact, *(value for i in places for value in (x[i], q[i])))
