"""Gradients with closed forms: a pendulum, the relaxed laws of contact, the controller of a cart and its pole."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.multibody import (
    Body,
    Floating,
    Mechanism,
    Origin,
    Prismatic,
    Revolute,
    SolverOptions,
    Sphere,
    contact_constraint,
    get_maximal_gradients,
    get_minimal_gradients,
    minimal_to_maximal,
    rollout_gradients,
    step_minimal_coordinates,
)


def resting_point(law, friction=0.5, **options):
    """Return a body of 1 kg and a state of it in which its centre, which may touch the ground, is on the ground."""
    origin, body = Origin(), Body(1.0, np.eye(3))
    contact = contact_constraint(body, (0, 0, 1), friction_coefficient=friction, contact_type=law)
    return Mechanism(origin, [body], [Floating(origin, body)], contact, **options), np.zeros(12)


@pytest.mark.parametrize(
    ("force", "height", "slope"),
    [
        (0.05, 1.5311288741e-3, 0.0189913164),
        (0.1, 3.1622776602e-3, 0.05),  # h / (2 m), exactly
        (0.15, 6.5311288741e-3, 0.0810086836),
    ],
)
@pytest.mark.parametrize("law", ["impact", "nonlinear", "linear"])
def test_lifting_off_is_the_root_of_a_quadratic(law, force, height, slope):
    """(m/h) x² − (F − m g h) x − kappa = 0."""
    mechanism, x = resting_point(law, timestep=0.1, gravity=-1.0, input_scaling=1.0)
    u, options = np.array([0, 0, force, 0, 0, 0]), SolverOptions(kappa=1e-4, rtol=1e-13)
    after = step_minimal_coordinates(mechanism, x, u, options=options)
    assert after[2] == pytest.approx(height, abs=1e-12)
    _, by_input = get_minimal_gradients(mechanism, x, u, options=options)
    exact = after[2] / (2.0 * after[2] / 0.1 - (force - 0.1))
    assert by_input[2, 2] == pytest.approx(exact, abs=1e-12)
    assert by_input[2, 2] == pytest.approx(slope, abs=1e-9)
    assert by_input[8, 2] == pytest.approx(10.0 * exact, abs=1e-10)


@pytest.mark.parametrize("push", [0.0, 0.03, 0.049, 0.06, 0.2])
def test_sticking_and_slipping_are_one_smooth_law(push):
    """m v = P − mu N v / (eps + √(eps² + v²)), eps = kappa / (2 mu N); N does not depend on P."""
    h, mu, kappa = 0.01, 0.5, 1e-5
    mechanism, x = resting_point("nonlinear", mu, timestep=h, input_scaling=1.0)
    x[2] = kappa / (9.81 * h)  # where it rests
    u, options = np.array([push, 0, 0, 0, 0, 0]), SolverOptions(kappa=kappa, rtol=1e-15)
    normal = 9.81 * h
    v = step_minimal_coordinates(mechanism, x, u, options=options)[6]
    eps = kappa / (2.0 * mu * normal)
    root = np.hypot(eps, v)
    assert v == pytest.approx(push - mu * normal * v / (eps + root), abs=1e-10)
    stiff = mu * normal * (eps + root - v * v / root) / (eps + root) ** 2
    by_state, by_input = get_minimal_gradients(mechanism, x, u, options=options)
    assert by_input[6, 0] == pytest.approx(1.0 / (1.0 + stiff), abs=1e-9)
    assert by_state[6, 6] == pytest.approx(1.0 / (1.0 + stiff), abs=1e-9)
    across = mu * normal / (eps + root)  # sideways the law is a viscous one
    assert by_input[7, 1] == pytest.approx(1.0 / (1.0 + across), abs=1e-9)
    assert by_state[6, 0] == pytest.approx(0.0, abs=1e-9)


def test_gradient_of_a_pendulum_is_that_of_its_recursion():
    h, inertia, arm = 0.01, 1.01 / 12 + 0.25, 0.5
    origin, rod = Origin(), Body(1.0, np.diag([1.01 / 12, 1.01 / 12, 0.02 / 12]))
    mechanism = Mechanism(origin, [rod], [Revolute(origin, rod, (1, 0, 0), child_vertex=(0, 0, arm), spring=3.0)])
    for angle, rate, torque in ((0.7, 2.0, 0.3), (2.5, -9.0, -4.0)):
        x = np.array([angle, rate])
        by_state, by_input = get_minimal_gradients(mechanism, x, [torque], options=SolverOptions(rtol=1e-13))
        k = h * h / inertia
        turn = np.arcsin(np.sin(h * rate) - k * (9.81 * arm * np.sin(angle) + 3.0 * angle - torque))
        by_angle = -k * (9.81 * arm * np.cos(angle) + 3.0) / np.cos(turn)
        by_rate, by_torque = h * np.cos(h * rate) / np.cos(turn), k / np.cos(turn)
        expected = [[1.0 + by_angle, by_rate], [by_angle / h, by_rate / h]]
        np.testing.assert_allclose(by_state, expected, atol=1e-10)
        np.testing.assert_allclose(by_input[:, 0], [by_torque, by_torque / h], atol=1e-10)


def test_a_free_ball_in_maximal_coordinates():
    origin, ball = Origin(), Sphere(0.5, mass=2.0).body()
    mechanism = Mechanism(origin, [ball], [Floating(origin, ball)], timestep=0.05)
    x = np.zeros(12)
    x[6:] = 1.0, 2.0, 3.0, 0.3, -0.2, 0.5
    by_state, by_input = get_maximal_gradients(mechanism, minimal_to_maximal(mechanism, x))
    np.testing.assert_allclose(by_state[:3, :6], np.c_[np.eye(3), 0.05 * np.eye(3)], atol=1e-10)
    np.testing.assert_allclose(by_state[3:6, :6], np.c_[np.zeros((3, 3)), np.eye(3)], atol=1e-10)
    np.testing.assert_allclose(by_state[9:, 9:], np.eye(3), atol=1e-10)  # a ball keeps its spin
    np.testing.assert_allclose(by_input[:3, :3], 0.05**2 / 2.0 * np.eye(3), atol=1e-12)
    np.testing.assert_allclose(by_state[:6, 6:], 0.0, atol=1e-12)


def cartpole():
    """Return the cart and pole of 1 kg each, upright at zero."""
    origin = Origin()
    cart, pole = Body(1.0, np.eye(3), name="cart"), Body(1.0, np.diag([0.10252462, 0.1, 0.1]), name="pole")
    joints = [Prismatic(origin, cart, (0, 1, 0)), Revolute(cart, pole, (1, 0, 0), child_vertex=(0, 0, -0.5))]
    return Mechanism(origin, [cart, pole], joints, timestep=0.01)


def riccati(a, b, q, r):
    """Gain of the best controller, by iterating the Riccati equation until nothing changes."""
    p = q.copy()
    for _ in range(20000):
        gain = np.linalg.solve(r + b.T @ p @ b, b.T @ p @ a)
        following = q + a.T @ p @ (a - b @ gain)
        if np.abs(following - p).max() <= 1e-12 * np.abs(p).max():
            return gain
        p = following
    raise AssertionError("the Riccati equation did not settle")


def test_cart_and_pole_have_the_known_gradient_and_controller():
    a, b = get_minimal_gradients(cartpole(), np.zeros(4), np.zeros(2))
    assert a[1, 2] == pytest.approx(0.0538952661, rel=1e-7)
    assert a[3, 2] == pytest.approx(0.215581064, rel=1e-7)
    assert b[1, 0] == pytest.approx(7.74695546e-3, rel=1e-7)
    assert b[3, 0] == pytest.approx(1.09878218e-2, rel=1e-7)
    gain = riccati(a, b[:, :1], np.eye(4), np.eye(1))
    np.testing.assert_allclose(gain[0], [-0.94883785, -2.54837489, 48.66267199, 10.87102399], rtol=1e-5)


def test_the_controller_of_the_gradient_holds_the_pole_up():
    mechanism = cartpole()
    a, b = get_minimal_gradients(mechanism, np.zeros(4), np.zeros(2))
    gain = riccati(a, b[:, :1], np.eye(4), np.eye(1))
    x = np.array([0.1, 0.0, 0.2, 0.0])
    for _ in range(1500):
        x = step_minimal_coordinates(mechanism, x, [-float(gain[0] @ x), 0.0])
    assert np.abs(x).max() < 1e-3


def test_a_product_of_gradients_is_the_gradient_of_many_steps():
    mechanism = cartpole()
    x, u, n = np.array([0.1, 0.3, 2.0, -1.0]), np.array([0.5, 0.1]), 40
    _, by_state, _ = rollout_gradients(mechanism, minimal_to_maximal(mechanism, x), n, u)
    total = np.eye(4)
    for each in by_state:
        total = each @ total

    def ahead(x):
        for _ in range(n):
            x = step_minimal_coordinates(mechanism, x, u, options=SolverOptions(rtol=1e-12))
        return x

    e = 1e-5
    expected = np.array([(ahead(x + d) - ahead(x - d)) / (2 * e) for d in e * np.eye(4)]).T
    np.testing.assert_allclose(total, expected, rtol=0.0, atol=1e-6 * np.abs(expected).max())
