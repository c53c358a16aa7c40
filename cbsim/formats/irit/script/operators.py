"""Operators of a script, which mean different things for numbers, vectors, matrices, texts, lists and geometry."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.formats.irit.script.values import Data, Shape, Trouble, Value, kind_of, moved, xyz_of
from cbsim.geometry.linear import det, inv, matrix_power, times
from cbsim.spec.irit.objects import ControlPoint, Freeform, Matrix, Plane, Point, Poly, Vector
from cbsim.spec.objects import Triple

__all__ = ["LOGIC", "binary", "matrix_of", "unary"]

BOOLEAN = {"+": "union", "-": "difference", "*": "intersection", "/": "cut"}
LOGIC = {"&&", "||", "==", "!=", "<=", ">=", "<", ">"}
ARITHMETIC: dict[str, Callable[[float, float], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": operator.pow,
}
TEXT_LIMIT = 1_000_000


def unary(sign: str, value: Value) -> Value:  # noqa: PLR0911 (one for each kind)
    """Apply ``-`` or ``!``; of geometry, ``-`` turns its sides round."""
    data = value.data
    if sign == "!":
        return Value(float(not _number(data, "!")))
    if isinstance(data, float):
        return Value(-data)
    if isinstance(data, (Point, Vector)):
        return Value(type(data)(Triple(*(-v for v in data.xyz))))
    if isinstance(data, Plane):
        return Value(Plane(tuple(-v for v in data.numbers)))
    if isinstance(data, Matrix):
        return Value(Matrix(tuple(-v for v in data.numbers)))
    if isinstance(data, Shape):
        return Value(Shape(tuple(_turned(item) for item in data.items)), dict(value.attributes))
    if isinstance(data, list):
        return Value([unary(sign, item) for item in data], dict(value.attributes))
    raise Trouble("E063", f"'-' of a {kind_of(data)} means nothing")


def _turned(item: object) -> Poly | Freeform:
    if isinstance(item, Poly):
        kept = tuple(a for a in item.attributes if a.name != "PLANE")
        marks = tuple(tuple(m for m in mark if m.name != "NORMAL") for mark in reversed(item.marks))
        return Poly(item.kind, item.points[::-1], kept, marks if any(marks) else (), item.location)
    if isinstance(item, Freeform) and item.kind in ("CURVE", "SURFACE"):
        return _reversed(item)
    raise Trouble("E063", "'-' of this geometry is not supported")


def _reversed(item: Freeform) -> Freeform:
    """Turn the first parameter of a curve or surface round."""
    from cbsim.spec.irit.objects import Knots

    size = item.lengths[0]
    order = [k + i for k in range(0, len(item.points), size) for i in reversed(range(size))]
    knots = item.knots
    if knots:
        first = knots[0]
        if first.periodic:
            raise Trouble("E063", "'-' of a periodic curve or surface is not supported")
        low, high = first.values[0], first.values[-1]
        knots = (Knots(tuple(low + high - v for v in reversed(first.values))), *knots[1:])
    points = tuple(item.points[k] for k in order)
    marks = tuple(item.marks[k] for k in order) if item.marks else ()
    return replace(item, knots=knots, points=points, marks=marks)


def binary(sign: str, a: Value, b: Value) -> Value:  # noqa: PLR0911 (one for each pair of kinds)
    """Apply an operator to two values."""
    left, right = a.data, b.data
    if sign in LOGIC:
        return Value(_logic(sign, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return Value(_arithmetic(sign, left, right))
    if isinstance(left, Shape) and isinstance(right, Shape):
        return _shapes(sign, left, right, a)
    if isinstance(right, Matrix) and sign == "*":
        return moved(a, matrix_of(right))
    if isinstance(left, Matrix):
        return _matrices(sign, left, b)
    if isinstance(left, list) and isinstance(right, list) and sign == "+":
        return Value([*left, *right], dict(a.attributes))
    if isinstance(left, str) and isinstance(right, (str, float)) and sign == "+":
        return Value(_text(left, right))
    vector = _vectors(sign, left, right)
    if vector is None:
        raise Trouble("E063", f"'{sign}' of a {kind_of(left)} and a {kind_of(right)} means nothing")
    return vector


def _text(left: str, right: str | float) -> str:
    added = f"{right:g}" if isinstance(right, float) else right
    if len(left) + len(added) > TEXT_LIMIT:
        raise Trouble("E065", f"the text is longer than {TEXT_LIMIT} letters")
    return left + added


def _number(data: Data, sign: str) -> float:
    if not isinstance(data, float):
        raise Trouble("E063", f"'{sign}' takes numbers, not a {kind_of(data)}")
    return data


def _logic(sign: str, left: Data, right: Data) -> float:
    if sign in ("&&", "||"):
        both = bool(_number(left, sign)), bool(_number(right, sign))
        return float(all(both) if sign == "&&" else any(both))
    if sign in ("==", "!="):
        return float((type(left) is type(right) and left == right) == (sign == "=="))
    if isinstance(left, str) and isinstance(right, str):
        order = (left > right) - (left < right)
        return float({"<=": order <= 0, ">=": order >= 0, "<": order < 0, ">": order > 0}[sign])
    one, other = _number(left, sign), _number(right, sign)
    return float({"<=": one <= other, ">=": one >= other, "<": one < other, ">": one > other}[sign])


def _arithmetic(sign: str, left: float, right: float) -> float:
    if sign == "/" and right == 0.0:
        raise Trouble("E063", "division by 0")
    try:
        made = ARITHMETIC[sign](left, right)
    except (OverflowError, ZeroDivisionError):
        made = math.nan
    if isinstance(made, complex) or not math.isfinite(made):
        raise Trouble("E063", f"{left:g} {sign} {right:g} is no number")
    return float(made)


def matrix_of(data: Matrix) -> Floats:
    """Return a matrix (4, 4)."""
    return np.array(data.numbers).reshape(4, 4)


def _matrices(sign: str, left: Matrix, b: Value) -> Value:
    right, first = b.data, matrix_of(left)
    made: Floats | None = None
    if isinstance(right, Matrix) and sign in "+-":
        made = first + matrix_of(right) if sign == "+" else first - matrix_of(right)
    elif isinstance(right, float) and sign == "*":
        made = first * right
    elif isinstance(right, float) and sign == "^":
        made = _power(first, right)
    elif sign == "*" and isinstance(right, (Point, Vector, ControlPoint, Plane, Shape, list)):
        return moved(b, first)
    if made is None:
        raise Trouble("E063", f"'{sign}' of a matrix and a {kind_of(right)} means nothing")
    return Value(Matrix(tuple(made.ravel().tolist())))


def _power(matrix: Floats, power: float) -> Floats:
    """Power of a matrix: −1 is its inverse, −2 its transpose."""
    if power == -2.0:
        return np.asarray(matrix.T)
    if power == -1.0:
        if abs(det(matrix)) < 1e-300:
            raise Trouble("E063", "the matrix has no inverse")
        return inv(matrix)
    if power < 0.0 or power != round(power) or power > 1000.0:
        raise Trouble("E063", f"a matrix to the power {power:g} means nothing")
    return matrix_power(matrix, round(power))


def _vectors(sign: str, left: Data, right: Data) -> Value | None:
    one, other = xyz_of(left), xyz_of(right)
    kind = Point if isinstance(left, Point) or (one is None and isinstance(right, Point)) else Vector
    made: Floats | None = None
    if isinstance(left, ControlPoint) and isinstance(right, ControlPoint) and sign == "+":
        return _line(left, right)
    if one is not None and other is not None:
        if sign == "*":
            return Value(float(times(one, other)))
        made = {"+": one + other, "-": one - other, "^": np.cross(one, other)}.get(sign)
    elif one is not None and isinstance(right, float) and sign in "*/":
        if sign == "/" and right == 0.0:
            raise Trouble("E063", "division by 0")
        made = one * right if sign == "*" else one / right
    elif other is not None and isinstance(left, float) and sign == "*":
        made = other * left
    return None if made is None else Value(kind(Triple(*made.tolist())))


def _line(left: ControlPoint, right: ControlPoint) -> Value:
    """Line between two control points."""
    if left.kind != right.kind:
        raise Trouble("E063", f"a line from a point {left.kind} to one {right.kind} means nothing")
    points = (left.numbers, right.numbers)
    return Value(Shape((Freeform("CURVE", "BEZIER", (2,), (2,), left.kind, (), points),)))


def _shapes(sign: str, left: Shape, right: Shape, a: Value) -> Value:
    if sign == "^":
        return Value(Shape((*left.items, *right.items)), dict(a.attributes))
    kind = BOOLEAN.get(sign, sign)
    text = f"Boolean operation not supported: the {kind} of two solids"
    raise Trouble("E064", text, "'^' puts them together as they are")
