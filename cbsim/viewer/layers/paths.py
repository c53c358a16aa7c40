"""Paths: the mission route, goals of objects, and trails."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cbsim.palette import PAINT, SCENE, WORDS
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.view import View

__all__ = ["draw_goals", "draw_route", "draw_trails"]

MOST = 300  # goal lists per picture at most
CROWD = 120  # trails per picture at most
FINE = 200  # points per trail


def draw_route(canvas: Canvas, view: View) -> Iterator[None]:
    """Draw the mission route as a dashed line."""
    for line in view.stage.route:
        places = view.camera.to_screen(line)
        if canvas.sees(places):
            canvas.dashes(places, PAINT.route, 2.0 * canvas.points, 10.0 * canvas.points, 6.0 * canvas.points)
            yield


def draw_goals(canvas: Canvas, view: View) -> None:
    """Draw the goals of the selected object, or of all: numbered squares joined by lines."""
    goals = view.stage.goals
    selected = view.options.selected
    chosen = [selected] if selected is not None and selected in goals else list(goals)[:MOST]
    for row in chosen:
        places = view.camera.to_screen(goals[row])
        if not canvas.sees(places, 20.0):
            continue
        canvas.line(places, PAINT.goal, 1.0)
        side = 4.0 * canvas.points
        for number, (x, y) in enumerate(places[1:].tolist(), 1):
            square = [(x - side, y - side), (x + side, y - side), (x + side, y + side), (x - side, y + side)]
            canvas.area(square, SCENE.paint)
            canvas.line(square, PAINT.goal, 1.5, closed=True)
            if len(chosen) < 12:
                canvas.label(canvas.around((x, y), 2.0 * side, 2.0 * side)[2:4], str(number), WORDS.goal, 14)


def draw_trails(canvas: Canvas, view: View) -> None:
    """Draw the recent trails of bodies."""
    time = view.state.time
    start = max(view.timeline.first, time - view.options.trail)
    if not view.stage.moving or view.options.trail <= 0.0 or time <= start:
        return
    lines = []
    for row in _chosen(view):
        if not view.present[row]:
            continue
        past = view.timeline.path(row, start, time)
        places = np.concatenate([past[:: max(1, len(past) // FINE)], view.state.position[row : row + 1]])
        lines.append(view.to_screen(places))
    for line in lines:
        canvas.line(line, PAINT.trail, 1.5)


def _chosen(view: View) -> list[int]:
    """Rows with trails: all moving bodies if there are few, else egos and the selected body."""
    moving, bodies = _one_of_each_model(view), view.stage.bodies
    if len(moving) > CROWD:
        inside = set(view.visible.tolist())
        seen = [row for row in moving if row in inside]
        moving = seen if len(seen) <= CROWD else moving
    if len(moving) > CROWD:
        moving = [row for row in moving if bodies[row].kind == "autonomous" or row == view.options.selected][:CROWD]
    return moving


def _one_of_each_model(view: View) -> list[int]:
    """Return the moving rows, with one body per model."""
    others = {
        row for rows in view.stage.models.values() for row in [one for one in rows if one in view.stage.moving][1:]
    }
    return [row for row in view.stage.moving if row not in others or row == view.options.selected]
