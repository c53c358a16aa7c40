"""Kinematic bodies: contacts and joints act on what touches them, and never on their own motion."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.active_contacts import contact_impulses
from cbsim.dynamics.compile import compile_mechanism
from cbsim.dynamics.effective_mass import EffectiveMasses
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.options import SolverOptions
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.errors import ModelError
from cbsim.geometry.pose import multiply
from cbsim.multibody import (
    Body,
    Box,
    Collider,
    Fixed,
    Floating,
    HalfSpace,
    Mechanism,
    Origin,
    Revolute,
    Sphere,
    get_maximal_gradients,
    maximal_to_minimal,
    minimal_to_maximal,
    step,
)
from cbsim.spec.mechanism.description import MechanismSpec


def pusher(mass=1.0, h=0.01, gravity=0.0, friction=0.5):
    """A kinematic wall that moves along x, and a ball of some mass before it."""
    origin = Origin()
    wall = Body(3.0, np.eye(3), name="wall", kinematic=True)
    ball = Sphere(0.2, mass=mass).body(name="ball")
    joints = [Floating(origin, wall, name="w"), Floating(origin, ball, name="b")]
    colliders = [Collider(wall, Box(0.4, 2.0, 2.0), friction), Collider(ball, Sphere(0.2), friction)]
    return MechanismSpec(origin, [wall, ball], joints, (), h, gravity, None, colliders)


def start(speed=1.0, spin=(0.0, 0.0, 0.0), ball=(0.405, 0.0, 0.0)):
    z = np.zeros((2, 13))
    z[:, 6] = 1.0
    z[0, 3], z[0, 10:] = speed, spin
    z[1, :3] = ball
    return z


def run(spec, z, steps=1, external=None, options=None):
    """States (steps + 1, bodies, 13), and the impulses (steps, bodies, 6) of contacts, as exact as masses allow."""
    scale = max(1.0, *(body.mass for body in spec.bodies))
    options = options or SolverOptions(rtol=1e-10 * scale, btol=1e-9 * scale, warm_start=False)
    compiled = compile_mechanism(spec)
    workspaces, report = SolverWorkspaces(compiled), np.zeros(c.REPORT)
    settings = options.encode(spec.timestep, spec.gravity, spec.input_scaling, False)
    external = np.zeros((len(z), 6)) if external is None else external
    inputs = np.zeros((1, max(1, compiled.inputs)))
    states, impulses = [z.copy()], []
    for _ in range(steps):
        z = z.copy()
        workspaces.advance(z, inputs, external, *settings, 1, np.zeros((0, 0, 13)), report, own=False)
        assert report[c.STATUS] == c.SOLVED
        states.append(z)
        impulses.append(contact_impulses(workspaces, z))
    return np.array(states), np.array(impulses)


def free_flight(row, steps, h):
    """States (steps + 1, 13) of a body that goes on with its velocities."""
    out, half = [row], 0.5 * h * row[10:]
    turn = np.concatenate([[np.sqrt(1.0 - half @ half)], half])
    for _ in range(steps):
        last = out[-1].copy()
        last[:3] += h * last[3:6]
        last[6:10] = multiply(last[6:10], turn)
        out.append(last)
    return np.array(out)


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("h", [1e-3, 0.01, 0.05])
def test_contact_does_not_change_the_motion_of_a_kinematic_body_and_moves_what_it_hits(mass, h):
    spec, steps = pusher(mass, h), round(0.5 / h)
    z = start(spin=(0.3, 0.0, 0.0))
    states, _ = run(spec, z, steps)
    wall, ball = states[:, 0], states[:, 1]
    np.testing.assert_array_equal(wall[:, 3:6], np.tile(z[0, 3:6], (steps + 1, 1)))
    np.testing.assert_array_equal(wall[:, 10:], np.tile(z[0, 10:], (steps + 1, 1)))
    np.testing.assert_allclose(wall, free_flight(z[0], steps, h), rtol=0, atol=1e-13)
    assert ball[-1, 3] == pytest.approx(1.0, abs=1e-3)
    gap = ball[:, 0] - 0.2 - (wall[:, 0] + 0.2)
    assert gap.min() > -1e-6


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3, 1e6])
def test_a_kinematic_body_moves_to_the_same_bits_whatever_touches_it(mass):
    """Nothing of a contact, a force or gravity reaches its state."""
    z, external = start(spin=(1.0, 2.0, -0.5)), np.zeros((2, 6))
    far = start(spin=(1.0, 2.0, -0.5), ball=(9.0, 0.0, 0.0))
    alone, _ = run(pusher(mass), far, 20)
    external[0] = 1e3, -1e3, 1e3, 1e2, 1e2, -1e2
    touched, impulses = run(pusher(mass, gravity=-9.81), z, 20, external)
    assert np.abs(impulses[:, 0]).max() > 0.1 * mass
    np.testing.assert_array_equal(touched[:, 0], alone[:, 0])


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("h", [1e-3, 0.01])
def test_impulses_on_a_kinematic_body_are_those_on_the_other_turned_round(mass, h):
    """Linear momentum: what the ball gains is what is reported, and the wall's is its opposite at the same point."""
    states, impulses = run(pusher(mass, h), start(speed=2.0), 30)
    wall, ball = impulses[:, 0], impulses[:, 1]
    np.testing.assert_array_equal(wall[:, :3], -ball[:, :3])
    gained = mass * np.diff(states[:, 1, 3:6], axis=0)
    np.testing.assert_allclose(ball[:, :3], gained, rtol=1e-9, atol=1e-9 * mass)
    apart = states[1:, 1, :3] - states[1:, 0, :3]
    about_wall = ball[:, 3:] + np.cross(apart, ball[:, :3])
    np.testing.assert_allclose(wall[:, 3:], -about_wall, rtol=0, atol=1e-12 * np.abs(wall).max())


