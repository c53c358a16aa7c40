"""Speed profiles of the example planner: bounds of speed, acceleration and jerk, and what they cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbsim.planner.pilot.kernels.pace import plan_speeds
from cbsim.planner.pilot.speed_profile import ACCELERATION, DECELERATION, WINDOW, speed_profile

STEP = 0.25
JERK = (ACCELERATION + DECELERATION) / WINDOW


def travelled(station, speed):
    """Time at each station [s], of constant accelerations between two."""
    return np.concatenate([[0.0], np.cumsum(2.0 * np.diff(station) / np.maximum(speed[1:] + speed[:-1], 1e-9))])


def road(*pieces):
    """Stations, and limits of pieces of a length and a limit each."""
    limit = np.concatenate([np.full(round(length / STEP), value) for length, value in pieces])
    return STEP * np.arange(len(limit)), limit


@given(st.lists(st.tuples(st.floats(1.0, 40.0), st.floats(0.5, 14.0)), min_size=1, max_size=8))
def test_speeds_and_accelerations_are_within_their_bounds_and_zero_at_a_halt(pieces):
    station, limit = road((30.0, 8.0), *pieces)
    halts = np.array([0.6 * station[-1], station[-1]])
    speed, acceleration = speed_profile(station, limit, halts)
    assert np.all(speed <= limit)
    gained = np.diff(speed**2) / (2.0 * STEP)
    assert gained.max() <= ACCELERATION + 1e-9
    assert gained.min() >= -DECELERATION - 1e-9
    assert acceleration.max() <= ACCELERATION + 1e-9
    assert acceleration.min() >= -DECELERATION - 1e-9
    rest = int(np.searchsorted(station, halts[0]))
    assert speed[rest] == speed[-1] == 0.0
    assert acceleration[rest] > 0.0 or rest == len(speed) - 1  # that of going on


def test_jerk_is_bounded_where_pushing_changes_to_braking_and_back():
    station, limit = road((60.0, 13.0), (0.25, 3.0), (30.0, 13.0), (0.25, 4.0), (60.0, 6.0), (40.0, 13.0), (20.0, 3.0))
    speed, acceleration = speed_profile(station, limit, np.array([station[-1]]))
    times = travelled(station, speed)
    inner = (times > WINDOW) & (times < times[-1] - 3.0)  # a start and a stop are no jolts
    even = np.arange(WINDOW, times[inner][-1], 0.1)
    jerk = np.diff(np.interp(even, times, acceleration)) / 0.1
    assert np.abs(jerk).max() <= JERK + 0.05
    assert np.abs(jerk).max() > 0.9 * JERK
    sharp = limit.copy()
    plan_speeds(station, np.array([station[-1]]), ACCELERATION, DECELERATION, 0.5, sharp)
    middle = 0.5 * (times[1:] + times[:-1])
    sudden = np.diff(np.diff(sharp**2) / (2.0 * STEP)) / np.diff(middle)
    assert np.abs(sudden[inner[1:-1]]).max() > 5.0 * JERK  # without the average


def test_acceleration_is_that_of_the_speeds():
    station, limit = road((50.0, 9.0), (5.0, 3.0), (50.0, 9.0))
    speed, acceleration = speed_profile(station, limit, np.array([station[-1]]))
    gained = np.gradient(speed**2, station) / 2.0
    inner = slice(8, len(station) - 16)
    assert np.abs(gained[inner] - acceleration[inner]).max() < 0.12


def test_a_slow_place_is_passed_no_faster_and_hardly_later():
    station, limit = road((60.0, 12.0), (2.0, 3.0), (60.0, 12.0), (2.0, 5.0), (60.0, 12.0))
    halts = np.array([station[-1]])
    sharp = limit.copy()
    plan_speeds(station, halts, ACCELERATION, DECELERATION, 0.5, sharp)
    speed, _ = speed_profile(station, limit, halts)
    slow = limit < 6.0
    assert np.all(speed[slow] <= limit[slow])
    assert speed[slow].max() == pytest.approx(5.0, abs=0.1)
    # the last two metres are braked more gently, which takes 0.5 s
    assert travelled(station, speed)[-2] - travelled(station, sharp)[-2] < 1.6
