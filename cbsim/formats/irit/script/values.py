"""Values of a script: numbers, texts, points, matrices, geometry, lists; each with attributes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import Location
from cbsim.formats.irit.planes import newell
from cbsim.formats.irit.script.grammar import Routine
from cbsim.formats.irit.tokens import LARGEST
from cbsim.geometry.linear import det, inv, times
from cbsim.spec.irit.objects import (
    Attribute,
    ControlPoint,
    Freeform,
    IritObject,
    Item,
    Matrix,
    Number,
    Plane,
    Point,
    Poly,
    SolidModel,
    Text,
    Trimmed,
    Vector,
    family_of,
)
from cbsim.spec.objects import Triple

__all__ = [
    "LARGEST",
    "Data",
    "Shape",
    "Trouble",
    "Value",
    "geometry",
    "kind_of",
    "moved",
    "object_of",
    "weigh",
    "xyz_of",
]

NOWHERE = Location("")
DEEPEST = 60  # lists in one another; what reads them goes into them by itself


class Trouble(Exception):  # noqa: N818 (an event of the machine, which makes a Problem of it)
    """Why a script cannot continue.

    Attributes
    ----------
    code, message, hint : str
        Of the problem; an empty code says that it has been reported.
    place : Location or None
        Where, if not where the machine is.
    """

    def __init__(self, code: str, message: str, hint: str = "", place: Location | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.hint, self.place = code, message, hint, place


@dataclass(frozen=True, slots=True)
class Shape:
    """Polygons, or freeform geometry.

    Attributes
    ----------
    items : tuple of Poly, Freeform, Trimmed or SolidModel
    """

    items: tuple[Poly | Freeform | Trimmed | SolidModel, ...]


Data = float | str | Point | Vector | Plane | ControlPoint | Matrix | Shape | list["Value"] | Routine


@dataclass(slots=True, eq=False)
class Value:
    """A value of a script.

    Attributes
    ----------
    data : Data
    attributes : dict
        Name → attribute.
    place : Location
        Where it was made.
    weight : int
        How many numbers it and all below it hold, roughly.
    """

    data: Data
    attributes: dict[str, Attribute] = field(default_factory=dict)
    place: Location = NOWHERE
    weight: int = 0

    def copied(self) -> Value:
        """Copy it as an assignment does: a list has its own members then, which stay the same values."""
        data = list(self.data) if isinstance(self.data, list) else self.data
        return Value(data, dict(self.attributes), self.place, self.weight)


KINDS: dict[type, str] = {
    float: "number", str: "text", Point: "point", Vector: "vector", Plane: "plane", ControlPoint: "control point",
    Matrix: "matrix", Shape: "geometry", list: "list", Routine: "function",
}  # fmt: skip


def kind_of(data: Data) -> str:
    """Name a kind of value, for messages."""
    return KINDS[type(data)]


def xyz_of(data: Data) -> Floats | None:
    """Coordinates (3,) of a point, vector or control point; None of anything else."""
    return np.array(data.xyz) if isinstance(data, (Point, Vector, ControlPoint)) else None


def weigh(value: Value) -> int:
    """Tell how many numbers a value and all below it hold, roughly, and see that new ones are within bounds."""
    data = value.data
    if isinstance(data, str):
        return 1 + len(data) // 8
    if isinstance(data, list):
        for item in data:
            item.weight = item.weight or weigh(item)
        return 1 + sum(item.weight for item in data)
    if not value.weight and not _is_sound(data):
        raise Trouble("E063", f"the {kind_of(data)} holds what is no number, or is beyond ±{LARGEST:g}")
    return 1 + sum(map(_weight, data.items)) if isinstance(data, Shape) else 4


def _is_sound(data: Data) -> bool:
    """Return whether all coordinates are numbers that a data file may hold."""
    if isinstance(data, Shape):
        return all(_is_sound_item(item) for item in data.items)
    if isinstance(data, (Point, Vector)):
        return _are_sound((data.xyz,))
    return not isinstance(data, (Plane, ControlPoint, Matrix)) or _are_sound((data.numbers,))


def _is_sound_item(item: Poly | Freeform | Trimmed | SolidModel) -> bool:
    if isinstance(item, Trimmed):
        return _is_sound_item(item.surface)
    return isinstance(item, SolidModel) or _are_sound(item.points)


def _are_sound(rows: Iterable[Sequence[float]]) -> bool:
    return all(abs(number) <= LARGEST for row in rows for number in row)


def _weight(item: Poly | Freeform | Trimmed | SolidModel) -> int:
    if isinstance(item, Poly):
        return 4 + 4 * len(item.points)
    return 8 + 4 * len(item.points) if isinstance(item, Freeform) else 1000


def object_of(value: Value, name: str, depth: int = 0) -> IritObject:
    """Make an object of the data grammar of a value."""
    if depth > DEEPEST:
        raise Trouble("E065", f"lists are nested more than {DEEPEST} deep", place=value.place)
    attributes = tuple(value.attributes.values())
    data = value.data
    if isinstance(data, list):
        items: tuple[IritObject | Item, ...] = tuple(object_of(item, "NONE", depth + 1) for item in data)
    elif isinstance(data, Shape):
        items = _apart(data)
    elif isinstance(data, float):
        if not abs(data) <= LARGEST:
            raise Trouble("E063", f"the number {data:g} is beyond ±{LARGEST:g}", place=value.place)
        items = (Number(data),)
    elif isinstance(data, str):
        items = (Text(data),)
    else:
        items = () if isinstance(data, Routine) else (data,)
    return IritObject(name, items, attributes, value.place)


def _apart(shape: Shape) -> tuple[IritObject | Item, ...]:
    """Items of a shape; those of several kinds, which no object holds beside each other, each kind as an object."""
    kinds: dict[str, list[Item]] = {}
    for item in shape.items:
        kinds.setdefault(family_of(item), []).append(item)
    if len(kinds) < 2:
        return shape.items
    return tuple(IritObject("NONE", tuple(items)) for items in kinds.values())


def geometry(value: Value) -> list[Poly | Freeform | Trimmed | SolidModel]:
    """All geometry of a value, that of lists and their lists included."""
    found: list[Poly | Freeform | Trimmed | SolidModel] = []
    waiting = [value]
    while waiting:
        data = waiting.pop().data
        if isinstance(data, Shape):
            found += data.items
        elif isinstance(data, list):
            waiting += reversed(data)
    return found


# --- transformations --------------------------------------------------------------------------------------------------
def moved(value: Value, matrix: Floats) -> Value:
    """Transform a value by a matrix (4, 4) that row vectors are multiplied by; what has no place stays."""
    data = value.data
    made: Data = data
    if isinstance(data, list):
        made = [moved(item, matrix) for item in data]
    elif isinstance(data, (Point, Vector)):
        made = type(data)(Triple(*_points(np.array([data.xyz]), matrix)[0].tolist()))
    elif isinstance(data, ControlPoint):
        kind, rows = _homogeneous((data.numbers,), data.kind, matrix)
        made = ControlPoint(kind, rows[0])
    elif isinstance(data, Plane):
        made = Plane(tuple(times(inv(matrix), np.array(data.numbers)).tolist()))
    elif isinstance(data, Matrix):
        made = Matrix(tuple(times(np.array(data.numbers).reshape(4, 4), matrix).ravel().tolist()))
    elif isinstance(data, Shape):
        made = Shape(tuple(_moved(item, matrix) for item in data.items))
    return Value(made, dict(value.attributes), value.place)


def _points(points: Floats, matrix: Floats) -> Floats:
    placed = times(np.concatenate([points, np.ones((len(points), 1))], axis=1), matrix)
    if not (placed[:, 3] != 0.0).all():
        raise Trouble("E063", "the matrix moves points to infinity")
    return np.asarray(placed[:, :3] / placed[:, 3:])


def _moved(item: Poly | Freeform | Trimmed | SolidModel, matrix: Floats) -> Poly | Freeform | Trimmed | SolidModel:
    if isinstance(item, Poly):
        return _moved_poly(item, matrix)
    if isinstance(item, Freeform):
        space, points = _homogeneous(item.points, item.space, matrix)
        return replace(item, space=space, points=points)
    if isinstance(item, Trimmed):
        surface = _moved(item.surface, matrix)
        assert isinstance(surface, Freeform)
        return Trimmed(
            surface, tuple(tuple(c[:1] for c in loop) for loop in item.loops), item.attributes, item.location
        )
    raise Trouble("E063", "a MODEL cannot be moved by a script")


def _moved_poly(item: Poly, matrix: Floats) -> Poly:
    """Move a polygon; a mirror image is turned round, so that its normal still points inwards."""
    points = _points(np.array(item.points), matrix)
    marks = tuple(tuple(m for m in mark if m.name != "NORMAL") for mark in item.marks)
    if item.kind == "POLYGON" and det(matrix[:3, :3]) < 0.0:
        points, marks = points[::-1], marks[::-1]
    if item.kind == "POLYGON" and not newell(points).any():
        raise Trouble("E063", "the matrix makes the polygon flat: a scale of 0")
    attributes = tuple(a for a in item.attributes if a.name != "PLANE")
    rows = tuple(Triple(*row) for row in points.tolist())
    return Poly(item.kind, rows, attributes, marks if any(marks) else (), item.location)


def _homogeneous(
    points: tuple[tuple[float, ...], ...], space: str, matrix: Floats
) -> tuple[str, tuple[tuple[float, ...], ...]]:
    """Move control points (w, w x, w y, w z), those of the plane as points of space."""
    rational = space[0] == "P"
    rows = np.array(points)
    weights = rows[:, :1] if rational else np.ones((len(rows), 1))
    places = rows[:, 1:] if rational else rows
    rest = places[:, 3:]
    places = np.concatenate([places[:, :3], np.zeros((len(rows), max(0, 3 - places.shape[1])))], axis=1)
    new = times(np.concatenate([places, weights], axis=1), matrix)
    if not (new[:, 3] > 0.0).all():
        raise Trouble("E063", "the matrix moves points to infinity")
    size = max(3, int(space[1]))
    flat = np.ptp(new[:, 3]) <= 1e-12 * new[0, 3] and not rational
    if flat:
        made = np.concatenate([new[:, :3] / new[:, 3:], rest], axis=1)
        return f"E{size}", tuple(map(tuple, made.tolist()))
    made = np.concatenate([new[:, 3:], new[:, :3], rest], axis=1)
    return f"P{size}", tuple(map(tuple, made.tolist()))
