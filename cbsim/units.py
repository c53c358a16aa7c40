"""Conversion factors to SI; imported by `formats` only, so that everything behind it is metres, seconds, radians."""

from __future__ import annotations

import math

__all__ = ["DEGREE", "FOOT", "MPH"]

FOOT = 0.3048  # [m] international foot
MPH = 0.44704  # [m/s] international mile per hour
DEGREE = math.pi / 180.0  # [rad]
