"""Turns at dead ends: their shape where the way back begins before or behind the end of the lane, and who uses them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import KDTree

from cbsim.road.lanelets import build_lanelets
from cbsim.road.lanelets.reach import find_turns
from cbsim.road.roadmap import build
from cbsim.spec.traffic import Pool
from cbsim.world.traffic.tables import ACCELERATION
from tests.road.site import Site
from tests.traffic.sites import run, world

CAR = 4.5  # [m] length
PASS = 2.0  # [m] between the centrelines of two cars that pass each other


def dead_end(ahead: float, aside: float) -> Site:
    """Road due north whose way back begins so far ahead of the end of the lane, and so far to the left of it."""
    site = Site(metric=True).lane("1.1", [(0.0, 0.0), (0.0, 60.0), (0.0, 120.0)])
    return site.lane("1.2", [(-aside, 120.0 + ahead), (-aside, 60.0), (-aside, 0.0)], exits=[("1.2.3", "1.1.1")])


@pytest.mark.parametrize("aside", [3.5, 4.6, 8.0])
@pytest.mark.parametrize("ahead", [-20.0, -6.0, 0.0, 1.9, 5.0, 12.0, 20.0])
def test_turns_come_nowhere_so_close_to_themselves_that_cars_in_them_touch(ahead, aside):
    (turn,) = find_turns(build_lanelets(build(dead_end(ahead, aside).network())))
    points, steps = turn.points, np.sqrt(np.sum(np.diff(turn.points, axis=0) ** 2, axis=1))
    assert points[0] == pytest.approx((0.0, 120.0), abs=1e-6)
    assert points[-1] == pytest.approx((-aside, 120.0 + ahead), abs=1e-6)
    assert steps.min() > 0.0
    assert steps.max() < 1.5
    along = np.concatenate([[0.0], np.cumsum(steps)])
    near = KDTree(points).query_pairs(PASS, output_type="ndarray")
    assert np.abs(along[near[:, 0]] - along[near[:, 1]]).max() < 2.0 * CAR


def test_nobody_turns_to_a_lane_that_begins_straight_ahead_and_comes_back_over_the_same_ground():
    assert not find_turns(build_lanelets(build(dead_end(15.0, 0.5).network())))
    assert find_turns(build_lanelets(build(dead_end(15.0, 2.5).network())))


@pytest.mark.parametrize(("ahead", "aside"), [(20.0, 3.5), (0.0, 3.5), (-15.0, 3.5)])
def test_cars_that_turn_one_after_another_do_not_touch(ahead, aside):
    made = world(dead_end(ahead, aside).network(), Pool("p", count=20))
    hardest = min(each.columns.travel[:, ACCELERATION].min() for each in run(made, None, 300.0, 0.1))
    assert hardest > -4.5
