"""Event symbols at their positions, and the selection ring."""

from __future__ import annotations

from functools import partial

import numpy as np
import pygame

from cbsim.arrays import Floats
from cbsim.palette import PAINT, SCENE
from cbsim.viewer.drawing.canvas import FAR, Canvas
from cbsim.viewer.event_colours import symbol_colour, word_colour
from cbsim.viewer.view import View

__all__ = ["draw", "draw_selection", "ring_of"]

MAX_SYMBOLS = 200  # symbols drawn at most, the latest ones
LABEL_TIME = 4.0  # [s] how long the text of an event is shown


def draw(canvas: Canvas, view: View) -> None:
    """Draw event symbols of distinct shapes: a star for a contact; a cross, a tick and a question mark for checks."""
    events = [event for event in view.state.events[-MAX_SYMBOLS:] if event.place is not None]
    if not events or not view.is_flat:
        return
    places = view.camera.to_screen(np.array([event.place for event in events], float))
    for kind in dict.fromkeys(event.kind for event in events):
        own = [k for k, event in enumerate(events) if event.kind == kind]
        canvas.draw_sprite(canvas.sprite(("mark", kind), 24.0, partial(_symbol, kind)), places[own])
    canvas.layout.event_boxes += _boxes(canvas, places)  # a label over another symbol would be taken for that one's
    for event, at in zip(reversed(events), reversed(places.tolist()), strict=True):
        if view.state.time - event.time < LABEL_TIME and canvas.sees([at]):
            words = event.name if event.kind == "contact" else f"{event.name}: {event.kind}"
            beside = canvas.beside(at, 12.0 * canvas.points, 12.0 * canvas.points)
            canvas.label(beside, view.called(words), word_colour(event.kind), 16)


def _boxes(canvas: Canvas, places: Floats) -> list[pygame.Rect]:
    """Bounding boxes of symbols at positions (n, 2) [pixels]."""
    side = round(16.0 * canvas.points)
    corners = np.round(places - 0.5 * side).clip(-FAR, FAR).astype(int)
    return [pygame.Rect(x, y, side, side) for x, y in corners.tolist()]


def _symbol(kind: str, canvas: Canvas) -> None:
    size, middle = canvas.size[0] / 3.0, 0.5 * canvas.size[0]
    if kind == "passed":
        strokes = [np.array([(-1.0, 0.0), (-0.3, 0.8), (1.0, -0.8)])]
    elif kind == "undecided":
        hook = [(-0.6, -0.5), (-0.3, -0.95), (0.3, -0.95), (0.6, -0.5), (0.4, -0.1), (0.0, 0.15), (0.0, 0.45)]
        strokes = [np.array(hook), np.array([(0.0, 0.8), (0.0, 1.0)])]
    else:
        turns = 4 if kind == "contact" else 2
        angles = np.pi * (np.arange(turns) / turns + (0.25 if turns == 2 else 0.0))
        strokes = [np.array([(-1.0, 0.0), (1.0, 0.0)]) @ _turn(angle) for angle in angles]
    for colour, width in ((SCENE.paint, 5.0), (symbol_colour(kind), 2.5)):
        for stroke in strokes:
            canvas.line(middle + size * stroke, colour, width)


def _turn(angle: float) -> Floats:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([(cos, sin), (-sin, cos)])


def draw_selection(canvas: Canvas, view: View) -> None:
    """Draw a ring around the selected body."""
    for box in ring_of(canvas, view):
        for colour, width in ((SCENE.ink, 4.0), (PAINT.selected, 2.0)):
            canvas.disc(view.places[view.options.selected].tolist(), 0.5 * box.width, None, colour, width)


def ring_of(canvas: Canvas, view: View) -> list[pygame.Rect]:
    """Bounding box of the selection ring [pixels]; empty without a selection."""
    row = view.options.selected
    if row is None or row >= len(view.places) or not view.present[row]:
        return []
    radius = max(10.0 * canvas.points, view.stage.radius[row] * view.camera.scale * 1.15)
    x, y = view.places[row].tolist()
    return [pygame.Rect(round(x - radius), round(y - radius), round(2.0 * radius), round(2.0 * radius))]
