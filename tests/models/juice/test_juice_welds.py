"""Joints that others keep from moving: what they tie is one, and it runs."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import Problems
from cbsim.models.juice import count
from cbsim.models.juice.build import mechanism_of
from cbsim.models.juice.welds import stuck_joints
from cbsim.spec.juice import Attitude, JointKind, JuiceBody, JuiceJoint, JuiceModel
from cbsim.spec.objects import Triple
from tests.models.juice.texts import Run, holding

ALONG_X, ALONG_Y, ALONG_Z = Attitude(0, 0, -90), Attitude(0, 90, 0), Attitude(0, 0, 0)


def hinge(number, one, other, at, attitude, kind=JointKind.HINGE, **rest):
    return JuiceJoint(kind, number, f"Joint {number}", Triple(*at), attitude, body1=one, body2=other, **rest)


def boxes(*places):
    return tuple(JuiceBody(k, f"Box {k}", Triple(*place)) for k, place in enumerate(places, 1))


PAIR = boxes((0, 0, 3), (1.2, 0, 3))
BALLS = tuple(
    hinge(10 + k, 1, 2, at, ALONG_Z, JointKind.BALL) for k, at in enumerate([(0.6, 0, 3), (0.6, 0, 2), (0.6, 1, 2)])
)
ACROSS = (hinge(11, 1, 2, (0.6, 0, 3), ALONG_X), hinge(12, 1, 2, (0.6, 0, 3.4), ALONG_Y))


@pytest.mark.parametrize(
    ("joints", "stuck"),
    [
        (ACROSS, {11, 12}),
        ((hinge(11, 1, 2, (0.6, -0.4, 3), ALONG_Y), hinge(12, 1, 2, (0.6, 0.4, 3), ALONG_Y)), set()),  # one line
        ((hinge(11, 1, 2, (0.6, 0, 2.6), ALONG_Y), hinge(12, 1, 2, (0.6, 0, 3.4), ALONG_Y)), {11, 12}),  # two lines
        (BALLS[:2], set()),
        (BALLS, {10, 11, 12}),
        ((hinge(11, 1, 2, (0.6, 0, 3), ALONG_X), hinge(12, 1, 2, (0.6, 0, 3), ALONG_X, JointKind.SLIDER)), {11, 12}),
    ],
)  # fmt: skip
def test_two_ways_between_two_bodies_are_stuck_where_they_have_no_motion_in_common(joints, stuck):
    assert stuck_joints(joints) == stuck


def four_bar(*attitudes):
    corners = [(0, 0, 3), (2, 0, 3), (2, 0, 5), (0, 0, 5)]
    ring = [(1, 2), (2, 3), (3, 4), (4, 1)]
    points = [(1, 0, 3), (2, 0, 4), (1, 0, 5), (0, 0, 4)]
    joints = [hinge(10 + k, *ends, point, attitude)
              for k, (ends, point, attitude) in enumerate(zip(ring, points, attitudes, strict=True))]  # fmt: skip
    return JuiceModel(bodies=boxes(*corners), joints=tuple(joints))


def test_a_plane_ring_of_hinges_moves_and_one_with_an_axis_out_of_it_is_rigid():
    plane = four_bar(*[ALONG_Y] * 4)
    assert stuck_joints(plane.joints) == frozenset()
    assert count(plane)["degrees_of_freedom"] == 7
    bent = four_bar(ALONG_Y, ALONG_X, ALONG_Y, ALONG_Z)
    assert stuck_joints(bent.joints) == {10, 11, 12, 13}
    assert count(bent)["degrees_of_freedom"] == 6
    assert count(bent)["loops"] == 1
    assert [joint.dof for joint in mechanism_of(bent).joints] == [6, 0, 0, 0]


def test_two_crossed_hinges_are_stuck_in_a_ring_of_many_bodies_too():
    """Motions of more than five bodies are found by reflections: 99 bodies took 20 s by singular values."""
    corners = [(6.0 * np.cos(a), 6.0 * np.sin(a), 3.0 + 0.3 * k) for k, a in enumerate(np.linspace(0, 6, 30))]
    ring = [
        hinge(100 + k, k + 1, (k + 1) % 30 + 1, at, (ALONG_X, ALONG_Y, ALONG_Z)[k % 3]) for k, at in enumerate(corners)
    ]
    x, y, z = corners[7]
    crossed = hinge(99, 8, 9, (x, y, z + 0.4), ALONG_X)
    assert stuck_joints(ring) == frozenset()
    assert stuck_joints([*ring, crossed]) == {99, 107}


def test_a_rocker_at_the_dead_centre_of_its_crank_is_not_stuck():
    """Crank and coupler are in line: the rocker has no speed there, whatever the crank's, and turns a moment later."""
    bodies = boxes((0, 0, 0), (0.5, 0, 0), (2.5, 0, 0), (4, 0, -1.5))  # base, crank, coupler, rocker
    points = [((1, 2), (0, 0, 0)), ((2, 3), (1, 0, 0)), ((3, 4), (4, 0, 0)), ((4, 1), (4, 0, -3))]
    joints = tuple(hinge(10 + k, *ends, point, ALONG_Y) for k, (ends, point) in enumerate(points))
    assert stuck_joints(joints) == frozenset()
    assert count(JuiceModel(bodies=bodies, joints=joints))["degrees_of_freedom"] == 7


