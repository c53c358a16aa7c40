"""Gradients against a closed form: a pendulum whose step is known in one line."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.graph import eliminate
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.gradients.steps import linearize
from cbsim.dynamics.model import Model, slopes, workspace

H, MASS, LENGTH, GRAVITY = 0.01, 1.0, 0.5, 9.81
INERTIA = 1.01 / 12 + MASS * LENGTH**2


def pendulum() -> Model:
    """Return a box 1 m long that hangs on a hinge about x."""
    link = np.zeros((1, c.LINK_COLUMNS), np.int64)
    link[0, [c.PARENT, c.UP, c.N_ROT, c.DOF]] = -1, -1, 1, 1
    joint = np.zeros((1, c.JOINT_COLUMNS))
    joint[0, [c.MASS, c.FINENESS, c.ORIENTATION]] = MASS, 1.0, 1.0
    joint[0, c.INERTIA : c.INERTIA + 3] = 1.01 / 12, 1.01 / 12, 0.02 / 12
    joint[0, c.SLIDE_AXES : c.SLIDE_AXES + 9] = joint[0, c.TURN_AXES : c.TURN_AXES + 9] = np.eye(3).ravel()
    joint[0, c.CHILD_VERTEX + 2] = LENGTH
    plan = eliminate([-1], [], [])
    return Model(
        1, link, joint, np.zeros((0, 4), np.int64), plan.program, plan.fan, plan.pair, len(plan.blocks),
        np.zeros((0, c.CONTACT_LINK_COLUMNS), np.int64), np.zeros((0, c.CONTACT_COLUMNS)),
        np.zeros((0, 2), np.int64), np.zeros((0, 2)),
    )  # fmt: skip


def state(angle: float, rate: float) -> np.ndarray:
    """Row of a body at an angle that it reached at a rate."""
    z = np.zeros((1, 13))
    last = angle - H * rate
    z[0, :3] = 0.0, LENGTH * np.sin(angle), -LENGTH * np.cos(angle)
    z[0, 3:6] = (z[0, :3] - [0.0, LENGTH * np.sin(last), -LENGTH * np.cos(last)]) / H
    z[0, 6:8] = np.cos(0.5 * angle), np.sin(0.5 * angle)
    z[0, 10] = 2.0 / H * np.sin(0.5 * H * rate)
    return z


@pytest.mark.parametrize(("angle", "rate", "torque"), [(0.7, 2.0, 0.0), (2.5, -3.0, 1.5), (-1.2, 30.0, -4.0)])
def test_gradient_of_a_pendulum_is_that_of_its_recursion(angle, rate, torque):
    model = pendulum()
    settings, counts = np.zeros(c.SETTINGS), np.array([50, 10, 3, 1, 2])
    settings[[c.STEP_LENGTH, c.GRAVITY + 2, c.RTOL, c.LS_SCALE, c.KAPPA]] = H, -GRAVITY, 1e-13, 0.5, -1.0
    z, report = state(angle, rate), np.zeros(c.REPORT)
    by_state, by_input = np.zeros((1, 2, 2)), np.zeros((1, 2, 1))
    linearize(
        model, workspace(model), False, slopes(model, 1, minimal=True), z[None], np.array([[torque]]), np.zeros((1, 6)),
        settings, counts, True, False, (np.zeros((0, 1, 13)), by_state, by_input, report[None]),
    )  # fmt: skip
    assert report[c.STATUS] == c.SOLVED
    k = H * H / INERTIA
    turn = np.arcsin(np.sin(H * rate) - k * MASS * GRAVITY * LENGTH * np.sin(angle) + k * torque)
    assert 2.0 * np.arctan2(z[0, 7], z[0, 6]) == pytest.approx(angle + turn, abs=1e-12)
    by_angle = -k * MASS * GRAVITY * LENGTH * np.cos(angle) / np.cos(turn)
    by_rate, by_torque = H * np.cos(H * rate) / np.cos(turn), k / np.cos(turn)
    expected = [[1.0 + by_angle, by_rate], [by_angle / H, by_rate / H]]
    np.testing.assert_allclose(by_state[0], expected, atol=1e-12)
    np.testing.assert_allclose(by_input[0, :, 0], [by_torque, by_torque / H], atol=1e-12)
