"""Legs: the table of the reference, and laws of inverse kinematics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cbsim.models.irit.limbs import Limbs

LEG = Limbs(np.array([[0.9, 0.5, 1.0]]), np.array([[0.9, 1.1, 1.35]]), np.array([[0.9, 1.5, 0.0]]))
TABLE = [  # offset of the foot, ψ, θ, κ [degrees], knee
    ((0, 0, 0), 90, 30.256437, 76.247924, (0.9, 1.1, 1.35)),
    ((0.2, 0, 0), 78.690068, 29.769825, 77.451148, (1.018248, 1.091242, 1.344892)),
    ((0.1, 0, 0.3), 84.289407, 55.141784, 60.439972, (0.939504, 0.895039, 1.569985)),
    ((0, 0.2, 0), 90, 24.525783, 89.267700, (0.9, 1.13195, 1.28834)),
    ((0, 0, -0.3), 90, 6.084185, 96.605144, (0.9, 1.19071, 1.073623)),
    ((0, 0, 0.5), 90, 72.697321, 51.600409, (0.9, 0.706594, 1.663188)),
]
LENGTH = st.floats(0.3, 2.0)
ANGLE = st.floats(-3.0, 3.0)


def test_the_lengths_and_the_reach_are_those_of_the_table():
    assert LEG.upper[0] == pytest.approx(0.6946221995, abs=1e-10)
    assert LEG.lower[0] == pytest.approx(1.4080127840, abs=1e-10)
    assert np.ravel(LEG.reach) == pytest.approx([0.7133905846, 2.1026349835], abs=1e-9)


@pytest.mark.parametrize(("offset", "yaw", "lift", "bend", "knee"), TABLE)
def test_the_table_of_the_reference_is_met(offset, yaw, lift, bend, knee):
    found = LEG.posture(LEG.foot + np.array(offset, float))
    assert np.degrees([found.yaw[0], found.lift[0], found.bend[0]]) == pytest.approx([yaw, lift, bend], abs=1e-6)
    assert found.knee[0] == pytest.approx(knee, abs=1e-5)


def forward(limbs, yaw, lift, bend):
    """Where an upright leg has its foot: hip part along its elevation, shin folded by what the knee lacks of π."""
    ahead = np.array([np.cos(yaw), np.sin(yaw), 0.0])
    up = np.array([0.0, 0.0, 1.0])
    down = lift + bend - np.pi
    knee = limbs.root[0] + limbs.upper[0] * (np.cos(lift) * ahead + np.sin(lift) * up)
    return knee + limbs.lower[0] * (np.cos(down) * ahead + np.sin(down) * up)


@given(LENGTH, LENGTH, st.floats(-3.1, 3.1), st.floats(-0.4, 1.2), st.floats(0.3, 2.8))
def test_inverse_kinematics_inverts_forward_kinematics(a, b, yaw, lift, bend):
    root, knee = np.zeros((1, 3)), np.array([[a, 0.0, 0.2]])
    limbs = Limbs(root, knee, knee + np.array([0.1, 0.0, -b]))
    foot = forward(limbs, yaw, lift, bend)
    assume(np.hypot(foot[0], foot[1]) > 1e-3 and foot[:2] @ (np.cos(yaw), np.sin(yaw)) > 0.0)
    found = limbs.posture(foot[None])
    assert np.cos(found.yaw[0] - yaw) == pytest.approx(1.0, abs=1e-12)
    assert found.lift[0] == pytest.approx(lift, abs=1e-7)  # an arc cosine doubles the digits that rounding costs
    assert found.bend[0] == pytest.approx(bend, abs=1e-7)


@given(st.tuples(LENGTH, ANGLE, LENGTH), st.tuples(ANGLE, LENGTH, st.floats(-3, -1)), st.tuples(ANGLE, ANGLE, ANGLE))
def test_lengths_hold_and_feet_are_where_they_should_be_however_the_leg_leans(knee, foot, target):
    knee, foot = np.array([knee]), np.array([foot])
    assume(np.linalg.norm(np.cross(knee, foot)) > 0.05 and np.linalg.norm(foot - knee) > 0.1)
    limbs = Limbs(np.zeros((1, 3)), knee, foot)
    assert limbs.rest.knee[0] == pytest.approx(knee[0], abs=1e-7)
    goal = np.array([target])
    assume(limbs.reaches(goal)[0] and np.hypot(goal[0, 0], goal[0, 1]) > 1e-3 and np.linalg.norm(goal) > 1e-3)
    found = limbs.posture(goal)
    assert np.linalg.norm(found.knee[0]) == pytest.approx(limbs.upper[0], rel=1e-12)
    assert found.knee[0] + limbs.lower[0] * found.shin[0, :, 0] == pytest.approx(goal[0], abs=1e-7)
    for axes in (found.hip[0], found.shin[0]):
        assert axes.T @ axes == pytest.approx(np.eye(3), abs=1e-7)


def test_a_foot_out_of_reach_is_pointed_at_with_a_straight_leg():
    found = LEG.posture(LEG.root + np.array([[0.0, 5.0, 0.0]]))
    assert found.bend[0] == pytest.approx(np.pi, abs=1e-7)
    assert found.hip[0, :, 0] == pytest.approx([0.0, 1.0, 0.0], abs=1e-7)
    assert not LEG.reaches(LEG.root + np.array([[0.0, 5.0, 0.0]]))[0]


def test_a_foot_straight_below_its_root_points_as_the_leg_does_at_rest():
    found = LEG.posture(LEG.root - np.array([[0.0, 0.0, 1.2]]))
    assert found.yaw[0] == pytest.approx(np.pi / 2)
    assert np.isfinite(found.hip).all()
