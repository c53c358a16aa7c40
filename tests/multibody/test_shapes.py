"""Inertias of shapes, by formula and by points thrown into them."""

import numpy as np
import pytest
import trimesh

from cbsim.multibody import (
    Box,
    Capsule,
    CombinedShapes,
    Cylinder,
    EmptyShape,
    FrameShape,
    Mesh,
    Pyramid,
    Sphere,
)
from cbsim.spec.mechanism.shapes import matrix

TURNED = np.array([0.8, 0.2, -0.4, 0.4])


def test_a_box_has_the_inertia_of_a_box():
    want = 2.0 / 12 * np.diag([4 + 9, 1 + 9, 1 + 4])
    np.testing.assert_allclose(Box(1, 2, 3, mass=2.0).inertia(), want)
    np.testing.assert_array_equal(Box(1, 2, 3).xyz, (1, 2, 3))


def test_a_cylinder_has_a_quarter_of_its_radius_squared_across():
    want = 2.0 / 12 * np.diag([3 * 0.25 + 9, 3 * 0.25 + 9, 6 * 0.25])
    np.testing.assert_allclose(Cylinder(0.5, 3, mass=2.0).inertia(), want)
    np.testing.assert_array_equal(Cylinder(0.5, 3).rh, (0.5, 3))


def test_a_sphere_has_two_fifths_and_a_pyramid_eightieths():
    np.testing.assert_allclose(Sphere(0.5, mass=3.0).inertia(), 0.4 * 3.0 * 0.25 * np.eye(3))
    want = 3.0 / 80 * np.diag([4 * 4 + 3 * 9, 4 * 4 + 3 * 9, 8 * 4])
    np.testing.assert_allclose(Pyramid(2, 3, mass=3.0).inertia(), want)
    np.testing.assert_array_equal(Pyramid(2, 3).wh, (2, 3))


def test_a_capsule_has_whole_half_spheres_at_its_ends():
    np.testing.assert_allclose(
        np.diag(Capsule(0.05, 0.35, mass=0.5).inertia()), (0.007605, 0.007605, 0.000605), atol=5e-7
    )
    r, h, m = 0.3, 0.8, 2.0
    shares = np.array([h, 2 / 3 * r, 2 / 3 * r])
    barrel, cap, _ = m * shares / shares.sum()
    ixx = barrel * (3 * r * r + h * h) / 12 + 2 * (83 / 320 * cap * r * r + cap * (3 * r / 8 + h / 2) ** 2)
    izz = barrel * r * r / 2 + 2 * 0.4 * cap * r * r
    np.testing.assert_allclose(np.diag(Capsule(r, h, m).inertia()), (ixx, ixx, izz), rtol=1e-12)
    assert Capsule(r, h).rh.tolist() == [r, h]


SOLIDS = {
    "box": (Box(1, 2, 3, mass=2.0), trimesh.creation.box((1, 2, 3)), 1e-12),
    "cylinder": (Cylinder(0.5, 1.2, mass=2.0), trimesh.creation.cylinder(0.5, 1.2, sections=400), 2e-4),
    "capsule": (Capsule(0.4, 0.7, mass=2.0), trimesh.creation.capsule(0.7, 0.4, count=[200, 200]), 2e-3),
    "sphere": (Sphere(0.7, mass=2.0), trimesh.creation.icosphere(5, 0.7), 2e-3),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_a_fine_mesh_weighs_and_turns_like_the_solid(name):
    solid, mesh, share = SOLIDS[name]
    got = Mesh(vertices=mesh.vertices, faces=mesh.faces, mass=2.0).inertia()
    np.testing.assert_allclose(got, solid.inertia(), atol=share * np.abs(solid.inertia()).max())


def test_a_mesh_from_a_file_is_the_one_from_arrays_and_is_drawn_about_its_centre(tmp_path):
    box = trimesh.creation.box((1, 2, 3))
    box.apply_translation((5, 0, 0))
    box.export(tmp_path / "box.obj")
    body = Mesh(tmp_path / "box.obj", 2.0).body(name="box")
    np.testing.assert_allclose(body.inertia, Box(1, 2, 3, mass=2.0).inertia(), atol=1e-9)
    np.testing.assert_allclose(body.shape.position_offset, (-5, 0, 0), atol=1e-9)


def test_an_offset_of_orientation_turns_the_inertia():
    plain, turned = Box(1, 2, 3, mass=2.0), Box(1, 2, 3, mass=2.0, orientation_offset=TURNED)
    rotation = matrix(TURNED)
    np.testing.assert_allclose(turned.inertia(), rotation @ plain.inertia() @ rotation.T, atol=1e-14)


def test_scale_counts_for_inertia():
    np.testing.assert_allclose(Box(1, 1, 1, mass=2.0, scale=(1, 2, 3)).inertia(), Box(1, 2, 3, mass=2.0).inertia())
    np.testing.assert_allclose(Sphere(1, mass=2.0, scale=0.5).inertia(), Sphere(0.5, mass=2.0).inertia())


def test_two_halves_make_a_whole_about_the_common_centre():
    halves = [Box(1, 2, 1, mass=1.0, position_offset=(0, 0, z)) for z in (7.5, 8.5)]
    body = CombinedShapes(halves).body(name="whole")
    assert body.mass == 2.0
    np.testing.assert_allclose(body.inertia, Box(1, 2, 2, mass=2.0).inertia(), atol=1e-13)
    np.testing.assert_allclose([p.position_offset[2] for p in body.shape.shape], (-0.5, 0.5))
    assert CombinedShapes(halves, xyz=(1, 2, 2)).xyz.tolist() == [1, 2, 2]


def test_frames_have_unit_inertia_and_nothing_has_none():
    np.testing.assert_allclose(FrameShape(mass=3.0).inertia(), 3.0 * np.eye(3))
    assert EmptyShape().color.shape == (4,)
    assert Box(1, 1, 1, mass=2.0).body(name="a").shape.mass == 2.0
    assert Box(1, 1, 1).body(5.0).mass == 5.0
    assert Box(1, 1, 1).replaced(color=(1, 0, 0, 1)).color[0] == 1.0
