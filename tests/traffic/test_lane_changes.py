"""Changes of lanes: nobody touches or brakes hard, poses are continuous, and whoever has to change does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cbsim
from cbsim.export.city import city
from cbsim.road.roadmap import build
from cbsim.simulation.advance import advance
from cbsim.spec.road import PointId, RoadNetwork
from cbsim.spec.traffic import Driver, Pool, Spread
from cbsim.world.snapshot import Snapshot
from cbsim.world.traffic.tables import (
    ABSENT,
    ACCELERATION,
    HIT,
    LANELET,
    MOVED,
    OFFSET,
    PHASE,
    RUN,
    SPEED,
    STATION,
    WAITING,
)
from cbsim.world.world import World
from tests.road.site import Site
from tests.traffic.sites import put_on, run, world
from tests.traffic.test_blocked_roads import reactive
from tests.worlds import prop

MIXED = (Driver("calm", desired_speed=Spread(0.7, 0.1)), Driver("hasty", desired_speed=Spread(1.1, 0.05)))
SHARES = (("calm", 0.5), ("hasty", 0.5))


def rings(lanes: int, circumference: float = 800.0, marks: str = "broken_white") -> RoadNetwork:
    """Lanes side by side, each of which leads from its last waypoint to its first."""
    site, count = Site(), 200
    for k in range(lanes):
        radius, angles = circumference / (2.0 * np.pi) + 3.66 * k, 2.0 * np.pi * np.arange(count) / count
        places = [(radius * np.cos(a), radius * np.sin(a)) for a in angles]
        name = f"1.{k + 1}"
        site.lane(name, places, exits=[(f"{name}.{count}", f"{name}.1")], left=marks, right=marks)
    return site.network()


def highway(length: float = 900.0, drop: float = 500.0) -> RoadNetwork:
    """Two lanes, of which the right one ends; the left one goes on to its end."""
    site = Site(metric=True)
    site.lane("1.1", [(0.0, y) for y in np.arange(0.0, length + 1.0, 50.0)], right="broken_white")
    site.lane("1.2", [(3.66, y) for y in np.arange(0.0, drop + 1.0, 50.0)], left="broken_white")
    return site.network()


@pytest.mark.parametrize(("step", "lanes", "cars"), [(0.05, 2, 20), (0.1, 3, 60), (1.0, 3, 40)])
def test_cars_change_lanes_without_a_touch_and_with_little_braking(step, lanes, cars):
    made = world(rings(lanes), Pool("town", count=cars, drivers=SHARES), drivers=MIXED, step=step)
    snapshot, changes, hardest, sharpest = made.start, 0, 0.0, 0.0
    for k in range(round(90.0 / step)):
        lanes_before = snapshot.columns.intent[:, LANELET].copy()
        velocity = snapshot.columns.velocity.copy()
        assert not len(advance(made, snapshot, 1)[2])
        changes += int(np.sum(lanes_before != snapshot.columns.intent[:, LANELET]))
        hardest = min(hardest, float(snapshot.columns.travel[:, ACCELERATION].min()))
        if k > 5:
            sharpest = max(sharpest, float(np.abs(snapshot.columns.velocity - velocity).max()))
    assert changes > 10
    assert hardest > -2.5
    assert sharpest < 0.6 + 4.0 * step  # [m/s]: bodies don't jump


def test_nobody_changes_over_a_solid_line():
    made = world(rings(2, marks="solid_white"), Pool("town", count=20, drivers=SHARES), drivers=MIXED, step=0.1)
    end = run(made, None, 60.0)[-1]
    assert np.array_equal(made.start.columns.intent[:, LANELET], end.columns.intent[:, LANELET])


def test_a_shift_takes_time_and_ends_on_the_centreline():
    made = world(rings(2), Pool("town", count=20, drivers=SHARES), drivers=MIXED, step=0.1)
    shifts = {}
    for snapshot in run(made, None, 60.0, 0.1):
        travel = snapshot.columns.travel
        assert np.all(travel[travel[:, RUN] == 0.0, OFFSET] == 0.0)
        for car in np.flatnonzero(travel[:, RUN] > 0.0).tolist():
            shifts.setdefault((car, round(float(travel[car, RUN]), 6)), []).append(float(travel[car, SPEED]))
    times = [0.1 * len(speeds) for speeds in shifts.values()]
    assert len(times) > 5
    assert 2.5 < np.median(times) < 6.0


@pytest.mark.parametrize("step", [0.05, 0.1, 1.0])
def test_a_lane_that_ends_is_left_by_all_who_go_on(step):
    pool = Pool("east", flow=400.0, origin=PointId(1, 2, 1), destinations=((PointId(1, 1, 19), 1.0),), until=120.0)
    made = world(highway(), pool, step=step)
    end = run(made, None, 240.0, 1.0)[-1].columns
    arrived, appeared, left = end.pool_counts[0]
    assert appeared > 8
    assert left == appeared == arrived
    assert np.all(end.intent[:, PHASE] == ABSENT)


def test_who_has_to_change_stands_before_the_end_of_the_lane_and_is_let_in():
    crowded = Pool(
        "through", flow=700.0, origin=PointId(1, 1, 1), destinations=((PointId(1, 1, 19), 1.0),), until=200.0
    )
    few = Pool("merging", flow=200.0, origin=PointId(1, 2, 1), destinations=((PointId(1, 1, 19), 1.0),), until=200.0)
    made = world(highway(), crowded, few, step=0.1)
    longest, snapshot = 0.0, made.start
    for snapshot in run(made, None, 400.0, 1.0):
        longest = max(longest, float(snapshot.columns.travel[:, WAITING].max()))
        right = snapshot.columns.intent[:, LANELET] == made.road.lanelets.rows["1.2.1-1.2.11"]
        assert np.all(snapshot.columns.travel[right, STATION] < 500.0)
    counts = snapshot.columns.pool_counts
    assert np.array_equal(counts[:, 1], counts[:, 2])
    assert counts[1, 1] > 5
    assert longest < 60.0


def test_a_run_from_any_moment_of_a_change_has_the_same_bits():
    made = world(rings(2), Pool("town", count=20, drivers=SHARES), drivers=MIXED, step=0.1)
    copies = [made.start, *run(made, None, 30.0, 0.1)]
    end = copies[-1]
    assert any(np.any(copy.columns.travel[:, RUN] > 0.0) for copy in copies)
    for number in range(0, 300, 7):
        again = copies[number].copy()
        advance(made, again, 300 - number)
        assert again.hash == end.hash


@pytest.mark.parametrize("step", [0.05, 0.1])
def test_a_highway_with_a_ramp_has_no_touch_and_no_emergency_stop(step, tmp_path):
    (tmp_path / "busy.yaml").write_text(
        f"""network: merge
