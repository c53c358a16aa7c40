"""Speed profile of a path: within limits, with bounded acceleration and bounded jerk.

A profile with bounded acceleration changes from pushing to braking at once. Its average over a window of time has the
same bounds and a jerk of at most (push + brake) / window; it is as fast but for the tips of its peaks. Where it slows
down for a place, the average would pass that place faster than it may: the limit there is lowered by the excess, and
the profile is planned again.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.geometry import elementary as math
from cbsim.planner.pilot.kernels.follow import LAST_DECELERATION, LAST_METRES
from cbsim.planner.pilot.kernels.pace import plan_speeds

__all__ = ["ACCELERATION", "DECELERATION", "SpeedProfile", "speed_profile"]

Floats = NDArray[np.float64]

ACCELERATION = 1.5  # [m/s²] acceleration
START_SPEED = 0.5  # [m/s] speed when starting from rest
DECELERATION = 1.6  # [m/s²] deceleration: comfortable is 2, the rest is margin for the controller
WINDOW = 0.9  # [s] over which speeds are averaged: a jerk of 3.4 m/s³ at most
GRID = 0.02  # [s] between samples of an average
PASSES = 6  # of lowering limits by what the average exceeds them


class SpeedProfile(NamedTuple):
    """Speed [m/s] and acceleration [m/s²] at each station, (n,)."""

    speed: Floats
    acceleration: Floats


def speed_profile(station: Floats, limit: Floats, halts: Floats) -> SpeedProfile:
    """Plan the speed along a path.

    Parameters
    ----------
    station : ndarray, shape (n,)
        [m]
    limit : ndarray, shape (n,)
        Greatest speed at each station [m/s].
    halts : ndarray, shape (h,)
        Stations of places to come to rest at, in order [m].
    """
    station = np.ascontiguousarray(station)
    left = halts[np.minimum(np.searchsorted(halts, station), len(halts) - 1)] - station
    near = (left >= 0.0) & (left < LAST_METRES)
    limit = np.where(near, np.minimum(limit, np.sqrt(2.0 * LAST_DECELERATION * np.maximum(left, 0.0))), limit)
    lowered = limit
    for _ in range(PASSES):
        profile = _averaged(station, _feasible(station, lowered, halts))
        lowered = lowered - np.maximum(profile.speed - limit, 0.0)
    # what is left of the excess, and errors of interpolation
    return SpeedProfile(_feasible(station, np.minimum(profile.speed, limit), halts), profile.acceleration)


def _feasible(station: Floats, limit: Floats, halts: Floats) -> Floats:
    """Reduce speeds until accelerations are within bounds, and those at halts are zero."""
    speed = limit.copy()
    plan_speeds(station, halts, ACCELERATION, DECELERATION, START_SPEED, speed)
    return speed


def _averaged(station: Floats, speed: Floats) -> SpeedProfile:
    """Average a profile over a window of time, which is shorter near places of rest.

    The acceleration at a place of rest is that of leaving it.
    """
    average, slope = np.zeros(len(station)), np.zeros(len(station))
    rests = np.flatnonzero(speed <= 0.0).tolist()
    for first, last in itertools.pairwise(sorted({0, *rests, len(station) - 1})):
        part = slice(first, last + 1)
        if station[last] > station[first]:
            average[part], slope[part] = _averaged_stretch(station[part], speed[part])
    average[rests] = 0.0
    return SpeedProfile(average, slope)


def _averaged_stretch(station: Floats, speed: Floats) -> tuple[Floats, Floats]:
    """Average the speed between two places of rest; also the acceleration of the average."""
    times = np.zeros(len(station))
    np.cumsum(2.0 * np.diff(station) / (speed[1:] + speed[:-1]), out=times[1:])
    count = max(3, math.ceil(times[-1] / GRID) + 1)
    grid = np.linspace(0.0, times[-1], count)
    step = grid[1]
    pace = np.interp(grid, times, speed)  # exact: the acceleration between two stations is constant
    place = station[0] + _integral(pace, step)
    index = np.arange(count)
    room = np.minimum(index, index[::-1])
    half = np.clip(np.minimum(room, round(0.5 * WINDOW / step)), 1, None)
    low, high = np.maximum(index - half, 0), np.minimum(index + half, count - 1)
    span = (high - low) * step
    way = _integral(place, step)
    at, average, slope = ((column[high] - column[low]) / span for column in (way, place, pace))
    ends = np.array([0, -1])
    at[ends], average[ends] = place[ends], pace[ends]
    return np.interp(station, at, average), np.interp(station, at, slope)


def _integral(values: Floats, step: float) -> Floats:
    """Integrate samples by the trapezoidal rule, from 0 on."""
    total = np.zeros(len(values))
    np.cumsum(0.5 * step * (values[1:] + values[:-1]), out=total[1:])
    return total
