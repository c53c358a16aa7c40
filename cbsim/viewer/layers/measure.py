"""Measured distances: a line through places, with the length of each part and of all."""

from __future__ import annotations

import numpy as np

from cbsim.palette import PAINT, SCENE
from cbsim.viewer.canvas import Canvas
from cbsim.viewer.view import View

__all__ = ["draw"]


def draw(canvas: Canvas, view: View) -> None:
    """Draw them."""
    places = np.array(view.looks.measure, float).reshape(-1, 2)
    if not len(places):
        return
    pixels = view.camera.to_screen(places)
    canvas.line(pixels, PAINT.measure, 2.0)
    for at in pixels.tolist():
        canvas.disc(at, 4.0 * canvas.points, SCENE.paint, PAINT.measure, 2.0)
    lengths = np.hypot(*np.diff(places, axis=0).T)
    for middle, length in zip(0.5 * (pixels[1:] + pixels[:-1]), lengths.tolist(), strict=True):
        canvas.text(middle.tolist(), f"{length:.2f} m", PAINT.measure, 17, anchor="above", halo=SCENE.paint)
    if len(lengths) > 1:
        beside = (pixels[-1] + (10.0 * canvas.points, 0.0)).tolist()
        canvas.text(beside, f"{lengths.sum():.2f} m in all", PAINT.measure, 17, anchor="left", halo=SCENE.paint)
