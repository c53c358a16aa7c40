"""Events as a scenario describes them: a condition that comes true once, and actions that it begins.

Names and semantics are those of OpenSCENARIO XML 1.x where it has them (docs/events.md has the mapping).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from cbsim.errors import Location
from cbsim.spec.road import PointId

__all__ = ["LIGHT_STATES", "RUN_STATES", "Action", "Argument", "Condition", "Event", "Outline", "Place"]

RUN_STATES = ("RUN", "PAUSE", "DISABLE")
"""States of the emergency stop of an autonomous object, by their codes."""


LIGHT_STATES = ("program", "green", "yellow", "red")
"""States that an event can set of a traffic light: its own program, then those of `cbsim.road.signals`."""


class Place(NamedTuple):
    """A point on the ground: that of a waypoint, or x east and y north [m]."""

    waypoint: PointId | None
    x: float = 0.0
    y: float = 0.0


class Outline(NamedTuple):
    """A polygon on the ground, by its corners in order."""

    corners: tuple[Place, ...]


Argument = str | float | bool | Place | Outline | None


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition: its kind, its arguments with defaults filled in, and the conditions that it combines."""

    kind: str
    arguments: tuple[tuple[str, Argument], ...] = ()
    parts: tuple[Condition, ...] = ()
    location: Location = field(default=Location(""), compare=False)

    def __getitem__(self, name: str) -> Argument:
        """Value of an argument; None where the kind has no such argument."""
        return dict(self.arguments).get(name)

    def walk(self) -> Iterator[Condition]:
        """Yield the conditions that it combines, each after its own parts, and then itself."""
        for part in self.parts:
            yield from part.walk()
        yield self


@dataclass(frozen=True, slots=True)
class Action:
    """What an event begins: a kind and its arguments, with defaults filled in."""

    kind: str
    arguments: tuple[tuple[str, Argument], ...] = ()
    location: Location = field(default=Location(""), compare=False)

    def __getitem__(self, name: str) -> Argument:
        """Value of an argument; None where the kind has no such argument."""
        return dict(self.arguments).get(name)


@dataclass(frozen=True, slots=True)
class Event:
    """A condition and its actions; it comes true once in a run."""

    name: str
    when: Condition
    do: tuple[Action, ...] = ()
    location: Location = field(default=Location(""), compare=False)
