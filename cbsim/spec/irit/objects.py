"""Objects of IRIT's data grammar: numbers, points, polygons, freeform geometry, and lists of objects.

Objects are compared by their contents, without locations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cbsim.errors import Location
from cbsim.spec.brief import brief
from cbsim.spec.objects import Triple

__all__ = [
    "VALUES",
    "Attribute",
    "ControlPoint",
    "Curves",
    "Freeform",
    "Instance",
    "IritFile",
    "IritObject",
    "Item",
    "Knots",
    "Matrix",
    "ModelSegment",
    "ModelSurface",
    "Number",
    "Plane",
    "Point",
    "Poly",
    "SolidModel",
    "Text",
    "Trimmed",
    "Vector",
    "family_of",
]

NOWHERE = Location("")
Numbers = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Attribute:
    """``[NAME]``, ``[NAME words]``, ``[NAME "text"]`` or ``[NAME [OBJECT …]]``.

    Attributes
    ----------
    name : str
        In upper case.
    words : tuple of str
        Its value as written.
    quoted : bool
        Whether the value is one text in quotes.
    objects : tuple of IritObject
        Objects as a value.
    """

    name: str
    words: tuple[str, ...] = ()
    quoted: bool = False
    objects: tuple[IritObject, ...] = ()


@dataclass(frozen=True, slots=True)
class Number:
    """``[NUMBER n]``."""

    value: float


@dataclass(frozen=True, slots=True)
class Text:
    """``[STRING "s"]``."""

    value: str


@dataclass(frozen=True, slots=True)
class _Triple:
    xyz: Triple


class Point(_Triple):
    """``[POINT x y z]``."""

    __slots__ = ()


class Vector(_Triple):
    """``[VECTOR x y z]``."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Row:
    numbers: Numbers


class Plane(_Row):
    """``[PLANE a b c d]``: a x + b y + c z + d = 0."""

    __slots__ = ()


