"""Solids of polygons, whose normals point inwards as IRIT has them, and polygons by themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import Problems
from cbsim.formats.irit.planes import newell
from cbsim.formats.irit.script.functions.function import Arguments, Function, flag, number, place, triple
from cbsim.formats.irit.script.functions.transforms import towards
from cbsim.formats.irit.script.values import Shape, Trouble, Value, geometry, kind_of, xyz_of
from cbsim.formats.irit.tessellate import tessellate
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import det, norm, times
from cbsim.spec.irit.objects import Freeform, IritObject, Poly, SolidModel, Trimmed
from cbsim.spec.objects import Triple

__all__ = ["SOLIDS", "polygons_of"]

LARGEST = 200  # facets of a circle
FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
"""Corners of a box's faces: bit k is along edge k; from outside clockwise."""


def _shape(faces: Sequence[Floats]) -> Value:
    """Make a shape of polygons (n, 3); those without an area are left out."""
    kept = [face for face in faces if len(face) > 2 and newell(face).any()]
    return Value(Shape(tuple(Poly("POLYGON", tuple(map(triple, face))) for face in kept)))


def _facets(machine: object) -> int:
    value = machine.constant("resolution", 20.0)  # type: ignore[attr-defined]
    return int(min(max(value, 4.0), float(LARGEST)))


def _box_of(corner: Floats, edges: Sequence[Floats]) -> Value:
    corners = [corner + sum(edge * (k >> axis & 1) for axis, edge in enumerate(edges)) for k in range(8)]
    turned = det(np.array(edges)) < 0.0
    if abs(det(np.array(edges))) == 0.0:
        raise Trouble("E063", "the box has no volume")
    return _shape([np.array([corners[k] for k in (face[::-1] if turned else face)]) for face in FACES])


def _box(_machine: object, arguments: Arguments) -> Value:
    sizes = [number(arguments, k) for k in range(1, 4)]
    return _box_of(place(arguments, 0), [np.eye(3)[k] * size for k, size in enumerate(sizes)])


def _gbox(_machine: object, arguments: Arguments) -> Value:
    return _box_of(place(arguments, 0), [place(arguments, k) for k in range(1, 4)])


def _ring(machine: object, radius: float, rotation: Floats, centre: Floats) -> Floats:
    """Corners (n, 3) of a circle, counter-clockwise about the axis that z is turned to."""
    angles = 2.0 * math.pi * np.arange(n := _facets(machine)) / n
    flat = np.stack([radius * math.cos(angles), radius * math.sin(angles), np.zeros(n)], axis=1)
    return np.asarray(times(flat, rotation) + centre)


def _turned(machine: object, base: Floats, axis: Floats, radii: tuple[float, float], caps: float) -> Value:
    """Make a truncated cone: caps 1 closes the base, 2 the top, 3 both."""
    height = float(norm(axis))
    if not height or min(radii) < 0.0 or not max(radii) > 0.0:
        raise Trouble("E063", "a solid of revolution needs a height, and radii of 0 and more, not both 0")
    rotation = towards(axis / height)
    low, high = (_ring(machine, r, rotation, at) for r, at in zip(radii, (base, base + axis), strict=True))
    after_low, after_high = np.roll(low, -1, axis=0), np.roll(high, -1, axis=0)
    if radii[1] == 0.0:
        sides = [np.array([a, c, b]) for a, b, c in zip(low, after_low, high, strict=True)]
    elif radii[0] == 0.0:
        sides = [np.array([a, c, b]) for a, b, c in zip(low, after_high, high, strict=True)]
    else:
        sides = [np.array(four) for four in zip(low, high, after_high, after_low, strict=True)]
    sides += [low] if int(caps) & 1 and radii[0] else []
    sides += [high[::-1]] if int(caps) & 2 and radii[1] else []
    return _shape(sides)


def _cone(machine: object, arguments: Arguments) -> Value:
    radii = number(arguments, 2), 0.0
    return _turned(machine, place(arguments, 0), place(arguments, 1), radii, flag(arguments, 3, 1.0))


def _con2(machine: object, arguments: Arguments) -> Value:
    radii = number(arguments, 2), number(arguments, 3)
    return _turned(machine, place(arguments, 0), place(arguments, 1), radii, flag(arguments, 4, 3.0))


def _cylin(machine: object, arguments: Arguments) -> Value:
    radii = (number(arguments, 2),) * 2
    return _turned(machine, place(arguments, 0), place(arguments, 1), radii, flag(arguments, 3, 3.0))


def _lattice(points: Floats) -> list[Floats]:
    """Faces of a closed lattice of points (rows, around, 3), clockwise seen from the side rows × around points to."""
    here, after = points, np.roll(points, -1, axis=1)
    rows = zip(here[:-1], after[:-1], after[1:], here[1:], strict=True)
    return [np.array(four)[_apart(four)] for row in rows for four in zip(*row, strict=True)]


def _apart(corners: Sequence[Floats]) -> list[int]:
    """Corners that are not the one before them again."""
    return [k for k in range(4) if np.abs(corners[k] - corners[k - 1]).max() > 0.0]


