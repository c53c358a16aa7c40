"""Picking: bodies by outline, waypoints by distance."""

from __future__ import annotations

import numpy as np

from cbsim.viewer.drawing.camera import Camera
from cbsim.viewer.view import View

__all__ = ["body_at", "waypoint_at"]

NEAR = 10.0  # [points] anything closer counts as hit


def body_at(view: View, pixel: tuple[float, float], points: float = 1.0) -> int | None:
    """Return the row of the body at a pixel: the smallest one whose outline contains it, else the nearest one."""
    hits = list[tuple[float, int]]()
    away = np.hypot(*(view.places - np.asarray(pixel, float)).T)
    for row in view.visible.tolist():
        reach = float(view.stage.radius[row]) * view.camera.scale
        if away[row] < NEAR * points or (away[row] < reach and _holds(view, row, pixel)):
            hits.append((max(reach, float(away[row])), row))
    return min(hits)[1] if hits else None


def _holds(view: View, row: int, pixel: tuple[float, float]) -> bool:
    """Return whether a body's outline contains a pixel in the top view; in side views its bounding circle counts."""
    if not view.is_flat:
        return True
    place = view.camera.to_world(pixel) - view.state.position[row, :2]
    turn = float(view.headings[row])
    cos, sin = np.cos(turn), np.sin(turn)
    x, y = place @ np.array([(cos, -sin), (sin, cos)])
    outline = view.stage.bodies[row].outline
    before, after = outline, np.roll(outline, -1, axis=0)
    crosses = (before[:, 1] > y) != (after[:, 1] > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = before[:, 0] + (y - before[:, 1]) * (after[:, 0] - before[:, 0]) / (after[:, 1] - before[:, 1])
    return bool((crosses & (x < at)).sum() % 2)


def waypoint_at(view: View, pixel: tuple[float, float], points: float = 1.0) -> str | None:
    """Return the id of the waypoint nearest to a pixel, or None if none is close."""
    roadmap = view.stage.roadmap
    if roadmap is None or not len(roadmap.positions) or not view.is_flat:
        return None
    camera: Camera = view.camera
    away = np.hypot(*(camera.to_screen(roadmap.positions) - np.asarray(pixel, float)).T)
    nearest = int(np.argmin(away))
    return str(roadmap.ids[nearest]) if away[nearest] < NEAR * points else None
