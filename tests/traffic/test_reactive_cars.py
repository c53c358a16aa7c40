"""Reactive cars: no touches, the same bits however they are stepped, who goes first, pools, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import ModelError
from cbsim.simulation.advance import advance
from cbsim.spec.objects import Controller, Goal, Kind, TrafficObject, Triple
from cbsim.spec.road import PointId
from cbsim.spec.scenario import Placement
from cbsim.spec.traffic import Driver, Pool, Spread
from cbsim.world.scene import Actor
from cbsim.world.traffic.tables import (
    ABSENT,
    ARRIVAL,
    CLAIM,
    DRIVING,
    HIT,
    LANELET,
    PAUSING,
    PHASE,
    SPEED,
    STATION,
    STOPPED,
    WAITING,
)
from tests.road.site import Site
from tests.traffic.sites import four_way, put, put_on, ring, run, straight, world
from tests.worlds import bot, mesh, mover, prop

MIXED = (Driver("calm", time_headway=Spread(1.8, 0.2)), Driver("hasty", time_headway=Spread(1.0, 0.1)))


def crowd(count: int = 24, **settings):
    pool = Pool("town", count=count, drivers=(("calm", 0.6), ("hasty", 0.4)))
    return world(four_way(), pool, drivers=MIXED, **settings)


def reactive(name: str, at: str, *goals: tuple[str, float], **fields) -> Actor:
    point = PointId(*map(int, at.split(".")))
    listed = tuple(Goal(0.0, pause, *map(int, where.split("."))) for where, pause in goals)
    item = TrafficObject(
        Kind.DYNAMIC,
        name,
        controller=Controller.WAYPOINT,
        size=Triple(1.8, 4.5, 1.5),
        anchor=point,
        goals=listed,
        reactive=True,
        **fields,
    )
    return Actor(item, Placement(point, station=10.0), listed)


@pytest.mark.parametrize("step", [0.05, 0.1, 0.3, 1.0])
def test_nobody_touches_anybody_at_a_four_way_stop_and_everybody_gets_through(step):
    made = crowd(step=step)
    snapshot, longest = made.start, 0.0
    junctions = np.zeros(made.layout.cars)
    for _ in range(300):
        before = snapshot.columns.intent[:, LANELET].copy()
        run(made, snapshot, step * max(1, round(2.0 / step)))
        junctions += before != snapshot.columns.intent[:, LANELET]
        longest = max(longest, float(snapshot.columns.travel[:, WAITING].max()))
    assert junctions.min() > 5
    assert longest < 120.0


def test_one_car_at_a_time_is_in_a_conflict_area():
    made = crowd()
    spans, pairs = made.traffic.crossings.spans, made.road.conflicts.pairs
    for snapshot in run(made, made.start, 120.0, 0.5):
        intent, travel = snapshot.columns.intent, snapshot.columns.travel
        for row, (one, other) in enumerate(pairs.tolist()):
            inside = [
                np.flatnonzero(
                    (intent[:, LANELET] == lanelet)
                    & (travel[:, STATION] < spans[row, 2 + side])
                    & (travel[:, STATION] + 4.5 > spans[row, side])
                )
                for side, lanelet in enumerate((one, other))
            ]
            assert not (len(inside[0]) and len(inside[1]))


def test_steps_in_batches_one_by_one_and_after_a_restore_have_the_same_bits():
    made = crowd(count=20)
    batch, single = made.start, made.start
    hashes, _, _ = advance(made, batch, 400)
    for k in range(400):
        if k % 37 == 0:  # a process that knows nothing but the bytes
            single = made.restore(single.to_bytes())
            made.static_caches._newest = None
        one, _, _ = advance(made, single, 1)
        assert one[0] == hashes[k]
    assert batch.to_bytes() == single.to_bytes()


def test_another_seed_gives_other_routes():
    made = crowd(count=20)
    other = made.start
    other.columns.seed[0] = 7
    one = run(made, made.start, 60.0)[-1]
    assert (run(made, other, 60.0)[-1].columns.intent[:, LANELET] != one.columns.intent[:, LANELET]).any()


def test_stop_lines_are_stopped_at_and_served_in_the_order_of_arrival():
    made = crowd(count=12)
    waiting: dict[int, float] = {}
    stops, before = 0, made.start
    for snapshot in run(made, made.start, 300.0, made.step):
        intent, travel = snapshot.columns.intent, snapshot.columns.travel
        stopped = set(np.flatnonzero(intent[:, PHASE] == STOPPED).tolist())
        for car in set(waiting) - stopped:  # has been let go
            earlier = [
                other
                for other in stopped
                if waiting.get(other, np.inf) < waiting[car] - 0.5 - made.step and _has_room(made, before, other)
            ]
            assert not earlier or intent[car, CLAIM] == 0 or _free_of(made, snapshot, car, earlier)
        stops += len(stopped - set(waiting))
        waiting, before = {car: float(travel[car, ARRIVAL]) for car in stopped}, snapshot
    assert stops > 40


def _has_room(made, snapshot, car: int) -> bool:
    """Whether nobody stands near the begin of the lane that a car at a stop line goes to."""
    columns = snapshot.columns
    target = int(made.road.lanelets.successors[int(columns.intent[car, 1])][0])
    near = (columns.intent[:, LANELET] == target) & (columns.travel[:, STATION] < 20.0)
    return not (near | (columns.intent[:, LANELET] == columns.intent[car, 1])).any()


def _free_of(made, snapshot, car: int, others: list[int]) -> bool:
    """Whether the way of a car that has been let go conflicts with none of the others' ways."""
    pairs = {tuple(sorted(pair)) for pair in made.road.conflicts.pairs.tolist()}
    lanelets = snapshot.columns.intent
    own = (lanelets[car, LANELET], lanelets[car, 1])
    return not any(
        tuple(sorted((int(a), int(b)))) in pairs for other in others for a in own for b in (lanelets[other, 1],)
    )


