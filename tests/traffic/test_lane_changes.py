"""Changes of lanes: nobody touches or brakes hard, poses are continuous, and whoever has to change does."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.simulation.advance import advance
from cbsim.spec.road import PointId, RoadNetwork
from cbsim.spec.traffic import Driver, Pool, Spread
from cbsim.world.traffic.tables import ABSENT, ACCELERATION, LANELET, OFFSET, PHASE, RUN, SPEED, STATION, WAITING
from tests.road.site import Site
from tests.traffic.sites import run, world

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
