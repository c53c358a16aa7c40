"""Table of shapes of all bodies, and the ground made of drivable meshes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cbsim.arrays import Floats
from cbsim.geometry.forest import Forest, plant
from cbsim.geometry.linear import norm
from cbsim.geometry.pose import Pose
from cbsim.spec.objects import ShapeKind
from cbsim.world.figures import Outline
from cbsim.world.scene import Actor
from cbsim.world.tables import Shapes

NO_CARS = np.zeros((0, 3))

__all__ = ["ground_of", "mesh_centre", "shapes_of"]


def mesh_centre(actor: Actor) -> Floats:
    """Centre of the mesh's bounding box in its own axes, the origin of its body frame."""
    if actor.mesh is None or not len(actor.mesh[0]):
        return np.zeros(3)
    return np.asarray(0.5 * (actor.mesh[0].min(axis=0) + actor.mesh[0].max(axis=0)))


def shapes_of(actors: tuple[Actor, ...], figures: Sequence[Outline] = (), cars: Floats = NO_CARS) -> Shapes:
    """Assemble the table of shapes: actors, then cars of pools, boxes of sizes (cars, 3), then bodies of models."""
    kinds, sizes, radii, first, last, planted = [], [], [], [], [], []
    corners: list[Floats] = []
    count = 0
    for actor in actors:
        kind, size = actor.item.shape, np.asarray(actor.item.size, float)
        first.append(count)
        if actor.mesh is not None:
            vertices, indices = actor.mesh
            kind, size = ShapeKind.MESH, np.ptp(vertices, axis=0) if len(vertices) else np.zeros(3)
            corners.append((vertices - mesh_centre(actor))[indices].reshape(-1, 3, 3))
            planted.append(len(first) - 1)
            count += len(indices)
        elif kind is ShapeKind.SPHERE:
            size = np.full(3, size[0])
        elif kind is ShapeKind.CYLINDER:
            size = np.array([size[0], size[0], size[2]])
        elif kind is ShapeKind.WHEEL:
            size = np.array([size[0], size[1], size[1]])
        kinds.append(int(kind))
        sizes.append(size)
        radii.append(0.5 * size[0] if kind is ShapeKind.SPHERE else 0.5 * float(norm(size)))
        last.append(count)
    own = len(kinds)
    for figure in figures:
        first.append(count)
        kinds.append(int(figure.kind))
        sizes.append(figure.size)
        radii.append(figure.radius)
        if figure.kind is ShapeKind.MESH:
            corners.append(figure.triangles)
            planted.append(len(first) - 1)
            count += len(figure.triangles)
        last.append(count)
    forest = plant(corners)
    root = np.full(len(kinds), -1, np.int64)
    root[planted] = np.where([len(mesh) > 0 for mesh in corners], forest.root, -1)
    solid = [*(a.mesh is None or not a.item.drivable for a in actors), *(figure.radius > 0.0 for figure in figures)]
    shapes = Shapes(
        np.array(kinds, np.int64),
        np.array(sizes).reshape(-1, 3),
        np.array(radii, float),
        np.array(solid, np.int64),
        forest.triangles,
        np.array(first, np.int64),
        np.array(last, np.int64),
        forest.node_box,
        forest.node_link,
        root,
    )
    return shapes if not len(cars) else _with_boxes(shapes, own, cars)


def _with_boxes(shapes: Shapes, at: int, sizes: Floats) -> Shapes:
    """Insert boxes of sizes (n, 3) before a row."""
    n, count = len(sizes), int(shapes.last[at - 1]) if at else 0
    rows: dict[str, np.ndarray] = {
        "kind": np.full(n, int(ShapeKind.BOX)),
        "size": sizes,
        "radius": 0.5 * np.sqrt(sizes[:, 0] * sizes[:, 0] + sizes[:, 1] * sizes[:, 1] + sizes[:, 2] * sizes[:, 2]),
        "solid": np.ones(n, np.int64),
        "first": np.full(n, count),
        "last": np.full(n, count),
        "root": np.full(n, -1),
    }
    columns = {name: np.insert(getattr(shapes, name), at, values, axis=0) for name, values in rows.items()}
    return shapes._replace(**columns)


def ground_of(actors: tuple[Actor, ...], poses: list[Pose], shapes: Shapes) -> Forest:
    """Collect the triangles of drivable meshes, in the world, in one tree."""
    parts = [
        poses[k].apply(shapes.triangles[shapes.first[k] : shapes.last[k]])
        for k, actor in enumerate(actors)
        if actor.mesh is not None and actor.item.drivable
    ]
    return plant([np.concatenate(parts)] if parts else [])
