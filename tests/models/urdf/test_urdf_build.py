"""From a robot to a mechanism: frames, masses, roots, bounds, contacts; against poses multiplied out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.detection.kernels import columns as d
from cbsim.dynamics.start_state import start_state
from cbsim.errors import FileError, ModelError, Problems
from cbsim.formats.reader import Source
from cbsim.formats.urdf import read
from cbsim.models.urdf.build import description_of, mechanism_of
from cbsim.multibody import (
    HalfSpace,
    Mechanism,
    get_maximal_state,
    reduce_fixed_joints,
    set_maximal_state,
    set_minimal_coordinates,
    simulate,
)
from cbsim.spec.mechanism.joints import PROTOTYPES
from cbsim.spec.mechanism.mobility import degrees_of_freedom
from cbsim.spec.mechanism.shapes import Box, EmptyShape, Sphere
from cbsim.spec.urdf import JOINT_TYPES

BALL = '<inertial><mass value="{mass}"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>'


def link(name, mass=1.0, inside=""):
    return f'<link name="{name}">{BALL.format(mass=mass) if mass else ""}{inside}</link>'


def joint(name, parent, child, kind="continuous", inside=""):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def robot(*parts):
    text = f'<robot name="r">{"".join(parts)}</robot>'
    problems = Problems()
    found = read(Source("r.urdf", text, text.encode()), problems)
    problems.raise_if_any()
    return found


def rpy(roll, pitch, yaw):
    """Rz(yaw) Ry(pitch) Rx(roll), written out."""
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (np.cos, np.sin))
    return (
        np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    )


def about(axis, angle):
    """Rodrigues' rotation."""
    a = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def rotation(q):
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def state(mechanism, name):
    i = [body.name for body in mechanism.bodies].index(name)
    return get_maximal_state(mechanism).reshape(-1, 13)[i]


# --- frames -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_links_with_turned_inertial_frames_stand_where_the_chain_of_frames_puts_them(kind):
    """The case that Dojo gets wrong: axes are the joint's, whatever the inertial frames are."""
    inertial = (
        '<inertial><origin xyz="0.1 -0.2 0.3" rpy="0.7 -0.4 1.1"/><mass value="2"/>'
        '<inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0.02" izz="0.25"/></inertial>'
    )
    limit = '<limit lower="-3" upper="3" effort="1" velocity="1"/>'
    chain = robot(
        '<link name="world"/>',
        f'<link name="a">{inertial}</link><link name="b">{inertial}</link>',
        joint("1", "world", "a", kind, f'<origin xyz="1 2 3" rpy="0.3 0.2 -0.5"/><axis xyz="1 2 -1"/>{limit}'),
        joint("2", "a", "b", kind, f'<origin xyz="0 0.5 0" rpy="-1 0.9 0.4"/><axis xyz="0 0 5"/>{limit}'),
    )
    mechanism = Mechanism.of(mechanism_of(chain))
    place, turned = np.zeros(3), np.eye(3)
    values = {"1": 0.8, "2": -0.6}
    frames = {"1": ((1, 2, 3), (0.3, 0.2, -0.5), (1, 2, -1)), "2": ((0, 0.5, 0), (-1, 0.9, 0.4), (0, 0, 5))}
    for name, body in (("1", "a"), ("2", "b")):
        set_minimal_coordinates(mechanism, name, values[name])
        xyz, angles, axis = frames[name]
        place, turned = place + turned @ xyz, turned @ rpy(*angles)
        if kind == "revolute":
            turned = turned @ about(axis, values[name])
        else:
            place = place + turned @ (values[name] * np.array(axis) / np.linalg.norm(axis))
        row = state(mechanism, body)
        np.testing.assert_allclose(row[:3], place + turned @ (0.1, -0.2, 0.3), atol=1e-12)
        np.testing.assert_allclose(rotation(row[6:10]), turned, atol=1e-12)
    own = rpy(0.7, -0.4, 1.1)
    tensor = np.array([[0.1, 0.01, 0], [0.01, 0.2, 0.02], [0, 0.02, 0.25]])
    np.testing.assert_allclose(mechanism.bodies[0].inertia, own @ tensor @ own.T, atol=1e-15)


