"""Planner annotations: lines, points and texts."""

from __future__ import annotations

from cbsim.palette import PAINT
from cbsim.spec.drawing import Dots, Drawing, Line, Text
from cbsim.viewer.drawing.canvas import Canvas, Colour
from cbsim.viewer.view import View

__all__ = ["draw", "draw_text"]

LABEL_OFFSET = 18.0  # [points]


def draw(canvas: Canvas, view: View) -> None:
    """Draw lines and points, below the bodies."""
    for one in view.state.drawings:
        if isinstance(one, Line):
            canvas.line(view.to_screen(one.places), _colour(one), one.width, closed=one.closed)
        elif isinstance(one, Dots):
            canvas.dots(view.to_screen(one.places), _colour(one), one.size)


def draw_text(canvas: Canvas, view: View) -> None:
    """Draw texts, above the bodies and beside their positions."""
    for one in view.state.drawings:
        if isinstance(one, Text) and len(one.places) and one.text:
            at, aside = view.to_screen(one.places[0]).tolist(), LABEL_OFFSET * canvas.points
            places = [*canvas.beside(at, aside, 0.5 * aside), *canvas.beside(at, 2.5 * aside, 1.5 * aside)]
            canvas.label(places, one.text, _colour(one), 15)


def _colour(one: Drawing) -> Colour:
    red, green, blue = one.colour or PAINT.plan
    return red, green, blue
