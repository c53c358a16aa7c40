"""Trajectories on the road network, with outlines of bodies at chosen times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.plot.labels import LabelPlacer
from cbsim.plot.map_background import STATIC, draw_checkpoints, draw_outlines, draw_road, extent_of, set_extent
from cbsim.plot.request import PlotRequest
from cbsim.plot.style import legend, line_styles_of
from cbsim.plot.tracks import ObjectTrack, Run

__all__ = ["SIZE", "draw_trajectories", "trajectories"]

SIZE = 160.0, 120.0  # [mm]


def trajectories(runs: Sequence[Run], _request: PlotRequest) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Return the plotted data: by recording and object, rows of time [s], east and north [m]."""
    return {run.name: {one.body.name: np.column_stack([one.times, one.places]) for one in run.tracks} for run in runs}


def draw_trajectories(drawn: Any, runs: Sequence[Run], request: PlotRequest, size: tuple[float, float]) -> None:
    """Draw the trajectories of recordings on the first available road."""
    styles = line_styles_of(runs, request.style)
    axes = drawn.add_subplot()
    shown = [(track, line_style, _rows(track, request)) for _, track, line_style in styles]
    corners = [track.outline(row) for track, _, rows in shown for row in rows]
    extent = extent_of(np.concatenate([*(track.places for track, _, _ in shown), *corners]), size)
    road = next((run.road for run in runs if run.road is not None), None)
    if road is not None:
        draw_road(axes, road, extent, request.style)
    still = [one.outline(0) for run in runs for one in run.others]
    draw_outlines(axes, still, "#5a6068", STATIC, 2.6)
    lines = []
    for track, line_style, rows in shown:
        (line,) = axes.plot(*track.places.T, **line_style.line(), zorder=4)
        lines.append(line)
        draw_outlines(axes, [track.outline(row) for row in rows], line_style.colour, f"{line_style.colour}30", 5)
    labels = LabelPlacer(extent, size, corners)
    if request.at:
        for track, line_style, row in ((track, line_style, row) for track, line_style, rows in shown for row in rows):
            labels.put(axes, f"{track.times[row]:g} s", track.outline(row), line_style.colour)
    if road is not None:
        draw_checkpoints(axes, road, extent, request.style, labels)
    set_extent(axes, extent)
    legend(drawn, lines, [line_style.name for _, _, line_style in styles])


def _rows(track: ObjectTrack, request: PlotRequest) -> list[int]:
    """Rows at which outlines are drawn: the requested times, else the first and last."""
    there = np.flatnonzero(track.there)
    if not len(there):
        return []
    if not request.at:
        return sorted({int(there[0]), int(there[-1])})
    first, last = track.times[there[[0, -1]]]
    within = [time for time in request.at if first - 1e-9 <= time <= last + 1e-9]
    return sorted({track.row(time) for time in within})