def test_car_that_is_hit_stands_for_good():
    ram = mover("Ram", (12.0, 0.0, 200.0, 0.0), at=Triple(0.0, -60.0, 0.0), size=Triple(1.8, 4.5, 1.5))
    pool = Pool("p", count=1, drivers=(("slow", 1.0),))
    made = world(straight(), pool, drivers=(Driver("slow", speed=Spread(3.0)),), actors=(ram,))
    snapshot = made.start
    put(snapshot, 0, 20.0)
    _, _, contacts = advance(made, snapshot, 400)
    assert len(contacts) == 1
    assert snapshot.columns.intent[0, PHASE] == HIT
    assert snapshot.columns.travel[0, SPEED] == 0.0


def test_reactive_cars_stop_behind_a_bot_and_a_literal_car():
    parked = bot("Ego", position_offset=Triple(0.0, 300.0, 0.0))
    made = world(straight(), Pool("p", count=3), actors=(parked,))
    start = made.start
    for car, station in enumerate((20.0, 80.0, 140.0)):
        put(start, car, station)
    stations = run(made, start, 120.0)[-1].columns.travel[:, STATION]
    rear = 300.0 - 0.5 * 3.68
    assert stations + 4.5 == pytest.approx(rear - 2.0 - 6.5 * np.array([2.0, 1.0, 0.0]), abs=0.3)
    creeping = mover("Slow", (2.0, 0.0, 500.0, 0.0), at=Triple(0.0, 250.0, 0.0), size=Triple(1.8, 4.5, 1.5))
    made = world(straight(), Pool("p", count=2, lanes=((1, 1),)), actors=(creeping,))
    snapshot = made.start
    put(snapshot, 0, 40.0)
    put(snapshot, 1, 150.0)
    final = run(made, snapshot, 60.0)[-1].columns
    assert final.travel[1, SPEED] == pytest.approx(2.0, abs=0.1)


def test_flow_appears_evenly_drives_to_its_destination_and_leaves():
    flow = Pool("east", flow=600.0, origin=PointId(1, 1, 1), destinations=((PointId(1, 1, 3), 1.0),), is_even=True)
    made = world(straight(), flow)
    snapshots = run(made, made.start, 600.0, 60.0)
    arrived, appeared, left = snapshots[-1].columns.pool_counts[0]
    assert arrived == pytest.approx(100, abs=1)
    assert appeared == arrived
    present = int(np.count_nonzero(snapshots[-1].columns.intent[:, PHASE] != ABSENT))
    assert appeared - left == present
    assert 3 <= present <= 15


def test_poisson_arrivals_have_the_rate_and_the_variance_of_the_process():
    pools = tuple(
        Pool(f"p{k}", flow=360.0, origin=PointId(k, 1, 1), destinations=((PointId(k, 1, 3), 1.0),))
        for k in range(1, 31)
    )
    site = Site()
    for k in range(1, 31):
        site.lane(f"{k}.1", [(20.0 * k, 0.0), (20.0 * k, 100.0), (20.0 * k, 200.0)])
    made = world(site.network(), *pools)
    counts = run(made, made.start, 600.0)[-1].columns.pool_counts[:, 0]
    assert counts.mean() == pytest.approx(60.0, abs=4.0 * np.sqrt(60.0 / 30.0))
    assert 25.0 < counts.var() < 120.0


def test_cars_of_a_blocked_flow_wait_outside():
    wall = prop("Wall", Triple(0.0, 60.0, 0.0), size=Triple(6.0, 1.0, 2.0))
    flow = Pool("p", flow=1800.0, origin=PointId(1, 1, 1), is_even=True)
    made = world(straight(), flow, actors=(wall,))
    counts = run(made, made.start, 200.0)[-1].columns.pool_counts[0]
    assert counts[0] == pytest.approx(100, abs=1)
    assert counts[1] <= 9
    assert counts[2] == 0


