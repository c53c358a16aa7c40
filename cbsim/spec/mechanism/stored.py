"""Stored mechanisms: description, state and inputs of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import Location
from cbsim.spec.mechanism.bodies import Node
from cbsim.spec.mechanism.description import MechanismSpec

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
    state: Floats | None = None
    next_state: Floats | None = None
    inputs: Mapping[str, Floats] = field(default_factory=dict)
    external: Mapping[str, Floats] = field(default_factory=dict)
    locations: Mapping[str, Location] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        """Whether all is the same, but where it is in a file."""
        if not isinstance(other, StoredMechanism):
            return NotImplemented
        return all(
            _plain(getattr(self, name.name)) == _plain(getattr(other, name.name))
            for name in fields(self)
            if name.name != "locations"
        )

    __hash__ = None  # type: ignore[assignment]  # it holds arrays


def _plain(value: Any, *, inside: bool = False) -> Any:
    """Return what a description is made of as texts and tuples; parts that it names stand for their names."""
    if isinstance(value, np.ndarray):
        return value.shape, tuple(map(repr, value.ravel().tolist()))
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_plain(item) for item in value)
    if isinstance(value, Node) and inside:
        return value.name
    if is_dataclass(value):
        own = [field for field in fields(value) if field.name not in {"bond", "subject"}]
        is_part = isinstance(value, Node)
        return type(value).__name__, *(_plain(getattr(value, f.name), inside=is_part) for f in own)
    return repr(value)
