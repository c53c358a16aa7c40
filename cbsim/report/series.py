"""What is plotted of a body over a run: each `Channel` one number per step, from what is recorded and the road."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cbsim.evaluation.rules.corridors import corridors
from cbsim.geometry.ttc import Footprint, time_to_collision
from cbsim.report.frames import Motion
from cbsim.road.roadmap import RoadMap

__all__ = ["CHANNELS", "Channel", "acceleration", "extreme", "lateral", "nearest", "steering"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
HALF_TURN = 0.5 * np.pi


@dataclass(frozen=True, slots=True)
class Channel:
    """A kind of plot: its key, its title, its unit, the grain values are kept in, and which extreme is told."""

    key: str
    title: str
    unit: str
    grain: float
    told: str  # "high", "low", "large": the highest, the lowest, the largest of either sign
    limit: float | None = None  # axes go no further: what literal traffic does in one step would flatten all else


CHANNELS = (
    Channel("speed", "Speed", "m/s", 1e-3, "high"),
    Channel("acceleration", "Acceleration", "m/s²", 1e-2, "low", 12.0),
    Channel("steering", "Steering command, left positive", "%", 1e-1, "large"),
    Channel("yaw_rate", "Turning rate, left positive", "°/s", 1e-2, "large"),
    Channel("lateral", "Lateral error, left positive", "m", 1e-3, "large"),
    Channel("ttc", "Time to collision", "s", 1e-2, "low"),
)


def acceleration(speeds: Floats, step: float) -> Floats:
    """Change of speed over the step before, shape (n,) [m/s²]; nan at the first."""
    found = np.full(len(speeds), np.nan)
    found[1:] = np.diff(speeds) / step
    return found


def steering(steps: Ints, commands: list[tuple[int, tuple[float, ...]]], skid: bool) -> Floats:
    """Held steering command at each step, shape (n,) [%]; nan before the first.

    Parameters
    ----------
    steps : ndarray, shape (n,)
        Step numbers.
    commands : list of (step, row)
        The step after which each took effect, in order; rows as `Command.row`.
    skid : bool
        Steered by levers: half of right less left.
    """
    found = np.full(len(steps), np.nan)
    if commands:
        values = np.array([0.5 * (row[3] - row[2]) if skid else row[1] for _, row in commands])
        held = np.searchsorted([step for step, _ in commands], steps, side="left") - 1  # after step k: from k + 1 on
        found[held >= 0] = 100.0 * values[held[held >= 0]]
    return found


def lateral(roadmap: RoadMap, motion: Motion) -> Floats:
    """Distance to the left of the centre of the lane, or of the way through an intersection, that one is on.

    Returns
    -------
    ndarray, shape (n,)
        [m]; nan in zones and off the road.
    """
    places = np.stack([motion.x, motion.y], axis=1)
    match = corridors(roadmap).index.match(places, motion.heading)
    found = np.array(match.offset, float)
    against = np.abs(match.heading_error) > HALF_TURN  # left of oneself, not of the lane
    found[against] *= -1.0
    found[roadmap.zone_at(places) >= 0] = np.nan
    return found


def nearest(own: Footprint, others: list[tuple[int, Footprint]]) -> tuple[Floats, Ints]:
    """Least time to collision with anybody, shape (n,) [s], and the row of whom; nan and -1 where there is none."""
    least, whom = np.full(len(own.centre), np.inf), np.full(len(own.centre), -1, np.int64)
    for row, other in others:
        time = time_to_collision(own, other)
        sooner = np.nan_to_num(time, nan=np.inf) < least
        least[sooner], whom[sooner] = time[sooner], row
    return np.where(whom < 0, np.nan, least), whom


def extreme(values: Floats, told: str) -> int:
    """Row of the extreme that is told of a channel, the first of equal ones; -1 where there are no values."""
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        return -1
    seen = values[known]
    return int(known[{"high": seen.argmax, "low": seen.argmin, "large": np.abs(seen).argmax}[told]()])
