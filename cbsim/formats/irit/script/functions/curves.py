"""Freeform curves and surfaces: of control points, circles, sweeps; and points on them."""

from __future__ import annotations

import itertools
import math

import numpy as np

from cbsim.arrays import Floats
from cbsim.formats.irit import splines
from cbsim.formats.irit.freeform import HIGHEST
from cbsim.formats.irit.planes import newell
from cbsim.formats.irit.script.constants import KNOTS, SPACES
from cbsim.formats.irit.script.functions.function import Arguments, Function, flag, number, place, triple
from cbsim.formats.irit.script.values import Data, Shape, Trouble, Value, kind_of, moved, xyz_of
from cbsim.geometry.linear import norm, times
from cbsim.spec.irit.objects import ControlPoint, Freeform, Knots, Poly

__all__ = ["CURVES"]

Rows = tuple[tuple[float, ...], ...]
HALF = math.sqrt(0.5)
CIRCLE = tuple(  # of radius 1 in the plane z = 0: (w, w x, w y) of nine points, counter-clockwise
    (w, w * x, w * y)
    for w, x, y in (
        (1.0, 1.0, 0.0), (HALF, 1.0, 1.0), (1.0, 0.0, 1.0), (HALF, -1.0, 1.0), (1.0, -1.0, 0.0), (HALF, -1.0, -1.0),
        (1.0, 0.0, -1.0), (HALF, 1.0, -1.0), (1.0, 1.0, 0.0),
    )
)  # fmt: skip
QUARTERS = Knots((0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 4.0))
CUBIC = Knots((0.0,) * 4 + (1.0,) * 3 + (2.0,) * 3 + (3.0,) * 3 + (4.0,) * 4)
MAGIC = 4.0 / 3.0 * (math.sqrt(2.0) - 1.0)  # handles of a cubic that is nearly a quarter of a circle


def _members(value: Value, what: str) -> list[Value]:
    if not isinstance(value.data, list):
        raise Trouble("E063", f"{what} is a {kind_of(value.data)}, expected a list")
    return value.data


def _controls(values: list[Value]) -> tuple[str, Rows]:
    """Kind and rows of control points, all made of the widest kind among them."""
    if not values:
        raise Trouble("E043", "there are no control points")
    points = []
    for value in values:
        data = value.data
        if isinstance(data, ControlPoint):
            points.append(data)
        elif (xyz := xyz_of(data)) is not None:
            points.append(ControlPoint("E3", tuple(float(v) for v in xyz)))
        else:
            raise Trouble("E063", f"a {kind_of(data)} is no control point")
    rational = any(point.kind[0] == "P" for point in points)
    size = max(int(point.kind[1]) for point in points)
    rows = []
    for point in points:
        weight, plain = (point.numbers[:1], point.numbers[1:]) if point.kind[0] == "P" else ((1.0,), point.numbers)
        wide = plain + (0.0,) * (size - len(plain))
        rows.append((*weight, *wide) if rational else wide)
    return f"{'P' if rational else 'E'}{size}", tuple(rows)


def _knots(data: Data, length: int, order: int) -> Knots:
    """Knots of a list of numbers, or of the constant that stands for them, in a list or not."""
    if isinstance(data, list):
        values = [item.data for item in data]
        if len(values) == 1 and values[0] in KNOTS.values():
            return _knots(values[0], length, order)
        if not all(isinstance(value, float) for value in values):
            raise Trouble("E063", "knots are numbers")
        numbers = tuple(float(value) for value in values if isinstance(value, float))
        if len(numbers) != length + order:
            raise Trouble("E046", f"{len(numbers)} knots, expected {length + order}")
        if any(b < a for a, b in itertools.pairwise(numbers)):
            raise Trouble("E046", "the knots decrease")
        if not numbers[order - 1] < numbers[length]:
            raise Trouble("E046", f"knot {order} is not below knot {length + 1}")
        return Knots(numbers)
    if data == KNOTS["kv_open"]:
        inner = tuple(float(k) for k in range(1, length - order + 1))
        return Knots((0.0,) * order + inner + (length - order + 1.0,) * order)
    if data == KNOTS["kv_float"]:
        return Knots(tuple(float(k) for k in range(length + order)))
    if data == KNOTS["kv_periodic"]:
        return Knots(tuple(float(k) for k in range(length + 2 * order - 1)), periodic=True)
    raise Trouble("E063", "expected knots: a list of numbers, or KV_OPEN, KV_FLOAT, KV_PERIODIC")


