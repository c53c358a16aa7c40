"""Danger: between which bodies a collision is near, and how many seconds away it is."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry.ttc import Footprint, time_to_collision
from cbsim.palette import PAINT, WORDS
from cbsim.viewer.canvas import Canvas, Colour
from cbsim.viewer.view import View

__all__ = ["Danger", "dangers_of", "draw", "draw_words"]

SHOWN = 5.0  # [s] what is farther away is not drawn
HIGH = 2.0  # [s] what is nearer is drawn in the colour of danger
FEW = 8  # bots that are watched at most

Danger = tuple[int, int, float]


@lru_cache(maxsize=4)  # a view is told of in the picture and beside it
def dangers_of(view: View) -> list[Danger]:
    """Row of a bot or of the selected body, row of the body it will meet first, and time until then [s]."""
    solid = view.stage.solid
    watched = [row for row in (*view.stage.bots[:FEW], view.looks.selected) if row is not None and row in solid]
    found = list[Danger]()
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
    height, half = view.moment.position[rows, 2], 0.5 * size[:, 2]
    return Footprint(
        view.moment.position[rows, :2],
        view.moment.velocity[rows, :2],
        view.headings[rows],
        size[:, 0],
        size[:, 1],
        height - half,
        height + half,
    )


def draw(canvas: Canvas, view: View) -> None:
    """Join both bodies by a line."""
    for row, other, time in _near(view):
        canvas.line(view.places[[row, other]], _colour(time), 3.0 if time < HIGH else 1.5)


def draw_words(canvas: Canvas, view: View) -> None:
    """Tell the seconds in the middle between both bodies."""
    for row, other, time in _near(view):
        middle = view.places[[row, other]].mean(axis=0).tolist()
        places = [
            place for away in (6.0, 24.0) for place in canvas.around(middle, away * canvas.points, away * canvas.points)
        ]
        canvas.label(places, view.called("touches" if time <= 0.0 else f"{time:.1f} s"), _ink(time), 17)


def _near(view: View) -> list[Danger]:
    return [danger for danger in dangers_of(view) if danger[2] <= SHOWN]


def _ink(time: float) -> Colour:
    return WORDS.danger if time < HIGH else WORDS.warning


def _colour(time: float) -> Colour:
    return PAINT.danger if time < HIGH else PAINT.warning
