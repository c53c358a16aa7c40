"""`Sealed`: copies of readings for planners, over bytes that nobody can make writable again.

Recorders and judges keep the arrays of a reading, so a planner gets others: an array that owns its numbers can be made
writable by whoever holds it, one over `bytes` cannot.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np

from cbsim.geometry.pose import Pose

__all__ = ["Sealed", "sealed"]


class Sealed:
    """Seals the readings of one vehicle, each once; what is the same array in every scan, like angles, once for all."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[Any, tuple[Any, ...], Any, tuple[Any, ...]]] = {}

    def __call__(self, key: str, reading: Any) -> Any:
        """Seal the newest reading of a sensor."""
        known = self._newest.get(key)
        if known is not None and known[0] is reading:
            return known[2]
        parts: tuple[Any, ...] = _parts(reading.__class__)(reading)
        if known is None:
            copies = tuple(map(sealed, parts))
        else:
            pairs = zip(parts, known[1], known[3], strict=True)
            copies = tuple([copy if part is old else sealed(part) for part, old, copy in pairs])
        self._newest[key] = reading, parts, reading.__class__(*copies), copies
        return self._newest[key][2]


def sealed(part: Any) -> Any:
    """Copy an array into one that is read-only for good, and a pose into one of its own; leave anything else."""
    if isinstance(part, np.ndarray):
        return np.ndarray(part.shape, part.dtype, part.tobytes())
    return Pose(part.position.copy(), part.orientation.copy()) if isinstance(part, Pose) else part


@cache
def _parts(kind: Any) -> attrgetter[tuple[Any, ...]]:
    """Get the values of all fields of a type, as it takes them when it is made."""
    return attrgetter(*(field.name for field in fields(kind)))
