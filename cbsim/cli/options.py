"""Options that several commands have."""

from __future__ import annotations

import math

from cbsim.errors import UsageError

__all__ = ["number", "pairs"]


def number(value: float, option: str, expected: str, least: float = 0.0, most: float = math.inf) -> float:
    """Return a finite number between bounds, both included.

    Raises
    ------
    UsageError
        If it is none: ``--at is nan, expected a time from 0 s on``.
    """
    if not (math.isfinite(value) and least <= value <= most):
        raise UsageError(f"{option} is {value:g}, expected {expected}")
    return value


def pairs(given: list[str], option: str, default: str | None = None) -> dict[str, str]:
    """Split ``key=value`` texts; a text without a key gets the default one, if there is one."""
    found: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            if default is None:
                raise UsageError(f"{option} '{text}' is not of the form key=value")
            key, value = default, text
        if option == "--planner" and key.strip() in found:
            seat = f"'{key.strip()}'" if key.strip() else "the first bot"
            raise UsageError(f"two planners for {seat}: '{found[key.strip()]}' and '{value}'")
        found[key.strip()] = value
    return found
