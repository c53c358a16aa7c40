"""Numbers that are not finite: a step that comes to them is an error with a name and a time, and so is its verdict."""

from __future__ import annotations

import numpy as np
import pytest

import cbsim
from cbsim.collision.contacts import CONTACT
from cbsim.errors import Location, StepError
from cbsim.evaluation.judge import Judge
from cbsim.recording.batch import Batch
from cbsim.recording.recording import Recording
from cbsim.simulation.advance import advance
from cbsim.spec.command import Command
from cbsim.spec.objects import Triple
from cbsim.spec.scenario import Expectation
from tests.evaluation.test_rules import expect, header
from tests.worlds import bot, mover, prop, world

WALL = prop("Wall", Triple(0.0, 4.0, 0.0), size=Triple(5.0, 1.0, 2.0))
IDLE = mover("Cart", (3.0, 0.0, 30.0, 0.0), at=Triple(9.0, 0.0, 0.0))


def broken():
    """A bot without any wheelbase, which no file can say: once its steering is heard, it turns infinitely fast."""
    short = bot("Bot", drive="delayed", parameters=(("wheelbase", 1e-320),), location=Location("bot.xml", 7))
    return world(short, WALL, IDLE)


def until_failure(made):
    snapshot = cbsim.step(made, made.start, {"Bot": Command(throttle=1.0, steering=0.4)})
    for _ in range(100):
        snapshot = cbsim.step(made, snapshot)
    return snapshot


def test_a_step_without_finite_numbers_raises_and_names_object_place_and_time():
    made = broken()
    with pytest.raises(StepError, match=r"^bot.xml:7: error: .*t=\d+\.\d+ s: .*vehicle 'Bot' is not finite") as found:
        until_failure(made)
    assert "wheelbase is 9.99989e-321 m, by default" in str(found.value)
    before = found.value.snapshot
    assert np.isfinite(before.columns.position).all()
    assert before.time == found.value.time


def test_quiet_steps_before_the_failure_are_kept_to_the_bit_and_the_snapshot_with_them():
    made = broken()
    with pytest.raises(StepError) as found:
        until_failure(made)
    failing = found.value.snapshot.step
    alone = cbsim.step(made, made.start, {"Bot": Command(throttle=1.0, steering=0.4)})
    together = alone.copy()
    hashes, motion, _ = advance(made, together, 60, made.moving)
    assert len(hashes) == len(motion) == failing - 1
    for expected in hashes:
        alone = cbsim.step(made, alone)
        assert alone.hash == expected
    assert together == alone
    with pytest.raises(StepError):
        advance(made, together, 60, made.moving)
    assert together == alone


class Turn:
    def start(self, mission, network, vehicle):
        pass

    def plan(self, observation):
        return Command(throttle=1.0, steering=0.4)


def test_the_recording_of_a_failed_run_holds_the_steps_before_it_and_its_verdict_is_error(tmp_path):
    from cbsim.recording.recorder import FileRecorder
    from cbsim.simulation.loop import Run, drive

    made, path = broken(), tmp_path / "failed.mcap"
    watch = Judge((expect("reach", "Bot", position=Triple(0.0, 0.0, 0.0)), expect("travel", "Bot")))
    with pytest.raises(StepError) as found:
        drive(Run(made, made.start, [], [watch, FileRecorder(path)]), 60, planner=Turn())
    recording = Recording.open(path)
    assert len(recording) == round(found.value.time / made.step) + 1
    assert np.isfinite(recording.positions("Bot")).all()
    assert [name for name, _, _ in recording.faults] == ["simulator"]
    assert watch.verdict == "error"
    reached, travelled, simulator = watch.checks
    assert (reached.passed, travelled.passed, simulator.passed) == (True, False, False)
    assert travelled.message == "cannot be judged: the simulator failed"


NAN = ((3, "position", 0), (3, "orientation", 1), (3, "velocity", 2), (0, "position", 0), (9, "angular_velocity", 1))
FIRST = {"position": 0, "orientation": 3, "velocity": 7, "angular_velocity": 10}


@pytest.mark.parametrize(("step", "column", "part"), NAN)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("rule", ["reach", "travel", "rest"])
def test_a_recording_with_a_number_that_is_not_finite_is_never_passed_or_failed(step, column, part, value, rule):
    arguments = {"reach": {"position": Triple(9.0, 9.0, 9.0)}, "travel": {}, "rest": {"from": 0.0}}[rule]
    watch = Judge((expect(rule, **arguments),))
    watch.begin(header(0.1), b"", {})
    motion = np.zeros((10, 1, 13))
    motion[:, 0, 3] = 1.0
    motion[step, 0, FIRST[column] + part] = value
    watch.take(Batch(0, np.zeros(4, np.uint64), motion[:4]))
    watch.take(Batch(4, np.zeros(6, np.uint64), motion[4:]))
    watch.end()
    assert watch.verdict == "error"
    first, simulator = watch.checks
    assert not first.passed
    expected = f"the motion of 'Car' is not finite at {0.1 * step:.2f} s; the run is not judged from there on"
    assert simulator.message == expected


def test_contacts_with_numbers_that_are_not_finite_are_no_reason_to_pass():
    watch = Judge((Expectation("collision", (("object", "Car"), ("impact_below", None)), Location("test.yaml", 1)),))
    watch.begin(header(0.1), b"", {})
    contacts = np.zeros((1, len(CONTACT)))
    contacts[0, CONTACT.index("closing_speed")] = np.nan
    motion = np.zeros((4, 1, 13))
    motion[:, 0, 3] = 1.0
    watch.take(Batch(0, np.zeros(4, np.uint64), motion, contacts=contacts))
    assert watch.verdict == "error"


def test_what_was_decided_before_the_numbers_broke_stays_decided():
    watch = Judge((expect("reach", position=Triple(0.0, 0.0, 0.0)), expect("travel")))
    watch.begin(header(0.1), b"", {})
    motion = np.zeros((6, 1, 13))
    motion[:, 0, 3] = 1.0
    motion[5] = np.nan
    watch.take(Batch(0, np.zeros(6, np.uint64), motion))
    assert [check.passed for check in watch.checks] == [True, False, False]
    assert watch.verdict == "error"
