"""A checkpoint in a parking spot that a mission has twice in a row: the object has to leave it in between."""

from __future__ import annotations

import numpy as np

from cbsim.evaluation.rules.gates import Gates
from cbsim.evaluation.rules.progress import Progress
from cbsim.evaluation.rules.track import Track
from cbsim.spec.road import PointId

STEP = 0.05


def progress() -> Progress:
    made = Progress.__new__(Progress)
    made.numbers, made.points, made._spots = [1, 2], [PointId(1, 1, 2)] * 2, [True, True]
    made._gates = Gates(np.zeros((2, 2)), np.zeros(2), np.full(2, 3.0))
    made.times, made.stopped, made.stop_distance, made._has_left = [], None, np.inf, False
    return made


def track(places: np.ndarray, begin: int) -> Track:
    """Steps of a car of 4 m whose centre is at places on the y axis."""
    motion = np.zeros((len(places), 13))
    motion[:, 3], motion[:, 1] = 1.0, places
    motion[1:, 8] = np.diff(places) / STEP
    return Track(np.arange(begin, begin + len(places), dtype=float), STEP, motion, 1.8, 4.0)


def followed(places: np.ndarray, size: int) -> Progress:
    made = progress()
    for first in range(0, len(places) - 1, size):
        made.follow(track(places[first : first + size + 1], 5 + first))
    return made


def test_who_stays_has_parked_once_whatever_the_batches():
    places = np.minimum(np.linspace(-8.0, 4.0, 61), -2.5)
    for size in (1, 7, 100):
        assert len(followed(places, size).times) == 1


def test_who_leaves_and_comes_back_has_parked_twice_whatever_the_batches():
    there = np.minimum(np.linspace(-8.0, 4.0, 61), -2.5)
    places = np.concatenate([there, np.linspace(-2.5, -8.0, 40), there])
    times = [followed(places, size).times for size in (1, 7, 200)]
    assert all(len(one) == 2 for one in times)
    assert times[0] == times[1] == times[2]
