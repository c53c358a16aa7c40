"""Blocked roads: who cannot pass turns round, on the ground that it takes, and goes another way."""

from __future__ import annotations

import numpy as np
import pytest

import cbsim
from cbsim.export.city import city as generate
from cbsim.road.roadmap import RoadMap, build
from cbsim.simulation.advance import advance
from cbsim.spec.events import Event, Place
from cbsim.spec.people import Person
from cbsim.spec.traffic import Pool
from cbsim.world.compile import compile_world
from cbsim.world.people.compile import actor_of
from cbsim.world.scene import Scene, Settings
from cbsim.world.traffic.tables import BODY, HIT, LANELET, PHASE, TURNING, WAITING
from cbsim.world.world import World
from tests.events.scenes import do, when
from tests.traffic.sites import grid, run, world
from tests.traffic.test_reactive_cars import reactive
from tests.worlds import prop


def barrier(roadmap: RoadMap, segment: int, share: float = 0.5):
    """A barrier across all lanes of a segment."""
    lanes = [lane for lane in roadmap.lanes if lane.id[0] == segment]
    station = share * lanes[0].length
    point, heading = lanes[0].at(station)
    points = [point, *(lane.samples[np.hypot(*(lane.samples - point).T).argmin()] for lane in lanes[1:])]
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    width, (x, y) = float(np.hypot(*(high - low))) + 4.0, 0.5 * (low + high)
    return prop("barrier", (float(x), float(y), 0.5), size=(width, 0.6, 1.0), yaw=float(heading))


def blocked(roadmap: RoadMap, segment: int, count: int, step: float = 0.1) -> World:
    actors = (barrier(roadmap, segment),)
    return compile_world(
        Scene("test", actors, roadmap, settings=Settings(step=step), pools=(Pool("town", count=count),))
    )


def longest_standstill(made: World, duration: float) -> tuple[float, int]:
    """The longest time that somebody stands, and how many turn round; a touch is a failure."""
    snapshot, longest, turned = made.start, 0.0, 0
    for _ in range(round(duration)):
        before = snapshot.columns.intent[:, PHASE].copy()
        assert not len(advance(made, snapshot, max(round(1.0 / made.step), 1))[2])
        longest = max(longest, float(snapshot.columns.travel[:, WAITING].max()))
        turned += int(np.sum((before != TURNING) & (snapshot.columns.intent[:, PHASE] == TURNING)))
    return longest, turned


@pytest.fixture(scope="module")
def city() -> RoadMap:
    return cbsim.load("town").scene.roadmap


@pytest.mark.parametrize("segment", [2, 8, 14, 23])
def test_a_barrier_in_the_city_holds_nobody_up(city, segment):
    longest, turned = longest_standstill(blocked(city, segment, 30), 300.0)
    assert longest < 60.0
    assert turned > 1  # the first in each direction; those behind them hear of it, and others keep out


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.05, 1.0])
def test_a_barrier_across_each_road_of_the_city_in_turn_holds_nobody_up(city, step):
    for segment in sorted({lane.id[0] for lane in city.lanes}):
        longest, _ = longest_standstill(blocked(city, segment, 30, step), 400.0)
        assert longest < 120.0, segment


@pytest.mark.parametrize("step", [0.05, 0.1, 1.0])
def test_bodies_do_not_jump_in_a_turn(step):
    made = world(
        grid(3, 2), Pool("town", count=12), actors=(prop("wall", (0.0, 100.0, 0.5), size=(8.0, 0.5, 1.0)),), step=step
    )
    snapshot, turns, sharpest = made.start, 0, 0.0
    rows = made.traffic.road.car_rows[:, BODY]
    for _ in range(round(120.0 / step)):
        assert not len(advance(made, snapshot, 1)[2])
        turning = snapshot.columns.intent[:, PHASE] == TURNING
        turns += int(np.any(turning))
        speeds = np.abs(snapshot.columns.velocity[rows[turning]])
        sharpest = max(sharpest, float(speeds.max(initial=0.0)))
    assert turns > 10.0 / step
    assert sharpest < 3.0  # [m/s]: twice as fast as the rear axle at most, where it turns in place


