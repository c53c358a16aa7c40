"""What planners show: their lines, points and texts."""

from __future__ import annotations

from cbsim.palette import PAINT, SCENE
from cbsim.spec.drawing import Dots, Line
from cbsim.viewer.canvas import Canvas, Colour
from cbsim.viewer.view import View

__all__ = ["draw"]


def draw(canvas: Canvas, view: View) -> None:
    """Draw what `cbsim.spec.drawing` knows."""
    for one in view.moment.drawings:
        places = view.to_screen(one.places)
        red, green, blue = one.colour or PAINT.plan
        colour: Colour = (red, green, blue)
        if isinstance(one, Line):
            canvas.line(places, colour, one.width, closed=one.closed)
        elif isinstance(one, Dots):
            canvas.dots(places, colour, one.size)
        elif len(places) and one.text:
            canvas.text(places[0].tolist(), one.text, colour, 15, anchor="bottomleft", halo=SCENE.paint)
