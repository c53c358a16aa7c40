"""Counts of the records of an IRIT file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cbsim.spec.irit.objects import Freeform, IritFile, IritObject, Item, Poly, SolidModel, Trimmed, family_of

__all__ = ["KINDS", "count_records"]

KINDS = {
    "POLYGON": "polygons", "POLYLINE": "polylines", "POINTLIST": "pointlists", "POLYSTRIP": "polystrips",
    "CURVE": "curves", "SURFACE": "surfaces", "TRISRF": "trisrfs", "TRIVAR": "trivars", "MULTIVAR": "multivars",
    "TRIMSRF": "trimsrfs", "MODEL": "models", "INSTANCE": "instances", "NUMBER": "numbers", "STRING": "strings",
    "POINT": "points", "VECTOR": "vectors", "PLANE": "planes", "CTLPT": "ctlpts", "MATRIX": "matrices",
}  # fmt: skip
"""Keyword → name of its count."""


def count_records(spec: IritFile) -> dict[str, int]:
    """Count objects and every kind of item in the file, including those in attributes and models."""
    found: Counter[str] = Counter()
    for item in spec.objects:
        _count_object(item, found)
    return {kind: found[kind] for kind in ("objects", *KINDS.values())}


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
    """Surfaces and curves that are parts of others."""
    if isinstance(item, Trimmed):
        yield item.surface
        yield from (curve for loop in item.loops for curves in loop for curve in curves)
    elif isinstance(item, SolidModel):
        yield from (surface.surface for surface in item.surfaces)
        yield from (curve for segment in item.segments for curve in segment.curves)
