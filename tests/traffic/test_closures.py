"""Closed lanelets: who can goes another way, ways are those of an oracle, and what is free again is opened."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from cbsim.road.lanelets.reach import ROOM as REACH_ROOM
from cbsim.road.roadmap import build
from cbsim.simulation.advance import advance
from cbsim.spec.objects import Triple
from cbsim.spec.road import PointId
from cbsim.spec.traffic import Pool
from cbsim.world.compile import compile_world
from cbsim.world.scene import Scene, Settings
from cbsim.world.snapshot import Snapshot
from cbsim.world.traffic.tables import (
    CHANGE_TIME,
    CLOSED_TIME,
    HIT,
    LANELET,
    LENGTH,
    LIMIT,
    MAY_CROSS,
    MUST,
    PHASE,
    ROOM,
    SAME,
    WAITING,
)
from cbsim.world.world import World
from tests.common import shared
from tests.traffic.sites import grid, run, workspace, world
from tests.traffic.test_lane_changes import highway
from tests.traffic.test_real_networks import network_of
from tests.worlds import bot, prop

GOAL = PointId(7, 1, 2)
EAST = Triple(0.0, 0.0, -np.pi / 2.0)


def two_ways(place: float, *, step: float = 0.1, flow: float = 400.0, stops: bool = True) -> World:
    """A flow that goes straight on over two blocks, with a barrier across the road, or round one of them."""
    pool = Pool("flow", flow=flow, origin=PointId(1, 1, 1), destinations=((GOAL, 1.0),))
    wall = prop("wall", (place, 0.0, 0.5), size=(0.6, 9.0, 1.0))
    return world(grid(4, 2, stops=stops), pool, actors=(wall,), step=step)


def closed(snapshot: Snapshot) -> list[int]:
    """Rows of the lanelets that are closed."""
    return [int(row) - 1 for row in snapshot.columns.closed if row]


def check_ways(made: World, snapshot: Snapshot) -> int:
    """Compare the ways that a run has left with the shortest ones by scipy; their number."""
    traffic, routes = made.traffic, workspace(made, snapshot).routes
    road, sides, around = traffic.road, traffic.sides, traffic.surroundings
    count = len(road.lanelets)
    costs = np.maximum(road.lanelets[:, LENGTH] / np.maximum(road.lanelets[:, LIMIT], 0.1), 1e-3)
    costs[closed(snapshot)] += CLOSED_TIME
    edges: dict[tuple[int, int], float] = {}
    for here in range(count):
        for there in around.successors[around.successor_offsets[here] : around.successor_offsets[here + 1]]:
            edges[here, int(there)] = costs[there]
        for row in range(*sides.offsets[here : here + 2]) if len(sides.rows) else ():
            there, bits = sides.rows[row].tolist()
            if bits & SAME and bits & MAY_CROSS and sides.spans[row, 1] - sides.spans[row, 0] >= ROOM:
                time = CHANGE_TIME + max(costs[there] - costs[here], 0.0)
                edges[here, there] = min(time, edges.get((here, there), np.inf))
    pairs, times = np.array(list(edges)), np.array(list(edges.values()))
    graph = csr_array((times, (pairs[:, 1], pairs[:, 0])), shape=(count, count))
    known = np.flatnonzero(routes.known == routes.known.max())
    for destination in known:
        end = int(road.destinations[destination, 0])
        least = dijkstra(graph, indices=end)
        hops = routes.hops.reshape(-1, count)[destination]
        changes = routes.changes.reshape(-1, count)[destination] if len(routes.changes) else np.full(count, -1)
        for here in range(count):
            if here == end or not np.isfinite(least[here]):
                continue
            there = int(changes[here] % MUST if changes[here] >= 0 else hops[here])
            assert edges[here, there] + least[there] == pytest.approx(least[here], abs=1e-5)
    return len(known)


@pytest.mark.parametrize("step", [0.05, 0.1, 1.0])
def test_who_comes_to_a_barrier_turns_round_and_others_go_round_it(step):
    made = two_ways(300.0, step=step)
    snapshot, longest = made.start, 0.0
    for _ in range(300):
        assert not len(advance(made, snapshot, round(1.0 / step))[2])
        longest = max(longest, float(snapshot.columns.travel[:, WAITING].max()))
    (lanelet,) = closed(snapshot)
    assert made.traffic.road.lanelets[lanelet, LENGTH] == pytest.approx(182.0)
    assert longest < 40.0
    arrived, appeared, left = snapshot.columns.pool_counts[0]
    assert appeared == arrived > 25
    assert left > 15
    run(made, snapshot, 100.0)
    assert snapshot.columns.travel[:, WAITING].max() < 1.0  # nobody waits at the barrier any more
    assert check_ways(made, snapshot) == 1


@pytest.mark.parametrize("place", [205.0, 212.0, 220.0])
def test_nobody_drives_into_a_road_that_is_blocked_where_it_begins(place):
    made = two_ways(place, flow=600.0)
    copies = run(made, None, 300.0, 1.0)
    assert max(float(copy.columns.travel[:, WAITING].max()) for copy in copies) < 15.0
    assert copies[-1].columns.pool_counts[0, 2] > 25
    assert len(closed(copies[-1])) == 1


@pytest.mark.parametrize("step", [0.05, 0.1, 1.0])
@pytest.mark.parametrize("flow", [100.0, 300.0, 0.0])
def test_who_waits_at_a_line_behind_which_all_ways_are_blocked_turns_round(step, flow):
    flows = Pool("flow", flow=flow, origin=PointId(1, 1, 1), destinations=((GOAL, 1.0),))
    walls = (
        prop("ahead", (214.0, 0.0, 0.5), size=(0.6, 9.0, 1.0)),
        prop("aside", (200.0, 14.0, 0.5), size=(9.0, 0.6, 1.0)),
    )
    made = world(grid(4, 2), flows if flow else Pool("town", count=30), actors=walls, step=step)
    copies = run(made, None, 400.0, 1.0)
    assert max(float(copy.columns.travel[:, WAITING].max()) for copy in copies) < 120.0
    assert copies[-1].columns.travel[:, WAITING].max() < 30.0
    if flow:
        arrived, appeared, left = copies[-1].columns.pool_counts[0]
        assert appeared == arrived
        assert left > 3


def test_without_another_way_cars_still_go_to_where_it_is_closed():
    pool = Pool("flow", flow=200.0, origin=PointId(1, 1, 1), destinations=((PointId(4, 1, 3), 1.0),))
    made = world(grid(4, 2), pool, actors=(prop("wall", (300.0, 0.0, 0.5), size=(0.6, 9.0, 1.0)),), step=0.1)
    snapshot = run(made, None, 200.0)[-1]
    assert len(closed(snapshot)) == 1
    assert check_ways(made, snapshot) == 1


def test_a_lanelet_on_which_nobody_stands_is_opened_and_ways_are_as_before():
    made = world(grid(4, 2), Pool("flow", flow=400.0, origin=PointId(1, 1, 1), destinations=((GOAL, 1.0),)), step=0.1)
    snapshot = run(made, None, 30.0)[-1]
    snapshot.state.closed[1] = 4
    run(made, snapshot, 0.1)
    assert not closed(snapshot)
    routes = workspace(made, snapshot).routes
    assert np.array_equal(routes.hops, made.traffic.road.hops)
    assert np.array_equal(routes.wanders, made.traffic.road.wanders)


def test_who_wanders_keeps_out_of_a_closed_road():
    made = world(
        grid(4, 2), Pool("town", count=30), actors=(prop("wall", (300.0, 0.0, 0.5), size=(0.6, 9.0, 1.0)),), step=0.1
    )
    snapshot = run(made, None, 200.0)[-1]
    assert len(closed(snapshot)) == 2  # either direction of the road
    inside = set(np.flatnonzero(np.isin(snapshot.columns.intent[:, LANELET], closed(snapshot))))
    for copy in run(made, snapshot, 200.0, 1.0):
        now = set(np.flatnonzero(np.isin(copy.columns.intent[:, LANELET], closed(copy))))
        assert now <= inside
        inside = now
    assert len(inside) < 5


def test_nobody_closes_a_lanelet_behind_a_bot_that_waits_at_a_line():
    pool = Pool("flow", flow=600.0, origin=PointId(1, 1, 1), destinations=((GOAL, 1.0),))
    bots = [
        bot(f"Bot {n}", position_offset=Triple(185.0 - 7.0 * n, -1.9, 0.0), orientation_offset=EAST) for n in (0, 1)
    ]
    made = world(grid(4, 2), pool, actors=tuple(bots), step=0.1)
    copies = run(made, None, 90.0, 1.0)
    assert max(float(copy.columns.travel[:, WAITING].max()) for copy in copies) > 25.0
    assert not any(closed(copy) for copy in copies)


def test_a_run_from_before_at_and_after_a_closure_has_the_same_bits():
    made = two_ways(300.0)
    copies = [made.start, *run(made, None, 70.0, 0.1)]
    first = next(k for k, copy in enumerate(copies) if closed(copy))
    assert first < 690
    for number in (first - 1, first, first + 1, first + 5):
        again = copies[number].copy()
        advance(made, again, 700 - number)
        assert again.hash == copies[-1].hash


def test_workspaces_of_two_runs_do_not_mix_their_ways():
    made = two_ways(300.0)
    blocked = run(made, made.start.copy(), 70.0)[-1]
    assert closed(blocked)
    fresh = made.start.copy()
    advance(made, fresh, 700)
    assert fresh.hash == blocked.hash


def test_a_workspace_that_knows_the_closed_lanelets_but_not_all_destinations_is_not_trusted():
    wall = prop("wall", (300.0, 0.0, 0.5), size=(0.6, 9.0, 1.0))
    pools = [
        Pool("one", flow=400.0, origin=PointId(1, 1, 1), destinations=((GOAL, 1.0),)),
        Pool("two", flow=400.0, begin=80.0, origin=PointId(2, 2, 1), destinations=((PointId(8, 1, 2), 1.0),)),
    ]
    first, second = (world(grid(4, 2), *pools, actors=(wall,), step=0.1) for _ in range(2))
    later = run(second, None, 130.0)[-1]
    assert closed(later)
    assert later.columns.pool_counts[1, 1] > 2
    before = run(first, None, 75.0)[-1]  # leaves a workspace with the same closed lanelets
    assert closed(before) == closed(later)
    again = first.restore(later.to_bytes())
    advance(first, again, 300)
    advance(second, later, 300)
    assert again.hash == later.hash


def test_ways_on_a_motorway_with_changes_of_lanes_are_those_of_the_oracle():
    pool = Pool("flow", flow=600.0, origin=PointId(1, 2, 1), destinations=((PointId(1, 1, 19), 1.0),))
    made = world(highway(), pool, step=0.1)
    snapshot = run(made, None, 30.0)[-1]
    assert len(made.traffic.sides.changes)
    for lanelet in range(2):
        again = snapshot.copy()
        again.state.closed[0] = lanelet + 1
        again.state.intent[0, LANELET], again.state.intent[0, PHASE] = lanelet, HIT  # keeps it closed
        advance(made, again, 1)
        assert closed(again) == [lanelet]
        assert check_ways(made, again) == 1


@pytest.mark.slow
def test_ways_round_barriers_in_the_final_are_those_of_the_oracle():
    roadmap = build(network_of(shared("rndf", "cornell", "UCE-Final_Event__uce_rndf_1.5.rdf")))
    lane = next(lane for lane in roadmap.lanes if lane.id == (11, 1))
    (x, y), heading = lane.at(0.5 * lane.length)
    wall = prop("wall", (float(x), float(y), 0.5), size=(16.0, 0.6, 1.0), yaw=float(heading))
    pools = Pool("town", count=60), Pool("flow", flow=300.0, origin=PointId(11, 1, 1), destinations=((GOAL, 1.0),))
    made = compile_world(Scene("test", (wall,), roadmap, settings=Settings(step=0.1), pools=pools))
    snapshot = run(made, None, 300.0)[-1]
    assert closed(snapshot)
    assert check_ways(made, snapshot) == 1


def test_room_for_a_change_is_that_of_the_network():
    assert ROOM == REACH_ROOM
