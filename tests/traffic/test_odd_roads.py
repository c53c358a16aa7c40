"""Reactive traffic on roads with oddities: stop lines without a conflict, short connectors, lanes that cross freely."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.road.lanelets import build_lanelets
from cbsim.road.roadmap import build
from cbsim.spec.road import PointId, RoadNetwork
from cbsim.spec.traffic import Pool
from cbsim.world.traffic.tables import LANELET, PHASE, SPEED, STATION, STOPPED, WAITING
from tests.road.site import Site
from tests.traffic.sites import cross, put_on, run, world


def flow(name: str, start: str, end: str, rate: float) -> Pool:
    points = [PointId(*map(int, text.split("."))) for text in (start, end)]
    return Pool(name, flow=rate, origin=points[0], destinations=((points[1], 1.0),))


def test_stop_line_in_mid_lane_is_stopped_at_and_nobody_is_waited_for():
    site = Site(metric=True).lane("1.1", [(0.0, 0.0), (0.0, 150.0), (0.0, 400.0)], stops=["1.1.2"])
    made = world(site.network(), Pool("p", count=1), step=0.1)
    snapshot = made.start
    put_on(made, snapshot, 0, 0, 60.0)
    snapshots = run(made, snapshot, 30.0, 0.1)
    phases = np.array([each.columns.intent[0, PHASE] for each in snapshots])
    stopped = np.flatnonzero(phases == STOPPED)
    assert 1 <= len(stopped) <= 3
    front = snapshots[stopped[0]].columns.travel[0, STATION] + 4.5
    assert 149.0 < front < 150.1
    assert snapshots[-1].columns.travel[0, SPEED] > 10.0


@pytest.mark.parametrize("near", [3.0, 4.5])
def test_cars_longer_than_connectors_cross_without_a_touch(near):
    site, aside = Site(metric=True), 1.6
    arms = {1: (0.0, 1.0), 2: (1.0, 0.0), 3: (0.0, -1.0), 4: (-1.0, 0.0)}
    for arm, (dx, dy) in arms.items():
        ways_in = [(dx * along - dy * aside, dy * along + dx * aside) for along in (150.0, 60.0, near)]
        ways_out = [(dx * along + dy * aside, dy * along - dx * aside) for along in (near, 60.0, 150.0)]
        exits = [(f"{arm}.1.3", f"{other}.2.1") for other in arms if other != arm]
        site.lane(f"{arm}.1", ways_in, exits=exits, stops=[f"{arm}.1.3"])
        site.lane(f"{arm}.2", ways_out)
    pools = [flow(f"{a}{b}", f"{a}.1.1", f"{b}.2.3", 200.0) for a in arms for b in arms if a != b]
    made = world(site.network(), *pools, step=0.1)
    counts = run(made, None, 300.0)[-1].columns.pool_counts
    assert counts[:, 2].sum() > 60


def test_lanes_that_cross_without_an_exit_are_a_conflict_like_any_other():
    site = Site(metric=True).lane("1.1", [(0.0, -150.0), (0.0, 0.0), (0.0, 150.0)])
    site.lane("2.1", [(-150.0, 10.0), (0.0, 10.0), (150.0, 10.0)])
    made = world(site.network(), flow("a", "1.1.1", "1.1.3", 400.0), flow("b", "2.1.1", "2.1.3", 400.0), step=0.1)
    final = run(made, None, 600.0)[-1].columns
    assert (final.pool_counts[:, 2] > 40).all()


def test_conflict_that_reaches_over_the_end_of_a_lanelet_by_nothing_is_claimed_with_the_rest():
    """In a bend the strips of a lane's pieces overlap a little: who crosses just before a fork meets both of them."""
    site, joint, aside = Site(metric=True), np.radians(40.0), np.radians(8.0)
    bend = [(8.0 * np.cos(angle), 8.0 * np.sin(angle)) for angle in np.radians([0.0, 20.0, 40.0, 60.0, 80.0])]
    out, along = np.array([np.cos(joint), np.sin(joint)]), np.array([-np.sin(joint), np.cos(joint)])
    across = np.array([np.cos(joint + aside), np.sin(joint + aside)])
    ways = [(8.0, -200.0), (8.0, -100.0), *bend, (bend[-1][0] - 60.0, bend[-1][1] + 10.6)]
    site.lane("1.1", ways, exits=[("1.1.5", "3.1.1")])
    middle = 8.0 * out - 1.575 * along
    site.lane("2.1", [tuple(middle + far * across) for far in (120.0, 60.0, 0.0, -60.0, -120.0)])
    site.lane("3.1", [tuple(18.0 * out + 15.0 * along), tuple(68.0 * out + 15.0 * along)])
    pools = flow("a", "1.1.1", "1.1.8", 300.0), flow("b", "2.1.1", "2.1.5", 200.0)
    made = world(site.network(), *pools, step=0.1)
    crossings = made.traffic.crossings
    empty = crossings.entry_spans[:, 1] == 0.0
    assert empty.any()
    final = run(made, None, 300.0)[-1].columns
    assert (final.pool_counts[:, 2] > 8).all()
    assert final.travel[:, WAITING].max() < 60.0


