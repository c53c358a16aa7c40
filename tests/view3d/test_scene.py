"""The scene is plain data: each vertex of it stands where the mechanism's state and the shape's own frame put it."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim import multibody as mb
from cbsim.errors import ModelError, UsageError
from cbsim.geometry.pose import multiply, rotate
from cbsim.multibody import gallery
from cbsim.view3d.build import size_of
from cbsim.view3d.default_floor import floor_of, lowest
from cbsim.view3d.framing import FIELD_OF_VIEW, extent, framing
from cbsim.view3d.scene import Floor
from cbsim.view3d.track import Track, slerp

RNG = np.random.default_rng(5)


def turned(rng=RNG):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


OFFSET, TURN, SCALE = np.array([0.3, -0.2, 0.1]), turned(), np.array([1.0, 2.0, 0.5])
PLACED = {
    "position_offset": OFFSET,
    "orientation_offset": TURN,
    "scale": SCALE,
    "mass": 2.0,
    "color": (0.1, 0.2, 0.3, 0.5),
}
CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
FACES = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
SHAPES = {
    "Box": (mb.Box, (1.0, 0.5, 0.2)),
    "Cylinder": (mb.Cylinder, (0.4, 1.0)),
    "Sphere": (mb.Sphere, (0.5,)),
    "Capsule": (mb.Capsule, (0.3, 1.0)),
    "Pyramid": (mb.Pyramid, (1.0, 0.8)),
    "ConvexHull": (mb.ConvexHull, (np.concatenate([np.diag([0.5, 0.3, 0.2]), -np.diag([0.5, 0.3, 0.2])]),)),
}


def free(shape, z=None):
    origin, body = mb.Origin(), mb.Body(1.0, np.eye(3), shape, name="it")
    m = mb.Mechanism(origin, [body], [mb.Floating(origin, body)])
    mb.set_maximal_state(m, np.concatenate([(1.0, 2.0, 3.0), np.zeros(3), turned(), np.zeros(3)]) if z is None else z)
    return m


def drawn(m, **marks):
    return mb.build_robot(m, **marks).scene


def solid_of(scene, kind="shape"):
    return [name for name, solid in scene.solids.items() if solid.kind == kind]


def moments(vertices, faces):
    """Volume, centre (3,) and second moments (3, 3) about it, per unit of volume."""
    a, b, c = vertices[faces].transpose(1, 0, 2)
    parts = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    centre = parts @ (a + b + c) / 4.0 / parts.sum()
    a, b, c = a - centre, b - centre, c - centre
    total = a + b + c
    outer = np.einsum("k,ki,kj->ij", parts, total, total) + sum(
        np.einsum("k,ki,kj->ij", parts, p, p) for p in (a, b, c)
    )
    return parts.sum(), centre, outer / 20.0 / parts.sum()


@pytest.mark.parametrize("kind", SHAPES)
def test_a_vertex_stands_at_the_bodys_place_and_the_shapes_offset_scaled_then_turned_then_moved(kind):
    make, sizes = SHAPES[kind]
    m = free(make(*sizes, **PLACED))
    scene = drawn(m)
    plain = drawn(free(make(*sizes))).solids["robot/it/shape_1"].triangles
    x, q = m.pose[0, :3], m.pose[0, 6:10]
    expected = x + rotate(q, OFFSET + rotate(TURN, SCALE * plain.vertices))
    np.testing.assert_allclose(scene.placed("robot/it/shape_1"), expected, atol=1e-13)
    assert scene.solids["robot/it/shape_1"].color == (0.1, 0.2, 0.3, 0.5)


@pytest.mark.parametrize(
    ("kind", "tolerance"), [(k, 0.0 if k in {"Box", "Pyramid", "ConvexHull"} else 0.04) for k in SHAPES]
)
def test_what_is_drawn_has_the_centre_of_mass_and_the_inertia_of_the_body_that_is_made_of_it(kind, tolerance):
    make, sizes = SHAPES[kind]
    shape = make(*sizes, **PLACED)
    surface = drawn(free(shape)).solids["robot/it/shape_1"].triangles
    _, centre, second = moments(surface.vertices, surface.faces)
    np.testing.assert_allclose(centre, OFFSET, atol=1e-12)
    expected = shape.turned_moments()
    np.testing.assert_allclose(second, expected, atol=1e-12 + tolerance * np.abs(expected).max())


def test_a_meshs_body_is_drawn_about_its_centre_of_mass():
    mesh = mb.Mesh(vertices=CORNERS, faces=FACES, mass=3.0, orientation_offset=TURN, scale=SCALE)
    body = mesh.body(name="it")
    surface = drawn(free(body.shape)).solids["robot/it/shape_1"].triangles
    volume, centre, second = moments(surface.vertices, surface.faces)
    assert volume == pytest.approx(1.0 / 6.0, rel=1e-12)
    np.testing.assert_allclose(centre, 0.0, atol=1e-14)
    np.testing.assert_allclose(3.0 * (np.trace(second) * np.eye(3) - second), body.inertia, atol=1e-14)


def test_parts_of_a_whole_stand_in_its_frame_and_together_about_the_bodys_centre_of_mass():
    parts = [mb.Box(1, 1, 1, mass=1.0, position_offset=(2, 0, 0)), mb.Pyramid(1, 1, mass=3.0, orientation_offset=TURN)]
    whole = mb.CombinedShapes(parts, position_offset=OFFSET, orientation_offset=turned(), scale=SCALE)
    scene = drawn(free(whole))
    unit_box = drawn(free(mb.Box(1, 1, 1))).solids["robot/it/shape_1"].triangles
    box, pyramid = (scene.solids[name].triangles for name in solid_of(scene))
    flat = rotate(
        whole.orientation_offset,
        SCALE * (unit_box.vertices + np.array([2.0, 0.0, 0.0])),
    )
    np.testing.assert_allclose(box.vertices, OFFSET + flat, atol=1e-13)
    body = mb.CombinedShapes(parts).body(name="it")
    scene = drawn(free(body.shape))
    centres = [moments(t.vertices, t.faces)[1] for t in (scene.solids[name].triangles for name in solid_of(scene))]
    np.testing.assert_allclose(np.average(centres, axis=0, weights=[1.0, 3.0]), 0.0, atol=1e-14)
    assert pyramid.vertices.shape == (16, 3)


def test_what_has_no_shape_is_what_it_touches_with_and_so_is_the_terrain():
    origin, bare = mb.Origin(), mb.Body(2.0, np.eye(3), name="bare")
    heights = np.array([[0.0, 0.1, 0.4], [0.2, 0.3, 0.8]])
    solid = [
        mb.ground(origin),
        mb.Collider(origin, mb.HeightField(heights=heights, spacing=(0.5, 2.0))),
        mb.Collider(bare, mb.Sphere(0.3, position_offset=OFFSET)),
    ]
    m = mb.Mechanism(origin, [bare], [mb.Floating(origin, bare)], colliders=solid)
    scene = drawn(m)
    land, ball = scene.solids["robot/shape_1"].triangles, scene.solids["robot/bare/shape_1"].triangles
    places = np.array(
        [(x, y, h) for y, row in zip((-1, 1), heights, strict=True) for x, h in zip((-0.5, 0, 0.5), row, strict=True)]
    )
    assert {tuple(v) for v in land.vertices} == {tuple(p) for p in places}
    np.testing.assert_allclose(np.linalg.norm(ball.vertices - OFFSET, axis=1), 0.3, rtol=1e-12)
    assert len(scene.solids) == 2


def test_a_frame_is_three_arrows_along_its_axes_and_an_empty_shape_is_none():
    scene = drawn(free(mb.FrameShape(orientation_offset=TURN, color=(0, 0, 0, 1))))
    for name, axis in zip(solid_of(scene), np.eye(3), strict=True):
        along = scene.solids[name].triangles.vertices @ rotate(TURN, axis)
        assert (along.min(), along.max()) == pytest.approx((0.0, 1.0), abs=1e-6)
        assert np.argmax(scene.solids[name].color[:3]) == np.argmax(axis)
    assert not solid_of(drawn(free(mb.EmptyShape())))


def test_a_body_without_a_shape_is_rods_to_its_joints_or_the_box_of_its_inertia():
    origin = mb.Origin()
    bare = mb.Body(2.0, mb.Box(0.3, 0.5, 0.9).inertia(2.0), name="bare")
    scene = drawn(mb.Mechanism(origin, [bare], [mb.Floating(origin, bare)]))
    edges = np.ptp(scene.solids["robot/bare/inertia_1"].triangles.vertices, axis=0)
    np.testing.assert_allclose(edges, (0.3, 0.5, 0.9), rtol=1e-12)
    scene = drawn(mb.Mechanism(origin, [bare], [mb.Revolute(origin, bare, (1, 0, 0), child_vertex=(0, 0, 0.5))]))
    rod = scene.solids["robot/bare/shape_1"].triangles.vertices
    assert (rod[:, 2].min(), rod[:, 2].max()) == pytest.approx((-0.04, 0.54))
    assert not solid_of(scene, "inertia")


def test_a_color_for_the_robot_is_that_of_all_its_shapes():
    scene = drawn(gallery.build("snake", links=3), color=(1, 0, 0))
    assert {solid.color for solid in scene.solids.values()} == {(1.0, 0.0, 0.0, 1.0)}


def test_spheres_of_contacts_are_as_far_above_the_floor_as_the_gap():
    m = gallery.build("quadruped", height=0.6)
    scene = drawn(m, show_contact=True)
    names = solid_of(scene, "contact")
    assert len(names) == len(m.contacts)
    for name, contact, distance in zip(names, m.contacts, mb.get_sdf(m), strict=True):
        centre = scene.placed(name).mean(0)
        np.testing.assert_allclose(
            centre[2] - contact.model.contact_radius, distance, atol=1e-3 * contact.model.contact_radius
        )


def test_points_spheres_capsules_boxes_and_strings_of_contacts_are_drawn_in_their_own_frames():
    origin = mb.Origin()
    a, b = (mb.Sphere(0.1, mass=1.0).body(name=name) for name in "ab")
    pairs = [
        mb.SphereSphereCollision(radius_parent=0.1, radius_child=0.2),
        mb.SphereCapsuleCollision(radius_sphere=0.1, radius_capsule=0.05),
        mb.SphereBoxCollision((0, 0, 0), (-0.1, -0.2, 0.0), (0.1, 0.2, 0.6), 0.1),
        mb.StringCollision(),
    ]
    contacts = [mb.ContactConstraint(mb.ImpactContact(pair), a, b) for pair in pairs]
    joints = [mb.Floating(origin, a), mb.FixedOrientation(origin, b)]
    scene = drawn(mb.Mechanism(origin, [a, b], joints, contacts), show_contact=True)
    names = solid_of(scene, "contact")
    assert [sum(scene.solids[n].frame == f"robot/{body}" for n in names) for body in "ab"] == [4, 4]
    box = scene.solids["robot/b/contact_3"].triangles.vertices
    np.testing.assert_allclose([box.min(0), box.max(0)], [(-0.1, -0.2, 0.0), (0.1, 0.2, 0.6)], atol=1e-15)


def test_arrows_of_joints_start_at_the_joint_and_run_along_its_free_directions():
    origin, body = mb.Origin(), mb.Box(0.2, 0.2, 0.2, mass=1.0).body(name="it")
    axis = np.array([1.0, 2.0, 2.0]) / 3.0
    joint = mb.Cylindrical(origin, body, axis, parent_vertex=(1, 2, 3), orientation_offset=TURN)
    scene = drawn(mb.Mechanism(origin, [body], [joint]), show_joint=True)
    for name, direction in zip(solid_of(scene, "joint"), (axis, rotate(TURN, axis)), strict=True):
        along = (scene.solids[name].triangles.vertices - (1, 2, 3)) @ direction
        far = np.linalg.norm(scene.solids[name].triangles.vertices - (1, 2, 3), axis=1)
        assert along.min() == pytest.approx(0.0, abs=1e-9)
        assert along.max() == pytest.approx(far.max(), rel=1e-3)


def test_a_joint_that_motors_bind_every_way_is_marked_and_a_free_body_is_not():
    """So balls of Juice are made whose points give way."""
    origin, body = mb.Origin(), mb.Body(1.0, np.eye(3), mb.Sphere(0.2), name="it")
    held = mb.Floating(origin, body, drives=[mb.Motor(np.inf, coordinate=k, cfm=0.1) for k in range(3)])
    assert len(solid_of(drawn(mb.Mechanism(origin, [body], [held]), show_joint=True), "joint")) == 2
    assert not solid_of(drawn(mb.Mechanism(origin, [body], [mb.Floating(origin, body)]), show_joint=True), "joint")


@pytest.mark.parametrize(
    ("kind", "marks"), [("Fixed", 1), ("Spherical", 1), ("Planar", 2), ("PlanarFree", 3), ("Floating", 0)]
)
def test_every_joint_has_a_mark_for_each_way_it_moves(kind, marks):
    origin, body = mb.Origin(), mb.Box(0.2, 0.2, 0.2, mass=1.0).body(name="it")
    axis = () if kind in {"Fixed", "Spherical", "Floating"} else ((1, 0, 0),)
    scene = drawn(mb.Mechanism(origin, [body], [getattr(mb, kind)(origin, body, *axis)]), show_joint=True)
    assert len(solid_of(scene, "joint")) == marks


def test_frames_of_bodies_are_drawn_at_their_centres_of_mass():
    scene = drawn(gallery.build("pendulum"), show_frame=True)
    assert len(solid_of(scene, "frame")) == 3


def test_the_frames_of_a_motion_are_the_rows_of_its_storage_bit_for_bit(tmp_path):
    m = gallery.build("quadruped")
    s = mb.simulate(m, 5)
    scene = mb.visualize(m, s, html=tmp_path / "page.html").scene
    x, q = scene.poses()
    np.testing.assert_array_equal(x, s.x)
    np.testing.assert_array_equal(q, s.q)
    np.testing.assert_array_equal(scene.times, m.timestep * np.arange(5))
    assert scene.frames[0] == "robot/trunk"
    solid = scene.solids["robot/trunk/shape_1"]
    expected = s.x[3, 0] + rotate(s.q[3, 0], solid.triangles.vertices)
    np.testing.assert_array_equal(scene.placed("robot/trunk/shape_1", 3), expected)


def test_no_vertex_ever_leaves_the_box_around_the_motion(tmp_path):
    m = gallery.build("pendulum", angle=1.0)
    scene = mb.visualize(m, mb.simulate(m, 60), html=tmp_path / "page.html").scene
    low, high = extent(scene)
    for k in range(60):
        vertices = scene.placed("robot/rod/shape_1", k)
        assert (vertices >= low - 1e-12).all()
        assert (vertices <= high + 1e-12).all()


def test_robots_of_other_steps_share_a_scene_and_keep_their_own_nodes(tmp_path):
    slow, fast = (
        gallery.build("pendulum", angle=1.0, timestep=0.02),
        gallery.build("pendulum", angle=0.5, timestep=0.01),
    )
    path = tmp_path / "page.html"
    vis = mb.visualize(slow, mb.simulate(slow, 6), name="slow", html=path)
    s = mb.simulate(fast, 6)
    scene = mb.visualize(fast, s, vis=vis, name="fast", html=path).scene
    assert scene.frames == ("slow/rod", "fast/rod")
    np.testing.assert_allclose(scene.times, [0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1], atol=1e-15)
    x, q = scene.poses()
    np.testing.assert_array_equal(x[:6, 1:], s.x)
    np.testing.assert_array_equal(x[6:, 1], np.repeat(s.x[-1], 3, axis=0))  # it stands at its end
    ahead = scene.tracks["slow"]
    np.testing.assert_allclose(x[1, 0], 0.5 * (ahead.x[0, 0] + ahead.x[1, 0]), atol=1e-15)
    assert np.linalg.norm(q[1, 0]) == pytest.approx(1.0)


def test_half_way_between_two_orientations_is_half_the_turn_the_shorter_way():
    angle, axis = np.array([0.0, 1e-9, 0.3, 3.0]), np.array([0.6, 0.0, 0.8])
    turn = lambda a: np.concatenate([np.cos(a / 2)[:, None], np.sin(a / 2)[:, None] * axis], axis=1)  # noqa: E731
    base = np.tile(turned(), (4, 1))
    for sign in (1.0, -1.0):
        got = slerp(base, sign * multiply(base, turn(angle)), 0.25)
        np.testing.assert_allclose(got, multiply(base, turn(0.25 * angle)), atol=1e-15)


def test_a_track_is_its_nodes_at_their_times_and_stands_still_before_and_after():
    track = Track(
        np.array([1.0, 2.0, 4.0]), RNG.normal(size=(3, 2, 3)), np.stack([[turned(), turned()] for _ in range(3)])
    )
    x, q = track.sample([0.0, 1.0, 2.0 + 1e-9, 3.0, 4.0, 9.0])
    np.testing.assert_array_equal(x[[0, 1, 2, 4, 5]], track.x[[0, 0, 1, 2, 2]])
    np.testing.assert_array_equal(q[[0, 1, 2, 4, 5]], track.q[[0, 0, 1, 2, 2]])
    np.testing.assert_allclose(x[3], 0.5 * (track.x[1] + track.x[2]))


@pytest.mark.parametrize("name", sorted(gallery.GALLERY))
def test_every_mechanism_of_the_gallery_is_drawn_and_seen_whole(name):
    m = gallery.build(name)
    scene = drawn(m, show_contact=True, show_joint=True, show_frame=True, show_inertia=True)
    assert {solid.frame for solid in scene.solids.values()} >= set(scene.frames)
    seen = framing(scene)
    look = seen.look_at - seen.position
    look = look / np.linalg.norm(look)
    for key, solid in scene.solids.items():
        assert len(solid.triangles.faces)
        arm = scene.placed(key) - seen.position
        angle = np.arccos(np.clip(arm @ look / np.linalg.norm(arm, axis=1), -1.0, 1.0))
        assert angle.max() <= 0.5 * FIELD_OF_VIEW + 1e-9, key


def test_the_camera_follows_what_travels_and_stands_still_before_what_swings(tmp_path):
    path = tmp_path / "page.html"
    m = gallery.build("pendulum", angle=2.0)
    assert not framing(mb.visualize(m, mb.simulate(m, 100), html=path).scene).follow
    ball = gallery.build("sphere")
    states = np.tile(mb.get_maximal_state(ball), (50, 1))
    states[:, 0] = np.linspace(0.0, 30.0, 50)
    vis = mb.visualize(ball, mb.generate_storage(ball, states), html=path)
    assert framing(vis.scene).follow
    assert framing(vis.scene).radius < 3.0
    mb.set_camera(vis, follow=False)
    assert framing(vis.scene).radius > 15.0


def test_a_camera_looks_from_where_it_is_told_and_zoom_brings_it_nearer():
    vis = mb.build_robot(gallery.build("pendulum"))
    mb.set_camera(vis, cam_pos=(4.0, 0.0, 1.0), look_at=(0.0, 0.0, 1.0), zoom=2.0)
    seen = framing(vis.scene)
    np.testing.assert_allclose([seen.position, seen.look_at], [(2.0, 0.0, 1.0), (0.0, 0.0, 1.0)])


def test_the_floor_is_the_plane_of_the_contacts_tiled_by_lengths_that_people_read():
    origin, body = mb.Origin(), mb.Box(0.2, 0.2, 0.2, mass=1.0).body(name="it")
    slope = np.array([0.6, 0.0, 0.8])
    contacts = mb.contact_constraint(body, slope, contact_offset=(0.0, 0.0, 1.0))
    m = mb.Mechanism(origin, [body], [mb.Floating(origin, body)], contacts)
    mb.set_minimal_coordinates(m, m.joints[0], (3.0, 1.0, 0.0, 0.0, 0.0, 0.0))
    floor = floor_of(m, drawn(m))
    np.testing.assert_allclose(rotate(floor.quaternion, (0.0, 0.0, 1.0)), slope, atol=1e-15)
    assert slope @ (np.array(floor.origin) - (0.0, 0.0, 1.0)) == pytest.approx(0.0, abs=1e-15)
    power = np.log10(floor.tile / np.array([1.0, 2.0, 5.0]))
    assert np.abs(power - np.round(power)).min() < 1e-12
    assert 0.2 < floor.tile / size_of(m) < 1.0


def test_without_contacts_the_floor_is_the_ground_or_under_whatever_hangs_lower(tmp_path):
    m = gallery.build("pendulum", angle=3.0)
    assert floor_of(m, drawn(m)).origin[2] == 0.0
    origin, rod = mb.Origin(), mb.Box(0.1, 0.1, 1.0, mass=1.0).body(name="rod")
    m = mb.Mechanism(origin, [rod], [mb.Revolute(origin, rod, (1, 0, 0), child_vertex=(0, 0, 0.5))])
    mb.set_minimal_coordinates(m, m.joints[0], [2.5])
    scene = mb.visualize(m, mb.simulate(m, 100), html=tmp_path / "page.html").scene
    heights = [scene.placed("robot/rod/shape_1", k)[:, 2].min() for k in range(100)]
    assert lowest(scene) == pytest.approx(min(heights), abs=1e-14)
    assert scene.floor.origin[2] == lowest(scene) < -1.0


@pytest.mark.parametrize("normal", [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (0.0, -0.6, 0.8)])
def test_a_floors_frame_has_its_z_along_the_normal(normal):
    np.testing.assert_allclose(rotate(Floor(normal=normal).quaternion, (0.0, 0.0, 1.0)), normal, atol=1e-15)


def test_an_arrow_runs_from_its_origin_to_its_tip():
    vis = mb.Visualizer()
    mb.set_arrow(vis, (1.0, 0.0, 0.0), (0.0, 3.0, 4.0), scaling=0.5)
    vertices = vis.scene.solids["arrow"].triangles.vertices - (1.0, 0.0, 0.0)
    along = vertices @ (0.0, 0.6, 0.8)
    assert (along.min(), along.max()) == pytest.approx((0.0, 2.5), abs=1e-12)
    across = np.linalg.norm(vertices - along[:, None] * (0.0, 0.6, 0.8), axis=1)
    assert across.max() == pytest.approx(0.0125)


def test_what_has_a_name_is_replaced_and_removed_by_it():
    vis = mb.build_robot(gallery.build("pendulum"), name="one")
    mb.build_robot(gallery.build("slider"), vis=vis, name="one")
    assert vis.scene.frames == ("one/box",)
    mb.set_surface(vis, lambda x, y: 0.0 * x * y, n=4)
    mb.set_floor(vis, axis=True)
    assert sum(name.startswith("floor/axis") for name in vis.scene.solids) == 3
    mb.set_floor(vis)
    vis.remove("one")
    vis.remove("floor")
    assert list(vis.scene.solids) == ["surface"]
    assert vis.scene.floor is None
    with pytest.raises(UsageError, match=r"nothing here is called 'surfce' did you mean 'surface'\?"):
        vis.remove("surfce")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda vis: mb.set_light(vis, direction="up"), "set_light: direction is 'up', expected Positive, Negative"),
        (lambda vis: mb.set_light(vis, ambient=-1.0), "set_light: ambient is -1.0"),
        (lambda vis: mb.set_lamp(vis, "sun"), "set_lamp: kind is 'sun', expected point, spot or directional"),
        (lambda vis: mb.set_lamp(vis, "spot", direction=(0, 0, 0)), "set_lamp: direction is .*, expected a direction"),
        (lambda vis: mb.set_lamp(vis, "point", frame="robot/b"), "set_lamp: there is no frame 'robot/b'"),
        (lambda vis: [mb.set_lamp(vis, "point", name=f"{k}") for k in range(9)], "set_lamp: there are 8 lamps already"),
        (lambda vis: mb.set_camera(vis, zoom=0.0), "set_camera: zoom is 0.0"),
        (lambda vis: mb.set_camera(vis, cam_pos=(1.0, 2.0)), "set_camera: cam_pos has the shape"),
        (lambda vis: mb.set_arrow(vis, (0, 0, 0), (0, 0, 0)), "set_arrow: direction is zero"),
        (
            lambda vis: mb.set_arrow(vis, (0, 0, 0), (0, 0, 1), color=(2, 0, 0)),
            "color is .*, expected three or four numbers",
        ),
        (lambda vis: mb.set_floor(vis, tilepermeter=0.0), "set_floor: tilepermeter is 0.0"),
        (lambda vis: mb.set_floor(vis, normal=(0, 0, 0)), "set_floor: normal is .*, expected a direction"),
        (lambda vis: mb.set_floor(vis, imagename="a.gif"), "set_floor: 'a.gif' is neither png nor jpeg"),
        (lambda vis: mb.set_floor(vis, imagename="none.png"), "set_floor: 'none.png' cannot be read"),
        (lambda vis: mb.set_arrow(vis, (0, 0, 0), (0, 0, 1), color="red"), "color is 'red', expected three or four"),
        (lambda vis: mb.set_surface(vis, 3.0), "set_surface: f is 3.0, expected a function"),
        (lambda vis: mb.build_robot("walker", vis=vis), "build_robot: 'walker' is no mechanism"),
        (lambda _: mb.build_robot(gallery.build("pendulum"), vis=0), "build_robot: vis is 0, expected a Visualizer"),
        (lambda vis: mb.visualize(gallery.build("pendulum"), [1.0], vis=vis), r"robot 'robot': \[1.0\] is no Storage"),
        (lambda vis: mb.set_surface(vis, lambda x, _y: x, n=1), "set_surface: n is 1, expected a whole number"),
        (lambda vis: mb.set_surface(vis, lambda x, _y: x, xlims=(1, 0)), "set_surface: xlims are 1 and 0"),
        (lambda vis: mb.set_background(vis, top_color=(0, 0, 3)), "top_color is .*, expected three or four numbers"),
        (lambda vis: mb.build_robot(gallery.build("pendulum"), vis=vis, name="a/b"), "build_robot: name is 'a/b'"),
        (lambda vis: mb.build_robot(gallery.build("pendulum"), vis=vis, name="floor"), "build_robot: name is 'floor'"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ModelError, match=message):
        call(mb.Visualizer())


def test_a_storage_of_another_mechanism_or_with_what_is_no_number_is_refused(tmp_path):
    m, other = gallery.build("pendulum"), gallery.build("snake", links=3)
    path = tmp_path / "page.html"
    with pytest.raises(
        ModelError, match=r"robot 'robot': the storage has positions \(2, 3, 3\), expected \(steps, 1, 3\)"
    ):
        mb.export_html(m, mb.simulate(other, 2), path)
    broken = mb.simulate(m, 3)
    broken.x[2] = np.nan
    with pytest.raises(ModelError, match="body 'rod': row 2 of the storage holds what is no number"):
        mb.export_html(m, broken, path)
    with pytest.raises(UsageError, match="robot 'robot' was not built"):
        mb.visualize(m, build=False, html=path)
    assert not path.exists()
