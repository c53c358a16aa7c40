"""Programs of traffic lights: which state each light of a network has at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.road.lanelets import Lanelets
from cbsim.spec.traffic import LightProgram

__all__ = ["SignalState", "Signals", "signals_of"]

GREEN_TIME, YELLOW_TIME, ALL_RED = 20.0, 3.0, 2.0  # [s] of each group in turn, where a scenario has no program


class SignalState(IntEnum):
    """States of a light; of several lights at one place the strictest, which is the largest, holds."""

    GREEN = 0
    YELLOW = 1
    RED = 2


@dataclass(frozen=True, slots=True)
class Signals:
    """Programs of all lights at lanelet ends.

    Attributes
    ----------
    names : tuple of str
        Names of the lights, as `Lanelets.light_names` has them.
    offsets : ndarray of int, shape (lights + 1,)
        First phase of each light.
    ends : ndarray, shape (phases,)
        When each phase ends, from the begin of its cycle [s].
    states : ndarray of int, shape (phases,)
    """

    names: tuple[str, ...]
    offsets: Ints
    ends: Floats
    states: Ints

    def state(self, light: int, time: float) -> SignalState:
        """State of a light at a time since the start [s]."""
        phases = slice(int(self.offsets[light]), int(self.offsets[light + 1]))
        ends = self.ends[phases]
        within = time % float(ends[-1])
        return SignalState(int(self.states[phases][min(int(np.searchsorted(ends, within, "right")), len(ends) - 1)]))


def signals_of(lanelets: Lanelets, programs: Iterable[LightProgram] = ()) -> Signals:
    """Work out the programs of all lights.

    A light without a program of its own takes part in that of its intersection: the groups, by ``group_id``, have green
    in turn for 20 s, then 3 s of yellow, then all have red for 2 s. A light without a group is one by itself.
    """
    own = {program.light: program.phases for program in programs}
    groups = _groups(lanelets)
    offsets, ends, states = [0], list[float](), list[int]()
    for name in lanelets.light_names:
        phases = own.get(name) or _in_turn(groups.get(name, (0, 1)))
        time = 0.0
        for state, duration in phases:
            time += duration
            ends.append(time)
            states.append(SignalState[state.upper()])
        offsets.append(len(ends))
    return Signals(lanelets.light_names, np.array(offsets, np.int64), np.array(ends, float), np.array(states, np.int64))


def _groups(lanelets: Lanelets) -> dict[str, tuple[int, int]]:
    """Place of each light's group among those of its intersection, and how many there are."""
    found = {}
    for intersection in lanelets.roadmap.network.intersections:
        keys = {light.number: light.group or f"\0{light.number}" for light in intersection.lights}
        order = sorted(set(keys.values()), key=_natural)
        for number, key in keys.items():
            found[f"{intersection.number}.{number}"] = (order.index(key), len(order))
    return found


def _natural(key: str) -> tuple[bool, float, str]:
    """Sort numbers by value, before words."""
    return (False, float(key), "") if key.isdecimal() else (True, 0.0, key)


def _in_turn(turn: tuple[int, int]) -> Sequence[tuple[str, float]]:
    """Phases of the group with a place among so many."""
    place, count = turn
    slot = GREEN_TIME + YELLOW_TIME + ALL_RED
    before, after = place * slot, (count - place - 1) * slot + ALL_RED
    phases = [("red", before), ("green", GREEN_TIME), ("yellow", YELLOW_TIME), ("red", after)]
    return [phase for phase in phases if phase[1] > 0.0]
