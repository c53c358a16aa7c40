"""Literal kinematic traffic: goals and scripts to timed legs (docs/formats/objects.md).

A mover goes on straight chords at each goal's speed, with infinite acceleration, and waits after arriving. So it
reaches each goal at t = pauses + Σ dᵢ/vᵢ, whatever the step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cbsim.geometry.pose import heading_quaternion
from cbsim.spec.objects import ScriptEntry
from cbsim.world.tables import Floats

__all__ = ["LegBuilder", "Target", "goal_legs", "leg_tables", "script_legs"]

SCRIPT_ANGLES = {
    "ccw_north": lambda angle: angle,
    "cw_north": lambda angle: -angle,
    "ccw_east": lambda angle: angle - 0.5 * math.pi,
}

FOREVER = 1e12  # [s] a way that takes longer has no end: sums of such times soon leave the finite numbers


@dataclass(frozen=True, slots=True)
class Target:
    """A goal with its place: x, y [m], speed [m/s], pause after arriving [s]."""

    x: float
    y: float
    speed: float
    pause: float


@dataclass
class LegBuilder:
    """Collects the legs of one mover: start times, origins, velocities, orientations."""

    position: Floats
    orientation: Floats
    time: float = 0.0
    starts: list[float] = field(default_factory=list)
    origins: list[Floats] = field(default_factory=list)
    velocities: list[Floats] = field(default_factory=list)
    orientations: list[Floats] = field(default_factory=list)

    def add(self, velocity: Floats) -> None:
        """Begin a leg here and now."""
        self.starts.append(self.time)
        self.origins.append(self.position)
        self.velocities.append(velocity)
        self.orientations.append(self.orientation)

    def wait(self, pause: float) -> None:
        """Stand still for a while."""
        if pause > 0.0:
            self.add(np.zeros(3))
            self.time += pause

    def travel(self, target: Floats, distance: float, speed: float) -> None:
        """Go straight to a place; with no distance to go, do nothing."""
        if distance <= 0.0:
            return
        direction = (target - self.position) / distance
        self.orientation = heading_quaternion(math.atan2(-direction[0], direction[1]))
        self.add(speed * direction)
        self.time += distance / speed
        self.position = target

    def rest(self) -> None:
        """Stay for ever."""
        self.add(np.zeros(3))


def goal_legs(position: Floats, orientation: Floats, initial_pause: float, targets: Iterable[Target]) -> LegBuilder:
    """Lay out the legs of a mover that follows goals.

    Parameters
    ----------
    position, orientation : (3,) [m], (4,)
        Where it starts; its height stays.
    initial_pause : float
        Wait before the first goal [s].
    targets : iterable of Target
        In order; a speed of 0, or as good as 0, never arrives.
    """
    legs = LegBuilder(position, orientation)
    legs.wait(initial_pause)
    for target in targets:
        place = np.array([target.x, target.y, position[2]])
        distance = math.hypot(place[0] - legs.position[0], place[1] - legs.position[1])
        if target.speed * FOREVER < distance:
            break
        legs.travel(place, distance, target.speed)
        legs.wait(target.pause)
    legs.rest()
    return legs


def script_legs(
    position: Floats, orientation: Floats, initial_pause: float, script: Iterable[ScriptEntry], sense: str
) -> LegBuilder:
    """Lay out the legs of a mover that follows a script: turn in place, drive, wait (D9).

    Parameters
    ----------
    position, orientation : (3,) [m], (4,)
        Where it starts.
    initial_pause : float
        Wait before the first entry [s].
    script : iterable of ScriptEntry
        In order.
    sense : str
        ``ccw_north``, ``cw_north`` or ``ccw_east``.
    """
    legs = LegBuilder(position, orientation)
    legs.wait(initial_pause)
    for entry in script:
        angle = SCRIPT_ANGLES[sense](entry.angle)
        legs.orientation = heading_quaternion(angle)
        step = entry.distance * np.array([-math.sin(angle), math.cos(angle), 0.0])
        if entry.speed * FOREVER < entry.distance:
            break
        if entry.distance > 0.0:
            legs.add(entry.speed * step / entry.distance)
            legs.time += entry.distance / entry.speed
            legs.position = legs.position + step
        legs.wait(entry.pause)
    legs.rest()
    return legs


def leg_tables(legs: Mapping[int, LegBuilder], vehicles: Sequence[int]) -> dict[str, Any]:
    """Put the legs of all bodies into the tables of `Constants`, with who moves on them and who drives them.

    Parameters
    ----------
    legs : mapping
        Row of the body → its legs.
    vehicles : sequence of int
        Rows of bodies that are vehicles: those follow their legs through physics, all others literally.
    """
    counts = np.array([len(builder.starts) for builder in legs.values()], np.int64)
    last = np.cumsum(counts) - 1
    first = last - counts + 1
    bodies = np.array(list(legs), np.int64)
    drives = np.isin(bodies, vehicles)
    start = np.array([t for b in legs.values() for t in b.starts], float)
    velocity = np.array([v for b in legs.values() for v in b.velocities], float).reshape(-1, 3)
    return {
        "mover_body": bodies[~drives],
        "mover_first": first[~drives],
        "mover_last": last[~drives],
        "leg_start": start,
        "leg_origin": np.array([p for b in legs.values() for p in b.origins], float).reshape(-1, 3),
        "leg_velocity": velocity,
        "leg_orientation": np.array([q for b in legs.values() for q in b.orientations], float).reshape(-1, 4),
        "leg_station": _stations(start, np.hypot(velocity[:, 0], velocity[:, 1]), first),
        "follower_vehicle": np.searchsorted(np.asarray(vehicles, np.int64), bodies[drives]),
        "follower_first": first[drives],
        "follower_last": last[drives],
    }


def _stations(start: Floats, speed: Floats, first: np.ndarray) -> Floats:
    """Way [m] from each body's start to each of its legs."""
    length = np.append(np.diff(start) * speed[:-1], 0.0)[: len(start)]
    length[first[1:] - 1] = 0.0  # a body's last leg has no end
    way = np.concatenate([[0.0], np.cumsum(length)])[:-1]
    return np.asarray(way - np.repeat(way[first], np.diff(np.append(first, len(start)))))
