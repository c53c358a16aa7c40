"""Non-overlapping labels of checkpoints, waypoints and bodies."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pygame

from cbsim.arrays import Floats
from cbsim.palette import PAINT, SCENE, WORDS
from cbsim.viewer.drawing.canvas import Canvas, Colour, Corner
from cbsim.viewer.layers.bodies import half_of
from cbsim.viewer.view import View, kind_of

__all__ = ["draw_checkpoints", "draw_ids", "draw_names"]

CROWD = 400  # labels per picture at most
PIECE = 50  # waypoints per drawing step


def draw_checkpoints(canvas: Canvas, view: View) -> None:
    """Draw checkpoints as discs with their numbers."""
    road = view.stage.road
    if road is None or not road.checkpoints or view.camera.scale < 0.15:
        return
    crowded, badges = list[list[float]](), list[tuple[pygame.Surface, list[float]]]()
    for row, at in _inside(canvas, view.camera.to_screen(np.array([label.place for label in road.checkpoints]))):
        text = road.checkpoints[row].text
        side = 2.0 * (7.5 + 3.5 * len(text))
        box = pygame.Rect(0, 0, round(side * canvas.points), round(side * canvas.points))
        box.center = round(at[0]), round(at[1])
        if view.camera.scale < 1.0 or not canvas.layout.take(box):
            crowded.append(at)
        else:
            badges.append((canvas.sprite(("checkpoint", text), side, partial(_badge, text)), at))
    if crowded:
        canvas.draw_sprite(canvas.sprite("checkpoint", 9.0, partial(_dot, PAINT.checkpoint)), np.array(crowded))
    for badge, at in badges:
        canvas.draw_sprite(badge, np.array([at]))


def _inside(canvas: Canvas, places: Floats) -> list[tuple[int, list[float]]]:
    """Rows and pixels of the positions in or near the picture."""
    beyond = 20.0 * canvas.points
    rows = np.flatnonzero((places > -beyond).all(axis=1) & (places < np.array(canvas.size) + beyond).all(axis=1))
    return list(zip(rows.tolist(), places[rows].tolist(), strict=True))


def _badge(text: str, canvas: Canvas) -> None:
    middle = 0.5 * canvas.size[0]
    canvas.disc((middle, middle), 0.82 * middle, SCENE.paint, PAINT.checkpoint, 2.0)
    canvas.text((middle, middle), text, WORDS.checkpoint, 16)


def _dot(colour: Colour, canvas: Canvas) -> None:
    side = canvas.size[0]
    canvas.disc((0.5 * side, 0.5 * side), 0.5 * side, SCENE.paint)
    canvas.disc((0.5 * side, 0.5 * side), 0.33 * side, colour)


def draw_ids(canvas: Canvas, view: View) -> Iterator[None]:
    """Draw every waypoint as a dot, with its id where there is room."""
    road = view.stage.road
    if road is None or not road.points:
        return
    written = 0
    dot = canvas.sprite("waypoint", 6.0, partial(_dot, SCENE.ink))
    for count, (row, at) in enumerate(_inside(canvas, view.camera.to_screen(np.array([p.place for p in road.points])))):
        if count % PIECE == 0:
            yield
        if view.camera.scale > 0.8 and canvas.layout.is_free(at):  # not over the number of a checkpoint
            canvas.draw_sprite(dot, np.array([at]))
        places = list[tuple[tuple[float, float], Corner]]()
        for away in (4.0 * canvas.points, 13.0 * canvas.points):
            places += [((at[0], at[1] - away), "above"), ((at[0], at[1] + away), "below")]
        if written < CROWD and canvas.label(places, road.points[row].text, SCENE.ink, 14):
            written += 1


def draw_names(canvas: Canvas, view: View) -> None:
    """Draw the names of egos, models and sufficiently large moving bodies; the selected body is always named."""
    selected, written = view.options.selected, 0
    named = sorted(_named(canvas, view), key=lambda row: (row != selected, view.stage.bodies[row].kind != "autonomous"))
    for row in named:
        places = canvas.around(view.places[row].tolist(), *_clear(canvas, view, [row]))
        if written < CROWD and canvas.label(places, view.called(view.name_of(row)), SCENE.ink, 15):
            written += 1
        elif row == selected:
            canvas.disc(view.places[row].tolist(), 2.0 * canvas.points, kind_of(view.stage.bodies[row].kind).fill)
    seen = set(view.visible.tolist()) if view.stage.models else set()
    for name, rows in view.stage.models.items():
        own = [row for row in rows if row in seen]
        if own and selected not in own and len(view.stage.bodies) > len(rows):
            middle = view.places[own].mean(axis=0).tolist()
            canvas.label(canvas.around(middle, *_clear(canvas, view, own)), view.called(name), SCENE.ink, 15)


def _named(canvas: Canvas, view: View) -> Iterator[int]:
    """Rows of bodies with their own label; bodies of a model share one unless selected."""
    stage, moving = view.stage, set(view.stage.moving)
    large = stage.radius * view.camera.scale > 10.0 * canvas.points
    for row in view.visible.tolist():
        kind = stage.bodies[row].kind
        alone = kind != "model" or len(stage.bodies) == 1
        if row == view.options.selected or (alone and (kind == "autonomous" or (row in moving and large[row]))):
            yield row


def _clear(canvas: Canvas, view: View, rows: list[int]) -> tuple[float, float]:
    """Distances right and up [pixels] at which a label is clear of some bodies."""
    apart = np.abs(view.places[rows] - view.places[rows].mean(axis=0))
    half = half_of(view, np.array(rows, np.int64))
    if view.options.selected in rows:
        half = (
            1.15 * view.stage.radius[rows, None] * view.camera.scale + 2.0 * canvas.points
        )  # outside the selection ring
    right, up = np.minimum((apart + half).max(axis=0), 60.0 * canvas.points) + 4.0 * canvas.points
    return float(right), float(up)
