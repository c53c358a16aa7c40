"""Putting robots together: links merged, mirrored and placed are what bodies of the same matter would be."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.geometry.pose import rotate
from cbsim.multibody import Box, get_body, get_joint, get_sdf, maximal_to_minimal
from cbsim.multibody.gallery.assembly import Assembly, Link, about, limb, merged
from cbsim.spec.mechanism.shapes import matrix


def brick(x, y, z, mass=3.0, centre=(0.0, 0.0, 0.0)):
    return Link.of(mass, centre, Box(x, y, z).inertia(mass))


def test_two_halves_of_a_brick_are_a_brick():
    half = brick(0.2, 0.3, 0.4, mass=1.5)
    whole = merged(half.placed((-0.1, 0.0, 0.5)), half.placed((0.1, 0.0, 0.5)))
    want = brick(0.4, 0.3, 0.4, centre=(0.0, 0.0, 0.5))
    assert whole.mass == pytest.approx(want.mass)
    np.testing.assert_allclose(whole.centre, want.centre, atol=1e-15)
    np.testing.assert_allclose(whole.inertia, want.inertia, atol=1e-15)


def test_a_brick_that_is_turned_is_the_brick_with_other_edges():
    turned = brick(0.2, 0.3, 0.4, centre=(0.1, 0.0, 0.0)).placed((0.0, 0.0, 1.0), about("z", 0.5 * np.pi))
    np.testing.assert_allclose(turned.inertia, brick(0.3, 0.2, 0.4).inertia, atol=1e-15)
    np.testing.assert_allclose(turned.centre, (0.0, 0.1, 1.0), atol=1e-15)


@pytest.mark.parametrize("sides", [(1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)])
def test_a_mirrored_link_is_made_of_mirrored_points(sides):
    random, flip = np.random.default_rng(0), np.array([*sides, 1.0])
    points = random.normal(size=(7, 3))

    def link(of):
        arms = of - of.mean(axis=0)
        return Link.of(7.0, of.mean(axis=0), sum(a @ a * np.eye(3) - np.outer(a, a) for a in arms))

    one, other = link(points).mirrored(*sides), link(points * flip)
    np.testing.assert_allclose(one.centre, other.centre, atol=1e-14)
    np.testing.assert_allclose(one.matrix, other.matrix, atol=1e-13)


@pytest.mark.parametrize("end", [(0.0, 0.0, 2.0), (0.0, 0.0, -2.0), (1.0, -2.0, 0.5), (0.0, 3.0, 0.0)])
def test_a_limb_is_drawn_from_its_start_to_its_end(end):
    start = np.array([0.3, -0.1, 0.2])
    shape = limb(start, start + end, 0.1)
    half = rotate(shape.orientation_offset, (0.0, 0.0, 0.5 * shape.h))
    np.testing.assert_allclose(shape.position_offset - half, start, atol=1e-12)
    np.testing.assert_allclose(shape.position_offset + half, start + end, atol=1e-12)


def test_joints_stand_where_frames_of_links_are_though_centres_of_mass_are_elsewhere():
    robot = Assembly(pose={"arm_joint": [0.4]}, spring=3.0, limited=True)
    robot.base("trunk", brick(1.0, 1.0, 1.0, centre=(0.1, 0.2, 0.3)))
    robot.add(
        "arm", brick(0.1, 0.1, 1.0, centre=(0.0, 0.0, -0.5)), "trunk", (0.5, 0.0, 0.2), (0, 1, 0),
        turned=about("x", 0.3), limits=(-1.0, 1.0), damper=0.7,
    )  # fmt: skip
    robot.touch("arm", (0.0, 0.0, -1.0), 0.1, "hand", foot=True)
    m = robot.mechanism(timestep=0.01, gravity=-9.81, ground=True, body_contacts=False, height=0.25)
    trunk, arm = (get_body(m, name) for name in ("trunk", "arm"))
    poses = [m.pose[m.place_of[body]] for body in (trunk, arm)]
    frame = poses[0][:3] - (0.1, 0.2, 0.3)
    q = poses[1][6:10]
    np.testing.assert_allclose(matrix(q), matrix(about("x", 0.3)) @ matrix(about("y", 0.4)), atol=1e-14)
    np.testing.assert_allclose(poses[1][:3] + rotate(q, (0.0, 0.0, 0.5)), frame + np.array([0.5, 0.0, 0.2]), atol=1e-14)
    assert get_sdf(m) == pytest.approx([0.25], abs=1e-12)
    joint = get_joint(m, "arm_joint")
    assert (joint.rotational.spring, joint.rotational.damper) == (3.0, 0.7)
    assert joint.rotational.spring_offset == pytest.approx([0.4])
    assert maximal_to_minimal(m, m.pose)[joint.minimal_index[0]] == pytest.approx([0.4])
