"""``traffic`` and ``drivers`` in a scenario: every key is read, written back equal, and every mistake has its line."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cbsim
from cbsim.errors import ModelError, Problems
from cbsim.formats import read_file
from cbsim.formats.reader import Source
from cbsim.formats.scenario import read, write
from cbsim.lint.scenario import lint_scenario
from cbsim.paths import Files, data_folder
from cbsim.road.roadmap import build
from cbsim.simulation.advance import advance
from cbsim.spec.road import PointId, RoadNetwork
from cbsim.spec.scenario import RECORDED_TRAFFIC, Record, Scenario
from cbsim.spec.traffic import CLASSES, Driver, FollowingModel, Pool, Spread
from cbsim.traffic.kernels.demand.pools import LEFT
from cbsim.world.compile import compile_world
from cbsim.world.scene import Scene
from cbsim.world.traffic.tables import ABSENT, PHASE
from tests.road.site import Site

WHOLE = """\
network: city
record: {traffic: near}
drivers:
  calm: {time_headway: 1.8, desired_speed: 0.9}
  hasty: {model: krauss, desired_speed: {speed: {normal: [14, 1]}}, errors: {brakes_hard: 0.5/min, tailgates: 0.1}}
traffic:
  - {name: town, count: 40, on: ["1.1", "3.2"], spread: random, drivers: {calm: 4, hasty: 1}}
  - {name: through, flow: 600, from: 1.1.1, to: {14.1.6: 0.7, 6.1.6: 0.3}, begin: 10, until: 600, class: truck,
     at_most: 9}
  - {name: there, count: 3, parked: 31, pause: 60, then: 1.1.1}
  - {name: park, flow: 30, from: 1.1.1, to: 31.2.2, pause: 90}
