"""Scans for planners are taken when they are looked at, and are those that would have been taken at once."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import cbsim
from cbsim.evaluation.outcome import execute
from cbsim.simulation import loop, newest_readings
from cbsim.spec.objects import Triple
from cbsim.spec.planner import Seat
from tests.worlds import bot, level, mover, prop, world

STEP = 0.05


class Watcher:
    """Drives in a bend; looks at scans as it is told, and keeps its observations if told so."""

    def __init__(self, looks: bool, keeps: bool) -> None:
        self.looks, self.keeps = looks, keeps
        self.kept: list[cbsim.Observation] = []
        self.ranges: list[dict[str, bytes]] = []

    def start(self, *_) -> None:
        pass

    def plan(self, observation):
        if self.looks:
            self.ranges.append(ranges(observation.scans))
        if self.keeps:
            self.kept.append(observation)
        return cbsim.Command(0.5, 0.3)


def ranges(scans) -> dict[str, bytes]:
    return {key: scan.ranges.tobytes() for key, scan in scans.items()}


def scene(rate: float = 50.0, **fields):
    lasers = (level(rate=rate, **fields), level(rate=12.0, latency=0.07, **fields))
    others = prop("Box", Triple(4.0, 9.0, 0.0)), mover("Car", (9.0, 0.0, 60.0, 0.3), at=Triple(-6.0, 5.0, 0.0))
    return world(bot("CajunBot", *lasers), *others, step=STEP, duration=2.0)


@pytest.mark.parametrize("rate", [7.0, 20.0, 75.0])
def test_scans_are_the_same_whether_looked_at_at_once_later_or_in_a_recorded_run(rate):
    made = scene(rate, range_sigma=0.02)
    at_once, later, recorded = Watcher(True, False), Watcher(False, True), Watcher(True, False)
    digests = {execute(made, planner=one).digest for one in (at_once, later)}
    cbsim.run(made, planner=recorded)  # every scan is taken, for the recording
    assert len(digests) == 1
    assert sum(map(len, recorded.ranges)) > 40
    assert at_once.ranges == recorded.ranges
    assert [ranges(one.scans) for one in later.kept] == recorded.ranges


@pytest.mark.parametrize("asked", [4.0, 5.0, 1.0])
@pytest.mark.parametrize("rate", [3.0, 7.0, 20.0, 75.0])
def test_a_planner_that_is_asked_less_often_sees_the_scans_of_a_recorded_run(rate, asked, monkeypatch):
    lasers = level(rate=rate, range_sigma=0.02), level(rate=12.0, latency=0.07, scan_time=0.03)
    car = mover("Car", (9.0, 0.0, 60.0, 0.3), at=Triple(-6.0, 5.0, 0.0))
    made = world(bot("CajunBot", *lasers), car, step=STEP, duration=4.0, seats=(Seat("CajunBot", rate=asked),))
    blocks: list[int] = []
    original = loop.advance
    monkeypatch.setattr(loop, "advance", lambda *given: blocks.append(given[2]) or original(*given))
    at_once, later, recorded = Watcher(True, False), Watcher(False, True), Watcher(True, False)
    digests = {execute(made, planner=one).digest for one in (at_once, later)}
    assert sum(blocks) == 160
    assert max(blocks) > 1, "steps between two decisions are taken in one"
    blocks.clear()
    cbsim.run(made, planner=recorded)
    assert set(blocks) == {1}
    assert len(digests) == 1
    assert at_once.ranges == recorded.ranges == [ranges(one.scans) for one in later.kept]


def test_outages_leave_no_scan():
    made = scene(outages=((0.5, 1.0),))
    at_once, later = Watcher(True, False), Watcher(False, True)
    for planner in (at_once, later):
        execute(made, planner=planner)
    assert min(map(len, at_once.ranges)) == 0 < max(map(len, at_once.ranges))
    assert [ranges(one.scans) for one in later.kept] == at_once.ranges


def test_scans_that_nobody_looks_at_are_not_taken(monkeypatch):
    taken: list[int] = []
    original = newest_readings.take_scans
    monkeypatch.setattr(newest_readings, "take_scans", lambda *given: taken.append(len(given[2])) or original(*given))
    execute(scene(), planner=Watcher(False, False))
    few = sum(taken)
    taken.clear()
    execute(scene(), planner=Watcher(True, False))
    assert 0 < few < 30, "those of the slow laser alone"
    assert 60 < sum(taken) < 80, "of the fast one the newest in each step"


def test_scans_are_a_mapping_whose_copies_hold_nothing_of_the_run():
    made, planner = scene(), Watcher(False, True)
    execute(made, planner=planner)
    scans = planner.kept[-1].scans
    assert len(scans) == 2
    assert set(scans) == {sensor.key for sensor in made.sensors}
    assert "CajunBot/nothing" not in scans
    with pytest.raises(KeyError):
        scans["CajunBot/nothing"]
    for other in (copy.deepcopy(scans), pickle.loads(pickle.dumps(scans))):
        assert type(other) is dict
        assert ranges(other) == ranges(scans)
    with pytest.raises(ValueError, match="read-only"):
        next(iter(scans.values())).ranges[0, 0] = 1.0
    assert np.isfinite(next(iter(scans.values())).points).any()
