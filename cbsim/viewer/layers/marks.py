"""What happened where: contacts, checks that failed or passed; and the body that is selected."""

from __future__ import annotations

from functools import partial

import numpy as np
import pygame
from numpy.typing import NDArray

from cbsim.palette import PAINT, SCENE, WORDS
from cbsim.viewer.canvas import FAR, Canvas, Colour
from cbsim.viewer.view import View

__all__ = ["draw", "draw_selection", "ring_of"]

Floats = NDArray[np.float64]

MOST = 200  # signs at most, the newest
TOLD = 4.0  # [s] for how long a mark is told in words


def draw(canvas: Canvas, view: View) -> None:
    """Mark places by signs that need no colour: a star for a contact, a cross for a failed check, else a tick."""
    marks = [mark for mark in view.moment.marks[-MOST:] if mark.place is not None]
    if not marks or not view.is_flat:
        return
    places = view.camera.to_screen(np.array([mark.place for mark in marks], float))
    for kind in dict.fromkeys(mark.kind for mark in marks):
        own = [k for k, mark in enumerate(marks) if mark.kind == kind]
        canvas.put(canvas.sprite(("mark", kind), 24.0, partial(_sign, kind)), places[own])
    canvas.room.marks += _boxes(canvas, places)  # a name that covers another mark would be taken for that one's
    for mark, at in zip(reversed(marks), reversed(places.tolist()), strict=True):
        if view.moment.time - mark.time < TOLD and canvas.sees([at]):
            words = mark.name if mark.kind == "contact" else f"{mark.name}: {mark.kind}"
            beside = canvas.beside(at, 12.0 * canvas.points, 12.0 * canvas.points)
            canvas.label(beside, view.called(words), WORDS.passed if mark.kind == "passed" else WORDS.danger, 16)


def _boxes(canvas: Canvas, places: Floats) -> list[pygame.Rect]:
    """Boxes of the strokes of signs at places (n, 2) [pixels]."""
    side = round(16.0 * canvas.points)
    corners = np.round(places - 0.5 * side).clip(-FAR, FAR).astype(int)
    return [pygame.Rect(x, y, side, side) for x, y in corners.tolist()]


def _colour(kind: str) -> Colour:
    return PAINT.plan if kind == "passed" else PAINT.danger


def _sign(kind: str, canvas: Canvas) -> None:
    size, middle = canvas.size[0] / 3.0, 0.5 * canvas.size[0]
    if kind == "passed":
        strokes = [np.array([(-1.0, 0.0), (-0.3, 0.8), (1.0, -0.8)])]
    else:
        turns = 4 if kind == "contact" else 2
        angles = np.pi * (np.arange(turns) / turns + (0.25 if turns == 2 else 0.0))
        strokes = [np.array([(-1.0, 0.0), (1.0, 0.0)]) @ _turn(angle) for angle in angles]
    for colour, width in ((SCENE.paint, 5.0), (_colour(kind), 2.5)):
        for stroke in strokes:
            canvas.line(middle + size * stroke, colour, width)


def _turn(angle: float) -> Floats:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([(cos, sin), (-sin, cos)])


def draw_selection(canvas: Canvas, view: View) -> None:
    """Ring the selected body."""
    for box in ring_of(canvas, view):
        for colour, width in ((SCENE.ink, 4.0), (PAINT.selected, 2.0)):
            canvas.disc(view.places[view.looks.selected].tolist(), 0.5 * box.width, None, colour, width)


def ring_of(canvas: Canvas, view: View) -> list[pygame.Rect]:
    """Box of the ring around the selected body [pixels]; none where none is selected."""
    row = view.looks.selected
    if row is None or row >= len(view.places):
        return []
    radius = max(10.0 * canvas.points, view.stage.reach[row] * view.camera.scale * 1.15)
    x, y = view.places[row].tolist()
    return [pygame.Rect(round(x - radius), round(y - radius), round(2.0 * radius), round(2.0 * radius))]
