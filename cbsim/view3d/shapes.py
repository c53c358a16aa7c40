"""Triangles of mechanism shapes in body frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.spec.mechanism.colliders import ConvexHull, HeightField
from cbsim.spec.mechanism.mesh import Mesh
from cbsim.spec.mechanism.shapes import (
    Box,
    Capsule,
    CombinedShapes,
    Cylinder,
    EmptyShape,
    FrameShape,
    Pyramid,
    Shape,
    Sphere,
    matrix,
)
from cbsim.view3d import tessellate
from cbsim.view3d.tessellate import Triangles

__all__ = ["AXIS_COLORS", "Color", "color_of", "inertia_box", "triad", "triangles_of"]

Color = tuple[float, float, float, float]
AXIS_COLORS = ((0.86, 0.24, 0.22), (0.25, 0.65, 0.27), (0.22, 0.42, 0.87))
"""Red x, green y, blue z."""
FRAME = 1.0  # [m] length of a FrameShape's axes without scale


def mesh_triangles(mesh: Mesh) -> Triangles:
    """Triangles of a mesh, smooth except at creases."""
    loaded = mesh.triangles
    return tessellate.creased(Triangles(np.asarray(loaded.vertices, float), np.asarray(loaded.faces, np.int64)))


def surface_of(shape: ConvexHull | HeightField) -> Triangles:
    """Triangles of a convex hull or height field, smooth except at creases."""
    corners = shape.surface
    return tessellate.creased(Triangles(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3)))


SURFACES: dict[type[Shape], Callable[[Any], Triangles]] = {
    Mesh: mesh_triangles,
    Box: lambda shape: tessellate.box(shape.xyz),
    Cylinder: lambda shape: tessellate.cylinder(shape.r, shape.h),
    Sphere: lambda shape: tessellate.sphere(shape.r),
    Capsule: lambda shape: tessellate.capsule(shape.r, shape.h),
    Pyramid: lambda shape: tessellate.pyramid(shape.w, shape.h),
    ConvexHull: surface_of,
    HeightField: surface_of,
}


def triad(length: float, radius: float) -> list[tuple[Triangles, tuple[float, float, float]]]:
    """Three arrows [m] along x, y and z with their colours."""
    one = tessellate.arrow(length, radius, 2.5 * radius)
    turns = np.eye(3)[[[1, 2, 0], [2, 0, 1], [0, 1, 2]]].transpose(
        0, 2, 1
    )  # cyclic permutations, so that no arrow is mirrored
    return [(one.moved(turn, np.zeros(3)), color) for turn, color in zip(turns, AXIS_COLORS, strict=True)]


def color_of(value: ArrayLike, what: str) -> Color:
    """Red, green, blue, opacity from 0 to 1; without opacity, opaque."""
    try:
        given = np.asarray(value, float)
    except (TypeError, ValueError):
        given = np.array(np.nan)
    if given.shape not in {(3,), (4,)} or not ((given >= 0.0) & (given <= 1.0)).all():
        raise ModelError(f"{what} is {value!r}, expected three or four numbers from 0 to 1")
    red, green, blue, opacity = (*given.tolist(), 1.0)[:4]
    return red, green, blue, opacity


def triangles_of(shape: Shape) -> Iterator[tuple[Triangles, Color]]:
    """Return the surfaces of a shape with their colours, one per part, in its frame.

    Notes
    -----
    A vertex v maps to p + R S v: scaled, rotated, then translated. Parts of `CombinedShapes` apply their own
    transform and then that of the whole, consistent with the inertia.
    """
    return _placed(shape, np.eye(3), np.zeros(3))


def _placed(shape: Shape, turn: Floats, shift: Floats) -> Iterator[tuple[Triangles, Color]]:
    inner = turn @ matrix(shape.orientation_offset) @ np.diag(shape.scale)
    origin = turn @ shape.position_offset + shift
    red, green, blue, opacity = np.clip(shape.color, 0.0, 1.0).tolist()
    if isinstance(shape, CombinedShapes):
        for part in shape.shape:
            yield from _placed(part, inner, origin)
    elif isinstance(shape, FrameShape):
        for axis, color in triad(FRAME, 0.02 * FRAME):
            yield axis.moved(inner, origin), (*color, opacity)
    elif not isinstance(shape, EmptyShape):
        surface = next((make for kind, make in SURFACES.items() if isinstance(shape, kind)), None)
        if surface is None:
            known = ", ".join(kind.__name__ for kind in SURFACES)
            raise ModelError(f"has no triangles; drawn are {known}", subject=type(shape).__name__)
        yield surface(shape).moved(inner, origin), (red, green, blue, opacity)


def inertia_box(mass: float, inertia: Floats) -> Triangles:
    """Box of uniform density about the origin with a given mass [kg] and inertia (3, 3) [kg m²].

    Notes
    -----
    Along a principal axis with the moment J₁ its edge is √(6 (J₂ + J₃ − J₁) / m), from J₁ = m (b² + c²) / 12.
    """
    moments, axes = np.linalg.eigh(inertia)
    edges = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / mass, 0.0))
    edges = np.maximum(edges, 0.02 * edges.max())  # keep thin rods visible
    axes = axes * np.sign(np.linalg.det(axes))
    return tessellate.box(edges).moved(axes, np.zeros(3))