step: {step}
traffic:
  - {{name: left, flow: 750, from: 1.1.1, to: {{1.1.17: 1.0}}}}
  - {{name: right, flow: 750, from: 1.2.1, to: {{1.1.17: 0.7, 5.1.8: 0.3}}}}
  - {{name: ramp, flow: 300, from: 4.1.1, to: {{1.1.17: 0.7, 5.1.8: 0.3}}}}
"""
    )
    made = cbsim.load(tmp_path / "busy.yaml")
    snapshot, hardest, changed = made.start, 0.0, 0
    for _ in range(round(600.0 / 0.5)):
        before = snapshot.columns.intent[:, LANELET].copy()
        assert not len(advance(made, snapshot, round(0.5 / step))[2])
        travel, intent = snapshot.columns.travel, snapshot.columns.intent
        on_the_way = (intent[:, PHASE] != ABSENT) & (travel[:, STATION] > 40.0)  # one may appear before a queue
        hardest = min(hardest, float(travel[on_the_way, ACCELERATION].min(initial=0.0)))
        changed += int(np.sum((before != intent[:, LANELET]) & (travel[:, RUN] > 0.0)))
    assert changed > 100
    assert hardest > -4.5
    counts = snapshot.columns.pool_counts
    assert counts[1, 2] > 80  # those of the right lane who go on have come to the left one
    assert counts[2, 2] > 20


def busy_merge(folder: Path, seed: int, step: float) -> World:
    """On two lanes come 1500 cars an hour, on a ramp 300; from each a share leaves by the off-ramp on the right."""
    ends = "{1.1.17: 0.7, 5.1.8: 0.3}"
    (folder / "busy.yaml").write_text(
        f"""network: merge
