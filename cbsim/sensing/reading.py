"""`Reading`: what a sensor that is no laser gives at one moment, and its row of numbers in a recording."""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np

from cbsim.world.tables import Floats

__all__ = ["Reading", "flat"]


class Reading(Protocol):
    """A frozen value with its sensor's key and the time it was taken [s].

    `values` turns it into numbers and `of` turns them back, bit for bit.
    """

    @property
    def key(self) -> str:
        """``<object name>/<conf file stem>``."""

    @property
    def time(self) -> float:
        """When it was taken [s]."""

    def values(self) -> Floats:
        """All fields but key and time, in their order, as float64 (n,)."""

    @classmethod
    def of(cls, key: str, time: float, values: Floats) -> Self:
        """Make the reading again; raises ValueError if there are not as many numbers as it takes."""


def flat(*parts: object) -> Floats:
    """Put numbers and arrays together (n,)."""
    return np.concatenate([np.ravel(np.asarray(part, float)) for part in parts])
