"""Measured distances: a polyline with the length of each segment and the total."""

from __future__ import annotations

import numpy as np

from cbsim.arrays import Floats
from cbsim.palette import PAINT, SCENE, WORDS
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.view import View

__all__ = ["draw"]


def draw(canvas: Canvas, view: View) -> None:
    """Draw the measured polyline."""
    places = np.array(view.options.measure, float).reshape(-1, 2)
    if not len(places):
        return
    pixels = view.camera.to_screen(places)
    canvas.line(pixels, PAINT.measure, 2.0)
    for at in pixels.tolist():
        canvas.disc(at, 4.0 * canvas.points, SCENE.paint, PAINT.measure, 2.0)
    lengths = np.hypot(*np.diff(places, axis=0).T)
    for middle, length in zip(0.5 * (pixels[1:] + pixels[:-1]), lengths.tolist(), strict=True):
        _tell(canvas, middle, f"{length:.2f} m")
    if len(lengths) > 1:
        _tell(canvas, pixels[-1], f"{lengths.sum():.2f} m in all")


def _tell(canvas: Canvas, at: Floats, said: str) -> None:
    """Draw a length beside its position, overlapping other labels if there is no room."""
    places = canvas.around(at.tolist(), 8.0 * canvas.points, 8.0 * canvas.points)
    if not canvas.label(places, said, WORDS.measure, 17):
        canvas.text(places[0][0], said, PAINT.measure, 17, anchor=places[0][1], halo=SCENE.paint)
