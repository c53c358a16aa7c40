"""Rules about the vehicle ahead: separation, following, queueing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.evaluation.drives import LANE, SIZE, Court, Drive, expect

MPH = 0.44704
VL = SIZE[1]


@pytest.fixture
def court(tmp_path):
    return Court(tmp_path)


def lead(trip: Drive, *others: Drive) -> np.ndarray:
    """Motion of others, as long as the trip; who has arrived stands."""
    found = []
    for other in others:
        rows = other.rows[: len(trip.rows)]
        last = other.rows[-1].copy()
        last[7:10] = 0.0
        found.append(np.array(rows + [last] * (len(trip.rows) - len(rows))))
    return np.stack(found, axis=1)


def pair(speed: float, gap: float, length: float = 40.0, start: float = 110.0) -> tuple[Drive, np.ndarray]:
    """Two cars one behind the other at one speed, bumper to bumper a gap apart."""
    trip = Drive(y=start).go(length, speed)
    return trip, lead(trip, Drive(y=start + VL + gap).go(length, speed))


@pytest.mark.parametrize("speed", [2.0, 10.0])
@pytest.mark.parametrize(("more", "passed"), [(0.01, True), (-0.01, False)])
def test_gap_is_a_length_per_ten_miles_per_hour_and_one_at_least(court, speed, more, passed):
    needed = VL * max(speed / (10.0 * MPH), 1.0)
    trip, others = pair(speed, needed + more)
    check = court(expect("separation"), trip, others=others)
    assert check.passed == passed
    if not passed:
        assert check.time == (0.0 if speed == 2.0 else 0.05)  # drives begin at rest
        assert f"was {needed + more:.2f} m behind 'Other 0' at {check.time:.2f} s at (0.00, 110." in check.message
        assert check.message.endswith(f"expected {needed:.2f} m at least")


@pytest.mark.parametrize(("more", "passed"), [(0.01, True), (-0.01, False)])
def test_within_thirty_metres_of_a_stop_line_two_metres_do(court, more, passed):
    trip, others = pair(2.0, 2.0 + more, 10.0, 172.0)
    assert court(expect("separation"), trip, others=others).passed == passed


def test_what_stands_beside_the_strip_or_cannot_move_is_not_ahead(court):
    trip = Drive(y=110.0).go(20.0)
    beside = lead(trip, Drive(x=SIZE[0] + 0.01, y=133.0))
    assert court(expect("separation"), trip, others=beside).message.endswith("no object was ahead")
    assert court(expect("separation"), Drive(y=-15.0).go(9.0)).passed  # the box


def test_gap_that_another_closes_is_forgiven_while_it_reopens_within_ten_seconds(court):
    trip = Drive(y=102.0).go(24.0, 4.0).go(50.0 - 24.0, 2.0).go(14.0)
    cuts_in = Drive(LANE, 102.0 + VL + 1.0).go(8.0, 4.0).go(8.0, 4.0, aside=LANE).go(8.0, 4.0).go(48.0, 4.0)
    assert court(expect("separation"), trip, others=lead(trip, cuts_in)).passed
    stays = Drive(y=102.0).go(80.0, 4.0)
    cuts_in = Drive(LANE, 102.0 + VL + 1.0).go(8.0, 4.0).go(8.0, 4.0, aside=LANE).go(72.0, 4.0)
    check = court(expect("separation"), stays, others=lead(stays, cuts_in))
    entered = next(k for k, row in enumerate(cuts_in.rows) if row[0] < SIZE[0])
    assert (check.passed, check.time) == (False, pytest.approx(0.05 * entered + 10.05))


def test_who_comes_up_too_close_is_not_forgiven(court):
    trip = Drive(y=110.0).go(30.0, 6.0).go(2.0, 3.0)
    slow = lead(trip, Drive(y=128.0).go(30.0, 3.0))
    check = court(expect("separation"), trip, others=slow)
    needed = VL * 6.0 / (10.0 * MPH)
    time = (128.0 - 110.0 - VL - needed) / 3.0
    assert (check.passed, check.time) == (False, pytest.approx(0.05 * math.ceil(time / 0.05 + 1e-9)))


@pytest.mark.parametrize(("gap", "passed"), [(14.99, False), (15.01, True), (39.99, True)])
def test_distance_behind_a_lead_at_fifteen_miles_per_hour_lies_between_two_bounds(court, gap, passed):
    trip, others = pair(15.0 * MPH, gap)
    assert court(expect("following", profile="darpa2006"), trip, others=others).passed == passed


def test_who_has_followed_does_not_fall_back_beyond_forty_metres(court):
    trip = Drive(y=5.0).go(60.0, 15.0 * MPH - 1.0)
    others = lead(trip, Drive(y=5.0 + VL + 39.0).go(120.0, 15.0 * MPH))
    check = court(expect("following", profile="darpa2006"), trip, others=others)
    assert (check.passed, check.time) == (False, pytest.approx(1.0, abs=0.06))
    assert "fell 40.0" in check.message
    assert check.message.endswith("expected 40 m at most")
    far = lead(trip, Drive(y=5.0 + VL + 45.0).go(120.0, 15.0 * MPH))
    assert court(expect("following", profile="darpa2006"), trip, others=far).passed  # it never followed


@pytest.mark.parametrize(("more", "passed"), [(0.01, True), (-0.01, False)])
def test_profile_of_2007_asks_for_a_length_per_ten_miles_per_hour(court, more, passed):
    trip, others = pair(8.0, VL * 8.0 / (10.0 * MPH) + more)
    assert court(expect("following"), trip, others=others).passed == passed


QUEUES = [("darpa2006", 4.99, False), ("darpa2006", 5.01, True), ("darpa2006", 9.99, True), ("darpa2006", 10.01, False)]
QUEUES += [("darpa2007", 1.99, False), ("darpa2007", 2.01, True), ("darpa2007", 25.0, True)]


@pytest.mark.parametrize(("profile", "gap", "passed"), QUEUES)
def test_who_stops_behind_a_car_that_stands_leaves_the_right_gap(court, profile, gap, passed):
    trip = Drive(y=110.0).go(10.0).wait(3.0)
    others = lead(trip, Drive(y=120.0 + VL + gap))
    check = court(expect("queueing", profile=profile, at_least=1), trip, others=others)
    assert check.passed == passed
    if passed:
        assert check.message == "queued 1 time"
    else:
        assert check.time == pytest.approx(2.05 + 1.0)
        assert check.message.startswith(f"stood {gap:.2f} m behind 'Other 0' at 3.05 s at (0.00, 120.00), expected")


def test_who_stands_at_a_line_does_not_queue(court):
    trip = Drive(y=80.0).go(20.0 - 0.5 * VL - 0.5).wait(5.0)
    others = lead(trip, Drive(y=115.0))
    assert court(expect("queueing", profile="darpa2006"), trip, others=others).message == "queued 0 times"
    assert not court(expect("queueing", at_least=1), trip, others=others).passed
