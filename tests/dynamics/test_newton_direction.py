"""Row `jacobian` of the blueprint: the matrix that a step solves with is the slope of its residual.

There, the full matrix against differences at solutions after 0.1 s in flight and 0.4 s on the ground. Here bodies,
joints, dampers, loops, stops and contacts leave the system one by one, and no matrix is ever written down; so along
the direction that comes out the whole residual has to vanish, at first order, wherever the iterate is.
"""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.kernels import columns as c
from cbsim.multibody import (
    Box,
    ContactConstraint,
    Drive,
    DryFriction,
    Floating,
    ImpactContact,
    LinearContact,
    Mechanism,
    Motor,
    NonlinearContact,
    Origin,
    PlanarAxis,
    Revolute,
    Sphere,
    SphereBoxCollision,
    SphereCapsuleCollision,
    SphereSphereCollision,
    StringCollision,
    close_loops,
    contact_constraint,
    gallery,
    get_maximal_state,
    get_minimal_state,
    input_dimensions,
    minimal_dimension,
    minimal_to_maximal,
    set_dampers,
    set_limits,
    set_minimal_state,
    set_springs,
)
from cbsim.multibody.gallery import fourbar, snake
from cbsim.spec.mechanism.joints import make_joint
from tests.dynamics.probe import Iterate
from tests.multibody.common import KINDS, X, Y, Z

TURNED = np.array([0.8, 0.2, -0.4, 0.4])
PAIRS = {
    "sphere": SphereSphereCollision((0.1, 0, 0), (0, 0.1, 0), 0.3, 0.4),
    "capsule": SphereCapsuleCollision((0.1, 0, 0), (0, 0, -0.5), (0, 0.2, 0.5), 0.3, 0.2),
    "box": SphereBoxCollision.of_size(0.8, 0.6, 0.4, origin_sphere=(0.1, 0, 0), radius_sphere=0.2),
    "string": StringCollision((0.1, 0, 0), (0, 0, 0.2), 1.5),
}
LAWS = {"impact": ImpactContact, "linear": LinearContact, "nonlinear": NonlinearContact}


def check(mechanism, z, seed=0):
    """Look at ten iterates."""
    random = np.random.default_rng(seed)
    for _ in range(10):
        iterate = Iterate(mechanism, z, random.normal(size=max(1, sum(input_dimensions(mechanism)))))
        iterate.scatter(random)
        left, now = iterate.left_over(0.01)
        assert np.abs(now).max() > 1e-2  # it is no solution
        np.testing.assert_allclose(left, 0.0, atol=1e-9 * np.abs(now).max())


def at_random(mechanism, seed=1):
    x = np.random.default_rng(seed).uniform(-0.5, 0.5, minimal_dimension(mechanism))
    return minimal_to_maximal(mechanism, x)


@pytest.mark.parametrize("kind", KINDS)
def test_every_joint_with_spring_damper_and_bounds(kind):
    m = snake(
        3, joint=kind, axes=(X + Y + Z, Y - 2 * Z), spring=4.0, damper=0.7, orientation_offset=TURNED, timestep=0.02,
        gravity=-9.81,
    )  # fmt: skip
    if m.joints[1].dof:
        set_limits(m, {"joint_1": (-1.0, 1.0)})
    check(m, at_random(m))


def test_motors_dry_friction_and_soft_bounds():
    origin = Origin()
    one, other = (Box(0.4, 0.3, 0.2, mass=1.0).body(name=name) for name in ("one", "other"))
    drives = Motor(2.0, coordinate=0), DryFriction(0.3, coordinate=1), Drive(np.inf, coordinate=2, cfm=0.2, target=0.5)
    joints = [
        Revolute(origin, one, X, child_vertex=Y, drives=[Motor(1.0, cfm=0.1), DryFriction(0.2)], name="hinge"),
        PlanarAxis(one, other, Y, drives=drives, joint_limits=(-1.0, 1.0), stop_softness=(0.4, 0.01), name="table"),
    ]
    m = Mechanism(origin, [one, other], joints)
    check(m, at_random(m))


@pytest.mark.parametrize("closing", ["Revolute", "Spherical", "Orbital", "Cylindrical", "PlanarAxis", "Prismatic"])
def test_loops(closing):
    m = fourbar(closing=closing, lengths=(1.0, 0.8, 0.9, 1.2), timestep=0.02)  # with equal rods some rows say the same
    x = get_minimal_state(m)
    x[::2] += 0.5, -0.3, 0.2, 0.4
    set_minimal_state(m, x)
    close_loops(m)
    check(m, get_maximal_state(m))


@pytest.mark.parametrize("name", gallery.GALLERY)
def test_every_mechanism(name):
    m = gallery.build(name)
    set_springs(m, 2.0)
    dampers = np.full(len(m.joints), 0.3)
    dampers[list(m.compiled.spanning.loop_joints)] = 0.0
    set_dampers(m, dampers)
    check(m, get_maximal_state(m))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ["block", "sphere"])
def test_every_law_of_contact_with_the_ground(name, law):
    m = gallery.build(name, contact_type=law)
    check(m, at_random(m))


def test_the_quadruped_with_all_its_contacts_and_bounds():
    m = gallery.quadruped(limited=True, body_contacts=True, spring=10.0, damper=0.5)
    check(m, get_maximal_state(m))


def two_bodies(pair, law):
    """Two free bodies that one contact couples."""
    origin = Origin()
    one, other = Box(0.4, 0.4, 0.4, mass=1.0).body(name="one"), Box(0.8, 0.6, 0.4, mass=2.0).body(name="other")
    model = LAWS[law](PAIRS[pair]) if law == "impact" else LAWS[law](PAIRS[pair], 0.5)
    joints = [Floating(origin, one), Floating(origin, other)]
    return Mechanism(origin, [one, other], joints, ContactConstraint(model, one, other))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("pair", PAIRS)
def test_contacts_between_bodies(pair, law):
    m = two_bodies(pair, law)
    z = at_random(m).reshape(-1, 13)
    z[0, :3] = 0.5, 0.6, 0.9
    z[1, :3] = 0.0, 0.1, -0.1
    check(m, z)


@pytest.mark.parametrize("kind", ["FreeRevolute", "Floating", "PlanarFree"])
@pytest.mark.parametrize("stiffness", [1e6, 1e10])
def test_a_body_that_its_joint_lets_move_freely_on_contacts_that_are_about_to_close(kind, stiffness):
    """A heavy base that a light ball carries: its contacts hold it, and through it the ball."""
    origin = Origin()
    base, ball = Box(8.0, 8.0, 1.0, mass=1e3).body(name="base"), Sphere(0.2, mass=1.0).body(name="ball")
    held = make_joint(kind, ball, base, Y, child_vertex=3.0 * Z, name="arm")
    feet = contact_constraint(
        base, (0, 0, 1), contact_origin=[(x, y, -5.0) for x in (-4, 4) for y in (-4, 4)], contact_type="force",
        friction_coefficient=1e3,
    )  # fmt: skip
    m = Mechanism(origin, [base, ball], [Floating(origin, ball), held], feet)
    random = np.random.default_rng(3)
    for _ in range(5):
        iterate = Iterate(m, at_random(m), np.zeros(sum(input_dimensions(m))))
        iterate.scatter(random)
        m.work.contact_work[:, c.SLACK : c.SLACK + 6] /= stiffness
        left, now = iterate.left_over(0.0)
        np.testing.assert_allclose(left, 0.0, atol=1e-7 * np.abs(now).max())
