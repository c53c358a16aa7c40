"""Packed data of a report's scripts: quantised motion as differences, compressed into one string.

If a run exceeds the page's size budget, only every second, fourth, … step becomes a frame. The resulting error is
measured and stated on the page.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Floats
from cbsim.page import Packer
from cbsim.report.channels import CHANNELS
from cbsim.report.data import Event, Run
from cbsim.report.frames import Motion, Quantised, frames_of, interpolation_error, quantise
from cbsim.report.model_poses import ModelPose
from cbsim.report.planner_annotations import kept_rows, pack_annotations
from cbsim.road.drawing import Road
from cbsim.road.lights import LaneLights, LightSwitch

__all__ = ["BUDGET", "PackedData", "pack"]

BUDGET = 4_400_000  # characters of data in a page of 5 MB; scripts and tables take the rest
FIRST = 8_000_000  # values packed in the first attempt at most: more are slow to pack and rarely fit
PLACE, ANGLE = 1e-3, 1e-4  # [m], [rad] resolutions of positions and headings
TURN = 1e-4  # resolution of quaternion components


@dataclass(frozen=True, slots=True)
class PackedData:
    """Page data and their accuracy.

    Attributes
    ----------
    data : dict
        Serialisable as JSON.
    frames : list of int
        Number of frames of each run.
    place, angle : float
        Largest interpolation errors of position [m] and heading [rad].
    """

    data: dict[str, Any]
    frames: list[int]
    place: float
    angle: float


def pack(runs: Sequence[Run], budget: int = BUDGET) -> PackedData:
    """Pack runs with as many frames as fit the budget.

    Parameters
    ----------
    runs : sequence of Run
    budget : int
        Characters of data; may be exceeded at one frame per ten seconds.
    """
    numbers = sum(len(run.steps) * (3 * len(run.header.moving) + 7 * len(run.plotted)) for run in runs)
    stride = 1
    while numbers / stride > FIRST:
        stride *= 2
    while True:
        found = _pack(runs, stride)
        size = len(json.dumps(found.data, separators=(",", ":")))
        if size <= budget or stride * runs[0].header.step > 10.0:
            return found
        stride *= 2


def _pack(runs: Sequence[Run], stride: int) -> PackedData:
    packer = Packer()
    told, frames, place, angle = list[dict[str, Any]](), list[int](), 0.0, 0.0
    for run in runs:
        kept = frames_of(len(run.steps), stride, _event_rows(run))
        for row in run.header.moving:
            off = interpolation_error(run.times, kept, run.motions[row])
            place, angle = max(place, off[0]), max(angle, off[1])
        told.append(_run(run, kept, packer) | _shown(run, stride, packer))
        frames.append(len(kept))
    first = next((run for run in runs if run.road is not None), None)
    road = None if first is None else first.road
    lights = [] if first is None else _lights(first.lights, first.switches, first.header.step)
    data = {
        "runs": told,
        "channels": [{"key": c.key, "title": c.title, "unit": c.unit, "limit": c.limit} for c in CHANNELS],
        "road": None if road is None else _road(road, packer) | {"lights": lights},
        "data": packer.text(),
    }
    return PackedData(data, frames, place, angle)


def _event_rows(run: Run) -> NDArray[np.int64]:
    """Rows that always become frames: checks, contacts and extremes."""
    times = np.array([event.time for event in (*run.events, *run.contacts) if event.time is not None], float)
    rows = np.round(times / run.header.step).astype(np.int64) - int(run.steps[0])
    extremes = [row for body in run.plotted for row in body.extremes().values()]
    return np.concatenate([rows, np.array(extremes, np.int64)])


def _run(run: Run, kept: NDArray[np.int64], packer: Packer) -> dict[str, Any]:
    events = [("check", event) for event in run.events] + [("contact", event) for event in run.contacts]
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
        "marks": [_event(kind, event) for kind, event in events],
        "subjects": [
            {
                "row": body.row,
                "values": {
                    channel.key: _grain(quantise(body.values[channel.key][kept], channel.resolution), packer)
                    for channel in CHANNELS
                    if np.isfinite(body.values[channel.key][kept]).any()
                },
                "whom": packer.add(body.partner[kept].astype("<i4")[:, None], rows=True),
            }
            for body in run.plotted
        ],
    }


def _shown(run: Run, stride: int, packer: Packer) -> dict[str, Any]:
    """Pack planner annotations, if there are any."""
    found = pack_annotations(kept_rows(run.drawings, stride * run.header.step), packer)
    return {} if found is None else {"drawings": found}


def _motion(motion: Motion, kept: NDArray[np.int64], packer: Packer) -> dict[str, Any]:
    """Pack a body's motion: a single pose if static, else one column per component."""
    if not motion.turns:
        return {"pose": [float(motion.x[0]), float(motion.y[0]), float(motion.heading[0])]}
    at = motion.at(kept)
    columns = (quantise(at.x, PLACE), quantise(at.y, PLACE), quantise(at.heading, ANGLE))
    return {"motion": [_grain(column, packer) for column in columns]}


def _span(run: Run, row: int) -> list[float]:
    """Return the heights between which a body extends at the start [m]."""
    middle, half = float(run.header.objects[row]["position"][2]), 0.5 * run.bodies[row].size[2]
    return [round(middle - half, 3), round(middle + half, 3)]


def _figure(figure: ModelPose | None, kept: NDArray[np.int64], packer: Packer) -> dict[str, Any]:
    """Pack the hull and pose of a model body."""
    if figure is None:
        return {}
    columns = (quantise(figure.height[kept], PLACE), *(quantise(part, TURN) for part in figure.turn[kept].T))
    return {"corners": figure.corners.round(4).tolist(), "tilt": [_grain(column, packer) for column in columns]}


def _grain(grain: Quantised, packer: Packer) -> dict[str, Any]:
    return {"unit": grain.unit, "counts": packer.add(grain.counts.astype("<i4")[:, None], rows=True)}


def _event(kind: str, event: Event) -> dict[str, Any]:
    place = None if event.place is None else [round(value, 3) for value in event.place]
    return {
        "kind": kind,
        "name": event.name,
        "message": event.message,
        "passed": event.passed,
        "time": event.time,
        "row": event.row,
        "place": place,
    }


def _line(points: Floats, packer: Packer) -> dict[str, Any]:
    grain = quantise(np.asarray(points, float).ravel(), PLACE)
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


def _lights(found: LaneLights | None, switches: Sequence[LightSwitch], step: float) -> list[dict[str, Any]]:
    """List ends of lanes with the phases of their lights: when each ends within its cycle [s], and its state.

    With them stand the times [s] from which on events hold a light in a state, -1 for its program.
    """
    if found is None:
        return []
    signals = found.signals
    cycles = [slice(*signals.offsets[light : light + 2].tolist()) for light in range(len(signals.names))]
    phases = [[signals.ends[cycle].round(3).tolist(), signals.states[cycle].tolist()] for cycle in cycles]
    held: list[list[list[float]]] = [[[], []] for _ in signals.names]
    for switch in switches:
        times, states = held[signals.names.index(switch.light)]
        times.append(round(switch.step * step, 6))
        states.append(-1 if switch.state is None else int(switch.state))
    return [
        {"place": place, "phases": [phases[light] for light in lights], "held": [held[light] for light in lights]}
        for place, lights in zip(found.places.round(2).tolist(), found.lights, strict=True)
    ]


def _labels(labels: Sequence[Any], packer: Packer) -> dict[str, Any]:
    places = np.array([label.place for label in labels], float).reshape(-1, 2)
    return {"texts": [label.text for label in labels], "places": _line(places, packer)}
