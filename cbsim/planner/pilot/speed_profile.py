"""Speed profile of a path: within limits, with bounded acceleration and bounded jerk.

A profile with bounded acceleration changes from pushing to braking at once. Its average over a window of time has the
same bounds and a jerk of at most (push + brake) / window; it is as fast but for the tips of its peaks. Where it slows
down for a place, the average would pass that place faster than it may: the limit there is lowered by the excess, and
the profile is planned again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cbsim.arrays import Floats
from cbsim.planner.pilot.kernels.follow import LAST_DECELERATION, LAST_METRES
from cbsim.planner.pilot.kernels.pace import average_speeds, plan_speeds

__all__ = ["ACCELERATION", "DECELERATION", "SpeedProfile", "speed_profile"]

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
    """Average a profile over a window of time, which is shorter near places of rest."""
    average, slope = np.empty(len(station)), np.empty(len(station))
    average_speeds(station, speed, WINDOW, GRID, average, slope)
    return SpeedProfile(average, slope)