def test_what_hangs_on_a_rigid_ring_moves_on():
    ring = four_bar(ALONG_Y, ALONG_X, ALONG_Y, ALONG_Z)
    tail = JuiceBody(5, "Tail", Triple(0, 0, 1))
    model = JuiceModel(bodies=(*ring.bodies, tail), joints=(*ring.joints, hinge(20, 1, 5, (0, 0, 2), ALONG_X)))
    assert stuck_joints(model.joints) == {10, 11, 12, 13}
    assert count(model)["degrees_of_freedom"] == 7


def test_welded_bodies_fall_and_land_as_one():
    """It was refused: nothing in such a loop could move."""
    run = Run(JuiceModel(erp=1.0, cfm=0.001, friction=50.0, bodies=PAIR, joints=ACROSS))
    path = run.go(3.0)
    away = path[:, 1, :3] - path[:, 0, :3]
    assert np.linalg.norm(away, axis=1) == pytest.approx(1.2, abs=1e-9)
    assert path[-1, :, 2] == pytest.approx(0.5, abs=0.01)
    assert np.abs(path[-1, :, 3:6]).max() < 1e-3


def test_welded_bodies_that_overlap_leave_each_other_alone_and_are_not_told_of():
    """The outer two of three overlap, and the joints between them and the middle one are stuck: no blow parts them."""
    three = boxes((0, 0, 5), (0, 0, 6.05), (0.3, 0, 5.2))
    joints = (*ACROSS, *(hinge(20 + k, 2, 3, (0, k, 5.5), axis) for k, axis in enumerate((ALONG_X, ALONG_Y))))
    problems = Problems()
    run = Run(JuiceModel(cfm=0.0, erp=1.0, bodies=three, joints=joints), problems=problems)
    assert not list(problems)
    path = run.go(0.3)
    assert path[-1, :, 3:5] == pytest.approx(0.0, abs=1e-9)
    assert path[-1, 0, 5] == pytest.approx(-9.81 * 0.3, rel=1e-6)


def test_a_motor_of_a_joint_that_is_stuck_is_told_of_and_turns_nothing():
    problems = Problems()
    model = JuiceModel(cfm=0.001, bodies=PAIR, joints=ACROSS, behaviours=(holding(30.0, joint=11),))
    run = Run(model, problems=problems)
    assert [problem.code for problem in problems] == ["W939"]
    assert "Joint 11" in problems.warnings[0].message
    run.go(0.3)
    assert run.state[:, 10:] == pytest.approx(0.0, abs=1e-9)
