"""Collision geometry of islands: visual shapes of bodies, outlines of actors, triangles of meshes.

The core takes convex shapes on bodies, and triangle surfaces in the world. A mesh on a body is decomposed into its
connected components: one that nearly fills its convex hull becomes that hull, any other a thin plate per triangle.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.geometry.linear import norm, svdvals
from cbsim.spec.mechanism.colliders import ConvexHull, HalfSpace, HeightField
from cbsim.spec.mechanism.mesh import Mesh
from cbsim.spec.mechanism.shapes import Box, CombinedShapes, Cylinder, EmptyShape, FrameShape, Shape, Sphere
from cbsim.spec.objects import ShapeKind

__all__ = ["collision_shape_of", "is_closed", "outline_of", "surface_of", "welded"]

ALONG = np.array([np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0])  # turns z to x, as the axle of a wheel has it
FULL = 0.98  # share of its convex hull that a component has to fill to be replaced by it
THICK = 0.02  # largest thickness of plates, [m] and relative to the mesh's size
THIN = 1e-3  # [m] thickness of flat outlines
PLATES = 400  # largest number of plates of a mesh; beyond it, a hull on a body, a surface in the world
SAME = 1e-7  # relative to a mesh's size: distance below which vertices are merged

_parts: WeakKeyDictionary[Mesh, list[Shape]] = WeakKeyDictionary()


def collision_shape_of(shape: Shape) -> Shape | None:
    """Collision geometry of a body's visual shape in convex parts; None if there is none."""
    if isinstance(shape, EmptyShape | FrameShape | HalfSpace | HeightField):
        return None
    if isinstance(shape, CombinedShapes):
        parts = [part for part in map(collision_shape_of, shape.shape) if part is not None]
        return shape.replaced(shape=parts) if parts else None
    if isinstance(shape, Mesh):
        where = {"position_offset": shape.position_offset, "orientation_offset": shape.orientation_offset}
        parts = [part.replaced(scale=shape.scale, **where) for part in _convex_parts(shape)]
        return parts[0] if len(parts) == 1 else CombinedShapes(parts) if parts else None
    return shape


def _convex_parts(mesh: Mesh) -> list[Shape]:
    """Convex parts of a mesh in its frame, without its scale."""
    found = _parts.get(mesh)
    if found is None:
        found = _parts[mesh] = _decompose(mesh.surface)
    return found


def _decompose(triangles: Floats) -> list[Shape]:
    corners, faces = welded(triangles)
    parts: list[Shape] = []
    for piece in _pieces(faces, len(corners)):
        own = corners[piece]
        hull = _hull_of(own.reshape(-1, 3))
        if hull is not None and (abs(volume_of(own)) >= FULL * _volume(hull) or len(own) > PLATES):
            parts.append(hull)
        else:
            parts += plates_of(own)
    return parts


def _pieces(faces: Ints, count: int) -> list[Ints]:
    """Faces (n, 3) of each component connected by vertices, in the order of their first vertices."""
    label = np.arange(count)
    while True:
        least = label[faces].min(axis=1)
        new = label.copy()
        np.minimum.at(new, faces.reshape(-1), np.repeat(least, 3))
        new = new[new]
        if (new == label).all():
            break
        label = new
    of = label[faces[:, 0]]
    return [faces[of == one] for one in np.unique(of)]


def _hull_of(points: Floats) -> ConvexHull | None:
    """Convex hull of points; None if they are coplanar."""
    spread = svdvals(points - points.mean(axis=0))
    return ConvexHull(points) if len(points) > 3 and spread[2] > 1e-6 * spread[0] else None


def _volume(hull: ConvexHull) -> float:
    from scipy.spatial import ConvexHull as Hull

    return float(Hull(hull.points).volume)


def volume_of(triangles: Floats) -> float:
    """Volume [m³] enclosed by triangles (n, 3, 3), counter-clockwise from outside."""
    a, b, c = (triangles[:, k] - triangles[0, 0] for k in range(3))
    return float((np.cross(a, b) * c).sum() / 6.0)


def plates_of(triangles: Floats) -> list[Shape]:
    """Make a plate of every triangle (n, 3, 3), its outer face on the triangle; degenerate ones are omitted."""
    thick = THICK * min(1.0, float(np.ptp(triangles.reshape(-1, 3), axis=0).max()))
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    areas = norm(across, axis=1)
    sound = areas > 1e-6 * areas.max(initial=0.0)
    depth = thick * across[sound] / areas[sound, None]
    return [
        ConvexHull(np.concatenate([corners, corners - down]))
        for corners, down in zip(triangles[sound], depth[:, None], strict=True)
    ]


def welded(triangles: Floats) -> tuple[Floats, Ints]:
    """Vertices (m, 3) and faces (n, 3) of triangles (n, 3, 3): coincident corners merged, degenerate faces removed."""
    points = triangles.reshape(-1, 3)
    size = float(np.ptp(points, axis=0).max()) if len(points) else 1.0
    _, first, place = np.unique(
        np.round(points / (SAME * size or 1.0)).astype(np.int64), axis=0, return_index=True, return_inverse=True
    )
    faces = place.reshape(-1, 3)
    sound = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return points[first], faces[sound]


def is_closed(faces: Ints) -> bool:
    """Whether every edge of faces (n, 3) is used once in each direction."""
    start, end = faces.reshape(-1), np.roll(faces, -1, axis=1).reshape(-1)
    edges = start * (int(faces.max(initial=0)) + 1) + end
    against = end * (int(faces.max(initial=0)) + 1) + start
    return bool(len(np.unique(edges)) == len(edges) and (np.sort(edges) == np.sort(against)).all())


def surface_of(triangles: Floats, is_ground: bool) -> list[Shape]:
    """Make world surfaces of a mesh's triangles (n, 3, 3), one-sided: seen from outside, of ground from above.

    An open mesh that is no ground is solid from both sides: plates, or a surface each way above `PLATES` triangles.
    """
    corners, faces = welded(triangles)
    if not len(faces):  # all of it is thinner than what is taken for one corner
        return []
    if is_ground:
        own = corners[faces]
        down = np.cross(own[:, 1] - own[:, 0], own[:, 2] - own[:, 0])[:, 2] < 0.0
        faces[down] = faces[down, ::-1]
    elif is_closed(faces):
        if volume_of(corners[faces]) < 0.0:
            faces = faces[:, ::-1]
    elif len(faces) <= PLATES:
        return plates_of(corners[faces])
    else:
        return [Mesh(vertices=corners, faces=faces), Mesh(vertices=corners, faces=faces[:, ::-1])]
    return [Mesh(vertices=corners, faces=faces)]


def outline_of(kind: ShapeKind, size: Floats) -> Shape:
    """Shape of a body of the World that is no mesh, of a size (3,) [m]; flat ones get the thickness `THIN`."""
    x, y, z = np.maximum(size, THIN).tolist()
    if kind is ShapeKind.SPHERE:
        return Sphere(0.5 * x)
    if kind is ShapeKind.CYLINDER:
        return Cylinder(0.5 * x, z)
    if kind is ShapeKind.WHEEL:
        return Cylinder(0.5 * y, x, orientation_offset=ALONG)
    return Box(x, y, z)
