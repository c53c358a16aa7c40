"""Plot channels: one value per step of a body, from the recording and the road."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cbsim.arrays import Floats, Ints
from cbsim.evaluation.rules.corridors import corridors
from cbsim.geometry.ttc import Footprint, time_to_collision
from cbsim.report.frames import Motion
from cbsim.road.roadmap import RoadMap

__all__ = ["CHANNELS", "Channel", "acceleration", "extreme", "lateral_error", "least_time_to_collision", "steering"]

HALF_TURN = 0.5 * np.pi


@dataclass(frozen=True, slots=True)
class Channel:
    """A plot channel: key, title, unit, resolution of stored values, and the extreme shown in tables."""

    key: str
    title: str
    unit: str
    resolution: float
    extreme: str  # "high", "low" or "large" (largest magnitude)
    limit: float | None = None  # limit of the axis: the speed jumps of literal traffic would flatten everything else


CHANNELS = (
    Channel("speed", "Speed", "m/s", 1e-3, "high"),
    Channel("acceleration", "Acceleration", "m/s²", 1e-2, "low", 12.0),
    Channel("steering", "Steering command, left positive", "%", 1e-1, "large"),
    Channel("yaw_rate", "Turning rate, left positive", "°/s", 1e-2, "large"),
    Channel("lateral", "Lateral error, left positive", "m", 1e-3, "large"),
    Channel("ttc", "Time to collision", "s", 1e-2, "low"),
)


def acceleration(speeds: Floats, step: float) -> Floats:
    """Change of speed over the previous step, shape (n,) [m/s²]; nan at the first step, and as a car appears."""
    found = np.full(len(speeds), np.nan)
    found[1:] = np.diff(speeds) / step
    found[2:][~np.isfinite(speeds[:-2])] = np.nan  # a car has moved no way yet where it appears
    return found


def steering(steps: Ints, commands: list[tuple[int, tuple[float, ...]]], skid: bool) -> Floats:
    """Steering command in effect at each step, shape (n,) [%]; nan before the first command.

    Parameters
    ----------
    steps : ndarray, shape (n,)
        Step numbers.
    commands : list of (step, row)
        Steps after which the commands took effect, in order; rows as in `Command.row`.
    skid : bool
        Whether the vehicle is skid-steered: half the difference of the right and left levers.
    """
    found = np.full(len(steps), np.nan)
    if commands:
        values = np.array([0.5 * (row[3] - row[2]) if skid else row[1] for _, row in commands])
        held = (
            np.searchsorted([step for step, _ in commands], steps, side="left") - 1
        )  # a command after step k takes effect at k + 1
        found[held >= 0] = 100.0 * values[held[held >= 0]]
    return found


def lateral_error(roadmap: RoadMap, motion: Motion) -> Floats:
    """Lateral offset to the left of the centre of the lane or intersection path.

    Returns
    -------
    ndarray, shape (n,)
        Offset [m]; nan in zones and off the road.
    """
    there = motion.there
    if not there.all():
        known = np.full(len(there), np.nan)
        if there.any():
            known[there] = lateral_error(roadmap, motion.at(np.flatnonzero(there)))
        return known
    places = np.stack([motion.x, motion.y], axis=1)
    match = corridors(roadmap).index.match(places, motion.heading)
    found = np.array(match.offset, float)
    against = np.abs(match.heading_error) > HALF_TURN  # left of the vehicle, not of the lane
    found[against] *= -1.0
    found[roadmap.zone_at(places) >= 0] = np.nan
    return found


def least_time_to_collision(own: Footprint, others: list[tuple[int, Footprint]]) -> tuple[Floats, Ints]:
    """Return the smallest time to collision, shape (n,) [s], and the partner's row; nan and -1 if there is none."""
    least, partner = np.full(len(own.centre), np.inf), np.full(len(own.centre), -1, np.int64)
    for row, other in others:
        time = time_to_collision(own, other)
        sooner = np.nan_to_num(time, nan=np.inf) < least
        least[sooner], partner[sooner] = time[sooner], row
    return np.where(partner < 0, np.nan, least), partner


def extreme(values: Floats, told: str) -> int:
    """Return the row of a channel's extreme, the first of equal ones; -1 if there are no values."""
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        return -1
    seen = values[known]
    return int(known[{"high": seen.argmax, "low": seen.argmin, "large": np.abs(seen).argmax}[told]()])
