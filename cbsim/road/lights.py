"""Traffic lights as they are drawn: which stand at the end of each lane, and what they show at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.errors import ModelError
from cbsim.road.lanelets import build_lanelets
from cbsim.road.light_names import light_names
from cbsim.road.roadmap import RoadMap
from cbsim.road.signals import Signals, SignalState, signals_of
from cbsim.spec.events import Event
from cbsim.spec.traffic import LightProgram

__all__ = ["LaneLights", "LightSwitch", "held_lights", "lane_lights", "light_switches"]

SWITCHED = {"program": None, **{state.name.lower(): state for state in SignalState}}  # by the words of `LIGHT_STATES`
NOTHING_HELD: Mapping[str, SignalState] = MappingProxyType({})


class LightSwitch(NamedTuple):
    """A state that an event sets of a light, from a step on; None gives it back to its program."""

    step: int
    light: str
    state: SignalState | None


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

    def states(self, time: float, held: Mapping[str, SignalState] = NOTHING_HELD) -> list[SignalState]:
        """Find the strictest light at each end at a time since the start [s].

        `held` are the states of lights that events have set (`held_lights`); others have those of their programs.
        """
        own = [held.get(name) for name in self.signals.names]
        shown = {
            light: self.signals.state(light, time) if (set_to := own[light]) is None else set_to
            for lights in self.lights
            for light in lights
        }
        return [max(shown[light] for light in lights) for lights in self.lights]


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


def light_switches(events: Sequence[Event], happened: Iterable[tuple[int, int]]) -> list[LightSwitch]:
    """Find which states events have set of lights.

    Parameters
    ----------
    events : sequence of Event
        Of the scenario.
    happened : iterable of (step, number)
        Which of them came true, and at which step.

    Returns
    -------
    list of LightSwitch
        In order of time; within a step in that of the scenario, of which the last one holds.
    """
    return [
        LightSwitch(step, str(action["light"]), SWITCHED[str(action["state"])])
        for step, number in sorted(happened)
        for action in (events[number].do if number < len(events) else ())
        if action.kind == "light"
    ]


def held_lights(switches: Iterable[LightSwitch], step: float) -> dict[str, SignalState]:
    """States of the lights that events hold at a step."""
    held = dict[str, SignalState | None]()
    for switch in switches:
        if switch.step <= step:
            held[switch.light] = switch.state
    return {light: state for light, state in held.items() if state is not None}
