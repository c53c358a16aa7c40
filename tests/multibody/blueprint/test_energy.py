"""Row `energy` of the blueprint: from t = 1 s on, with the blueprint's settings (h = 0.01).

Stronger than there: the error goes with the square of the step at three lengths, and is bounded over 1e5 steps.
A pendulum's are in `tests/multibody/test_closed_forms.py`. Energies are those of nodes (docs/theory/integrator.md §9).
"""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.multibody import (
    Box,
    Mechanism,
    Origin,
    Prismatic,
    Prototype,
    SolverOptions,
    gallery,
    generate_storage,
    get_minimal_state,
    kinetic_energy,
    mechanical_energy,
    minimal_to_maximal,
    rollout,
    set_minimal_state,
    simulate,
)
from cbsim.spec.mechanism.joints import PROTOTYPES
from tests.multibody.blueprint.mechanisms import TIGHT, equipped
from tests.multibody.common import KINDS

NODAL = SolverOptions(rtol=1e-12, nodal_start=True)


def spread(mechanism, storage, first=100):
    """Largest difference of energies from t = 1 s on, relative to the mean kinetic energy: zero is where one says."""
    energy, moving = mechanical_energy(mechanism, storage)[first:], kinetic_energy(mechanism, storage)[first:]
    return np.ptp(energy) / moving.mean()


def slider(spring, gravity, h=0.01):
    """A box of 1 kg on an upright rail."""
    origin, box = Origin(), Box(0.1, 0.1, 1.0, mass=1.0).body(name="box")
    rail = Prismatic(origin, box, (0, 0, 1), child_vertex=(0, 0, 0.5), spring=spring)
    return Mechanism(origin, [box], [rail], timestep=h, gravity=gravity)


def test_a_tossed_die_keeps_its_energy_in_flight():
    m = gallery.block(gravity=-10.0, height=200.0, velocity=(1.0, 2.0, 3.0), angular_velocity=(0.5, -1.0, 1.5))
    assert spread(m, simulate(m, 500, options=TIGHT)) < 1e-10


def test_a_pendulum_on_a_spring_keeps_its_energy():
    m = gallery.pendulum(spring=1.0, gravity=0.0, angle=0.7)
    assert spread(m, simulate(m, 2500, options=TIGHT)) < 1e-3


def test_a_slider_on_a_spring_swings_as_wide_and_as_fast_as_it_began():
    m = slider(10.0, 0.0)
    s = simulate(m, 2500, minimal_to_maximal(m, (0.5, 0.0)), options=NODAL)
    place, speed = s.x[:, 0, 2] + 0.5, s.vl[1:, 0, 2]
    assert np.abs(place).max() == pytest.approx(0.5, abs=1e-4)
    assert np.abs(speed).max() == pytest.approx(0.5 * np.sqrt(10.0), rel=2e-4)
    assert spread(m, s) < 1e-3


@pytest.mark.parametrize(("spring", "limit"), [(0.0, 1e-11), (10.0, 1e-3)])
def test_a_slider_that_falls_keeps_its_energy(spring, limit):
    m = slider(spring, -9.81)
    assert spread(m, simulate(m, 500, minimal_to_maximal(m, (0.5, 0.0)), options=TIGHT)) < limit


@pytest.mark.parametrize("twisted", [False, True], ids=["snake", "twister"])
@pytest.mark.parametrize("kind", KINDS)
def test_five_bodies_on_springs_keep_their_energy(kind, twisted):
    m = thrown(kind, twisted, 0.01)
    assert spread(m, simulate(m, 500, options=NODAL)) < (1e-3 if twisted and kind == "Revolute" else 1e-2)


def thrown(kind, twisted, h, links=5):
    """A snake on springs with some rate at every joint, in space."""
    m = gallery.snake(links, joint=kind, twisted=twisted, spring=1.0, timestep=h)
    x = get_minimal_state(m)
    x[:] = np.random.default_rng(4).uniform(-0.2, 0.2, x.size)
    set_minimal_state(m, x)
    return m


@pytest.mark.parametrize("kind", ["Revolute", "Orbital", "Spherical", "Floating"])
def test_a_spring_that_pulls_to_one_side_keeps_its_energy(kind):
    m = pulled(kind, 0.01)
    assert spread(m, simulate(m, 400, options=NODAL)) < 1e-2


def pulled(kind, h):
    """A box on a joint whose spring is slack far from where it starts."""
    origin, box = Origin(), Box(0.3, 0.4, 0.5, mass=1.0).body(name="box")
    dof = sum(PROTOTYPES[kind])
    where = {} if kind == "Floating" else {"child_vertex": (0, 0.1, 0.2)}
    joint = Prototype(
        kind, origin, box, (0, 0, 1) if where else None, spring=3.0, spring_offset=np.full(dof, 0.6), **where
    )
    m = Mechanism(origin, [box], [joint], timestep=h, gravity=0.0)
    set_minimal_state(m, np.concatenate([np.linspace(0.3, 0.5, dof), np.linspace(1.0, -1.5, dof)]))
    return m


@pytest.mark.parametrize(("name", "limit"), [("ant", 1e-2), ("humanoid", 2e-3), ("quadruped", 1e-2)])
def test_robots_on_springs_keep_their_energy_in_space(name, limit):
    m = equipped(gallery.build(name, gravity=0.0, height=10.0, timestep=0.01), 1.0, 0.0)
    x = get_minimal_state(m)
    x[6:] += np.random.default_rng(2).uniform(-0.5, 0.5, x.size - 6)
    set_minimal_state(m, x)
    assert spread(m, simulate(m, 300, options=NODAL)) < limit


MOVING = {
    "chain": lambda h: gallery.chain(3, timestep=h, angle=0.4),
    "four-bar": lambda h: gallery.fourbar(timestep=h),
    "spring slider": lambda h: started(slider(10.0, -9.81, h)),
    "snake": lambda h: thrown("Revolute", True, h, links=3),
    "snake of balls": lambda h: thrown("Spherical", True, h, links=3),
    "snake of slots": lambda h: thrown("PlanarAxis", True, h, links=3),
    "knuckle pulled": lambda h: pulled("Orbital", h),
    "ball pulled": lambda h: pulled("Spherical", h),
    "base pulled": lambda h: pulled("Floating", h),
}


def started(mechanism):
    set_minimal_state(mechanism, (0.5, 0.0))
    return mechanism


@pytest.mark.parametrize("name", MOVING)
def test_energy_is_off_by_the_square_of_the_step(name):
    steps, errors = (0.02, 0.01, 0.005), []
    for h in steps:
        m = MOVING[name](h)
        errors.append(np.ptp(mechanical_energy(m, simulate(m, round(4.0 / h), options=NODAL))[1:]))
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    np.testing.assert_allclose(slopes, 2.0, atol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", MOVING)
def test_energy_stays_bounded_over_a_hundred_thousand_steps(name):
    m = MOVING[name](0.01)
    path = rollout(m, m.pose, 100_000, options=TIGHT)
    energy = mechanical_energy(m, generate_storage(m, path))[:-1]
    parts = energy.reshape(10, -1)
    whole, halves = np.ptp(energy), [np.ptp(half) for half in (energy[:50_000], energy[50_000:])]
    assert np.abs(parts.mean(axis=1) - parts.mean()).max() < 0.2 * whole  # it wanders, and goes nowhere
    assert halves[1] < 1.3 * halves[0]