def test_a_quaternion_in_an_origin_means_what_its_angles_would():
    turned = robot(
        link("a"), link("b"), joint("j", "a", "b", "fixed", '<origin quat_xyzw="0.5 0.5 -0.5 0.5" xyz="1 0 0"/>')
    )
    spec = mechanism_of(turned)
    np.testing.assert_allclose(np.abs(spec.joints[1].rotational.orientation_offset), 0.5, atol=1e-15)
    np.testing.assert_allclose(
        rotation(spec.joints[1].rotational.orientation_offset), rotation([0.5, 0.5, 0.5, -0.5]), atol=1e-15
    )


@pytest.mark.parametrize("kind", sorted(JOINT_TYPES))
def test_every_joint_type_has_the_freedoms_of_its_prototype(kind):
    spec = mechanism_of(robot(link("world", 0), link("a"), joint("j", "world", "a", kind, '<axis xyz="0 0 1"/>')))
    (made,) = spec.joints
    assert (made.translational.free, made.rotational.free) == PROTOTYPES[JOINT_TYPES[kind]]
    assert degrees_of_freedom(spec) == sum(PROTOTYPES[JOINT_TYPES[kind]])


def test_a_planar_joint_moves_and_turns_in_the_plane_across_its_axis_as_other_readers_have_it():
    spec = mechanism_of(robot(link("world", 0), link("a"), joint("j", "world", "a", "planar", '<axis xyz="0 0 2"/>')))
    np.testing.assert_allclose(spec.joints[0].translational.masks.constrained, [[0, 0, 1]])
    np.testing.assert_allclose(spec.joints[0].rotational.masks.free, [[0, 0, 1]])


def test_both_frames_of_a_loop_joint_count():
    """A loop that is closed at zero by its frames stays at zero, whichever frame says how it is turned."""
    for one, other in (("0.4 0 0", "0 0 0"), ("0 0 0", "-0.4 0 0")):
        ring = robot(
            link("world", 0), link("a"), link("b"),
            joint("wa", "world", "a"), joint("wb", "world", "b", inside='<origin rpy="0.4 0 0"/>'),
            '<loop_joint name="l" type="fixed">'
            f'<link1 link="a" rpy="{one}"/><link2 link="b" rpy="{other}"/></loop_joint>',
        )  # fmt: skip
        mechanism = Mechanism.of(mechanism_of(ring))
        np.testing.assert_allclose(rotation(state(mechanism, "a")[6:10]), np.eye(3), atol=1e-9)


# --- roots ------------------------------------------------------------------------------------------------------------
ARM = joint("j", "root", "a")


@pytest.mark.parametrize(
    ("parts", "floats"),
    [
        ((link("root"), link("a"), ARM), True),
        ((link("root", 0), link("a"), ARM), False),
        ((link("world"), link("a"), joint("j", "world", "a")), False),
        ((link("root"), link("a"), joint("j", "root", "a", "planar")), False),
        ((link("root", 0), link("base"), joint("f", "root", "base", "fixed")), True),
        ((link("world", 0), link("base"), joint("f", "world", "base", "fixed")), False),
    ],
)
def test_a_root_floats_unless_it_stands_for_the_world(parts, floats):
    spec = mechanism_of(robot(*parts))
    assert (spec.joints[0].dof == 6) == floats
    assert sum(body.mass for body in spec.bodies) == sum("<inertial>" in part for part in parts)


def test_a_root_may_be_made_to_float_or_to_stand_still():
    held = robot(link("root"), link("a"), ARM)
    assert [len(mechanism_of(held, floating=how).joints) for how in (True, False)] == [2, 2]
    assert [mechanism_of(held, floating=how).joints[0].dof for how in (True, False)] == [6, 0]
    with pytest.raises(ModelError, match=r"r.urdf:1: error: link 'root': has no mass, so it cannot move"):
        mechanism_of(robot(link("root", 0), link("a"), ARM), floating=True)


def test_a_floating_root_stands_with_its_frame_where_the_world_has_its_own():
    offset = '<inertial><origin xyz="0.3 0 0.1"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    description = description_of(robot(f'<link name="root">{offset}</link>'))
    assert description.start["floating_base"][:3] == pytest.approx((0.3, 0.0, 0.1))


