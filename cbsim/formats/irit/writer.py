"""Writer of IRIT's data grammar; numbers have the fewest digits that read back exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cbsim.spec.irit.objects import (
    Attribute,
    ControlPoint,
    Freeform,
    Instance,
    IritFile,
    IritObject,
    Item,
    Matrix,
    ModelSegment,
    ModelSurface,
    Number,
    Plane,
    Point,
    Poly,
    SolidModel,
    Text,
    Trimmed,
    Vector,
)
from cbsim.spec.number import number_text

__all__ = ["write"]

Lines = list[str]
VALUES: dict[type, str] = {Point: "POINT", Vector: "VECTOR", Plane: "PLANE", Matrix: "MATRIX"}


def write(spec: IritFile) -> str:
    """Write a data file."""
    lines: Lines = []
    for item in spec.objects:
        lines += [*_object(item), ""]
    return "\n".join(lines)


def _inner(lines: Iterable[str]) -> Lines:
    return [f"    {line}" for line in lines]


def _numbers(values: Iterable[float]) -> str:
    return " ".join(map(number_text, values))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _attribute(attribute: Attribute) -> str:
    words = [_quoted(word) if attribute.quoted or _needs_quotes(word) else word for word in attribute.words]
    lines = [line for item in attribute.objects for line in _object(item)]
    return f"[{' '.join((attribute.name, *words, *lines))}]"


def _needs_quotes(word: str) -> bool:
    return not word or word[0] in '["' or any(c in " \t\r\n\f\v]\0" for c in word)


def _head(*words: str, attributes: Sequence[Attribute] = ()) -> str:
    return "[" + " ".join((*words, *map(_attribute, attributes)))


def _object(item: IritObject) -> Lines:
    name = _quoted(item.name) if _needs_quotes(item.name) else item.name
    lines = [f"{_head('OBJECT', attributes=item.attributes)} {name}"]
    for part in item.items:
        lines += _inner(_object(part) if isinstance(part, IritObject) else _item(part))
    return [*lines, "]"]


def _item(item: Item) -> Lines:  # noqa: PLR0911 (one for each kind)
    if isinstance(item, Number):
        return [f"[NUMBER {number_text(item.value)}]"]
    if isinstance(item, Text):
        return [f"[STRING {_quoted(item.value)}]"]
    if isinstance(item, (Point, Vector)):
        return [f"[{VALUES[type(item)]} {_numbers(item.xyz)}]"]
    if isinstance(item, (Plane, Matrix)):
        return [f"[{VALUES[type(item)]} {_numbers(item.numbers)}]"]
    if isinstance(item, ControlPoint):
        return [f"[CTLPT {item.kind} {_numbers(item.numbers)}]"]
    if isinstance(item, Instance):
        return [f"[INSTANCE {item.of} {_numbers(item.numbers)}]"]
    return _poly(item) if isinstance(item, Poly) else _shape(item)


def _poly(poly: Poly) -> Lines:
    return [f"{_head(poly.kind, attributes=poly.attributes)} {len(poly.points)}", *_inner(_rows(poly)), "]"]


def _rows(item: Poly | Freeform) -> Lines:
    """Points, each with its attributes."""
    marks = item.marks or ((),) * len(item.points)
    pairs = zip(item.points, marks, strict=True)
    return ["[" + " ".join([*map(_attribute, mark), _numbers(point)]) + "]" for point, mark in pairs]


def _shape(item: Freeform | Trimmed | SolidModel) -> Lines:
    if isinstance(item, Freeform):
        return _freeform(item)
    if isinstance(item, Trimmed):
        lines = [_head("TRIMSRF", attributes=item.attributes), *_inner(_freeform(item.surface))]
        for loop in item.loops:
            parts = [line for curves in loop for line in _with_curves("TRIMCRVSEG", curves)]
            lines += _inner(["[TRIMCRV", *_inner(parts), "]"])
        return [*lines, "]"]
    head = _head("MODEL", attributes=item.attributes)
    lines = [f"{head} {len(item.surfaces)} {len(item.segments)}"]
    for surface in item.surfaces:
        lines += _inner(_model_surface(surface))
    for segment in item.segments:
        lines += _inner(_model_segment(segment))
    return [*lines, "]"]


def _with_curves(head: str, curves: Iterable[Freeform]) -> Lines:
    return [f"[{head}", *_inner(line for curve in curves for line in _freeform(curve)), "]"]


def _model_surface(part: ModelSurface) -> Lines:
    loops = [f"[MDLLOOP {_numbers(loop)}]" for loop in part.loops]
    return [f"[MDLTSRF {part.number}", *_inner([*_freeform(part.surface), *loops]), "]"]


def _model_segment(part: ModelSegment) -> Lines:
    return _with_curves(f"MDLTSEG {_numbers(part.numbers)}", part.curves)


def _freeform(item: Freeform) -> Lines:
    head = _head(item.kind, item.basis, attributes=item.attributes)
    sizes = (len(item.lengths),) * (item.kind == "MULTIVAR") + item.lengths
    sizes += item.orders if item.basis == "BSPLINE" else ()
    rows = [f"[{'KVP' if knots.periodic else 'KV'} {_numbers(knots.values)}]" for knots in item.knots]
    rows += _rows(item)
    return [f"{head} {_numbers(sizes)} {item.space}", *_inner(rows), "]"]