step: {step}
seed: {seed}
traffic:
  - {{name: left, flow: 750, from: 1.1.1, to: {ends}, until: 600}}
  - {{name: right, flow: 750, from: 1.2.1, to: {ends}, until: 600}}
  - {{name: ramp, flow: 300, from: 4.1.1, to: {ends}, until: 600}}
"""
    )
    return cbsim.load(folder / "busy.yaml")


SEEDS = [1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 21))]


@pytest.mark.parametrize("step", [0.05, 0.1, 1.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_misses_a_change_of_lanes_on_a_busy_highway_with_a_ramp(seed, step, tmp_path):
    made = busy_merge(tmp_path, seed, step)
    # roads to which only a missed change leads
    elsewhere = [row for name, row in made.road.lanelets.rows.items() if name[0] in "2367"]
    snapshot, hardest, longest = made.start, 0.0, 0.0
    for _ in range(900):
        assert not len(advance(made, snapshot, round(1.0 / step))[2])
        travel, intent = snapshot.columns.travel, snapshot.columns.intent
        there = intent[:, PHASE] != ABSENT
        assert not np.isin(intent[there, LANELET], elsewhere).any()
        on_the_way = there & (travel[:, STATION] > 40.0)  # one may appear before a queue
        hardest = min(hardest, float(travel[on_the_way, ACCELERATION].min(initial=0.0)))
        longest = max(longest, float(travel[there, WAITING].max(initial=0.0)))
    arrived, appeared, left = snapshot.columns.pool_counts.T
    assert (arrived > 30).all()
    assert np.array_equal(arrived, appeared)
    assert np.array_equal(arrived, left)
    assert longest < 60.0
    assert hardest > -4.5


@pytest.mark.parametrize("step", [0.05, 0.1])
def test_all_who_weave_change_in_time(step, tmp_path):
    (tmp_path / "weave.yaml").write_text(
        f"""network: merge
step: {step}
traffic:
  - {{name: left, flow: 750, from: 1.1.1, to: {{5.1.8: 1.0}}, until: 300}}
  - {{name: right, flow: 750, from: 1.2.1, to: {{1.1.17: 1.0}}, until: 300}}
  - {{name: ramp, flow: 300, from: 4.1.1, to: {{1.1.17: 1.0}}, until: 300}}
