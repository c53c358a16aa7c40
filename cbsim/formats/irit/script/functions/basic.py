"""Numbers, and constructors of the simplest values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cbsim.formats.irit.polygons import polygon
from cbsim.formats.irit.script.constants import SPACES
from cbsim.formats.irit.script.functions.function import Arguments, Function, number, place, triple
from cbsim.formats.irit.script.values import Trouble, Value, geometry
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import norm
from cbsim.spec.irit.objects import ControlPoint, Plane, Point, Poly, Vector

__all__ = ["BASIC"]

REAL: dict[str, tuple[Callable[..., float], int]] = {
    "sin": (math.sin, 1), "cos": (math.cos, 1), "tan": (math.tan, 1), "asin": (math.asin, 1), "acos": (math.acos, 1),
    "atan": (math.atan, 1), "atan2": (math.atan2, 2), "sqrt": (math.sqrt, 1), "sqr": (lambda x: x * x, 1),
    "abs": (abs, 1), "exp": (math.exp, 1), "ln": (math.log, 1), "log": (math.log10, 1), "power": (math.power, 2),
    "floor": (math.floor, 1), "min": (min, 2), "max": (max, 2), "fmod": (math.fmod, 2),
}  # fmt: skip


def _real(name: str, work: Callable[..., float], count: int) -> Function:
    def call(_machine: object, arguments: Arguments) -> Value:
        given = [number(arguments, k) for k in range(count)]
        try:
            made = float(work(*given))
        except (ValueError, OverflowError):
            made = math.nan
        if not math.isfinite(made):
            raise Trouble("E063", f"{name}({', '.join(f'{v:g}' for v in given)}) is no number")
        return Value(made)

    return Function(name, call, (count, count), f"{name}({', '.join('xy'[:count])})")


def _point(_machine: object, arguments: Arguments) -> Value:
    return Value(Point(triple(np.array([number(arguments, k) for k in range(3)]))))


def _vector(_machine: object, arguments: Arguments) -> Value:
    return Value(Vector(triple(np.array([number(arguments, k) for k in range(3)]))))


def _plane(_machine: object, arguments: Arguments) -> Value:
    return Value(Plane(tuple(number(arguments, k) for k in range(4))))


def _control_point(_machine: object, arguments: Arguments) -> Value:
    code = number(arguments, 0)
    kind = next((name for name, value in SPACES.items() if value == code), None)
    if kind is None:
        raise Trouble("E063", "argument 1 is no kind of point, E1 … E9 or P1 … P9")
    size = int(kind[1]) + (kind[0] == "P")
    values = tuple(number(arguments, k) for k in range(1, len(arguments)))
    if len(values) != size:
        raise Trouble("E063", f"a control point {kind} has {size} numbers, not {len(values)}")
    if kind[0] == "P" and values[0] <= 0.0:
        raise Trouble("E048", f"the weight is {values[0]:g}, expected more than 0")
    return Value(ControlPoint(kind, values))


def _normalize(_machine: object, arguments: Arguments) -> Value:
    values = place(arguments, 0)
    length = float(norm(values))
    if not length:
        raise Trouble("E063", "a vector of length 0 has no direction")
    kind = Point if isinstance(arguments[0].data, Point) else Vector
    return Value(kind(triple(values / length)))


def _area(_machine: object, arguments: Arguments) -> Value:
    a, b, c = _triangles(arguments)
    return Value(float(0.5 * norm(np.cross(b - a, c - a), axis=1).sum()))


def _volume(_machine: object, arguments: Arguments) -> Value:
    a, b, c = _triangles(arguments)
    return Value(abs(float(np.einsum("ij,ij->", a, np.cross(b, c)))) / 6.0)


def _triangles(arguments: Arguments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    items = geometry(arguments[0])
    if not all(isinstance(item, Poly) for item in items):
        raise Trouble("E063", "only polygons have an area and a volume here; gpolygon makes some")
    found = [np.zeros((0, 3, 3))]
    found += [polygon(np.array(p.points)) for p in items if isinstance(p, Poly) and p.kind == "POLYGON"]
    a, b, c = np.concatenate(found).swapaxes(0, 1)
    return a, b, c


BASIC = (
    *(_real(name, *row) for name, row in REAL.items()),
    Function("point", _point, (3, 3), "point(x, y, z)"),
    Function("vector", _vector, (3, 3), "vector(x, y, z)"),
    Function("plane", _plane, (4, 4), "plane(a, b, c, d)"),
    Function("ctlpt", _control_point, (2, 11), "ctlpt(kind, numbers …)"),
    Function("normalize", _normalize, (1, 1), "normalize(vector)"),
    Function("area", _area, (1, 1), "area(polygons)"),
    Function("volume", _volume, (1, 1), "volume(polygons)"),
)
