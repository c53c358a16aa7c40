"""Units of a Shift file as factors to SI."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from cbsim.geometry.elementary import square

__all__ = ["UNITS", "Units"]

UNITS: Mapping[str, Mapping[str, float]] = {
    "length": {
        "meters": 1.0, "meter": 1.0, "metres": 1.0, "metre": 1.0, "m": 1.0, "centimeters": 0.01, "cm": 0.01,
        "millimeters": 0.001, "mm": 0.001, "kilometers": 1000.0, "km": 1000.0, "inches": 0.0254, "inch": 0.0254,
        "in": 0.0254, "feet": 0.3048, "foot": 0.3048, "ft": 0.3048,
    },
    "mass": {
        "kilograms": 1.0, "kilogram": 1.0, "kg": 1.0, "grams": 0.001, "gram": 0.001, "g": 0.001, "tonnes": 1000.0,
        "tons": 1000.0, "pounds": 0.45359237, "pound": 0.45359237, "lb": 0.45359237, "lbm": 0.45359237,
        "slugs": 14.593902937206364, "slug": 14.593902937206364,
    },
    "angle": {"radians": 1.0, "radian": 1.0, "rad": 1.0, "degrees": math.pi / 180.0, "degree": math.pi / 180.0,
              "deg": math.pi / 180.0},
    "time": {"seconds": 1.0, "second": 1.0, "s": 1.0, "sec": 1.0, "milliseconds": 0.001, "ms": 0.001, "minutes": 60.0},
}  # fmt: skip
"""Quantity → name of a unit → its size in SI."""


@dataclass(frozen=True, slots=True)
class Units:
    """Sizes of a file's units in SI."""

    length: float = 1.0
    mass: float = 1.0
    angle: float = 1.0
    time: float = 1.0

    @property
    def inertia(self) -> float:
        """Of a moment of inertia."""
        return self.mass * square(self.length)

    @property
    def acceleration(self) -> float:
        """Of an acceleration."""
        return self.length / square(self.time)

    @property
    def force(self) -> float:
        """Of a force."""
        return self.mass * self.acceleration

    def effort(self, *, turning: bool) -> float:
        """Of a torque (of which the radian is not a part), or of a force."""
        return self.force * (self.length if turning else 1.0)

    def coordinate(self, *, turning: bool) -> float:
        """Of an angle, or of a length."""
        return self.angle if turning else self.length
