"""Runs and roads as the page's scripts read them: what moves as differences of whole numbers, all in one text.

A page has a budget; where a run does not fit, every second step is a frame, every fourth, and so on. What that loses is
measured and told on the page.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.page import Packer
from cbsim.report.data import Mark, Run
from cbsim.report.figures import Figure
from cbsim.report.frames import Grain, Motion, between, frames_of, quantised
from cbsim.report.series import CHANNELS
from cbsim.report.thoughts import kept_rows, thoughts
from cbsim.road.drawing import Road

__all__ = ["BUDGET", "Packed", "packed"]

BUDGET = 4_400_000  # characters of data in a page of 5 MB; scripts and tables take the rest
FIRST = 8_000_000  # numbers that are tried first: more than these take long to pack, and seldom fit
PLACE, ANGLE = 1e-3, 1e-4  # [m], [rad] grains of places and headings
TURN = 1e-4  # of the parts of quaternions

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Packed:
    """Page data, and how good they are.

    Attributes
    ----------
    data : dict
        What JSON can say.
    frames : list of int
        Frames of each run.
    place, angle : float
        Most that a place [m] and a heading [rad] between two frames are off.
    """

    data: dict[str, Any]
    frames: list[int]
    place: float
    angle: float


def packed(runs: Sequence[Run], budget: int = BUDGET) -> Packed:
    """Pack runs with as many frames as fit.

    Parameters
    ----------
    runs : sequence of Run
    budget : int
        Characters of data; with a frame per ten seconds it is let be exceeded.
    """
    numbers = sum(len(run.steps) * (3 * len(run.header.moving) + 7 * len(run.subjects)) for run in runs)
    stride = 1
    while numbers / stride > FIRST:
        stride *= 2
    while True:
        found = _packed(runs, stride)
        size = len(json.dumps(found.data, separators=(",", ":")))
        if size <= budget or stride * runs[0].header.step > 10.0:
            return found
        stride *= 2


def _packed(runs: Sequence[Run], stride: int) -> Packed:
    packer = Packer()
    told, frames, place, angle = list[dict[str, Any]](), list[int](), 0.0, 0.0
    for run in runs:
        kept = frames_of(len(run.steps), stride, _marks(run))
        for row in run.header.moving:
            off = between(run.times, kept, run.motions[row])
            place, angle = max(place, off[0]), max(angle, off[1])
        told.append(_run(run, kept, packer) | _shown(run, stride, packer))
        frames.append(len(kept))
    road = next((run.road for run in runs if run.road is not None), None)
    data = {
        "runs": told,
        "channels": [{"key": c.key, "title": c.title, "unit": c.unit, "limit": c.limit} for c in CHANNELS],
        "road": None if road is None else _road(road, packer),
        "data": packer.text(),
    }
    return Packed(data, frames, place, angle)


def _marks(run: Run) -> NDArray[np.int64]:
    """Rows worth a frame whatever the stride: those of checks, contacts and extremes."""
    times = np.array([mark.time for mark in (*run.marks, *run.contacts) if mark.time is not None], float)
    rows = np.round(times / run.header.step).astype(np.int64) - int(run.steps[0])
    extremes = [row for subject in run.subjects for row in subject.extremes().values()]
    return np.concatenate([rows, np.array(extremes, np.int64)])


def _run(run: Run, kept: NDArray[np.int64], packer: Packer) -> dict[str, Any]:
    marks = [("check", mark) for mark in run.marks] + [("contact", mark) for mark in run.contacts]
    return {
        "file": run.file,
        "alone": run.alone,
        "step": run.header.step,
        "steps": packer.add(run.steps[kept].astype("<i4")[:, None], rows=True),
        "bodies": [
            {
                "name": body.name,
                "kind": body.kind,
                "outline": np.round(body.outline, 3).ravel().tolist(),
                "span": _span(run, row),
                **_motion(run.motions[row], kept, packer),
                **_figure(run.figures.get(row), kept, packer),
            }
            for row, body in enumerate(run.bodies)
        ],
        "marks": [_mark(kind, mark) for kind, mark in marks],
        "subjects": [
            {
                "row": subject.row,
                "values": {
                    channel.key: _grain(quantised(subject.values[channel.key][kept], channel.grain), packer)
                    for channel in CHANNELS
                    if np.isfinite(subject.values[channel.key][kept]).any()
                },
                "whom": packer.add(subject.whom[kept].astype("<i4")[:, None], rows=True),
            }
            for subject in run.subjects
        ],
    }


def _shown(run: Run, stride: int, packer: Packer) -> dict[str, Any]:
    """Say what planners showed, where they did."""
    found = thoughts(kept_rows(run.drawings, stride * run.header.step), packer)
    return {} if found is None else {"drawings": found}


def _motion(motion: Motion, kept: NDArray[np.int64], packer: Packer) -> dict[str, Any]:
    """Where a body is: one pose if it stays there, else columns over the frames."""
    if not motion.turns:
        return {"pose": [float(motion.x[0]), float(motion.y[0]), float(motion.heading[0])]}
    at = motion.at(kept)
    columns = (quantised(at.x, PLACE), quantised(at.y, PLACE), quantised(at.heading, ANGLE))
    return {"motion": [_grain(column, packer) for column in columns]}


def _span(run: Run, row: int) -> list[float]:
    """Say between which heights a body stands at the start [m]."""
    middle, half = float(run.header.objects[row]["position"][2]), 0.5 * run.bodies[row].size[2]
    return [round(middle - half, 3), round(middle + half, 3)]


def _figure(figure: Figure | None, kept: NDArray[np.int64], packer: Packer) -> dict[str, Any]:
    """How a body of a model tilts, where it is one."""
    if figure is None:
        return {}
    columns = (quantised(figure.height[kept], PLACE), *(quantised(part, TURN) for part in figure.turn[kept].T))
    return {"corners": figure.corners.round(4).tolist(), "tilt": [_grain(column, packer) for column in columns]}


def _grain(grain: Grain, packer: Packer) -> dict[str, Any]:
    return {"unit": grain.unit, "counts": packer.add(grain.counts.astype("<i4")[:, None], rows=True)}


def _mark(kind: str, mark: Mark) -> dict[str, Any]:
    place = None if mark.place is None else [round(value, 3) for value in mark.place]
    return {
        "kind": kind,
        "name": mark.name,
        "message": mark.message,
        "passed": mark.passed,
        "time": mark.time,
        "row": mark.row,
        "place": place,
    }


def _line(points: Floats, packer: Packer) -> dict[str, Any]:
    grain = quantised(np.asarray(points, float).ravel(), PLACE)
    return {"unit": grain.unit, "counts": packer.add(grain.counts.astype("<i4").reshape(-1, 2), rows=True)}


def _road(road: Road, packer: Packer) -> dict[str, Any]:
    return {
        "paint": round(road.paint, 4),
        "lanes": [
            {
                "name": lane.name,
                "left": _line(lane.left, packer),
                "right": _line(lane.right, packer),
                "marks": list(lane.marks),
            }
            for lane in road.lanes
        ],
        "ways": [_line(way, packer) for way in road.ways],
        "stops": [_line(stop, packer) for stop in road.stops],
        "zones": [{"name": name, "corners": _line(corners, packer)} for name, corners in road.zones],
        "spots": [{"name": name, "corners": _line(corners, packer)} for name, corners in road.spots],
        "checkpoints": _labels(road.checkpoints, packer),
        "points": _labels(road.points, packer),
    }


def _labels(labels: Sequence[Any], packer: Packer) -> dict[str, Any]:
    places = np.array([label.place for label in labels], float).reshape(-1, 2)
    return {"texts": [label.text for label in labels], "places": _line(places, packer)}
