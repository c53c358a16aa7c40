"""Twenty scenes of two cars on which surrogate measures of safety are compared."""

from __future__ import annotations

import math
from typing import Any

WIDTH, LENGTH, STEP, TIME = 1.8, 4.4, 0.02, 5.0
MORE = 6.0  # [s] beyond, in which CriMe looks where the ego gets to
LANE, MOVED = 3.5, 3.0  # [m] between lanes; [s] after which a cut-in is over

Scene = dict[str, Any]


def scenes() -> list[Scene]:
    """Twenty scenes: their kind, and x, y, angle and speed of both cars at each step."""
    made: list[Scene] = []
    gaps = ((12, 10, 30), (15, 5, 60), (20, 18, 25), (8, 2, 40), (10, 0, 70), (25, 20, 45), (13, 12, 12), (30, 22, 55))
    for speed, lead, gap in gaps:
        made.append({"kind": "following", "ego": straight(0.0, speed), "other": straight(gap + LENGTH, lead)})
    for speed, lead, gap in ((12, 10, 25), (15, 8, 55), (20, 17, 30), (9, 6, 28), (25, 21, 40), (11, 10, 10)):
        made.append({"kind": "cut-in", "ego": straight(0.0, speed), "other": cut_in(gap + LENGTH, lead)})
    for speed, pace, lag in ((10, 8, 1.0), (8, 12, 0.5), (12, 6, 2.0), (6, 6, 0.8), (10, 10, -3.0), (9, 7, -2.5)):
        made.append({"kind": "crossing", "ego": straight(-25.0, speed), "other": crossing(speed, pace, lag)})
    return made


def straight(x: float, speed: float) -> list[list[float]]:
    """To the east."""
    return [[x + speed * t, 0.0, 0.0, speed] for t in times()]


def cut_in(x: float, speed: float) -> list[list[float]]:
    """To the east, from the lane on the left, between 1 s and 3 s."""
    rows = []
    for t in times():
        share = min(max((t - 1.0) / (MOVED - 1.0), 0.0), 1.0)
        rate = 0.5 * math.pi * math.sin(math.pi * share) / (MOVED - 1.0)
        y, angle = 0.5 * LANE * (1.0 + math.cos(math.pi * share)), math.atan2(-LANE * rate, speed)
        rows.append([x + speed * t, y, angle, speed])
    return rows


def crossing(speed: float, pace: float, lag: float) -> list[list[float]]:
    """To the north over x = 0: the front is at the way of the ego some time after its rear has been there."""
    leaves = (25.0 + 0.5 * WIDTH + 0.5 * LENGTH) / speed
    start = -0.5 * WIDTH - 0.5 * LENGTH - pace * (leaves + lag)
    return [[0.0, start + pace * t, 0.5 * math.pi, pace] for t in times()]


def times() -> list[float]:
    return [k * STEP for k in range(round((TIME + MORE) / STEP) + 1)]


def judged(scene: Scene) -> tuple[int, int]:
    """First and last step at which a scene is looked at."""
    if scene["kind"] == "crossing":
        return 0, len(scene["ego"]) - 1
    return round(MOVED / STEP) if scene["kind"] == "cut-in" else 0, round(TIME / STEP)


def finite(values: dict[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in values.items() if math.isfinite(value)}
