"""Tessellation of IRIT objects: polygons, freeform geometry, trimmed surfaces, models, instances.

Triangles keep the orientation of the file, in which normals point into a solid; callers that draw reverse them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import Location, Problems
from cbsim.formats.irit import splines
from cbsim.formats.irit.colors import color_of
from cbsim.formats.irit.polygons import polygon, strip
from cbsim.formats.irit.trimming import TangledError, model_triangles, trimmed_triangles
from cbsim.geometry.linear import det, norm, times
from cbsim.spec.irit.objects import Freeform, Instance, IritObject, Item, Poly, SolidModel, Trimmed

__all__ = ["PARTS", "Piece", "instances", "surface_triangles", "tessellate"]

PARTS = 8  # parts of every span of a surface, unless it has many
CELLS = 40_000  # cells of a surface, roughly
TRIANGLES = 2_000_000  # of one object; nested instances could be unbounded
EACH = 1000  # triangles that an instance counts as
NOTHING = np.zeros((0, 3, 3))


@dataclass(frozen=True, eq=False)
class Piece:
    """Triangles of one colour.

    Attributes
    ----------
    triangles : ndarray, shape (n, 3, 3)
    color : tuple of float or None
        Red, green, blue, opacity, from 0 to 1.
    """

    triangles: Floats
    color: tuple[float, float, float, float] | None


def instances(objects: Iterable[IritObject]) -> dict[str, IritObject]:
    """Return objects by name, for instances; of equal names the last."""
    return {item.name: item for top in objects for item in top.walk()}


def tessellate(item: IritObject, known: Mapping[str, IritObject], problems: Problems) -> list[Piece]:
    """Tessellate an object and all below it.

    Parameters
    ----------
    item : IritObject
    known : mapping
        Name → object, for instances.
    problems : Problems
        Collects a warning (W056) for geometry that is not drawn, and errors of infinite instances (E051).
    """
    worker = _Worker(known, problems)
    worker.add(item, np.eye(4), None, ())
    return worker.pieces


class _Worker:
    def __init__(self, known: Mapping[str, IritObject], problems: Problems) -> None:
        self.known, self.problems = known, problems
        self.pieces: list[Piece] = []
        self.left, self.is_told = TRIANGLES, False

    def add(self, item: IritObject, moved: Floats, color: Piece | None, inside: tuple[str, ...]) -> None:
        """Add an object, transformed by a matrix for row vectors."""
        own = color_of(item.attributes)
        shade = Piece(NOTHING, own) if own is not None else color
        own_triangles: list[Floats] = []
        for part in item.items:
            if isinstance(part, IritObject):
                self.add(part, moved, shade, inside)
            elif isinstance(part, Instance):
                self._instance(part, moved, shade, inside)
            else:
                own_triangles.append(self._triangles(part))
        self._piece(np.concatenate([NOTHING, *own_triangles]), moved, shade, item.location)

    def _instance(self, part: Instance, moved: Floats, color: Piece | None, inside: tuple[str, ...]) -> None:
        other = self.known.get(part.of)
        if other is None or part.of in inside or self.left <= 0:
            return  # `cbsim.formats.irit.structure` reports the first two
        self.left -= EACH
        self.add(other, times(np.array(part.numbers).reshape(4, 4), moved), color, (*inside, part.of))

    def _piece(self, triangles: Floats, moved: Floats, color: Piece | None, place: Location) -> None:
        self.left -= len(triangles)
        if self.left < 0 and not self.is_told:
            self.is_told = True
            text = f"an object has more than {TRIANGLES} triangles, or as many instances: the rest is not drawn"
            self.problems.warning("W056", text, place)
        if not len(triangles) or self.left < 0:
            return
        placed = times(np.concatenate([triangles, np.ones((*triangles.shape[:2], 1))], axis=2), moved)
        with np.errstate(all="ignore"):
            plain = placed[..., :3] / placed[..., 3:]
        if det(moved[:3, :3]) < 0.0:  # mirror images have the opposite orientation
            plain = plain[:, ::-1]
        kept = np.isfinite(plain).all(axis=(1, 2))
        self.pieces.append(Piece(np.ascontiguousarray(plain[kept]), None if color is None else color.color))

    def _triangles(self, part: Item) -> Floats:
        if isinstance(part, Poly):
            return _poly(part)
        if isinstance(part, Freeform):
            return self._freeform(part)
        return self._trimmed(part) if isinstance(part, (Trimmed, SolidModel)) else NOTHING

    def _trimmed(self, part: Trimmed | SolidModel) -> Floats:
        try:
            if isinstance(part, Trimmed):
                return trimmed_triangles(part, parts_of(part.surface))
            return model_triangles(part, parts_of)
        except TangledError as reason:
            self.problems.warning("W056", f"the trimmed surface is not drawn: {reason}", part.location)
            return NOTHING

    def _freeform(self, part: Freeform) -> Floats:
        dimensions = len(part.lengths)
        if part.kind == "TRISRF":
            if part.basis == "BEZIER":
                return splines.triangular(part, PARTS)
        elif dimensions == 1:
            return NOTHING  # a curve has no surface
        elif dimensions == 2:
            return surface_triangles(part)
        elif dimensions == 3:
            return np.concatenate([surface_triangles(face) for face in splines.boundary(part)])
        text = f"a {part.kind} of {dimensions} parameters in the basis {part.basis} is not tessellated"
        self.problems.warning("W056", text, part.location)
        return NOTHING


def _poly(part: Poly) -> Floats:
    points = np.array(part.points)
    if part.kind == "POLYGON":
        return polygon(points)
    return strip(points) if part.kind == "POLYSTRIP" else NOTHING


def parts_of(surface: Freeform) -> int:
    """Numbers of parts of a surface's spans."""
    cells = math.prod(map(_spans, splines.directions(surface)))
    return max(1, min(PARTS, math.isqrt(CELLS // max(1, cells))))


def _spans(direction: splines.Direction) -> int:
    return len(splines.spans(direction, 1)) - 1


def surface_triangles(surface: Freeform) -> Floats:
    """Triangles (n, 3, 3) of a surface, two of each cell of its grid."""
    _, points = splines.grid(surface, parts_of(surface))
    a, b, c, d = points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]
    lower, upper = np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)
    found = np.concatenate([lower.reshape(-1, 3, 3), upper.reshape(-1, 3, 3)])
    areas = norm(np.cross(found[:, 1] - found[:, 0], found[:, 2] - found[:, 0]), axis=1)
    return np.asarray(found[areas > 0.0])