def test_object_with_goals_drives_there_pauses_and_stays():
    car = reactive("Crew", "1.1.1", ("1.1.2", 5.0), ("2.2.2", 0.0))
    made = world(four_way(), actors=(car,))
    snapshots = run(made, made.start, 90.0, 0.5)
    places = np.array([each.columns.position[0, :2] for each in snapshots])
    phases = [int(each.columns.intent[0, PHASE]) for each in snapshots]
    assert PAUSING in phases
    goal = made.scene.roadmap.position(PointId(2, 2, 2))
    assert np.hypot(*(places[-1] - goal)) == pytest.approx(2.25, abs=0.6)
    assert snapshots[-1].columns.travel[0, SPEED] == 0.0


def test_goal_where_an_exit_enters_a_lane_is_reached_by_the_exit_too():
    site = Site(metric=True).lane("1.1", [(0.0, 0.0), (0.0, 100.0), (0.0, 200.0), (0.0, 300.0)])
    site.lane("2.1", [(60.0, 0.0), (60.0, 100.0)], exits=[("2.1.2", "1.1.3")])
    for start in ("1.1.1", "2.1.1"):
        made = world(site.network(), actors=(reactive("Crew", start, ("1.1.3", 0.0)),), step=0.1)
        final = run(made, None, 60.0)[-1].columns
        rear = made.scene.roadmap.position(PointId(1, 1, 3)) - final.position[0, :2]
        assert np.hypot(*rear) == pytest.approx(2.25, abs=0.6)
        assert final.intent[0, PHASE] == PAUSING


def test_object_waits_before_it_sets_off_and_at_a_goal_where_it_stands():
    goals = ("1.1.1", 2.0), ("2.2.2", 0.0)
    waits = reactive("Crew", "1.1.1", *goals, initial_pause=4.0)
    snapshots = run(world(four_way(), actors=(waits,), step=0.1), None, 60.0, 0.1)
    speeds = np.array([each.columns.travel[0, SPEED] for each in snapshots])
    assert not speeds[:40].any()
    assert speeds[41:60].all()  # it stands 10 m beyond its first waypoint, and drives on to the next goal
    at_goal = Actor(waits.item, Placement(PointId(1, 1, 1)), waits.goals)
    snapshots = run(world(four_way(), actors=(at_goal,), step=0.1), None, 60.0, 0.1)
    speeds = np.array([each.columns.travel[0, SPEED] for each in snapshots])
    assert not speeds[:60].any()
    assert speeds[61:80].all()


def test_who_pauses_at_a_stop_line_has_arrived_when_it_came_to_rest():
    car = reactive("Crew", "1.1.1", ("1.1.2", 5.0), ("2.2.2", 0.0))
    snapshots = run(world(four_way(), actors=(car,), step=0.1), None, 60.0, 0.1)
    phases = [int(each.columns.intent[0, PHASE]) for each in snapshots]
    paused, stopped = phases.index(PAUSING), phases.index(STOPPED)
    arrival = float(snapshots[stopped].columns.travel[0, ARRIVAL])
    assert stopped - paused == pytest.approx(50, abs=1)
    assert arrival == pytest.approx(snapshots[paused].time, abs=0.11)


GATE = [(x, y, z) for x in (-3.0, -2.6, 2.6, 3.0) for y in (-0.2, 0.2) for z in (0.0, 5.0)]
POSTS = [(0, 2, 1), (1, 2, 3), (4, 6, 5), (5, 6, 7), (8, 10, 9), (9, 10, 11), (12, 14, 13), (13, 14, 15)]
BEAM = [(1, 3, 13), (3, 15, 13)]


@pytest.mark.parametrize(("lowered", "stands"), [(0.0, False), (2.0, True)])
@pytest.mark.parametrize("turned", [0.0, 0.3])
def test_cars_drive_under_a_gantry_and_stop_before_a_low_one(lowered, stands, turned):
    cosine, sine = np.cos(turned), np.sin(turned)
    corners = [(cosine * x - sine * y, sine * x + cosine * y, z - lowered) for x, y, z in GATE]
    gate = mesh("Gate", corners, [*POSTS, *BEAM], at=Triple(0.0, 300.0, 0.0))
    made = world(straight(), Pool("p", count=1), actors=(gate,))
    snapshot = made.start
    put(snapshot, 0, 200.0)
    final = run(made, snapshot, 28.0)[-1].columns
    if stands:
        assert final.travel[0, STATION] + 4.5 == pytest.approx(297.0, abs=1.0)
    else:
        assert final.travel[0, STATION] > 400.0