"""
    )
    made = cbsim.load(tmp_path / "weave.yaml")
    elsewhere = [row for name, row in made.road.lanelets.rows.items() if name[0] in "2367"]
    copies = run(made, None, 500.0, 1.0)
    for copy in copies:
        there = copy.columns.intent[:, PHASE] != ABSENT
        assert not np.isin(copy.columns.intent[there, LANELET], elsewhere).any()
    assert max(float(copy.columns.travel[:, WAITING].max()) for copy in copies) < 60.0
    counts = copies[-1].columns.pool_counts
    assert np.array_equal(counts[:, 0], counts[:, 2])


PLATOON = 8


def platoon(step: float, station: float, speed: float, first: float, *, left: bool = False) -> tuple[World, Snapshot]:
    """Eight cars at 12 m/s, 25 m apart, on a lane that goes on, and one more on the lane beside it, which ends."""
    site, side = Site(metric=True), -3.66 if left else 3.66
    marks = ({"left": "broken_white"}, {"right": "broken_white"})
    on, ending = marks if left else marks[::-1]
    site.lane("1.1", [(0.0, y) for y in np.arange(0.0, 901.0, 50.0)], **on)
    site.lane("1.2", [(side, y) for y in np.arange(0.0, 501.0, 50.0)], **ending)
    cars = [reactive(f"car {k}", f"1.1.{k + 1}", ("1.1.19", 0.0)) for k in range(PLATOON)]
    made = world(site.network(), actors=(*cars, reactive("waits", "1.2.1", ("1.1.19", 0.0))), step=step)
    on, ending = (made.road.lanelets.rows[name] for name in ("1.1.1-1.1.19", "1.2.1-1.2.11"))
    snapshot = made.start
    for k in range(PLATOON):
        put_on(made, snapshot, k, on, first - 25.0 * k, 12.0)
    put_on(made, snapshot, PLATOON, ending, station, speed)
    return made, snapshot


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("step", [0.05, 0.1])
def test_one_car_from_far_behind_makes_room_for_who_stands_at_the_end_of_its_lane(left, step):
    made, snapshot = platoon(step, 469.0 if left else 477.0, 0.0, 460.0, left=left)
    target = made.road.lanelets.rows["1.1.1-1.1.19"]
    while snapshot.columns.intent[PLATOON, LANELET] != target:
        assert snapshot.time < 30.0
        advance(made, snapshot, 1)
        assert float(snapshot.columns.travel[:PLATOON, ACCELERATION].min()) > -1.3
    # those who could not have made room by 1 m/s² have gone on, and the first one that could has made it
    stations = snapshot.columns.travel[:, STATION]
    assert 2 <= int((stations[:PLATOON] > stations[PLATOON]).sum()) <= 4
    for copy in run(made, snapshot, 30.0, 1.0):
        assert float(copy.columns.travel[:, ACCELERATION].min()) > -2.5


@pytest.mark.parametrize("beside", [0.0, 2.0, 12.0])
@pytest.mark.parametrize("step", [0.05, 0.1])
def test_who_drives_beside_a_platoon_falls_into_a_gap_that_opens(beside, step):
    made, snapshot = platoon(step, 210.0 + beside, 12.0, 260.0)
    target = made.road.lanelets.rows["1.1.1-1.1.19"]
    for copy in run(made, snapshot, 25.0, 1.0):
        assert float(copy.columns.travel[:, SPEED].min()) > 5.0  # nobody has to stop for it
        assert float(copy.columns.travel[:, ACCELERATION].min()) > -2.0
        snapshot = copy
    assert snapshot.columns.intent[PLATOON, LANELET] == target


# seeds of towns with two lanes each way, in which a van stands on one of the lanes
VANS = [
    *((0, 0), (1, 1), (5, 1), (9, 0)),
    (12, 0),  # it comes into sight late, behind who changes lanes before it
    (15, 0),  # just behind a junction, with less room than it takes to turn round
    (18, 0),  # so near before who stands there at the start that it has to steer hard
]
MORE_VANS = [(0, 1), (3, 1), (4, 0), (5, 0), (6, 1), (8, 0), (8, 1), (13, 1), (16, 0), (20, 0)]


@pytest.mark.parametrize(
    ("seed", "number"), [*VANS, *(pytest.param(*van, marks=pytest.mark.slow) for van in MORE_VANS)]
)
def test_a_van_on_one_of_two_lanes_each_way_holds_nobody_up(seed, number):
    columns, rows = ((3, 2), (2, 2), (3, 3), (4, 3))[seed % 4]
    block, count = (90.0, 150.0, 120.0)[seed % 3], (30, 40, 60)[seed % 3]
    network = city(columns=columns, rows=rows, block=block, lanes=2, zones=0, seed=seed)[0]
    lanes = [lane for lane in build(network).lanes if lane.length > 60.0]
    lane = lanes[(7 * seed + 11 * number) % len(lanes)]
    (x, y), heading = lane.at((0.25, 0.5, 0.75)[(seed + number) % 3] * lane.length)
    van = prop("van", (float(x), float(y), 0.5), size=(2.6, 0.6, 1.0), yaw=float(heading))
    made = world(network, Pool("p", count=count), actors=(van,), step=0.1, seed=seed)
    copies = run(made, None, 400.0, 5.0)
    assert max(float(copy.columns.travel[:, WAITING].max()) for copy in copies) < 100.0


def test_who_leaves_at_the_end_of_its_lane_does_not_touch_who_stands_behind_that():
    site = Site(metric=True)
    site.lane("1.1", [(0.0, 0.0), (0.0, 200.0)], exits=[("1.1.2", "1.2.1")])
    site.lane("1.2", [(-5.0, 200.0), (-5.0, 0.0)], exits=[("1.2.2", "1.1.1")])
    slow, ends = Driver("slow", desired_speed=Spread(0.15)), ((PointId(1, 1, 2), 1.0),)
    flow = Pool("flow", flow=300.0, origin=PointId(1, 1, 1), destinations=ends, until=30.0, drivers=(("slow", 1.0),))
    stands = reactive("stands", "1.2.1", ("1.2.2", 0.0))
    made = world(site.network(), flow, actors=(stands,), drivers=(slow,), step=0.05)
    snapshot = made.start
    turn = next(row for name, row in made.road.lanelets.rows.items() if name.startswith("1.1.2-1.2.1"))
    put_on(made, snapshot, 0, turn, 0.05)
    snapshot.state.intent[0, PHASE] = HIT
    run(made, snapshot, 120.0, 1.0)  # contacts are a failure
    assert snapshot.columns.pool_counts[0, 1] > 1


@pytest.mark.parametrize("speed", [2.0, 3.0, 4.0])
@pytest.mark.parametrize("gap", [9.5, 10.0, 11.0, 12.0])
def test_gap_to_who_stands_counts_along_the_inner_lane_of_a_bend(speed, gap):
    """A change is judged by the lane that it leads to, where the body is nearer than on the outer one."""
    radius, apart, station, count = 20.0, 5.5, 20.0, 60
    site, angles = Site(metric=True), 2.0 * np.pi * np.arange(count) / count
    for k in range(2):
        places = [((radius + k * apart) * np.cos(a), (radius + k * apart) * np.sin(a)) for a in angles]
        name, marks = f"1.{k + 1}", {"left": "broken_white", "right": "broken_white"}
        site.lane(name, places, exits=[(f"{name}.{count}", f"{name}.1")], width=apart, **marks)
    outer = radius + apart
    angle = (station + 4.5 + gap + 2.5) / outer
    van = prop("van", (outer * np.cos(angle), outer * np.sin(angle), 1.0), size=(2.0, 5.0, 2.0), yaw=angle)
    made = world(site.network(), Pool("town", count=1), actors=(van,), step=0.05)
    snapshot = made.start
    put_on(made, snapshot, 0, 1, station, speed)
    for _ in range(600):
        _, _, contacts = advance(made, snapshot, 1)
        assert not len(contacts)
        assert snapshot.columns.travel[0, ACCELERATION] > -4.5


@pytest.mark.parametrize("pace", [0.5, 2.5, 6.0])
@pytest.mark.parametrize("ahead", [60.0, 75.0])
def test_who_crosses_over_to_the_lane_that_one_leaves_is_braked_for_gently(ahead, pace):
    """Two that exchange their lanes, the first of them slow: the other one sees it in time."""
    made = world(highway(drop=900.0), Pool("p", count=2))
    rows, snapshot = made.road.lanelets.rows, made.start
    put_on(made, snapshot, 0, rows["1.1.1-1.1.19"], 100.0, 13.0)
    put_on(made, snapshot, 1, rows["1.2.1-1.2.19"], 100.0 + ahead, pace)
    travel = snapshot.state.travel
    travel[0, [OFFSET, RUN, MOVED]] = -3.66, 110.0, 20.0
    travel[1, [OFFSET, RUN, MOVED]] = 3.66, 60.0, 40.0
    snapshots = run(made, snapshot, 6.0, made.step)
    assert min(float(each.columns.travel[0, ACCELERATION]) for each in snapshots) > -2.5