def test_a_run_from_any_moment_of_a_turn_has_the_same_bits():
    made = world(
        grid(3, 2), Pool("town", count=12), actors=(prop("wall", (0.0, 100.0, 0.5), size=(8.0, 0.5, 1.0)),), step=0.1
    )
    copies = [made.start, *run(made, None, 80.0, 0.1)]
    turning = [k for k, copy in enumerate(copies) if np.any(copy.columns.intent[:, PHASE] == TURNING)]
    assert len(turning) > 20
    for number in turning[::15]:
        again = copies[number].copy()
        advance(made, again, 800 - number)
        assert again.hash == copies[-1].hash


def test_who_is_hit_while_it_turns_stays_where_it_is():
    made = world(
        grid(3, 2), Pool("town", count=12), actors=(prop("wall", (0.0, 100.0, 0.5), size=(8.0, 0.5, 1.0)),), step=0.1
    )
    snapshot = made.start
    while not np.any(snapshot.columns.intent[:, PHASE] == TURNING):
        advance(made, snapshot, 1)
    advance(made, snapshot, 40)
    car = int(np.flatnonzero(snapshot.columns.intent[:, PHASE] == TURNING)[0])
    snapshot.state.intent[car, PHASE] = HIT
    body = made.traffic.road.car_rows[car, BODY]
    lanelet, before = int(snapshot.columns.intent[car, LANELET]), snapshot.columns.position[body].copy()
    advance(made, snapshot, 200)
    assert np.hypot(*(snapshot.columns.position[body] - before)[:2]) < 1.0
    assert snapshot.columns.intent[car, PHASE] == HIT
    assert snapshot.columns.intent[car, LANELET] == lanelet


def crowded(seed: int, step: float) -> World:
    """A barrier before which cars turn round among people who walk across."""
    random, roadmap = np.random.default_rng(seed), build(grid(3, 2))
    people = []
    for n in range(40):
        y, side = 100.0 + random.choice([-1.0, 1.0]) * random.uniform(1.5, 14.0), random.choice([-6.0, 6.0])
        ends = Place(None, float(side), float(y)), Place(None, float(-side), float(y))
        pause, speed = float(random.uniform(20.0, 200.0)), float(random.uniform(0.7, 2.5))
        people.append(Person(f"P{n}", ends, initial_pause=pause, bold=bool(random.integers(2)), speed=speed))
    wall = prop("wall", (0.0, 100.0, 0.5), size=(8.0, 0.5, 1.0))
    actors = (wall, *(actor_of(person, roadmap) for person in people))
    options, pools = Settings(step=step, seed=seed), (Pool("town", count=14),)
    return compile_world(Scene("test", actors, roadmap, settings=options, pools=pools))


@pytest.mark.parametrize("step", [0.05, 0.1])
@pytest.mark.parametrize("seed", [0, 2, 5])
def test_who_turns_round_spares_people(seed, step):
    made = crowded(seed, step)
    snapshot, cars, turned = made.start, made.layout.bodies - made.layout.cars, 0
    for _ in range(round(220.0 / step)):
        before = snapshot.columns.intent[:, PHASE].copy()
        assert not any(max(row[1], row[2]) >= cars for row in advance(made, snapshot, 1)[2])
        turned += int(np.sum((before != TURNING) & (snapshot.columns.intent[:, PHASE] == TURNING)))
    assert turned >= 1


@pytest.mark.parametrize("step", [0.1, 1.0])
@pytest.mark.parametrize(("x", "turns"), [(-4.0, 2), (-4.5, 2), (-5.0, 2), (-6.5, 6)])
def test_who_turns_round_keeps_clear_of_posts_beside_the_road(x, turns, step):
    wall = prop("wall", (0.0, 100.0, 0.5), size=(8.0, 0.5, 1.0))
    posts = [prop(f"post {n}", (n * x, 100.0 - 4.0 * n, 0.5), size=(0.3, 0.3, 1.0)) for n in (-1, 1)]
    made = world(grid(3, 2), Pool("town", count=12), actors=(wall, *posts), step=step)
    longest, turned = longest_standstill(made, 150.0)
    assert turned >= turns  # the first in each direction; without posts in the way, all of them
    assert longest < 120.0


