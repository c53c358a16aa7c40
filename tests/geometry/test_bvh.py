"""Trees over triangles: every ray and every box finds what a search through all triangles finds."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.geometry.forest import plant
from cbsim.geometry.kernels.bvh import DEPTH, overlaps_into, ray_tree
from cbsim.geometry.kernels.rays import ray_triangle


def soup(rng, count, spread):
    """Small triangles strewn about, some of them flat to a line or a point, some in one plane."""
    corners = rng.uniform(-1, 1, (count, 1, 3)) * spread + rng.normal(0, 0.1, (count, 3, 3))
    corners[rng.random(count) < 0.1, 2] = 0.0
    corners[rng.random(count) < 0.3, :, 2] = 0.25
    corners[rng.random(count) < 0.1] = corners[0]
    return corners


def unit(vector):
    return vector / np.linalg.norm(vector)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 300), spread=st.sampled_from([0.0, 0.01, 1.0, 50.0]))
def test_tree_gives_every_ray_the_hit_of_a_search_through_all(seed, count, spread):
    rng = np.random.default_rng(seed)
    tree, stack = plant([soup(rng, count, spread)]), np.empty(DEPTH, np.int64)
    for _ in range(40):
        origin, aim = rng.normal(0, 1 + spread, 3), tree.triangles[rng.integers(count)].mean(axis=0)
        d = unit(aim - origin) if rng.random() < 0.8 else np.eye(3)[rng.integers(3)]
        slow = min(ray_triangle(*origin, *d, *triangle) for triangle in tree.triangles)
        limit = rng.choice([np.inf, 1.0, slow])
        fast = ray_tree(*origin, *d, limit, *tree[:3], 0, stack)
        assert fast == slow if slow <= limit else fast >= slow


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 300))
def test_boxes_find_the_triangles_whose_bounds_they_meet(seed, count):
    rng = np.random.default_rng(seed)
    tree, stack, out = plant([soup(rng, count, 1.0)]), np.empty(DEPTH, np.int64), np.empty(count, np.int64)
    low = rng.uniform(-1.2, 1.0, 3)
    high = low + rng.uniform(0, 1.5, 3)
    bounds = tree.triangles.min(axis=1), tree.triangles.max(axis=1)
    slow = np.flatnonzero(((bounds[0] <= high) & (bounds[1] >= low)).all(axis=1))
    found = overlaps_into(low, high, *tree[:3], 0, stack, out)
    assert out[:found].tolist() == slow.tolist()
    assert overlaps_into(low, high, *tree[:3], 0, stack, out[:1]) == len(slow)


def test_a_tree_holds_every_triangle_once_within_its_boxes_and_is_shallow():
    ball = trimesh.creation.icosphere(subdivisions=4)
    corners = ball.vertices[ball.faces]
    tree = plant([corners])
    assert sorted(map(bytes, tree.triangles)) == sorted(map(bytes, np.ascontiguousarray(corners)))
    deepest, rows, todo = 0, [], [(0, 1)]
    while todo:
        node, depth = todo.pop()
        deepest = max(deepest, depth)
        link, count = tree.node_link[node]
        if count:
            rows += range(link, link + count)
            inside = tree.triangles[link : link + count].reshape(-1, 3)
            assert (inside >= tree.node_box[node, :3]).all()
            assert (inside <= tree.node_box[node, 3:]).all()
        else:
            todo += [(link, depth + 1), (node + 1, depth + 1)]
    assert sorted(rows) == list(range(len(corners)))
    assert deepest <= 20


def test_same_triangles_give_the_same_tree_and_several_trees_share_tables():
    rng = np.random.default_rng(2)
    one, two = soup(rng, 50, 1.0), soup(rng, 70, 1.0)
    alone, both = plant([two]), plant([one, np.zeros((0, 3, 3)), two])
    assert all(np.array_equal(a, b) for a, b in zip(plant([two]), alone, strict=True))
    shift = len(both.node_box) - len(alone.node_box)
    assert both.root.tolist() == [0, shift, shift]
    assert np.array_equal(both.node_box[shift:], alone.node_box)
    assert np.array_equal(both.triangles[50:], alone.triangles)
    origin, d, stack = np.array([0.1, -9.0, 0.2]), np.array([0.0, 1.0, 0.0]), np.empty(DEPTH, np.int64)
    assert ray_tree(*origin, *d, np.inf, *both[:3], shift, stack) == ray_tree(*origin, *d, np.inf, *alone[:3], 0, stack)


@pytest.mark.parametrize("tilt", [0.0, 0.3])
def test_a_ray_in_the_plane_of_a_triangle_passes_it(tilt):
    c, s = np.cos(tilt), np.sin(tilt)
    turn = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    a, b, c = (np.array([[-1.0, 5, 0], [1, 5, 0], [0, 7, 0]]) @ turn.T)[:]
    assert np.isinf(ray_triangle(0.0, 0.0, 0.0, *(turn @ [0.0, 1.0, 0.0]), a, b, c))
    assert ray_triangle(*(turn @ [0.0, 0.0, 6.0]), *unit(turn @ [0.0, 1.0, -1.0]), a, b, c) == pytest.approx(6 * 2**0.5)
