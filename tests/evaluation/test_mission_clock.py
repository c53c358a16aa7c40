"""Rules about the mission's clock: preparation, start, E-stops, and the time that pauses leave out."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.evaluation.rules import Check
from cbsim.spec.profiles import profile_number
from tests.evaluation.drives import FRONT, Clock, Court, Drive, expect, mission
from tests.evaluation.test_every_rule import LIMITS

FAST = 20.0 * 0.44704  # [m/s]
RUN_AT_4 = Clock(((4.0, "RUN"),))
STEPS = (0.01, 0.05, 0.1)


@pytest.fixture
def court(tmp_path):
    return Court(tmp_path)


def at_places(court, rule, step, places, clock, **arguments):
    """Judge a car that is at given distances along its lane, (time [s], way [m]) interpolated."""
    drive = Drive(y=110.0, step=step)
    times, way = (np.array(values) for values in zip(*places, strict=True))
    count = round(times[-1] / step)
    at = np.interp(np.arange(count + 1) * step, times, way)
    rows = []
    for k, y in enumerate(at):
        drive.y = 110.0 + y
        rows.append(drive._row((y - at[k - 1]) / step if k else 0.0))
    drive.rows = rows
    return court(expect(rule, **arguments), drive, clock=clock)


# --- preparation -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("wait", "passed"), [(0, True), (-1, False)])
def test_car_may_move_a_step_after_the_alarm_and_not_at_its_end(court, step, wait, passed):
    check = court(
        expect("preparation"), Drive(y=110.0, step=step).wait(9.0 + wait * step).go(10.0, 1.0), clock=RUN_AT_4
    )
    assert check.passed is passed
    assert abs(check.time - 9.0) < 1e-9
    if passed:
        assert check.message == "stood until 9.00 s, 5 s after RUN"
    else:
        assert "moved in the alarm after RUN at 4.00 s: at 9.00 s it drove 1.00 m/s" in check.message
        assert check.message.endswith("expected rest until 5 s after RUN")


@pytest.mark.parametrize("step", STEPS)
def test_motion_before_run_is_told_at_its_time(court, step):
    check = court(expect("preparation"), Drive(y=110.0, step=step).wait(2.0).go(10.0, 1.0).wait(9.0), clock=RUN_AT_4)
    assert check.passed is False
    assert 2.0 < check.time <= 2.0 + step + 1e-9
    assert check.message.startswith(f"moved before RUN: at {check.time:.2f} s")


@pytest.mark.parametrize(("way", "passed"), [(0.09, True), (0.11, False)])
@pytest.mark.parametrize("step", [0.01, 0.1])
def test_creeping_counts_from_ten_centimetres_on(court, step, way, passed):
    check = at_places(court, "preparation", step, [(0.0, 0.0), (8.0, way), (12.0, way)], RUN_AT_4)
    assert check.passed is passed


def test_alarm_of_a_rule_wins(court):
    drive = Drive(y=110.0).wait(7.0).go(10.0)
    assert court(expect("preparation", alarm=2.9), drive, clock=RUN_AT_4).passed
    assert not court(expect("preparation", alarm=3.1), drive, clock=RUN_AT_4).passed


def test_preparation_is_undecided_in_a_run_that_ends_before_the_alarm(court):
    check = court(expect("preparation"), Drive(y=110.0).wait(8.0), clock=RUN_AT_4)
    assert check.passed is None
    assert check.message == "undecided: the run ends at 8.00 s, before 5 s after RUN"


def test_mission_without_a_clock_asks_for_no_preparation(court):
    assert court(expect("preparation"), Drive(y=110.0).go(10.0)).message == "RUN from the start, without an alarm"


# --- start -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("more", "passed"), [(-1, True), (1, False)])
def test_car_stands_on_a_clear_way_for_ten_seconds_at_most(court, step, more, passed):
    """The alarm ends at 9 s; a car that waits until 19 s moves in the step after it."""
    check = court(expect("start"), Drive(y=110.0, step=step).wait(19.0 + more * step).go(10.0), clock=RUN_AT_4)
    assert check.passed is passed, check.message
    assert abs(check.time - 19.0) <= step + 1e-9
    if not passed:
        told = f"stood in RUN on a clear way from 9.00 s to {check.time:.2f} s"
        assert check.message == f"{told}, expected 10 s at most"


def test_car_that_is_hindered_may_stand_longer(court):
    drive = Drive(y=110.0).wait(30.0).go(10.0)
    ahead = Drive(y=120.0).wait(25.0).go(40.0)
    rows = np.array([*ahead.rows, *[ahead.rows[-1]] * len(drive.rows)][: len(drive.rows)])[:, None]
    assert court(expect("start"), drive, clock=RUN_AT_4, others=rows).passed
    assert not court(expect("start"), drive, clock=RUN_AT_4).passed


@pytest.mark.parametrize(("wait", "passed"), [(-1, True), (1, False)])
@pytest.mark.parametrize("step", [0.05, 0.1])
def test_car_moves_within_five_minutes_of_the_mission(court, step, wait, passed):
    clock = Clock(((290.0, "RUN"),))
    check = court(expect("start"), Drive(y=110.0, step=step).wait(300.0 + wait * step).go(5.0), clock=clock)
    assert check.passed is passed, check.message
    if not passed:
        assert check.message.endswith("expected to move within 300 s")
        assert abs(check.time - 300.0) <= step + 1e-9


def test_time_in_pause_is_not_that_of_a_late_start(court):
    clock = Clock(((4.0, "RUN"), (12.0, "PAUSE"), (30.0, "RUN")))
    assert court(expect("start"), Drive(y=110.0).wait(39.0).go(5.0), clock=clock).passed
    late = court(expect("start"), Drive(y=110.0).wait(41.0).go(5.0), clock=clock)
    assert late.passed is False
    assert late.message.startswith("stood in RUN on a clear way from 30.00 s")


def test_start_is_undecided_until_the_car_moves(court):
    assert court(expect("start"), Drive(y=110.0).wait(15.0), clock=RUN_AT_4).passed is None


# --- E-stop ----------------------------------------------------------------------------------------------------------
def stopped(court: Court, step: float, way: float, speed: float = FAST, **arguments: object) -> Check:
    """Pause a car at 10 s, which then brakes evenly over a way, stands, and goes on after RUN at 25 s."""
    time = round(2.0 * way / speed / step) * step
    drive = Drive(y=10.0, step=step)
    rows, y = [], 10.0
    for k in range(round(40.0 / step) + 1):
        t = k * step
        if t <= 10.0:
            place, v = speed * max(t - 5.0, 0.0), speed if t > 5.0 else 0.0
        elif t <= 25.0:
            part = min((t - 10.0) / time, 1.0)
            place, v = speed * 5.0 + way * (2.0 * part - part * part), speed * (1.0 - part)
        else:
            place, v = speed * 5.0 + way + 2.0 * (t - 25.0), 2.0
        drive.y = y + place
        rows.append(drive._row(v))
    drive.rows = rows
    given = {"within": 20.0, **arguments}
    return court(expect("estop", **given), drive, clock=Clock(((0.0, "RUN"), (10.0, "PAUSE"), (25.0, "RUN"))))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("way", "passed"), [(19.99, True), (20.01, False)])
def test_car_comes_to_rest_within_twenty_metres_of_a_pause(court, step, way, passed):
    check = stopped(court, step, way)
    assert check.passed is passed, check.message
    if passed:
        assert check.message == "1 E-stop while it moved: from 8.94 m/s in 19.99 m"
    else:
        assert check.message.startswith("drove 20.0")
        assert check.message.endswith("expected rest within 20.00 m")
        assert abs(check.time - 14.5) < 0.2


def test_way_from_a_higher_speed_is_that_of_the_same_deceleration(court):
    assert stopped(court, 0.05, 31.0, 1.25 * FAST).passed  # 20 m · 1.25² = 31.25 m
    assert not stopped(court, 0.05, 31.5, 1.25 * FAST).passed
    assert not stopped(court, 0.05, 20.1, 0.8 * FAST).passed


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("more", "passed"), [(-1, True), (1, False)])
def test_car_goes_on_within_ten_seconds_of_run(court, step, more, passed):
    drive = Drive(y=10.0, step=step).wait(5.0).go(10.0, 2.0).wait(10.0)  # at 10 s PAUSE, at 20 s RUN
    drive.wait(10.0 + more * step).go(10.0, 1.0)
    clock = Clock(((0.0, "RUN"), (10.0, "PAUSE"), (20.0, "RUN")))
    check = court(expect("estop", within=20.0), drive, clock=clock)
    assert check.passed is passed, check.message
    if not passed:
        assert check.message.startswith(
            f"stood in RUN on a clear way from 20.00 s to {check.time:.2f} s after an E-stop"
        )
        assert abs(check.time - 30.0) <= step + 1e-9


def test_car_that_moves_in_pause_fails(court):
    drive = Drive(y=10.0).wait(5.0).go(10.0, 2.0).wait(3.0).go(1.0, 0.5).wait(10.0)
    clock = Clock(((0.0, "RUN"), (10.0, "PAUSE"), (30.0, "RUN")))
    check = court(expect("estop", within=20.0), drive, clock=clock)
    assert check.passed is False
    assert "drove 0.50 m/s in PAUSE at 13.05 s" in check.message


def test_car_that_stood_when_it_was_paused_need_not_go_on_at_once(court):
    drive = Drive(y=10.0).wait(60.0)
    assert court(
        expect("estop", within=20.0), drive, clock=Clock(((0.0, "RUN"), (10.0, "PAUSE"), (20.0, "RUN")))
    ).passed


def test_disabled_car_need_not_go_on_but_stop(court):
    clock = Clock(((0.0, "RUN"), (10.0, "DISABLE")))
    assert court(expect("estop", within=20.0), Drive(y=10.0).wait(5.0).go(12.0, 2.0).wait(30.0), clock=clock).passed
    on = court(expect("estop", within=5.0), Drive(y=10.0).wait(5.0).go(16.0, 2.0).wait(30.0), clock=clock)
    assert on.passed is False
    assert "in DISABLE from 2.00 m/s" in on.message


def test_estop_is_undecided_while_the_car_brakes_or_may_go_on(court):
    clock = Clock(((0.0, "RUN"), (10.0, "PAUSE"), (20.0, "RUN")))
    braking = court(expect("estop", within=20.0), Drive(y=10.0).wait(5.0).go(12.0, 2.0), clock=clock)
    assert (braking.passed, braking.message) == (None, "undecided: the run ends at 11.00 s, within braking")
    waiting = court(expect("estop", within=20.0), Drive(y=10.0).wait(5.0).go(10.0, 2.0).wait(12.0), clock=clock)
    assert waiting.message.endswith("within going on after an E-stop")
    assert court(expect("estop", within=20.0, at_least=1), Drive(y=10.0).wait(30.0), clock=clock).passed is False


def test_only_the_rules_of_2006_bound_the_way_of_an_estop():
    assert profile_number("darpa2006", "estop", "within") is not None
    assert profile_number("darpa2007", "estop", "within") is None


# --- the clock in other rules ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("step", STEPS)
def test_mission_time_leaves_out_what_comes_before_the_start_and_pauses(court, step):
    """RUN at 4 s, the mission starts at 9 s; 28 s of driving at 5 m/s, with a pause of 10 s and rest in it."""
    drive = Drive(y=10.0, step=step).wait(9.0).go(50.0).wait(10.0).go(100.0)
    clock = Clock(((4.0, "RUN"), (19.0, "PAUSE"), (29.0, "RUN")))
    arrival = (150.0 - FRONT - 10.0) / 5.0
    for more, passed in ((0.01, True), (-0.01, False)):
        check = court(expect("mission_time", at_most=arrival + more), drive, mission(1, 2), clock=clock)
        assert check.passed is passed, check.message
        assert abs(check.time - (arrival + 19.0)) < step
        assert f"finished at {arrival:.2f} s of the mission's clock" in check.message


def test_delays_are_not_counted_before_the_start_and_in_pauses(court):
    drive = Drive(y=10.0).wait(14.0).go(20.0).wait(20.0).go(10.0)
    clock = Clock(((5.0, "RUN"), (19.0, "PAUSE"), (33.0, "RUN")))
    assert court(expect("excess_delay", longest=7.0), drive, LIMITS, clock=clock).passed
    assert not court(expect("excess_delay", longest=3.5), drive, LIMITS, clock=clock).passed


def test_minimum_speed_is_not_asked_for_in_pauses(court):
    task = mission(1, 2, limits=[(1, 4.0, 10.0)])
    drive = Drive(y=10.0).go(20.0).wait(15.0).go(20.0)
    paused = Clock(((4.0, "PAUSE"), (19.0, "RUN")), has_clock=False)
    assert not court(expect("speed"), drive, task).passed
    assert court(expect("speed"), drive, task, clock=paused).passed


@pytest.mark.parametrize("step", STEPS)
def test_braking_of_an_estop_is_not_uncomfortable_driving_but_a_jerky_start_after_it_is(court, step):
    drive = Drive(y=110.0, step=step)
    drive.rows = []
    for k in range(round(12.0 / step) + 1):
        time = k * step
        drive.rows.append(drive._row(5.0 if time <= 3.0 else max(0.0, 5.0 - 8.0 * (time - 3.0))))
    clock = Clock(((3.0, "PAUSE"), (8.0, "RUN")), has_clock=False)
    assert not court(expect("comfort"), drive).passed
    assert court(expect("comfort"), drive, clock=clock).passed
    drive.rows[round(9.0 / step) :] = [drive._row(4.0)] * (len(drive.rows) - round(9.0 / step))
    late = court(expect("comfort"), drive, clock=clock)
    assert late.passed is False
    assert 8.4 < late.time < 9.1


# --- restarts --------------------------------------------------------------------------------------------------------
def jump(step: float) -> tuple[Drive, Clock]:
    """Pass checkpoint 1 and rest, be set to beyond the stop line at y = 100, and pass checkpoint 2."""
    drive = Drive(y=20.0, step=step).go(40.0).wait(2.0)
    time = (len(drive.rows) - 1) * step
    drive.y = 110.0
    drive.wait(1.0).go(45.0).wait(3.0)
    return drive, Clock(restarts=((time, 0),), has_clock=False)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("rule", ["checkpoints", "stop_line", "travel", "comfort", "lane", "collision", "wrong_way"])
def test_car_that_is_set_to_another_start_has_not_driven_there(court, step, rule):
    drive, clock = jump(step)
    arguments = {"travel": {"at_least": 84.9, "at_most": 85.1}}.get(rule, {})
    if rule == "comfort":
        arguments = dict.fromkeys(("acceleration", "braking", "jerk", "jerk_along"), 1000000.0)
    check = court(expect(rule, **arguments), drive, mission(1, 2), clock=clock)
    assert check.passed, check.message
    if rule == "stop_line":  # without the restart, it is a car that goes over the line
        assert not court(expect(rule), drive, mission(1, 2)).passed


def test_car_that_is_set_above_its_checkpoint_has_passed_it(court):
    drive = Drive(y=20.0).go(40.0).wait(2.0)
    time = (len(drive.rows) - 1) * 0.05
    drive.y = 150.0
    drive.wait(3.0)
    clock = Clock(restarts=((time, 0),), has_clock=False)
    check = court(expect("checkpoints"), drive, mission(1, 2), clock=clock)
    assert check.passed, check.message
    assert abs(check.time - (time + 0.05)) < 1e-9


def set_back(step: float, heading: float, way: float, speed: float) -> tuple[Drive, Clock]:
    """Drive some way, be set to rest at the begin of it while driving, and drive it again."""
    drive = Drive(y=80.0, heading=heading, step=step).go(way, speed)
    time = (len(drive.rows) - 1) * step
    drive.y = 80.0
    return drive.wait(1.0).go(way, speed), Clock(restarts=((time, 0),), has_clock=False)


@pytest.mark.parametrize("step", STEPS)
def test_no_window_of_comfort_holds_steps_before_and_after_a_restart(court, step):
    drive, clock = set_back(step, 0.0, 20.0, 8.0)
    drive.rows = drive.rows[1 : -round(20.0 / 8.0 / step) - 1]  # how it begins to move is not judged here
    clock = Clock(restarts=((clock.restarts[0][0] - step, 0),), has_clock=False)
    assert court(expect("comfort"), drive, clock=clock).passed
    check = court(expect("comfort"), drive)
    assert check.message.startswith(("braked with", "had a jerk of", "had a longitudinal jerk of"))


@pytest.mark.parametrize("step", STEPS)
def test_way_against_the_traffic_ends_with_a_restart(court, step):
    drive, clock = set_back(step, np.pi, 1.5, 2.0)
    assert court(expect("wrong_way"), drive, clock=clock).passed
    longer = Drive(y=80.0, heading=np.pi, step=step).go(3.0, 2.0)
    assert court(expect("wrong_way"), longer).message.startswith("drove 2.")


@pytest.mark.parametrize("step", STEPS)
def test_standing_on_a_clear_way_is_counted_anew_after_a_restart(court, step):
    drive = Drive(y=110.0, step=step).wait(6.0)
    clock = Clock(restarts=((6.0, 0),), has_clock=False)
    drive.y = 120.0
    drive.wait(6.0).go(10.0)
    assert court(expect("start"), drive, clock=clock).passed
    assert court(expect("start"), drive).message.startswith("stood in RUN on a clear way from 0.00 s to 10.")
