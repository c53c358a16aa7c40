"""`RunControl`: the E-stop and the mission clock of vehicles, from the steps at which events came true."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cbsim.arrays import Ints
from cbsim.spec.events import RUN_STATES
from cbsim.spec.mission_clock import ALARM
from cbsim.world.events.tables import ACTIONS, EVENT, KIND, STATE, TARGET, Events

__all__ = ["NO_RUN_CONTROL", "RestartRow", "RunControl", "StateRow", "Timeline", "run_control_of"]

RUN, PAUSE, DISABLE = RUN_STATES


class StateRow(NamedTuple):
    """An event that sets a run state: its number, the row of the body, and the state."""

    event: int
    row: int
    state: str


class RestartRow(NamedTuple):
    """An event with which a vehicle begins anew: its number, the row of the body, and the leg of the mission."""

    event: int
    row: int
    leg: int


class Timeline(NamedTuple):
    """Run states of one vehicle so far.

    Attributes
    ----------
    changes : tuple of (float, str)
        When each state began [s], in order; the first is that at the start.
    start : float
        When the mission starts: RUN and the alarm [s]; infinite before RUN.
    """

    changes: tuple[tuple[float, str], ...]
    start: float

    def state(self, time: float) -> str:
        """State at a time [s]."""
        return next((state for since, state in reversed(self.changes) if since <= time + 1e-9), self.changes[0][1])

    def halts(self, until: float) -> Iterator[tuple[float, float]]:
        """Yield begin and end [s] of the times after the start in which the state is not RUN, until a time."""
        ends = [since for since, _ in self.changes[1:]] + [until]
        for (since, state), changed in zip(self.changes, ends, strict=True):
            begin, end = max(since, self.start), min(changed, until)
            if state != RUN and end > begin:
                yield begin, end

    def mission_time(self, time: float) -> float:
        """Time since the start of the mission, without pauses [s]."""
        return max(0.0, time - self.start - math.fsum(end - begin for begin, end in self.halts(time)))

    def alarm(self, time: float) -> float:
        """Time that is left of the alarm [s]; 0 before RUN, and when it is over."""
        left = self.start - time
        return left if 1e-9 < left < np.inf else 0.0


@dataclass(frozen=True, slots=True)
class RunControl:
    """Run states and restarts that events of a run set.

    Attributes
    ----------
    held : tuple of int
        Rows of the bodies of vehicles that are in PAUSE until the RUN of their mission.
    alarm : float
        Time from RUN to the start of the mission [s].
    states : tuple of StateRow
        In the order of lines: of several in a step the last holds.
    restarts : tuple of RestartRow
    """

    held: tuple[int, ...] = ()
    alarm: float = 0.0
    states: tuple[StateRow, ...] = ()
    restarts: tuple[RestartRow, ...] = field(default=())

    def __bool__(self) -> bool:
        return bool(self.states or self.restarts)

    @property
    def events(self) -> set[int]:
        """Numbers of all of its events."""
        return {one.event for one in self.states} | {one.event for one in self.restarts}

    def timeline(self, row: int, happened: Mapping[int, int], step: float) -> Timeline:
        """Run states of a vehicle.

        Parameters
        ----------
        row : int
            Of its body.
        happened : mapping
            Number of an event → step at which it came true.
        step : float
            Length of a step [s].
        """
        own = [one for one in self.states if one.row == row]
        is_held = row in self.held
        newest = {happened[one.event]: one.state for one in own if one.event in happened}
        changes = [(0.0, PAUSE if is_held else RUN)]
        for when, state in sorted(newest.items()):
            if changes[-1][1] not in (state, DISABLE):
                changes.append((when * step, state))
        runs = (since for since, state in changes if state == RUN)
        start = next(runs, np.inf) + self.alarm if is_held else 0.0
        return Timeline(tuple(changes), start)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        if not self:
            return {}
        return {
            "held": list(self.held),
            "alarm": self.alarm,
            "states": [list(one) for one in self.states],
            "restarts": [list(one) for one in self.restarts],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RunControl:
        """Make from the plain data of a header.

        Raises
        ------
        ValueError, TypeError or KeyError
            If it is anything else.
        """
        if not data:
            return NO_RUN_CONTROL
        states = tuple(StateRow(*one) for one in data["states"])
        restarts = tuple(RestartRow(*one) for one in data["restarts"])
        held = tuple(data["held"])
        numbers = [one[:2] for one in states] + [tuple(one) for one in restarts] + [held]
        if not all(type(number) is int and number >= 0 for one in numbers for number in one):
            raise ValueError("a row of run control is not a number")
        if not all(one.state in RUN_STATES for one in states):
            raise ValueError("a run state is not known")
        return cls(held, float(data["alarm"]), states, restarts)


NO_RUN_CONTROL = RunControl()


def run_control_of(events: Events, vehicle_body: Ints) -> RunControl:
    """Run control of a World, from its events and the rows of the bodies of its vehicles."""
    states, restarts = list[StateRow](), list[RestartRow]()
    for row in events.tables.actions.tolist():
        kind, event, state = ACTIONS[row[KIND]], row[EVENT], row[STATE]
        if kind == "run_state":
            states.append(StateRow(event, int(vehicle_body[row[TARGET]]), RUN_STATES[state]))
        elif kind == "restart":
            restarts.append(RestartRow(event, int(vehicle_body[row[TARGET]]), state))
    held = tuple(int(vehicle_body[vehicle]) for vehicle in events.held)
    return RunControl(held, ALARM if held else 0.0, tuple(states), tuple(restarts))