# --- masses -----------------------------------------------------------------------------------------------------------
def test_links_without_mass_are_part_of_what_fixed_joints_tie_them_to():
    spec = mechanism_of(
        robot(
            link("top", 0), link("a", 2.0), link("frame", 0), link("b", 3.0), link("tip", 0),
            joint("1", "top", "a", "fixed", '<origin xyz="0 0 1"/>'),
            joint("2", "a", "frame", "fixed", '<origin xyz="1 0 0"/>'),
            joint("3", "frame", "b", inside='<origin xyz="0 1 0"/>'),
            joint("4", "b", "tip", "fixed"),
        )
    )  # fmt: skip
    assert [body.name for body in spec.bodies] == ["a", "b"]
    assert [made.name for made in spec.joints] == ["floating_base", "3"]
    np.testing.assert_allclose(spec.joints[1].translational.vertices[0], (1.0, 1.0, 0.0))


def test_merged_links_have_the_mass_and_the_inertia_of_all_about_their_common_centre():
    (body,) = mechanism_of(
        robot(link("a", 1.0), link("b", 3.0), joint("f", "a", "b", "fixed", '<origin xyz="0 0 2"/>')), merge_fixed=True
    ).bodies
    assert body.mass == 4.0
    steiner = 1.0 * 1.5**2 + 3.0 * 0.5**2
    np.testing.assert_allclose(body.inertia, np.diag([0.2 + steiner, 0.4 + steiner, 0.5]), atol=1e-14)


def test_a_tensor_spoilt_by_rounding_is_mended_so_little_that_nothing_else_changes():
    text = '<inertial><mass value="1"/><inertia ixx="1" ixy="1.001" iyy="1" izz="2"/></inertial>'
    (body,) = mechanism_of(robot(f'<link name="a">{text}</link>')).bodies
    moments = np.linalg.eigvalsh(body.inertia)
    np.testing.assert_allclose(moments, (0.002001, 2.0, 2.001), rtol=1e-3)
    assert moments[0] > 0.0


# --- bounds, dampers, names -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("limit", "bounds", "start"),
    [
        ('lower="-1" upper="2"', (-1.0, 2.0), None),
        ('lower="0.5" upper="2"', (0.5, 2.0), 0.5),
        ('lower="-2" upper="-0.5"', (-2.0, -0.5), -0.5),
        ('upper="2"', (0.0, 2.0), None),
        ('lower="-1e16" upper="1"', (-np.inf, 1.0), None),
        ('lower="1" upper="-1"', None, None),
        ("", None, None),
    ],
)
def test_bounds_are_honoured_and_the_joint_starts_within_them(limit, bounds, start):
    text = f'<limit {limit} effort="1" velocity="1"/>'
    description = description_of(robot(link("world", 0), link("a"), joint("j", "world", "a", "revolute", text)))
    found = description.spec.joints[0].rotational.joint_limits
    assert bounds is None or tuple(float(bound[0]) for bound in found) == bounds
    assert (found is None) == (bounds is None)
    assert description.start.get("j") == (None if start is None else (start,))


def test_bounds_that_meet_lock_a_joint_where_they_do():
    text = '<origin rpy="0.2 0 0"/><axis xyz="0 0 1"/><limit lower="0.3" upper="0.3" effort="1" velocity="1"/>'
    spec = mechanism_of(robot(link("world", 0), link("a"), joint("j", "world", "a", "revolute", text)))
    assert spec.joints[0].dof == 0
    offset = rotation(spec.joints[0].rotational.orientation_offset)
    np.testing.assert_allclose(offset, rpy(0.2, 0, 0) @ about((0, 0, 1), 0.3), atol=1e-15)


def test_damping_slows_a_hinge_as_its_equation_says():
    """Without gravity, J ω' = −d ω: after n steps of h the midpoint rule leaves ((2 J − h d) / (2 J + h d))ⁿ."""
    text = '<axis xyz="0 0 1"/><dynamics damping="0.5"/>'
    mechanism = Mechanism.of(
        mechanism_of(robot(link("world", 0), link("a"), joint("j", "world", "a", inside=text)), gravity=0.0)
    )
    z = get_maximal_state(mechanism)
    z[12] = 1.0
    last = simulate(mechanism, 101, z).w[-1, 0, 2]
    assert last == pytest.approx(((0.5 - 0.01 * 0.5) / (0.5 + 0.01 * 0.5)) ** 100, rel=1e-3)


