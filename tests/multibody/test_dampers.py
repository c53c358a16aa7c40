"""Dampers: the order of their steps, energy that never grows, and the mass that they move at least, at every scale."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.kernels import columns as c
from cbsim.errors import ModelError
from cbsim.multibody import (
    Box,
    Mechanism,
    Origin,
    Prismatic,
    Prototype,
    Revolute,
    SolverOptions,
    diagnostics,
    maximal_to_minimal,
    mechanical_energy,
    minimal_dimension,
    minimal_to_maximal,
    parameters_of,
    rollout,
    simulate,
)
from cbsim.multibody.gallery import slider, snake
from tests.multibody import differences
from tests.multibody.common import KINDS, X, Z

NODAL = SolverOptions(rtol=1e-13, nodal_start=True)
FOURTH = SolverOptions(rtol=1e-13, nodal_start=True, order=4)
SCALES = [(1e-3, 3e-4), (1.0, 0.01), (1e3, 0.2), (4e4, 1.0)]  # [kg], [s]


@pytest.mark.parametrize(("options", "order"), [(NODAL, 2), (FOURTH, 4)], ids=["second", "fourth"])
@pytest.mark.parametrize(("mass", "h"), SCALES)
def test_a_damped_slider_follows_its_closed_form_with_the_order_of_its_steps(mass, h, options, order):
    """X″ = −ω² x − 2 ζ ω x′, with ω h = 0.11 and ζ = 0.14, over a hundred of the longest steps."""
    w, zeta = 0.11 / h, 0.14
    wd, t = w * np.sqrt(1.0 - zeta**2), 100 * h
    far, speed = 0.5, 0.3 * w
    closed = np.exp(-zeta * w * t) * (far * np.cos(wd * t) + (speed + zeta * w * far) / wd * np.sin(wd * t))
    errors = []
    for parts in (1, 2, 4):
        m = slider(mass=mass, spring=mass * w * w, damper=2.0 * zeta * w * mass, gravity=0.0, timestep=h / parts)
        z = minimal_to_maximal(m, (far, speed), options=options)
        errors.append(abs(maximal_to_minimal(m, rollout(m, z, 100 * parts, options=options)[-1])[0] - closed))
    assert errors[0] / errors[1] == pytest.approx(2.0**order, rel=0.2)
    assert errors[0] < (3e-2, 1e-4)[order == 4] * far


def tree(seed, mass, h, damping, kinds=KINDS):
    """Return a random tree of six bodies whose dampers are ``damping`` times mass by step, to 30 times either way."""
    random, origin = np.random.default_rng(seed), Origin()
    bodies = [
        Box(*random.uniform(0.2, 1.0, 3), mass=mass * 10.0 ** random.uniform(-1.5, 1.5)).body(name=f"b{i}")
        for i in range(6)
    ]
    joints = []
    for i, child in enumerate(bodies):
        q = random.normal(size=4)
        parent = origin if i == 0 else ([origin, *bodies[:i]])[random.integers(i + 1)]
        joints.append(
            Prototype(
                kinds[random.integers(len(kinds))], parent, child, random.normal(size=3),
                parent_vertex=random.normal(size=3), child_vertex=random.normal(size=3),
                orientation_offset=q / np.linalg.norm(q),
                damper=damping * mass / h * 30.0 ** random.uniform(-1.0, 1.0) * (random.random() < 0.8), name=f"j{i}",
            )
        )  # fmt: skip
    return Mechanism(origin, bodies, joints, timestep=h, gravity=0.0), random


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "kinds", [KINDS, ("Revolute",), ("Prismatic", "Planar", "Revolute")], ids=["all", "hinges", "plain"]
)
def test_the_least_mass_of_dampers_is_no_more_than_what_they_move_wherever_bodies_are(kinds, seed):
    """Σ μ |ẏ|² ≤ 2 T, of all dampers together, whatever rates joints have."""
    m, random = tree(seed, 1.0, 0.01, 1.0, kinds)
    model, spans = m.compiled.model, []
    for b in range(model.links):
        damped = model.joint[b, c.DAMPER] > 0.0
        spans += [model.joint[b, c.LEAST_MASS] * damped] * int(model.link[b, c.DOF])
    n = minimal_dimension(m)
    which = np.concatenate([np.arange(*m.minimal_index(j)[1].indices(n)) for j in m.compiled.spanning.links])
    for _ in range(200):
        x = random.normal(size=n) * random.choice([0.3, 3.0])
        z = minimal_to_maximal(m, x, options=NODAL).reshape(-1, 13)
        double = sum(
            body.mass * z[i, 3:6] @ z[i, 3:6] + z[i, 10:] @ body.inertia @ z[i, 10:] for i, body in enumerate(m.bodies)
        )
        assert (np.array(spans) * x[which] ** 2).sum() <= double * (1.0 + 1e-9)


def energy_of_half_steps(m, path):
    """Kinetic energy (steps,) of the velocities of states."""
    rows = path.reshape(len(path), -1, 13)
    mass, inertia = np.array([b.mass for b in m.bodies]), np.array([b.inertia for b in m.bodies])
    moving = np.einsum("b,kbi,kbi->k", mass, rows[:, :, 3:6], rows[:, :, 3:6])
    return 0.5 * (moving + np.einsum("bij,kbi,kbj->k", inertia, rows[:, :, 10:], rows[:, :, 10:]))


@pytest.mark.parametrize(("mass", "h"), SCALES)
@pytest.mark.parametrize("damping", [0.01, 1.0, 100.0, 1e6])
@pytest.mark.parametrize("seed", range(3))
def test_dampers_alone_never_add_energy(seed, damping, mass, h):
    """Motion is slow, so that nothing turns by more than rounding: what is left is the damper's own doing."""
    m, random = tree(seed, mass, h, damping)
    x = random.normal(size=minimal_dimension(m))
    for j in m.compiled.spanning.links:
        x[m.minimal_index(j)[1]] *= 3e-6 / h
    options = SolverOptions(rtol=1e-16 * mass / h, nodal_start=True)
    start = minimal_to_maximal(m, x, options=options)
    energy = energy_of_half_steps(m, rollout(m, start, 60, options=options))
    assert (np.diff(energy) <= 1e-9 * energy[:-1] + 1e-16 * energy[0]).all()
    assert energy[-1] < energy[0]
    nodal = mechanical_energy(m, simulate(m, 60, start, options=options))
    assert (np.diff(nodal) <= 1e-9 * nodal[:-1] + 1e-16 * nodal[0]).all()


