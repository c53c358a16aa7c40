"""What ``cbsim info`` tells of an IRIT file: its records, and the parts of the walker that it may be."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from cbsim.errors import Problems
from cbsim.formats.irit.anatomy import DENSITY, measure
from cbsim.formats.irit.structure import find_walker
from cbsim.spec.irit.objects import Attribute, Freeform, IritFile, IritObject, Poly, SolidModel, Trimmed

__all__ = ["count"]


def count(spec: IritFile) -> dict[str, int | float]:
    """Count objects, polygons, curves and surfaces as they stand in the file, those in attributes included.

    Bodies, joints and degrees of freedom are those of a walker; the mass [kg] is that of its parts filled evenly.
    """
    found: Counter[str] = Counter()
    for item in spec.objects:
        _count_object(item, found)
    return _parts(spec) | {kind: found[kind] for kind in ("objects", "polygons", "curves", "surfaces")}


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


def _count_object(item: IritObject, found: Counter[str]) -> None:
    found["objects"] += 1
    _count_attributes(item.attributes, found)
    for part in item.items:
        if isinstance(part, IritObject):
            _count_object(part, found)
        elif isinstance(part, Poly):
            found["polygons"] += part.kind == "POLYGON"
        elif isinstance(part, Freeform):
            _count_freeforms([part], found)
        elif isinstance(part, Trimmed):
            _count_freeforms([part.surface, *(c for loop in part.loops for curves in loop for c in curves)], found)
        elif isinstance(part, SolidModel):
            _count_freeforms([surface.surface for surface in part.surfaces], found)
            _count_freeforms([curve for segment in part.segments for curve in segment.curves], found)


def _count_attributes(attributes: Iterable[Attribute], found: Counter[str]) -> None:
    for attribute in attributes:
        for item in attribute.objects:
            _count_object(item, found)


def _count_freeforms(parts: Iterable[Freeform], found: Counter[str]) -> None:
    for part in parts:
        found["curves"] += part.kind == "CURVE"
        found["surfaces"] += part.kind == "SURFACE"
