"""Speed and acceleration profiles over time and distance, with goals and speed limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.plot.map_background import INK
from cbsim.plot.request import PlotRequest
from cbsim.plot.style import LineStyle, legend, line_styles_of
from cbsim.plot.tracks import ObjectTrack, Run

__all__ = ["COLUMNS", "SIZE", "draw_profiles", "profiles"]

SIZE = 160.0, 110.0  # [mm]
STEEPEST = 12.0  # [m/s²] limit of the axis: the speed jumps of literal traffic would flatten everything else
COLUMNS = ("time", "distance", "speed", "acceleration", "limit")


def profiles(runs: Sequence[Run], _request: PlotRequest) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Return the plotted data: by recording and object, rows of `COLUMNS` [s, m, m/s, m/s², m/s]."""
    return {run.name: {one.body.name: _table(one) for one in run.tracks} for run in runs}


def _table(track: ObjectTrack) -> NDArray[np.float64]:
    return np.column_stack([track.times, track.distance, track.speeds, track.accelerations, track.limits])


def draw_profiles(drawn: Any, runs: Sequence[Run], request: PlotRequest, _size: tuple[float, float]) -> None:
    """Draw speed and acceleration, over time on the left and over distance on the right."""
    styles = line_styles_of(runs, request.style)
    grid = drawn.subplots(2, 2, sharex="col", sharey="row")
    lines = []
    extra: dict[str, Any] = {}
    for _, track, line_style in styles:
        for column, over in enumerate((track.times, track.distance)):
            (line,) = grid[0][column].plot(over, track.speeds, **line_style.line(), zorder=3)
            grid[1][column].plot(over, track.accelerations, **line_style.line(), zorder=3)
            extra |= _known(grid[0][column], over, track, line_style)
        lines.append(line)
    _label(grid, jump=any(track.body.kind != "model" for _, track, _ in styles))
    legend(drawn, [*lines, *extra.values()], [*(line_style.name for _, _, line_style in styles), *extra])


def _known(axes: Any, over: NDArray[np.float64], track: ObjectTrack, line_style: LineStyle) -> dict[str, Any]:
    """Draw speed limits and reached goals; returns their legend entries."""
    found: dict[str, Any] = {}
    if np.isfinite(track.limits).any():
        (found["speed limit"],) = axes.plot(
            over, track.limits, color=INK, linewidth=0.8, linestyle=(0, (1, 1)), zorder=2
        )
    if track.reached:
        rows = list(track.reached)
        points = {"linestyle": "none", "marker": "v", "markersize": 4.5, "markerfacecolor": "white"}
        axes.plot(over[rows], track.speeds[rows], markeredgecolor=line_style.colour, zorder=4, **points)
        (found["goal reached"],) = axes.plot([], [], markeredgecolor=INK, **points)
    return found


def _label(grid: Any, *, jump: bool) -> None:
    """Label the axes; `jump` limits accelerations if traffic may change its speed within a step."""
    for row, name in enumerate(("speed [m/s]", "acceleration [m/s²]")):
        grid[row][0].set_ylabel(name)
    for column, name in enumerate(("time [s]", "distance [m]")):
        grid[1][column].set_xlabel(name)
    for axes in grid.ravel():
        axes.grid(visible=True)
        axes.margins(x=0.02)
    low, high = grid[1][0].get_ylim()
    if jump and (low < -STEEPEST or high > STEEPEST):
        grid[1][0].set_ylim(max(low, -STEEPEST), min(high, STEEPEST))