def _order(value: float, length: int) -> int:
    if value != round(value) or not 1 <= value <= min(length, HIGHEST):
        raise Trouble("E047", f"the order is {value:g}, expected 1 to the number of control points, {length}")
    return round(value)


def _curve(space: str, rows: Rows, order: int, knots: Knots | None) -> Value:
    basis = "BEZIER" if knots is None else "BSPLINE"
    return Value(Shape((Freeform("CURVE", basis, (len(rows),), (order,), space, (knots,) if knots else (), rows),)))


def _cbezier(_machine: object, arguments: Arguments) -> Value:
    space, rows = _controls(_members(arguments[0], "argument 1"))
    return _curve(space, rows, _order(float(len(rows)), len(rows)), None)


def _cbspline(_machine: object, arguments: Arguments) -> Value:
    space, rows = _controls(_members(arguments[1], "argument 2"))
    order = _order(number(arguments, 0), len(rows))
    return _curve(space, rows, order, _knots(arguments[2].data, len(rows), order))


def _mesh(value: Value) -> tuple[str, Rows, int, int]:
    """Control points of a surface as a list of rows: each row is along the first parameter, as in IRIT's manual."""
    lists = [_members(item, "a row of control points") for item in _members(value, "the control mesh")]
    if not lists or any(len(row) != len(lists[0]) for row in lists):
        raise Trouble("E043", "the lists of control points are not equally long")
    space, rows = _controls([point for row in lists for point in row])
    return space, rows, len(lists[0]), len(lists)


def _sbezier(_machine: object, arguments: Arguments) -> Value:
    space, rows, nu, nv = _mesh(arguments[0])
    sizes = _order(float(nu), nu), _order(float(nv), nv)
    return Value(Shape((Freeform("SURFACE", "BEZIER", (nu, nv), sizes, space, (), rows),)))


def _sbspline(_machine: object, arguments: Arguments) -> Value:
    space, rows, nu, nv = _mesh(arguments[2])
    orders = _order(number(arguments, 0), nu), _order(number(arguments, 1), nv)
    given = _members(arguments[3], "argument 4")
    if len(given) != 2:
        raise Trouble("E046", f"a surface has 2 knot vectors, not {len(given)}")
    knots = tuple(_knots(item.data, n, order) for item, n, order in zip(given, (nu, nv), orders, strict=True))
    return Value(Shape((Freeform("SURFACE", "BSPLINE", (nu, nv), orders, space, knots, rows),)))


# --- circles ----------------------------------------------------------------------------------------------------------
def _placed(rows: Floats, centre: Floats, radius: float) -> Rows:
    """Move and scale homogeneous rows (w, w x, w y, w z)."""
    made = rows.copy()
    made[:, 1:] = radius * rows[:, 1:] + rows[:, :1] * centre
    return tuple(map(tuple, made.tolist()))


def _radius(arguments: Arguments) -> float:
    radius = number(arguments, 1)
    if not radius > 0.0:
        raise Trouble("E063", f"the radius is {radius:g}, expected more than 0")
    return radius


def _circle(_machine: object, arguments: Arguments) -> Value:
    rows = np.concatenate([np.array(CIRCLE), np.zeros((9, 1))], axis=1)
    return _curve("P3", _placed(rows, place(arguments, 0), _radius(arguments)), 3, QUARTERS)