def test_a_turning_table_carries_what_lies_on_it():
    """Friction feels the motion of its points: a box at rest on a slowly turning table turns with it."""
    origin = Origin()
    table = Body(1.0, np.eye(3), name="table", kinematic=True)
    box = Box(0.2, 0.2, 0.2, mass=2.0).body(name="box")
    colliders = [Collider(table, Box(4.0, 4.0, 0.2), 1.0), Collider(box, Box(0.2, 0.2, 0.2), 1.0)]
    joints = [Floating(origin, table), Floating(origin, box)]
    spec = MechanismSpec(origin, [table, box], joints, (), 0.01, -9.81, None, colliders)
    z = np.zeros((2, 13))
    z[:, 6], z[0, 12] = 1.0, 0.5
    z[1, :3], z[1, 4], z[1, 12] = (0.5, 0.0, 0.2), 0.25, 0.5
    states, impulses = run(spec, z, 600, options=SolverOptions(warm_start=False))
    place = 0.5 * np.array([np.cos(0.25), np.sin(0.25)])
    np.testing.assert_allclose(states[50, 1, :2], place, atol=5e-3)
    # in one step of a hundred nothing held the box: the search for its nearest points stopped at another face
    np.testing.assert_allclose(impulses[5:, 0, 2], -2.0 * 9.81 * 0.01, rtol=1e-3)
    np.testing.assert_allclose(states[:, 1, 2], 0.2, atol=1e-6)


def test_a_pendulum_hangs_on_a_kinematic_body_and_feels_its_acceleration():
    """On a carrier that is sped up step by step it leans back as in a lift that does: tan a = acceleration / g."""
    origin, h, rate = Origin(), 1e-3, 3.0
    carrier = Body(1.0, np.eye(3), name="carrier", kinematic=True)
    bob = Body(0.7, 1e-4 * np.eye(3), name="bob")
    joints = [Floating(origin, carrier), Revolute(carrier, bob, (0, 1, 0), child_vertex=(0.0, 0.0, 0.5), damper=0.4)]
    mechanism = Mechanism(origin, [carrier, bob], joints, timestep=h)
    z = np.zeros((2, 13))
    z[:, 6], z[1, 2] = 1.0, -0.5
    for k in range(6000):
        z[0, 3] = rate * h * (k + 0.5)
        z = step(mechanism, z)
    lean = z[1, :3] - z[0, :3]
    assert np.arctan2(-lean[0], -lean[2]) == pytest.approx(np.arctan2(rate, 9.81), rel=1e-3)


