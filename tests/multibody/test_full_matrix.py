"""`full_matrix`: the derivative of a step's equations, held against differences of the step."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import ModelError
from cbsim.multibody import (
    Box,
    Collider,
    DryFriction,
    Fixed,
    Floating,
    Mechanism,
    Origin,
    Prismatic,
    Revolute,
    SolverOptions,
    Sphere,
    full_matrix,
    gallery,
    get_minimal_state,
    get_next_state,
    ground,
    maximal_to_minimal,
    mehrotra,
    root_to_leaves_ordering,
    set_minimal_state,
)
from tests.multibody.common import X, Y, Z


def soft(mechanism):
    """Options that look at contacts and bounds from afar, as forces in proportion to the length of the step."""
    return SolverOptions(rtol=1e-11, kappa=0.1 * mechanism.timestep, screen=False)


def coordinates(mechanism, u):
    """Coordinates after the step with inputs u, of joints in the order of the tree, all with one freedom."""
    mechanism.inputs[:] = u
    assert mehrotra(mechanism, options=soft(mechanism)) == "success"
    return maximal_to_minimal(mechanism, get_next_state(mechanism))[::2]


def by_differences(mechanism, u, e):
    """Derivative of coordinates after the step by impulses along them: the inverse of the equations' slope."""
    out = [coordinates(mechanism, u + k) - coordinates(mechanism, u - k) for k in e * np.eye(len(u))]
    return np.array(out).T / (2.0 * e * mechanism.input_scaling)


def machine(contacts=False, **options):
    """A cart with two hinged rods, all that a joint can have, and what touches."""
    origin = Origin()
    cart, rod, tip = (Box(0.2, 0.3, 0.4, mass=m).body(name=n) for m, n in ((1.0, "cart"), (0.5, "rod"), (0.2, "tip")))
    joints = [
        Prismatic(origin, cart, Y, spring=3.0, damper=0.4, drives=[DryFriction(0.5)]),
        Revolute(cart, rod, X, child_vertex=(0, 0, 0.5), damper=0.1, joint_limits=(-0.4, 0.6)),
        Revolute(rod, tip, Y, parent_vertex=(0, 0, -0.5), child_vertex=(0.1, 0, 0.3), spring=1.0),
    ]
    lowest = machine(**options).pose[2, 2] - 0.15 if contacts else 0.0
    solid = [ground(origin, lowest - 2e-3), Collider(tip, Sphere(0.15))] if contacts else []
    made = Mechanism(origin, [cart, rod, tip], joints, colliders=solid, **options)
    set_minimal_state(made, (0.1, 0.5, 0.3, -0.4, 0.2, 1.0))
    return made


@pytest.mark.parametrize("contacts", [False, True])
@pytest.mark.parametrize("timestep", [3e-4, 0.01, 0.02])
def test_it_is_the_slope_of_the_equations(contacts, timestep):
    """Springs, dampers, friction, bounds and contacts answer in it as they do in the step."""
    mechanism = machine(contacts, timestep=timestep)
    u = np.array([0.3, -0.2, 0.1])
    expected = by_differences(mechanism, u, 1e-3)
    coordinates(mechanism, u)
    found = full_matrix(mechanism)
    np.testing.assert_allclose(np.linalg.inv(found), expected, rtol=2e-5, atol=1e-6 * np.abs(expected).max())


def test_contacts_make_it_stiffer():
    plain, touching = machine(False), machine(True)
    for m in (plain, touching):
        coordinates(m, np.zeros(3))
    far = np.abs(np.linalg.inv(full_matrix(plain))).max()
    assert np.abs(np.linalg.inv(full_matrix(touching)) - np.linalg.inv(full_matrix(plain))).max() > 1e-3 * far


def test_of_a_free_body_it_is_mass_over_step():
    mechanism = gallery.top(timestep=0.02)
    mehrotra(mechanism)
    found = full_matrix(mechanism)
    body = mechanism.bodies[0]
    np.testing.assert_allclose(found[:3, :3], body.mass / 0.02 * np.eye(3))
    np.testing.assert_allclose(found, body.state.D, atol=1e-9)


def test_bodies_that_collide_are_coupled():
    origin = Origin()
    balls = [Sphere(0.5, mass=1.0).body(name=f"ball {k}") for k in range(2)]
    mechanism = Mechanism(
        origin, balls, [Prismatic(origin, b, Z) for b in balls], colliders=[Collider(b, b.shape) for b in balls]
    )
    set_minimal_state(mechanism, (0.0, 0.0, 1.0, -1.0))
    u = np.array([9.81, 0.0])
    expected = by_differences(mechanism, u, 1e-3)
    coordinates(mechanism, u)
    found = full_matrix(mechanism)
    assert found[0, 1] == found[1, 0] < 0.0
    np.testing.assert_allclose(np.linalg.inv(found), expected, rtol=1e-5)


def test_a_loop_adds_its_constraints():
    mechanism = gallery.fourbar()
    x = get_minimal_state(mechanism)
    assert mehrotra(mechanism, options=soft(mechanism)) == "success"
    found = full_matrix(mechanism)
    order = root_to_leaves_ordering(mechanism, exclude_loop_joints=False)
    assert len(order) == len(mechanism.joints) + len(mechanism.bodies)
    n = len(x) // 2
    assert found.shape == (n + 5, n + 5)
    np.testing.assert_array_equal(found[n:, n:], 0.0)
    e, u = 1e-3, np.zeros(len(mechanism.inputs))
    answer = np.linalg.pinv(found)[:n, :n]
    for row, j in enumerate(mechanism.compiled.spanning.links):
        push = e * np.eye(len(u))[j]
        change = (coordinates(mechanism, push) - coordinates(mechanism, -push)) / (2.0 * e * mechanism.input_scaling)
        np.testing.assert_allclose(answer[:, row], change, rtol=1e-3, atol=1e-5 * np.abs(answer).max())


def test_without_a_solve_there_is_none():
    with pytest.raises(ModelError, match="nothing has been solved"):
        full_matrix(gallery.pendulum())
    with pytest.raises(ModelError, match="is no Mechanism"):
        full_matrix(3)


def test_a_step_in_parts_and_a_state_that_was_set_have_none():
    mechanism = machine(contacts=True, timestep=0.05)
    mehrotra(mechanism, options=soft(mechanism))
    with pytest.raises(ModelError, match="made in parts"):
        full_matrix(mechanism)
    mechanism = machine()
    mehrotra(mechanism)
    set_minimal_state(mechanism, np.zeros(6))
    with pytest.raises(ModelError, match="was set since"):
        full_matrix(mechanism)


def test_a_body_that_stands_still_has_no_rows():
    origin = Origin()
    post, ball = (Sphere(0.1, mass=1.0).body(name=n) for n in ("post", "ball"))
    mechanism = Mechanism(origin, [post, ball], [Fixed(origin, post), Floating(post, ball)])
    mehrotra(mechanism)
    assert full_matrix(mechanism).shape == (6, 6)
