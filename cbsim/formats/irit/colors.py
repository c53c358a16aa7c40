"""Colours of IRIT's attributes."""

from __future__ import annotations

import math
from collections.abc import Iterable

from cbsim.spec.irit.objects import Attribute

__all__ = ["color_of"]

Color = tuple[float, float, float, float]
PALETTE = (
    (0, 0, 0), (0, 0, 170), (0, 170, 0), (0, 170, 170), (170, 0, 0), (170, 0, 170), (170, 170, 0), (170, 170, 170),
    (85, 85, 85), (85, 85, 255), (85, 255, 85), (85, 255, 255), (255, 85, 85), (255, 85, 255), (255, 255, 85),
    (255, 255, 255),
)  # fmt: skip
"""The sixteen colours of an EGA card, in their order."""

PURE = {1: (0, 0, 255), 2: (0, 255, 0), 3: (0, 255, 255), 4: (255, 0, 0), 5: (255, 0, 255), 14: (255, 255, 0)}
"""Names of colours that IRIT shows at full intensity."""


def color_of(attributes: Iterable[Attribute]) -> Color | None:
    """Return red, green, blue and opacity from 0 to 1; RGB before COLOR; None where neither says one."""
    found = {attribute.name: attribute.words for attribute in attributes}
    rgb = _numbers(found.get("RGB", ()))
    if len(rgb) < 3:
        index = _numbers(found.get("COLOR", ()))
        if not index:
            return None
        number = int(index[0]) % 64
        rgb = list(PURE.get(number, PALETTE[number % 16]))
    transparent = _numbers(found.get("TRANSP", ()))
    opacity = 1.0 - min(1.0, max(0.0, transparent[0])) if transparent else 1.0
    red, green, blue = (min(255.0, max(0.0, value)) / 255.0 for value in rgb[:3])
    return red, green, blue, opacity


def _numbers(words: Iterable[str]) -> list[float]:
    values = []
    for word in " ".join(words).replace(",", " ").split():
        try:
            value = float(word)
        except ValueError:
            return []
        if not math.isfinite(value):
            return []
        values.append(value)
    return values
