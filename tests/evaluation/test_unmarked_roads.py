"""Rule `lane` on roads without markings between the directions: 1 m from the middle of the road (A.4)."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.road.roadmap import RoadMap, build
from tests.evaluation.drives import LANE, Court, Drive, expect
from tests.road.site import Site, straight


@pytest.fixture
def court(tmp_path):
    return Court(tmp_path)


def road(own: str = "", other: str = "", width: float = LANE, gap: float = 0.0, back: bool = True) -> RoadMap:
    """A lane to the north at x = 0, and one on its left, with markings on their left sides."""
    made = Site(metric=True)
    made.lane("1.1", straight(200.0), width=width, left=own)
    made.lane("1.2", straight(200.0, x=-width - gap, back=back), width=width, left=other)
    return build(made.network())


def along(court, x, roadmap, step=0.05, **arguments):
    return court(expect("lane", **arguments), Drive(x, 50.0, step=step).go(30.0), roadmap=roadmap)


@pytest.mark.parametrize("step", [0.01, 0.05, 0.1])
@pytest.mark.parametrize(("more", "passed"), [(0.01, True), (-0.01, False)])
def test_centre_is_a_metre_from_the_middle_of_an_unmarked_road(court, step, more, passed):
    check = along(court, -0.5 * LANE + 1.0 + more, road(), step)
    assert check.passed is passed, check.message
    if not passed:
        told = "drove 0.99 m from the middle of an unmarked road, in lane 1.1, at 0.00 s"
        assert check.message.startswith(told)
        assert check.message.endswith("expected 1 m at least")


@pytest.mark.parametrize(
    ("own", "other"), [("double_yellow", ""), ("", "solid_yellow"), ("broken_white", "solid_white")]
)
def test_marked_road_has_its_edges_alone(court, own, other):
    assert along(court, -0.5 * LANE + 0.8, road(own, other)).passed


def test_road_of_one_direction_has_no_middle(court):
    assert along(court, -0.5 * LANE + 0.8, road(back=False)).passed


def test_gap_between_the_lanes_counts_by_half(court):
    for more, passed in ((0.01, True), (-0.01, False)):
        assert along(court, -0.5 * LANE - 0.2 + 1.0 + more, road(gap=0.4)).passed is passed


def test_middle_of_a_narrow_lane_passes(court):
    assert along(court, 0.0, road(width=1.9), tolerance=0.5).passed
    assert along(court, -0.14, road(width=1.9), tolerance=0.5).passed
    assert not along(court, -0.16, road(width=1.9), tolerance=0.5).passed


def test_rules_of_2006_do_not_ask_for_it_and_an_argument_wins(court):
    close = -0.5 * LANE + 0.7
    assert along(court, close, road(), profile="darpa2006").passed
    assert along(court, close, road(), from_middle=0.65).passed
    assert not along(court, close, road(), from_middle=0.75, profile="darpa2006").passed


def test_pass_of_a_parked_car_may_cross_the_middle(court):
    drive = Drive(0.0, 60.0).go(20.0).go(8.0, aside=0.8 * LANE).go(19.0).go(8.0, aside=-0.8 * LANE).go(5.0)
    still = np.tile(np.array([Drive(y=100.0).rows[0]]), (len(drive.rows), 1, 1))
    assert court(expect("lane"), drive, roadmap=road(), others=still).passed
    assert not court(expect("lane"), drive, roadmap=road()).passed