def test_parts_that_share_a_name_get_one_of_their_own():
    spec = mechanism_of(robot(link("origin"), link("same"), joint("same", "origin", "same")))
    names = [part.name for part in (*spec.bodies, *spec.joints)]
    assert len(set(names)) == len(names)
    assert {"origin (link)", "same", "same (joint)"} <= set(names)


# --- contacts ---------------------------------------------------------------------------------------------------------
SOLIDS = {  # geometry, and how high its middle is when it lies as it is
    "box": ('<box size="0.2 0.4 0.6"/>', 0.3),
    "sphere": ('<sphere radius="0.5"/>', 0.5),
    "capsule": ('<capsule radius="0.5" length="2"/>', 1.5),
    "pyramid": ('<pyramid width="0.6" height="0.4"/>', 0.1),
    "cylinder": ('<cylinder radius="0.3" length="1"/>', 0.5),
}


def solid(geometry, xyz="0 0 0", rpy="0 0 0"):
    return f'<collision><origin xyz="{xyz}" rpy="{rpy}"/><geometry>{geometry}</geometry></collision>'


def built(*parts, meshes=None, **options):
    """Return a mechanism of a robot, where it starts."""
    description = description_of(robot(*parts), meshes=meshes, **options)
    made = Mechanism.of(description.spec)
    set_maximal_state(made, start_state(description, made.compiled))
    return made


def pairs_that_meet(mechanism, reach=10.0):
    """Names of the colliders that may touch, asked of a state in which everything is near everything."""
    z = get_maximal_state(mechanism).reshape(-1, 13)
    z[:, :3], z[:, 3:6] = 0.0, reach
    mechanism.workspaces.find(z, mechanism.settings(None)[0], drifts=False)
    colliders = mechanism.workspaces.other_colliders
    names = [collider.name for collider in mechanism.colliders]
    return {frozenset(names[k] for k in pair) for pair in colliders.candidate[: colliders.found[d.CANDIDATES]]}


@pytest.mark.parametrize("kind", SOLIDS)
def test_collision_geometry_stands_on_the_ground_as_it_is_and_stays(kind):
    geometry, height = SOLIDS[kind]
    robot_ = built(link("a", inside=solid(geometry, "1 0 0")), contacts=True)
    (ground_, own) = robot_.colliders
    assert isinstance(ground_.shape, HalfSpace)
    assert type(own.shape).__name__.lower() == kind
    np.testing.assert_allclose(own.shape.position_offset, (1, 0, 0), atol=1e-12)
    assert state(robot_, "a")[2] == pytest.approx(height, abs=1e-12)
    balanced = built(link("a", inside=solid(geometry)), contacts=True)
    storage = simulate(balanced, 100)
    np.testing.assert_allclose(storage.x[:, 0, 2], height, atol=1e-5)


def test_a_turned_cylinder_lies_on_its_side_and_rolls():
    geometry = solid(SOLIDS["cylinder"][0], rpy=f"{np.pi / 2} 0 0")
    wheel = built(link("a", inside=geometry), contacts=True)
    z = get_maximal_state(wheel)
    assert z[2] == pytest.approx(0.3, abs=1e-12)
    z[3], z[11] = 1.0, 1.0 / 0.3
    storage = simulate(wheel, 100, z)
    assert storage.x[-1, 0, 0] == pytest.approx(0.99, abs=1e-3)
    np.testing.assert_allclose(storage.w[:, 0, 1], 1.0 / 0.3, rtol=1e-3)


