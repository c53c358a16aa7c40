"""Poses that no solver can take at once: beyond stops, below the ground, in one another where joints keep bodies."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import Problems
from cbsim.models.juice.build import BACK
from cbsim.spec.juice import JointKind, JuiceBody, JuiceJoint, JuiceModel
from cbsim.spec.objects import Triple
from tests.models.juice.texts import Run, holding, pillar, turntable


@pytest.mark.parametrize("kind", [JointKind.HINGE, JointKind.SLIDER])
def test_a_joint_far_beyond_its_stop_is_brought_back_at_a_pace(kind):
    """ODE brings it back in one step, which flings light bodies away; an ERP of 1 asked for 138 rad/s here."""
    stop = 79.0 if kind is JointKind.HINGE else 2.0
    joint = {"low": stop, "has_low": True}
    run = Run(turntable(joint=joint, kind=kind, cfm=1e-6))
    path = run.go(3.0)
    speeds = path[:, :, 10:] if kind is JointKind.HINGE else path[:, :, 3:6]
    assert 0.9 * BACK < np.abs(speeds).max() < 1.01 * BACK


def test_a_joint_a_little_beyond_its_stop_is_brought_back_as_in_ode():
    run = Run(turntable(joint={"low": 5.0, "has_low": True}, cfm=1e-9))
    path = run.go(0.02)
    assert 2.0 * np.degrees(np.arctan2(path[1, 1, 9], path[1, 1, 6])) == pytest.approx(5.0, rel=1e-2)


def test_a_body_that_begins_deep_below_the_ground_comes_up_at_a_pace():
    run = Run(JuiceModel(erp=1.0, cfm=1e-5, bodies=(pillar(z=-5.0),)))
    path = run.go(5.0)
    assert np.abs(path[:, 0, 5]).max() < 1.05 * BACK
    assert path[-1, 0, 2] == pytest.approx(0.5, abs=0.01)


def test_bodies_that_overlap_where_joints_keep_them_push_for_nothing_and_run():
    """Two boxes on one post, each on a hinge about the vertical, overlap: no motion of theirs parts them."""
    post = JuiceBody(1, "Post", Triple(0, 0, 0.5), mass=50.0)
    up, low = JuiceBody(2, "Up", Triple(0, 0, 1.7)), JuiceBody(3, "Low", Triple(0, 0, 1.5))
    at = Triple(0, 0, 1.2)
    hinges = tuple(JuiceJoint(JointKind.HINGE, 10 + k, position=at, body1=1, body2=k) for k in (2, 3))
    problems = Problems()
    run = Run(JuiceModel(cfm=0.0, erp=1.0, bodies=(post, up, low), joints=hinges), problems=problems)
    assert [problem.code for problem in problems] == ["W939"]
    path = run.go(2.0)
    assert np.abs(path[-1, :, 2] - path[0, :, 2]).max() < 0.02


def test_a_servo_asks_for_no_more_turning_than_a_step_can_follow():
    """Gain 100 and 150 degrees are 1500 rad/s, fifteen radians in a step: the run failed in its first."""
    run = Run(turntable(holding(150.0), gain=100.0, cfm=1e-6))
    path = run.go(0.5)
    assert np.abs(path[:, 1, 10:]).max() < 105.0
    assert np.isfinite(path).all()
