"""Rules about manoeuvres: passing what stands in the lane, and turning round."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cbsim.road.roadmap import RoadMap, build
from tests.evaluation.drives import FRONT, LANE, SIZE, Court, Drive, expect
from tests.road.site import Site

VL = SIZE[1]
OUT = 0.5 * (LANE - SIZE[0]) + 0.3  # [m] from the middle of the lane, from where a corner is out


@pytest.fixture
def court(tmp_path):
    return Court(tmp_path)


def trip() -> Drive:
    """Drive along lane 1.1 and out into the oncoming lane from y = 130 to 165."""
    return Drive(y=110.0).go(20.0).go(8.0, aside=LANE).go(19.0).go(8.0, aside=-LANE).go(5.0)


def bumpers() -> tuple[float, float, float]:
    """Front bumper where the car is out first, rear bumper where it is out last and where it is back in."""
    rows = trip().rows
    out = [k for k, row in enumerate(rows) if -row[0] > OUT]
    return rows[out[0]][1] + FRONT, rows[out[-1]][1] - FRONT, rows[out[-1] + 1][1] - FRONT


def parked(y: float) -> np.ndarray:
    """Motion of a car that stands in lane 1.1."""
    return np.tile(np.array([Drive(y=y).rows[0]]), (len(trip().rows), 1, 1))


FIRST, LAST, BACK = bumpers()


@pytest.mark.parametrize(("more", "passed"), [(0.01, True), (-0.01, False)])
def test_pass_begins_a_length_behind(court, more, passed):
    check = court(expect("passing", at_least=1, within=50.0), trip(), others=parked(FIRST + VL + more + FRONT))
    assert check.passed == passed
    if passed:
        assert check.message == "1 pass, each at the right distances"
    else:
        assert f"left its lane {VL - 0.01:.2f} m behind 'Other 0' at" in check.message
        assert check.message.endswith(f"expected {VL:.2f} m at least")


@pytest.mark.parametrize(("more", "passed"), [(0.01, True), (-0.01, False)])
def test_pass_ends_a_length_ahead_at_least(court, more, passed):
    check = court(expect("passing", behind=2.0), trip(), others=parked(BACK - VL - more - FRONT))
    assert check.passed == passed
    if not passed:
        assert f"was back in its lane {VL - 0.01:.2f} m beyond 'Other 0' at" in check.message


@pytest.mark.parametrize(("less", "passed"), [(0.01, True), (-0.01, False)])
def test_pass_ends_four_lengths_ahead_at_most(court, less, passed):
    check = court(expect("passing", behind=0.0), trip(), others=parked(LAST - 4.0 * VL + less - FRONT))
    assert check.passed == passed
    if not passed:
        assert f"was still out of its lane {4.0 * VL + 0.01:.2f} m beyond" in check.message


def test_rules_of_2006_ask_for_eight_metres_and_forty_in_all(court):
    ahead, behind = BACK - 8.0 - 2.0 * FRONT - FIRST, 8.0
    assert ahead > behind  # there is room for both
    middle = parked(FIRST + 0.5 * (BACK - FIRST))
    assert court(expect("passing", profile="darpa2006", at_least=1), trip(), others=middle).passed
    near = parked(FIRST + 7.9 + FRONT)
    assert "m behind 'Other 0'" in court(expect("passing", profile="darpa2006"), trip(), others=near).message
    rows = np.array(trip().rows)
    out = np.flatnonzero(-rows[:, 0] > OUT)
    way = float(np.hypot(*np.diff(rows[out[0] : out[-1] + 2, :2], axis=0).T).sum())
    assert 20.0 < way < 40.0
    for more, passed in ((0.01, True), (-0.01, False)):
        check = court(expect("passing", profile="darpa2006", whole=way + more), trip(), others=middle)
        assert check.passed == passed, check.message


def test_who_comes_back_before_it_or_meets_nobody_has_not_passed(court):
    assert court(expect("passing"), trip()).message == "0 passes"
    away = Drive(y=110.0).go(8.0, aside=LANE).go(8.0, aside=-LANE).go(5.0)
    still = np.tile(np.array([Drive(y=150.0).rows[0]]), (len(away.rows), 1, 1))
    check = court(expect("passing", at_least=1), away, others=still)
    assert (check.passed, check.message) == (False, "0 passes, expected 1 at least")


# U-turns --------------------------------------------------------------------------------------------------------------


def turn(y: float) -> Drive:
    """Drive along lane 1.2 and round to lane 1.3, whose U-turn is at y = 50."""
    return Drive(LANE, 10.0).go(y - 10.0).go(math.pi * LANE, 2.0, turn=math.pi).go(10.0)


def furthest(drive: Drive) -> float:
    """Greatest distance of a corner from the nearer end while the car is 60° to 150° round."""
    most = 0.0
    for x, y, heading in zip(*(np.array(drive.rows)[:, k] for k in (0, 1)), headings(drive), strict=True):
        if math.radians(60.0) < heading < math.radians(150.0):
            ahead, left = (
                np.array([-math.sin(heading), math.cos(heading)]),
                np.array([-math.cos(heading), -math.sin(heading)]),
            )
            for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                corner = np.array([x, y]) + a * FRONT * ahead + 0.5 * b * SIZE[0] * left
                most = max(most, min(math.dist(corner, end) for end in ((LANE, 50.0), (-LANE, 50.0))))
    return most


def headings(drive: Drive) -> list[float]:
    return [2.0 * math.atan2(row[6], row[3]) for row in drive.rows]


@pytest.mark.parametrize(("more", "passed"), [(0.01, True), (-0.01, False)])
def test_u_turn_stays_within_a_distance_of_both_ends(court, more, passed):
    drive = turn(58.0)
    check = court(expect("u_turn", within=furthest(drive) + more, at_least=1), drive)
    assert check.passed == passed
    if passed:
        assert check.message == "1 U-turn: 1.2.2-1.3.4 with 0 changes of gear"
    else:
        assert f"was {furthest(drive):.2f} m from both ends of the U-turn 1.2.2-1.3.4 at" in check.message


def test_u_turn_has_fifteen_metres(court):
    assert court(expect("u_turn"), turn(58.0)).passed
    assert not court(expect("u_turn"), turn(64.0)).passed


def test_changes_of_gear_of_a_three_point_turn_are_told(court):
    drive = Drive(LANE, 10.0).go(40.0).go(4.5, 2.0, turn=1.2).go(-2.0, -2.0, turn=0.5).go(4.5, 2.0, turn=1.3).go(5.0)
    assert court(expect("u_turn", at_least=1), drive).message == "1 U-turn: 1.2.2-1.3.4 with 2 changes of gear"


def test_network_without_u_turns_and_drives_without_one_have_none(court):
    check = court(expect("u_turn"), Drive(y=110.0).go(20.0))
    assert (check.passed, check.message) == (True, "0 U-turns")
    assert court(expect("u_turn", at_least=1), Drive(y=110.0).go(20.0)).message == "0 U-turns, expected 1 at least"


def crossing() -> RoadMap:
    """A road to the north, with a U-turn at y = 50 and a road to the east off it, 30 m before or behind that."""
    made = Site(metric=True)
    exits = [("1.1.2", "3.1.1"), ("1.1.3", "1.2.2"), ("1.1.4", "2.1.1")]
    made.lane("1.1", [(0.0, y) for y in (0.0, 20.0, 50.0, 80.0, 200.0)], exits=exits)
    made.lane("1.2", [(-LANE, 200.0), (-LANE, 50.0), (-LANE, 0.0)])
    made.lane("2.1", [(12.0, 92.0), (120.0, 92.0)])
    made.lane("3.1", [(12.0, 32.0), (120.0, 32.0)])
    return build(made.network())


@pytest.mark.parametrize("y", [20.0, 80.0])
def test_ordinary_turn_near_a_u_turn_is_none(court, y):
    """A right turn 30 m before or beyond a U-turn, and on along the other road."""
    drive = Drive(0.0, 0.0).go(y).go(0.5 * math.pi * 12.0, 4.0, turn=-0.5 * math.pi).go(80.0)
    check = court(expect("u_turn"), drive, roadmap=crossing())
    assert (check.passed, check.message) == (True, "0 U-turns")


def test_u_turn_beside_an_ordinary_turn_is_still_one(court):
    drive = Drive(0.0, 0.0).go(50.0).go(0.5 * math.pi * LANE, 2.0, turn=math.pi).go(10.0)
    assert court(expect("u_turn", at_least=1), drive, roadmap=crossing()).message.startswith("1 U-turn: 1.1.3-1.2.2")
    far = Drive(0.0, 0.0).go(66.0).go(0.5 * math.pi * LANE, 2.0, turn=math.pi).go(10.0)
    assert court(expect("u_turn"), far, roadmap=crossing()).passed is False


def test_turning_back_into_the_own_lane_is_no_u_turn(court):
    drive = Drive(0.0, 0.0).go(70.0).go(6.0, 2.0, turn=1.2).go(6.0, 2.0, turn=-1.2).go(30.0)
    assert court(expect("u_turn"), drive, roadmap=crossing()).message == "0 U-turns"


# Runs that end within a manoeuvre -------------------------------------------------------------------------------------


def cut(drive: Drive, rows: int) -> Drive:
    drive.rows = drive.rows[:rows]
    return drive


def test_pass_is_undecided_where_the_run_ends_beside_what_is_passed(court):
    rows = [k for k, row in enumerate(trip().rows) if -row[0] > OUT]
    for end, passed in ((rows[0], True), (rows[0] + 1, None), (rows[-1] + 1, None), (rows[-1] + 2, True)):
        check = court(expect("passing"), cut(trip(), end), others=parked(150.0)[:end])
        assert check.passed is passed, check.message
        if passed is None:
            assert check.message == f"undecided: the run ends at {check.time:.2f} s, while passing 'Other 0'"
            assert check.time == pytest.approx((end - 1) * 0.05)
    more = court(expect("passing", at_least=2), cut(trip(), rows[-1]), others=parked(150.0)[: rows[-1]])
    assert (more.passed, more.message) == (False, "0 passes, expected 2 at least")  # however this one ends


def test_u_turn_is_undecided_where_the_run_ends_before_the_object_has_turned_round(court):
    angles = headings(turn(58.0))
    begun = next(k for k, angle in enumerate(angles) if angle > math.radians(60.0))
    done = next(k for k, angle in enumerate(angles) if angle >= math.radians(150.0))
    for end, passed in ((begun, True), (begun + 1, None), (done, None), (done + 1, True)):
        check = court(expect("u_turn"), cut(turn(58.0), end))
        assert check.passed is passed, check.message
        if passed is None:
            assert check.message == f"undecided: the run ends at {check.time:.2f} s, within the U-turn 1.2.2-1.3.4"


def test_parking_is_undecided_between_the_entry_of_the_spot_and_a_second_of_rest(court):
    whole = park(0.5)
    fronts = [row[1] + FRONT for row in whole.rows]
    inside = next(k for k, front in enumerate(fronts) if front >= 68.0 + 1e-9)
    rested = len(whole.rows) - 40 + 20
    for end, passed in ((inside - 1, True), (inside + 1, None), (rested, None), (rested + 1, True)):
        check = court(expect("parking"), cut(park(0.5), end))
        assert check.passed is passed, check.message
        if passed is None:
            assert check.message == f"undecided: the run ends at {check.time:.2f} s, while parking in the spot 4.1"
    backs = court(expect("parking", at_least=1), park(0.5).go(-0.5, -2.0))
    assert (backs.passed, backs.message[-23:]) == (None, "while leaving the spot 4.1"[-23:])
    assert court(expect("parking"), park(0.5).go(-2.0, -2.0)).passed


# The wrong way, zones, parking ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("way", "passed"), [(1.99, True), (2.01, False)])
def test_two_metres_against_the_traffic_are_allowed(court, way, passed):
    drive = Drive(-LANE, 110.0).go(way, 1.0)
    check = court(expect("wrong_way"), drive)
    assert check.passed == passed
    told = "drove 1.99 m at most against the traffic" if passed else "drove 2.01 m against lane 1.3 until 2.05 s"
    assert check.message.startswith(told)


def test_pieces_count_each_for_itself_and_passing_is_excused(court):
    once = Drive(-LANE, 110.0).go(1.5, 1.0).go(8.0, aside=-LANE).go(8.0, aside=LANE).go(0.2)
    assert court(expect("wrong_way", at_most=6.0), once).passed
    past = court(expect("wrong_way"), trip(), others=parked(150.0))
    assert (past.passed, past.message) == (True, "drove 0.00 m at most against the traffic")
    assert not court(expect("wrong_way"), trip()).passed


@pytest.mark.parametrize(("over", "passed"), [(0.29, True), (0.31, False)])
def test_corners_stay_inside_the_perimeter_of_a_zone(court, over, passed):
    way = 60.0 + over - 50.0 - FRONT  # to the east fence at x = 60
    check = court(expect("zone", at_least=1), Drive(50.0, 60.0, -0.5 * math.pi).go(way, 1.0))
    assert check.passed == passed
    assert check.message.startswith("1 visit to zones" if passed else "stuck out of zone 4 at")


def test_way_into_a_zone_is_open(court):
    into = Drive(50.0, 30.0).go(30.0, 2.0)
    assert court(expect("zone", at_least=1), into).passed
    assert court(expect("zone", at_least=1), Drive().go(10.0)).message == "0 visits to zones, expected 1 at least"


def park(gap: float, aside: float = 0.0, turned: float = 0.0) -> Drive:
    """Stand in the spot whose second point is (50, 75), with the bumper so far before it."""
    ahead = np.array([-math.sin(turned), math.cos(turned)])
    x, y = np.array([50.0 + aside, 75.0 - gap]) - (FRONT + 8.0) * ahead
    return Drive(x, y, turned).go(8.0, 2.0).wait(2.0)


PLACES = [(0.99, 0.0, 0.0, ""), (-0.99, 0.0, 0.0, ""), (1.01, 0.0, 0.0, "1.01 m from the end of the spot 4.1")]
PLACES += [(-1.01, 0.0, 0.0, "1.01 m from"), (0.0, 0.59, 0.0, ""), (0.0, 0.61, 0.0, "0.01 m out of the side of")]
PLACES += [(0.5, 0.0, 0.51, "out of the side of"), (0.5, 0.0, 0.54, "turned by 30.9° in the spot 4.1")]


@pytest.mark.parametrize(("gap", "aside", "turned", "told"), PLACES)
def test_car_stands_at_the_end_of_its_spot_straight_and_inside(court, gap, aside, turned, told):
    check = court(expect("parking", at_least=1), park(gap, aside, turned))
    assert check.passed == (told == ""), check.message
    assert told in check.message
    assert told or check.message == "parked 1 time: 4.1"


@pytest.mark.parametrize(("degrees", "passed"), [(29.9, True), (30.1, False), (-29.9, True), (-30.1, False)])
def test_car_stands_within_thirty_degrees_of_its_spot(court, degrees, passed):
    """A spot that is wide enough for a car that stands across."""
    made = Site(metric=True).lane("3.1", [(50.0, 0.0), (50.0, 50.0)])
    corners = [(30.0, 90.0), (70.0, 90.0), (70.0, 52.0), (30.0, 52.0)]
    lot = build(made.zone(4, corners, spots=[((50.0, 68.0), (50.0, 75.0))], spot_width=7.0).network())
    check = court(expect("parking", at_least=1), park(0.5, turned=math.radians(degrees)), roadmap=lot)
    assert check.passed == passed, check.message
    assert passed or "turned by 30.1° in the spot 4.1" in check.message


def test_car_leaves_its_spot_in_reverse(court):
    assert court(expect("parking"), park(0.5).go(-5.0, -2.0)).passed
    check = court(expect("parking"), park(0.5).go(5.0, 2.0))
    assert (check.passed, check.message[:26]) == (False, "left the spot 4.1 forwards")
