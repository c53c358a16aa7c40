"""Transformation matrices for row vectors; angles in degrees."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cbsim.arrays import Floats
from cbsim.formats.irit.script.functions.function import Arguments, Function, number, place
from cbsim.formats.irit.script.values import Trouble, Value
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import norm, times
from cbsim.spec.irit.objects import Matrix

__all__ = ["TRANSFORMS", "about", "towards"]

AXES = np.eye(3)


def _value(matrix: Floats) -> Value:
    if not np.isfinite(matrix).all():
        raise Trouble("E063", "the matrix holds what is no number")
    return Value(Matrix(tuple(matrix.ravel().tolist())))


def _with(rotation: Floats, shift: Floats | None = None) -> Floats:
    matrix = np.eye(4)
    matrix[:3, :3] = rotation
    if shift is not None:
        matrix[3, :3] = shift
    return matrix


def about(axis: Floats, degrees: float) -> Floats:
    """Matrix (3, 3) for row vectors that turns counter-clockwise about a unit axis (Rodrigues)."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = math.radians(degrees)
    rotation = np.eye(3) + math.sin(angle) * cross + times((1.0 - math.cos(angle)) * cross, cross)
    return np.asarray(rotation.T)


def towards(direction: Floats) -> Floats:
    """Matrix (3, 3) for row vectors that turns z into a unit direction."""
    helper = AXES[int(np.argmin(np.abs(direction)))]
    x = np.cross(helper, direction)
    x /= norm(x)
    return np.stack([x, np.cross(direction, x), direction])


def _unit(arguments: Arguments, k: int) -> Floats:
    vector = place(arguments, k)
    length = float(norm(vector))
    if not length:
        raise Trouble("E063", "a vector of length 0 has no direction")
    return vector / length


def _trans(_machine: object, arguments: Arguments) -> Value:
    return _value(_with(np.eye(3), place(arguments, 0)))


def _scale(_machine: object, arguments: Arguments) -> Value:
    return _value(_with(np.diag(place(arguments, 0))))


def _turn(axis: int) -> Callable[[object, Arguments], Value]:
    return lambda _machine, arguments: _value(_with(about(AXES[axis], number(arguments, 0))))


def _shift(axis: int) -> Callable[[object, Arguments], Value]:
    return lambda _machine, arguments: _value(_with(np.eye(3), AXES[axis] * number(arguments, 0)))


def _stretch(axes: Floats) -> Callable[[object, Arguments], Value]:
    return lambda _machine, arguments: _value(_with(np.diag(1.0 + axes * (number(arguments, 0) - 1.0))))


def _rotvec(_machine: object, arguments: Arguments) -> Value:
    return _value(_with(about(_unit(arguments, 0), number(arguments, 1))))


def _rotz2v(_machine: object, arguments: Arguments) -> Value:
    return _value(_with(towards(_unit(arguments, 0))))


def _homomat(_machine: object, arguments: Arguments) -> Value:
    rows = arguments[0].data
    found: list[list[float]] = []
    for row in rows if isinstance(rows, list) else ():
        members = row.data if isinstance(row.data, list) else ()
        found.append([item.data for item in members if isinstance(item.data, float)])
    if [len(row) for row in found] != [4, 4, 4, 4]:
        raise Trouble("E063", "homomat takes a list of four lists of four numbers")
    return _value(np.array(found))


def _one(name: str, call: Callable[[object, Arguments], Value], usage: str) -> Function:
    return Function(name, call, (1, 1), f"{name}({usage})")


TRANSFORMS = (
    _one("trans", _trans, "vector"),
    _one("scale", _scale, "vector"),
    _one("rotz2v", _rotz2v, "direction"),
    Function("rotvec", _rotvec, (2, 2), "rotvec(axis, degrees)"),
    _one("homomat", _homomat, "list of 4 lists"),
    *(_one(f"rot{'xyz'[k]}", _turn(k), "degrees") for k in range(3)),
    *(_one(f"r{'xyz'[k]}", _turn(k), "degrees") for k in range(3)),
    *(_one(f"t{'xyz'[k]}", _shift(k), "length") for k in range(3)),
    *(_one(f"s{'xyz'[k]}", _stretch(AXES[k]), "factor") for k in range(3)),
    _one("sc", _stretch(np.ones(3)), "factor"),
)
