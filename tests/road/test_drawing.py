"""Networks as they are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.road.drawing import LaneShape, Road


def lane(width):
    """A straight lane to the north."""
    edge = np.array([(0.0, 0.0), (0.0, 10.0)])
    return LaneShape("1.1", edge, edge + np.array([width, 0.0]), ("solid_white", "solid_white"))


@pytest.mark.parametrize(
    ("widths", "paint"), [([], 1.0), ([3.6, 3.6], 1.0), ([2.4], 1.0), ([0.24], 0.1), ([0.3, 0.6, 3.6], 0.25)]
)
def test_lines_are_as_much_narrower_as_lanes_are_than_those_of_streets(widths, paint):
    assert Road("r", [lane(width) for width in widths]).paint == pytest.approx(paint)
