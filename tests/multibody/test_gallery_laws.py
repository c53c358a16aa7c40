"""Mechanisms of the gallery obey laws that are known without them: recursions, Riccati's equation, momenta, weights.

Pendulums, the slider, the four-bar, the ball, the tippe top and the wing nut stand in `test_closed_forms`.
"""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.multibody import (
    SolverOptions,
    gallery,
    get_body,
    get_maximal_state,
    get_minimal_gradients,
    get_minimal_state,
    maximal_to_minimal,
    mechanical_energy,
    minimal_to_maximal,
    momentum,
    potential_energy,
    rollout,
    set_external_force,
    set_minimal_state,
    simulate,
)
from cbsim.multibody.gallery.quadrotor import AIRFRAMES
from tests.multibody.common import EXACT

G = 9.81
FINE = SolverOptions(rtol=1e-10, btol=1e-10)


def riccati(a, b):
    """Gain of the linear regulator with Q = I and R = 1, by iterating Riccati's equation to its fixed point."""
    p = np.eye(len(a))
    for _ in range(5000):
        gain = np.linalg.solve(1.0 + b.T @ p @ b, b.T @ p @ a)
        p = np.eye(len(a)) + a.T @ p @ (a - b @ gain)
    return gain[0]


def test_the_regulator_of_the_cart_and_pole_is_the_known_one_and_holds_it_up():
    m = gallery.cartpole(angle=0.0)
    a, b = get_minimal_gradients(m, np.zeros(4), np.zeros(2), options=EXACT)
    assert (a[1, 2], a[3, 2]) == pytest.approx((0.0538952661, 0.215581064), rel=1e-8)
    assert (b[1, 0], b[3, 0]) == pytest.approx((7.74695546e-3, 1.09878218e-2), rel=1e-8)
    gain = riccati(a, b[:, :1])
    np.testing.assert_allclose(gain, (-0.948838, -2.54837, 48.6627, 10.871), rtol=1e-5)
    m = gallery.cartpole(angle=0.4, position=0.5)
    simulate(m, 3000, control=lambda mechanism, _: (-gain @ get_minimal_state(mechanism), 0.0))
    assert np.abs(get_minimal_state(m)).max() < 1e-4


def test_sliders_on_springs_follow_the_recursion_of_their_masses():
    count, h, k = 4, 0.01, 30.0
    m = gallery.nslider(count, spring=k)
    y = 0.1 * np.arange(1.0, count + 1.0)
    path = rollout(m, minimal_to_maximal(m, np.stack([y, 0 * y], axis=1).ravel()), 300, options=EXACT)
    sums = np.tril(np.ones((count, count)))  # heights are sums of coordinates
    before, seen = y, [y]
    for _ in range(300):
        push = np.linalg.solve(sums.T @ sums, -k * seen[-1] - G * sums.T @ np.ones(count))
        seen.append(2.0 * seen[-1] - before + h * h * push)
        before = seen[-2]
    np.testing.assert_allclose([maximal_to_minimal(m, z)[::2] for z in path], seen, atol=1e-11)


FREE = {
    "ant": ({}, 0.02),
    "halfcheetah": ({}, 1.0),
    "hopper": ({}, 1.0),
    "humanoid": ({"limited": True}, 1.0),
    "quadrotor": ({"spinning": True}, 0.01),
    "quadruped": ({"limited": True}, 0.1),
    "raiberthopper": ({"limits": (-0.6, -0.3)}, 1.0),
    "walker": ({}, 1.0),
}


@pytest.mark.parametrize("name", FREE)
def test_in_space_momentum_is_kept_whatever_motors_dampers_and_bounds_do(name):
    options, strength = FREE[name]
    m = gallery.build(name, gravity=0.0, ground=False, **options)
    random, base = np.random.default_rng(3), m.joints[0]
    x = get_minimal_state(m)
    x[base.minimal_index[1]] = 0.3 * np.arange(1, base.dof + 1)
    push = strength * random.normal(size=(100, m.compiled.inputs))
    push[:, : base.dof] = 0.0
    s = simulate(m, 100, minimal_to_maximal(m, x), push, options=SolverOptions(rtol=1e-12, btol=1e-8))
    kept, moved = momentum(m, s), s.state(99) - s.state(0)
    scale = np.abs(kept[0]).max()
    assert scale > 0.1
    assert np.abs(moved).max() > 0.1
    assert np.abs(kept - kept[0]).max() < 1e-9 * max(1.0, scale)


@pytest.mark.parametrize("name", ["ant", "humanoid", "panda", "quadruped", "walker"])
def test_energy_without_dampers_is_off_by_the_square_of_the_step(name):
    options = {"panda": {}}.get(name, {"ground": False})
    errors = []
    for h in (0.004, 0.002):
        m = gallery.build(name, damper=0.0, spring=2.0, timestep=h, gravity=-1.0, **options)
        x = get_minimal_state(m)
        joints = m.joints if name == "panda" else m.joints[1:]
        for joint in joints:
            if joint.rotational.free:
                x[joint.minimal_index[1]] = 0.5
        s = simulate(m, round(0.4 / h), minimal_to_maximal(m, x), options=SolverOptions(rtol=1e-12, nodal_start=True))
        energy = mechanical_energy(m, s)
        errors.append(np.ptp(energy[1:]))
    assert 3.0 < errors[0] / errors[1] < 5.0


