"""Bounds of rules to a centimetre, a centimetre per second, or a step, on either side."""

from __future__ import annotations

import math

import pytest

from cbsim.road.roadmap import build
from tests.evaluation.drives import FRONT, LANE, STEP, Court, Drive, contact, expect, mission
from tests.evaluation.test_precedence import STOP, ego, judged, rival
from tests.road.site import Site, straight

MPH = 0.44704
SLOWLY = mission(1, 2, limits=[(1, 0.0, 15 * MPH)])


@pytest.fixture
def court(tmp_path):
    return Court(tmp_path)


@pytest.mark.parametrize(("gap", "passed"), [(0.99, True), (1.01, False), (0.0, True), (-0.005, True), (-0.02, False)])
def test_front_bumper_rests_within_a_metre_before_the_line(court, gap, passed):
    check = court(expect("stop_line"), Drive(y=60.0).go(40.0 - FRONT - gap).wait(1.0).go(20.0))
    assert check.passed == passed, check.message


@pytest.mark.parametrize(("speed", "passed"), [(0.09, True), (0.11, False)])
def test_who_rests_is_slower_than_a_tenth_of_a_metre_per_second(court, speed, passed):
    rolling = Drive(y=60.0).go(40.0 - FRONT - 0.9).go(0.5, speed).go(20.0)
    assert court(expect("stop_line"), rolling).passed == passed


@pytest.mark.parametrize(("profile", "most"), [("darpa2006", 15 * MPH), ("darpa2007", 16 * MPH)])
@pytest.mark.parametrize(("more", "passed"), [(-0.01, True), (0.01, False)])
def test_limit_has_the_tolerance_of_its_profile(court, profile, most, more, passed):
    check = court(expect("speed", profile=profile), Drive(y=10.0).go(40.0, most + more), SLOWLY)
    assert check.passed == passed, check.message


@pytest.mark.parametrize(("aside", "passed"), [(0.01, False), (-0.01, True)])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_checkpoint_is_passed_within_half_the_lane(court, side, aside, passed):
    trip = Drive(x=side * (0.5 * LANE + aside), y=40.0).go(20.0)
    assert court(expect("checkpoints", stop=False), trip, mission(1)).passed == passed


@pytest.mark.parametrize(("gap", "passed"), [(0.99, True), (1.01, False)])
def test_resting_a_metre_before_a_spots_end_reaches_it(court, gap, passed):
    trip = Drive(x=50.0, y=55.0).go(20.0 - FRONT - gap, 2.0).wait(1.0)
    assert court(expect("checkpoints"), trip, mission(9)).passed == passed


@pytest.mark.parametrize(("more", "passed"), [(-0.01, True), (0.01, False)])
def test_car_stops_within_a_distance_of_the_finish(court, more, passed):
    trip = Drive(y=10.0).go(150.0 - 10.0 - FRONT + 5.0 + more).wait(1.0)
    check = court(expect("checkpoints", stop_within=5.0), trip, mission(1, 2))
    assert check.passed == passed, check.message


@pytest.mark.parametrize(("more", "passed"), [(0.01, True), (-0.01, False)])
def test_strip_between_two_lanes_is_theirs_up_to_a_metre_and_a_half(court, more, passed):
    gap = 1.5 - more
    made = Site(metric=True).lane("1.1", straight(200.0)).lane("1.2", straight(200.0, x=LANE + gap))
    change = Drive(y=70.0).go(30.0).go(40.0, aside=-LANE - gap).go(50.0)
    assert court(expect("lane"), change, roadmap=build(made.network())).passed == passed


@pytest.mark.parametrize("step", [0.01, 0.05, 0.1])
@pytest.mark.parametrize(("more", "passed"), [(0, True), (1, False)])
def test_ten_seconds_on_a_clear_way_are_allowed_and_a_step_more_is_not(court, step, more, passed):
    trip = Drive(y=110.0, step=step).go(5.0).wait(10.0 + more * step).go(5.0)
    check = court(expect("excess_delay"), trip, SLOWLY)
    assert check.passed == passed, check.message


@pytest.mark.parametrize(("more", "passed"), [(-STEP, False), (0.0, True)])
def test_who_is_first_at_a_junction_has_ten_seconds(court, more, passed):
    """The object arrives 2 s after the first, rests from the next step on, and crosses its line 0.1 s after a start."""
    one = ego().wait(2.0).go(60.0 - STOP).wait(10.0 + more - 2.0 - 0.1 + STEP).go(40.0).wait(20.0)
    check = judged(court, one, rival().go(60.0 - STOP).wait(15.0).go(40.0))
    assert check.passed == passed, check.message
    if not passed:
        since = STEP * (math.ceil((60.0 - STOP) / (5.0 * STEP)) + 1)
        assert check.time == pytest.approx(since + 10.0 - STEP)
        assert f"which had waited since {since:.2f} s" in check.message


@pytest.mark.parametrize(("more", "passed"), [(-0.01, True), (0.01, False)])
def test_contact_is_a_collision_only_from_the_speed_asked_for_on(court, more, passed):
    hit = contact(0.73, 0, 1, 1.0 + more)
    assert court(expect("collision", impact_below=1.0), Drive(y=110.0).go(10.0), contacts=[hit]).passed == passed
