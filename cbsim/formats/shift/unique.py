"""Check of unique names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from cbsim.errors import Problems
from cbsim.formats.values import quote

__all__ = ["all_different"]

Named = TypeVar("Named", bound=Any)


def all_different(
    named: Sequence[Named], kind: str, where: str, problems: Problems, *, rename: bool = False
) -> tuple[Named, ...]:
    """Check that names are unique (E972); joints are renamed instead (W972), since real files have duplicates."""
    first: dict[str, Named] = {}
    out: list[Named] = []
    for one in named:
        name = one.name
        if name in first and rename:
            number = 2
            while f"{name}_{number}" in first or any(other.name == f"{name}_{number}" for other in named):
                number += 1
            fresh = f"{name}_{number}"
            if name:
                text = f"{kind} {quote(name)} of {where} has the name of another; it is now called {quote(fresh)}"
                problems.warning("W972", text, one.location, also=first[name].location)
            one, name = replace(one, name=fresh), fresh  # noqa: PLW2901 (the record under its new name)
        elif name in first:
            text = f"{kind} {quote(name)} of {where} has the name of another"
            problems.error("E972", text, one.location, also=first[name].location)
        first.setdefault(name, one)
        out.append(one)
    return tuple(out)
