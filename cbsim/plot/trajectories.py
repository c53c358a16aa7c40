"""Trajectories seen from above, on the network, with outlines of the bodies at chosen times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.plot.courses import Course, Run
from cbsim.plot.ground import STILL, draw_checkpoints, draw_road, extent_of, frame, outlines
from cbsim.plot.labels import Labels
from cbsim.plot.looks import legend, looks_of
from cbsim.plot.wishes import Wishes

__all__ = ["SIZE", "draw_trajectories", "trajectories"]

SIZE = 160.0, 120.0  # [mm]


def trajectories(runs: Sequence[Run]) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Give what is drawn: by recording, and by object there, rows of time [s], east and north [m]."""
    return {run.name: {one.body.name: np.column_stack([one.times, one.places]) for one in run.courses} for run in runs}


def draw_trajectories(drawn: Any, runs: Sequence[Run], wishes: Wishes, size: tuple[float, float]) -> None:
    """Draw the trajectories of recordings over each other, on the road of the first that has one."""
    looks = looks_of(runs, wishes.style)
    axes = drawn.add_subplot()
    shown = [(course, look, _rows(course, wishes)) for _, course, look in looks]
    corners = [course.outline(row) for course, _, rows in shown for row in rows]
    extent = extent_of(np.concatenate([*(course.places for course, _, _ in shown), *corners]), size)
    road = next((run.road for run in runs if run.road is not None), None)
    if road is not None:
        draw_road(axes, road, extent, wishes.style)
    still = [one.outline(0) for run in runs for one in run.others]
    outlines(axes, still, "#5a6068", STILL, 2.6)
    lines = []
    for course, look, rows in shown:
        (line,) = axes.plot(*course.places.T, **look.line(), zorder=4)
        lines.append(line)
        outlines(axes, [course.outline(row) for row in rows], look.colour, f"{look.colour}30", 5)
    labels = Labels(extent, size, corners)
    if wishes.at:
        for course, look, row in ((course, look, row) for course, look, rows in shown for row in rows):
            labels.put(axes, f"{course.times[row]:g} s", course.outline(row), look.colour)
    if road is not None:
        draw_checkpoints(axes, road, extent, wishes.style, labels)
    frame(axes, extent)
    legend(drawn, lines, [look.name for _, _, look in looks])


def _rows(course: Course, wishes: Wishes) -> list[int]:
    """Rows at which outlines are drawn: those of the times, else the first and the last."""
    if not wishes.at:
        return sorted({0, len(course.times) - 1})
    within = [time for time in wishes.at if course.times[0] - 1e-9 <= time <= course.times[-1] + 1e-9]
    return sorted({course.row(time) for time in within})