@pytest.mark.parametrize("name", ["halfcheetah", "hopper", "walker"])
def test_what_lives_in_a_plane_stays_in_it(name):
    m = gallery.build(name, limited=True, body_contacts=True, height=0.2)
    s = simulate(m, 300)
    assert np.abs(s.x[..., 1]).max() < 1e-12
    assert np.abs(s.q[..., [1, 3]]).max() < 1e-12
    assert np.abs(s.q[..., 2]).max() > 0.01


def test_in_flight_the_centre_of_a_hopper_falls_on_a_parabola_and_its_leg_swings():
    m = gallery.raiberthopper(height=5.0, spring=500.0, timestep=0.01)
    x = get_minimal_state(m)
    x[6:9], x[-1] = (1.0, -0.5, 2.0), 3.0
    s = simulate(m, 80, minimal_to_maximal(m, x), options=EXACT)
    masses = np.array([body.mass for body in m.bodies])
    centre, speed = (masses @ track / masses.sum() for track in (s.x, s.v))
    n = np.arange(80.0)[:, None]
    want = centre[0] + 0.01 * n * speed[0] - 0.01**2 * G * n * (n + 1) / 2 * np.array([0, 0, 1])
    np.testing.assert_allclose(centre, want, atol=1e-11)
    assert np.ptp(s.x[:, 0, 2] - s.x[:, 1, 2]) > 0.1


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("quadruped", {"spring": 100.0, "damper": 5.0}),
        ("ant", {"spring": 10.0, "damper": 1.0, "timestep": 0.02}),
        ("hopper", {"spring": 1000.0, "damper": 50.0}),
        ("walker", {"spring": 1000.0, "damper": 50.0}),
        ("halfcheetah", {"spring": 200.0, "damper": 10.0}),
        ("humanoid", {"spring": 2000.0, "damper": 100.0}),
        ("quadrotor", {}),
        ("raiberthopper", {"spring": 500.0, "damper": 20.0, "timestep": 0.01}),
    ],
)
def test_what_stands_on_its_springs_keeps_its_feet_still_and_they_carry_its_weight(name, options):
    m = gallery.build(name, **options)
    s = simulate(m, round(4.0 / m.timestep), options=SolverOptions(btol=1e-8))
    assert np.abs(s.v[-1]).max() < 1e-3
    assert np.abs(s.x[-1, 0] - s.x[0, 0]).max() < 0.1
    weight = G * m.timestep * sum(body.mass for body in m.bodies)
    assert sum(contact.impulses[0] for contact in m.contacts) == pytest.approx(weight, rel=1e-3)


@pytest.mark.parametrize("airframe", AIRFRAMES)
def test_four_equal_thrusts_hold_a_quadrotor_and_unequal_ones_turn_it(airframe):
    m, made = gallery.quadrotor(airframe, height=1.0), AIRFRAMES[airframe]
    body = get_body(m, "frame")

    def fly(thrusts, steps):
        force, torque = made.wrench(thrusts)

        def control(*_):
            set_external_force(body, force=force, torque=torque)

        return simulate(m, steps, get_maximal_state(m), control, options=EXACT)

    hover = np.full(4, 0.25 * G * body.mass)
    if airframe == "x2":
        assert hover[0] == pytest.approx(3.2495625, rel=1e-9)
    s = fly(hover, 200)
    np.testing.assert_allclose(s.x[-1], s.x[0], atol=1e-10)
    np.testing.assert_allclose(s.q[-1], s.q[0], atol=1e-10)
    yawed = fly(hover + 0.1 * np.sign(made.drag), 2)
    want = np.linalg.solve(body.inertia, (0.0, 0.0, 0.1 * np.abs(made.drag).sum())) * m.timestep
    np.testing.assert_allclose(yawed.w[1, 0], want, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(yawed.v[1], 0.0, atol=1e-10)


def test_a_panda_is_held_still_by_the_slopes_of_its_potential_energy():
    angles = (0.3, -0.4, 0.5, -1.8, 0.2, 1.4, -0.6)
    m = gallery.panda(angles=angles)
    x = get_minimal_state(m)
    where = np.array([joint.minimal_index[0].start for joint in m.joints])

    def potential(at):
        y = x.copy()
        y[where] = at
        return potential_energy(m, simulate(m, 1, minimal_to_maximal(m, y)))[0]

    e, slopes = 1e-4, []
    for k in range(len(where)):
        d = e * np.eye(len(where))[k]
        slopes.append((potential(x[where] + d) - potential(x[where] - d)) / (2 * e))
    set_minimal_state(m, x)
    s = simulate(m, 100, None, np.tile(slopes, (100, 1)), options=EXACT)
    np.testing.assert_allclose(get_minimal_state(m)[where], x[where], atol=1e-5)
    assert np.abs(s.v[-1]).max() < 1e-5
    assert max(np.abs(slopes[:7])) > 10.0
