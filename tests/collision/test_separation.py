"""Distances and depths of all pairs of shapes: against support functions, shapely and closed forms."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.collision import separation
from cbsim.collision.kernels.pairs import make_pair_workspace, pair_distance, pair_time_of_impact
from cbsim.errors import UsageError
from cbsim.geometry.forest import plant
from cbsim.geometry.pose import heading_quaternion, rotate
from cbsim.spec.objects import ShapeKind, Triple
from cbsim.world.tables import Shapes
from tests.collision.bodies import CAPSULE, SOLIDS, support, turn
from tests.worlds import mesh, prop, world

DIRECTIONS = np.random.default_rng(5).normal(size=(2000, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1)[:, None]
WORKSPACE = make_pair_workspace(64)


def shapes_of(*bodies):
    """Shapes of (kind, size) or (kind, triangles)."""
    ends = np.cumsum([len(b[1]) if b[0] is ShapeKind.MESH else 0 for b in bodies])
    starts = np.concatenate([[0], ends[:-1]])
    made = world(*(prop(f"p{k}", Triple(0, 0, 0)) for k in range(len(bodies)))).shapes
    sizes = np.array([np.full(3, 2e3) if b[0] is ShapeKind.MESH else np.asarray(b[1], float) for b in bodies])
    forest = plant([np.asarray(b[1], float) for b in bodies if b[0] is ShapeKind.MESH])
    roots = iter(forest.root)
    return made._replace(
        kind=np.array([int(b[0]) for b in bodies]),
        size=sizes,
        radius=np.linalg.norm(sizes, axis=1) / 2,
        triangles=forest.triangles,
        first=starts.astype(np.int64),
        last=ends.astype(np.int64),
        node_box=forest.node_box,
        node_link=forest.node_link,
        root=np.array([next(roots) if b[0] is ShapeKind.MESH else -1 for b in bodies]),
    )


def measure(shapes: Shapes, pa, qa, pb, qb):
    out = np.zeros(10)
    pair_distance(shapes, 0, np.asarray(pa, float), qa, 1, np.asarray(pb, float), qb, math.inf, WORKSPACE, out)
    return out


@pytest.mark.parametrize(("one", "two"), list(combinations_with_replacement(SOLIDS, 2)))
def test_distance_is_the_widest_gap_of_all_directions(one, two):
    rng = np.random.default_rng(100 * one + two)
    for _ in range(40):
        sizes = rng.uniform(0.4, 2.0, (2, 3))
        pa, pb = rng.normal(size=3), rng.normal(size=3) * rng.choice([0.3, 1.0, 2.0])
        qa, qb = turn(rng), turn(rng)
        out = measure(shapes_of((one, sizes[0]), (two, sizes[1])), pa, qa, pb, qb)
        n = out[1:4]
        assert abs(np.linalg.norm(n) - 1.0) < 1e-12

        def gap(d, sizes=sizes, pa=pa, qa=qa, pb=pb, qb=qb):
            return -support(two, sizes[1], pb, qb, -d) - support(one, sizes[0], pa, qa, d)

        near = n + 1e-3 * DIRECTIONS[:500]
        tries = np.concatenate([DIRECTIONS, near / np.linalg.norm(near, axis=1)[:, None]])
        assert gap(tries).max() <= out[0] + 1e-9  # no direction parts them more, or needs less to part them
        assert gap(n[None])[0] == pytest.approx(out[0], abs=5e-6)  # and this one does; exact but for rims
        assert np.abs(out[7:] - out[4:7] - out[0] * n).max() < 5e-6
        for place, kind, size, p, q in ((out[4:7], one, sizes[0], pa, qa), (out[7:], two, sizes[1], pb, qb)):
            assert (DIRECTIONS @ place <= support(kind, size, p, q, DIRECTIONS) + 1e-6).all()  # lies in the body


@given(
    st.floats(-3, 3), st.floats(-3, 3), st.floats(-2.5, 2.5), st.floats(-7, 7), st.floats(-7, 7),
    st.lists(st.floats(0.2, 3.0), min_size=6, max_size=6),
)  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_upright_boxes_agree_with_shapely(x, y, z, first, second, sizes):
    a, b = np.array(sizes[:3]), np.array(sizes[3:])
    out = measure(
        shapes_of((ShapeKind.BOX, a), (ShapeKind.BOX, b)),
        np.zeros(3), heading_quaternion(first), (x, y, z), heading_quaternion(second),
    )  # fmt: skip

    def rectangle(size, angle, dx, dy):
        box = shapely.box(-size[0] / 2, -size[1] / 2, size[0] / 2, size[1] / 2)
        return shapely.affinity.translate(shapely.affinity.rotate(box, angle, (0, 0), use_radians=True), dx, dy)

    one, two = rectangle(a, first, 0, 0), rectangle(b, second, x, y)
    planar, vertical = one.distance(two), abs(z) - 0.5 * (a[2] + b[2])
    if planar > 0.0 or vertical > 0.0:
        assert out[0] == pytest.approx(math.hypot(planar, max(vertical, 0.0)), abs=1e-9)
    else:
        assert out[0] <= 1e-9
        way = (-out[0] + 1e-9) * out[1:4]
        moved = shapely.affinity.translate(two, way[0], way[1])
        assert one.intersection(moved).area < 1e-7 or abs(z + way[2]) >= 0.5 * (a[2] + b[2])


def test_spheres_and_capsules_are_exact_even_when_deep():
    upright = heading_quaternion(0.0)
    sphere, capsule = (ShapeKind.SPHERE, (2.0, 2.0, 2.0)), (CAPSULE, (1.0, 1.0, 3.0))
    for apart in (5.0, 2.0, 0.5, 1e-6):
        assert measure(shapes_of(sphere, sphere), (0, 0, 0), upright, (apart, 0, 0), upright)[0] == apart - 2.0
    out = measure(shapes_of(sphere, sphere), (0, 0, 0), upright, (0, 0, 0), upright)
    assert out[0] == -2.0
    assert np.linalg.norm(out[1:4]) == 1.0
    out = measure(shapes_of(capsule, sphere), (0, 0, 0), upright, (0.3, 0, 0.5), upright)
    assert out[0] == pytest.approx(0.3 - 1.5, abs=1e-12)
    assert out[1:4] == pytest.approx([1, 0, 0], abs=1e-12)


def test_touching_boxes_have_no_distance_and_the_sides_normal():
    upright = heading_quaternion(0.0)
    box = (ShapeKind.BOX, (1.0, 2.0, 3.0))
    out = measure(shapes_of(box, box), (1e4, -1e4, 0), upright, (1e4, -1e4 + 2.0, 1.0), upright)
    assert abs(out[0]) < 1e-9
    assert out[1:4] == pytest.approx([0, 1, 0])
    assert out[4:7] == pytest.approx([1e4, -1e4 + 1.0, 0.5])


def test_mesh_is_the_nearest_of_its_triangles_from_both_sides():
    rng = np.random.default_rng(3)
    for kind, _ in product(SOLIDS, range(6)):
        corners = rng.normal(size=(5, 3, 3)) * 2.0
        size, pa, pb = rng.uniform(0.3, 1.0, 3), rng.normal(size=3), rng.normal(size=3)
        qa, qb = turn(rng), turn(rng)
        whole = measure(shapes_of((ShapeKind.MESH, corners), (kind, size)), pa, qa, pb, qb)
        single = [measure(shapes_of((ShapeKind.MESH, c[None]), (kind, size)), pa, qa, pb, qb) for c in corners]
        assert whole[0] == min(out[0] for out in single)
        back = measure(shapes_of((kind, size), (ShapeKind.MESH, corners[:, ::-1])), pb, qb, pa, qa)
        assert back[0] == pytest.approx(whole[0], abs=2e-6)
        for out, c in zip(single, corners, strict=True):
            inside = rotate(qa, c) + pa
            gaps = -support(kind, size, pb, qb, -DIRECTIONS) - (DIRECTIONS @ inside.T).max(axis=1)
            assert gaps.max() <= out[0] + 1e-9


def test_mesh_against_mesh_and_flat_against_flat():
    upright = heading_quaternion(0.0)
    flat = [[(0, 0, 0), (1, 0, 0), (0, 1, 0)]]
    shapes = shapes_of((ShapeKind.MESH, flat), (ShapeKind.MESH, flat))
    assert measure(shapes, (0, 0, 0), upright, (0, 0, 0.7), upright)[0] == pytest.approx(0.7, abs=1e-9)
    assert abs(measure(shapes, (0, 0, 0), upright, (0.2, 0.2, 0.0), upright)[0]) < 1e-9
    tilted = np.array([math.cos(0.5), math.sin(0.5), 0.0, 0.0])
    crossing = measure(shapes, (0, 0, 0), upright, (0.2, 0.1, -0.1), tilted)
    assert -0.5 < crossing[0] < -1e-3


def test_meeting_time_of_movers_is_that_of_the_definition():
    rng = np.random.default_rng(8)
    met = 0
    for one, two in product(SOLIDS, SOLIDS):
        for _ in range(6):
            sizes = rng.uniform(0.4, 2.0, (2, 3))
            gap = rng.normal(size=3)
            gap *= rng.uniform(2.5, 4.0) / np.linalg.norm(gap)
            rate = -gap + rng.normal(size=3)
            qa, qb = (turn(rng), turn(rng)) if rng.random() < 0.7 else heading_quaternion(rng.uniform(0, 6, 2))
            shapes = shapes_of((one, sizes[0]), (two, sizes[1]))
            time = pair_time_of_impact(shapes, 0, qa, 1, qb, gap, rate, 2.0, WORKSPACE, np.zeros(10))
            distances = [measure(shapes, np.zeros(3), qa, gap + t * rate, qb)[0] for t in np.linspace(0, 2, 41)]
            if time <= 2.0:
                met += 1
                assert abs(measure(shapes, np.zeros(3), qa, gap + time * rate, qb)[0]) < 2e-6
                assert all(d > 0.0 for d, t in zip(distances, np.linspace(0, 2, 41), strict=True) if t < time - 1e-6)
            else:
                assert min(distances) > -1e-6
    assert met > 50


def test_objects_of_a_world_are_measured_by_name():
    wall = mesh("wall", [(0, 0, 0), (4, 0, 0), (4, 0, 2), (0, 0, 2)], [(0, 1, 2), (0, 2, 3)], at=Triple(-2, 5, 0))
    made = world(prop("ball", Triple(0, 0, 0), ShapeKind.SPHERE, Triple(1, 1, 1)), wall)
    found = separation(made, made.start, "ball", "wall")
    assert found.distance == pytest.approx(4.5, abs=1e-9)
    assert found.normal == pytest.approx([0, 1, 0], abs=1e-9)
    assert found.points == pytest.approx(np.array([[0, 0.5, 0.5], [0, 5, 0.5]]), abs=1e-6)
    with pytest.raises(UsageError, match="no object 'bell'"):
        separation(made, made.start, "bell", "wall")


def test_large_mesh_is_measured_like_each_of_its_triangles():
    rng = np.random.default_rng(12)
    corners = rng.uniform(-8, 8, (60, 1, 3)) + rng.normal(size=(60, 3, 3))
    upright, turned = heading_quaternion(0.3), turn(rng)
    for place in rng.uniform(-9, 9, (10, 3)):
        whole = measure(
            shapes_of((ShapeKind.BOX, (1, 2, 1)), (ShapeKind.MESH, corners)), place, upright, (1, 0, 0), turned
        )
        parts = [
            measure(
                shapes_of((ShapeKind.BOX, (1, 2, 1)), (ShapeKind.MESH, c[None])), place, upright, (1, 0, 0), turned
            )[0]
            for c in corners
        ]
        assert whole[0] == min(parts)
