"""Options that several commands have."""

from __future__ import annotations

import math
from pathlib import Path

from cbsim.errors import UsageError
from cbsim.paths import find_shipped

__all__ = ["file_named", "number", "pairs"]

SHIPPED = (("scenarios", (".yaml",)), ("rndf", (".rndf",)), ("sensors", (".conf",)))  # folder, endings of bare names


def file_named(name: str) -> str:
    """Find the file that a user means: the one of that name, else a shipped one, as ``cbsim run`` does."""
    try:
        if Path(name).exists():
            return name
        found = next((path for folder, ends in SHIPPED if (path := find_shipped(name, folder, ends))), None)
    except (OSError, ValueError):  # a name that no file system has
        return name
    return name if found is None else str(found)


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
