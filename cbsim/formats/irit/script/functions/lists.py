"""Lists, and parts of values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cbsim.formats.irit.script.constants import SPACES, TYPES
from cbsim.formats.irit.script.functions.function import Arguments, Function, number, text, triple
from cbsim.formats.irit.script.values import Data, Shape, Trouble, Value, kind_of, xyz_of
from cbsim.spec.irit.objects import ControlPoint, Freeform, Matrix, Plane, Point, Poly, Vector

if TYPE_CHECKING:
    from cbsim.formats.irit.script.machine import Machine

__all__ = ["LISTS"]


def _list(machine: Machine, arguments: Arguments) -> Value:
    return Value([machine.copy(item) for item in arguments])


def _nil(_machine: object, _arguments: Arguments) -> Value:
    return Value([])


def _members(arguments: Arguments, k: int) -> list[Value]:
    data = arguments[k].data
    if not isinstance(data, list):
        raise Trouble("E063", f"argument {k + 1} is a {kind_of(data)}, expected a list")
    return data


def _nth(machine: Machine, arguments: Arguments) -> Value:
    members, place = _members(arguments, 0), number(arguments, 1)
    if place != round(place) or not 1 <= place <= len(members):
        raise Trouble("E063", f"a list of {len(members)} has no member {place:g}: they count from 1")
    return machine.copy(members[round(place) - 1])


def _snoc(machine: Machine, arguments: Arguments) -> None:
    value, members = arguments[0], _members(arguments, 1)
    if value.data is members:
        raise Trouble("E063", "a list cannot be put into itself")
    members.append(machine.spend(machine.copy(value)))
    arguments[1].weight += max(1, value.weight)


def _sizeof(_machine: object, arguments: Arguments) -> Value:
    data = arguments[0].data
    if isinstance(data, list):
        return Value(float(len(data)))
    if isinstance(data, Shape):
        polys = [item for item in data.items if isinstance(item, Poly)]
        return Value(float(len(polys[0].points) if len(polys) == 1 else len(data.items)))
    if isinstance(data, str):
        return Value(float(len(data)))
    raise Trouble("E063", f"a {kind_of(data)} has no size")


def _coord(machine: Machine, arguments: Arguments) -> Value:
    """Return a coordinate; of lists a member from 1, of geometry a part, of one polygon a vertex."""
    data, place = arguments[0].data, number(arguments, 1)
    if isinstance(data, list):
        return _nth(machine, arguments)
    k = round(place)
    parts = _parts(data)
    if k != place or not 0 <= k < len(parts):
        raise Trouble("E063", f"a {kind_of(data)} has no coordinate {place:g}")
    return Value(parts[k])


def _parts(data: Data) -> list[Data]:
    if isinstance(data, (Point, Vector)):
        return list(data.xyz)
    if isinstance(data, ControlPoint):
        return list(data.numbers) if data.kind[0] == "P" else [1.0, *data.numbers]
    if isinstance(data, (Plane, Matrix)):
        return list(data.numbers)
    if isinstance(data, Shape):
        if len(data.items) > 1:
            return [Shape((item,)) for item in data.items]
        return [part for item in data.items for part in _points(item)]
    raise Trouble("E063", f"a {kind_of(data)} has no coordinates")


def _points(item: object) -> list[Data]:
    if isinstance(item, Poly):
        return [Vector(point) for point in item.points]
    if isinstance(item, Freeform):
        return [ControlPoint(item.space, point) for point in item.points]
    return []


def _coerce(_machine: object, arguments: Arguments) -> Value:
    """Turn points, vectors, planes and control points into one another."""
    data, code = arguments[0].data, number(arguments, 1)
    if isinstance(data, Shape):
        raise Trouble("E063", "geometry cannot be coerced here")
    kind = next((name for name, value in SPACES.items() if value == code), "")
    numbers = np.array(data.numbers) if isinstance(data, Plane) else xyz_of(data)
    if numbers is None:
        raise Trouble("E063", f"a {kind_of(data)} cannot be coerced")
    if kind:
        size = int(kind[1])
        row = tuple(float(v) for v in [*numbers, *[0.0] * 9][:size])
        return Value(ControlPoint(kind, row if kind[0] == "E" else (1.0, *row)))
    made: Data
    if code == TYPES["point_type"]:
        made = Point(triple(numbers[:3]))
    elif code == TYPES["vector_type"]:
        made = Vector(triple(numbers[:3]))
    elif code == TYPES["plane_type"]:
        made = Plane(tuple(float(v) for v in [*numbers, 1.0][:4]))
    else:
        raise Trouble("E063", f"a {kind_of(data)} cannot be made what is asked for")
    return Value(made)


def _this(machine: object, arguments: Arguments) -> Value:
    """Tell the type of a variable by its name."""
    value = machine.variables.get(text(arguments, 0).lower())  # type: ignore[attr-defined]
    if value is None:
        return Value(TYPES["undef_type"])
    data = value.data
    known = {float: "numeric_type", str: "string_type", Point: "point_type", Vector: "vector_type"}
    known |= {Plane: "plane_type", Matrix: "matrix_type", ControlPoint: "ctlpt_type", list: "list_type"}
    if isinstance(data, Shape):
        item = data.items[0] if data.items else None
        name = {"CURVE": "curve_type", "SURFACE": "surface_type", "TRIVAR": "trivar_type"}
        return Value(TYPES[name.get(item.kind, "poly_type") if isinstance(item, Freeform) else "poly_type"])
    return Value(TYPES[known.get(type(data), "undef_type")])


LISTS = (
    Function("list", _list, (0, 100_000), "list(values …)"),
    Function("nil", _nil, (0, 0), "nil()"),
    Function("nth", _nth, (2, 2), "nth(list, number from 1)"),
    Function("snoc", _snoc, (2, 2), "snoc(value, list)"),
    Function("sizeof", _sizeof, (1, 1), "sizeof(list)"),
    Function("coord", _coord, (2, 2), "coord(value, number)"),
    Function("coerce", _coerce, (2, 2), "coerce(point, type)"),
    Function("thisobj", _this, (1, 1), 'thisobj("name")'),
)
