"""Ground plane: a grid where there is no road, and a ground line in side views."""

from __future__ import annotations

import numpy as np

from cbsim.palette import SCENE
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.view import View

__all__ = ["draw", "grid_step"]

SUNK = 0.05  # [m] depth that bodies may be below the ground
CLOSEST = 18.0  # [points] smallest distance of grid lines


def draw(canvas: Canvas, view: View) -> None:
    """Fill the picture; draw a grid of 0.1, 1, 10 … m if there is no road to judge scale by."""
    canvas.fill(SCENE.ground)
    if view.stage.road is None or not view.is_flat:
        _grid(canvas, view)
    if not view.is_flat:
        _floor(canvas, view)


def grid_step(scale: float, points: float) -> float:
    """Spacing of the grid [m]: the smallest power of ten that is not too dense."""
    return float(10.0 ** np.ceil(np.log10(CLOSEST * points / scale)))


def _grid(canvas: Canvas, view: View) -> None:
    left, bottom, right, top = view.camera.box
    step = grid_step(view.camera.scale, canvas.points)
    for x in np.arange(np.ceil(left / step), right / step) * step:
        canvas.line(view.camera.to_screen([(x, bottom), (x, top)]), SCENE.grid)
    for y in np.arange(np.ceil(bottom / step), top / step) * step:
        canvas.line(view.camera.to_screen([(left, y), (right, y)]), SCENE.grid)


def _floor(canvas: Canvas, view: View) -> None:
    """Draw the ground line of a side view, with earth below unless bodies start underground."""
    left, bottom, right, _ = view.camera.box
    if bottom < 0.0 and view.stage.position[:, 2].min(initial=0.0) > -SUNK:
        canvas.area(view.camera.to_screen([(left, 0.0), (right, 0.0), (right, bottom), (left, bottom)]), SCENE.zone)
    canvas.line(view.camera.to_screen([(left, 0.0), (right, 0.0)]), SCENE.ink, 1.5)
