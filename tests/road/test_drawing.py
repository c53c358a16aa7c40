"""Networks as they are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.road.drawing import LaneShape, Road, road_of
from cbsim.road.roadmap import build
from tests.road.site import Site


def lane(width):
    """A straight lane to the north."""
    edge = np.array([(0.0, 0.0), (0.0, 10.0)])
    return LaneShape("1.1", edge, edge + np.array([width, 0.0]), ("solid_white", "solid_white"))


@pytest.mark.parametrize(
    ("widths", "paint"), [([], 1.0), ([3.6, 3.6], 1.0), ([2.4], 1.0), ([0.24], 0.1), ([0.3, 0.6, 3.6], 0.25)]
)
def test_lines_are_as_much_narrower_as_lanes_are_than_those_of_streets(widths, paint):
    assert Road("r", [lane(width) for width in widths]).paint == pytest.approx(paint)


@pytest.mark.parametrize(("apart", "paved"), [(3.66, 0), (4.5, 1), (5.0, 1), (6.0, 0)])
def test_no_grass_is_drawn_between_the_lines_of_neighbouring_lanes(apart, paved):
    """Waypoints are surveyed to a metre or so: grass showed between the two yellow lines in the middle of a road."""
    site = Site(metric=True).lane("1.1", [(0.0, 100.0), (0.0, 0.0)], width=3.66, left="double_yellow")
    site.lane("1.2", [(apart, 0.0), (apart, 100.0)], width=3.66, left="double_yellow")
    ways = road_of(build(site.network())).ways
    assert len(ways) == paved
    for area in ways:
        assert area[:, 0].min() == pytest.approx(1.83, abs=0.01)
        assert area[:, 0].max() == pytest.approx(apart - 1.83, abs=0.01)
        assert np.ptp(area[:, 1]) == pytest.approx(100.0, abs=0.1)
