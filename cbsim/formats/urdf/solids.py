"""Geometry of links: as shapes of a body, and as points that may touch the ground."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.formats.urdf.frames import pose_of
from cbsim.geometry.pose import Pose
from cbsim.spec.mechanism.mesh import Mesh
from cbsim.spec.mechanism.shapes import Box, Capsule, CombinedShapes, Cylinder, EmptyShape, Pyramid, Shape, Sphere
from cbsim.spec.urdf import Collision, Geometry, Link, Material, Visual

__all__ = ["TOUCHES", "MeshData", "ground_points", "shape_of"]

Floats = NDArray[np.float64]
MeshData = tuple[Floats, NDArray[np.int64]]
SOLIDS: dict[str, type[Shape]] = {
    "box": Box,
    "cylinder": Cylinder,
    "sphere": Sphere,
    "capsule": Capsule,
    "pyramid": Pyramid,
}
TOUCHES = frozenset({"box", "sphere", "capsule", "pyramid"})
"""Kinds of geometry whose contact with a plane is that of some points and balls of theirs."""


def shape_of(
    links: Sequence[tuple[Link, Pose]], centre: Floats, meshes: Mapping[str, MeshData], materials: Iterable[Material]
) -> Shape:
    """Put the looks of some links together: their visuals, or where a link has none, its collision geometry.

    Parameters
    ----------
    links : sequence of (Link, Pose)
        With the pose of each link's frame in that of the body's own link.
    centre : ndarray, shape (3,)
        Centre of mass in the latter [m].
    meshes : mapping
        File name → vertices and triangles; what is not in it is not drawn.
    materials : iterable of Material
        Those that visuals may name.
    """
    colors = {m.name: m.color for m in reversed([*materials, *_inside(links)]) if m.color is not None}
    parts = []
    for link, pose in links:
        looks: Sequence[Visual | Collision] = link.visuals or link.collisions
        for look in looks:
            material = look.material if isinstance(look, Visual) else None
            color = None if material is None else material.color or colors.get(material.name)
            place = pose @ pose_of(look.origin)
            shape = _shape(look.geometry, Pose(place.position - centre, place.orientation), meshes, color)
            if shape is not None:
                parts.append(shape)
    if not parts:
        return EmptyShape()
    return parts[0] if len(parts) == 1 else CombinedShapes(parts)


def _inside(links: Sequence[tuple[Link, Pose]]) -> list[Material]:
    return [look.material for link, _ in links for look in link.visuals if look.material is not None]


def _shape(
    geometry: Geometry, pose: Pose, meshes: Mapping[str, MeshData], color: tuple[float, ...] | None
) -> Shape | None:
    where: dict[str, Any] = {"position_offset": pose.position, "orientation_offset": pose.orientation}
    if color is not None:
        where["color"] = color
    if geometry.kind == "mesh":
        found = meshes.get(geometry.filename)
        if found is None:
            return None
        return Mesh(vertices=found[0], faces=found[1], scale=geometry.scale, **where)
    return SOLIDS[geometry.kind](*map(float, geometry.size), **where)


def ground_points(geometry: Geometry, pose: Pose) -> tuple[list[Floats], float]:
    """Centres (3,) of the balls, and their radius, by which a shape at a pose touches a plane; none for some kinds.

    Corners of boxes and pyramids are balls of radius 0; a capsule has one at each end.
    """
    if geometry.kind not in TOUCHES:
        return [], 0.0
    size = [float(value) for value in geometry.size]
    radius = 0.0
    if geometry.kind == "box":
        points = 0.5 * np.array(list(itertools.product(*((-edge, edge) for edge in size))))
    elif geometry.kind == "pyramid":  # the origin is the centre of mass, a quarter of the height above the base
        half, height = 0.5 * size[0], size[1]
        base = [(x, y, -0.25 * height) for x, y in itertools.product((-half, half), repeat=2)]
        points = np.array([*base, (0.0, 0.0, 0.75 * height)])
    else:
        radius = size[0]
        half = 0.5 * size[1] if geometry.kind == "capsule" else 0.0
        points = np.array([(0.0, 0.0, -half), (0.0, 0.0, half)][: 2 if half else 1])
    return list(pose.apply(points)), radius
