"""Ways: the mission's route, the goals of objects, and where bodies have been."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cbsim.palette import PAINT, SCENE, WORDS
from cbsim.viewer.canvas import Canvas
from cbsim.viewer.view import View

__all__ = ["draw_goals", "draw_route", "draw_trails"]

MOST = 300  # lists of goals in a picture at most
CROWD = 120  # trails in a picture at most: more would hide the road
FINE = 200  # points of a trail


def draw_route(canvas: Canvas, view: View) -> Iterator[None]:
    """Draw the way through the mission's checkpoints as a broken line."""
    for line in view.stage.route:
        places = view.camera.to_screen(line)
        if canvas.sees(places):
            canvas.dashes(places, PAINT.route, 2.0 * canvas.points, 10.0 * canvas.points, 6.0 * canvas.points)
            yield


def draw_goals(canvas: Canvas, view: View) -> None:
    """Draw the goals of the selected object, else of all: a square at each, numbered, and lines between them."""
    goals = view.stage.goals
    selected = view.looks.selected
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
    """Draw where bodies have been in the last seconds."""
    time = view.moment.time
    start = max(view.tape.first, time - view.looks.trail)
    if not view.stage.moving or view.looks.trail <= 0.0 or time <= start:
        return
    lines = []
    for row in _chosen(view):
        past = view.tape.path(row, start, time)
        places = np.concatenate([past[:: max(1, len(past) // FINE)], view.moment.position[row : row + 1]])
        lines.append(view.to_screen(places))
    for line in lines:
        canvas.line(line, PAINT.trail, 1.5)


def _chosen(view: View) -> list[int]:
    """Rows whose trails are drawn: of all that move while they are few, else of bots and of the selected body."""
    moving, bodies = _one_of_each_model(view), view.stage.bodies
    if len(moving) > CROWD:
        inside = set(view.seen.tolist())
        seen = [row for row in moving if row in inside]
        moving = seen if len(seen) <= CROWD else moving
    if len(moving) > CROWD:
        moving = [row for row in moving if bodies[row].kind == "autonomous" or row == view.looks.selected][:CROWD]
    return moving


def _one_of_each_model(view: View) -> list[int]:
    """Rows that move, of a model the first of its bodies that does."""
    others = {
        row for rows in view.stage.models.values() for row in [one for one in rows if one in view.stage.moving][1:]
    }
    return [row for row in view.stage.moving if row not in others or row == view.looks.selected]
