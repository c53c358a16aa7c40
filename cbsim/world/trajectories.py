"""Literal kinematic traffic: goals and scripts to timed segments (docs/formats/objects.md).

A mover drives straight chords at each goal's speed, with infinite acceleration, and waits after arriving. It
reaches each goal at t = pauses + Σ dᵢ/vᵢ, whatever the step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cbsim.geometry import elementary as math
from cbsim.geometry.pose import heading_quaternion
from cbsim.spec.objects import ScriptEntry
from cbsim.world.tables import Floats

__all__ = ["Target", "TrajectoryBuilder", "goal_trajectory", "script_trajectory", "trajectory_tables"]

SCRIPT_ANGLES = {
    "ccw_north": lambda angle: angle,
    "cw_north": lambda angle: -angle,
    "ccw_east": lambda angle: angle - 0.5 * math.pi,
}

FOREVER = 1e12  # [s] duration of a segment from which it never ends; sums of longer times could overflow


@dataclass(frozen=True, slots=True)
class Target:
    """A goal with its position: x, y [m], speed [m/s], pause after arriving [s]."""

    x: float
    y: float
    speed: float
    pause: float


@dataclass
class TrajectoryBuilder:
    """Collects the segments of one mover: start times, origins, velocities, orientations."""

    position: Floats
    orientation: Floats
    time: float = 0.0
    starts: list[float] = field(default_factory=list)
    origins: list[Floats] = field(default_factory=list)
    velocities: list[Floats] = field(default_factory=list)
    orientations: list[Floats] = field(default_factory=list)

    def add(self, velocity: Floats) -> None:
        """Begin a segment at the current position and time."""
        self.starts.append(self.time)
        self.origins.append(self.position)
        self.velocities.append(velocity)
        self.orientations.append(self.orientation)

    def wait(self, pause: float) -> None:
        """Add a pause."""
        if pause > 0.0:
            self.add(np.zeros(3))
            self.time += pause

    def travel(self, target: Floats, distance: float, speed: float) -> None:
        """Add a straight segment to a target; none if the distance is zero."""
        if distance <= 0.0:
            return
        direction = (target - self.position) / distance
        self.orientation = heading_quaternion(math.atan2(-direction[0], direction[1]))
        self.add(speed * direction)
        self.time += distance / speed
        self.position = target

    def rest(self) -> None:
        """Add a final segment at rest."""
        self.add(np.zeros(3))


def goal_trajectory(
    position: Floats, orientation: Floats, initial_pause: float, targets: Iterable[Target]
) -> TrajectoryBuilder:
    """Lay out the segments of a mover that follows goals.

    Parameters
    ----------
    position, orientation : (3,) [m], (4,)
        Where it starts; its height stays.
    initial_pause : float
        Wait before the first goal [s].
    targets : iterable of Target
        In order; a target with a speed of 0, or nearly 0, is never reached.
    """
    segments = TrajectoryBuilder(position, orientation)
    segments.wait(initial_pause)
    for target in targets:
        place = np.array([target.x, target.y, position[2]])
        distance = math.hypot(place[0] - segments.position[0], place[1] - segments.position[1])
        if target.speed * FOREVER < distance:
            break
        segments.travel(place, distance, target.speed)
        segments.wait(target.pause)
    segments.rest()
    return segments


def script_trajectory(
    position: Floats, orientation: Floats, initial_pause: float, script: Iterable[ScriptEntry], sense: str
) -> TrajectoryBuilder:
    """Lay out the segments of a mover that follows a script: turn in place, drive, wait (D9).

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
    segments = TrajectoryBuilder(position, orientation)
    segments.wait(initial_pause)
    for entry in script:
        angle = SCRIPT_ANGLES[sense](entry.angle)
        segments.orientation = heading_quaternion(angle)
        step = entry.distance * np.array([-math.sin(angle), math.cos(angle), 0.0])
        if entry.speed * FOREVER < entry.distance:
            break
        if entry.distance > 0.0:
            segments.add(entry.speed * step / entry.distance)
            segments.time += entry.distance / entry.speed
            segments.position = segments.position + step
        segments.wait(entry.pause)
    segments.rest()
    return segments


def trajectory_tables(segments: Mapping[int, TrajectoryBuilder], vehicles: Sequence[int]) -> dict[str, Any]:
    """Assemble the segments of all bodies into the tables of `Constants`, for literal movers and followers.

    Parameters
    ----------
    segments : mapping
        Row of the body → its segments.
    vehicles : sequence of int
        Rows of vehicles, which follow their segments by physics; all others move literally.
    """
    counts = np.array([len(builder.starts) for builder in segments.values()], np.int64)
    last = np.cumsum(counts) - 1
    first = last - counts + 1
    bodies = np.array(list(segments), np.int64)
    drives = np.isin(bodies, vehicles)
    start = np.array([t for b in segments.values() for t in b.starts], float)
    velocity = np.array([v for b in segments.values() for v in b.velocities], float).reshape(-1, 3)
    return {
        "mover_body": bodies[~drives],
        "mover_first": first[~drives],
        "mover_last": last[~drives],
        "segment_start": start,
        "segment_origin": np.array([p for b in segments.values() for p in b.origins], float).reshape(-1, 3),
        "segment_velocity": velocity,
        "segment_orientation": np.array([q for b in segments.values() for q in b.orientations], float).reshape(-1, 4),
        "segment_station": _stations(start, math.hypot(velocity[:, 0], velocity[:, 1]), first),
        "follower_vehicle": np.searchsorted(np.asarray(vehicles, np.int64), bodies[drives]),
        "follower_first": first[drives],
        "follower_last": last[drives],
    }


def _stations(start: Floats, speed: Floats, first: np.ndarray) -> Floats:
    """Trajectory length [m] from each body's start to each of its segments."""
    length = np.append(np.diff(start) * speed[:-1], 0.0)[: len(start)]
    length[first[1:] - 1] = 0.0  # a body's last segment has no end
    way = np.concatenate([[0.0], np.cumsum(length)])[:-1]
    return np.asarray(way - np.repeat(way[first], np.diff(np.append(first, len(start)))))
