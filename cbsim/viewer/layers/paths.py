"""Ways: the mission's route, the goals of objects, and where bodies have been."""

from __future__ import annotations

import numpy as np

from cbsim.palette import PAINT, SCENE
from cbsim.viewer.canvas import Canvas
from cbsim.viewer.view import View

__all__ = ["draw_goals", "draw_route", "draw_trails"]

MOST = 300  # trails and lists of goals in a picture at most


def draw_route(canvas: Canvas, view: View) -> None:
    """Draw the way through the mission's checkpoints as a broken line."""
    for line in view.stage.route:
        places = view.camera.to_screen(line)
        if canvas.sees(places):
            canvas.dashes(places, PAINT.route, 2.0 * canvas.points, 10.0 * canvas.points, 6.0 * canvas.points)


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
            if len(chosen) < 12 and view.camera.scale > 0.5:
                canvas.text((x + 2 * side, y), str(number), PAINT.goal, 14, anchor="left", halo=SCENE.paint)


def draw_trails(canvas: Canvas, view: View) -> None:
    """Draw where bodies have been in the last seconds."""
    time = view.moment.time
    start = max(view.tape.first, time - view.looks.trail)
    if not view.stage.moving or view.looks.trail <= 0.0 or time <= start:
        return
    if view.is_flat:
        past = view.tape.paths(start, time)
        stride = max(1, len(past) // 200)
        pixels = view.camera.to_screen(
            np.concatenate([past[::stride], view.moment.position[None, view.stage.moving, :2]])
        )
        low, high = pixels.min(axis=0), pixels.max(axis=0)
        width, height = canvas.size
        long = ((high - low) > 3.0).any(axis=1) & (high >= 0).all(axis=1) & (low[:, 0] < width) & (low[:, 1] < height)
        lines = [pixels[:, column] for column in np.flatnonzero(long)[:MOST].tolist()]
    else:
        rows = [row for row in view.seen.tolist() if row in set(view.stage.moving)][:20]
        lines = [view.to_screen(view.tape.path(row, start, time)) for row in rows]
    for line in lines:
        canvas.line(line, _mixed(PAINT.trail, SCENE.asphalt), 1.5)


def _mixed(one: tuple[int, int, int], other: tuple[int, int, int]) -> tuple[int, int, int]:
    """Half of one colour, half of another."""
    red, green, blue = ((a + b) // 2 for a, b in zip(one, other, strict=True))
    return red, green, blue
