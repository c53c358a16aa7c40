"""Contacts between bodies: columns of a row of contacts, and `Contact`, a row for users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cbsim.arrays import Floats

__all__ = ["CONTACT", "NO_CONTACTS", "Contact"]

CONTACT = (
    "time",  # [s]
    *("body_a", "body_b"),  # rows, a before b
    *("x", "y", "z"),  # place [m]
    *("normal_x", "normal_y", "normal_z"),  # unit, from a to b
    "closing_speed",  # along the normal at first touch [m/s]
    "impulse",  # [N s]
    "depth",  # [m]
)
NO_CONTACTS = np.zeros((0, len(CONTACT)))


@dataclass(frozen=True, slots=True)
class Contact:
    """Beginning of a contact between two bodies.

    Attributes
    ----------
    time : float
        [s].
    bodies : tuple of str
        Names of both.
    place, normal : (3,)
        [m]; unit vector from the first body to the second.
    closing_speed : float
        Along the normal at first contact [m/s].
    impulse, depth : float
        [N s], [m].
    """

    time: float
    bodies: tuple[str, str]
    place: Floats
    normal: Floats
    closing_speed: float
    impulse: float
    depth: float

    @classmethod
    def of(cls, row: Floats, names: Sequence[str]) -> Contact:
        """Make a contact from a row, given the names of all bodies."""
        time, a, b, *_ = map(float, row)
        return cls(time, (names[int(a)], names[int(b)]), row[3:6], row[6:9], *map(float, row[9:12]))
