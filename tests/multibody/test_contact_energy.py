"""Contacts give no energy: whatever the masses, the step, the friction coefficient and the restitution."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.multibody import (
    Collider,
    ContactConstraint,
    Floating,
    ImpactContact,
    LinearContact,
    Mechanism,
    NonlinearContact,
    Origin,
    SolverOptions,
    Sphere,
    SphereSphereCollision,
    contact_constraint,
    get_contact,
    mehrotra,
    rollout,
)
from cbsim.multibody.gallery import sphere
from tests.multibody.common import Z

RADIUS, GAP, SPEED = 0.1, 0.05, 1.5
SLIPPERY = (0.0, 1e-12, 1e-9, 1e-6, 1e-3)  # friction coefficients


def balls(masses, law, friction, restitution, timestep):
    """Balls in a row along x in space, which touch as colliders or, neighbours, by constraints of a law."""
    origin = Origin()
    bodies = [Sphere(RADIUS, mass=mass).body(name=f"ball {i}") for i, mass in enumerate(masses)]
    joints = [Floating(origin, body) for body in bodies]
    colliders, contacts = (), []
    if law is None:
        colliders = [Collider(b, b.shape, friction_coefficient=friction, restitution=restitution) for b in bodies]
    for one, other in pairwise(bodies) if law else ():
        collision = SphereSphereCollision((0, 0, 0), (0, 0, 0), RADIUS, RADIUS)
        given_friction = () if law is ImpactContact else (friction,)
        model = law(collision, *given_friction, restitution=restitution)
        contacts.append(ContactConstraint(model, one, other))
    return Mechanism(origin, bodies, joints, contacts, colliders=colliders, timestep=timestep, gravity=0.0)


def row_of(count, gap):
    """State of balls side by side, the first of which flies at the others."""
    z = np.zeros((count, 13))
    z[:, 6], z[0, 3] = 1.0, SPEED
    z[:, 0] = np.arange(count) * (2.0 * RADIUS + 1e-9)
    z[0, 0] -= gap
    return z.ravel()


def collide(masses, law, friction, restitution, timestep):
    """Return the velocities along x (nodes, balls) of a collision of two."""
    m = balls(masses, law, friction, restitution, timestep)
    path = rollout(m, row_of(2, GAP), int(GAP / SPEED / timestep) + 5)
    return path.reshape(len(path), -1, 13)[:, :, 3]


def kinetic(masses, v):
    return 0.5 * (np.asarray(masses) * v**2).sum(axis=-1)


def powers(low, high):
    """Numbers that are as likely in every decade between two powers of ten."""
    return st.floats(low, high).map(lambda exponent: 10.0**exponent)


@given(
    law=st.sampled_from([None, ImpactContact, LinearContact, NonlinearContact]),
    masses=st.tuples(powers(-4, 3), powers(-4, 3)),
    friction=st.sampled_from([0.0, 1e-9, 1e-6, 1e-3, 0.03, 0.3, 1.0]),
    restitution=st.sampled_from([0.0, 0.0, 0.3, 0.7, 1.0]),
    timestep=powers(-4, -1.3),
    speed=powers(-1, 1),
    aside=st.floats(-0.15, 0.15),
    turning=st.floats(-5.0, 5.0),
)
@settings(max_examples=60, deadline=None)
def test_no_contact_gives_energy(law, masses, friction, restitution, timestep, speed, aside, turning):
    """Balls of any two masses meet anywhere, turning, in steps in which they go no farther than half a radius."""
    timestep = min(timestep, 0.5 * RADIUS / speed)
    m = balls(masses, law, friction, restitution, timestep)
    z = np.zeros((2, 13))
    z[:, 6], z[0, 3], z[1, 10:] = 1.0, speed, turning
    z[0, 0], z[1, 1] = -2.0 * RADIUS - 0.02 - 3.0 * timestep * speed, aside
    steps = int(min(0.05 / speed / timestep + 8, 2000))
    path = rollout(m, z.ravel(), steps).reshape(-1, 2, 13)
    turn = np.array([body.inertia[0, 0] for body in m.bodies])
    energy = kinetic(masses, np.linalg.norm(path[:, :, 3:6], axis=2))
    energy += kinetic(turn, np.linalg.norm(path[:, :, 10:13], axis=2))
    lost = kinetic(masses[0] * masses[1] / sum(masses), np.array([speed])) + kinetic(
        turn[1], np.array([3**0.5 * turning])
    )
    assert energy.max() - energy[0] < 5e-3 * lost, "as a share of what a contact can take"
    moved = (np.asarray(masses)[:, None] * path[:, :, 3:6]).sum(axis=1)
    assert np.abs(moved - moved[0]).max() < 1e-5 * masses[0] * speed


@pytest.mark.parametrize("law", [None, NonlinearContact, LinearContact])
@pytest.mark.parametrize("friction", SLIPPERY)
@pytest.mark.parametrize(("mass", "timestep"), [(1.0, 0.01), (1.0, 0.0003), (0.001, 0.01), (1000.0, 0.001)])
def test_two_balls_that_do_not_bounce_go_on_together(law, friction, mass, timestep):
    v = collide((mass, mass), law, friction, 0.0, timestep)
    np.testing.assert_allclose(v[-1], 0.5 * SPEED, atol=0.01 * SPEED)
    np.testing.assert_allclose(v.sum(axis=1), SPEED, rtol=1e-9)
    assert np.diff(kinetic((mass, mass), v)).max() < 1e-3 * kinetic(mass, SPEED)


@pytest.mark.parametrize("friction", SLIPPERY)
@pytest.mark.parametrize("restitution", [0.3, 1.0])
def test_two_balls_part_with_their_share_of_the_speed(friction, restitution):
    v = collide((0.002, 0.005), None, friction, restitution, 0.01)
    assert v[-1, 1] - v[-1, 0] == pytest.approx(restitution * SPEED, rel=1e-3)
    np.testing.assert_allclose(v @ [0.002, 0.005], 0.002 * SPEED, rtol=1e-9)


@pytest.mark.parametrize("law", ["nonlinear", "linear"])
@pytest.mark.parametrize("friction", SLIPPERY)
def test_a_light_ball_that_does_not_bounce_stays_down(law, friction):
    origin, ball = Origin(), Sphere(0.01, mass=1e-3).body(name="ball")
    ground = contact_constraint(ball, Z, contact_radius=0.01, friction_coefficient=friction, contact_type=law)
    m = Mechanism(origin, [ball], [Floating(origin, ball)], ground)
    path = rollout(m, np.array([0, 0, 0.06, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0], float), 100)
    assert path[12:, 2] == pytest.approx(0.01, abs=1e-5)


@pytest.mark.parametrize("friction", SLIPPERY)
def test_a_cradle_of_five_hands_the_speed_on(friction):
    v = rollout(balls([1.0] * 5, None, friction, 1.0, 0.01), row_of(5, GAP), 40).reshape(41, 5, 13)[:, :, 3]
    energy = kinetic([1.0] * 5, v)
    assert energy.max() < (1.0 + 1e-3) * energy[0]
    assert v[-1].sum() == pytest.approx(SPEED, rel=1e-9)


@pytest.mark.parametrize("law", ["nonlinear", "linear"])
@pytest.mark.parametrize("friction", [0.0, 0.2])
def test_impulses_and_slacks_of_a_sliding_contact_are_those_of_its_friction_cone(law, friction):
    m = sphere(friction=friction, mass=2.0, contact_type=law)
    m.pose[:] = np.array([0, 0, 0.5, 3.0, 0, 0, 1, 0, 0, 0, 0, 0, 0], float)
    assert mehrotra(m, options=SolverOptions(rtol=1e-10, btol=1e-10)) == "success"
    foot, weight = get_contact(m, "ground"), 2.0 * 9.81 * 0.01
    slips = 3.0 - friction * weight * (1.0 / 2.0 + 0.5**2 / (0.4 * 2.0 * 0.5**2))
    impulses, slacks = foot.impulses, foot.impulses_dual
    assert impulses[0] == pytest.approx(weight, rel=1e-6)
    if law == "nonlinear":
        assert impulses[1] == pytest.approx(friction * weight, rel=1e-6)
        assert np.hypot(*impulses[2:]) == pytest.approx(friction * weight, rel=1e-6)
        if friction > 0.0:
            assert slacks[1] == pytest.approx(slips, rel=1e-3)
            assert np.hypot(*slacks[2:]) == pytest.approx(slips, rel=1e-3)
    else:
        assert impulses[2:].sum() == pytest.approx(friction * weight, rel=1e-6)
        if friction > 0.0:
            assert impulses[1] == pytest.approx(slips, rel=1e-3)
        assert slacks[1] == pytest.approx(0.0, abs=1e-6)