def test_a_mesh_touches_with_its_convex_hull_of_few_corners():
    turn = np.linspace(0.0, 2.0 * np.pi, 400, endpoint=False)
    rim = np.stack([0.3 * np.cos(turn), 0.3 * np.sin(turn), np.zeros(400)], axis=1)
    up = np.array([0.0, 0.0, 0.1])
    corners = np.concatenate([rim - up, rim + up])
    data = {"wheel.stl": (corners, np.array([[0, 1, 2]]))}
    robot_ = built(link("a", inside=solid('<mesh filename="wheel.stl" scale="1 1 2"/>')), meshes=data, contacts=True)
    hull = robot_.colliders[1].shape
    assert len(hull.points) <= 64
    np.testing.assert_allclose(np.ptp(hull.points, axis=0), (0.6, 0.6, 0.4), rtol=0.01)
    assert state(robot_, "a")[2] == pytest.approx(0.2, abs=1e-9)


def test_meshes_that_enclose_nothing_or_are_not_there_touch_nothing():
    data = {"flat.stl": (np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]), np.array([[0, 1, 2]]))}
    inside = solid('<mesh filename="flat.stl"/>') + solid('<mesh filename="gone.stl"/>') + solid(SOLIDS["sphere"][0])
    robot_ = built(link("a", inside=inside), meshes=data, contacts=True)
    assert [type(k.shape).__name__ for k in robot_.colliders] == ["HalfSpace", "Sphere"]


def test_links_that_a_joint_ties_leave_each_other_alone_and_others_meet():
    """A chain a, b, c, d of which b and c are one by a fixed joint, each apart from the others."""
    ball = solid('<sphere radius="0.1"/>')
    parts = [link(name, inside=ball) for name in "abcd"]
    far = '<origin xyz="0 0 0.5"/>'
    ties = [joint("j", "a", "b", inside=far), joint("k", "b", "c", "fixed", far), joint("l", "c", "d", inside=far)]
    assert len(pairs_that_meet(built(*parts, *ties, contacts=True))) == 4  # each the ground, and no other
    meet = pairs_that_meet(built(*parts, *ties, contacts=True, self_contacts=True))
    links = {frozenset(name[0] for name in pair) for pair in meet if not any(n.startswith("ground") for n in pair)}
    assert links == {frozenset("ad")}
    assert len(meet) == 5


def test_links_that_stand_in_one_another_at_first_leave_each_other_alone():
    ball = solid('<sphere radius="0.2"/>')
    parts = [link(name, inside=ball) for name in "abc"]
    ties = [
        joint("j", "a", "b", inside='<origin xyz="0 0.3 0"/>'),
        joint("k", "b", "c", inside='<origin xyz="0 {y} 0"/>'),
    ]
    for y, meet in ((0.05, False), (0.15, True), (-0.2, False)):
        made = built(*parts, *(tie.format(y=y) for tie in ties), contacts=True, self_contacts=True)
        links = {frozenset(name[0] for name in pair) for pair in pairs_that_meet(made)}
        assert (frozenset("ac") in links) is meet


def test_where_a_robot_starts_is_where_its_bounds_let_it():
    """At zero the arm stands in the base; its bounds keep it from there."""
    ball, out = solid('<sphere radius="0.2"/>'), '<origin xyz="0 0 0"/><axis xyz="1 0 0"/>'
    limit = '<limit lower="{}" upper="2" effort="1" velocity="1"/>'
    parts = [link("a", inside=ball), link("b", inside=""), link("c", inside=ball)]
    for lower, meet in ((0.0, False), (1.0, True)):
        slide = joint("j", "a", "b", "prismatic", out + limit.format(lower))
        made = built(*parts, slide, joint("k", "b", "c"), contacts=True, self_contacts=True)
        links = {frozenset(name[0] for name in pair) for pair in pairs_that_meet(made)}
        assert (frozenset("ac") in links) is meet


def test_what_stands_still_touches_no_ground_and_what_only_turns_touches_none_by_itself():
    ball = '<collision><geometry><sphere radius="0.5"/></geometry></collision>'
    arm = [link("base", inside=ball), link("a", inside=ball), joint("j", "base", "a", inside='<origin xyz="0 0 2"/>')]
    assert built(*arm, contacts=None, floating=False).colliders == ()
    met = pairs_that_meet(built(*arm, contacts=True, floating=False))
    assert met == {frozenset(("ground", "a solid"))}


