"""Generated cities: clean under every rule, connected, the same for the same seed, and true to their own schedule."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cbsim
from cbsim.errors import Problem, Problems, Severity, UsageError
from cbsim.evaluation.judge import judge
from cbsim.export.city import HOME, city, city_scenario, write_city
from cbsim.export.city_traffic import car_count, literal_traffic
from cbsim.export.schedule import schedule
from cbsim.export.streets import LANE_WIDTH
from cbsim.formats import writer_for
from cbsim.formats.reader import Source
from cbsim.formats.rndf import read as read_rndf
from cbsim.geometry.geodesy import LocalPlane
from cbsim.lint.mission import lint_mission
from cbsim.lint.network import lint_network
from cbsim.lint.objects import lint_objects
from cbsim.lint.scenario import lint_scenario
from cbsim.models import read
from cbsim.paths import Files
from cbsim.road.roadmap import build
from cbsim.spec.objects import Goal, Kind, TrafficObject
from cbsim.spec.road import Lane, PointId, RoadNetwork

OPTIONS: list[dict[str, Any]] = [
    {},
    {"lanes": 2},
    {"two_way": False},
    {"lanes": 3, "zones": 3, "seed": 5},
    {"lanes": 3, "two_way": False, "zones": 2, "seed": 4},
    {"columns": 1, "rows": 1, "zones": 0},
    {"columns": 1, "rows": 1, "zones": 4},
    {"columns": 2, "rows": 1},
    *({"columns": 2, "rows": 2, "zones": 0, "seed": seed} for seed in range(8)),
    {"columns": 1, "rows": 5, "zones": 2},
    {"block": 40.0, "zones": 6, "seed": 3},
    {"block": 300.0, "spacing": 60.0},
    {"lanes": 4, "block": 200.0},
    {"origin": (-33.9, 151.2), "seed": 9},
]


def complaints(problems: Problems) -> list[str]:
    return [str(p) for p in problems if p.severity is not Severity.INFO]


def infos(network: RoadNetwork, code: str) -> list[Problem]:
    problems = Problems()
    lint_network(network, problems)
    return [p for p in problems if p.code == code]


def length_km(network: RoadNetwork) -> float:
    roadmap = build(network)
    return sum(polyline(roadmap.position(i) for i in lane.ids()) for lane in network.lanes) / 1000.0


def polyline(points: Any) -> float:
    rows = list(points)
    return sum(math.dist(a, b) for a, b in pairwise(rows))


def lane_of(network: RoadNetwork, segment: int, number: int) -> Lane:
    return next(lane for lane in network.lanes if (lane.segment, lane.number) == (segment, number))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_city_is_clean_under_every_rule(options: dict[str, Any]) -> None:
    network, mission, objects = city(**options)
    problems = Problems()
    lint_network(network, problems)
    lint_mission(mission, network, problems)
    lint_objects(objects, network, Files(), problems)
    assert complaints(problems) == []


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 3),
    st.booleans(),
    st.integers(0, 3),
    st.integers(0, 2**31),
    st.floats(90.0, 250.0),
)
def test_network_of_any_options_is_clean(
    columns: int, rows: int, lanes: int, two_way: bool, zones: int, seed: int, block: float
) -> None:
    network, _, _ = city(columns=columns, rows=rows, lanes=lanes, two_way=two_way, zones=zones, seed=seed, block=block)
    problems = Problems()
    lint_network(network, problems)
    assert complaints(problems) == []


def test_same_seed_gives_the_same_city_and_another_seed_another() -> None:
    first, again, other = city(seed=3), city(seed=3), city(seed=4)
    assert first == again
    assert first[0] != other[0]


def test_network_reads_back_as_it_is() -> None:
    network, _, _ = city(lanes=2, zones=2)
    text = writer_for(network)(network)
    problems = Problems()
    again = read_rndf(Source("c.rndf", text, text.encode()), problems)
    assert list(problems) == []
    assert again == network


def test_crossings_are_of_every_pattern() -> None:
    words = " ".join(p.message for p in infos(city(columns=6, rows=6)[0], "I406"))
    assert "all-way stop" in words
    assert "two-way stop" in words
    assert "one-way stop" in words


def test_four_legs_lead_straight_on_left_and_right() -> None:
    network, _, _ = city(columns=3, rows=3, zones=0)
    counts = {len(lane.exits) for lane in network.lanes}
    assert 3 in counts
    assert min(counts) == 1


def test_dead_ends_turn_round_in_the_same_street() -> None:
    network, _, _ = city(zones=0)
    turns = [e for lane in network.lanes for e in lane.exits if e.source.segment == e.target.segment]
    assert turns
    assert len(turns) == len(infos(network, "I404"))


def test_every_lane_starts_and_ends_at_an_exit() -> None:
    network, _, _ = city(lanes=3, zones=2)
    targets = {e.target for lane in network.lanes for e in lane.exits}
    targets |= {e.target for zone in network.zones if zone.perimeter is not None for e in zone.perimeter.exits}
    for lane in network.lanes:
        ids = list(lane.ids())
        assert {e.source for e in lane.exits} == {ids[-1]}
        assert ids[0] in targets


def test_one_way_streets_have_one_direction_and_the_ring_has_two() -> None:
    network, _, _ = city(columns=4, rows=4, two_way=False, zones=0)
    one_way = [s for s in network.segments if len(s.lanes) == 1]
    two_way = [s for s in network.segments if len(s.lanes) == 2]
    assert len(one_way) == 2 * 2 * 3
    assert len(two_way) >= 4 * 3
    assert {lane.left_boundary for s in one_way for lane in s.lanes} == {"solid_yellow"}
    assert {lane.left_boundary for s in two_way for lane in s.lanes} == {"double_yellow"}


def test_lanes_are_numbered_north_to_south_or_west_to_east() -> None:
    network, _, _ = city(lanes=2)
    roadmap = build(network)
    for segment in network.segments:
        middles = [roadmap.position(PointId(segment.number, lane.number, 1)) for lane in segment.lanes]
        ends = [roadmap.position(PointId(segment.number, lane.number, len(lane.points))) for lane in segment.lanes]
        centres = [(a + b) / 2 for a, b in zip(middles, ends, strict=True)]
        runs_east = abs(ends[0][0] - middles[0][0]) > abs(ends[0][1] - middles[0][1])
        order = [-c[1] if runs_east else c[0] for c in centres]
        assert order == sorted(order)
        gaps = [math.dist(a, b) for a, b in pairwise(centres)]
        assert gaps == pytest.approx([LANE_WIDTH] * len(gaps), abs=0.3)


def test_parking_lot_has_spots_with_checkpoints_on_both_sides() -> None:
    network, mission, _ = city(zones=1)
    (zone,) = network.zones
    assert len(zone.spots) == 10
    numbers = {mark.number for spot in zone.spots for mark in spot.checkpoints}
    assert len(numbers) == 10
    assert numbers & {c.number for c in mission.checkpoints}, "the mission parks once"
    assert mission.checkpoints[-1].number not in numbers, "and finishes on a street"
    assert zone.perimeter is not None
    latitudes = zone.perimeter.points.latitude
    assert latitudes[0] == max(latitudes)


def test_streets_are_not_toy_perfect() -> None:
    network, _, _ = city()
    roadmap = build(network)
    turned = 0
    for lane in network.lanes:
        a, b, c = (roadmap.position(PointId(lane.segment, lane.number, n)) for n in (1, 2, len(lane.points)))
        turned += abs(math.remainder(math.atan2(*(b - a)) - math.atan2(*(c - a)), math.tau)) > 0.005
    assert turned > len(list(network.lanes)) // 3


def test_city_lies_around_its_origin() -> None:
    network, _, _ = city(origin=(48.0, 11.0), columns=3, rows=3)
    latitude = [v for lane in network.lanes for v in lane.points.latitude]
    longitude = [v for lane in network.lanes for v in lane.points.longitude]
    reach = LocalPlane(48.0, 11.0).to_local(latitude, longitude)
    assert abs(reach).max() < 300.0
    assert HOME == (30.2, -92.0)


def test_benchmark_city_has_nine_thousand_waypoints_on_four_hundred_lane_kilometres() -> None:
    network, _, _ = city(columns=22, rows=21, block=240.0, spacing=55.0)
    waypoints = sum(len(lane.points) for lane in network.lanes)
    assert 8800 <= waypoints <= 9200
    assert 380.0 <= length_km(network) <= 420.0
    assert len({mark.number for lane in network.lanes for mark in lane.checkpoints}) == len(network.segments)


def test_objects_are_a_bot_and_props_and_no_cars() -> None:
    _, _, objects = city()
    bot = objects.objects[0]
    assert (bot.kind, bot.name, len(bot.sensors)) == (Kind.AUTONOMOUS, "CajunBot", 3)
    assert bot.anchor is not None
    assert {item.kind for item in objects.objects[1:]} == {Kind.STATIC}


def test_literal_cars_follow_exits_and_leave_the_bots_lane_alone() -> None:
    network, _, _ = city()
    objects = literal_traffic(network, "city", np.random.default_rng(5))
    bot = objects.objects[0]
    assert bot.anchor is not None
    starts = [item.anchor for item in objects.objects if item.kind is not Kind.STATIC]
    assert len(set(starts)) == len(starts) == 1 + car_count(network)
    for item in objects.objects:
        lanes = [(goal.segment, goal.lane) for goal in item.goals]
        assert bot.anchor[:2] not in lanes
        for here, there in pairwise(lanes):
            assert there in {(e.target.segment, e.target.lane) for e in lane_of(network, *here).exits}


def test_props_stand_beside_their_lane() -> None:
    _, _, objects = city(lanes=2)
    props = [item for item in objects.objects if item.kind is Kind.STATIC]
    assert props
    assert all(item.position_offset.x - item.size.x / 2 > LANE_WIDTH / 2 for item in props)


def test_written_city_is_a_scenario_that_fits_its_files(tmp_path: Path) -> None:
    paths = write_city(tmp_path / "new" / "town", name="town", columns=3, rows=2, seed=7)
    assert [p.name for p in paths] == ["town.rndf", "town.mdf", "town.xml", "town.yaml"]
    files = Files(paths)
    problems = Problems()
    scenario = read(paths[-1])
    lint_scenario(scenario, files, problems)
    assert complaints(problems) == []
    network, mission, objects = city(name="town", columns=3, rows=2, seed=7)
    assert (read(paths[0]), read(paths[1]), read(paths[2])) == (network, mission, objects)
    assert scenario == city_scenario(network, objects, "town", 7, car_count(network))


@pytest.mark.parametrize("options", [{}, {"lanes": 2, "seed": 3}, {"columns": 3, "rows": 2, "seed": 11}], ids=str)
def test_cars_of_a_city_are_demand_that_touches_nothing_and_gets_on(tmp_path: Path, options: dict[str, Any]) -> None:
    scenario = write_city(tmp_path, name="town", cars=7, **options)[-1]
    world = cbsim.load(scenario)
    assert [(pool.name, pool.count) for pool in world.scene.pools] == [("Car", 7)]
    assert [str(one["object"]) for one in world.scene.expectations] == [f"Car {k}" for k in range(1, 8)]
    recording = cbsim.run(world, duration=60.0)
    assert judge(recording).verdict == "pass"
    ways = [np.hypot(*np.diff(recording.positions(f"Car {k}")[:, :2], axis=0).T).sum() for k in range(1, 8)]
    assert sorted(ways)[1] > 200.0  # one may leave into a parking lot


def test_number_of_cars_is_that_of_lanes_by_sixths_unless_asked_for(tmp_path: Path) -> None:
    assert car_count(city()[0]) == 10
    assert car_count(city(columns=2, rows=1)[0]) == 3
    assert cbsim.read(write_city(tmp_path / "default")[-1]).traffic[0].count == 10
    empty = cbsim.read(write_city(tmp_path / "empty", cars=0)[-1])
    assert (empty.traffic, empty.expect) == ((), ())


@pytest.mark.parametrize("lanes", [1, 2])
def test_bot_waits_beside_the_right_lane_or_on_its_own(lanes: int) -> None:
    beside = 0
    for seed in range(6):
        network, _, objects = city(lanes=lanes, seed=seed)
        bot = objects.objects[0]
        assert bot.anchor is not None
        right = lane_of(network, *bot.anchor[:2]).right_boundary == "solid_white"
        place = dict(city_scenario(network, objects, "c", 1, 3).place)
        assert (bot.name in place) == right
        beside += right
        if right:
            assert -place[bot.name].offset - 0.5 * bot.size.x > 0.5 * LANE_WIDTH
    assert beside == 6 if lanes == 1 else 0 < beside < 6


def test_schedule_adds_ways_over_speeds_and_pauses() -> None:
    network, _, _ = city(zones=0)
    roadmap = build(network)
    goals = (Goal(5.0, 2.0, 1, 1, 3), Goal(4.0, 0.0, 1, 1, None), Goal(0.0, 0.0, 2, 1, 1))
    item = TrafficObject(Kind.DYNAMIC, "a", anchor=PointId(1, 1, 1), initial_pause=3.0, goals=goals)
    points = [roadmap.position(PointId(1, 1, n)) for n in range(1, len(lane_of(network, 1, 1).points) + 1)]
    way = [math.dist(points[0], points[2]), *(math.dist(a, b) for a, b in pairwise(points[2:]))]
    times = [3.0 + way[0] / 5.0]
    times.append(times[0] + 2.0 + way[1] / 4.0)
    times += [times[1] + sum(way[2 : 2 + k]) / 4.0 for k in range(1, len(way) - 1)]
    arrivals = schedule(item, roadmap)
    assert [a.time for a in arrivals] == pytest.approx(times)
    assert arrivals[-1].distance == pytest.approx(sum(way))
    assert schedule(TrafficObject(Kind.DYNAMIC, "a", goals=goals), roadmap) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": 0}, "columns is 0, expected 1 to 1000"),
        ({"lanes": 5}, "lanes is 5, expected 1 to 4"),
        ({"block": 30.0}, "block is 30.0, expected"),
        ({"block": 50.0, "lanes": 3}, "block is 50.0, expected 52.9"),
        ({"zones": 17}, "zones is 17, expected 0 to 16"),
        ({"spacing": 0.0}, "spacing is 0.0"),
        ({"seed": -1}, "seed is -1"),
        ({"origin": (89.0, 0.0)}, "origin is"),
        ({"name": "my city"}, "name is 'my city'"),
        ({"block": math.nan}, "block is nan"),
    ],
)
def test_option_out_of_range_is_refused_with_what_was_expected(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words.replace("(", r"\(")):
        city(**options)
