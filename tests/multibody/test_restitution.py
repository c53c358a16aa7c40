"""Bounces: what comes up again is what Newton's law of restitution says (docs/theory/contact.md §8)."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.multibody import (
    Box,
    ContactConstraint,
    Floating,
    ImpactContact,
    Mechanism,
    Origin,
    Prismatic,
    Revolute,
    SolverOptions,
    Sphere,
    SphereSphereCollision,
    contact_constraint,
    generate_storage,
    mechanical_energy,
    minimal_to_maximal,
    momentum,
    rollout,
    simulate,
)
from tests.multibody.common import X, Y, Z

G = 9.81
FINE = SolverOptions(rtol=1e-12, btol=1e-12)


def ball(restitution, *, timestep=0.01, law="nonlinear", **options):
    origin, body = Origin(), Sphere(0.5, mass=1.0).body(name="ball")
    contacts = contact_constraint(
        body, Z, contact_radius=0.5, restitution=restitution, contact_type=law, friction_coefficient=0.5, **options
    )
    return Mechanism(origin, [body], [Floating(origin, body)], contacts, timestep=timestep)


def state(*, height=1.0, velocity=(0, 0, 0), spin=(0, 0, 0)):
    return np.array([0, 0, height + 0.5, *velocity, 1, 0, 0, 0, *spin], float)


def peaks(path):
    height = path[:, 2] - 0.5
    return np.array([height[i] for i in range(1, len(height) - 1) if height[i - 1] <= height[i] > height[i + 1]])


@pytest.mark.parametrize("law", ["impact", "linear", "nonlinear", "force"])
@pytest.mark.parametrize("timestep", [0.01, 0.003])
def test_at_one_a_ball_runs_its_nodes_backwards(law, timestep):
    path = rollout(ball(1.0, timestep=timestep, law=law), state(), round(4 / timestep), options=FINE)
    z = path[:, 2]
    down = int(z[: round(0.6 / timestep)].argmin())  # the last node before the ground
    np.testing.assert_allclose(z[down : 2 * down + 1], z[down::-1], atol=1e-8)
    np.testing.assert_allclose(peaks(path), 1.0, atol=1e-6)
    assert len(peaks(path)) > 3


def test_at_a_half_heights_fall_by_four():
    up = peaks(rollout(ball(0.5, timestep=0.001), state(), 2500, options=FINE))
    np.testing.assert_allclose(up[:2], (0.25, 0.0625), rtol=0.02)
    np.testing.assert_allclose(up[:2], (0.2473, 0.0605), rtol=0.05)  # ODE at 0.01 s


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.6, 0.9, 1.0])
def test_a_bounce_leaves_its_share_of_the_speed(restitution):
    path = rollout(ball(restitution), state(height=0.013, velocity=(0, 0, -2.0)), 2, options=FINE)
    first = -2.0 - G * 0.01
    if restitution == 0.0:
        assert path[-1, 2] == pytest.approx(0.5, abs=1e-9)
    else:
        expected = -2.0 * restitution if path[1, 5] > 0 else first * -restitution
        assert path[:, 5].max() == pytest.approx(abs(expected), rel=1e-8)


def test_what_bounces_comes_to_rest():
    m = ball(0.6)
    path = rollout(m, state(), 600)
    assert abs(path[-1, 2] - 0.5) < 1e-6
    assert np.abs(path[-50:, 5]).max() < 1e-5


def test_a_crate_that_lands_flat_jumps_up_flat():
    origin, cube = Origin(), Box(1, 1, 1, mass=2.0).body(name="cube")
    feet = [(x, y, -0.5) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    contacts = contact_constraint(cube, Z, contact_origin=feet, restitution=0.8, friction_coefficient=0.3)
    m = Mechanism(origin, [cube], [Floating(origin, cube)], contacts)
    path = rollout(m, np.array([0, 0, 0.55, 0, 0, -3, 1, 0, 0, 0, 0, 0, 0], float), 12, options=FINE)
    assert path[:, 5].max() == pytest.approx(0.8 * -path[:, 5].min(), rel=1e-6)
    np.testing.assert_allclose(path[-1, 7:10], 0.0, atol=1e-8)


@pytest.mark.parametrize("law", ["impact", "nonlinear"])
@pytest.mark.parametrize(("restitution", "most"), [(0.5, 1e-6), (0.9, 1e-3), (1.0, 0.05)])
def test_a_crate_that_tumbles_on_its_corners_gains_no_energy(law, restitution, most):
    size = np.array([0.5, 0.4, 0.6])
    for seed in range(6):
        origin, crate = Origin(), Box(*size, mass=1.0).body(name="crate")
        corners = [(np.array(k) - 0.5) * size for k in np.ndindex(2, 2, 2)]
        contacts = contact_constraint(
            crate, Z, contact_origin=corners, contact_type=law, restitution=restitution, friction_coefficient=0.3
        )
        m = Mechanism(origin, [crate], [Floating(origin, crate)], contacts)
        rng, x = np.random.default_rng(seed), np.zeros(12)
        x[2], x[3:6], x[6:] = 1.0, rng.normal(size=3), 2.0 * rng.normal(size=6)
        energy = mechanical_energy(m, generate_storage(m, rollout(m, minimal_to_maximal(m, x), 200)))[:-1]
        assert energy.max() < (1.0 + most) * energy[0]
        if (law, restitution) == ("impact", 1.0):
            assert energy[-1] > 0.8 * energy[0]


def spheres(restitution, masses):
    """Two spheres on the x axis, in space."""
    origin = Origin()
    bodies = [Sphere(0.5, mass=m).body(name=f"ball {i}") for i, m in enumerate(masses)]
    contact = ContactConstraint(
        ImpactContact(SphereSphereCollision((0, 0, 0), (0, 0, 0), 0.5, 0.5), restitution=restitution), *bodies
    )
    m = Mechanism(origin, bodies, [Floating(origin, body) for body in bodies], contact, gravity=0.0)
    z = np.zeros((2, 13))
    z[:, 6] = 1.0
    z[1, 0], z[0, 3], z[1, 3] = 1.3, 3.0, -1.0
    return m, z.ravel()


@pytest.mark.parametrize("restitution", [0.25, 1.0])
@pytest.mark.parametrize("masses", [(1.0, 1.0), (1.0, 3.0), (50.0, 0.2)])
def test_two_spheres_part_as_newton_says(restitution, masses):
    m, z = spheres(restitution, masses)
    storage = simulate(m, 30, z, options=FINE)
    one, other = masses
    mean = (one * 3.0 - other) / (one + other)
    speeds = storage.v[-1, :, 0]
    np.testing.assert_allclose(speeds - mean, -restitution * np.array([3.0 - mean, -1.0 - mean]), atol=1e-8)
    kept = momentum(m, storage)
    np.testing.assert_allclose(kept, np.broadcast_to(kept[0], kept.shape), atol=1e-9)


def test_equal_spheres_exchange_their_velocities():
    m, z = spheres(1.0, (1.0, 1.0))
    np.testing.assert_allclose(rollout(m, z, 30, options=FINE)[-1, [3, 16]], (-1.0, 3.0), atol=1e-9)


def test_a_spinning_ball_bounces_off_to_the_side():
    """Friction acts at once: a full grip turns slip into 2/7 roll, its impulse within mu (1 + e) m v."""
    path = rollout(ball(0.5), state(height=0.5, spin=(0, 4.0, 0)), 60, options=SolverOptions(rtol=1e-8, btol=1e-7))
    k = int((path[:, 5] > 0).argmax())
    assert path[k, 3] == pytest.approx(0.5 * 4.0 * 2 / 7, rel=1e-3)
    assert path[k, 5] > 0.9


def test_a_jointed_hammer_bounces():
    """A rod on a hinge, its tip on the ground with e = 0.5: half the angular speed comes back."""
    origin, rod = Origin(), Box(1.0, 0.1, 0.1, mass=1.0).body(name="rod")
    pin = Revolute(origin, rod, Y, parent_vertex=0.5 * Z, child_vertex=-0.5 * X)
    contact_work = contact_constraint(rod, Z, contact_origin=(0.5, 0, 0), restitution=0.5, contact_type="impact")
    m = Mechanism(origin, [rod], [pin], contact_work, timestep=0.001)
    path = rollout(m, minimal_to_maximal(m, (0.0, 0.0)), 500, options=FINE)
    spin = path[:, 11]
    k = int((np.diff(spin) < -1.0).argmax())
    assert spin[k + 1] == pytest.approx(-0.5 * spin[k], rel=1e-2)


def test_a_slider_between_walls_keeps_its_speed():
    origin, body = Origin(), Sphere(0.1, mass=0.7).body(name="body")
    walls = contact_constraint(body, [X, -X], contact_radius=0.1, contact_offset=[(-1, 0, 0), (1, 0, 0)],
                               restitution=1.0, contact_type="impact")  # fmt: skip
    m = Mechanism(origin, [body], [Prismatic(origin, body, X)], walls, gravity=0.0)
    path = rollout(m, minimal_to_maximal(m, (0.0, 2.1)), 2000, options=FINE)
    np.testing.assert_allclose(np.abs(path[:, 3]), 2.1, atol=1e-7)
    assert np.abs(path[:, 0]).max() < 0.9 + 1e-9
    assert np.count_nonzero(np.diff(np.sign(path[1:, 3]))) == pytest.approx(42 / 1.8, abs=1.5)
