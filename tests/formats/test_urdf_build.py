"""From a robot to a mechanism: frames, masses, roots, bounds, contacts; against poses multiplied out by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cbsim.errors import FileError, ModelError, Problems
from cbsim.formats.reader import Source
from cbsim.formats.urdf import read
from cbsim.formats.urdf.build import figure_of, mechanism_of
from cbsim.multibody import Mechanism, get_maximal_state, set_minimal_coordinates, simulate
from cbsim.spec.mechanism.bodies import Body
from cbsim.spec.mechanism.joints import PROTOTYPES
from cbsim.spec.mechanism.mobility import degrees_of_freedom
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
    """The case that Dojo gets wrong (dojo.md §2.16): axes are the joint's, whatever the inertial frames are."""
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
    figure = figure_of(robot(f'<link name="root">{offset}</link>'))
    assert figure.start["floating_base"][:3] == pytest.approx((0.3, 0.0, 0.1))


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
    figure = figure_of(robot(link("world", 0), link("a"), joint("j", "world", "a", "revolute", text)))
    found = figure.spec.joints[0].rotational.joint_limits
    assert bounds is None or tuple(float(bound[0]) for bound in found) == bounds
    assert (found is None) == (bounds is None)
    assert figure.start.get("j") == (None if start is None else (start,))


def test_bounds_that_meet_lock_a_joint_where_they_do():
    text = '<origin rpy="0.2 0 0"/><axis xyz="0 0 1"/><limit lower="0.3" upper="0.3" effort="1" velocity="1"/>'
    spec = mechanism_of(robot(link("world", 0), link("a"), joint("j", "world", "a", "revolute", text)))
    assert spec.joints[0].dof == 0
    offset = rotation(spec.joints[0].rotational.orientation_offset)
    np.testing.assert_allclose(offset, rpy(0.2, 0, 0) @ about((0, 0, 1), 0.3), atol=1e-15)


def test_damping_slows_a_hinge_as_its_equation_says():
    """Without gravity, J ω' = −d ω: after n steps of h the forward differences leave 1 / (1 + h d / J)ⁿ."""
    text = '<axis xyz="0 0 1"/><dynamics damping="0.5"/>'
    mechanism = Mechanism.of(
        mechanism_of(robot(link("world", 0), link("a"), joint("j", "world", "a", inside=text)), gravity=0.0)
    )
    z = get_maximal_state(mechanism)
    z[12] = 1.0
    last = simulate(mechanism, 101, z).w[-1, 0, 2]
    assert last == pytest.approx((1.0 + 0.01 * 0.5 / 0.25) ** -100, rel=1e-3)


def test_parts_that_share_a_name_get_one_of_their_own():
    spec = mechanism_of(robot(link("origin"), link("same"), joint("same", "origin", "same")))
    names = [part.name for part in (*spec.bodies, *spec.joints)]
    assert len(set(names)) == len(names)
    assert {"origin (link)", "same", "same (joint)"} <= set(names)


# --- contacts ---------------------------------------------------------------------------------------------------------
def test_collision_geometry_touches_the_ground_with_its_corners_and_balls():
    shapes = {
        "box": ('<box size="2 4 6"/>', list(itertools.product((-1, 1), (-2, 2), (-3, 3))), 0.0),
        "sphere": ('<sphere radius="0.5"/>', [(0, 0, 0)], 0.5),
        "capsule": ('<capsule radius="0.5" length="2"/>', [(0, 0, -1), (0, 0, 1)], 0.5),
        "pyramid": ('<pyramid width="2" height="4"/>', [(x, y, -1) for x in (-1, 1) for y in (-1, 1)] + [(0, 0, 3)], 0),
        "cylinder": ('<cylinder radius="1" length="1"/>', [], 0.0),
    }
    for geometry, points, radius in shapes.values():
        text = f'<collision><origin xyz="1 0 0"/><geometry>{geometry}</geometry></collision>'
        spec = mechanism_of(robot(link("a", inside=text)), contacts=True)
        found = [contact.model.collision for contact in spec.contacts]
        assert sorted(tuple(np.round(c.contact_origin - (1, 0, 0), 12)) for c in found) == sorted(points)
        assert all(c.contact_radius == radius for c in found)


def test_what_stands_still_has_no_contacts_and_what_only_turns_gets_none_by_itself():
    ball = '<collision><geometry><sphere radius="0.5"/></geometry></collision>'
    arm = robot(link("world", inside=ball), link("a", inside=ball), joint("j", "world", "a"))
    assert mechanism_of(arm, contacts=None).contacts == ()
    (contact,) = mechanism_of(arm, contacts=True).contacts
    assert isinstance(contact.parent, Body)
    assert contact.parent.name == "a"


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
