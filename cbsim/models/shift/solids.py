"""Visual and collision geometry of the bodies of a Shift model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import Problems
from cbsim.formats.triangles import MeshData
from cbsim.formats.values import quote
from cbsim.geometry import elementary as math
from cbsim.geometry.linear import matrix_rank, times
from cbsim.models.shift.assembly import Assembled
from cbsim.models.shift.build import Built, Names
from cbsim.spec.mechanism.colliders import Collider, ConvexHull, HalfSpace
from cbsim.spec.mechanism.mesh import Mesh
from cbsim.spec.mechanism.shapes import CombinedShapes, Shape, Sphere
from cbsim.spec.shift.model import Body, ShiftModel

__all__ = ["colliders_of", "shapes_of", "tell_untouched", "touches"]

CORNERS = 64  # of a hull; larger ones are thinned out, which moves the surface by less than a percent of its size


def shapes_of(assembled: Assembled, meshes: Mapping[str, MeshData]) -> dict[int, Shape]:
    """Shapes of bodies: number → meshes relative to the centre of mass."""
    found: dict[int, Shape] = {}
    for number, link in enumerate(assembled.network.links):
        offset = -np.array(link.body.center_of_mass, float)
        parts: list[Shape] = [
            Mesh(vertices=meshes[one.filename][0], faces=meshes[one.filename][1], position_offset=offset)
            for one in link.body.geometry
            if one.filename in meshes
        ]
        if parts:
            found[number] = parts[0] if len(parts) == 1 else CombinedShapes(parts)
    return found


def touches(model: ShiftModel) -> bool:
    """Whether collision geometry is enabled, which a file may switch off."""
    return ("contact_detection", "false") not in model.simulation.kept


def colliders_of(
    assembled: Assembled,
    built: Built,
    meshes: Mapping[str, MeshData],
    turn: Floats,
    friction: float,
    names: Names,
) -> list[Collider]:
    """Build the colliders of bodies with a ``collision_geometry``, whose sizes follow from meshes."""
    found: list[Collider] = []
    for number, body in built.bodies.items():
        link = assembled.network.links[number]
        if not link.body.collision:
            continue
        name = names((*link.path[:-1], f"{link.path[-1]} surface"), "collider")
        if link.body.collision == "plane":
            pose = assembled.poses[number]
            if not _moves(assembled, number):
                normal = _upwards(times(turn, pose.rotation[:, 2]))
                shape: Shape = HalfSpace(normal, position_offset=times(turn, pose.origin))
                found.append(Collider(built.origin, shape, friction, name=name))
            continue
        points = _points(link.body, meshes)
        if points:
            shape = _around(link.body, np.concatenate(points) - np.array(link.body.center_of_mass))
            found.append(Collider(body, shape, friction, name=name))
    return found


def tell_untouched(assembled: Assembled, meshes: Mapping[str, MeshData], problems: Problems) -> None:
    """Report bodies that should touch and cannot: planes that move, and those without a mesh that could be read."""
    numbered = enumerate(assembled.network.links)
    solid = [(n, link.body) for n, link in numbered if link.body.collision and n not in assembled.tree.loose]
    for number, body in solid:
        if body.collision == "plane" and _moves(assembled, number):
            text = f"body {quote(body.name)} is a plane that moves; only one that stands still touches"
            problems.warning("W995", text, body.location)
    bare = [body for _, body in solid if body.collision != "plane" and not _points(body, meshes)]
    if bare:
        more = f" and {len(bare) - 1} more" if len(bare) > 1 else ""
        text = f"body {quote(bare[0].name)}{more} should touch, but has no mesh that could be read; nothing touches it"
        problems.warning("W995", text, bare[0].location)


def _moves(assembled: Assembled, number: int) -> bool:
    return bool(assembled.chain.on_way[number].any())


def _points(body: Body, meshes: Mapping[str, MeshData]) -> list[Floats]:
    return [meshes[one.filename][0] for one in body.geometry if one.filename in meshes]


def _upwards(normal: Floats) -> Floats:
    return -normal if normal[2] < 0.0 else normal


def _around(body: Body, points: Floats) -> Shape:
    """Build the shape around points: balls and ellipsoids by their extents, hulls by their corners."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), np.maximum(0.5 * (high - low), 1e-6)
    if body.collision == "sphere":
        return Sphere(float(half.max()), position_offset=middle)
    if body.collision == "ellipsoid" or matrix_rank(points - points[0], tol=1e-9 * float(half.max())) < 3:
        return Sphere(1.0, scale=half, position_offset=middle)
    return ConvexHull(points=_corners(points))


def _corners(points: Floats) -> Floats:
    """Corners of the hull, the farthest along evenly spread directions where there are many."""
    import trimesh

    corners = np.array(trimesh.convex.convex_hull(points).vertices, np.float64)
    if len(corners) <= CORNERS:
        return corners
    k = np.arange(4 * CORNERS)
    z = 1.0 - (2.0 * k + 1.0) / len(k)
    angle = np.pi * (3.0 - np.sqrt(5.0)) * k  # Fibonacci's sphere
    ways = np.stack([np.sqrt(1.0 - z * z) * math.cos(angle), np.sqrt(1.0 - z * z) * math.sin(angle), z], axis=1)
    chosen = np.unique(times(corners, ways.T).argmax(axis=0))
    return np.asarray(corners[chosen])
