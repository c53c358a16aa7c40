"""Barriers that come down before cars in junctions and queues: they back out, or turn round, and go another way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import cbsim
from cbsim.road.roadmap import RoadMap, build
from cbsim.simulation.advance import advance
from cbsim.spec.events import Event, Place
from cbsim.spec.traffic import Pool
from cbsim.world.compile import compile_world
from cbsim.world.scene import Scene, Settings
from cbsim.world.snapshot import Snapshot
from cbsim.world.traffic.tables import (
    ABSENT,
    ACCELERATION,
    BACKING,
    BODY,
    CAR_LENGTH,
    CLAIM,
    DRIVING,
    HIT,
    LANELET,
    LENGTH,
    NEXT,
    PHASE,
    SPEED,
    STATION,
    TURNING,
)
from cbsim.world.world import World
from tests.common import shared
from tests.events.scenes import do, when
from tests.traffic.sites import grid, run, world
from tests.traffic.test_blocked_roads import barrier
from tests.traffic.test_real_networks import FINAL, network_of
from tests.worlds import prop

PATIENCE = 120.0  # [s]
WIDE = (9.0, 0.6, 1.0)  # [m] a barrier across a road of two lanes
STREETS = grid(3, 2, stops=False)
CARS = (Pool("town", count=8),)


def with_barrier(time: float, place: np.ndarray, heading: float, step: float) -> World:
    """Streets on which a barrier comes down at a time [s]."""
    body = prop("barrier", (0.0, 0.0, 0.5), size=WIDE)
    action = do("block", object="barrier", place=Place(None, *place.tolist()), heading=heading)
    events = (Event("comes", when("time", at=time), (action,)),)
    return compile_world(
        Scene("test", (body,), build(STREETS), settings=Settings(step=step), pools=CARS, events=events)
    )


def across(made: World, lanelet: int, station: float) -> tuple[np.ndarray, float]:
    """The middle of a road at a station of one of its two lanes [m], and the heading there [rad]."""
    road = made.traffic.road
    rows = road.samples[road.sample_offsets[lanelet] : road.sample_offsets[lanelet + 1]]
    at = min(max(int(np.searchsorted(rows[:, 2], station)), 1), len(rows) - 1)
    along = rows[at, :2] - rows[at - 1, :2]
    along /= np.hypot(*along)
    place = rows[at - 1, :2] + (station - rows[at - 1, 2]) * along + 1.9 * np.array([-along[1], along[0]])
    return place, float(np.arctan2(-along[0], along[1]))


def caught(step: float, beyond: float) -> tuple[World, int, float]:
    """A barrier comes down so far beyond a junction when a slow car has just come into it [m]; that car, and when."""
    made = world(STREETS, *CARS, step=step)
    road, snapshot = made.traffic.road, made.start
    while snapshot.time < 200.0:
        advance(made, snapshot, 1)
        travel, intent = snapshot.columns.travel, snapshot.columns.intent
        for car in np.flatnonzero((intent[:, CLAIM] > 0) & (travel[:, SPEED] < 6.0)).tolist():
            if road.lanelets[intent[car, LANELET], LENGTH] < 25.0 and travel[car, STATION] < 2.0:
                place, heading = across(made, int(intent[car, NEXT]), beyond)
                apart = np.hypot(*(snapshot.columns.position[road.car_rows[:, BODY], :2] - place).T)
                if np.delete(apart, car).min() > 20.0:
                    return with_barrier(snapshot.time, place, heading, step), car, snapshot.time
    raise AssertionError


def standstill(made: World, duration: float) -> tuple[float, set[tuple[int, int]]]:
    """The longest time for which a car moves less than half a metre, and who has been in which phase."""
    snapshot, rows = made.start, made.traffic.road.car_rows[:, BODY]
    places, since, longest, seen = snapshot.columns.position[rows, :2].copy(), np.zeros(len(rows)), 0.0, set()
    for half in range(round(2.0 * duration)):
        assert not len(advance(made, snapshot, max(round(0.5 / made.step), 1))[2])
        now, phases = snapshot.columns.position[rows, :2], snapshot.columns.intent[:, PHASE]
        seen |= set(enumerate(phases.tolist()))
        moved = (np.hypot(*(now - places).T) > 0.5) | (phases == ABSENT)
        places[moved], since[moved] = now[moved], 0.5 * half
        longest = max(longest, float((0.5 * half - since).max()))
    return longest, seen


@pytest.mark.parametrize("beyond", [2.5, 5.0, 7.5])
@pytest.mark.parametrize("step", [0.05, 0.1])
def test_who_is_in_a_junction_when_the_road_behind_it_is_closed_backs_out(step, beyond):
    made, car, time = caught(step, beyond)
    longest, seen = standstill(made, time + 140.0)
    assert (car, BACKING) in seen
    assert longest < PATIENCE


def test_bodies_do_not_jump_while_they_back_out():
    made, car, time = caught(0.1, 5.0)
    snapshot, body, speeds = made.start, made.traffic.road.car_rows[car, BODY], []
    for _ in range(round(10.0 * time) + 700):
        before = snapshot.columns.intent[car, PHASE]
        assert not len(advance(made, snapshot, 1)[2])
        if BACKING in (before, snapshot.columns.intent[car, PHASE]):
            speeds.append(float(np.hypot(*snapshot.columns.velocity[body, :2])))
    assert 0.5 < max(speeds) < 2.3  # [m/s]
    assert np.abs(np.diff(speeds)).max() < 0.3


def test_a_run_from_any_moment_of_backing_out_has_the_same_bits():
    made, car, time = caught(0.1, 5.0)
    before, steps = run(made, None, time + 25.0)[-1], 500
    copies = [before.copy(), *run(made, before, 0.1 * steps, 0.1)]
    backing = [k for k, copy in enumerate(copies) if copy.columns.intent[car, PHASE] == BACKING]
    assert len(backing) > 30
    for number in (backing[0] - 1, *backing[::25], backing[-1] + 1):
        again = made.restore(copies[number].to_bytes())
        advance(made, again, steps - number)
        assert again.hash == copies[-1].hash


def test_who_is_hit_while_it_backs_out_stays_where_it_is():
    made, car, _ = caught(0.1, 5.0)
    snapshot, body = made.start, made.traffic.road.car_rows[car, BODY]
    while snapshot.columns.intent[car, PHASE] != BACKING:
        advance(made, snapshot, 1)
    advance(made, snapshot, 20)
    before = snapshot.columns.position[body].copy()
    snapshot.state.intent[car, PHASE] = HIT
    advance(made, snapshot, 200)
    assert snapshot.columns.intent[car, PHASE] == HIT
    assert np.hypot(*(snapshot.columns.position[body] - before)[:2]) < 1.0


def claims_early(made: World, snapshot: Snapshot) -> int:
    """A car that has a claim for the junction that begins 12 m ahead or more, but at most 9 m/s; -1 for none."""
    travel, intent, road = snapshot.columns.travel, snapshot.columns.intent, made.traffic.road
    claimed = made.traffic.crossings.entry_lanelets[np.maximum(intent[:, CLAIM] - 1, 0)]
    left = road.lanelets[intent[:, LANELET], LENGTH] - travel[:, STATION] - road.car_sizes[:, CAR_LENGTH]
    fit = (intent[:, PHASE] == DRIVING) & (intent[:, CLAIM] > 0) & (claimed == intent[:, NEXT])
    fit &= (left > 12.0) & (travel[:, SPEED] < 9.0)
    return int(np.flatnonzero(fit)[0]) if fit.any() else -1


@pytest.mark.parametrize("step", [0.05, 0.1])
def test_a_claim_lapses_when_the_way_to_the_junction_is_closed(step):
    made = world(STREETS, *CARS, step=step)
    snapshot = made.start
    while (car := claims_early(made, snapshot)) < 0:
        advance(made, snapshot, 1)
    lanelet = int(snapshot.columns.intent[car, LANELET])
    place, heading = across(made, lanelet, float(made.traffic.road.lanelets[lanelet, LENGTH]) - 1.5)
    time = snapshot.time
    again = with_barrier(time, place, heading, step)
    later = run(again, None, time + 25.0)[-1]
    assert later.columns.intent[car, CLAIM] == 0
    longest, seen = standstill(again, time + 140.0)
    assert (car, TURNING) in seen
    assert longest < PATIENCE


@pytest.mark.parametrize("seed", [3, 5, 8])
def test_a_queue_that_has_closed_up_before_a_barrier_turns_round_from_its_end(seed):
    roadmap = cbsim.load("town").scene.roadmap
    body = barrier(roadmap, 10)
    place = body.item.position_offset
    action = do("block", object="barrier", place=Place(None, *place[:2]), heading=body.item.orientation_offset[2])
    events, options = (Event("comes", when("time", at=40.0), (action,)),), Settings(step=0.1, seed=seed)
    made = compile_world(
        Scene("test", (body,), roadmap, settings=options, pools=(Pool("town", count=45),), events=events)
    )
    longest, _ = standstill(made, 340.0)
    assert longest < PATIENCE


def has_way(made: World, place: np.ndarray, *, reverses: bool = True) -> Callable[[int, float], bool]:
    """Whether somebody on a lanelet at a station can come to most others round a barrier, in reverse and by turns."""
    road, around, sides = made.traffic.road, made.traffic.surroundings, made.traffic.sides
    count, cuts = len(road.lanelets), np.full(len(road.lanelets), np.inf)
    for lanelet in range(count):
        rows = road.samples[road.sample_offsets[lanelet] : road.sample_offsets[lanelet + 1]]
        away = np.hypot(*(rows[:, :2] - place).T)
        if away.min() < 0.5 * WIDE[0]:
            cuts[lanelet] = rows[away.argmin(), 2]
    # each lanelet has two parts, before the barrier and behind it
    onward: list[set[int]] = [set() for _ in range(2 * count)]
    for lanelet in range(count):
        last = 2 * lanelet + int(cuts[lanelet] < np.inf)
        for following in around.successors[around.successor_offsets[lanelet] : around.successor_offsets[lanelet + 1]]:
            onward[last].add(2 * int(following))
            if reverses:
                onward[2 * int(following)].add(last)
        for row in range(sides.offsets[lanelet], sides.offsets[lanelet + 1]):
            (begin, end), other = sides.spans[row], int(sides.rows[row, 0])
            places = sides.places[sides.place_offsets[row] : sides.place_offsets[row + 1]]
            for station, there in zip(np.linspace(begin, end, len(places)), places, strict=True):
                if abs(station - cuts[lanelet]) > WIDE[0]:
                    onward[2 * lanelet + int(station > cuts[lanelet])].add(2 * other + int(there > cuts[other]))

    def goes_on(lanelet: int, station: float) -> bool:
        seen = {2 * lanelet + int(station > cuts[lanelet])}
        left = list(seen)
        while left:
            fresh = onward[left.pop()] - seen
            seen |= fresh
            left += fresh
        return len({part // 2 for part in seen}) > count // 2

    return goes_on


def blocked(roadmap: RoadMap, segment: int, share: float, count: int, seed: int = 1) -> tuple[World, np.ndarray]:
    """A network on whose road a barrier comes down after 40 s, at a share of its length; and the place of it."""
    body = barrier(roadmap, segment, share)
    place = body.item.position_offset
    action = do("block", object="barrier", place=Place(None, *place[:2]), heading=body.item.orientation_offset[2])
    events, options = (Event("comes", when("time", at=40.0), (action,)),), Settings(step=0.1, seed=seed)
    pools = (Pool("town", count=count),)
    made = compile_world(Scene("test", (body,), roadmap, settings=options, pools=pools, events=events))
    return made, np.array(place[:2])


def held_up(made: World, place: np.ndarray, *, reverses: bool = True) -> dict[int, str]:
    """Who moves less than half a metre in two minutes though there is a way round a barrier; touches are a failure."""
    snapshot, rows, goes_on = made.start, made.traffic.road.car_rows[:, BODY], has_way(made, place, reverses=reverses)
    places, since, found = snapshot.columns.position[rows, :2].copy(), np.zeros(len(rows)), dict[int, str]()
    for second in range(400):
        # it may come down on somebody, who stands for good then
        assert not len(advance(made, snapshot, 10)[2]) or 39 <= second <= 43
        now, travel, intent = snapshot.columns.position[rows, :2], snapshot.columns.travel, snapshot.columns.intent
        moved = (np.hypot(*(now - places).T) > 0.5) | np.isin(intent[:, PHASE], (HIT, ABSENT))
        places[moved], since[moved] = now[moved], second
        for car in np.flatnonzero(second - since >= PATIENCE).tolist():  # only who is in a dead end has no way
            if goes_on(int(intent[car, LANELET]), travel[car, STATION]):
                found[car] = f"since {since[car]:.0f} s on {intent[car, LANELET]} at {travel[car, STATION]:.1f} m"
    return found


@pytest.mark.parametrize(
    ("segment", "seed"),
    [
        (3, 1),  # behind a corner, in a queue
        (24, 1),  # behind the corner, in the other direction
        (10, 3),  # within 0.1 m of the barrier
        (1, 0),  # in a fork, in the way of others
        (17, 0),  # behind who has been hit before a junction
        (2, 2),  # in a junction, behind who has taken the last room
        (1, 3),
        (2, 3),  # behind who stands in a fork before a queue
    ],
)
def test_who_stands_before_a_barrier_near_the_begin_of_a_road_goes_back(segment, seed):
    assert not held_up(*blocked(cbsim.load("town").scene.roadmap, segment, 0.08, 30, seed))


@pytest.mark.parametrize(("segment", "seed"), [(10, 0), (15, 0), (1, 0), (16, 0)])
def test_nobody_brakes_hard_for_who_turns_round(segment, seed):
    made, _ = blocked(cbsim.load("town").scene.roadmap, segment, 0.08, 30, seed)
    snapshot, turned = made.start, 0
    advance(made, snapshot, 450)  # the barrier comes into the stopping distance of some
    for _ in range(1000):
        before = snapshot.columns.intent[:, PHASE].copy()
        advance(made, snapshot, 1)
        phases = snapshot.columns.intent[:, PHASE]
        turned += int(np.sum((phases == TURNING) & (before == DRIVING)))
        drives = (before != HIT) & (phases != HIT)
        assert snapshot.columns.travel[drives, ACCELERATION].min() >= -4.5
    assert turned > 0


@pytest.mark.parametrize(("segment", "share", "seed"), [(5, 0.3, 0), (8, 0.08, 0), (17, 0.3, 0), (18, 0.08, 0)])
def test_a_barrier_is_braked_for_no_harder_than_it_takes_by_those_whom_it_leaves_room_to_stop(segment, share, seed):
    made, place = blocked(cbsim.load("town").scene.roadmap, segment, share, 30, seed)
    snapshot, rows = made.start, made.traffic.road.car_rows[:, BODY]
    advance(made, snapshot, 400)  # it comes down in the next step
    speeds = snapshot.columns.travel[:, SPEED]
    away = np.hypot(*(snapshot.columns.position[rows, :2] - place).T)
    free = away > speeds * speeds / 9.0 + 4.0  # from front to body, with half a car, and a step of driving on
    assert ((away < 45.0) & free & (speeds > 5.0)).any()
    for _ in range(200):
        before = snapshot.columns.intent[:, PHASE].copy()
        advance(made, snapshot, 1)
        drives = free & (before != HIT) & (snapshot.columns.intent[:, PHASE] != HIT)
        assert snapshot.columns.travel[drives, ACCELERATION].min() >= -4.5 - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.08, 0.3, 0.5])
@pytest.mark.parametrize("segment", range(1, 31))
def test_a_barrier_that_comes_down_on_each_road_of_the_city_in_turn_holds_nobody_up(segment, share):
    assert not held_up(*blocked(cbsim.load("town").scene.roadmap, segment, share, 30))


QUEUES = (14, 1)  # cars come up to those that have to go back first, and would take the place of who turns behind them
SEGMENTS = (7, 8, 10, 11, 12, 13, 14, 15, 24, 25)
"""Roads of the final with lanes in both directions; on others nobody can turn round."""


@pytest.mark.parametrize(
    ("segment", "seed"),
    [
        pytest.param(segment, seed, marks=() if (segment, seed) == QUEUES else pytest.mark.slow)
        for segment in SEGMENTS
        for seed in (1, 7)
    ],
)
def test_a_barrier_at_ten_places_of_the_final_holds_nobody_up(segment, seed):
    roadmap = build(network_of(shared(*FINAL)))
    assert not held_up(*blocked(roadmap, segment, 0.3, 100, seed))


@pytest.mark.slow
@pytest.mark.parametrize("segment", [16, 17, 18, 19, 20, 21, 22, 23])
def test_a_barrier_across_a_road_of_one_way_holds_up_only_those_who_have_come_into_it(segment):
    """There is no lane to turn round to; who has another way ahead, from before a fork, takes it."""
    roadmap = build(network_of(shared(*FINAL)))
    assert not held_up(*blocked(roadmap, segment, 0.3, 100), reverses=False)
