"""Outlines of slices of bodies and touches of polygons in the plane, with shapely as the judge."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.geometry.kernels.footprints import OUTLINE, half_height, outline_into, slab_into, wrap
from cbsim.geometry.kernels.polygons import TOUCH_WIDTH, polygon_contact
from cbsim.geometry.pose import heading_quaternion, rotate
from cbsim.spec.objects import ShapeKind
from tests.collision.bodies import CAPSULE, SOLIDS, support, turn

ROOM = np.zeros((OUTLINE, 2))


def shape_of(corners, radius):
    made = {1: shapely.Point, 2: shapely.LineString}.get(len(corners), shapely.Polygon)
    base = made(corners[0]) if len(corners) == 1 else made(corners)
    return base.buffer(radius, quad_segs=256) if radius > 0.0 else base


def holds(kind, size, points):
    """Which points (n, 3) lie in a solid, in its own frame."""
    x, y, z = points.T
    half = 0.5 * size
    if kind == ShapeKind.BOX:
        return (np.abs(points) <= half).all(axis=1)
    if kind == ShapeKind.SPHERE:
        return x**2 + y**2 + z**2 <= half[0] ** 2
    if kind == ShapeKind.CYLINDER:
        return (x**2 + y**2 <= half[0] ** 2) & (np.abs(z) <= half[2])
    if kind == ShapeKind.WHEEL:
        return (y**2 + z**2 <= half[1] ** 2) & (np.abs(x) <= half[0])
    return x**2 + y**2 + np.maximum(np.abs(z) - (half[2] - half[0]), 0.0) ** 2 <= half[0] ** 2


@pytest.mark.parametrize("upright", [True, False])
@pytest.mark.parametrize("kind", SOLIDS)
def test_outline_holds_what_lies_between_two_heights_and_no_more(kind, upright):
    rng = np.random.default_rng(kind)
    for _ in range(12):
        size, q = rng.uniform(0.5, 2.0, 3), turn(rng)
        if upright:
            q = heading_quaternion(rng.uniform(0, 6))
        low = rng.uniform(-1.2, 1.0)
        high = low + rng.uniform(0.05, 1.0)
        n, radius = outline_into(kind, size, 0.0, 0.0, 0.0, q, low, high, ROOM)
        if kind == CAPSULE:
            size[2] = max(size[2], size[0])
        cloud = rng.uniform(-0.5, 0.5, (15000, 3)) * size[[0, 1 if kind == ShapeKind.BOX else 0, 2]]
        if kind == ShapeKind.SPHERE:
            cloud = rng.uniform(-0.5, 0.5, (15000, 3)) * size[0]
        if kind == ShapeKind.WHEEL:
            cloud = rng.uniform(-0.5, 0.5, (15000, 3)) * size[[0, 1, 1]]
        points = rotate(q, cloud[holds(kind, size, cloud)])
        points = points[(points[:, 2] > low) & (points[:, 2] < high)][:, :2]
        if n == 0:
            assert not len(points)
            continue
        outline = shape_of(ROOM[:n].copy(), radius)
        slack = 1e-4 if upright else 0.006  # arcs of the judge; sides of leaning cylinders
        if len(points):
            assert shapely.distance(outline, shapely.points(points)).max() < slack
        if len(points) > 1500 and not (kind == CAPSULE and not upright):
            hull = shapely.MultiPoint(points).convex_hull
            assert outline.area <= hull.area * 1.15 + 0.05


@given(st.integers(0, 10**6))
@settings(max_examples=200, deadline=None)
def test_touch_of_polygons_is_their_distance_and_the_way_out(seed):
    rng = np.random.default_rng(seed)

    def polygon(n):
        points = np.zeros((OUTLINE, 2))
        points[:n] = rng.normal(size=(n, 2))
        points[:n] += rng.normal(size=2)
        return points, wrap(points, n)

    (one, n), (two, m) = polygon(rng.integers(1, 9)), polygon(rng.integers(1, 9))
    r_one, r_two = rng.choice([0.0, 0.3], 2)
    out = np.zeros(TOUCH_WIDTH)
    polygon_contact(one, n, r_one, two, m, r_two, 0.0, out)
    a, b = shape_of(one[:n], 0.0), shape_of(two[:m], 0.0)
    assert math.hypot(out[1], out[2]) == pytest.approx(1.0)
    if a.distance(b) > 1e-9:
        assert out[0] == pytest.approx(a.distance(b) - r_one - r_two, abs=1e-9)
    else:
        assert out[0] <= -r_one - r_two + 1e-9
        depth = -out[0] - r_one - r_two
        moved = shapely.affinity.translate(b, *(depth + 1e-7) * out[1:3])
        assert a.intersection(moved).area < 1e-5
        turns = np.linspace(0, 2 * np.pi, 181)
        ways = np.column_stack([np.cos(turns), np.sin(turns)])
        assert depth <= ((one[:n] @ ways.T).max(axis=0) - (two[:m] @ ways.T).min(axis=0)).min() + 1e-9
    assert 1 <= out[3] <= 2
    assert min(out[6], out[9] if out[3] > 1 else math.inf) == pytest.approx(out[0], abs=1e-9)


def test_hull_is_shapelys():
    rng = np.random.default_rng(3)
    for n in (1, 2, 3, 5, 40, 192):
        points = np.zeros((OUTLINE, 2))
        points[:n] = rng.normal(size=(n, 2)).round(1)
        hull = shapely.MultiPoint(points[:n].copy()).convex_hull
        m = wrap(points, n)
        assert shape_of(points[:m], 0.0).symmetric_difference(hull).area < 1e-12
        if m > 2:
            assert shapely.Polygon(points[:m]).exterior.is_ccw


def test_slab_cuts_a_triangle_at_both_heights():
    a, b, c = np.array([0.0, 0, 0]), np.array([4.0, 0, 0]), np.array([0.0, 2.0, 4.0])
    n = slab_into(a, b, c, 1.0, 2.0, ROOM)
    assert shapely.Polygon(ROOM[:n]).area == pytest.approx(0.5 * (3.0 + 2.0) * 0.5)
    assert slab_into(a, b, c, 5.0, 6.0, ROOM) == 0


@pytest.mark.parametrize("kind", SOLIDS)
def test_half_height_is_the_reach_upwards(kind):
    rng = np.random.default_rng(9)
    for _ in range(20):
        size, q = rng.uniform(0.5, 2.0, 3), turn(rng)
        if kind == CAPSULE:
            size[2] += size[0]
        reach = support(kind, size, np.zeros(3), q, np.array([[0.0, 0.0, 1.0]]))[0]
        assert half_height(kind, size, q) == pytest.approx(reach, abs=1e-12)
