"""Runs that start from velocities at a node: states made for them, momenta and energies of the first row."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.geometry.pose import rotate
from cbsim.multibody import (
    Box,
    Mechanism,
    Origin,
    Prismatic,
    SolverOptions,
    generate_storage,
    get_minimal_state,
    maximal_to_minimal,
    mechanical_energy,
    minimal_dimension,
    minimal_to_maximal,
    momentum,
    rollout,
    set_minimal_state,
    simulate,
    step_minimal_coordinates,
)
from cbsim.multibody.gallery import chain, slider, snake
from tests.multibody.common import KINDS

NODAL = SolverOptions(rtol=1e-12, nodal_start=True)
FOURTH = SolverOptions(rtol=1e-12, nodal_start=True, order=4)
SCALES = [(1e-3, 3e-4), (1.0, 0.01), (1e3, 0.2), (1e6, 1.0)]  # [kg], [s]


def moving_snake(kind, h=0.01):
    random = np.random.default_rng(3)
    q = random.normal(size=4)
    m = snake(4, joint=kind, axes=random.normal(size=(3, 3)), orientation_offset=q / np.linalg.norm(q), timestep=h)
    return m, random.uniform(0.0, 1.0, minimal_dimension(m))


@pytest.mark.parametrize("kind", KINDS)
def test_velocities_at_the_node_are_the_limit_of_differences_over_shorter_and_shorter_steps(kind):
    (fine, x), (finer, _) = moving_snake(kind, 2e-4), moving_snake(kind, 1e-4)
    limit = 2.0 * minimal_to_maximal(finer, x) - minimal_to_maximal(fine, x)
    np.testing.assert_allclose(minimal_to_maximal(fine, x, options=NODAL), limit, rtol=0, atol=1e-7)


@pytest.mark.parametrize("options", [NODAL, FOURTH, SolverOptions(order=4)], ids=["nodal", "nodal, 4", "4"])
@pytest.mark.parametrize("kind", KINDS)
def test_options_take_a_minimal_state_there_and_back(kind, options):
    m, x = moving_snake(kind)
    there = minimal_to_maximal(m, x, options=options)
    np.testing.assert_allclose(maximal_to_minimal(m, there, options=options), x, rtol=0, atol=1e-10)
    set_minimal_state(m, x, options=options)
    np.testing.assert_allclose(get_minimal_state(m, options=options), x, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("options", "order"), [(NODAL, 2), (FOURTH, 4)], ids=["second", "fourth"])
def test_a_moving_start_keeps_the_order_of_the_steps(options, order):
    seen = []
    for h in (0.05, 0.025, 0.0125):
        m = chain(2, timestep=h)
        z = minimal_to_maximal(m, (np.pi / 4, 0.7, 0.2, 0.5), options=options)
        seen.append(maximal_to_minimal(m, rollout(m, z, round(1 / h), options=options)[-1])[::2])
    ratio = np.linalg.norm(seen[0] - seen[1]) / np.linalg.norm(seen[1] - seen[2])
    assert ratio == pytest.approx(2.0**order, rel=0.15)


def test_steps_in_minimal_coordinates_go_on_from_what_a_start_at_the_node_gives():
    m, x = moving_snake("Orbital")
    z = minimal_to_maximal(m, x, options=FOURTH)
    after = step_minimal_coordinates(m, x, options=FOURTH)
    plain = SolverOptions(rtol=1e-12, order=4)
    np.testing.assert_allclose(after, maximal_to_minimal(m, rollout(m, z, 1, options=FOURTH)[-1], options=plain))
    want = maximal_to_minimal(m, rollout(m, z, 2, options=FOURTH)[-1], options=plain)
    np.testing.assert_allclose(step_minimal_coordinates(m, after, options=plain), want, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("mass", "h"), SCALES)
def test_momentum_and_energy_of_row_0_are_those_of_the_velocities_at_the_node(mass, h):
    m = slider(mass=mass, spring=0.3 * mass / h**2, timestep=h, gravity=0.0)
    options = SolverOptions(rtol=1e-12 * mass, nodal_start=True)
    speed, far = 2.0, 0.3 * 2.0 * h
    start = minimal_to_maximal(m, (far, speed), options=options)
    energy = 0.5 * mass * speed**2 + 0.5 * m.joints[0].translational.spring * far**2
    for s in (
        simulate(m, 20, start, options=options),
        generate_storage(m, rollout(m, start, 20, options=options), options=options),
        simulate(m, 1, start, options=options, record=False),
    ):
        np.testing.assert_allclose(momentum(m, s)[0], [0, 0, mass * speed, 0, 0, 0], rtol=1e-12, atol=1e-12 * mass)
        assert mechanical_energy(m, s)[0] == pytest.approx(energy, rel=1e-12)
    last = simulate(m, 20, start, options=options, record=False)
    np.testing.assert_array_equal(momentum(m, last)[0], momentum(m, simulate(m, 20, start, options=options))[-1])


def test_angular_momentum_of_row_0_is_that_of_the_spin_at_the_node():
    m, x = moving_snake("Spherical")
    s = simulate(m, 2, minimal_to_maximal(m, x, options=NODAL), options=NODAL)
    for i, body in enumerate(m.bodies):
        np.testing.assert_allclose(rotate(s.q[0, i], s.pq[0, i]), rotate(s.q[0, i], body.inertia @ s.w[0, i]))
        np.testing.assert_allclose(s.wl[0, i], s.w[0, i])


@pytest.mark.parametrize(("mass", "h"), SCALES)
@pytest.mark.parametrize("rails", [1, 2], ids=["tree", "loop"])
def test_a_damper_takes_half_a_step_of_a_velocity_at_the_node(mass, h, rails):
    """M v⁺ = M v₀ − (h/2) d v⁺: in a step from the node itself all forces act for half as long."""
    origin, box = Origin(), Box(0.4, 0.4, 0.4, mass=mass).body(name="box")
    d = 0.7 * mass / h
    joints = [Prismatic(origin, box, (0, 0, 1), damper=d / rails, name=f"rail {k}") for k in range(rails)]
    m = Mechanism(origin, [box], joints, timestep=h, gravity=0.0)
    options = SolverOptions(rtol=1e-12 * mass, btol=1e-12 * mass, nodal_start=True)
    after = rollout(m, minimal_to_maximal(m, (0.0, 1.5), options=options), 1, options=options)[-1]
    assert after[5] == pytest.approx(1.5 / (1.0 + 0.5 * 0.7), rel=1e-10)