def test_lanes_in_the_same_direction_that_come_too_close_are_driven_one_after_the_other():
    """As on roads whose lanes have too few waypoints in a bend, each of them at other places."""
    site = Site(metric=True).lane("1.1", [(0.0, 100.0 * n) for n in range(5)])
    site.lane("1.2", [(4.0, 0.0), (4.0, 100.0), (0.5, 200.0), (4.0, 300.0), (4.0, 400.0)])
    made = world(site.network(), flow("a", "1.1.1", "1.1.5", 400.0), flow("b", "1.2.1", "1.2.5", 400.0), step=0.1)
    final = run(made, None, 600.0)[-1].columns
    assert (final.pool_counts[:, 2] > 40).all()


@pytest.mark.parametrize(("aside", "far"), [(0.5, 60.0), (0.5, 90.0), (2.0, 90.0), (6.0, 60.0)])
def test_who_waits_where_others_turn_back_on_the_spot_is_not_touched_by_their_bumpers(aside, far):
    """An exit to a point right behind it is driven backwards: where the next lane begins, ways meet head on."""
    site = Site(metric=True).lane("1.1", [(0.0, 0.0), (-30.0, 0.0), (-150.0, -60.0)])
    behind = [(60.0, aside + 40.0), (20.0 - far, aside), (-far, aside)]
    site.lane("2.1", behind, exits=[("2.1.3", "1.1.1")])
    site.lane("3.1", [(200.0, 0.0), (100.0, 0.0), (30.0, 0.0)], exits=[("3.1.3", "1.1.1")])
    pools = flow("a", "2.1.1", "1.1.3", 300.0), flow("b", "3.1.1", "1.1.3", 300.0)
    made = world(site.network(), *pools, step=0.1)
    final = run(made, None, 300.0)[-1].columns
    assert (final.pool_counts[:, 2] > 5).all()


def test_four_ways_that_meet_without_any_line_are_decided_by_id_and_nobody_stands_for_good():
    pools = [flow(f"{arm}", f"{arm}.1.1", f"{(arm + 1) % 4 + 1}.2.2", 300.0) for arm in (1, 2, 3, 4)]
    made = world(cross(()), *pools, step=0.1)
    final = run(made, None, 900.0)[-1].columns
    assert (final.pool_counts[:, 2] > 50).all()
    assert final.intent[:, LANELET].max() < len(made.traffic.road.lanelets)


def offset_junctions(apart: float, near: float, count: int) -> RoadNetwork:
    """A road with side roads on either side in turn, so far apart, with stop lines; whoever leaves turns round."""
    site, aside, far = Site(metric=True), 1.83, 150.0
    places = [apart * k for k in range(count)]
    north, south, exits = [(aside, -far)], [(-aside, far + places[-1])], {"1.1": list[tuple[str, str]](), "1.2": []}
    for k, y in enumerate(places):
        name, out, back = f"{k + 2}", 1.0 if k % 2 == 0 else -1.0, 2 * (count - k)
        leaves = [(out * (aside + near), y - out * aside), (out * far, y - out * aside)]
        comes = [(out * far, y + out * aside), (out * (aside + near), y + out * aside)]
        site.lane(f"{name}.1", leaves, exits=[(f"{name}.1.2", f"{name}.2.1")])
        ways = [(f"{name}.2.2", f"1.1.{2 * k + 3}"), (f"{name}.2.2", f"1.2.{back + 1}")]
        site.lane(f"{name}.2", comes, exits=ways, stops=[f"{name}.2.2"])
        north += [(aside, y - near), (aside, y + near)]
        exits["1.1"].append((f"1.1.{2 * k + 2}", f"{name}.1.1"))
        exits["1.2"].append((f"1.2.{back}", f"{name}.1.1"))
    for y in reversed(places):
        south += [(-aside, y + near), (-aside, y - near)]
    north.append((aside, far + places[-1]))
    south.append((-aside, -far))
    last = 2 * count + 2
    site.lane("1.1", north, exits=[*exits["1.1"], (f"1.1.{last}", "1.2.1")])
    site.lane("1.2", south, exits=[*exits["1.2"], (f"1.2.{last}", "1.1.1")])
    return site.network()


