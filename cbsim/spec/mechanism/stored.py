"""A mechanism with its state and its inputs, as a file keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cbsim.errors import Location
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.values import Array

__all__ = ["StoredMechanism"]


@dataclass(frozen=True, eq=False)
class StoredMechanism:
    """A mechanism with its state and its inputs.

    Attributes
    ----------
    spec : MechanismSpec
        The mechanism.
    state : ndarray, shape (bodies, 13), or None
        Its maximal state; None for that in which a new one is.
    next_state : ndarray, shape (bodies, 13), or None
        Where the velocities that were found last lead; None where none were.
    inputs : mapping
        Name of a joint → inputs that it holds.
    external : mapping
        Name of a body → force [N] and torque [N m] (6,) from outside, in the body's frame.
    locations : mapping
        Name of a part → its place in the file.
    """

    spec: MechanismSpec
    state: Array | None = None
    next_state: Array | None = None
    inputs: Mapping[str, Array] = field(default_factory=dict)
    external: Mapping[str, Array] = field(default_factory=dict)
    locations: Mapping[str, Location] = field(default_factory=dict)
