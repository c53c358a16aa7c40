"""Symmetric editing: an edit of one side is an edit of the other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cbsim.errors import UsageError
from cbsim.formats.juice.twins import edited
from cbsim.spec.juice import Attitude, JointKind, JuiceBody, JuiceJoint, JuiceModel
from cbsim.spec.objects import Triple


@pytest.fixture
def model():
    torso = JuiceBody(1, "Torso", Triple(0, 0, 2))
    left = JuiceBody(2, "Left Leg", Triple(-1, 0, 1), Attitude(10, 20, 30), twin=3)
    right = JuiceBody(3, "Right Leg", Triple(1, 0, 1), Attitude(-10, 20, -30), twin=2)
    hips = (
        JuiceJoint(JointKind.HINGE, 4, "Left Hip", Triple(-1, 0, 2), Attitude(0, 0, 90), 5, 2, 1),
        JuiceJoint(JointKind.HINGE, 5, "Right Hip", Triple(1, 0, 2), Attitude(0, 0, -90), 4, 3, 1),
    )
    return JuiceModel(bodies=(torso, left, right), joints=hips)


def test_what_is_symmetric_stays_as_it_is(model):
    for part in (*model.bodies, *model.joints):
        assert edited(model, part) == model


def test_a_body_that_is_moved_moves_its_twin_to_the_other_side(model):
    moved = edited(model, replace(model.bodies[1], position=Triple(-2, 3, 4), attitude=Attitude(5, 6, 7), mass=8))
    assert moved.bodies[2] == replace(model.bodies[2], position=Triple(2, 3, 4), attitude=Attitude(-5, 6, -7), mass=8)
    assert moved.bodies[0] == model.bodies[0]


def test_a_joint_ties_the_twins_of_what_its_twin_ties(model):
    changed = edited(model, replace(model.joints[0], gain=3.0, body1=1, body2=2))
    assert (changed.joints[1].body1, changed.joints[1].body2, changed.joints[1].gain) == (1, 3, 3.0)


def test_names_change_sides(model):
    named = edited(model, replace(model.bodies[1], name="my left FOOT, Left"))
    assert named.bodies[2].name == "my right FOOT, Right"


@pytest.mark.parametrize(
    ("name", "mirrored"),
    [
        ("LeftLeg", "RightLeg"),
        ("upperRightArm", "upperLeftArm"),
        ("leg_left", "leg_right"),
        ("left2", "right2"),
        ("LEFT FOOT", "RIGHT FOOT"),
        ("Leftover Bright Cleft UPRIGHT", "Leftover Bright Cleft UPRIGHT"),
    ],
)
def test_sides_are_told_by_words_and_by_capitals(model, name, mirrored):
    assert edited(model, replace(model.bodies[1], name=name)).bodies[2].name == mirrored


def test_a_part_without_a_twin_changes_alone_and_one_that_is_not_there_is_refused(model):
    assert edited(model, replace(model.bodies[0], mass=5)).bodies[0].mass == 5
    with pytest.raises(UsageError, match="ID 9"):
        edited(model, JuiceBody(9))
