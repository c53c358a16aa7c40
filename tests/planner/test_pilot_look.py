"""The pilot's look at a scan, against plain geometry."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cbsim.geometry.pose import Pose, heading_quaternion, mounting_quaternion, multiply
from cbsim.planner.pilot.kernels.ground import distances_into, mark_into
from cbsim.planner.pilot.kernels.look import HALF_ROW, first_return


def straight_north(count=60):
    """Rows of a path to the north, one each quarter of a metre."""
    table = np.zeros((count, 5))
    table[:, 1] = table[:, 4] = 0.25 * np.arange(count)
    table[:, 3] = 1.0
    return table


@pytest.mark.parametrize("seed", range(6))
def test_the_nearest_return_on_the_way_at_the_height_of_the_body_is_found(seed):
    rng = np.random.default_rng(seed)
    layers, beams, places = 3, 200, straight_north()
    pose = Pose(np.array([0.3, -1.0, 1.2]), multiply(heading_quaternion(0.2), mounting_quaternion(-0.05, 0.02, 0.1)))
    directions = rng.normal(size=(layers, beams, 3)) * (0.6, 1.0, 0.1)
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    ranges, returned = rng.uniform(0.0, 20.0, (layers, beams)), rng.random((layers, beams)) < 0.9
    ranges[~returned] = np.where(rng.random((~returned).sum()) < 0.5, np.inf, np.nan)
    half, low, high, far, own = 1.1, 0.3, 2.0, 16.0, 1.5
    found = first_return(
        ranges, returned, directions, pose.position, pose.orientation, places, (0, 60, 4), (low, high, half, far, own)
    )
    points = pose.apply(directions * np.where(returned, ranges, np.nan)[..., None]).reshape(-1, 3)
    x, y, z = points.T
    hit = (np.abs(x) <= half) & (z > low) & (z < high) & (y >= own) & (y <= places[56, 1] + HALF_ROW)
    hit &= ranges.reshape(-1) < far
    assert hit.any()
    assert found == pytest.approx(y[hit].min(), abs=1e-12)


def test_a_raster_knows_its_distance_from_an_area_with_a_hole():
    outer = [(0.0, 0.0), (10.0, 0.0), (10.0, 8.0), (0.0, 8.0)]
    inner = [(4.0, 3.0), (6.0, 3.0), (6.0, 5.0), (4.0, 5.0)]
    sides = [(*a, *b) for ring in (outer, inner) for a, b in zip(ring, ring[1:] + ring[:1], strict=True)]
    out = np.empty((57, 49))
    distances_into(-2.0, -2.0, 0.25, np.array(sides), out)
    x, y = np.meshgrid(-2.0 + 0.25 * np.arange(57), -2.0 + 0.25 * np.arange(49), indexing="ij")
    beyond = np.hypot(np.maximum(np.abs(x - 5.0) - 5.0, 0.0), np.maximum(np.abs(y - 4.0) - 4.0, 0.0))
    within = np.maximum(np.minimum(1.0 - np.abs(x - 5.0), 1.0 - np.abs(y - 4.0)), 0.0)
    assert out == pytest.approx(beyond + within, abs=1e-12)


def test_a_spot_is_marked_within_its_flat_ends():
    out = np.zeros((40, 40), np.int64)
    mark_into(-5.0, -5.0, 0.25, -1.0, -2.0, 2.0, 2.0, 1.0, 7, out)
    x, y = np.meshgrid(-5.0 + 0.25 * np.arange(40), -5.0 + 0.25 * np.arange(40), indexing="ij")
    along, across = 0.6 * (x + 1.0) + 0.8 * (y + 2.0), 0.8 * (x + 1.0) - 0.6 * (y + 2.0)
    sure = np.minimum(np.minimum(np.abs(along), np.abs(along - 5.0)), np.abs(np.abs(across) - 1.0)) > 1e-9
    inside = (along >= 0.0) & (along <= 5.0) & (np.abs(across) <= 1.0)
    assert np.array_equal(out[sure] == 7, inside[sure])
    assert math.isclose(np.count_nonzero(out) * 0.25**2, 10.0, rel_tol=0.1)
