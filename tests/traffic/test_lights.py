"""Traffic lights: programs, who stops for which colour, and left turns at green."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbsim.errors import Problems
from cbsim.formats.reader import Source
from cbsim.formats.scenario import read, write
from cbsim.lint.scenario import lint_scenario
from cbsim.models import read_file
from cbsim.paths import Files
from cbsim.road.lanelets import build_lanelets
from cbsim.road.roadmap import build
from cbsim.road.signals import SignalState, signals_of
from cbsim.simulation.advance import advance
from cbsim.spec.road import RoadNetwork
from cbsim.spec.traffic import Driver, LightProgram, Pool, Spread
from cbsim.world.compile import compile_world
from cbsim.world.scene import Scene, Settings
from cbsim.world.traffic.tables import CLAIM, EXTRAS, LANELET, SIGNALS, STATION, WAITING
from cbsim.world.world import World
from tests.common import shared
from tests.traffic.sites import put_on, world

STREET = """\
RNDF_name\tstreet
num_segments\t1
num_zones\t0
num_intersections\t1
format_version\t1.1
segment\t1
num_lanes\t1
lane\t1.1
num_waypoints\t3
light\t1.1.2\t2.1
1.1.1\t30.000000\t-92.000000
1.1.2\t30.003000\t-92.000000
1.1.3\t30.006000\t-92.000000
end_lane
end_segment
intersection\t2
num_trafficlights\t1
trafficlight\t2.1
group_id\t1
position\t30.003000 -92.000000 5
end_trafficlight
end_intersection
end_file
"""
LIGHT = 332.6  # [m] from the begin of the lane


@pytest.fixture(scope="module")
def street(tmp_path_factory) -> RoadNetwork:
    path = tmp_path_factory.mktemp("lights") / "street.rndf"
    path.write_text(STREET)
    found = read_file(path, Files([path])).spec
    assert isinstance(found, RoadNetwork)
    return found


def world_of(network: RoadNetwork, *programs: LightProgram, count: int = 1, speed: float = 12.0, step=0.05) -> World:
    driver, pool = Driver("d", speed=Spread(speed)), Pool("p", count=count, drivers=(("d", 1.0),))
    settings = Settings(step=step)
    return compile_world(
        Scene("test", (), build(network), settings=settings, pools=(pool,), drivers=(driver,), lights=programs)
    )


def front_of(made: World, snapshot) -> float:
    """Distance of the front of the first car from the begin of the lane [m]."""
    lengths = made.traffic.road.lanelets[:, 0]
    lanelet = int(snapshot.columns.intent[0, 0])
    return float(lengths[:lanelet].sum() + snapshot.columns.travel[0, STATION] + 4.5)


@given(
    st.lists(st.tuples(st.sampled_from(["green", "yellow", "red"]), st.floats(0.5, 90.0)), min_size=1, max_size=6),
    st.floats(0.0, 5000.0),
)
def test_program_repeats_and_shows_each_phase_for_its_time(street, phases, time):
    signals = signals_of(build_lanelets(build(street)), [LightProgram("2.1", tuple(phases))])
    cycle = sum(duration for _, duration in phases)
    within, begin = time % cycle, 0.0
    for state, duration in phases:
        if within < begin + duration - 1e-6:
            if within > begin + 1e-6:
                assert signals.state(0, time) is SignalState[state.upper()]
            return
        begin += duration


def test_groups_have_green_in_turn_and_never_two_at_once():
    path = shared("rndf", "stanford", "demo_rndf.txt")
    network = read_file(path, Files([path])).spec
    assert isinstance(network, RoadNetwork)
    signals = signals_of(build_lanelets(build(network)))
    groups = {f"{one.number}.{light.number}": light.group for one in network.intersections for light in one.lights}
    shown = set[str]()
    for time in np.arange(0.0, 125.0, 0.5).tolist():
        going = {groups[name] for k, name in enumerate(signals.names) if signals.state(k, time) is not SignalState.RED}
        assert len(going) <= 1
        shown |= going
    assert shown == set(groups.values())


def test_car_stops_for_red_and_goes_at_green(street):
    made = world_of(street, LightProgram("2.1", (("red", 60.0), ("green", 30.0))))
    snapshot = made.start
    put_on(made, snapshot, 0, 0, 10.0)
    advance(made, snapshot, 1180)  # 59 s
    assert LIGHT - 1.0 < front_of(made, snapshot) <= LIGHT
    assert snapshot.columns.travel[0, WAITING] > 10.0
    advance(made, snapshot, 120)
    assert front_of(made, snapshot) > LIGHT


@pytest.mark.parametrize("step", [0.05, 0.1, 1.0])
@pytest.mark.parametrize(("before", "stops"), [(15.0, False), (23.0, False), (26.0, True), (60.0, True)])
def test_car_stops_for_yellow_where_three_metres_per_second_squared_do(street, before, stops, step):
    made = world_of(street, LightProgram("2.1", (("yellow", 60.0), ("red", 60.0))), step=step)
    snapshot = made.start  # 12 m/s take 24 m at 3 m/s²
    put_on(made, snapshot, 0, 0, LIGHT - 4.5 - before, 12.0)
    hardest = 0.0
    for _ in range(round(20.0 / step)):
        advance(made, snapshot, 1)
        hardest = min(hardest, float(snapshot.columns.travel[0, 3]))
    assert (front_of(made, snapshot) <= LIGHT + 0.01) == stops
    assert hardest >= -4.5


def test_of_several_lights_the_strictest_holds():
    path = shared("rndf", "stanford", "demo_rndf.txt")
    network = read_file(path, Files([path])).spec
    assert isinstance(network, RoadNetwork)
    lanelets = build_lanelets(build(network))
    several = [row for row in range(len(lanelets)) if len(lanelets.lights[row]) > 1]
    assert several
    made = world_of(network, *(LightProgram(name, (("green", 9.0),)) for name in lanelets.light_names[:-1]), count=20)
    snapshot = made.start
    for _ in range(60):
        _, _, contacts = advance(made, snapshot, 100)
        assert not len(contacts)


@pytest.mark.parametrize(
    ("lights", "said"),
    [
        ("2.1: [[green, 0]]", "the phases of this light sum to 0 s"),
        ("2.1: []", "the phases of this light sum to 0 s"),
        ("2.1: [[blue, 5]]", "expected one of 'green', 'yellow' or 'red'"),
        ("2.1: [[green, -5]]", "-5"),
        ("two: [[green, 5]]", "'two' is no traffic light: expected intersection.light"),
    ],
)
def test_wrong_program_is_told_with_its_line(lights, said):
    text, problems = f"network: street.rndf\nlights: {{{lights}}}\n", Problems()
    read(Source("test.yaml", text, text.encode()), problems)
    (problem,) = problems
    assert problem.code == "E805"
    assert problem.location.line == 2
    assert said in str(problem)


def test_program_for_a_light_that_no_lane_has_is_told_and_the_nearest_named(street):
    text, problems = "network: street.rndf\nlights:\n  2.2: [[green, 5], [red, 5]]\n", Problems()
    spec = read(Source("test.yaml", text, text.encode()), problems)
    assert not problems
    assert spec is not None
    lint_scenario(spec, Files(), problems, network=street)
    (problem,) = [problem for problem in problems if problem.code == "E822"]
    assert problem.location.line == 3
    assert "'2.2'" in str(problem)
    assert "2.1" in str(problem)


def test_programs_are_written_back_equal():
    text, problems = "lights: {2.1: [[green, 20], [yellow, 3], [red, 25]], 12.10: [[red, 1]]}\nnetwork: a\n", Problems()
    spec = read(Source("test.yaml", text, text.encode()), problems)
    assert spec is not None
    assert [program.light for program in spec.lights] == ["2.1", "12.10"]
    again = write(spec)
    assert read(Source("again.yaml", again, again.encode()), problems) == spec
    assert not problems


@pytest.mark.parametrize("seed", [1, 101])
def test_who_stops_at_a_light_keeps_nobody_out_of_the_junction(seed):
    """Five groups have green in turn, for 25 s each: who waits for the next one has no claim, and is served in it."""
    path = shared("rndf", "stanford", "demo_rndf.txt")
    network = read_file(path, Files([path])).spec
    made = world(network, Pool("town", count=60), seed=seed)
    road, snapshot, longest = made.traffic.road, made.start, 0.0
    for _ in range(400):
        _, _, contacts = advance(made, snapshot, 20)
        assert not len(contacts)
        travel, intent = snapshot.columns.travel, snapshot.columns.intent
        at_light = (road.links[intent[:, LANELET], EXTRAS] & SIGNALS != 0) & (travel[:, WAITING] > 30.0)
        assert not intent[at_light, CLAIM].any()
        longest = max(longest, float(travel[:, WAITING].max()))
    assert longest < 130.0
