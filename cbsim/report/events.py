"""Events of a report: checks, contacts, and events of the scenario."""

from __future__ import annotations

from dataclasses import dataclass

from cbsim.arrays import Ints
from cbsim.recording.batch import Header
from cbsim.road.lights import LightSwitch, light_switches
from cbsim.world.scene import Scene
from cbsim.world.traffic.events import HAPPENED, KINDS

__all__ = ["Event", "scenario_events", "switches_of"]

SAID = {"event": "came true", "overruled": "an action of it was overruled in the same step"}


@dataclass(frozen=True, eq=False)
class Event:
    """A check, a contact or an event of the scenario; `time` [s] and `place` (2,) [m] if known."""

    name: str
    message: str
    passed: bool | None
    time: float | None
    row: int
    place: tuple[float, float] | None


def scenario_events(header: Header, rows: Ints) -> list[Event]:
    """List events of the scenario that came true, and those of which an action was overruled.

    Parameters
    ----------
    header : Header
    rows : ndarray, shape (n, 4)
        As `cbsim.world.traffic.events.EVENT` has them, of no other kinds.
    """
    names = dict(enumerate(header.events))
    return [
        Event(names.get(number, f"event {number}"), SAID[KINDS[kind]], None, step * header.step, -1, None)
        for step, kind, number, _ in rows.tolist()
    ]


def switches_of(scene: Scene | None, rows: Ints) -> list[LightSwitch]:
    """Find the states of traffic lights that these events have set."""
    return [] if scene is None else light_switches(scene.events, rows[rows[:, 1] == HAPPENED][:, [0, 2]].tolist())