def _pcircle(_machine: object, arguments: Arguments) -> Value:
    corners = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (1.0, 0.0)])
    rows = [corners[0]]
    for k in range(4):
        a, b = corners[k], corners[k + 1]
        rows += [a + MAGIC * b, b + MAGIC * a, b]
    flat = np.concatenate([np.ones((13, 1)), np.array(rows), np.zeros((13, 1))], axis=1)
    placed = _placed(flat, place(arguments, 0), _radius(arguments))
    return _curve("E3", tuple(row[1:] for row in placed), 4, CUBIC)


def _arc(_machine: object, arguments: Arguments) -> Value:
    """Arc of less than half a circle from a start about a centre to an end."""
    start, centre, end = (place(arguments, k) for k in range(3))
    radius = float(norm(start - centre))
    middle = start + end - 2.0 * centre
    cosine = float(norm(middle)) / (2.0 * radius) if radius else 0.0
    if not 1e-6 < cosine <= 1.0 + 1e-9:
        raise Trouble("E063", "an arc is less than half a circle, between points as far from its centre")
    corner = centre + middle / norm(middle) * radius / cosine
    rows = ((1.0, *start), (cosine, *(cosine * corner)), (1.0, *end))
    return _curve("P3", tuple(tuple(float(v) for v in row) for row in rows), 3, None)


# --- sweeps -----------------------------------------------------------------------------------------------------------
def _one_curve(value: Value) -> Freeform:
    data = value.data
    if isinstance(data, Shape) and len(data.items) == 1:
        item = data.items[0]
        if isinstance(item, Freeform) and item.kind == "CURVE":
            return item
        if isinstance(item, Poly) and item.kind == "POLYLINE":
            return _through(item)
    raise Trouble("E063", f"a {kind_of(data)} is no curve")


def _through(line: Poly) -> Freeform:
    rows = tuple(tuple(point) for point in line.points)
    knots = _knots(KNOTS["kv_open"], len(rows), 2)
    return Freeform("CURVE", "BSPLINE", (len(rows),), (2,), "E3", (knots,), rows)


def _spatial(curve: Freeform) -> Freeform:
    """Make a curve one of space."""
    value = moved(Value(Shape((curve,))), np.eye(4)).data
    assert isinstance(value, Shape)
    made = value.items[0]
    assert isinstance(made, Freeform)
    return made


def _together(curves: list[Freeform]) -> tuple[str, list[Rows]]:
    """Control points of curves that run alike, in one kind of points."""
    first = curves[0]
    for curve in curves[1:]:
        if (curve.basis, curve.lengths, curve.orders, curve.knots) != (
            first.basis, first.lengths, first.orders, first.knots,
        ):  # fmt: skip
            raise Trouble("E063", "the curves differ in order, points or knots: they cannot be put together here")
    flat = [Value(ControlPoint(curve.space, row)) for curve in map(_spatial, curves) for row in curve.points]
    space, rows = _controls(flat)
    size = first.lengths[0]
    return space, [rows[k : k + size] for k in range(0, len(rows), size)]


def _lofted(curves: list[Freeform], order: int, knots: Knots) -> Value:
    space, rows = _together(curves)
    first = curves[0]
    own = first.knots[0] if first.knots else _knots([Value(v) for v in _ends(first.lengths[0])], *first.lengths * 2)
    points = tuple(point for row in rows for point in row)
    sizes, orders = (first.lengths[0], len(curves)), (first.orders[0], order)
    return Value(Shape((Freeform("SURFACE", "BSPLINE", sizes, orders, space, (own, knots), points),)))


def _ends(length: int) -> tuple[float, ...]:
    return (0.0,) * length + (1.0,) * length


def _sfromcrvs(_machine: object, arguments: Arguments) -> Value:
    curves = [_one_curve(item) for item in _members(arguments[0], "argument 1")]
    if len(curves) < 2:
        raise Trouble("E043", "a surface needs two curves at least")
    order = _order(min(number(arguments, 1), float(len(curves))), len(curves))
    data: Data = arguments[2].data if len(arguments) > 2 else KNOTS["kv_open"]
    return _lofted(curves, order, _knots(data, len(curves), order))


