"""Protocol of readings of all sensors except lasers, and their conversion to rows of numbers in recordings."""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np

from cbsim.arrays import Floats

__all__ = ["Reading", "flat"]


class Reading(Protocol):
    """A frozen value with its sensor's key and its time [s].

    `values` turns it into numbers and `of` turns them back, bit for bit.
    """

    @property
    def key(self) -> str:
        """``<object name>/<conf file stem>``."""

    @property
    def time(self) -> float:
        """Time of the reading [s]."""

    def values(self) -> Floats:
        """All fields except key and time, in order, as float64 (n,)."""

    @classmethod
    def of(cls, key: str, time: float, values: Floats) -> Self:
        """Restore the reading; raises ValueError if the number of values is wrong."""


def flat(*parts: object) -> Floats:
    """Concatenate numbers and arrays (n,)."""
    return np.concatenate([np.ravel(np.asarray(part, float)) for part in parts])