def _sphere(machine: object, arguments: Arguments) -> Value:
    centre, radius = place(arguments, 0), number(arguments, 1)
    if not radius > 0.0:
        raise Trouble("E063", f"the radius is {radius:g}, expected more than 0")
    n = _facets(machine)
    up = math.pi * np.arange(n // 2 + 1) / (n // 2)
    around = 2.0 * math.pi * np.arange(n) / n
    sines = math.sin(up)
    sines[[0, -1]] = 0.0
    ring = np.stack([np.outer(sines, math.cos(around)), np.outer(sines, math.sin(around))], axis=-1)
    tall = np.broadcast_to(-math.cos(up)[:, None, None], (*ring.shape[:2], 1))
    return _shape([face[::-1] for face in _lattice(centre + radius * np.concatenate([ring, tall], axis=-1))])


def _torus(machine: object, arguments: Arguments) -> Value:
    centre, normal, large, small = place(arguments, 0), place(arguments, 1), number(arguments, 2), number(arguments, 3)
    if not (0.0 < small < large) or not normal.any():
        raise Trouble("E063", "a torus needs a direction, and radii R > r > 0")
    n = _facets(machine)
    angle = 2.0 * math.pi * np.arange(n + 1) / n
    angle[-1] = 0.0
    out = large + small * math.cos(angle)
    around = angle[:-1]
    flat = np.stack(
        [
            np.outer(out, math.cos(around)),
            np.outer(out, math.sin(around)),
            np.outer(small * math.sin(angle), np.ones(n)),
        ],
        axis=-1,
    )
    return _shape([face[::-1] for face in _lattice(times(flat, towards(normal / norm(normal))) + centre)])


def _poly(_machine: object, arguments: Arguments) -> Value:
    data = arguments[0].data
    if not isinstance(data, list):
        raise Trouble("E063", f"argument 1 is a {kind_of(data)}, expected a list of points")
    points = [xyz_of(item.data) for item in data]
    if any(point is None for point in points):
        raise Trouble("E063", "a polygon is made of points, vectors or control points")
    rows = np.array(points, float).reshape(-1, 3)
    is_line = bool(flag(arguments, 1, 0.0))
    if len(rows) < (2 if is_line else 3):
        raise Trouble("E045", f"{len(rows)} points make no {'polyline' if is_line else 'polygon'}")
    if is_line:
        return Value(Shape((Poly("POLYLINE", tuple(map(triple, rows))),)))
    if not newell(rows).any():
        raise Trouble("E045", "the points of the polygon span no plane")
    return Value(Shape((Poly("POLYGON", tuple(map(triple, rows))),)))


def _circpoly(machine: object, arguments: Arguments) -> Value:
    normal, centre, radius = place(arguments, 0), place(arguments, 1), number(arguments, 2)
    if not normal.any() or not radius > 0.0:
        raise Trouble("E063", "a circle needs a direction and a radius")
    return _shape([_ring(machine, radius, towards(normal / norm(normal)), centre)])


def _merge(_machine: object, arguments: Arguments) -> Value:
    return Value(Shape(tuple(item for argument in arguments for item in geometry(argument))))


def polygons_of(items: Sequence[Poly | Freeform | Trimmed | SolidModel]) -> list[Poly]:
    """Turn geometry into polygons: freeform surfaces into triangles, curves into nothing."""
    found: list[Poly] = []
    for item in items:
        if isinstance(item, Poly):
            found.append(item)
            continue
        for piece in tessellate(IritObject("NONE", (item,)), {}, Problems()):
            a, b, c = piece.triangles.swapaxes(0, 1)
            wide = np.cross(b - a, c - a).any(axis=1)
            found += [Poly("POLYGON", tuple(Triple(*row) for row in face)) for face in piece.triangles[wide].tolist()]
    return found


def _gpolygon(_machine: object, arguments: Arguments) -> Value:
    return Value(Shape(tuple(polygons_of(geometry(arguments[0])))), dict(arguments[0].attributes))


def _same(_machine: object, arguments: Arguments) -> Value:
    return arguments[0].copied()


SOLIDS = (
    Function("box", _box, (4, 4), "box(corner, dx, dy, dz)"),
    Function("gbox", _gbox, (4, 4), "gbox(corner, edge, edge, edge)"),
    Function("cone", _cone, (3, 4), "cone(base, axis, radius, caps)"),
    Function("con2", _con2, (4, 5), "con2(base, axis, radius, radius, caps)"),
    Function("cylin", _cylin, (3, 4), "cylin(base, axis, radius, caps)"),
    Function("sphere", _sphere, (2, 2), "sphere(centre, radius)"),
    Function("torus", _torus, (4, 4), "torus(centre, axis, radius, radius)"),
    Function("poly", _poly, (1, 2), "poly(list of points, is a line)"),
    Function("circpoly", _circpoly, (3, 3), "circpoly(normal, centre, radius)"),
    Function("mergepoly", _merge, (1, 1000), "mergepoly(list)"),
    Function("gpolygon", _gpolygon, (1, 2), "gpolygon(geometry, normals)"),
    Function("convex", _same, (1, 1), "convex(polygons)"),
    Function("triangl", _same, (1, 2), "triangl(polygons)"),
)