def _ruledsrf(_machine: object, arguments: Arguments) -> Value:
    return _lofted([_one_curve(arguments[k]) for k in (0, 1)], 2, Knots((0.0, 0.0, 1.0, 1.0)))


def _planesrf(_machine: object, arguments: Arguments) -> Value:
    x1, y1, x2, y2 = (number(arguments, k) for k in range(4))
    rows = ((x1, y1, 0.0), (x2, y1, 0.0), (x1, y2, 0.0), (x2, y2, 0.0))
    return Value(Shape((Freeform("SURFACE", "BEZIER", (2, 2), (2, 2), "E3", (), rows),)))


def _surfrev(_machine: object, arguments: Arguments) -> Value:
    """Turn a curve in the plane of x and z about z: a rational surface that is round exactly."""
    curve = _spatial(_one_curve(arguments[0]))
    rational = curve.space[0] == "P"
    rows = [(row if rational else (1.0, *row))[:4] for row in curve.points]
    points = [
        (w * v, v * (x * a - y * b), v * (x * b + y * a), v * z)
        for w, x, y, z in rows
        for v, a, b in ((row[0], row[1] / row[0], row[2] / row[0]) for row in CIRCLE)
    ]
    own = curve.knots[0] if curve.knots else Knots(_ends(curve.lengths[0]))
    sizes, orders = (9, curve.lengths[0]), (3, curve.orders[0])
    surface = Freeform("SURFACE", "BSPLINE", sizes, orders, "P3", (QUARTERS, own), tuple(points))
    return Value(Shape((surface,)))


def _extrude(_machine: object, arguments: Arguments) -> Value:
    """Sweep a polygon along a vector to a solid, a curve or polyline to a surface."""
    data, vector = arguments[0].data, place(arguments, 1)
    if not isinstance(data, Shape):
        raise Trouble("E063", f"a {kind_of(data)} cannot be extruded")
    found: list[Poly | Freeform] = []
    for item in data.items:
        if isinstance(item, Poly) and item.kind == "POLYGON":
            found += _prism(np.array(item.points), vector, flag(arguments, 2, 3.0))
        else:
            curve = _spatial(_one_curve(Value(Shape((item,)))))
            shift = np.eye(4)
            shift[3, :3] = vector
            other = moved(Value(Shape((curve,))), shift)
            ruled = _lofted([curve, _one_curve(other)], 2, Knots((0.0, 0.0, 1.0, 1.0))).data
            assert isinstance(ruled, Shape)
            found += [part for part in ruled.items if isinstance(part, Freeform)]
    return Value(Shape(tuple(found)), dict(arguments[0].attributes))


def _prism(points: Floats, vector: Floats, caps: float) -> list[Poly]:
    """Solid of a polygon moved along a vector, normals inwards."""
    if float(times(newell(points), vector)) < 0.0:
        points = points[::-1]
    after = np.roll(points, -1, axis=0)
    sides = [np.array([a, a + vector, b + vector, b]) for a, b in zip(points, after, strict=True)]
    sides += [points] if int(caps) & 1 else []
    sides += [(points + vector)[::-1]] if int(caps) & 2 else []
    return [Poly("POLYGON", tuple(map(triple, side))) for side in sides if newell(side).any()]


# --- points of them ---------------------------------------------------------------------------------------------------
def _at(item: Freeform, parameters: list[float]) -> Value:
    for at, direction in zip(parameters, splines.directions(item), strict=True):
        low, high = direction.domain
        if not low - 1e-9 <= at <= high + 1e-9:
            raise Trouble("E063", f"the parameter {at:g} is outside {low:g} to {high:g}")
    found = splines.evaluate(item, *(np.array([at]) for at in parameters)).reshape(3)
    return Value(ControlPoint("E3", tuple(float(v) for v in found)))


