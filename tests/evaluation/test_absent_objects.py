"""Rules judge an object only while it is there: live, recorded, and however batched."""

from __future__ import annotations

import re

import numpy as np
import pytest

from cbsim.evaluation.judge import Judge
from cbsim.recording.batch import Batch
from cbsim.spec.road import PointId
from cbsim.world.motion import ABSENT_MOTION
from cbsim.world.traffic.events import HAPPENED, OVERRULED
from tests.evaluation.drives import STEP, Court, Drive, contact, expect, header, site
from tests.evaluation.test_every_rule import FAULTS, OF_OBJECTS

AWAY = 30  # steps


def parked_below(row: np.ndarray) -> np.ndarray:
    """Take an object away as an event does: it keeps its place on the map."""
    found = row.copy()
    found[2] = ABSENT_MOTION[2]
    found[7:] = 0.0
    return found


def not_held(_row: np.ndarray) -> np.ndarray:
    """Leave an object out of the recorded rows."""
    return ABSENT_MOTION.copy()


@pytest.fixture
def court(tmp_path):
    return Court(tmp_path)


@pytest.mark.parametrize("away", [parked_below, not_held])
def test_object_that_appears_has_travelled_from_there_on(court, away):
    drive = Drive(y=110.0).go(20.0)
    drive.rows = [away(drive.rows[0])] * AWAY + drive.rows
    check = court(expect("travel", at_most=21.0), drive)
    assert check.passed
    assert check.message.startswith("travelled 20.00 m")


@pytest.mark.parametrize("away", [parked_below, not_held])
def test_jump_to_where_an_object_appears_again_is_no_travel(court, away):
    drive = Drive(y=110.0).go(20.0)
    rows, last = drive.rows, drive.rows[-1]
    again = Drive(y=10.0).go(10.0).rows
    drive.rows = rows + [away(last)] * AWAY + again
    assert court(expect("travel", at_most=31.0), drive).message.startswith("travelled 30.00 m")


def test_object_that_is_absent_reaches_nothing(court):
    drive = Drive(y=150.0).wait(0.1)
    drive.rows = [parked_below(drive.rows[0])] * AWAY + drive.rows
    check = court(expect("reach", waypoint=PointId(1, 1, 4), radius=5.0, before=1.0), drive)
    assert check.passed is False
    assert check.time == pytest.approx(AWAY * STEP)


def test_object_that_has_left_is_not_at_rest(court):
    drive = Drive(y=110.0).wait(1.0)
    drive.rows += [parked_below(drive.rows[-1])] * AWAY
    check = court(expect("rest", **{"from": 1.5}), drive)
    assert check.passed is False
    assert check.message == "was not there from 1.5 s on, expected rest"
    assert court(expect("rest", **{"from": 0.5}), drive).passed


def test_contact_in_the_step_in_which_an_object_leaves_counts(court):
    drive = Drive(y=110.0).go(10.0)
    end = (len(drive.rows) - 1) * STEP
    drive.rows += [parked_below(drive.rows[-1])] * AWAY
    check = court(expect("collision"), drive, contacts=(contact(end + 0.5 * STEP, 0, 1, 3.0),))
    assert check.passed is False
    assert check.time == pytest.approx(end + 0.5 * STEP)


@pytest.mark.parametrize("rule", OF_OBJECTS)
def test_no_rule_finds_anything_about_an_object_that_is_never_there(court, rule):
    fault = FAULTS[rule]
    drive = fault.drive(STEP)
    drive.rows = [parked_below(row) for row in drive.rows]
    roadmap = None if fault.roadmap is None else fault.roadmap()
    check = court(expect(rule, **fault.arguments), drive, fault.task, roadmap=roadmap, clock=fault.clock)
    assert check.message.endswith("; 'Car' was never there")
    assert "10000" not in check.message
    assert not re.search(r"\b(inf|nan)\b", check.message)


def test_braking_before_an_absence_is_no_jerk_after_it(court):
    drive = Drive(y=110.0).go(20.0, speed=10.0)
    drive.rows = drive.rows[1:]  # which is at rest
    drive.rows += [parked_below(drive.rows[-1])] * 4
    drive.rows += Drive(y=110.0).wait(2.0).rows
    check = court(expect("comfort"), drive)
    assert check.passed, check.message


def test_events_of_the_scenario_are_no_mistakes_of_drivers():
    rule, drive = expect("collision"), Drive(y=110.0).go(10.0)
    judge = Judge((rule,), site())
    judge.begin(header(STEP), b"", {})
    told = np.array([[3, HAPPENED, 1, 0], [4, OVERRULED, 1, 0]])  # of event number 1, as the Box has row 1
    met = np.array([contact(1.0, 0, 1, 3.0)])
    judge.take(Batch(0, np.zeros(len(drive.rows), np.uint64), drive.motion, contacts=met, events=told))
    judge.end()
    assert "whose driver" not in judge.checks[0].message
    assert judge.checks[0].message.startswith("hit 'Box' at 1.00 s")


def test_waypoint_below_an_absent_object_is_not_reached(court):
    drive = Drive(y=150.0)
    drive.rows = [parked_below(drive.rows[0])] * AWAY
    assert court(expect("reach", waypoint=PointId(1, 1, 4), radius=5.0), drive).passed is False
