"""Where the camera stands when nobody says: so that everything that moves is seen, or moving along with it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.view3d.scene import Scene

__all__ = ["FIELD_OF_VIEW", "Framing", "extent", "framing"]

Array = NDArray[np.float64]
FIELD_OF_VIEW = np.deg2rad(40.0)  # [rad] of the picture's height
FROM = np.array([1.0, -1.3, 0.65])  # where one looks from: from the front right, and from above
TRAVELS = 2.5  # a motion this many times as wide as the robots at the start is followed


class Framing(NamedTuple):
    """The camera's `position` and `look_at` (3,) [m], whether to `follow`, and the `radius` [m] of what is seen."""

    position: Array
    look_at: Array
    follow: bool
    radius: float


def extent(scene: Scene, *, moving: bool = True) -> tuple[Array, Array]:
    """Corners (3,), (3,) [m] of a box around all robots, over their motion or at the start alone."""
    x, _ = scene.poses()
    if not moving:
        x = x[:1]
    low, high = list[Array](), list[Array]()
    reach = dict.fromkeys(scene.frames, 0.0)
    for solid in scene.solids.values():
        if solid.frame:
            reach[solid.frame] = max(reach[solid.frame], solid.reach)
        elif solid.kind != "surface" and len(solid.triangles.vertices):
            low.append(solid.triangles.vertices.min(0))
            high.append(solid.triangles.vertices.max(0))
    for i, radius in enumerate(reach.values()):
        low.append(x[:, i].min(0) - radius)
        high.append(x[:, i].max(0) + radius)
    if not low:
        return np.full(3, -1.0), np.full(3, 1.0)
    return np.min(low, axis=0), np.max(high, axis=0)


def framing(scene: Scene) -> Framing:
    """Choose what the scene's camera leaves open."""
    camera = scene.camera
    low, high = extent(scene)
    start_low, start_high = extent(scene, moving=False)
    travels = bool((high - low).max() > TRAVELS * (start_high - start_low).max())
    follow = travels if camera.follow is None else camera.follow
    if follow:
        low, high = start_low, start_high
    radius = max(0.5 * float(np.linalg.norm(high - low)), 1e-3)
    look_at = 0.5 * (low + high) if camera.look_at is None else np.array(camera.look_at)
    distance = radius / np.sin(0.5 * FIELD_OF_VIEW) / camera.zoom
    if camera.position is None:
        return Framing(look_at + distance * FROM / np.linalg.norm(FROM), look_at, follow, radius)
    arm = np.array(camera.position) - look_at
    return Framing(look_at + arm / camera.zoom, look_at, follow, radius)
