"""Checks and counts of IRIT files that need the measures of a walker."""

from __future__ import annotations

import math

from cbsim.errors import Problems
from cbsim.formats.irit.count import count_records
from cbsim.formats.irit.structure import find_walker
from cbsim.models.irit.anatomy import DENSITY, measure
from cbsim.spec.irit.objects import IritFile

__all__ = ["check", "count"]


def check(spec: IritFile, problems: Problems) -> None:
    """Check height, length and reach of the walker of a file, if it has one."""
    walker = find_walker(spec, Problems())  # reading told of its lists
    if walker is not None:
        measure(spec, walker, problems)


def count(spec: IritFile) -> dict[str, int | float]:
    """Count a walker's parts, then objects and every kind of item as written in the file.

    Bodies, joints and degrees of freedom are those of a walker; the mass [kg] is that of its parts filled evenly.
    """
    return _parts(spec) | count_records(spec)


def _parts(spec: IritFile) -> dict[str, int | float]:
    """Count a walker's parts: a hip has two freedoms, a knee one, and the body moves freely."""
    parts: dict[str, int | float] = {"bodies": 0, "joints": 0, "loops": 0, "degrees_of_freedom": 0, "mass": 0.0}
    told = Problems()
    walker = find_walker(spec, told)
    if walker is None:
        return parts
    legs = len(walker.legs)
    parts |= {"bodies": 1 + 2 * legs, "joints": 2 * legs, "degrees_of_freedom": 6 + 3 * legs}
    anatomy = measure(spec, walker, told)
    if anatomy is not None:
        parts["mass"] = DENSITY * math.fsum(part.lump.mass for part in anatomy.parts)
    return parts