def _ceval(_machine: object, arguments: Arguments) -> Value:
    return _at(_one_curve(arguments[0]), [number(arguments, 1)])


def _one_surface(value: Value) -> Freeform:
    data = value.data
    if isinstance(data, Shape) and len(data.items) == 1:
        item = data.items[0]
        if isinstance(item, Freeform) and item.kind == "SURFACE":
            return item
    raise Trouble("E063", f"a {kind_of(data)} is no surface")


def _seval(_machine: object, arguments: Arguments) -> Value:
    return _at(_one_surface(arguments[0]), [number(arguments, 1), number(arguments, 2)])


def _pdomain(_machine: object, arguments: Arguments) -> Value:
    data = arguments[0].data
    if isinstance(data, Shape) and len(data.items) == 1 and isinstance(data.items[0], Freeform):
        return Value([Value(end) for one in splines.directions(data.items[0]) for end in one.domain])
    raise Trouble("E063", f"a {kind_of(data)} has no parameters")


def _gpolyline(_machine: object, arguments: Arguments) -> Value:
    data = arguments[0].data
    if not isinstance(data, Shape):
        raise Trouble("E063", f"a {kind_of(data)} has no curves")
    lines = []
    for item in data.items:
        points = splines.grid(_one_curve(Value(Shape((item,)))), 8)[1]
        lines.append(Poly("POLYLINE", tuple(map(triple, points))))
    return Value(Shape(tuple(lines)), dict(arguments[0].attributes))


def _kinds(_machine: object, arguments: Arguments) -> Value:
    """Kind of points of freeform geometry."""
    data = arguments[0].data
    if isinstance(data, Shape) and data.items and isinstance(data.items[0], Freeform):
        return Value(SPACES[data.items[0].space])
    raise Trouble("E063", f"a {kind_of(data)} has no control points")


def _ffctlpts(_machine: object, arguments: Arguments) -> Value:
    data = arguments[0].data
    if isinstance(data, Shape) and data.items and isinstance(data.items[0], Freeform):
        item = data.items[0]
        return Value([Value(ControlPoint(item.space, row)) for row in item.points])
    raise Trouble("E063", f"a {kind_of(data)} has no control points")


CURVES = (
    Function("cbezier", _cbezier, (1, 1), "cbezier(list of control points)"),
    Function("cbspline", _cbspline, (3, 3), "cbspline(order, list of control points, knots)"),
    Function("sbezier", _sbezier, (1, 1), "sbezier(list of lists of control points)"),
    Function("sbspline", _sbspline, (4, 4), "sbspline(order, order, list of lists of control points, list of knots)"),
    Function("circle", _circle, (2, 2), "circle(centre, radius)"),
    Function("pcircle", _pcircle, (2, 2), "pcircle(centre, radius)"),
    Function("arc", _arc, (3, 3), "arc(start, centre, end)"),
    Function("extrude", _extrude, (2, 3), "extrude(geometry, vector, caps)"),
    Function("surfrev", _surfrev, (1, 1), "surfrev(profile)"),
    Function("ruledsrf", _ruledsrf, (2, 2), "ruledsrf(curve, curve)"),
    Function("sfromcrvs", _sfromcrvs, (2, 3), "sfromcrvs(list of curves, order, knots)"),
    Function("planesrf", _planesrf, (4, 4), "planesrf(x, y, x, y)"),
    Function("ceval", _ceval, (2, 2), "ceval(curve, parameter)"),
    Function("seval", _seval, (3, 3), "seval(surface, parameter, parameter)"),
    Function("pdomain", _pdomain, (1, 1), "pdomain(geometry)"),
    Function("gpolyline", _gpolyline, (1, 2), "gpolyline(curves, optimal)"),
    Function("ffptype", _kinds, (1, 1), "ffptype(geometry)"),
    Function("ffctlpts", _ffctlpts, (1, 1), "ffctlpts(geometry)"),
)
