"""Meshes and height fields that stand in the world: what rests, slides, rolls on them and strikes their edges."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.detection.surfaces import surfaces_of
from cbsim.dynamics.kernels import columns as c
from cbsim.errors import ModelError
from cbsim.multibody import (
    Box,
    Capsule,
    Collider,
    CombinedShapes,
    Cylinder,
    Floating,
    HalfSpace,
    HeightField,
    Mechanism,
    Mesh,
    Origin,
    SolverOptions,
    Sphere,
    rollout,
)

G, H = 9.81, 0.01
SHAPES = {
    "box": Box(0.4, 0.3, 0.5, mass=2.0),
    "sphere": Sphere(0.25, mass=2.0),
    "capsule": Capsule(0.15, 0.4, mass=2.0),
    "cylinder": Cylinder(0.2, 0.5, mass=2.0),
    "ellipsoid": Sphere(0.2, mass=2.0, scale=(1.0, 1.5, 0.7)),
}
ROUND = ("sphere", "capsule")
CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
SIDES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]  # from outside
FACES = np.array([[[a, b, c], [a, c, d]] for a, b, c, d in SIDES]).reshape(-1, 3)
TIGHT = SolverOptions(rtol=1e-9, btol=1e-9)


def over(surface, shape, *, friction=0.5, **options):
    """One body that floats freely over something that stands."""
    origin, body = Origin(), shape.body(name="body")
    solid = [Collider(origin, surface, friction, name="terrain"), Collider(body, shape, friction)]
    return Mechanism(origin, [body], [Floating(origin, body)], colliders=solid, timestep=H, **options)


def path_of(mechanism, steps, place, velocity=(0, 0, 0), q=(1, 0, 0, 0), spin=(0, 0, 0), options=None):
    q = np.array(q, float) / np.linalg.norm(q)
    return rollout(mechanism, np.concatenate([place, velocity, q, spin]), steps, options=options)


def table_as_mesh():
    """A block of 2 x 2 x 1 m, and a crumb so far away that together they are no convex mesh."""
    corners = np.concatenate([CUBE * (1, 1, 0.5), 0.01 * CUBE + (50, 0, 0)])
    return Mesh(vertices=corners, faces=np.concatenate([FACES, FACES + 8]))


def flat(cells=21, side=0.13):
    return HeightField(heights=np.zeros((cells, cells)), spacing=side)


@pytest.mark.parametrize("name", SHAPES)
def test_what_falls_on_a_field_does_as_on_level_ground(name):
    level = HalfSpace()
    start = (0, 0, 0.6), (0.5, 0, 0), (1, 0.2, 0.1, 0.05)
    one, other = (path_of(over(thing, SHAPES[name]), 300, *start) for thing in (flat(), level))
    np.testing.assert_allclose(one[:41, :3], other[:41, :3], atol=5e-4)  # the first blows
    assert one[-1, 2] == pytest.approx(other[-1, 2], abs=1e-5)  # an ellipsoid rocks on


@pytest.mark.parametrize("name", ["box", "sphere"])
def test_what_slides_meets_no_inner_edge(name):
    m = over(flat(61, 0.07), SHAPES[name], friction=0.3 if name == "box" else 0.0)
    path = path_of(m, 60, (-1.0, 0.02, 0.25), (2.0, 0, 0), options=TIGHT)
    way = path[:, 0] + 1.0
    slow = 0.3 * G if name == "box" else 0.0
    k = np.arange(61)
    np.testing.assert_allclose(way, 2.0 * H * k - 0.5 * slow * H**2 * k * (k + 1), atol=1e-6)
    np.testing.assert_allclose(path[:, 2], 0.25, atol=1e-7)
    np.testing.assert_allclose(path[:, 1], 0.02, atol=1e-7)


def places_of(mechanism, z):
    """Where the one body of a mechanism touches, in its own frame, each place once, sorted."""
    found = mechanism.workspaces.find(np.asarray(z, float).reshape(1, 13), mechanism.settings(None)[0], drifts=False)
    return np.unique(np.round(found.model.contact[:, c.ORIGIN : c.ORIGIN + 3], 9) + 0.0, axis=0)


def upright(*place):
    return np.r_[place, np.zeros(3), 1.0, np.zeros(6)]


def test_triangles_in_one_plane_are_touched_as_that_plane_is():
    """At the corners of the box, or those of a pillar under it: nowhere along edges from triangle to triangle."""
    box, half = SHAPES["box"], 0.5 * SHAPES["box"].xyz
    corners = sorted([x, y, -half[2]] for x in (-half[0], half[0]) for y in (-half[1], half[1]))
    np.testing.assert_allclose(places_of(over(flat(), box), upright(0.013, 0.017, half[2])), corners, atol=1e-9)
    pillar = Mesh(vertices=np.r_[CUBE * (0.1, 0.1, 0.5), 0.01 * CUBE + (50, 0, 0)], faces=np.r_[FACES, FACES + 8])
    found = places_of(over(pillar, box), upright(0.01, 0.02, 0.5 + half[2]))
    ends = sorted([x - 0.01, y - 0.02, -half[2]] for x in (-0.1, 0.1) for y in (-0.1, 0.1))
    np.testing.assert_allclose(found, ends, atol=1e-9)


def test_the_edge_of_a_ridge_bears_what_lies_across_it():
    x, z = np.array([-3.0, 0.0, 3.0]), np.array([0.0, 0.3, 0.0])
    roof = np.array([[a, y, b] for a, b in zip(x, z, strict=True) for y in (-2.0, 2.0)])
    faces = [[2 * k + m for m in corner] for k in range(2) for corner in ((0, 2, 3), (0, 3, 1))]
    found = places_of(over(Mesh(vertices=roof, faces=faces), SHAPES["box"]), upright(0.0, 0.0, 0.55))
    assert np.abs(found[:, 0]).min() < 1e-9
    np.testing.assert_allclose(np.ptp(found[np.abs(found[:, 0]) < 1e-9, 1]), 0.3, atol=1e-9)


@pytest.mark.parametrize("name", ROUND)
@pytest.mark.parametrize("seed", range(6))
def test_a_mesh_of_a_block_and_the_block_itself_do_the_same_to_what_is_round(name, seed):
    rng = np.random.default_rng(seed)
    start = (rng.uniform(0.7, 1.2), rng.uniform(-0.3, 0.3), 1.1), (0, 0, 0), rng.normal(size=4), rng.normal(size=3)
    one, other = (path_of(over(thing, SHAPES[name]), 60, *start) for thing in (Box(2, 2, 1), table_as_mesh()))
    np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("name", SHAPES)
def test_what_falls_on_the_middle_of_a_mesh_does_as_on_a_block(name):
    start = (0.1, -0.2, 1.0), (0.3, 0.1, 0), (1, 0.3, -0.2, 0.1), (0.4, 0.2, 1.0)
    one, other = (path_of(over(thing, SHAPES[name]), 40, *start) for thing in (Box(2, 2, 1), table_as_mesh()))
    np.testing.assert_allclose(one, other, atol=2e-5)


def test_a_ball_comes_to_rest_in_a_valley_on_both_of_its_slopes():
    valley = np.abs(np.arange(-10, 11) * 0.1) * np.ones((21, 1))
    m = over(HeightField(heights=valley, spacing=0.1), Sphere(0.25, mass=1.0))
    path = path_of(m, 400, (0.3, 0.04, 0.9), options=TIGHT)
    np.testing.assert_allclose(path[-1, :3], (0.0, 0.04, 0.25 * np.sqrt(2.0)), atol=1e-6)


def test_a_ball_rolls_down_a_field_as_down_a_slope():
    slope = 0.5 * np.arange(-30, 31) * 0.1 * np.ones((21, 1))
    angle = np.arctan(0.5)
    normal = np.array([-np.sin(angle), 0, np.cos(angle)])
    m = over(HeightField(heights=slope, spacing=0.1), Sphere(0.2, mass=1.0), friction=1.0)
    path = path_of(m, 60, 0.2 * normal + (1.0, 0, 0.5), options=TIGHT)
    way = np.linalg.norm(path[-1, :3] - path[0, :3])
    assert way == pytest.approx(G * np.sin(angle) / 1.4 * H**2 * 60 * 61 / 2, rel=1e-3)


def test_a_box_that_slides_against_a_step_stops_at_it():
    x = np.array([-3.0, 0.5, 0.5 + 1e-3, 3.0])
    z = np.array([0.0, 0.0, 0.3, 0.3])
    corners = np.array([[a, y, b] for a, b in zip(x, z, strict=True) for y in (-2.0, 2.0)])
    faces = [[2 * k, 2 * k + 2, 2 * k + 3] for k in range(3)] + [[2 * k, 2 * k + 3, 2 * k + 1] for k in range(3)]
    path = path_of(over(Mesh(vertices=corners, faces=faces), SHAPES["box"], friction=0.0), 100, (0, 0, 0.25), (1, 0, 0))
    hit = int(np.argmax(path[:, 0] > 0.299))
    assert 28 <= hit <= 31
    assert path[:, 0].max() < 0.302
    assert np.abs(path[hit + 4 :, 3]).max() < 0.1


def test_what_stands_behind_a_surface_does_not_meet_it():
    path = path_of(over(flat(), SHAPES["sphere"]), 20, (0, 0, -0.5))
    k = np.arange(21)
    np.testing.assert_allclose(path[:, 2], -0.5 - 0.5 * G * H**2 * k * (k + 1), atol=1e-9)


def test_a_surface_may_be_turned_moved_mirrored_and_one_of_several():
    turned = flat().replaced(orientation_offset=(np.cos(0.5), 0, 0, np.sin(0.5)), position_offset=(0, 0, 1.0))
    for shape in (turned, turned.replaced(scale=(-1, 1, 1)), CombinedShapes([turned])):
        path = path_of(over(shape, SHAPES["box"]), 60, (0, 0, 1.3))
        assert path[-1, 2] == pytest.approx(1.25, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_nothing_falls_through_rough_ground(name):
    rng = np.random.default_rng(3)
    heights = rng.uniform(0.0, 0.15, (80, 80))
    m = over(HeightField(heights=heights, spacing=0.1), SHAPES[name])
    for k in range(3):
        path = path_of(m, 300, (-1.5, 0.3 * k, 0.7), (1.5, 0.2, 0), rng.normal(size=4))
        inside = np.abs(path[:, :2]).max(axis=1) < 3.9
        assert path[inside, 2].min() > 0.1


def test_neighbours_know_where_they_lead_to():
    roof = np.array(
        [[[0, 0, 0], [1, 0, 1], [0, 1, 0]], [[1, 0, 1], [1, 1, 1], [0, 1, 0]], [[1, 0, 1], [2, 0, 0], [1, 1, 1]]]
    )
    found = surfaces_of([("roof", roof.astype(float))])
    order = [int(np.flatnonzero((found.triangle == t).all(axis=(1, 2)))[0]) for t in roof]
    a, b, c = order
    assert sorted(found.facet_next[b].tolist()) == sorted([c, a, -1])
    into = found.facet[b, d.FACET_BESIDE : d.FACET_BESIDE + 9].reshape(3, 3)
    np.testing.assert_allclose(
        into[found.facet_next[b].tolist().index(c)], np.array([1, 0, -1]) / np.sqrt(2), atol=1e-12
    )


def bad_surfaces():
    """What is refused, and a word of why."""
    yield lambda: HeightField(heights=[[0.0, 1.0]]), "at least 2 rows"
    yield lambda: HeightField(heights=[[0.0, np.nan], [0.0, 0.0]]), "at least 2 rows"
    yield lambda: HeightField(heights=np.zeros((2, 2)), spacing=0.0), "more than 0"
    yield lambda: Collider(SHAPES["box"].body(), flat()), "HeightField on a body"
    line = Mesh(vertices=[[0, 0, 0], [1, 0, 0], [2, 0, 0]], faces=[[0, 1, 2]])
    yield lambda: over(line, SHAPES["box"]), "collider 'terrain'.*no triangle with an area"


@pytest.mark.parametrize(("make", "reason"), list(bad_surfaces()), ids=lambda v: v if isinstance(v, str) else "")
def test_what_is_no_surface_is_refused_by_name(make, reason):
    with pytest.raises(ModelError, match=reason):
        make()
