"""Outlines of bodies seen from above, in their own axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.recording.batch import Header
from cbsim.recording.objects import PooledRows, PoolEntry
from cbsim.world.scene import Actor, Scene
from cbsim.world.shapes import mesh_centre

__all__ = ["Body", "bodies_of"]

ROUND = 24  # corners of round shapes
HULL = 48  # corners of a mesh's outline at most


@dataclass(frozen=True, eq=False)
class Body:
    """One body of a run.

    Attributes
    ----------
    name, kind, shape : str
        As in the header.
    size : tuple of float
        Width, length, height [m]; zeros where the header has none.
    outline : ndarray, shape (n, 2)
        Corners seen from above, x right and y forward [m].
    solid : bool
        False for meshes, which may be driven on, under or through, and for bodies of models, which touch one another:
        they are left out of times to collision.
    skid : bool
        Steered by levers.
    """

    name: str
    kind: str
    shape: str
    size: tuple[float, float, float]
    outline: Floats
    solid: bool
    skid: bool


def bodies_of(header: Header, scene: Scene | None) -> PooledRows[Body]:
    """Describe all bodies, in row order; meshes by their hulls where the scene has them, else by boxes.

    Cars of pools are described when they are read.
    """
    actors = () if scene is None else scene.actors
    found, objects = [], header.objects
    for k, item in enumerate(objects.single):
        row = objects.row_of(k)
        actor = actors[row] if row < len(actors) else None
        width, length, height = (float(value) for value in item.get("size") or (0.0, 0.0, 0.0))
        shape = str(item.get("shape", "box"))
        skid = actor is not None and actor.item.wheels is not None and actor.item.wheels.type.name == "SKID"
        outline = _outline(item, shape, actor)
        kind = str(item.get("type", "static"))
        solid = shape != "mesh" and kind != "model"
        found.append(Body(item["name"], kind, shape, (width, length, height), outline, solid, skid))
    return PooledRows(found, objects.pools, _car)


def _car(pool: PoolEntry, row: int) -> Body:
    """Describe a car of a pool."""
    width, length, _ = pool.size
    name = f"{pool.name} {row - pool.first + 1}"
    return Body(name, "dynamic", "box", pool.size, _box(0.5 * width, 0.5 * length), True, False)


def _outline(item: dict[str, Any], shape: str, actor: Actor | None) -> Floats:
    width, length, _ = item.get("size") or (0.0, 0.0, 0.0)
    if actor is not None and actor.mesh is not None and len(actor.mesh[0]) > 2:
        return _hull(actor.mesh[0][:, :2] - mesh_centre(actor)[:2], 0.5 * width, 0.5 * length)
    if shape in {"sphere", "cylinder"}:
        angle = np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
        return np.stack([0.5 * width * np.cos(angle), 0.5 * length * np.sin(angle)], axis=1)
    return _box(0.5 * width, 0.5 * length)


def _box(x: float, y: float) -> Floats:
    return np.array([(x, y), (-x, y), (-x, -y), (x, -y)])


def _hull(points: Floats, x: float, y: float) -> Floats:
    """Convex hull of points, or their bounding box if the hull has no area."""
    import shapely

    hull = shapely.MultiPoint(points).convex_hull
    if not isinstance(hull, shapely.Polygon):
        return _box(x, y)
    corners = shapely.get_coordinates(hull)[:-1]
    return np.asarray(corners[:: -(-len(corners) // HULL)])
