"""Laser scans in the top view, single or accumulated, in the world or the sensor frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import UsageError
from cbsim.palette import SERIES
from cbsim.plot.labels import LabelPlacer
from cbsim.plot.map_background import INK, STATIC, draw_checkpoints, draw_outlines, draw_road, extent_of, set_extent
from cbsim.plot.request import PlotRequest
from cbsim.plot.style import hexadecimal, legend
from cbsim.plot.tracks import ObjectTrack, Run
from cbsim.recording.recording import Recording
from cbsim.sensing import READINGS, Scan

__all__ = ["SIZE", "draw_scans", "scans"]

SIZE = 140.0, 130.0  # [mm]
RASTERIZE_ABOVE = 20_000  # points from which they are rasterised in vector formats, which would be too large otherwise
MARKERS = ("o", "s", "^", "x", "D", "+")


def scans(runs: Sequence[Run], request: PlotRequest) -> dict[str, dict[str, Floats]]:
    """Return the plotted data: under ``scan``, by recording and time, returns (n, 2) [m] in the requested frame."""
    taken = _taken(runs, request).items()
    return {"scan": {name: np.concatenate([_returns(one, request.frame) for one in parts]) for name, parts in taken}}


def _taken(runs: Sequence[Run], request: PlotRequest) -> dict[str, list[Scan]]:
    """Group the scans by legend entry."""
    found: dict[str, list[Scan]] = {}
    for run in runs:
        key = request.sensor or _first(run.recording)
        taken = [one for one in run.recording.scans(key) if request.begin - 1e-9 <= one.time <= request.end + 1e-9]
        if not taken:
            raise UsageError(f"no scan of '{key}' from {request.begin:g} s to {request.end:g} s in '{run.name}'")
        for name, parts in _parted(taken, key, request):
            found[name if len(runs) == 1 else f"{name}, {run.name}"] = parts
    return found


def _first(recording: Recording) -> str:
    for sensor in recording.header.sensors:
        if sensor.get("type") not in READINGS:
            return str(sensor["key"])
    raise UsageError("there is no laser in the recording whose scans could be drawn")


def _parted(taken: list[Scan], key: str, request: PlotRequest) -> list[tuple[str, list[Scan]]]:
    """Select the scans nearest to the requested times, or all as one group."""
    if not request.at:
        first, last = taken[0].time, taken[-1].time
        return [(f"{key}, {first:g} s" + (f" to {last:g} s, {len(taken)} scans" if len(taken) > 1 else ""), taken)]
    times = np.array([one.time for one in taken])
    rows = dict.fromkeys(int(np.abs(times - time).argmin()) for time in request.at)
    return [(f"{key}, {taken[row].time:g} s", [taken[row]]) for row in rows]


def _returns(scan: Scan, where: str) -> Floats:
    """Positions (n, 2) [m] of the returns in the world or the sensor frame (x right, y forward)."""
    if where == "world":
        return np.asarray(scan.points[scan.returned][:, :2])
    return np.asarray((scan.directions[scan.returned] * scan.ranges[scan.returned][:, None])[:, :2])


def draw_scans(drawn: Any, runs: Sequence[Run], request: PlotRequest, size: tuple[float, float]) -> None:
    """Draw scans: in the world frame on the road with bodies, in the sensor frame around the sensor."""
    taken, found = _taken(runs, request), scans(runs, request)["scan"]
    axes = drawn.add_subplot()
    world = request.frame == "world"
    origins = [one.pose.position[:2] if world else np.zeros(2) for parts in taken.values() for one in parts]
    extent = extent_of(np.concatenate([*found.values(), np.array(origins)]), size)
    if world:
        road = next((run.road for run in runs if run.road is not None), None)
        if road is not None:
            draw_road(axes, road, extent, request.style)
            draw_checkpoints(axes, road, extent, request.style, LabelPlacer(extent, size))
        _bodies(axes, runs, request)
    else:
        axes.plot(0.0, 0.0, marker="^", markersize=7, color=INK, zorder=6)
        axes.grid(visible=True)
    many = sum(map(len, found.values())) > RASTERIZE_ABOVE
    dots = []
    for number, points in enumerate(found.values()):
        colour = INK if request.style == "bw" else hexadecimal(SERIES[number % len(SERIES)])
        marker = {"marker": MARKERS[number % len(MARKERS)], "markersize": 1.6, "markeredgewidth": 0.4}
        (line,) = axes.plot(*points.T, linestyle="none", color=colour, zorder=5, rasterized=many, **marker)
        dots.append(line)
    set_extent(axes, extent, *(("east [m]", "north [m]") if world else ("right [m]", "forward [m]")))
    legend(drawn, dots, list(found))


def _bodies(axes: Any, runs: Sequence[Run], request: PlotRequest) -> None:
    """Draw static bodies, and moving ones at the requested times or at the end."""
    still = [one.outline(0) for run in runs for one in run.others]
    draw_outlines(axes, still, "#5a6068", STATIC, 2.6)
    corners = [one.outline(row) for run in runs for one in run.tracks for row in _rows(one, request)]
    draw_outlines(axes, corners, INK, "none", 4)


def _rows(track: ObjectTrack, request: PlotRequest) -> list[int]:
    return sorted({track.row(time) for time in request.at}) or [len(track.times) - 1]