class Matrix(_Row):
    """``[MATRIX 16 numbers]``: a row vector times it, p' = p M, with the translation in the last row."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ControlPoint:
    """``[CTLPT E3 x y z]``, or ``[CTLPT P3 w wx wy wz]`` in homogeneous coordinates.

    Attributes
    ----------
    kind : str
        ``E1`` … ``E9``, ``P1`` … ``P9``.
    numbers : tuple of float
        The weight first, where there is one.
    """

    kind: str
    numbers: Numbers

    @property
    def xyz(self) -> Triple:
        """Its position; missing coordinates are 0."""
        numbers = self.numbers
        plain = tuple(v / numbers[0] for v in numbers[1:]) if self.kind[0] == "P" else numbers
        x, y, z = (*plain, 0.0, 0.0, 0.0)[:3]
        return Triple(x, y, z)


@dataclass(frozen=True, slots=True)
class Instance:
    """``[INSTANCE name 16 numbers]``: another object of the file, moved."""

    of: str
    numbers: Numbers
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Poly:
    """One polygon, polyline, list of points or strip of triangles.

    Attributes
    ----------
    kind : str
        ``POLYGON``, ``POLYLINE``, ``POINTLIST`` or ``POLYSTRIP``.
    points : tuple of Triple
    attributes : tuple of Attribute
        ``PLANE`` among them, of a polygon.
    marks : tuple of tuple of Attribute
        Attributes of each vertex (``NORMAL``, ``UVVALS``, ``INTERNAL`` …); empty where no vertex has any.
    """

    kind: str
    points: tuple[Triple, ...]
    attributes: tuple[Attribute, ...] = ()
    marks: tuple[tuple[Attribute, ...], ...] = ()
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Knots:
    """``[KV …]``, or ``[KVP …]`` of a periodic direction, whose first order − 1 points stand for its last ones too."""

    values: Numbers
    periodic: bool = False


@dataclass(frozen=True, slots=True)
class Freeform:
    """A curve, a surface, or an object of more parameters, by control points.

    Attributes
    ----------
    kind : str
        ``CURVE``, ``SURFACE``, ``TRISRF``, ``TRIVAR`` or ``MULTIVAR``.
    basis : str
        ``BEZIER`` or ``BSPLINE``.
    lengths, orders : tuple of int
        Number of control points and order (degree + 1) along each parameter.
    space : str
        ``E1`` … ``E9``, or rational ``P1`` … ``P9``, whose points are (w, w x, w y …).
    knots : tuple of Knots
        Of a B-spline.
    points : tuple of tuple of float
        The first parameter runs fastest.
    marks : tuple of tuple of Attribute
        Attributes of each control point; empty where none has any.
    """

    kind: str
    basis: str
    lengths: tuple[int, ...]
    orders: tuple[int, ...]
    space: str
    knots: tuple[Knots, ...]
    points: tuple[Numbers, ...]
    attributes: tuple[Attribute, ...] = ()
    location: Location = field(default=NOWHERE, compare=False)
    marks: tuple[tuple[Attribute, ...], ...] = ()


Curves = tuple[Freeform, ...]


@dataclass(frozen=True, slots=True)
class Trimmed:
    """``[TRIMSRF …]``: the part of a surface inside loops of curves, of which each segment may have two.

    Attributes
    ----------
    surface : Freeform
    loops : tuple of loops
        Each of segments, each of a curve in the plane of the parameters and at times one in space.
    """

    surface: Freeform
    loops: tuple[tuple[Curves, ...], ...]
    attributes: tuple[Attribute, ...] = ()
    location: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ModelSurface:
    """``[MDLTSRF k surface [MDLLOOP ±segment …] …]``: segments count from 1; a minus turns one round."""

    number: int
    surface: Freeform
    loops: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class ModelSegment:
    """``[MDLTSEG kind left right curves]``: the border between two surfaces, which count from 1; 0 is none."""

    numbers: tuple[int, ...]
    curves: Curves


@dataclass(frozen=True, slots=True)
class SolidModel:
    """``[MODEL surfaces segments …]``: trimmed surfaces that share their borders."""

    surfaces: tuple[ModelSurface, ...]
    segments: tuple[ModelSegment, ...]
    attributes: tuple[Attribute, ...] = ()
    location: Location = field(default=NOWHERE, compare=False)


Item = (
    Number | Text | Point | Vector | Plane | ControlPoint | Matrix | Instance | Poly | Freeform | Trimmed | SolidModel
)


VALUES: dict[type, str] = {
    Number: "NUMBER", Text: "STRING", Point: "POINT", Vector: "VECTOR", Plane: "PLANE", ControlPoint: "CTLPT",
    Matrix: "MATRIX",
}  # fmt: skip
"""Kinds of items of which an object has one, and their keywords."""


def family_of(item: Item) -> str:
    """Family of an item: ``POLYGON`` for polygons and the like, else its keyword. Families are not mixed."""
    if isinstance(item, Poly):
        return "POLYGON"
    if isinstance(item, Freeform):
        return item.kind
    if isinstance(item, Trimmed):
        return "TRIMSRF"
    if isinstance(item, SolidModel):
        return "MODEL"
    return "INSTANCE" if isinstance(item, Instance) else VALUES[type(item)]


@dataclass(frozen=True, slots=True)
class IritObject:
    """``[OBJECT attributes NAME items]``.

    Attributes
    ----------
    name : str
        In upper case; ``NONE`` of an object without one.
    items : tuple
        Objects, of a list; else records of geometry, or a single value.
    """

    name: str
    items: tuple[IritObject | Item, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    location: Location = field(default=NOWHERE, compare=False)

    @property
    def is_list(self) -> bool:
        """Whether it contains objects, or nothing."""
        return not self.items or isinstance(self.items[0], IritObject)

    @property
    def members(self) -> tuple[IritObject, ...]:
        """Objects that it holds."""
        return tuple(item for item in self.items if isinstance(item, IritObject))

    @property
    def value(self) -> Item | None:
        """Its single item other than an object; None if there are none or several."""
        only = self.items[0] if len(self.items) == 1 else None
        return None if isinstance(only, IritObject) else only

    def walk(self) -> Iterator[IritObject]:
        """Give it and all objects below it, attributes' values left out."""
        waiting = [self]
        while waiting:
            item = waiting.pop()
            yield item
            waiting.extend(reversed(item.members))


@dataclass(frozen=True, slots=True, repr=False)
class IritFile:
    """Contents of an IRIT file: objects of a data file, or those that a script creates.

    Attributes
    ----------
    objects : tuple of IritObject
        Top-level objects.
    path : str
        The file.
    """

    objects: tuple[IritObject, ...]
    path: str = field(default="", compare=False)

    __repr__ = brief
