"""Traffic lights as they are drawn: which stand at the end of each lane, and what they show at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.errors import ModelError
from cbsim.road.lanelets import build_lanelets
from cbsim.road.light_names import light_names
from cbsim.road.roadmap import RoadMap
from cbsim.road.signals import Signals, SignalState, signals_of
from cbsim.spec.traffic import LightProgram

__all__ = ["LaneLights", "lane_lights"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LaneLights:
    """Lights at the ends of lanes.

    Attributes
    ----------
    signals : Signals
    lights : tuple of tuple of int
        Rows of `signals` at each end.
    places : ndarray, shape (ends, 2)
        The ends [m].
    """

    signals: Signals
    lights: tuple[tuple[int, ...], ...]
    places: Floats

    def states(self, time: float) -> list[SignalState]:
        """Find the strictest light at each end at a time since the start [s]."""
        return [max(self.signals.state(light, time) for light in lights) for lights in self.lights]


def lane_lights(roadmap: RoadMap, programs: tuple[LightProgram, ...]) -> LaneLights | None:
    """Find the lights of a network; None where it has none, or more overlaps than lanelets are made of."""
    if not light_names(roadmap.network):
        return None
    try:
        lanelets = build_lanelets(roadmap)
    except ModelError:
        return None
    rows = [row for row in range(len(lanelets)) if len(lanelets.lights[row])]
    places = lanelets.points[lanelets.offsets[np.array(rows, np.int64) + 1] - 1]
    lights = tuple(tuple(lanelets.lights[row].tolist()) for row in rows)
    return LaneLights(signals_of(lanelets, programs), lights, np.asarray(places, np.float64).reshape(-1, 2))