def test_of_two_that_leave_a_fork_side_by_side_only_the_one_behind_waits():
    site = Site(metric=True).lane("1.1", [(0.0, -80.0), (0.0, 0.0)], exits=[("1.1.2", "2.1.1"), ("1.1.2", "3.1.1")])
    site.lane("2.1", [(0.0, 12.0), (0.0, 120.0)]).lane("3.1", [(3.0, 50.0), (3.0, 120.0)])
    made = world(site.network(), Pool("p", count=2), step=0.1)
    lengths, starts = made.road.lanelets.lengths, made.traffic.road.samples[made.traffic.road.sample_offsets[:-1], :2]
    ways = np.flatnonzero(np.hypot(*(starts - starts[0] - (0.0, 80.0)).T) < 0.1)
    short, long = sorted(ways.tolist(), key=lambda row: lengths[row])
    snapshot = made.start
    put_on(made, snapshot, 0, short, 9.0)
    put_on(made, snapshot, 1, long, 0.1)
    for _ in range(100):
        advance(made, snapshot, 1)
    assert snapshot.columns.travel[0, SPEED] > 5.0
    assert snapshot.columns.travel[1, SPEED] > 4.0


def test_who_drives_off_behind_a_fork_hides_nobody_who_stands_on_another_way():
    site = Site(metric=True).lane("1.1", [(0.0, -80.0), (0.0, 0.0)], exits=[("1.1.2", f"{n}.1.1") for n in (2, 3, 4)])
    site.lane("2.1", [(-3.0, 50.0), (-3.0, 120.0)]).lane("3.1", [(0.0, 12.0), (0.0, 120.0)])
    site.lane("4.1", [(3.0, 50.0), (3.0, 120.0)])
    made = world(site.network(), Pool("p", count=3), step=0.1)
    starts = made.traffic.road.samples[made.traffic.road.sample_offsets[:-1], :2]
    ways = np.flatnonzero(np.hypot(*(starts - starts[0] - (0.0, 80.0)).T) < 0.1).tolist()

    def hardest(stands: int, drives: int) -> float:
        """Braking of a car at 8 m/s, 15 m before the fork, for who stands 7 m behind it and who drives off before."""
        snapshot, least = made.start, 0.0
        put_on(made, snapshot, 0, 0, 60.5, 8.0)
        put_on(made, snapshot, 1, stands, 7.0)
        put_on(made, snapshot, 2, drives, 1.0 if drives in ways else 0.0, 9.0)
        snapshot.state.intent[:3, PHASE] = DRIVING, HIT, DRIVING
        for _ in range(40):
            before = snapshot.columns.travel[0, SPEED]
            advance(made, snapshot, 1)
            least = min(least, float(snapshot.columns.travel[0, SPEED] - before) / 0.1)
        return -least

    assert len(ways) == 3
    for stands in ways:
        alone = hardest(stands, 0)
        assert 1.9 < alone < 2.0
        for drives in ways:
            if drives != stands:
                assert hardest(stands, drives) == pytest.approx(alone)


def test_body_has_both_axles_on_the_centreline():
    made = world(ring(300.0, 120), Pool("p", count=10))
    radius = 300.0 / (2.0 * np.pi)
    columns = run(made, made.start, 30.0)[-1].columns
    centre = np.array([-radius, 0.0])  # the origin is at the first waypoint
    away = np.hypot(*(columns.position[:, :2] - centre).T)
    sagitta = radius - np.sqrt(radius**2 - (0.3 * 4.5) ** 2)
    assert away == pytest.approx(radius - sagitta, abs=0.05)


@pytest.mark.parametrize(
    ("pools", "expected"),
    [
        ([Pool("p", count=2000)], "there is room for"),
        ([Pool("p", count=1, lanes=((7, 1),))], "no lane '7.1'"),
        ([Pool("p", count=1, drivers=(("clam", 1.0),))], "did you mean 'calm'"),
        ([Pool("p", flow=3600.0, origin=PointId(1, 1, 9))], "no waypoint '1.1.9'"),
    ],
)
def test_what_does_not_fit_is_refused(pools, expected):
    with pytest.raises(ModelError, match=expected):
        world(straight(), *pools, drivers=MIXED)


def test_flow_without_a_way_names_what_can_be_reached():
    site = Site().lane("1.1", [(0.0, 0.0), (0.0, 100.0)]).lane("2.1", [(50.0, 0.0), (50.0, 100.0)])
    flow = Pool("p", flow=3600.0, origin=PointId(1, 1, 1), destinations=((PointId(2, 1, 2), 1.0),))
    with pytest.raises(ModelError, match=r"no way leads from '1.1.1' to '2.1.2'; the nearest that can be reached"):
        world(site.network(), flow)
