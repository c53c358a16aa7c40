"""Outlines of bodies of models in a World: one shape, or triangles for compound shapes."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import norm
from cbsim.geometry.pose import rotate
from cbsim.spec.mechanism.colliders import ConvexHull, HeightField
from cbsim.spec.mechanism.mesh import Mesh
from cbsim.spec.mechanism.shapes import Box, Capsule, CombinedShapes, Cylinder, Pyramid, Shape, Sphere
from cbsim.spec.objects import ShapeKind

__all__ = ["Outline", "outline_of", "triangles_of"]

AROUND = 24  # corners of a circle
NOTHING = np.zeros((0, 3, 3))


class Outline(NamedTuple):
    """A row of the table of shapes.

    Attributes
    ----------
    kind : ShapeKind
        A body without a shape is a mesh without triangles.
    size : (3,) [m]
        Full extents along the body's axes; of a mesh, those of the least bounding box about the body's centre.
    radius : float
        Of the bounding sphere about the centre [m].
    triangles : (n, 3, 3) [m]
        Of a mesh.
    """

    kind: ShapeKind
    size: Floats
    radius: float
    triangles: Floats


def outline_of(shape: Shape, scale: float = 1.0) -> Outline:
    """Outline of a shape in its body's frame, all lengths times a scale."""
    plain = _outline(shape)
    return Outline(plain.kind, scale * plain.size, scale * plain.radius, scale * plain.triangles)


def _outline(shape: Shape) -> Outline:
    plain = not shape.position_offset.any() and not shape.orientation_offset[1:].any() and (shape.scale == 1.0).all()
    if plain and isinstance(shape, Box):
        return Outline(ShapeKind.BOX, shape.xyz, 0.5 * float(norm(shape.xyz)), NOTHING)
    if plain and isinstance(shape, Sphere):
        return Outline(ShapeKind.SPHERE, np.full(3, 2.0 * shape.r), shape.r, NOTHING)
    if plain and isinstance(shape, Cylinder):
        size = np.array([2.0 * shape.r, 2.0 * shape.r, shape.h])
        return Outline(ShapeKind.CYLINDER, size, 0.5 * float(norm(size)), NOTHING)
    triangles = triangles_of(shape)
    corners = triangles.reshape(-1, 3)
    size = 2.0 * np.abs(corners).max(axis=0, initial=0.0)
    radius = float(norm(corners, axis=1).max(initial=0.0))
    return Outline(ShapeKind.MESH, size, radius, triangles)


def triangles_of(shape: Shape) -> Floats:
    """Triangles (n, 3, 3) [m] of a shape in its body's frame, counter-clockwise from outside; round ones in facets."""
    if isinstance(shape, CombinedShapes):
        own = np.concatenate([NOTHING, *(triangles_of(part) for part in shape.shape)])
    elif isinstance(shape, (Mesh, ConvexHull, HeightField)):
        own = shape.surface
    else:
        own = _solid(shape)
    scaled = own * shape.scale
    if np.prod(shape.scale) < 0.0:
        scaled = scaled[:, ::-1]
    return np.asarray(rotate(shape.orientation_offset, scaled) + shape.position_offset)


def _solid(shape: Shape) -> Floats:
    if isinstance(shape, Box):
        return _hull_of_rings(0.5 * shape.xyz * _square(), 0.5 * shape.z)
    if isinstance(shape, Cylinder):
        return _hull_of_rings(_circle(shape.r), 0.5 * shape.h)
    if isinstance(shape, Sphere):
        return _ball(shape.r, 0.0)
    if isinstance(shape, Capsule):
        return _ball(shape.r, 0.5 * shape.h)
    if isinstance(shape, Pyramid):
        ring = 0.5 * shape.w * _square() * (1.0, 1.0, 0.0)
        tip, low = np.array([0.0, 0.0, 0.75 * shape.h]), np.array([0.0, 0.0, -0.25 * shape.h])
        return np.concatenate([_fan(ring + low, tip), _fan((ring + low)[::-1], low)])
    return NOTHING


def _square() -> Floats:
    return np.array([(1.0, 1.0, 0.0), (-1.0, 1.0, 0.0), (-1.0, -1.0, 0.0), (1.0, -1.0, 0.0)])


def _circle(radius: float) -> Floats:
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    return radius * np.stack([math.cos(angle), math.sin(angle), np.zeros(AROUND)], axis=1)


def _fan(ring: Floats, tip: Floats) -> Floats:
    """Triangles between a ring of corners (n, 3), counter-clockwise seen from the tip's side, and a tip."""
    return np.stack([ring, np.roll(ring, -1, axis=0), np.broadcast_to(tip, ring.shape)], axis=1)


def _band(low: Floats, high: Floats) -> Floats:
    """Triangles between two rings of equally many corners."""
    after, above = np.roll(low, -1, axis=0), np.roll(high, -1, axis=0)
    return np.concatenate([np.stack([low, after, high], axis=1), np.stack([after, above, high], axis=1)])


def _hull_of_rings(ring: Floats, half: float) -> Floats:
    up = np.array([0.0, 0.0, half])
    low, high = ring * (1.0, 1.0, 0.0) - up, ring * (1.0, 1.0, 0.0) + up
    return np.concatenate([_band(low, high), _fan(high, up), _fan(low[::-1], -up)])


def _ball(radius: float, half: float) -> Floats:
    """Sphere of a radius, its halves moved along z by ± half."""
    rows = AROUND // 2
    circle = _circle(1.0)
    rings, levels = [], np.pi * (np.arange(1, rows) / rows - 0.5)
    for level in levels:
        rise = radius * math.sin(level) + (half if level > 1e-9 else -half if level < -1e-9 else 0.0)
        rings.append(radius * math.cos(level) * circle + (0.0, 0.0, rise))
    if half:
        middle = len(rings) // 2
        rings[middle : middle + 1] = [radius * circle - (0.0, 0.0, half), radius * circle + (0.0, 0.0, half)]
    top = np.array([0.0, 0.0, radius + half])
    bands = [_band(low, high) for low, high in itertools.pairwise(rings)]
    return np.concatenate([*bands, _fan(rings[-1], top), _fan(rings[0][::-1], -top)])
