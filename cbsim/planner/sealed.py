"""`Sealed`: copies of readings for planners, over bytes that nobody can make writable again.

Recorders and judges keep the arrays of a reading, so a planner gets others: an array that owns its numbers can be made
writable by whoever holds it, one over `bytes` cannot.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.pose import Pose

__all__ = ["Sealed", "sealed"]


class Sealed:
    """Seals the readings of one vehicle, each once; what is the same array in every scan, like angles, once for all."""

    def __init__(self) -> None:
        self._readings: dict[str, tuple[Any, Any]] = {}
        self._arrays: dict[tuple[str, str], tuple[NDArray[Any], NDArray[Any]]] = {}

    def __call__(self, key: str, reading: Any) -> Any:
        """Seal the newest reading of a sensor."""
        known = self._readings.get(key)
        if known is None or known[0] is not reading:
            known = self._readings[key] = reading, self._sealed(key, reading)
        return known[1]

    def _sealed(self, key: str, reading: Any) -> Any:
        changed: dict[str, Any] = {}
        for name in _names(reading.__class__):
            value = getattr(reading, name)
            if isinstance(value, np.ndarray):
                changed[name] = self._array(key, name, value)
            elif isinstance(value, Pose):
                changed[name] = Pose(value.position.copy(), value.orientation.copy())
        return replace(reading, **changed) if changed else reading

    def _array(self, key: str, name: str, array: NDArray[Any]) -> NDArray[Any]:
        known = self._arrays.get((key, name))
        if known is None or known[0] is not array:
            known = self._arrays[key, name] = array, sealed(array)
        return known[1]


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """Copy an array into one that is read-only for good."""
    return np.ndarray(array.shape, array.dtype, array.tobytes())


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
