"""Read-only copies of readings for planners.

Recorders and judges keep the arrays of a reading, so a planner gets copies. An array that owns its data can be made
writable again by any holder; a view of `bytes` cannot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np

from cbsim.geometry.pose import Pose

__all__ = ["ReadOnlyMapping", "ReadOnlyReadings", "read_only_copy"]


class ReadOnlyReadings:
    """Read-only copies of one vehicle's readings, cached: arrays shared by all scans, like angles, are copied once."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[Any, tuple[Any, ...], Any, tuple[Any, ...]]] = {}

    def __call__(self, key: str, reading: Any) -> Any:
        """Return the read-only copy of the newest reading of a sensor."""
        known = self._newest.get(key)
        if known is not None and known[0] is reading:
            return known[2]
        parts: tuple[Any, ...] = _parts(reading.__class__)(reading)
        if known is None:
            copies = tuple(map(read_only_copy, parts))
        else:
            pairs = zip(parts, known[1], known[3], strict=True)
            copies = tuple([copy if part is old else read_only_copy(part) for part, old, copy in pairs])
        self._newest[key] = reading, parts, reading.__class__(*copies), copies
        return self._newest[key][2]


class ReadOnlyMapping(Mapping[str, Any]):
    """Read-only copies of the readings of an observation, made when they are looked at.

    Parameters
    ----------
    readings : mapping
    copied : ReadOnlyReadings
    """

    __slots__ = ("_copied", "_copies", "_readings")
    is_read_only = True

    def __init__(self, readings: Mapping[str, Any], copied: ReadOnlyReadings) -> None:
        self._readings, self._copied = readings, copied
        self._copies: dict[str, Any] | None = None  # made when something is looked at

    def __getitem__(self, key: str) -> Any:
        if self._copies is None:
            self._copies = {}
        found = self._copies.get(key)
        if found is None:
            found = self._copies[key] = self._copied(key, self._readings[key])
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._readings)

    def __len__(self) -> int:
        return len(self._readings)

    def __contains__(self, key: object) -> bool:
        return key in self._readings

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)  # a copy, or a pickle, holds the readings and nothing of the run


def read_only_copy(part: Any) -> Any:
    """Copy an array into a permanently read-only one, and a pose into an independent one; return others as they are."""
    if isinstance(part, np.ndarray):
        return np.ndarray(part.shape, part.dtype, part.tobytes())
    return Pose(part.position.copy(), part.orientation.copy()) if isinstance(part, Pose) else part


@cache
def _parts(kind: Any) -> attrgetter[tuple[Any, ...]]:
    """Getter of the values of all fields of a type, in the order of its constructor."""
    return attrgetter(*(field.name for field in fields(kind)))