def test_things_that_move_about_in_the_world_touch_one_another():
    ball = solid('<sphere radius="0.1"/>')
    parts = [link("world", 0), *(link(name, inside=ball) for name in "abc")]
    ties = [joint(f"j{k}", "world", name, "floating", f'<origin xyz="{k} 0 1"/>') for k, name in enumerate("ab")]
    met = pairs_that_meet(built(*parts, *ties, joint("arm", "b", "c", inside='<origin xyz="0 0 1"/>'), contacts=True))
    assert {frozenset(name[0] for name in pair) for pair in met} == {*map(frozenset, ("ab", "ac", "ga", "gb", "gc"))}


def test_an_arm_that_is_bolted_into_the_ground_does_not_touch_it():
    ball = '<collision><geometry><sphere radius="0.5"/></geometry></collision>'
    arm = [link("base", inside=ball), link("a", inside=ball), joint("j", "base", "a")]
    made = built(*arm, contacts=True, floating=False)
    assert pairs_that_meet(made) == set()
    assert simulate(made, 50).is_solved.all()


def test_geometry_of_the_world_is_met_by_what_no_joint_ties_to_it():
    floor, ball = solid('<box size="4 4 1"/>', "0 0 1"), solid('<sphere radius="0.1"/>')
    free = joint("j", "world", "a", "floating", '<origin xyz="0 0 3"/>')
    table = robot(link("world", 0, inside=floor), link("a", inside=ball), free)
    made = Mechanism.of(mechanism_of(table, contacts=True))
    assert [k.owner.name for k in made.colliders] == ["origin", "origin", "a"]


def test_merged_robots_keep_their_solid_shapes():
    ball, far = solid('<sphere radius="0.1"/>', "0 0 0.1"), '<origin xyz="0 0 0.5"/>'
    parts = [link(name, inside=ball) for name in "abc"]
    ties = [joint("j", "a", "b", "fixed", far), joint("k", "b", "c", inside=far)]
    apart, merged = (built(*parts, *ties, contacts=True, merge_fixed=m) for m in (False, True))
    reduced = reduce_fixed_joints(apart)
    for made in (merged, reduced):
        assert len(made.bodies) == 2
        places = [k.shape.position_offset for k in made.colliders[1:]]
        np.testing.assert_allclose(places, [(0, 0, -0.15), (0, 0, 0.35), (0, 0, 0.1)], atol=1e-12)
    one, other = (simulate(m, 60).x[-1, -1] for m in (merged, reduced))
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_dry_friction_of_a_joint_stops_it_when_it_is_asked_for():
    """J ω' = −f: from 1 rad/s at f / J = 2 rad/s², half a second; after that it stands."""
    text = '<axis xyz="0 0 1"/><dynamics friction="0.5"/>'
    held = robot(link("world", 0), link("a"), joint("j", "world", "a", inside=text))
    for rubs in (False, True):
        mechanism = Mechanism.of(mechanism_of(held, gravity=0.0, joint_friction=rubs))
        z = get_maximal_state(mechanism)
        z[12] = 1.0
        w = simulate(mechanism, 100, z).w[:, 0, 2]
        assert w[25] == pytest.approx(0.5 if rubs else 1.0, abs=1e-4)
        assert w[-1] == pytest.approx(0.0 if rubs else 1.0, abs=1e-4)


def test_an_inertia_that_spoils_what_it_is_tied_to_is_refused_with_its_line():
    bad = '<inertial><mass value="1"/><inertia ixx="-9" iyy="0.1" izz="0.1"/></inertial>'
    with pytest.raises(FileError, match=r"r.urdf:1: error: the link 'a' has a mass, but no inertia, .*E912"):
        robot(link("a"), f'<link name="b">{bad}</link>', joint("f", "a", "b", "fixed"))


def test_a_link_looks_like_its_collision_geometry_where_no_visual_of_it_can_be_had():
    lost = '<visual><geometry><mesh filename="lost.dae"/></geometry></visual>'
    ball = '<visual><geometry><sphere radius="0.5"/></geometry></visual>'
    solid = '<collision><geometry><box size="1 2 3"/></geometry></collision>'
    shapes = [
        mechanism_of(robot(link("a", inside=inside))).bodies[0].shape
        for inside in (lost + solid, lost + ball + solid, solid, lost)
    ]
    assert [type(shape) for shape in shapes] == [Box, Sphere, Box, EmptyShape]
