"""Labels: checkpoints, ids of waypoints, names of bodies; none over another."""

from __future__ import annotations

from functools import partial

import numpy as np
import pygame
from numpy.typing import NDArray

from cbsim.palette import PAINT, SCENE
from cbsim.viewer.canvas import Canvas
from cbsim.viewer.layers.room import Room
from cbsim.viewer.view import View, kind_of

__all__ = ["draw_checkpoints", "draw_ids", "draw_names"]

CROWD = 400  # labels in a picture at most: more would only cover it


Floats = NDArray[np.float64]


def draw_checkpoints(canvas: Canvas, view: View) -> None:
    """Mark checkpoints by a disc with their number."""
    road = view.stage.road
    if road is None or not road.checkpoints or view.camera.scale < 0.15:
        return
    room, crowded, badges = Room(), list[list[float]](), list[tuple[pygame.Surface, list[float]]]()
    for row, at in _inside(canvas, view.camera.to_screen(np.array([label.place for label in road.checkpoints]))):
        text = road.checkpoints[row].text
        side = 2.0 * (7.5 + 3.5 * len(text))
        box = pygame.Rect(0, 0, round(side * canvas.points), round(side * canvas.points))
        box.center = round(at[0]), round(at[1])
        if view.camera.scale < 1.0 or not room.take(box):
            crowded.append(at)
        else:
            badges.append((canvas.sprite(("checkpoint", text), side, partial(_badge, text)), at))
    if crowded:
        canvas.put(canvas.sprite("checkpoint", 7.0, _dot), np.array(crowded))
    for badge, at in badges:
        canvas.put(badge, np.array([at]))


def _inside(canvas: Canvas, places: Floats) -> list[tuple[int, list[float]]]:
    """Rows and pixels of places that are in the picture, or nearly."""
    beyond = 20.0 * canvas.points
    rows = np.flatnonzero((places > -beyond).all(axis=1) & (places < np.array(canvas.size) + beyond).all(axis=1))
    return list(zip(rows.tolist(), places[rows].tolist(), strict=True))


def _badge(text: str, canvas: Canvas) -> None:
    middle = 0.5 * canvas.size[0]
    canvas.disc((middle, middle), 0.82 * middle, SCENE.paint, PAINT.checkpoint, 2.0)
    canvas.text((middle, middle), text, PAINT.checkpoint, 16)


def _dot(canvas: Canvas) -> None:
    side = canvas.size[0]
    canvas.disc((0.5 * side, 0.5 * side), 0.45 * side, PAINT.checkpoint)


def draw_ids(canvas: Canvas, view: View) -> None:
    """Mark every waypoint by a dot with its id, as far as ids do not cover one another."""
    road = view.stage.road
    if road is None or not road.points:
        return
    room, written = Room(), 0
    for row, at in _inside(canvas, view.camera.to_screen(np.array([label.place for label in road.points]))):
        if view.camera.scale > 0.8:
            canvas.disc(at, 2.0 * canvas.points, SCENE.ink)
        above = at[0], at[1] - 10.0 * canvas.points
        if written < CROWD and room.take_text(canvas, above, road.points[row].text, 14):
            canvas.text(above, road.points[row].text, SCENE.ink, 14, halo=SCENE.paint)
            written += 1


def draw_names(canvas: Canvas, view: View) -> None:
    """Name bots and, when they are large enough, what else moves; the selected one always."""
    room, written = Room(), 0
    bodies, moving = view.stage.bodies, set(view.stage.moving)
    order = sorted(view.seen.tolist(), key=lambda row: (row != view.looks.selected, bodies[row].kind != "autonomous"))
    for row in order:
        body = bodies[row]
        large = view.stage.reach[row] * view.camera.scale
        wanted = row == view.looks.selected or body.kind == "autonomous" or (row in moving and large > 10.0)
        if not wanted or (body.kind == "model" and len(bodies) > 1 and row != view.looks.selected):
            continue
        x, y = view.places[row].tolist()
        below = (x, y + min(1.2 * large, 60.0 * canvas.points) + 10.0 * canvas.points)
        name = f"{body.name} ({view.letter})" if view.letter else body.name
        if written < CROWD and room.take_text(canvas, below, name, 15):
            canvas.text(below, name, SCENE.ink, 15, halo=SCENE.paint)
            written += 1
        elif row == view.looks.selected:
            canvas.disc((x, y), 2.0 * canvas.points, kind_of(body.kind).fill)
