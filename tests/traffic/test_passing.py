"""Passing of what stands in the way: by the oncoming lane when it is free, by the neighbour, or not at all."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.simulation.advance import advance
from cbsim.spec.road import PointId, RoadNetwork
from cbsim.spec.traffic import Driver, Pool, Spread
from cbsim.world.traffic.tables import ABSENT, ACCELERATION, BODY, LANELET, PHASE, SIDEWAYS, STATION, WAITING
from tests.road.site import Site
from tests.traffic.sites import run, world
from tests.traffic.test_lane_changes import MIXED, SHARES, rings
from tests.worlds import prop

VAN = (2.0, 5.0, 1.5)


def two_way(length: float = 600.0, mark: str = "broken_white", spacing: float = 3.66) -> RoadNetwork:
    """One lane north, and one south beside it."""
    site, places = Site(metric=True), np.arange(0.0, length + 1.0, 50.0)
    site.lane("1.1", [(0.0, y) for y in places], left=mark)
    site.lane("1.2", [(-spacing, y) for y in places[::-1]], left=mark)
    return site.network()


def flows(north: float, south: float, until: float) -> list[Pool]:
    pools = [Pool("north", flow=north, origin=PointId(1, 1, 1), destinations=((PointId(1, 1, 13), 1.0),), until=until)]
    if south:
        target = ((PointId(1, 2, 13), 1.0),)
        pools.append(Pool("south", flow=south, origin=PointId(1, 2, 1), destinations=target, until=2.0 * until))
    return pools


@pytest.mark.parametrize(
    ("oncoming", "followers", "duration"), [(0.0, 300.0, 400.0), (300.0, 200.0, 600.0), (900.0, 60.0, 1800.0)]
)
@pytest.mark.parametrize("step", [0.05, 0.1, 1.0])
def test_a_parked_van_is_passed_by_every_follower_without_a_touch(oncoming, followers, duration, step):
    pools = flows(followers, oncoming, 0.6 * duration)
    made = world(two_way(), *pools, actors=(prop("van", (0.3, 250.0, 0.75), size=VAN),), step=step)
    snapshot, hardest = made.start, 0.0
    for _ in range(round(duration)):
        assert not len(advance(made, snapshot, round(1.0 / step))[2])
        hardest = min(hardest, float(snapshot.columns.travel[:, ACCELERATION].min()))
    counts = snapshot.columns.pool_counts[0]
    assert counts[1] == counts[2] == counts[0]
    assert counts[0] > 10
    assert hardest > -4.5


def test_who_passes_keeps_its_distances():
    """Criteria A.10 and A.11: out of the lane a length behind, back in it between one and four lengths ahead."""
    made = world(two_way(), *flows(200.0, 200.0, 120.0), actors=(prop("van", (0.0, 250.0, 0.75), size=VAN),), step=0.05)
    leaves, is_out, back, marking, half = {}, {}, {}, -1.83, 0.9
    for snapshot in run(made, None, 300.0, 0.05):
        travel, intent = snapshot.columns.travel, snapshot.columns.intent
        for car in np.flatnonzero((intent[:, LANELET] == 0) & (intent[:, PHASE] != ABSENT)).tolist():
            serial, rear = int(intent[car, -1]), float(travel[car, STATION])
            x = float(snapshot.columns.position[made.traffic.road.car_rows[car, BODY], 0])
            if x < marking + half:  # partly out of the lane
                leaves.setdefault(serial, rear + 4.5)
                back[serial] = rear
            if x < marking - half:
                is_out[serial] = rear
    assert len(leaves) > 4
    assert all(front < 247.5 - 4.5 for front in leaves.values())
    assert all(rear > 252.5 + 4.5 for rear in is_out.values())
    assert all(rear < 252.5 + 4.0 * 4.5 for rear in back.values())


@pytest.mark.parametrize("mark", ["double_yellow", "solid_yellow", ""])
def test_nobody_passes_over_a_solid_or_unknown_line(mark):
    made = world(two_way(mark=mark), *flows(200.0, 0.0, 60.0), actors=(prop("van", (0.0, 250.0, 0.75), size=VAN),))
    for snapshot in run(made, None, 120.0, 1.0):
        assert not np.any(snapshot.columns.travel[:, SIDEWAYS])


def test_a_van_before_a_stop_line_is_not_passed():
    site, places = Site(metric=True), np.arange(0.0, 301.0, 50.0)
    site.lane("1.1", [(0.0, y) for y in places], left="broken_white", exits=[("1.1.7", "2.1.1")], stops=["1.1.7"])
    site.lane("1.2", [(-3.66, y) for y in places[::-1]], left="broken_white")
    site.lane("2.1", [(-40.0, 312.0), (0.0, 312.0), (60.0, 312.0)])
    pool = Pool("north", flow=200.0, origin=PointId(1, 1, 1), destinations=((PointId(2, 1, 3), 1.0),), until=60.0)
    made = world(site.network(), pool, actors=(prop("van", (0.0, 270.0, 0.75), size=VAN),))
    for snapshot in run(made, None, 120.0, 1.0):
        assert not np.any(snapshot.columns.travel[:, SIDEWAYS])


@pytest.mark.parametrize("step", [0.05, 0.1, 1.0])
def test_a_van_on_a_road_with_two_lanes_is_passed_by_the_other(step):
    made = world(
        rings(2),
        Pool("town", count=16, drivers=SHARES),
        drivers=MIXED,
        actors=(prop("van", (127.3, 2.0, 0.75), size=VAN),),
        step=step,
    )
    end = made.start
    laps = np.zeros(16)
    for _ in range(200):
        before = end.columns.travel[:, STATION].copy()
        assert not len(advance(made, end, round(1.0 / step))[2])
        laps += end.columns.travel[:, STATION] < before - 400.0
    assert laps.min() >= 1
    assert end.columns.travel[:, WAITING].max() < 60.0


def test_a_run_from_any_moment_of_a_pass_has_the_same_bits():
    made = world(two_way(), *flows(200.0, 200.0, 120.0), actors=(prop("van", (0.3, 250.0, 0.75), size=VAN),), step=0.1)
    copies = [made.start, *run(made, None, 60.0, 0.1)]
    assert any(np.any(copy.columns.travel[:, SIDEWAYS] != 0.0) for copy in copies)
    for number in range(150, 600, 9):
        again = copies[number].copy()
        advance(made, again, 600 - number)
        assert again.hash == copies[-1].hash


def test_two_vans_one_behind_the_other_are_passed_together():
    vans = tuple(prop(f"van {k}", (0.2, 250.0 + 12.0 * k, 0.75), size=VAN) for k in range(2))
    made = world(two_way(), *flows(100.0, 100.0, 120.0), actors=vans)
    counts = run(made, None, 400.0, 10.0)[-1].columns.pool_counts[0]
    assert counts[0] == counts[2] > 1


def test_slow_drivers_are_no_reason_to_cross_to_the_oncoming_lane():
    drivers = (Driver("slow", desired_speed=Spread(0.2)), Driver("fast"))
    pool = Pool(
        "north",
        flow=300.0,
        origin=PointId(1, 1, 1),
        destinations=((PointId(1, 1, 13), 1.0),),
        drivers=(("slow", 0.3), ("fast", 0.7)),
        until=60.0,
    )
    made = world(two_way(), pool, drivers=drivers)
    for snapshot in run(made, None, 120.0, 1.0):
        assert not np.any(snapshot.columns.travel[:, SIDEWAYS])
