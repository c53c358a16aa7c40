"""Time to collision between nearby bodies."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.ttc import Footprint, time_to_collision
from cbsim.palette import PAINT, WORDS
from cbsim.viewer.drawing.canvas import Canvas, Colour
from cbsim.viewer.view import View

__all__ = ["CollisionForecast", "draw", "draw_values", "nearest_collisions"]

MAX_SHOWN = 5.0  # [s] larger times are not drawn
HIGH = 2.0  # [s] smaller times are drawn in the danger colour
MAX_WATCHED = 8  # egos evaluated at most

CollisionForecast = tuple[int, int, float]


@lru_cache(maxsize=4)  # drawn in the picture and in the state table
def nearest_collisions(view: View) -> list[CollisionForecast]:
    """Return (row of an ego or of the selected body, row of its nearest collision partner, time to collision [s])."""
    solid = view.stage.solid[view.present[view.stage.solid]]
    watched = [
        row for row in (*view.stage.bots[:MAX_WATCHED], view.options.selected) if row is not None and row in solid
    ]
    found = list[CollisionForecast]()
    for row in dict.fromkeys(watched):
        rest = solid[solid != row]
        if not len(rest):
            continue
        times = time_to_collision(_footprint(view, np.full(len(rest), row)), _footprint(view, rest))
        if np.isfinite(times).any():
            nearest = int(np.nanargmin(times))
            found.append((row, int(rest[nearest]), float(times[nearest])))
    return found


def _footprint(view: View, rows: NDArray[np.int64]) -> Footprint:
    size = view.stage.sizes[rows]
    height, half = view.state.position[rows, 2], 0.5 * size[:, 2]
    return Footprint(
        view.state.position[rows, :2],
        view.state.velocity[rows, :2],
        view.headings[rows],
        size[:, 0],
        size[:, 1],
        height - half,
        height + half,
    )


def draw(canvas: Canvas, view: View) -> None:
    """Draw a line between the bodies."""
    for row, other, time in _near(view):
        canvas.line(view.places[[row, other]], _colour(time), 3.0 if time < HIGH else 1.5)


def draw_values(canvas: Canvas, view: View) -> None:
    """Draw the time between the bodies."""
    for row, other, time in _near(view):
        middle = view.places[[row, other]].mean(axis=0).tolist()
        places = [
            place for away in (6.0, 24.0) for place in canvas.around(middle, away * canvas.points, away * canvas.points)
        ]
        canvas.label(places, view.called("touches" if time <= 0.0 else f"{time:.1f} s"), _ink(time), 17)


def _near(view: View) -> list[CollisionForecast]:
    return [forecast for forecast in nearest_collisions(view) if forecast[2] <= MAX_SHOWN]


def _ink(time: float) -> Colour:
    return WORDS.danger if time < HIGH else WORDS.warning


def _colour(time: float) -> Colour:
    return PAINT.danger if time < HIGH else PAINT.warning
