"""Ranges of controls of models: joysticks and keys.

>>> expected("Walker/joystick1.y", 5.0), expected("joystick1.y", -1.0), expected("flag.x", float("nan"))
('a number from -1 to 1', '', 'a finite number')
"""

from __future__ import annotations

import math
from numbers import Real

__all__ = ["expected"]

RANGES = {"joystick": (-1.0, 1.0), "key.": (0.0, 1.0)}
"""Beginning of a control's own name → its range; others are unbounded."""


def expected(name: str, value: object) -> str:
    """Describe the values of a control if a value is not one of them; otherwise return an empty text.

    Parameters
    ----------
    name : str
        Of the control, with or without its model before a slash.
    value : object
    """
    own = name.rpartition("/")[2]
    low, high = next((ends for begin, ends in RANGES.items() if own.startswith(begin)), (-math.inf, math.inf))
    if isinstance(value, Real) and math.isfinite(value) and low <= float(value) <= high:
        return ""
    return "a finite number" if math.isinf(high) else f"a number from {low:g} to {high:g}"
