"""Default floor: under the contacts, or below all motion."""

from __future__ import annotations

import numpy as np

from cbsim.geometry.pose import conjugate, rotate
from cbsim.spec.mechanism.collisions import SphereHalfSpaceCollision
from cbsim.view3d.build import MechanismLike, size_of
from cbsim.view3d.framing import extent
from cbsim.view3d.scene import Floor, Scene

__all__ = ["floor_of", "lowest"]

UP = np.array([0.0, 0.0, 1.0])
MIN_TILES = 20  # tiles along an edge at least
EXTENT_FACTOR = 4.0  # edge length relative to the distance that robots travel from the centre
MAX_VERTICES = 2_000_000  # vertex evaluations per solid at most: frames are sampled if there are more


def floor_of(mechanism: MechanismLike, scene: Scene) -> Floor:
    """Create a floor in the plane of the first half-space contact, else at z = 0 or below the lowest point."""
    low, high = extent(scene)
    centre, reach = 0.5 * (low + high), 0.5 * float(np.linalg.norm((high - low)[:2]))
    plane = next(
        (c.model.collision for c in mechanism.contacts if isinstance(c.model.collision, SphereHalfSpaceCollision)), None
    )
    normal = UP if plane is None else np.asarray(plane.contact_normal)
    through = UP * min(0.0, lowest(scene)) if plane is None else plane.contact_offset
    tile = round_length(0.5 * size_of(mechanism))
    edge = 2.0 * tile * float(np.ceil(max(MIN_TILES * tile, EXTENT_FACTOR * reach) / (2.0 * tile)))
    # on a level floor, tiles are aligned with multiples of their size
    spot = 2.0 * tile * np.round(centre / (2.0 * tile)) if normal[2] == 1.0 else centre
    x, y, z = (spot - (normal @ (spot - through)) * normal).tolist()
    nx, ny, nz = normal.tolist()
    return Floor(size=(edge, edge, 0.02 * tile), origin=(x, y, z), normal=(nx, ny, nz), tile=tile)


def lowest(scene: Scene) -> float:
    """Lowest height of all shapes [m]; long motions are sampled."""
    x, q = scene.poses()
    row = {frame: i for i, frame in enumerate(scene.frames)}
    least = np.inf
    for solid in scene.solids.values():
        if solid.frame and solid.kind in {"shape", "inertia"}:
            vertices, i = solid.triangles.vertices, row[solid.frame]
            looks = max(2, min(len(x), MAX_VERTICES // len(vertices)))
            k = np.unique(np.linspace(0, len(x) - 1, looks).astype(int))
            up = rotate(conjugate(q[k, i]), UP)  # in the body's frame
            least = min(least, float((x[k, i, 2:] + up @ vertices.T).min()))
    return least


def round_length(length: float) -> float:
    """Round to the nearest 1, 2 or 5 times a power of ten, by ratio."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(min((power * step for step in (1.0, 2.0, 5.0, 10.0)), key=lambda one: abs(np.log(one / length))))
