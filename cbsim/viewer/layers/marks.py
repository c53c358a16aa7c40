"""What happened where: contacts, checks that failed or passed; and the body that is selected."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cbsim.palette import PAINT, SCENE
from cbsim.viewer.canvas import Canvas
from cbsim.viewer.view import View

__all__ = ["draw", "draw_selection"]

Floats = NDArray[np.float64]

WORDS = 4.0  # [s] for how long a mark is told in words


def draw(canvas: Canvas, view: View) -> None:
    """Mark places by signs that need no colour: a star for a contact, a cross for a failed check, else a tick."""
    for mark in view.moment.marks[-200:]:
        if mark.place is None or not view.is_flat:
            continue
        at = view.camera.to_screen(mark.place).tolist()
        if not canvas.sees([at], 30.0):
            continue
        colour = PAINT.plan if mark.kind == "passed" else PAINT.danger
        _sign(canvas, at, mark.kind, colour)
        if view.moment.time - mark.time < WORDS:
            words = mark.name if mark.kind == "contact" else f"{mark.name}: {mark.kind}"
            beside = (at[0] + 12.0 * canvas.points, at[1] - 12.0 * canvas.points)
            canvas.text(beside, words, colour, 16, anchor="bottomleft", halo=SCENE.paint)


def _sign(canvas: Canvas, at: list[float], kind: str, colour: tuple[int, int, int]) -> None:
    size = 8.0 * canvas.points
    if kind == "passed":
        strokes = [np.array([(-1.0, 0.0), (-0.3, 0.8), (1.0, -0.8)])]
    else:
        turns = 4 if kind == "contact" else 2
        angles = np.pi * (np.arange(turns) / turns + (0.25 if turns == 2 else 0.0))
        strokes = [np.array([(-1.0, 0.0), (1.0, 0.0)]) @ _turn(angle) for angle in angles]
    for stroke in strokes:
        canvas.line(at + size * stroke, SCENE.paint, 5.0)
    for stroke in strokes:
        canvas.line(at + size * stroke, colour, 2.5)


def _turn(angle: float) -> Floats:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([(cos, sin), (-sin, cos)])


def draw_selection(canvas: Canvas, view: View) -> None:
    """Ring the selected body."""
    row = view.looks.selected
    if row is None or row >= len(view.places):
        return
    radius = max(10.0 * canvas.points, view.stage.reach[row] * view.camera.scale * 1.15)
    canvas.disc(view.places[row].tolist(), radius, None, SCENE.ink, 4.0)
    canvas.disc(view.places[row].tolist(), radius, None, PAINT.selected, 2.0)
