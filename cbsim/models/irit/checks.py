"""Checks of IRIT walkers that need their measures."""

from __future__ import annotations

from cbsim.errors import Problems
from cbsim.formats.irit.structure import find_walker
from cbsim.models.irit.anatomy import measure
from cbsim.spec.irit.objects import IritFile

__all__ = ["check"]


def check(spec: IritFile, problems: Problems) -> None:
    """Check height, length and reach of the walker of a file, if it has one."""
    walker = find_walker(spec, Problems())  # reading told of its lists
    if walker is not None:
        measure(spec, walker, problems)