def test_who_turns_round_sees_the_same_wherever_it_stands_in_the_file():
    wall = prop("wall", (100.0, 0.0, 0.5), size=(0.6, 14.0, 1.0))
    bush = prop("bush", (60.0, -30.0, 0.5), size=(1.0, 1.0, 1.0))
    car = reactive("Wagon", "1.1.1", ("4.1.3", 0.0))
    for actors in ((wall, car), (car, wall), (wall, car, bush)):
        longest, turned = longest_standstill(world(grid(3, 2), actors=actors, step=0.1), 120.0)
        assert turned == 1
        assert longest < 60.0


@pytest.mark.parametrize("segment", [3, 7])
def test_thin_and_thick_barriers_across_a_road_of_two_lanes_each_way_are_the_same_to_who_turns(segment):
    network = generate(columns=3, rows=2, block=150.0, lanes=2, zones=0, seed=1)[0]
    item, turns = barrier(build(network), segment).item, []
    for thick in (0.6, 1.4):
        yaw, size = float(item.orientation_offset[2]), (item.size[0], thick, 1.0)
        body = prop("barrier", tuple(item.position_offset), size=size, yaw=yaw)
        made = world(network, Pool("p", count=40), actors=(body,), step=0.1, seed=1)
        turns.append(longest_standstill(made, 300.0)[1])
    assert min(turns) > 5  # nobody did, for those who wait on the far side


@pytest.mark.parametrize(("columns", "number"), [(2, 268), (3, 273)])
def test_who_comes_on_the_outer_lane_sees_the_front_that_swings_out_to_it(columns, number):
    network = generate(
        columns=columns, rows=3, block=90.0 if number % 2 == 0 else 150.0, lanes=2, zones=0, seed=number
    )[0]
    roadmap = build(network)
    lanes = [lane for lane in roadmap.lanes if lane.length > 60.0]
    lane = lanes[7 * number % len(lanes)]
    (x, y), heading = lane.at(0.5 * lane.length)
    van = prop("van", (float(x), float(y), 1.0), size=(6.0, 5.0, 2.0), yaw=float(heading))
    made = world(network, Pool("p", count=40), actors=(van,), step=0.05, seed=number)
    assert longest_standstill(made, 250.0)[1] > 0  # nobody is touched


@pytest.mark.parametrize("step", [0.05, 0.1])
def test_who_turns_round_stops_before_what_comes_into_its_way(step):
    wall = prop("wall", (0.0, 100.0, 0.5), size=(8.0, 0.5, 1.0))
    made = world(grid(3, 2), Pool("town", count=12), actors=(wall,), step=step)
    copies = [made.start, *run(made, None, 60.0, step)]
    begin, car = next(
        (k, int(np.flatnonzero(turning)[0]))
        for k, copy in enumerate(copies)
        if np.any(turning := copy.columns.intent[:, PHASE] == TURNING)
    )
    body = made.traffic.road.car_rows[car, BODY]
    places = [copy.columns.position[body] for copy in copies]
    drops = begin + round(3.0 / step)
    later = next(k for k in range(drops, len(places)) if np.hypot(*(places[k] - places[drops])[:2]) > 4.0)
    x, y = places[later][:2].tolist()

    crate = prop("crate", (0.0, 0.0, 0.3), size=(0.6, 0.6, 0.6))
    action = do("block", object="crate", place=Place(None, x, y), heading=0.0)
    event = Event("drops", when("time", at=drops * step), (action,))
    pools, options = (Pool("town", count=12),), Settings(step=step)
    again = compile_world(
        Scene("test", (wall, crate), build(grid(3, 2)), settings=options, pools=pools, events=(event,))
    )
    snapshot, body = again.start, again.traffic.road.car_rows[car, BODY]
    assert not len(advance(again, snapshot, drops + round(60.0 / step))[2])
    assert snapshot.columns.intent[car, PHASE] == TURNING
    assert 1.5 < np.hypot(*(snapshot.columns.position[body] - (x, y, 0.3))[:2]) < 4.0
