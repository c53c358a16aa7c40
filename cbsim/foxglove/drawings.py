"""Annotations of planners as one entity, which is replaced when they change."""

from __future__ import annotations

import numpy as np

from cbsim.foxglove.messages import HERE, MAP, Fields, colour, entity, pose, vector
from cbsim.palette import PAINT
from cbsim.spec.drawing import Dots, Drawing, Line, Text

__all__ = ["planner_annotations"]

LINE_STRIP, LINE_LOOP = 0, 1
GRAIN = 3  # decimals of points in metres
LIFT = np.array([0.0, 0.0, 0.05])  # [m] height of lines above the ground
SIDE = 0.1  # [m] of a dot per pixel
LETTERS = 14.0  # [pixels] height of texts
CORNERS = np.array([(-0.5, -0.5, 0.0), (0.5, -0.5, 0.0), (0.5, 0.5, 0.0), (-0.5, 0.5, 0.0)])
HALVES = np.array([0, 1, 2, 0, 2, 3])
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def planner_annotations(time: float, drawings: tuple[Drawing, ...]) -> Fields:
    """Return the entity of all annotations from a time on [s]; empty if there are none."""
    return entity(
        time,
        MAP,
        "what planners show",
        {},
        lines=[_line(one) for one in drawings if isinstance(one, Line)],
        triangles=[_dots(one) for one in drawings if isinstance(one, Dots)],
        texts=[_text(one) for one in drawings if isinstance(one, Text) and len(one.places)],
    )


def _paint(one: Drawing) -> Fields:
    red, green, blue = one.colour or PAINT.plan
    return colour((red, green, blue))


def _line(one: Line) -> Fields:
    return {
        "type": LINE_LOOP if one.closed else LINE_STRIP,
        "pose": HERE,
        "thickness": one.width,
        "scale_invariant": True,
        "points": [vector(place) for place in (one.places + LIFT).round(GRAIN)],
        "color": _paint(one),
        "colors": [],
        "indices": [],
    }


def _dots(one: Dots) -> Fields:
    """Return a horizontal square for each dot."""
    centres = one.places + LIFT
    corners = (centres[:, None] + SIDE * one.size * CORNERS).reshape(-1, 3).round(GRAIN)
    indices = 4 * np.arange(len(centres))[:, None] + HALVES
    return {
        "pose": HERE,
        "points": [vector(corner) for corner in corners],
        "color": _paint(one),
        "colors": [],
        "indices": indices.ravel().tolist(),
    }


def _text(one: Text) -> Fields:
    return {
        "pose": pose(one.places[0] + LIFT, UPRIGHT),
        "billboard": True,
        "font_size": LETTERS,
        "scale_invariant": True,
        "color": _paint(one),
        "text": one.text,
    }