@pytest.mark.parametrize(("mass", "h"), SCALES)
@pytest.mark.parametrize("strength", [0.1, 1.0, 2.0, 1e2, 1e6, 1e9])
def test_a_damper_never_turns_a_velocity_round_and_a_strong_one_stops_it(strength, mass, h):
    m = slider(mass=mass, damper=strength * mass / h, gravity=0.0, timestep=h)
    v = rollout(m, minimal_to_maximal(m, (0.0, 1.5)), 20, options=SolverOptions(rtol=1e-15 * mass))[:, 5]
    half = min(0.5 * strength, 0.5)
    assert v[1] / v[0] == pytest.approx((1.0 - half) / (1.0 + strength - half), rel=1e-9)
    assert (v[1:] >= -1e-15).all()


def test_what_is_driven_against_a_damper_goes_as_fast_as_it_does_however_strong_it_is():
    for damper in (1.0, 200.0, 1e5):
        m = slider(mass=2.0, damper=damper, gravity=-9.81)
        v = rollout(m, minimal_to_maximal(m, (0.0, 0.0)), 5000, options=SolverOptions(rtol=1e-12))[-1, 5]
        assert v == pytest.approx(-2.0 * 9.81 / damper, rel=1e-8)


def test_diagnostics_tell_of_which_order_dampers_are():
    for strength, order in ((0.5, 2), (1.5, 1)):
        found = diagnostics(slider(mass=2.0, damper=strength * 2.0 / 0.01)).dampers
        assert [(one.joint, one.order) for one in found] == [("rail", order)]
        assert found[0].strength == pytest.approx(strength)
    loose = diagnostics(snake(2, joint="PlanarFree", damper=0.1)).dampers[-1]
    assert (loose.order, loose.strength) == (1, np.inf)  # far from one another bodies resist as little as may be


def test_fourth_order_is_refused_where_a_damper_would_make_it_the_first():
    m = slider(mass=2.0, damper=400.0)
    with pytest.raises(ModelError, match=r"joint 'rail': its damper is too strong for order=4: .* steps of 0\.0076 s"):
        rollout(m, minimal_to_maximal(m, (0.0, 0.0)), 1, options=SolverOptions(order=4))
    origin, box = Origin(), Box(0.4, 0.4, 0.4, mass=1.0).body(name="box")
    m = Mechanism(origin, [box], [Prismatic(origin, box, Z, damper=0.01, name=f"rail {k}") for k in range(2)])
    with pytest.raises(ModelError, match="joints that close loops"):
        rollout(m, minimal_to_maximal(m, (0.0, 0.0)), 1, options=SolverOptions(order=4))
    assert [one.order for one in diagnostics(m).dampers] == [1, 1]


@pytest.mark.parametrize("damper", [0.3, 30.0])
@pytest.mark.parametrize("kind", ["Revolute", "Orbital", "Spherical", "Prismatic", "Cylindrical"])
def test_gradients_go_through_weak_and_strong_dampers(kind, damper):
    random = np.random.default_rng(KINDS.index(kind))
    m = snake(3, joint=kind, axes=random.normal(size=(2, 3)), damper=damper, spring=4.0, timestep=0.02)
    x = random.uniform(-0.5, 0.5, minimal_dimension(m))
    differences.check(m, x, random.normal(size=m.compiled.inputs))


@pytest.mark.parametrize("damper", [0.3, 3.0, 300.0])
def test_gradients_by_masses_and_arms_that_bound_a_strong_damper(damper):
    origin = Origin()
    one, two = (Box(0.3, 0.4, 0.5, mass=mass).body(name=name) for name, mass in (("one", 1.0), ("two", 0.4)))
    joints = [
        Revolute(origin, one, X + 0.3 * Z, child_vertex=(0.1, 0.2, 0.5), damper=damper, name="hinge"),
        Prismatic(one, two, Z, parent_vertex=(0.1, 0.0, -0.4), child_vertex=(0, 0.2, 0), damper=damper, name="rail"),
    ]
    m = Mechanism(origin, [one, two], joints, timestep=0.02)
    x = np.array([0.3, 0.8, 0.2, -0.5])
    differences.check_parameters(m, minimal_to_maximal(m, x), np.array([0.3, -0.2]))
    assert parameters_of(m)


def test_velocities_of_the_step_before_count_the_same_in_minimal_and_maximal_coordinates():
    m = snake(3, joint="Spherical", damper=0.7)
    x = np.random.default_rng(2).uniform(-1.0, 1.0, minimal_dimension(m))
    z = minimal_to_maximal(m, x)
    np.testing.assert_allclose(minimal_to_maximal(m, maximal_to_minimal(m, z)), z, rtol=0, atol=1e-10)
