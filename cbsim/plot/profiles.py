"""Profiles: speed and acceleration over time and over the way, with goals and speed limits where they are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.plot.courses import Course, Run
from cbsim.plot.ground import INK
from cbsim.plot.looks import Look, legend, looks_of
from cbsim.plot.wishes import Wishes

__all__ = ["COLUMNS", "SIZE", "draw_profiles", "profiles"]

SIZE = 160.0, 110.0  # [mm]
STEEPEST = 12.0  # [m/s²] axes go no further: what literal traffic does in one step would flatten all else
COLUMNS = ("time", "way", "speed", "acceleration", "limit")


def profiles(runs: Sequence[Run]) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Give what is drawn: by recording, and by object there, rows of `COLUMNS` [s, m, m/s, m/s², m/s]."""
    return {run.name: {one.body.name: _table(one) for one in run.courses} for run in runs}


def _table(course: Course) -> NDArray[np.float64]:
    return np.column_stack([course.times, course.way, course.speeds, course.accelerations, course.limits])


def draw_profiles(drawn: Any, runs: Sequence[Run], wishes: Wishes, _size: tuple[float, float]) -> None:
    """Draw speed above acceleration, over time on the left and over the way on the right."""
    looks = looks_of(runs, wishes.style)
    grid = drawn.subplots(2, 2, sharex="col", sharey="row")
    lines = []
    extra: dict[str, Any] = {}
    for _, course, look in looks:
        for column, over in enumerate((course.times, course.way)):
            (line,) = grid[0][column].plot(over, course.speeds, **look.line(), zorder=3)
            grid[1][column].plot(over, course.accelerations, **look.line(), zorder=3)
            extra |= _known(grid[0][column], over, course, look)
        lines.append(line)
    _label(grid, jump=any(course.body.kind != "model" for _, course, _ in looks))
    legend(drawn, [*lines, *extra.values()], [*(look.name for _, _, look in looks), *extra])


def _known(axes: Any, over: NDArray[np.float64], course: Course, look: Look) -> dict[str, Any]:
    """Draw speed limits and the goals that were reached; returns what the legend has of them."""
    found: dict[str, Any] = {}
    if np.isfinite(course.limits).any():
        (found["speed limit"],) = axes.plot(
            over, course.limits, color=INK, linewidth=0.8, linestyle=(0, (1, 1)), zorder=2
        )
    if course.reached:
        rows = list(course.reached)
        points = {"linestyle": "none", "marker": "v", "markersize": 4.5, "markerfacecolor": "white"}
        axes.plot(over[rows], course.speeds[rows], markeredgecolor=look.colour, zorder=4, **points)
        (found["goal reached"],) = axes.plot([], [], markeredgecolor=INK, **points)
    return found


def _label(grid: Any, *, jump: bool) -> None:
    """Say what axes show; where traffic may jump from one speed to another, accelerations are bounded."""
    for row, name in enumerate(("speed [m/s]", "acceleration [m/s²]")):
        grid[row][0].set_ylabel(name)
    for column, name in enumerate(("time [s]", "way [m]")):
        grid[1][column].set_xlabel(name)
    for axes in grid.ravel():
        axes.grid(visible=True)
        axes.margins(x=0.02)
    low, high = grid[1][0].get_ylim()
    if jump and (low < -STEEPEST or high > STEEPEST):
        grid[1][0].set_ylim(max(low, -STEEPEST), min(high, STEEPEST))
