"""``traffic`` and ``drivers`` in a scenario: every key is read, written back equal, and every mistake has its line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbsim.errors import Problems
from cbsim.formats.reader import Source
from cbsim.formats.scenario import read, write
from cbsim.lint.scenario import lint_scenario
from cbsim.paths import Files
from cbsim.spec.road import PointId
from cbsim.spec.scenario import RECORDED_TRAFFIC, Record, Scenario
from cbsim.spec.traffic import CLASSES, Driver, FollowingModel, Pool, Spread

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
"""


def spec_of(text: str) -> tuple[Scenario | None, list[tuple[int | None, str]]]:
    problems = Problems()
    spec = read(Source("test.yaml", text, text.encode()), problems)
    return spec, [(problem.location.line, problem.code) for problem in problems]


def test_every_key_is_read():
    spec, problems = spec_of(WHOLE)
    assert not problems
    assert spec is not None
    assert spec.record == Record("near")
    town, through = spec.traffic
    assert (town.count, town.lanes, town.is_random) == (40, ((1, 1), (3, 2)), True)
    assert town.drivers == (("calm", 0.8), ("hasty", 0.2))
    assert (through.flow, through.origin) == (600.0, PointId(1, 1, 1))
    assert through.destinations == ((PointId(14, 1, 6), 0.7), (PointId(6, 1, 6), 0.3))
    assert (through.begin, through.until, through.vehicle_class, through.at_most) == (10.0, 600.0, "truck", 9)
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
    )


@given(st.lists(counts | flows(), max_size=3, unique_by=lambda pool: pool.name), st.lists(drivers, max_size=3))
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
    ],
)
def test_mistakes_are_told_with_their_line(entry, code):
    _, problems = spec_of(f"network: city\ntraffic:\n  - {entry}\n")
    assert problems == [(3, code)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("network: city\ntraffic:\n  - {name: a, flow: 5, from: 99.1.1}\n", "E822"),
        ("network: city\ntraffic:\n  - {name: a, count: 5, drivers: clam}\ndrivers: {calm: {}}\n", "E823"),
        ("step: 0.1\ntraffic:\n  - {name: a, count: 5}\n", "E830"),
    ],
)
def test_what_does_not_fit_the_rest_is_told_with_its_line(text, code):
    spec, problems = Scenario(), Problems()
    spec = read(Source("test.yaml", text, text.encode()), problems)
    assert spec is not None
    lint_scenario(spec, Files(), problems)
    assert (3, code) in [(problem.location.line, problem.code) for problem in problems]


def test_goal_of_a_literal_object_needs_a_speed_that_of_a_reactive_one_does_not():
    one = "network: city\nadd:\n  - {name: a, kind: dynamic, at: 1.1.1, goals: [{waypoint: 1.1.2}]%s}\n"
    assert spec_of(one % "")[1] == [(3, "E806")]
    assert spec_of(one % ", reactive: true")[1] == []
    script = "add:\n  - {name: a, kind: dynamic, reactive: true, script: [{speed: 1, distance: 2, angle: 0}]}\n"
    assert spec_of(script)[1] == [(2, "E806")]
    assert spec_of(one % ", reactive: true, initial_pause: 9")[1] == [(3, "E806")]


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
