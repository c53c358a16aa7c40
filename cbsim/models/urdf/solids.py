"""Visual and collision geometry of links."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.formats.triangles import MeshData
from cbsim.formats.urdf.frames import pose_of
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import times
from cbsim.geometry.pose import Pose
from cbsim.spec.mechanism.colliders import ConvexHull
from cbsim.spec.mechanism.mesh import Mesh
from cbsim.spec.mechanism.shapes import Box, Capsule, CombinedShapes, Cylinder, EmptyShape, Pyramid, Shape, Sphere
from cbsim.spec.urdf import Collision, Geometry, Link, Material, Visual

__all__ = ["MeshData", "points_around", "shape_of", "solid_of"]

SOLIDS: dict[str, type[Shape]] = {
    "box": Box,
    "cylinder": Cylinder,
    "sphere": Sphere,
    "capsule": Capsule,
    "pyramid": Pyramid,
}
CORNERS = 64  # of the hull of a mesh, at most
FLAT = 1e-9  # of a cube around it: less than this encloses nothing


def shape_of(
    links: Sequence[tuple[Link, Pose]], centre: Floats, meshes: Mapping[str, MeshData], materials: Iterable[Material]
) -> Shape:
    """Put the looks of some links together: their visuals, or where a link has none to be had, its collision geometry.

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
    parts: list[Shape] = []
    for link, pose in links:
        drawn = _looks(link.visuals, pose, centre, meshes, colors)
        parts += drawn or _looks(link.collisions, pose, centre, meshes, colors)
    if not parts:
        return EmptyShape()
    return parts[0] if len(parts) == 1 else CombinedShapes(parts)


def _looks(
    looks: Sequence[Visual | Collision],
    pose: Pose,
    centre: Floats,
    meshes: Mapping[str, MeshData],
    colors: Mapping[str, tuple[float, ...]],
) -> list[Shape]:
    """Shapes of those looks of a link at a pose that can be had, from a centre of mass."""
    found: list[Shape | None] = []
    for look in looks:
        material = look.material if isinstance(look, Visual) else None
        color = None if material is None else material.color or colors.get(material.name)
        place = pose @ pose_of(look.origin)
        found.append(_shape(look.geometry, Pose(place.position - centre, place.orientation), meshes, color))
    return [shape for shape in found if shape is not None]


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


def solid_of(geometry: Geometry, pose: Pose, meshes: Mapping[str, MeshData]) -> Shape | None:
    """Shape that touches, in the frame in which its own is at a pose.

    Meshes are their convex hulls, of as few corners as tell them well; None for one that cannot be had or that
    encloses nothing.
    """
    if geometry.kind != "mesh":
        return _shape(geometry, pose, {}, None)
    found = meshes.get(geometry.filename)
    if found is None:
        return None
    corners = _outermost(np.asarray(found[0], float) * np.asarray(geometry.scale, float))
    if corners is None:
        return None
    return ConvexHull(points=corners, position_offset=pose.position, orientation_offset=pose.orientation)


def _outermost(points: Floats) -> Floats | None:
    """Corners of the convex hull of points, at most `CORNERS`: the farthest along directions all around."""
    from scipy.spatial import ConvexHull as Hull
    from scipy.spatial import QhullError

    try:
        hull = Hull(points)
    except (QhullError, ValueError):  # all in one plane
        return None
    if hull.volume <= FLAT * math.whole_power(float(np.ptp(points, axis=0).max()), 3):
        return None
    corners = points[hull.vertices]
    if len(corners) > CORNERS:
        spiral = np.arange(4 * CORNERS) + 0.5
        z, turn = 1.0 - spiral / (2 * CORNERS), np.pi * (1.0 + np.sqrt(5.0)) * spiral
        across = np.sqrt(1.0 - z * z)
        ways = np.stack([across * math.cos(turn), across * math.sin(turn), z], axis=1)
        ways = np.concatenate([np.eye(3), -np.eye(3), ways])
        chosen = dict.fromkeys(np.argmax(times(corners, ways.T), axis=0).tolist())
        corners = corners[list(chosen)[:CORNERS]]
    return np.asarray(corners)


def points_around(shape: Shape) -> tuple[Floats, float]:
    """Corners (n, 3), and how far around them a shape of `solid_of` reaches [m], in the frame that it stands in."""
    margin, points = 0.0, np.zeros((1, 3))
    if isinstance(shape, ConvexHull):
        points = np.asarray(shape.points)
    elif isinstance(shape, Box):
        points = 0.5 * shape.xyz * np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    elif isinstance(shape, Pyramid):  # the origin is the centre of mass, a quarter of the height above the base
        base = [(x, y, -0.25 * shape.h) for x, y in itertools.product((-0.5 * shape.w, 0.5 * shape.w), repeat=2)]
        points = np.array([*base, (0.0, 0.0, 0.75 * shape.h)])
    elif isinstance(shape, Cylinder):
        turn = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
        rim = np.stack([shape.r * math.cos(turn), shape.r * math.sin(turn), np.zeros(16)], axis=1)
        half = np.array([0.0, 0.0, 0.5 * shape.h])
        points = np.concatenate([rim - half, rim + half])
    elif isinstance(shape, Capsule):
        margin, points = shape.r, np.array([(0.0, 0.0, -0.5 * shape.h), (0.0, 0.0, 0.5 * shape.h)])
    elif isinstance(shape, Sphere):
        margin = shape.r
    place = Pose(np.asarray(shape.position_offset), np.asarray(shape.orientation_offset))
    return np.asarray(place.apply(points)), margin
