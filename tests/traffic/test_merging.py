"""Cars that merge go through one behind the other; cars of a flow appear only where they need not brake hard."""

from __future__ import annotations

import numpy as np
import pytest

import cbsim
from cbsim.simulation.advance import advance
from cbsim.spec.objects import Triple
from cbsim.spec.road import PointId, RoadNetwork
from cbsim.spec.traffic import Driver, Pool, Spread
from cbsim.world.traffic.tables import (
    ABSENT,
    ACCELERATION,
    CAR_LENGTH,
    LANELET,
    MERGES,
    PHASE,
    STATION,
)
from cbsim.world.world import World
from tests.road.site import Site
from tests.traffic.sites import world
from tests.worlds import prop

HARDEST = 4.5  # [m/s²]


def ramp() -> RoadNetwork:
    """Road of 700 m, joined by a ramp after 340 m."""
    site = Site(metric=True)
    site.lane("1.1", [(0.0, 0.0), (0.0, 300.0), (0.0, 340.0), (0.0, 700.0)])
    site.lane("2.1", [(80.0, -20.0), (30.0, 200.0), (6.0, 290.0)], exits=[("2.1.3", "1.1.3")])
    return site.network()


def flow(name: str, segment: int, rate: float) -> Pool:
    ends = ((PointId(1, 1, 4), 1.0),)
    return Pool(name, flow=rate, origin=PointId(segment, 1, 1), destinations=ends, at_most=100)


def sides_in_use(made: World, columns) -> int:
    """How many sides of the merging conflict cars are on."""
    crossings, size, found = made.traffic.crossings, made.traffic.road.car_sizes[:, CAR_LENGTH], set()
    (row,) = np.flatnonzero(crossings.rules[:, MERGES])
    for e in np.flatnonzero(crossings.entry_rows == row).tolist():
        there = (columns.intent[:, PHASE] != ABSENT) & (columns.intent[:, LANELET] == crossings.entry_lanelets[e])
        begin, end = crossings.entry_spans[e]
        rears = columns.travel[:, STATION]
        if (there & (rears < end) & (rears + size > begin)).any():
            found.add(int(crossings.entry_sides[e]))
    return len(found)


def run_ramp(step: float, *pools: Pool) -> tuple[list[int], int]:
    """Cars of each pool that leave in eight minutes after two, and looks at which both sides are in use."""
    made = world(ramp(), *pools, step=step)
    snapshot, together = made.start, 0
    advance(made, snapshot, round(120.0 / step))
    before = snapshot.columns.pool_counts[:, 2].copy()
    for _ in range(480):
        _, _, contacts = advance(made, snapshot, round(1.0 / step))
        assert not len(contacts)
        assert snapshot.columns.travel[:, ACCELERATION].min() >= -HARDEST
        together += sides_in_use(made, snapshot.columns) == 2
    return [int(count) for count in snapshot.columns.pool_counts[:, 2] - before], together


@pytest.mark.parametrize("step", [0.05, 0.1, 1.0])
def test_cars_on_a_road_and_a_ramp_go_through_the_merging_area_one_behind_the_other(step):
    (road, joined), together = run_ramp(step, flow("road", 1, 600.0), flow("ramp", 2, 1200.0))
    (alone,), _ = run_ramp(step, flow("road", 1, 600.0))
    assert together > 40  # seconds in which somebody is in the area on either side
    assert road == pytest.approx(alone, abs=4)  # the ramp yields
    assert joined * 3600.0 / 480.0 > 550.0


@pytest.mark.parametrize("border", [0.0, 70.0])
def test_cars_of_a_flow_do_not_brake_hard_for_a_queue_that_stands_ahead(border):
    site = Site(metric=True)
    lane = [(0.0, 0.0), (0.0, 70.0), (0.0, 400.0)] if border else [(0.0, 0.0), (0.0, 400.0)]
    site.lane("1.1", lane, exits=[("1.1.2", "2.1.1")] if border else [])
    site.lane("2.1", [(40.0, 110.0), (40.0, 300.0)])
    driver = Driver("d", speed=Spread(25.0))
    last = PointId(1, 1, len(lane))
    pool = Pool(
        "p", flow=3600.0, origin=PointId(1, 1, 1), destinations=((last, 1.0),), drivers=(("d", 1.0),), at_most=20
    )
    wall = prop("Wall", Triple(0.0, 110.0, 0.0), size=Triple(2.0, 2.0, 2.0))
    made = world(site.network(), pool, drivers=(driver,), actors=(wall,), step=0.05)
    snapshot, hardest = made.start, 0.0
    for _ in range(1200):
        _, _, contacts = advance(made, snapshot, 1)
        assert not len(contacts)
        hardest = min(hardest, float(snapshot.columns.travel[:, ACCELERATION].min()))
    assert -HARDEST <= hardest < -0.5
    assert (snapshot.columns.intent[:, PHASE] != ABSENT).sum() > 8


@pytest.mark.parametrize("step", [0.05, 0.1])
def test_cars_of_a_flow_do_not_appear_in_a_conflict_that_somebody_is_in(step, tmp_path):
    """Cars that turn to the other carriageway cross the lane of a flow where it begins."""
    (tmp_path / "around.yaml").write_text(
        f"""network: merge
step: {step}
traffic:
  - {{name: around, flow: 400, from: 2.1.1, to: 1.2.9}}
  - {{name: left, flow: 1200, from: 1.1.1, to: 1.1.17}}
"""
    )
    made = cbsim.load(tmp_path / "around.yaml")
    snapshot = made.start
    for _ in range(600):
        assert not len(advance(made, snapshot, round(1.0 / step))[2])
    assert (snapshot.columns.pool_counts[:, 2] > 25).all()
