"""What stands below the mouse: bodies by their outlines, waypoints by their nearness."""

from __future__ import annotations

import numpy as np

from cbsim.viewer.camera import Camera
from cbsim.viewer.view import View

__all__ = ["body_at", "waypoint_at"]

NEAR = 10.0  # [points] what is no farther away counts as hit


def body_at(view: View, pixel: tuple[float, float], points: float = 1.0) -> int | None:
    """Row of the body at a pixel: the smallest of those whose outline holds it, else the nearest one close by."""
    hits = list[tuple[float, int]]()
    away = np.hypot(*(view.places - np.asarray(pixel, float)).T)
    for row in view.seen.tolist():
        reach = float(view.stage.reach[row]) * view.camera.scale
        if away[row] < NEAR * points or (away[row] < reach and _holds(view, row, pixel)):
            hits.append((max(reach, float(away[row])), row))
    return min(hits)[1] if hits else None


def _holds(view: View, row: int, pixel: tuple[float, float]) -> bool:
    """Tell whether the outline of a body seen from above holds a pixel; from elsewhere its reach counts."""
    if not view.is_flat:
        return True
    place = view.camera.to_world(pixel) - view.moment.position[row, :2]
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
    """Id of the waypoint nearest to a pixel; None where none is close by."""
    roadmap = view.stage.roadmap
    if roadmap is None or not len(roadmap.positions) or not view.is_flat:
        return None
    camera: Camera = view.camera
    away = np.hypot(*(camera.to_screen(roadmap.positions) - np.asarray(pixel, float)).T)
    nearest = int(np.argmin(away))
    return str(roadmap.ids[nearest]) if away[nearest] < NEAR * points else None