def test_kinematic_bodies_have_no_contact_with_the_world_and_one_another():
    origin = Origin()
    bodies = [Body(1.0, np.eye(3), name=name, kinematic=True) for name in ("one", "other")]
    colliders = [Collider(origin, HalfSpace((0, 0, 1)), 1.0), *(Collider(body, Sphere(0.5), 1.0) for body in bodies)]
    spec = MechanismSpec(origin, bodies, [Floating(origin, b) for b in bodies], (), 0.01, -9.81, None, colliders)
    z = np.zeros((2, 13))
    z[:, 6], z[0, 3], z[1, 0] = 1.0, 1.0, 0.4
    states, impulses = run(spec, z, 5)
    assert not impulses.any()
    np.testing.assert_allclose(states[-1, 0, :3], (0.05, 0.0, 0.0), atol=1e-15)


def test_a_step_made_in_parts_turns_a_kinematic_body_as_a_whole_one_does():
    """A body that a blow spins needs parts of a step; the one that hits it goes on by the same angle."""
    spec = pusher(mass=1e-3, h=0.05, friction=1.0)
    z = start(speed=8.0, spin=(8.0, 0.0, 0.0), ball=(0.41, 0.7, 0.0))
    compiled, report = compile_mechanism(spec), np.zeros(c.REPORT)
    workspaces = SolverWorkspaces(compiled)
    settings = SolverOptions(warm_start=False).encode(spec.timestep, spec.gravity, None, False)
    moved = z.copy()
    workspaces.advance(
        moved, np.zeros((1, 12)), np.zeros((2, 6)), *settings, 1, np.zeros((0, 0, 13)), report, own=False
    )
    assert report[c.STATUS] == c.SOLVED
    assert report[c.ATTEMPTS] > 0.0  # else this shows nothing
    np.testing.assert_allclose(moved[0], free_flight(z[0], 1, 0.05)[-1], rtol=0, atol=1e-13)


def test_the_effective_mass_of_a_kinematic_body_is_infinite():
    spec = pusher()
    masses = EffectiveMasses(compile_mechanism(spec), start())
    assert masses.inverse(0, np.zeros(3), np.array([1.0, 0.0, 0.0])) == 0.0
    assert masses.inverse(1, start()[1, :3], np.array([1.0, 0.0, 0.0])) == pytest.approx(1.0)


def test_minimal_coordinates_have_a_kinematic_body_too():
    spec = pusher()
    mechanism = Mechanism(spec.origin, spec.bodies, spec.joints, colliders=spec.colliders, gravity=0.0)
    z = start(spin=(0.2, -0.4, 0.1))
    z[0, :3] = 0.3, -0.2, 0.1
    np.testing.assert_allclose(minimal_to_maximal(mechanism, maximal_to_minimal(mechanism, z)), z.ravel(), atol=1e-13)


def test_gradients_of_kinematic_bodies_are_refused():
    spec = pusher()
    mechanism = Mechanism(spec.origin, spec.bodies, spec.joints, colliders=spec.colliders)
    with pytest.raises(ModelError, match=r"'wall'.*is kinematic"):
        get_maximal_gradients(mechanism, start(), np.zeros(12))


@pytest.mark.parametrize("joint", ["fixed", "sprung", "hung"])
def test_what_carries_a_kinematic_body_is_a_plain_floating_joint(joint):
    origin, post = Origin(), Body(1.0, np.eye(3), name="post")
    body = Body(1.0, np.eye(3), name="moved", kinematic=True)
    joints = {
        "fixed": [Fixed(origin, body)],
        "sprung": [Floating(origin, body, spring=1.0)],
        "hung": [Floating(origin, post), Floating(post, body)],
    }[joint]
    with pytest.raises(ModelError, match=r"'moved'.*expected one joint: Floating on the origin"):
        MechanismSpec(origin, [body, post] if joint == "hung" else [body], joints)
