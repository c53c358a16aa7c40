"""`brief`: one-line representation of large values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any

__all__ = ["brief"]

LONGEST = 60  # characters of a text


def brief(value: Any) -> str:
    """Represent a dataclass by its type, name, values that differ from defaults, and lengths of collections.

    The ``__repr__`` of specs, whose default would fill pages.

    Parameters
    ----------
    value : dataclass

    Examples
    --------
    >>> from cbsim.spec.mission import Mission, MissionCheckpoint
    >>> Mission("tour", "site", (MissionCheckpoint(1), MissionCheckpoint(2)))
    <Mission 'tour' network_name='site' checkpoints: 2>
    """
    name = getattr(value, "name", "")
    told = [_told(part, getattr(value, part.name)) for part in fields(value) if part.compare and part.name != "name"]
    return f"<{' '.join([type(value).__name__, *([repr(name)] if name else []), *filter(None, told)])}>"


def _told(part: Field[Any], item: Any) -> str:
    """Describe the value of one field; empty text for empty and default values."""
    if isinstance(item, str | int | float):
        text = f"{item[: LONGEST - 1]}…" if isinstance(item, str) and len(item) > LONGEST else item
        return "" if item in (part.default, "") else f"{part.name}={text!r}"
    if isinstance(item, tuple) and 0 < len(item) <= 3 and all(isinstance(number, float) for number in item):
        return "" if item == part.default else f"{part.name}={item}"
    return f"{part.name}: {len(item)}" if isinstance(item, tuple | list | Mapping) and item else ""
