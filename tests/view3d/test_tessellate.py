"""Solids are closed, turned outwards, exact at their vertices, and as large as polyhedra of so many corners are."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import ModelError
from cbsim.view3d import tessellate as t

SOLIDS = {
    "box": t.box((1.0, 2.0, 3.0)),
    "cylinder": t.cylinder(0.5, 2.0),
    "capsule": t.capsule(0.5, 2.0),
    "sphere": t.sphere(0.7),
    "pyramid": t.pyramid(2.0, 3.0),
    "arrow": t.arrow(1.0, 0.05, 0.1),
}
POLYGON = t.SEGMENTS * np.sin(2.0 * np.pi / t.SEGMENTS) / (2.0 * np.pi)  # area of the polygon over that of its circle


def corners(surface):
    return surface.vertices[surface.faces]


def volume(surface):
    a, b, c = corners(surface).transpose(1, 0, 2)
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0


def centroid(surface):
    a, b, c = corners(surface).transpose(1, 0, 2)
    parts = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    return parts @ (a + b + c) / 4.0 / parts.sum()


def test_what_encloses_a_volume_is_told_from_what_does_not():
    assert all(solid.is_closed for solid in SOLIDS.values())
    assert not t.height_field(lambda x, y: x * y, (0, 1), (0, 1), 3).is_closed
    inside_out = t.Triangles(
        SOLIDS["box"].vertices, np.concatenate([SOLIDS["box"].faces[:6], SOLIDS["box"].faces[6:, ::-1]])
    )
    assert not inside_out.is_closed


@pytest.mark.parametrize("name", SOLIDS)
def test_every_edge_of_a_solid_is_shared_by_two_faces_that_run_along_it_in_opposite_ways(name):
    _, place = np.unique(np.round(SOLIDS[name].vertices, 9), axis=0, return_inverse=True)
    faces = place.reshape(-1)[SOLIDS[name].faces]
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).tolist()
    assert len({tuple(edge) for edge in edges}) == len(edges)
    assert {(b, a) for a, b in edges} == {(a, b) for a, b in edges}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("box", 6.0),
        ("pyramid", 4.0),
        ("cylinder", POLYGON * np.pi * 0.5),
    ],
)
def test_volumes_of_polyhedra_are_those_of_their_formulas(name, expected):
    assert volume(SOLIDS[name]) == pytest.approx(expected, rel=1e-13)


def test_round_solids_lie_inside_their_surfaces_with_every_vertex_on_it():
    np.testing.assert_allclose(np.linalg.norm(SOLIDS["sphere"].vertices, axis=1), 0.7, rtol=1e-14)
    capsule = SOLIDS["capsule"].vertices
    nearest = np.clip(capsule[:, 2], -1.0, 1.0)[:, None] * (0.0, 0.0, 1.0)
    np.testing.assert_allclose(np.linalg.norm(capsule - nearest, axis=1), 0.5, rtol=1e-14)
    for name, whole in (("sphere", 4 / 3 * np.pi * 0.343), ("capsule", np.pi * (4 / 3 * 0.125 + 0.25 * 2.0))):
        assert 0.97 * whole < volume(SOLIDS[name]) < whole


@pytest.mark.parametrize("name", ["box", "cylinder", "capsule", "sphere", "pyramid"])
def test_solids_stand_about_their_centre_of_mass(name):
    np.testing.assert_allclose(centroid(SOLIDS[name]), 0.0, atol=1e-14)


def test_extents_are_those_of_the_sizes():
    for name, low, high in (
        ("box", (-0.5, -1.0, -1.5), (0.5, 1.0, 1.5)),
        ("cylinder", (-0.5, -0.5, -1.0), (0.5, 0.5, 1.0)),
        ("capsule", (-0.5, -0.5, -1.5), (0.5, 0.5, 1.5)),
        ("pyramid", (-1.0, -1.0, -0.75), (1.0, 1.0, 2.25)),
        ("arrow", (-0.1, -0.1, 0.0), (0.1, 0.1, 1.0)),
    ):
        np.testing.assert_allclose(SOLIDS[name].vertices.min(0), low, atol=1e-14)
        np.testing.assert_allclose(SOLIDS[name].vertices.max(0), high, atol=1e-14)


def test_a_mirror_image_keeps_its_outside_out():
    assert volume(SOLIDS["pyramid"].moved(np.diag([1.0, -1.0, 1.0]), (5.0, 0.0, 0.0))) == pytest.approx(4.0, rel=1e-12)


def test_parts_that_are_joined_keep_their_faces():
    both = t.joined([SOLIDS["box"], SOLIDS["pyramid"].moved(np.eye(3), (9.0, 0.0, 0.0))])
    assert volume(both) == pytest.approx(10.0, rel=1e-12)


def test_edges_of_a_mesh_are_sharp_where_faces_turn_more_than_the_crease_and_smooth_where_not():
    soup = corners(SOLIDS["box"]).reshape(-1, 3)
    box = t.creased(t.Triangles(soup, np.arange(len(soup)).reshape(-1, 3)))
    assert len(box.vertices) == 24  # three for each corner
    assert volume(box) == pytest.approx(6.0)
    ball = t.sphere(1.0)
    soup = corners(ball).reshape(-1, 3)
    smooth = t.creased(t.Triangles(soup, np.arange(len(soup)).reshape(-1, 3)))
    assert len(smooth.vertices) == len(ball.vertices)
    can = t.cylinder(1.0, 1.0)
    soup = corners(can).reshape(-1, 3)
    rim = t.creased(t.Triangles(soup, np.arange(len(soup)).reshape(-1, 3)))
    assert len(rim.vertices) == 4 * t.SEGMENTS + 2


def test_a_corner_of_ten_thousand_faces_takes_no_longer_than_others():
    angle = np.linspace(0.0, 2.0 * np.pi, 10_001)[:-1]
    rim = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    faces = np.stack([np.zeros(10_000, int), 1 + np.arange(10_000), 1 + np.roll(np.arange(10_000), -1)], axis=1)
    cone = t.creased(t.Triangles(np.concatenate([[[0.0, 0.0, 1.0]], rim]), faces))
    assert cone.faces.shape == faces.shape
    assert np.abs(np.linalg.norm(cone.vertices, axis=1) - 1.0).max() < 1e-12


def test_faces_without_an_area_are_left_out_of_a_mesh():
    flat = t.Triangles(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0]]), np.array([[0, 1, 2], [0, 1, 3]]))
    assert len(t.creased(flat).faces) == 1


@pytest.mark.parametrize(
    "f", [lambda x, y: 0.1 * x + y**2, lambda x, y: 0.1 * float(x) + float(y) ** 2], ids=["of arrays", "of numbers"]
)
def test_a_height_field_stands_on_its_function_over_the_rectangle(f):
    field = t.height_field(f, (-1.0, 2.0), (0.0, 1.0), 7)
    x, y, z = field.vertices.T
    np.testing.assert_allclose(z, 0.1 * x + y**2, rtol=1e-15)
    assert (x.min(), x.max(), y.min(), y.max(), len(field.faces)) == (-1.0, 2.0, 0.0, 1.0, 72)
    a, b, c = corners(field).transpose(1, 0, 2)
    assert (np.cross(b - a, c - a)[:, 2] > 0.0).all()  # it looks up


def test_a_plane_may_be_one_number_and_a_hole_is_refused():
    assert (t.height_field(lambda _x, _y: 0.5, (0, 1), (0, 1), 3).vertices[:, 2] == 0.5).all()
    with pytest.raises(ModelError, match=r"set_surface: f\(x, y\) is not a finite height"):
        t.height_field(lambda x, _y: np.where(x > 0.5, np.nan, 0.0), (0, 1), (0, 1), 3)
