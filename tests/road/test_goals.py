"""Expansion of goals without waypoint (D14)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.errors import Location, Problems
from cbsim.formats import read_file
from cbsim.road.goals import expand_goals
from cbsim.spec.objects import Controller, Goal, Kind, TrafficObject
from cbsim.spec.road import Lane, Perimeter, PointId, Points, RoadNetwork, Segment, Zone
from tests.common import shared


def points(numbers):
    zeros = np.zeros(len(numbers))
    return Points(tuple(numbers), zeros, zeros, (("0", "0"),) * len(numbers), (1,) * len(numbers))


LANES = {(1, 1): (1, 2, 3, 4), (1, 2): (4, 7, 5), (3, 1): (1, 2)}  # lane 1.2 is numbered out of order
NETWORK = RoadNetwork(
    "town",
    tuple(
        Segment(number, tuple(Lane(s, n, points(ids)) for (s, n), ids in LANES.items() if s == number))
        for number in (1, 3)
    ),
    (Zone(4, Perimeter(points((1, 2, 3)))),),
)


def mover(*goals, start=None):
    return TrafficObject(
        Kind.DYNAMIC, "Traffic", anchor=None if start is None else PointId(*start), controller=Controller.WAYPOINT,
        goals=tuple(goals),
    )  # fmt: skip


def to(segment, lane, waypoint=None, speed=3.0, pause=0.5, line=9):
    return Goal(speed, pause, segment, lane, waypoint, Location("t.xml", line))


def expand(*goals, start=None, network=NETWORK):
    problems = Problems()
    found = expand_goals(mover(*goals, start=start), network, problems)
    assert all(goal.waypoint is not None for goal in found)
    return [f"{g.segment}.{g.lane}.{g.waypoint}" for g in found], list(problems)


def test_d14_open_goal_on_the_lane_of_the_start_goes_on_to_its_end():
    assert expand(to(1, 1), start=(1, 1, 2)) == (["1.1.3", "1.1.4"], [])


def test_d14_open_goal_on_another_lane_takes_all_its_waypoints():
    assert expand(to(3, 1), start=(1, 1, 2)) == (["3.1.1", "3.1.2"], [])


def test_d14_open_goal_without_start_takes_all_waypoints():
    assert expand(to(3, 1)) == (["3.1.1", "3.1.2"], [])


def test_d14_the_goal_before_is_where_the_next_begins():
    assert expand(to(1, 1, 3), to(1, 1), to(3, 1), start=(3, 1, 1))[0] == ["1.1.3", "1.1.4", "3.1.1", "3.1.2"]


def test_d14_travel_order_is_the_order_of_the_file_not_of_the_numbers():
    assert expand(to(1, 2), start=(1, 2, 4))[0] == ["1.2.7", "1.2.5"]


def test_d14_at_the_end_of_the_lane_nothing_is_added_and_said():
    found, problems = expand(to(1, 1), to(3, 1, 2), start=(1, 1, 4))
    assert found == ["3.1.2"]
    assert [(p.code, p.location.line) for p in problems] == [("W662", 9)]


def test_d14_speed_pause_and_place_go_to_each_goal():
    found = expand_goals(mover(to(3, 1, speed=7.5, pause=2.0, line=4)), NETWORK, Problems())
    assert [(g.speed, g.pause, g.location.line) for g in found] == [(7.5, 2.0, 4)] * 2


def test_start_that_the_lane_does_not_have_counts_as_another_lane():
    assert expand(to(3, 1), start=(3, 1, 99))[0] == ["3.1.1", "3.1.2"]


@pytest.mark.parametrize(("lane", "hint"), [((1, 3), "1.2"), ((2, 1), "1.1"), ((4, 0), "3.1")])
def test_goal_on_a_lane_that_does_not_exist_names_the_nearest(lane, hint):
    found, problems = expand(to(*lane), to(3, 1, 1))
    assert found == ["3.1.1"]
    assert [(p.code, p.location.line, p.hint) for p in problems] == [("E661", 9, f"did you mean '{hint}'?")]


def test_each_complaint_is_made_once_however_often_goals_are_expanded():
    problems = Problems()
    for _ in range(3):
        expand_goals(mover(to(9, 9), to(1, 1), to(1, 1)), NETWORK, problems)
    assert sorted(p.code for p in problems) == ["E661", "W662"]


GOAL = st.sampled_from([*LANES]).flatmap(
    lambda lane: st.builds(to, st.just(lane[0]), st.just(lane[1]), st.none() | st.sampled_from(LANES[lane]))
)


@settings(deadline=None)
@given(
    st.lists(GOAL, max_size=8), st.none() | st.sampled_from([(s, n, k) for (s, n), ids in LANES.items() for k in ids])
)
def test_expansion_is_idempotent_and_keeps_goals_that_have_a_waypoint(goals, start):
    once = expand_goals(mover(*goals, start=start), NETWORK, Problems())
    assert expand_goals(mover(*once, start=start), NETWORK, Problems()) == once
    rest = iter(once)
    assert all(goal in rest for goal in goals if goal.waypoint is not None)


def test_published_example_on_the_darpa_sample_network():
    network = read_file(shared("rndf", "terminus", "gazebo8__darpa.rndf")).spec
    traffic = read_file(shared("cajunbot", "Objects.xml")).spec.objects[1]
    problems = Problems()
    found = expand_goals(traffic, network, problems)
    last = next(lane for lane in network.lanes if (lane.segment, lane.number) == (3, 1)).points.numbers[-1]
    assert [(g.waypoint, g.speed) for g in found] == [(2, 2.0), *((k, 3.0) for k in range(3, last + 1))]
    assert {(g.segment, g.lane) for g in found} == {(3, 1)}
    assert list(problems) == []


def straight(count=6, gap=10.0, metric=True):
    """One lane going north, waypoints 10 m apart."""
    north = np.arange(count) * gap
    columns = (np.zeros(count), north) if metric else (38.0 + north / 111_000.0, np.full(count, -77.0))
    lane = Lane(1, 1, Points.of(*columns))
    return RoadNetwork("straight", (Segment(1, (lane,)),), metric=metric)


def placed(point, station=0.0, network=None):
    found = expand_goals(
        mover(to(1, 1), start=(1, 1, 2)), network or straight(), Problems(), start=PointId(1, 1, point), station=station
    )
    return [goal.waypoint for goal in found]


def test_d14_a_placement_takes_the_part_of_the_start_position():
    assert placed(3) == [4, 5, 6]
    assert placed(1) == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("metric", [True, False])
def test_d14_waypoints_before_the_station_of_a_placement_are_behind(metric):
    network = straight(metric=metric)
    assert placed(2, 9.0, network) == [3, 4, 5, 6]
    assert placed(2, 25.0, network) == [5, 6]
    assert placed(2, 1e6, network) == []


def test_d14_a_placement_at_a_waypoint_by_its_station_has_reached_it():
    assert placed(2, 20.0) == placed(4)
    assert placed(2, -5.0) == placed(2)


@given(st.integers(1, 6), st.floats(0.0, 100.0))
def test_d14_a_station_further_on_never_adds_goals(point, station):
    assert (
        placed(point, station + 1.0)
        == placed(point, station)[len(placed(point, station)) - len(placed(point, station + 1.0)) :]
    )


def test_d14_a_placement_where_the_network_has_no_such_point_expands_like_another_lane():
    assert placed(99, 5.0) == [1, 2, 3, 4, 5, 6]
