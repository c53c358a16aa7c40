"""Scans of a laser seen from above: one, some, or all of a time over each other, in the world or before the sensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import UsageError
from cbsim.palette import SERIES
from cbsim.plot.courses import Course, Run
from cbsim.plot.ground import INK, STILL, draw_checkpoints, draw_road, extent_of, frame, outlines
from cbsim.plot.labels import Labels
from cbsim.plot.looks import hexadecimal, legend
from cbsim.plot.wishes import Wishes
from cbsim.recording.recording import Recording
from cbsim.sensing import READINGS, Scan

__all__ = ["SIZE", "draw_scans", "scans"]

SIZE = 140.0, 130.0  # [mm]
MANY = 20_000  # points, from which on they are pixels in a file of lines, which would be too large to open
MARKERS = ("o", "s", "^", "x", "D", "+")
Floats = NDArray[np.float64]


def scans(runs: Sequence[Run], wishes: Wishes) -> dict[str, Floats]:
    """Give what is drawn: by name of recording and time, returns (n, 2) [m], in the frame that was wished."""
    found = _taken(runs, wishes)
    return {name: np.concatenate([_returns(one, wishes.frame) for one in parts]) for name, parts in found.items()}


def _taken(runs: Sequence[Run], wishes: Wishes) -> dict[str, list[Scan]]:
    """Take the scans that are drawn as one, by what the legend says of them."""
    found: dict[str, list[Scan]] = {}
    for run in runs:
        key = wishes.sensor or _first(run.recording)
        taken = [one for one in run.recording.scans(key) if wishes.begin - 1e-9 <= one.time <= wishes.end + 1e-9]
        if not taken:
            raise UsageError(f"no scan of '{key}' from {wishes.begin:g} s to {wishes.end:g} s in '{run.name}'")
        for name, parts in _parted(taken, key, wishes):
            found[name if len(runs) == 1 else f"{name}, {run.name}"] = parts
    return found


def _first(recording: Recording) -> str:
    for sensor in recording.header.sensors:
        if sensor.get("type") not in READINGS:
            return str(sensor["key"])
    raise UsageError("there is no laser in the recording whose scans could be drawn")


def _parted(taken: list[Scan], key: str, wishes: Wishes) -> list[tuple[str, list[Scan]]]:
    """Take the scans that are nearest to the wished times, each for itself; else all of them as one."""
    if not wishes.at:
        first, last = taken[0].time, taken[-1].time
        return [(f"{key}, {first:g} s" + (f" to {last:g} s, {len(taken)} scans" if len(taken) > 1 else ""), taken)]
    times = np.array([one.time for one in taken])
    rows = dict.fromkeys(int(np.abs(times - time).argmin()) for time in wishes.at)
    return [(f"{key}, {taken[row].time:g} s", [taken[row]]) for row in rows]


def _returns(scan: Scan, where: str) -> Floats:
    """Places (n, 2) [m] of the returns in the world, or in the sensor's frame, x right and y forward."""
    if where == "world":
        return np.asarray(scan.points[scan.returned][:, :2])
    return np.asarray((scan.directions[scan.returned] * scan.ranges[scan.returned][:, None])[:, :2])


def draw_scans(drawn: Any, runs: Sequence[Run], wishes: Wishes, size: tuple[float, float]) -> None:
    """Draw scans: in the world on the road with the bodies, in the sensor's frame around the sensor."""
    taken, found = _taken(runs, wishes), scans(runs, wishes)
    axes = drawn.add_subplot()
    world = wishes.frame == "world"
    origins = [one.pose.position[:2] if world else np.zeros(2) for parts in taken.values() for one in parts]
    extent = extent_of(np.concatenate([*found.values(), np.array(origins)]), size)
    if world:
        road = next((run.road for run in runs if run.road is not None), None)
        if road is not None:
            draw_road(axes, road, extent, wishes.style)
            draw_checkpoints(axes, road, extent, wishes.style, Labels(extent, size))
        _bodies(axes, runs, wishes)
    else:
        axes.plot(0.0, 0.0, marker="^", markersize=7, color=INK, zorder=6)
        axes.grid(visible=True)
    many = sum(map(len, found.values())) > MANY
    dots = []
    for number, points in enumerate(found.values()):
        colour = INK if wishes.style == "bw" else hexadecimal(SERIES[number % len(SERIES)])
        marker = {"marker": MARKERS[number % len(MARKERS)], "markersize": 1.6, "markeredgewidth": 0.4}
        (line,) = axes.plot(*points.T, linestyle="none", color=colour, zorder=5, rasterized=many, **marker)
        dots.append(line)
    frame(axes, extent, *(("east [m]", "north [m]") if world else ("right [m]", "forward [m]")))
    legend(drawn, dots, list(found))


def _bodies(axes: Any, runs: Sequence[Run], wishes: Wishes) -> None:
    """Draw what stands, and what moves at the wished times, or at the last one."""
    still = [one.outline(0) for run in runs for one in run.others]
    outlines(axes, still, "#5a6068", STILL, 2.6)
    corners = [one.outline(row) for run in runs for one in run.courses for row in _rows(one, wishes)]
    outlines(axes, corners, INK, "none", 4)


def _rows(course: Course, wishes: Wishes) -> list[int]:
    return sorted({course.row(time) for time in wishes.at}) or [len(course.times) - 1]
