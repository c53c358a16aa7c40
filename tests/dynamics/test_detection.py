"""Collision detection: nearest points against a quadratic programme, pairs against everybody, plans that eliminate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.detection.kernels.candidates import find_candidates
from cbsim.dynamics.detection.kernels.nearest import nearest
from cbsim.dynamics.detection.kernels.supports import farthest, put, spread
from cbsim.dynamics.detection.solids import pieces_of
from cbsim.dynamics.kernels import columns as c
from cbsim.errors import ModelError
from cbsim.geometry.kernels.simplex import DIFFERENCE, POINT_ONE, POINT_OTHER, WEIGHT
from cbsim.geometry.pose import rotate
from cbsim.jit import kernel
from cbsim.multibody import (
    Box,
    Capsule,
    Collider,
    CombinedShapes,
    ConvexHull,
    Cylinder,
    Floating,
    FrameShape,
    HalfSpace,
    Mechanism,
    Mesh,
    Origin,
    Pyramid,
    Sphere,
    ground,
    rollout,
)


def scene(shapes, poses, **options):
    """A mechanism of floating solid bodies, and its state."""
    origin = Origin()
    bodies = [Sphere(0.1, mass=1.0).body(name=f"body {i}") for i in range(len(shapes))]
    colliders = [Collider(b, s) for b, s in zip(bodies, shapes, strict=True)]
    made = Mechanism(origin, bodies, [Floating(origin, b) for b in bodies], colliders=colliders, **options)
    z = np.zeros((len(shapes), 13))
    for row, (x, q) in zip(z, poses, strict=True):
        row[:3], row[6:10] = x, np.array(q) / np.linalg.norm(q)
    return made, z


@kernel
def place(link, colliders, z, reach):
    """Put all colliders where they are."""
    for i in range(len(colliders.placed)):
        put(
            link, colliders.collider_link, colliders.collider, colliders.placed, colliders.corner, colliders.world, z, i
        )
        spread(colliders.collider_link, colliders.collider, colliders.placed, colliders.world, i, reach)


@kernel
def approach_of(colliders, i, j, core):
    """Rows of the simplex that span the nearest points."""
    return nearest(
        colliders.collider_link, colliders.collider, colliders.placed, colliders.world, i, j, core, colliders.simplex
    )


@kernel
def candidates(colliders):
    """Find the pairs."""
    find_candidates(colliders)


@kernel
def farthest_of(colliders, i, x, y, z):
    """Return the farthest point of a collider."""
    return farthest(colliders.collider_link, colliders.collider, colliders.placed, colliders.world, i, 1.0, x, y, z)


def collider_tables_of(mechanism, z, reach=0.0):
    """Tables of detection with all colliders in place."""
    colliders = mechanism.compiled.colliders
    place(mechanism.compiled.model.link, colliders, z, reach)
    return colliders


def least_distance(one, other):
    """Distance of two hulls of corners, by a least-squares programme over the weights of their differences."""
    rows = (one[:, None] - other[None]).reshape(-1, 3)
    heavy = 1e5 * np.abs(rows).max()
    matrix = np.vstack([rows.T, heavy * np.ones(len(rows))])
    weights, _ = nnls(matrix, np.array([0.0, 0.0, 0.0, heavy]), maxiter=10000)
    return float(np.linalg.norm(rows.T @ (weights / weights.sum())))


@pytest.mark.parametrize("seed", range(8))
def test_nearest_points_of_hulls_are_those_of_a_quadratic_programme(seed):
    random = np.random.default_rng(seed)
    shapes = [ConvexHull(points=random.normal(size=(int(random.integers(4, 15)), 3))) for _ in range(2)]
    poses = [((0, 0, 0), random.normal(size=4)), (random.normal(size=3) * 2.0 + (4.0, 0, 0), random.normal(size=4))]
    made, z = scene(shapes, poses)
    colliders = collider_tables_of(made, z)
    count = approach_of(colliders, 0, 1, 1.0)
    split = int(colliders.collider_link[1, d.FIRST])
    want = least_distance(colliders.world[:split], colliders.world[split:])
    assert count > 0
    rows = colliders.simplex[:count]
    between = rows[:, WEIGHT] @ (rows[:, POINT_ONE : POINT_ONE + 3] - rows[:, POINT_OTHER : POINT_OTHER + 3])
    assert rows[:, WEIGHT].sum() == pytest.approx(1.0, abs=1e-12)
    assert np.linalg.norm(between) == pytest.approx(want, rel=1e-6)


def support_gap(one, other, between):
    """How much shorter than a vector from one to the other the distance of two hulls of corners may be [m]."""
    length = np.linalg.norm(between)
    return length - ((one @ between).min() - (other @ between).max()) / length


def nearly_aligned(random):
    """An orientation that is a multiple of a right angle about one axis, but for rounding or a little more."""
    q = np.zeros(4)
    angle = random.integers(4) * np.pi / 4
    q[0], q[random.integers(1, 4)] = np.cos(angle), np.sin(angle)
    return q + random.normal(size=4) * 10.0 ** random.uniform(-17, -12)


@pytest.mark.parametrize("core", [0.99, 0.9, 0.6])
def test_faces_of_large_boxes_that_nearly_touch_have_the_normal_of_their_faces(core):
    """The support planes at the nearest points prove the distance; four coplanar corners gave a wrong one by metres."""
    random = np.random.default_rng(7)
    made, z = scene([Box(1, 1, 1), Box(1, 1, 1)], [((0, 0, 0), (1, 0, 0, 0))] * 2)
    colliders = made.compiled.colliders
    unit = colliders.corner[:8].copy()
    for _ in range(4000):
        sizes = 10.0 ** random.uniform(-1.0, 1.7, (2, 3))
        colliders.corner[:8], colliders.corner[8:16] = sizes[0] * unit, sizes[1] * unit
        axis, gap = random.integers(3), 10.0 ** random.uniform(-13, -2)
        z[:, 6:10] = nearly_aligned(random)
        z[:, 6:10] /= np.linalg.norm(z[0, 6:10])
        away = random.uniform(-0.5, 0.5, 3) * sizes.sum(axis=0) * random.choice([0.0, 0.999999, 1.0], 3)
        away[axis] = random.choice([-1, 1]) * (0.5 * sizes[:, axis].sum() + gap)
        z[0, :3] = random.normal(size=3) * random.choice([0, 1, 100])
        z[1, :3] = z[0, :3] + rotate(z[0, 6:10], away)
        place(made.compiled.model.link, colliders, z, 0.0)
        count = approach_of(colliders, 0, 1, core)
        assert count > 0
        rows = colliders.simplex[:count]
        between = rows[:, WEIGHT] @ rows[:, DIFFERENCE : DIFFERENCE + 3]
        one, other = (z[i, :3] + core * (colliders.world[8 * i : 8 * i + 8] - z[i, :3]) for i in range(2))
        assert support_gap(one, other, between) < 1e-5


def test_hulls_that_overlap_have_no_nearest_points():
    made, z = scene([Box(1, 1, 1), Box(1, 1, 1)], [((0, 0, 0), (1, 0, 0, 0)), ((0.4, 0.3, 0.2), (1, 0.2, 0.1, 0.3))])
    assert approach_of(collider_tables_of(made, z), 0, 1, 1.0) == 0


@pytest.mark.parametrize(
    "shape",
    [
        Box(1, 2, 3), Sphere(0.7), Capsule(0.3, 1.2), Cylinder(0.4, 1.5), Pyramid(1.0, 2.0),
        Sphere(0.5, scale=(1, 2, 3)),
        Mesh(vertices=[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], faces=[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
    ],
    ids=lambda s: type(s).__name__,
)  # fmt: skip
def test_the_box_around_a_solid_reaches_as_far_as_the_solid_does(shape):
    random = np.random.default_rng(3)
    made, z = scene([shape], [((1.0, -2.0, 0.5), random.normal(size=4))])
    colliders = collider_tables_of(made, z)
    low, high = colliders.placed[0, d.LOW : d.LOW + 3], colliders.placed[0, d.HIGH : d.HIGH + 3]
    margin = colliders.collider[0, d.MARGIN]
    ways = random.normal(size=(200, 3))
    points = np.array([farthest_of(colliders, 0, *way) for way in ways])
    assert (points.min(axis=0) >= low + margin - 1e-12).all()
    assert (points.max(axis=0) <= high - margin + 1e-12).all()
    along = np.einsum("ni,ni->n", points, ways)
    assert (ways @ points.T <= along[:, None] + 1e-12).all()  # nobody is farther than the farthest


@pytest.mark.parametrize("count", [2, 30, 200])
def test_the_grid_finds_the_pairs_whose_boxes_overlap(count):
    random = np.random.default_rng(count)
    sizes = random.uniform(0.1, 0.5, count)
    sizes[0] = 30.0  # one that is larger than any cell
    shapes = [Box(s, s, s) for s in sizes]
    poses = [(random.uniform(-3, 3, 3), random.normal(size=4)) for _ in range(count)]
    made, z = scene(shapes, poses)
    colliders = collider_tables_of(made, z)
    colliders = colliders._replace(candidate=np.zeros((count * count, 2), np.int64))
    candidates(colliders)
    low, high = colliders.placed[:, d.LOW : d.LOW + 3], colliders.placed[:, d.HIGH : d.HIGH + 3]
    want = {
        (i, j)
        for i in range(count)
        for j in range(i + 1, count)
        if (low[i] <= high[j]).all() and (low[j] <= high[i]).all()
    }
    found = [tuple(map(int, row)) for row in colliders.candidate[: colliders.found[d.CANDIDATES]]]
    assert len(found) == len(set(found))
    assert set(found) == want


def test_a_hull_is_closed_and_its_faces_look_outwards():
    random = np.random.default_rng(5)
    origin = Origin()
    for shape in (Box(1, 2, 3), Pyramid(1, 2), ConvexHull(points=random.normal(size=(30, 3)))):
        (piece,) = pieces_of(Collider(origin, shape, name="hull"))
        edges = [(f[k], f[(k + 1) % len(f)]) for f in piece.faces for k in range(len(f))]
        assert len(set(edges)) == len(edges)
        assert {(b, a) for a, b in edges} == set(edges)  # every edge is met once from either side
        assert len(piece.corners) - len(edges) // 2 + len(piece.faces) == 2  # Euler
        for face, normal in zip(piece.faces, piece.normals, strict=True):
            heights = piece.corners @ normal
            np.testing.assert_allclose(heights[face], heights.max(), atol=1e-9)
            assert heights.max() > 0.0


def test_a_box_has_six_faces_of_four_corners():
    (piece,) = pieces_of(Collider(Origin(), Box(1, 2, 3), name="box"))
    assert sorted(len(face) for face in piece.faces) == [4] * 6


def test_parts_of_a_combined_shape_stand_where_they_are_drawn():
    parts = [Box(1, 1, 1, position_offset=(1, 0, 0)), Sphere(0.5, position_offset=(0, 2, 0))]
    shape = CombinedShapes(parts, position_offset=(0, 0, 3), orientation_offset=(np.sqrt(0.5), 0, 0, np.sqrt(0.5)))
    box, ball = pieces_of(Collider(Origin(), shape, name="both"))
    np.testing.assert_allclose(box.at, (0, 1, 3), atol=1e-12)
    np.testing.assert_allclose(ball.at, (-2, 0, 3), atol=1e-12)


def bad_scenes():
    """What is refused, and a word of the reason."""
    origin, body, stranger = Origin(), Sphere(1, mass=1).body(name="ball"), Sphere(1, mass=1).body(name="bull")
    yield lambda: Collider(body, HalfSpace()), "HalfSpace on a body"
    yield lambda: Collider(body, "box"), "expected a Shape"
    yield lambda: Collider("ball", Box(1, 1, 1)), "expected a body or the origin"
    yield lambda: Collider(body, Box(1, 1, 1), -0.1), "friction_coefficient"
    yield lambda: Collider(body, Box(1, 1, 1), restitution=1.5), "at most 1"
    yield lambda: Collider(body, Box(1, 1, 1), group="all"), "whole bits"
    yield lambda: ConvexHull(points=np.zeros((3, 3))), "at least 4"
    yield lambda: ConvexHull(points=[[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]), "one plane"
    joint = [Floating(origin, body)]
    yield lambda: Mechanism(origin, [body], joint, colliders=[Collider(body, FrameShape())]), "no routine of contact"
    yield lambda: Mechanism(origin, [body], joint, colliders=[Collider(stranger, Box(1, 1, 1))]), "did you mean 'ball'"
    nothing = Collider(body, Box(1, 1, 1, scale=(1, 1, 0)))
    yield lambda: Mechanism(origin, [body], joint, colliders=[nothing]), "no inside"
    uneven = CombinedShapes([Box(1, 1, 1)], scale=(1, 2, 1))
    yield lambda: Mechanism(origin, [body], joint, colliders=[Collider(body, uneven)]), "unevenly"
    yield lambda: Mechanism(origin, [body], joint, colliders=[ground(origin), "wall"]), "expected a Collider"


@pytest.mark.parametrize(("make", "reason"), list(bad_scenes()), ids=lambda v: v if isinstance(v, str) else "")
def test_what_cannot_collide_is_refused_by_name(make, reason):
    with pytest.raises(ModelError, match=reason):
        make()


def test_room_that_has_to_grow_changes_no_bit():
    def run(contacts):
        shapes = [Box(0.4, 0.4, 0.4)] * 6
        poses = [((0.05 * k, 0.02 * k, 0.45 * k), (1, 0.01 * k, 0.02, 0)) for k in range(6)]
        made, z = scene(shapes, poses)
        if contacts:
            workspaces = made.workspaces
            for _ in range(contacts):
                workspaces.enlarge(workspaces.other_colliders, own=False)
        else:
            small = made.workspaces.other_colliders
            made.workspaces.other_colliders = small._replace(
                contact=small.contact[:3], contact_link=small.contact_link[:3]
            )
            made.workspaces.others = made.workspaces.others._replace(
                contact_work=made.workspaces.others.contact_work[:3]
            )
        return rollout(made, z.ravel(), 40)

    small, usual, large = run(0), run(1), run(3)
    assert np.array_equal(usual, large)
    assert np.array_equal(small, usual)


def test_everything_is_eliminated_once_and_after_what_it_carries():
    made, z = scene([Box(1, 1, 1)] * 12, [((0.98 * (k % 4), 0.98 * (k // 4), 0.0), (1, 0, 0, 0)) for k in range(12)])
    rollout(made, z.ravel(), 1)
    colliders = made.workspaces.other_colliders
    program = colliders.program
    assert sorted(program[:, c.NODE]) == list(range(12))
    place_of = {int(node): k for k, node in enumerate(program[:, c.NODE])}
    for k in range(12):
        for f in range(program[k, c.FIRST], program[k, c.LAST]):
            assert place_of[int(colliders.fan[f, c.NEIGHBOUR])] > k  # whoever is tied to it leaves later
