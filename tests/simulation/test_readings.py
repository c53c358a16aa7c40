"""Readings in a run: recorded, replayed, restored, and shown to a planner."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cbsim
from cbsim.errors import RecordingError, UsageError
from cbsim.recording.batch import ReadingRow
from cbsim.sensing import Fix, ObjectList, Odometry, Scan
from cbsim.spec.objects import Triple
from cbsim.spec.sensor import SensorConf
from tests.worlds import bot, level, mover, prop, world

ALL = (
    level(rate=20.0, range_sigma=0.05, dropout=0.1, outages=((0.4, 0.6),), freezes=((0.7, 0.9),)),
    SensorConf(type="gps", rate=7.0, latency=0.12, position_sigma=0.3, position_drift=1.0, outages=((0.3, 0.8),)),
    SensorConf(type="ins", rate=30.0, heading_sigma=0.01, yaw_rate_drift=0.01, outages=((0.3, 0.8),), outage_drift=1.0),
    SensorConf(type="odometry", rate=15.0, ticks=60, velocity_sigma=0.1, outages=((0.3, 0.5),)),
    SensorConf(
        type="objects", rate=10.0, latency=0.05, end_angle=math.pi, radial_sigma=(0.3,), correlation_time=1.0,
        detection_rate=(0.7,), detection_time=0.3, false_positives=0.5, position=Triple(0, 0, 1),
    ),
)  # fmt: skip
KEYS = [f"CajunBot/scan_{k}" for k in range(len(ALL))]


class Weaver:
    """Drive in a curve, and keep what is seen."""

    def __init__(self):
        self.seen = []

    def start(self, mission, network, vehicle):
        pass

    def plan(self, observation):
        self.seen.append(observation)
        return cbsim.Command(throttle=0.8, steering=0.4 * math.sin(observation.time))


@pytest.fixture(scope="module")
def made():
    wall = prop("wall", Triple(0, 25, 0), size=Triple(30, 1, 4))
    return world(bot("CajunBot", *ALL), wall, mover("m", (4.0, 0, 30, 0.0), at=Triple(-6, 5, 0)))


@pytest.fixture(scope="module")
def recording(made):
    return cbsim.run(made, duration=2.0, planner=Weaver())


def bits(reading):
    if isinstance(reading, Scan):
        return reading.time, reading.ranges.tobytes(), reading.pose.position.tobytes()
    return reading.time, reading.values().tobytes()


def recorded(recording, key):
    return recording.scans(key) if key == KEYS[0] else recording.readings(key)


def test_each_type_of_sensor_gives_its_own_kind_of_reading(recording):
    kinds = [Fix, Fix, Odometry, ObjectList]
    for key, kind in zip(KEYS[1:], kinds, strict=True):
        found = recording.readings(key)
        assert {type(reading) for reading in found} == {kind}
        assert [reading.time for reading in found] == sorted({reading.time for reading in found})


def test_sense_gives_the_recorded_reading_at_every_later_step_that_it_is_the_newest(made, recording):
    known = {key: {bits(r)[0]: bits(r) for r in recorded(recording, key)} for key in KEYS}
    commands = {step: row for step, _, row in recording.commands()}
    snapshot = made.start
    for step in range(40):
        for key, reading in cbsim.sense(made, snapshot).items():
            assert bits(reading) == known[key][reading.time], (step, key)
        if step in commands:
            snapshot.state.command[0] = commands[step]
        snapshot = cbsim.step(made, snapshot)


@pytest.mark.parametrize("step", [3, 9, 14, 17, 29])
def test_a_restored_run_sees_what_the_whole_one_saw(made, step):
    """In outages and frozen scans too; a planner sees the same from its first decision on."""
    whole, rest = Weaver(), Weaver()
    first = cbsim.run(made, duration=2.0, planner=whole)
    commands = {step: row for step, _, row in first.commands()}
    snapshot = made.start
    for k in range(step):
        if k in commands:
            snapshot.state.command[0] = commands[k]
        snapshot = cbsim.step(made, snapshot)
    second = cbsim.run(made, duration=2.0 - step * made.step, planner=rest, snapshot=made.restore(snapshot.to_bytes()))
    assert (second.hashes == first.hashes[step:]).all()
    for mine, theirs in zip(rest.seen, whole.seen[step:], strict=True):
        assert mine.time == theirs.time
        for one, two in ((mine.scans, theirs.scans), (mine.readings, theirs.readings)):
            assert {k: bits(r) for k, r in one.items()} == {k: bits(r) for k, r in two.items()}


def test_a_planner_gets_readings_apart_from_scans_and_loses_them_in_an_outage(made):
    weaver = Weaver()
    cbsim.run(made, duration=2.0, planner=weaver)
    late = weaver.seen[-1]
    assert (set(late.scans), set(late.readings)) == ({KEYS[0]}, set(KEYS[1:]))
    at = {round(o.time, 6): o for o in weaver.seen}
    assert KEYS[0] not in at[0.5].scans
    assert KEYS[3] not in at[0.4].readings
    assert at[0.6].readings[KEYS[1]].valid is False
    assert at[0.6].readings[KEYS[2]].valid is False
    assert np.isfinite(at[0.6].readings[KEYS[2]].position).all()
    assert KEYS[4] not in at[0.0].readings  # its latency has not passed


def test_a_file_gives_back_every_reading(recording, tmp_path):
    path = tmp_path / "run.mcap"
    recording.save(path)
    again = cbsim.Recording.open(path)
    for key in KEYS:
        assert [bits(r) for r in recorded(again, key)] == [bits(r) for r in recorded(recording, key)]
    assert again.complete


def test_asking_for_the_wrong_kind_of_sensor_names_the_right_ones(recording):
    with pytest.raises(UsageError, match=f"no laser '{KEYS[1]}'"):
        recording.scans(KEYS[1])
    with pytest.raises(UsageError, match="no sensor other than a laser"):
        recording.readings(KEYS[0])


def test_reading_with_the_wrong_numbers_is_damage_and_no_traceback(made):
    recording = cbsim.run(made, duration=0.5)
    for batch in recording.batches():
        batch.readings.append(ReadingRow(KEYS[1], 9.0, np.zeros(2)))
    with pytest.raises(RecordingError, match="damaged: a fix has 11 numbers, not 2"):
        recording.readings(KEYS[1])


def test_two_runs_of_a_seed_see_the_same_and_another_seed_sees_otherwise(made):
    one, two, other = (cbsim.run(made, duration=0.5, seed=seed) for seed in (1, 1, 2))
    for key in KEYS:
        assert [bits(r) for r in recorded(one, key)] == [bits(r) for r in recorded(two, key)]
    assert bits(one.readings(KEYS[2])[5]) != bits(other.readings(KEYS[2])[5])
