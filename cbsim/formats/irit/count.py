"""What ``cbsim info`` tells of an IRIT file: its records, and the parts of the walker that it may be."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from cbsim.errors import Problems
from cbsim.formats.irit.anatomy import DENSITY, measure
from cbsim.formats.irit.structure import find_walker
from cbsim.spec.irit.objects import Freeform, IritFile, IritObject, Item, Poly, SolidModel, Trimmed, family_of

__all__ = ["KINDS", "count"]

KINDS = {
    "POLYGON": "polygons", "POLYLINE": "polylines", "POINTLIST": "pointlists", "POLYSTRIP": "polystrips",
    "CURVE": "curves", "SURFACE": "surfaces", "TRISRF": "trisrfs", "TRIVAR": "trivars", "MULTIVAR": "multivars",
    "TRIMSRF": "trimsrfs", "MODEL": "models", "INSTANCE": "instances", "NUMBER": "numbers", "STRING": "strings",
    "POINT": "points", "VECTOR": "vectors", "PLANE": "planes", "CTLPT": "ctlpts", "MATRIX": "matrices",
}  # fmt: skip
"""Keyword → what its number is told as."""


def count(spec: IritFile) -> dict[str, int | float]:
    """Count objects and every kind of item as they stand in the file, those in attributes and in models included.

    Bodies, joints and degrees of freedom are those of a walker; the mass [kg] is that of its parts filled evenly.
    """
    found: Counter[str] = Counter()
    for item in spec.objects:
        _count_object(item, found)
    return _parts(spec) | {kind: found[kind] for kind in ("objects", *KINDS.values())}


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
    for attribute in item.attributes:
        for one in attribute.objects:
            _count_object(one, found)
    for part in item.items:
        if isinstance(part, IritObject):
            _count_object(part, found)
        else:
            _count_item(part, found)


def _count_item(item: Item, found: Counter[str]) -> None:
    found[KINDS[item.kind if isinstance(item, Poly) else family_of(item)]] += 1
    for part in _inner(item):
        _count_item(part, found)


def _inner(item: Item) -> Iterator[Freeform]:
    """Surfaces and curves that others are made of."""
    if isinstance(item, Trimmed):
        yield item.surface
        yield from (curve for loop in item.loops for curves in loop for curve in curves)
    elif isinstance(item, SolidModel):
        yield from (surface.surface for surface in item.surfaces)
        yield from (curve for segment in item.segments for curve in segment.curves)