@pytest.mark.parametrize(("apart", "near", "count"), [(12.0, 4.0, 2), (12.0, 4.0, 4), (15.0, 6.0, 2), (15.0, 6.0, 4)])
@pytest.mark.parametrize("seed", [0, 4, 6, 9])
def test_who_waits_to_turn_left_does_not_stand_in_the_way_of_others_who_turn_left(apart, near, count, seed):
    """Side roads a few metres apart: there is room for one car between two of them, or for none.

    Who goes first at one of them may wait for somebody who stands in the next one, behind a car that has to let it go.
    """
    made = world(offset_junctions(apart, near, count), Pool("p", count=40), step=0.1, seed=seed)
    longest = max(copy.columns.travel[:, WAITING].max() for copy in run(made, None, 300.0, 10.0))
    assert longest < 90.0


@pytest.mark.parametrize("seed", [0, 1])
def test_where_neither_road_is_the_major_one_nobody_waits_for_the_end_of_a_stream(seed):
    """Two dense flows meet two thin ones without any line: whoever has stood for a minute is let in."""
    dense, thin = [("1.1.1", "3.2.2"), ("3.1.1", "1.2.2")], [("2.1.1", "4.2.2"), ("4.1.1", "2.2.2")]
    pools = [flow(name, *way, 900.0 if way in dense else 120.0) for name, way in zip("abcd", dense + thin, strict=True)]
    made = world(cross(()), *pools, step=0.1, seed=seed)
    longest = max(copy.columns.travel[:, WAITING].max() for copy in run(made, None, 900.0, 10.0))
    assert longest < 90.0


@pytest.mark.parametrize("near", [10.0, 40.0, 80.0])
def test_where_ways_merge_a_dense_flow_from_the_right_lets_others_in(near):
    """Three ways lead to one, over so many metres; priority to the right alone let nobody in from the other two."""
    site = Site(metric=True).lane("3.1", [(0.0, near), (0.0, 300.0)])
    for name, begin, end in (
        ("1.1", (0.0, -300.0), 0.0),
        ("2.1", (300.0, -60.0), 10.0),
        ("4.1", (-300.0, -60.0), -10.0),
    ):
        last = 2.0 - near if end else -near
        site.lane(name, [begin, (end, last)], exits=[(f"{name}.2", "3.1.1")])
    pools = [flow(f"p{n}", f"{n}.1.1", "3.1.2", 1800.0 if n == 2 else 120.0) for n in (1, 2, 4)]
    made = world(site.network(), *pools, step=0.1)
    longest = max(copy.columns.travel[:, WAITING].max() for copy in run(made, None, 900.0, 10.0))
    assert longest < 120.0


def loops(first: float, second: float) -> RoadNetwork:
    """Two loops of one lane each, of so many metres round; a way leads from the first to the second, none back."""
    site = Site(metric=True)
    for name, size, x, exits in (("1.1", first, 0.0, [("1.1.3", "2.1.1")]), ("2.1", second, 300.0, [])):
        side = 0.25 * size
        corners = [(x, 0.0), (x, side), (x + side, side), (x + side, 0.0)]
        site.lane(name, corners, exits=[(f"{name}.4", f"{name}.1"), *exits])
    return site.network()


@pytest.mark.parametrize(("first", "second", "leave"), [(400.0, 100.0, False), (100.0, 400.0, True)])
def test_cars_that_wander_do_not_end_up_in_the_shorter_of_two_loops(first, second, leave):
    made = world(loops(first, second), Pool("p", count=8), step=0.1)
    names = build_lanelets(build(loops(first, second))).names
    is_second = np.array([name.startswith("2.1.") for name in names])
    begin, end = made.start.columns.intent[:, LANELET], run(made, None, 300.0)[-1].columns.intent[:, LANELET]
    assert 0 < is_second[begin].sum() < 8
    assert is_second[end].sum() == (8 if leave else is_second[begin].sum())
