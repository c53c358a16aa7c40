"""Automatic camera placement: everything that moves is visible, or followed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.view3d.scene import Scene

__all__ = ["FIELD_OF_VIEW", "Framing", "extent", "framing"]

FIELD_OF_VIEW = np.deg2rad(40.0)  # [rad] vertical field of view
VIEW_DIRECTION = np.array([1.0, -1.3, 0.65])  # default viewing direction: from the front right and above
FOLLOW_ABOVE = 2.5  # motion is followed from this multiple of the robots' initial extent


class Framing(NamedTuple):
    """Camera `position` and `look_at` (3,) [m], whether to `follow`, and `radius` of the visible content [m]."""

    position: Floats
    look_at: Floats
    follow: bool
    radius: float


def extent(scene: Scene, *, moving: bool = True) -> tuple[Floats, Floats]:
    """Corners (3,), (3,) of the bounding box of all robots [m], over their motion or at the start only."""
    x, _ = scene.poses()
    if not moving:
        x = x[:1]
    low, high = list[Floats](), list[Floats]()
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
    """Fill in the camera parameters that the scene leaves open."""
    camera = scene.camera
    low, high = extent(scene)
    start_low, start_high = extent(scene, moving=False)
    travels = bool((high - low).max() > FOLLOW_ABOVE * (start_high - start_low).max())
    follow = travels if camera.follow is None else camera.follow
    if follow:
        low, high = start_low, start_high
    radius = max(0.5 * float(np.linalg.norm(high - low)), 1e-3)
    look_at = 0.5 * (low + high) if camera.look_at is None else np.array(camera.look_at)
    distance = radius / np.sin(0.5 * FIELD_OF_VIEW) / camera.zoom
    if camera.position is None:
        return Framing(look_at + distance * VIEW_DIRECTION / np.linalg.norm(VIEW_DIRECTION), look_at, follow, radius)
    arm = np.array(camera.position) - look_at
    return Framing(look_at + arm / camera.zoom, look_at, follow, radius)