"""


def spec_of(text: str) -> tuple[Scenario | None, list[tuple[int | None, str]]]:
    problems = Problems()
    spec = read(Source("test.yaml", text, text.encode()), problems)
    return spec, [(problem.location.line, problem.code) for problem in problems]


def test_a_flow_of_which_no_second_car_would_come_in_finite_time_is_refused():
    text = WHOLE.replace("flow: 30,", "flow: RATE,")
    assert spec_of(text.replace("RATE", "1e-6"))[1] == []
    assert spec_of(text.replace("RATE", "1.4e-313"))[1] == [(11, "E805")]


@pytest.mark.parametrize(
    ("entry", "codes"),
    [
        ("{name: car, cuont: 4}", ["E803"]),
        ("{name: car, flwo: 90, form: 1.1.1}", ["E803", "E803"]),
        ("{name: car, count: 4, flwo: 90}", ["E803", "E806"]),
        ("{name: car, colour: red}", ["E803", "E806"]),
    ],
)
def test_what_a_misspelt_key_means_is_not_missing(entry: str, codes: list[str]):
    _, problems = spec_of(f"network: city\ntraffic:\n  - {entry}\n")
    assert problems == [(3, code) for code in codes]


def test_every_key_is_read():
    spec, problems = spec_of(WHOLE)
    assert not problems
    assert spec is not None
    assert spec.record == Record("near")
    town, through, there, park = spec.traffic
    assert (town.count, town.lanes, town.is_random) == (40, ((1, 1), (3, 2)), True)
    assert town.drivers == (("calm", 0.8), ("hasty", 0.2))
    assert (through.flow, through.origin) == (600.0, PointId(1, 1, 1))
    assert through.destinations == ((PointId(14, 1, 6), 0.7), (PointId(6, 1, 6), 0.3))
    assert (through.begin, through.until, through.vehicle_class, through.at_most) == (10.0, 600.0, "truck", 9)
    assert (there.parked, there.pause, there.thens) == ((31,), 60.0, ((PointId(1, 1, 1), 1.0),))
    assert (park.destinations, park.pause, park.thens) == (((PointId(31, 2, 2), 1.0),), 90.0, ())
    calm, hasty = spec.drivers
    assert (calm.time_headway, calm.desired_speed) == (Spread(1.8), Spread(0.9))
    assert (hasty.model, hasty.speed) == (FollowingModel.KRAUSS, Spread(14.0, 1.0))
    assert hasty.brakes_hard == pytest.approx(0.5 / 60.0)


numbers = st.floats(0.1, 1e4).map(lambda value: round(value, 3))
spreads = st.builds(Spread, numbers, st.sampled_from([0.0, 0.1, 2.5]))
names = st.text("abcdefgh ", min_size=1, max_size=8).filter(str.strip)
points = st.builds(PointId, st.integers(1, 9), st.integers(1, 9), st.integers(1, 99))
shares = st.sampled_from([(1.0,), (0.5, 0.5), (0.25, 0.75), (0.1, 0.2, 0.7)])
drivers = st.builds(
    Driver,
    names,
    model=st.sampled_from(FollowingModel),
    desired_speed=spreads,
    time_headway=spreads,
    minimum_gap=spreads,
    max_acceleration=spreads,
    comfortable_deceleration=spreads,
    critical_gap=spreads,
    runs_stops=st.sampled_from([0.0, 0.05, 1.0]),
    brakes_hard=st.sampled_from([0.0, 0.25]),
)
counts = st.builds(
    Pool,
    names,
    count=st.integers(1, 1000),
    lanes=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=3).map(tuple),
    is_random=st.booleans(),
    vehicle_class=st.sampled_from(sorted(CLASSES)),
)


@st.composite
def flows(draw: st.DrawFn) -> Pool:
    parts = draw(shares)
    targets = draw(st.lists(points, min_size=len(parts), max_size=len(parts), unique=True))
    return Pool(
        draw(names),
        flow=draw(numbers),
        origin=draw(points),
        destinations=tuple(zip(targets, parts, strict=True)),
        begin=draw(st.sampled_from([0.0, 12.5])),
        until=draw(st.sampled_from([1e12, 100.0])),
        is_even=draw(st.booleans()),
        at_most=draw(st.sampled_from([0, 7])),
        pause=draw(st.sampled_from([math.inf, 45.0])),
    )


@st.composite
def parked(draw: st.DrawFn) -> Pool:
    zones, pause = draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)), draw(st.sampled_from([math.inf, 45.0]))
    thens = ((draw(points), 1.0),) if pause < math.inf else ()
    return Pool(draw(names), count=draw(st.integers(1, 9)), parked=tuple(zones), pause=pause, thens=thens)


@given(
    st.lists(counts | flows() | parked(), max_size=3, unique_by=lambda pool: pool.name), st.lists(drivers, max_size=3)
)
def test_what_is_written_reads_back_equal(pools, listed):
    unique = {driver.name: driver for driver in listed}
    spec = Scenario(network="city", traffic=tuple(pools), drivers=tuple(unique.values()))
    again, problems = spec_of(write(spec))
    assert not problems
    assert again is not None
    assert again.traffic == spec.traffic
    assert again.drivers == spec.drivers


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("{name: a}", "E806"),
        ("{name: a, count: 3, flow: 600, from: 1.1.1}", "E806"),
        ("{name: a, flow: 600}", "E806"),
        ("{name: a, flow: -5, from: 1.1.1}", "E805"),
        ("{name: a, flow: .inf, from: 1.1.1}", "E805"),
        ("{name: a, count: 0}", "E805"),
        ("{name: a, count: 3, to: 1.1.1}", "E806"),
        ("{name: a, count: 3, class: tank}", "E805"),
        ("{name: a, count: 3, driver: calm}", "E803"),
        ("{name: a, flow: 5, from: 1.1.1, begin: 9, until: 3}", "E806"),
        ("{name: a, flow: 5, from: 1.1.1, parked: 4}", "E806"),
        ("{name: a, count: 5, parked: 4, on: ['1.1']}", "E806"),
        ("{name: a, count: 5, pause: 4}", "E806"),
        ("{name: a, count: 5, parked: 4, then: 1.1.1}", "E806"),
        ("{name: a, count: 5, parked: 0}", "E805"),
    ],
)
def test_mistakes_are_told_with_their_line(entry, code):
    _, problems = spec_of(f"network: city\ntraffic:\n  - {entry}\n")
    assert problems == [(3, code)]


REACTIVE = "add:\n  - {name: a, kind: dynamic, at: 1.1.1, reactive: true, "
SCRIPT = "script: [{speed: 1, distance: 2, angle: 0}]"


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("network: city\ntraffic:\n  - {name: a, flow: 5, from: 99.1.1}\n", "E822", "did you mean"),
        ("network: city\ntraffic:\n  - {name: a, flow: 5, from: 1.1.1, to: 1.1.99}\n", "E822", "did you mean '1.1."),
        ("network: city\ntraffic:\n  - {name: a, count: 5, on: [99.1]}\n", "E822", "did you mean '3"),
        ("network: city\ntraffic:\n  - {name: a, count: 5, drivers: clam}\ndrivers: {calm: {}}\n", "E823", "'calm'"),
        ("step: 0.1\ntraffic:\n  - {name: a, count: 5}\n", "E830", "names one"),
        (f"network: city\n{REACTIVE}{SCRIPT}}}\n", "E830", ""),
        (f"network: city\n{REACTIVE}controller: manual}}\n", "E830", ""),
        (f"step: 0.1\n{REACTIVE}goals: [{{waypoint: 1.1.2}}]}}\n", "E830", ""),
    ],
)
def test_what_does_not_fit_the_rest_is_told_with_its_line(text, code, hint):
    spec, problems = Scenario(), Problems()
    spec = read(Source("test.yaml", text, text.encode()), problems)
    assert spec is not None
    lint_scenario(spec, Files(), problems)
    found = [problem for problem in problems if problem.location.line == 3 and problem.code == code]
    assert len(found) == 1
    assert hint in found[0].hint


def test_driver_of_an_unknown_model_is_told_with_the_nearest_one():
    problems = Problems()
    text = "network: city\ndrivers:\n  calm: {model: kraus}\n"
    assert read(Source("test.yaml", text, text.encode()), problems) is None
    assert [(p.location.line, p.code, p.hint) for p in problems] == [(3, "E805", "did you mean 'krauss'?")]


@pytest.mark.parametrize(
    "value",
    [
        *("time_headway: -1", "minimum_gap: -0.5", "max_acceleration: {normal: [1.5, -0.1]}", "critical_gap: -1"),
        *("comfortable_deceleration: -2", "desired_speed: -0.9", "desired_speed: {speed: -3}"),
        *("errors: {brakes_hard: -1}", "errors: {brakes_hard: -0.5/min}", "errors: {tailgates: -0.1}"),
    ],
)
def test_driver_with_a_negative_value_is_refused_at_its_line(value):
    spec, problems = spec_of(f"network: city\ndrivers:\n  calm:\n    {value}\n")
    assert spec is None
    assert problems == [(4, "E805")]


def test_count_above_the_room_of_its_lanes_is_refused_with_its_line_and_the_room(tmp_path):
    path = tmp_path / "full.yaml"
    path.write_text("network: city\ntraffic:\n  - {name: a, count: 90, on: [1.1]}\n")
    with pytest.raises(
        ModelError, match=r"full.yaml:3: error: traffic 'a': 90 cars do not fit: there is room for \d+ \[E836\]"
    ):
        cbsim.load(path)


# --- flows and networks without a way on ------------------------------------------------------------------------------
def roads(*lanes: tuple[str, float, bool], exits: tuple[tuple[str, str], ...] = ()) -> RoadNetwork:
    """Lanes of 100 m, some of them southwards, at distances from each other."""
    site = Site(metric=True)
    for name, x, south in lanes:
        ends = [(x, 100.0), (x, 0.0)] if south else [(x, 0.0), (x, 100.0)]
        site.lane(name, ends, exits=[pair for pair in exits if pair[0].startswith(f"{name}.")])
    return site.network()


def linted(network: RoadNetwork, traffic: str) -> list[tuple[int | None, str, str, str]]:
    text, problems = f"network: site\ntraffic:\n  - {{name: a, {traffic}}}\n", Problems()
    spec = read(Source("test.yaml", text, text.encode()), problems)
    assert spec is not None
    lint_scenario(replace(spec, network=None), Files(), problems, network=network)
    return [(p.location.line, p.code, p.message, p.hint) for p in problems]


ISLANDS = roads(("1.1", 0.0, False), ("2.1", 200.0, False), ("3.1", 203.0, True), exits=(("1.1.2", "1.1.1"),))


def test_flow_without_a_way_to_its_destination_is_told_with_the_nearest_that_can_be_reached():
    found = linted(ISLANDS, "flow: 60, from: 1.1.1, to: {1.1.2: 1, 2.1.2: 1}")
    message, hint = "no way leads from '1.1.1' to '2.1.2'", "the nearest that can be reached is '1.1.2'"
    assert found == [(3, "E829", message, hint)]


def test_flow_that_reaches_its_destination_by_turning_round_is_accepted():
    assert linted(ISLANDS, "flow: 60, from: 2.1.1, to: 3.1.2") == []


def test_traffic_on_a_network_without_exits_is_warned_of_and_its_cars_leave_at_the_end_of_their_lane():
    network = roads(("1.1", 0.0, False))
    message = "the network has no exits: cars of 'a' go to the end of their lane and leave"
    assert linted(network, "count: 3") == [(3, "W831", message, "")]
    pool = Pool("a", count=3)
    made = compile_world(Scene("test", (), build(network), pools=(pool,)))
    snapshot = made.start
    advance(made, snapshot, 1200)
    assert (snapshot.columns.intent[:, PHASE] == ABSENT).all()
    assert snapshot.columns.pool_counts[0, LEFT] == 3


def test_flow_whose_end_is_on_no_lane_is_told():
    with_zone = read_file(data_folder("rndf") / "parking.rndf").spec
    zone = with_zone.zones[0]
    lane = with_zone.segments[0].lanes[0]
    found = linted(with_zone, f"flow: 60, from: {lane.segment}.{lane.number}.1, to: {zone.number}.0.1")
    assert [(line, code) for line, code, _, _ in found] == [(3, "E829")]


def test_spots_are_destinations_of_flows_where_a_way_leads_to_their_zone():
    park = read_file(data_folder("rndf") / "parking.rndf").spec
    assert linted(park, "flow: 60, from: 1.1.1, to: 4.3.2, pause: 60, then: 1.1.10") == []
    found = linted(park, "flow: 60, from: 3.1.1, to: 4.3.2")
    assert [(line, code, message) for line, code, message, _ in found] == [
        (3, "E829", "no way leads from '3.1.1' to '4.3.2'")
    ] or found == []
    beside = linted(park, "flow: 60, from: 1.1.1, to: 4.3.2, pause: 60, then: 4.1.2")
    assert [(line, code) for line, code, _, _ in beside] == [(3, "E829")]


def test_zones_in_which_cars_are_parked_exist_and_have_room():
    park = read_file(data_folder("rndf") / "parking.rndf").spec
    assert linted(park, "count: 11, parked: 4") == []
    name = park.name
    assert linted(park, "count: 3, parked: [4, 5]") == [
        (3, "E822", f"zone 5 is not in network '{name}'", "zones are 4")
    ]
    message, hint = "'a' has 12 cars for 11 parking spots", "'count' cars at most as there are spots in 'parked'"
    assert linted(park, "count: 12, parked: 4") == [(3, "E822", message, hint)]


def test_goal_of_a_literal_object_needs_a_speed_that_of_a_reactive_one_does_not():
    one = "network: city\nadd:\n  - {name: a, kind: dynamic, at: 1.1.1, goals: [{waypoint: 1.1.2}]%s}\n"
    assert spec_of(one % "")[1] == [(3, "E806")]
    assert spec_of(one % ", reactive: true")[1] == []
    assert spec_of(one % ", reactive: true, initial_pause: 9")[1] == []


@pytest.mark.parametrize("which", RECORDED_TRAFFIC)
def test_what_is_recorded_is_read_and_written(which):
    spec, problems = spec_of(f"record: {{traffic: {which}}}\n")
    assert not problems
    assert spec is not None
    assert spec.record == Record(which)
    assert spec_of(write(spec)) == (spec, [])


@pytest.mark.parametrize(
    ("entry", "code"),
    [("{traffic: some}", "E805"), ("{cars: all}", "E803"), ("near", "E805"), ("{traffic: [all]}", "E805")],
)
def test_mistakes_in_what_is_recorded_are_told_with_their_line(entry, code):
    assert spec_of(f"step: 0.1\nrecord: {entry}\n")[1] == [(2, code)]
