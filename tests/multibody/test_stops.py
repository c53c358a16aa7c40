"""Bounds of joints with several rotations push along their coordinates, and along nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.multibody import (
    Box,
    Mechanism,
    Origin,
    Prototype,
    SolverOptions,
    gallery,
    get_maximal_state,
    get_minimal_gradients,
    kinetic_energy,
    maximal_to_minimal,
    minimal_to_maximal,
    rollout,
    simulate,
    step_minimal_coordinates,
)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("kind", "dof"), [("Orbital", 2), ("Spherical", 3)])
def test_a_body_thrown_into_the_corner_of_its_bounds_never_gains_energy(kind, dof, seed):
    random = np.random.default_rng(seed)
    origin, box = Origin(), Box(0.3, 0.4, 0.5, mass=1.0).body(name="box")
    bound = 1.2 if dof == 3 else 1.5
    joint = Prototype(kind, origin, box, (1, 0, 0), child_vertex=(0.1, 0.2, 0.3), joint_limits=(-bound, bound))
    m = Mechanism(origin, [box], [joint], gravity=0.0, timestep=0.005)
    x = np.zeros(2 * dof)
    x[:dof], x[dof:] = bound * random.uniform(-0.9, 0.9, dof), random.normal(size=dof)
    s = simulate(m, 800, minimal_to_maximal(m, x), options=SolverOptions(rtol=1e-10, btol=1e-8))
    energy = kinetic_energy(m, s)
    seen = np.array([maximal_to_minimal(m, s.state(k))[:dof] for k in range(len(s))])
    assert np.abs(seen).max() == pytest.approx(bound, abs=1e-3)
    assert np.diff(energy).max() < 1e-3 * energy[0]


def test_a_humanoid_on_its_bounds_has_the_gradients_of_its_step():
    m = gallery.humanoid(limited=True, body_contacts=True)
    z = rollout(m, get_maximal_state(m), 150)[-1]
    x, u = maximal_to_minimal(m, z), np.full(m.compiled.inputs, 0.1)
    by_state, _ = get_minimal_gradients(m, x, u, options=SolverOptions(kappa=1e-4))
    tight, e = SolverOptions(kappa=1e-4, rtol=1e-12), 1e-7
    for k in range(len(x)):
        d = e * np.eye(len(x))[k]
        ahead, back = (step_minimal_coordinates(m, x + s * d, u, options=tight) for s in (1, -1))
        np.testing.assert_allclose((ahead - back) / (2 * e), by_state[:, k], atol=1e-6 * np.abs(by_state).max())


@pytest.mark.parametrize("height", [0.25, 0.3])
def test_a_humanoid_that_falls_in_a_heap_on_its_bounds_is_solved(height):
    m = gallery.humanoid(limited=True, body_contacts=True, height=height)
    assert simulate(m, 1000).is_solved.all()
