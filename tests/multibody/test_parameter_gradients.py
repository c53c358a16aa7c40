"""Gradients by parameters against differences of steps of mechanisms with others; closed forms; a toss."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.multibody import (
    Body,
    Box,
    ContactConstraint,
    Floating,
    LinearContact,
    Mechanism,
    NonlinearContact,
    Origin,
    SolverOptions,
    SphereBoxCollision,
    SphereCapsuleCollision,
    SphereSphereCollision,
    StringCollision,
    contact_constraint,
    gallery,
    get_maximal_state,
    minimal_to_maximal,
    rollout,
    step,
)
from tests.multibody.differences import check_parameters
from tests.multibody.test_chord_rows import CUTS, KINDS, fourbar, ring
from tests.multibody.test_gradients import twister

TIGHT = SolverOptions(rtol=1e-12, kappa=1e-4)


@pytest.mark.parametrize("limits", [None, (-0.5, 0.72)])
def test_a_pendulum_with_a_spring_and_a_damper(limits):
    mechanism = gallery.pendulum(spring=3.0, damper=0.4, spring_offset=0.3, limits=limits)
    check_parameters(mechanism, minimal_to_maximal(mechanism, [0.715, 1.3]), [0.3], kappa=1e-4, e=2e-4)


def test_springs_and_dampers_that_are_not_there_yet():
    mechanism = gallery.pendulum()
    check_parameters(mechanism, minimal_to_maximal(mechanism, [0.7, 1.3]), [0.3])


def test_a_slider_on_its_spring():
    mechanism = gallery.slider(spring=40.0, damper=0.5)
    check_parameters(mechanism, minimal_to_maximal(mechanism, [0.2, -0.7]), [0.4])


@pytest.mark.parametrize("kind", ["Fixed", "Revolute", "Orbital", "Spherical", "Cylindrical", "PlanarFree"])
def test_crooked_chains_of_joints(kind):
    options = {} if kind == "Fixed" else {"spring": 20.0, "damper": 0.5}
    mechanism, x, u = twister(kind, np.random.default_rng(len(kind)), **options)
    check_parameters(mechanism, minimal_to_maximal(mechanism, x), u)


def _closes(parameter):
    """Whether a loop in the plane x = 0 can be closed with any value: not, if a joint leaves the plane."""
    return not parameter.quantity.endswith("vertex")


@pytest.mark.parametrize("kind", ["dampers", "motors", "friction", "soft stops", "all"])
def test_a_four_bar_whose_loop_is_a_chord(kind):
    mechanism = fourbar(CUTS["c"], KINDS[kind])
    z = rollout(mechanism, get_maximal_state(mechanism), 30, [2.0, 0.3, -1.0, 0.5])[-1]
    check_parameters(mechanism, z, [1.0, 0.2, -0.5, 0.4], kappa=1e-4, only=_closes)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Spherical", "Cylindrical", "PlanarFree"])
def test_a_loop_in_space_whose_chord_has_a_spring(kind):
    mechanism, x = ring(kind, np.random.default_rng(3), spring=20.0, damper=0.2)[:2]
    z, u = minimal_to_maximal(mechanism, x), np.random.default_rng(4).normal(size=mechanism.compiled.inputs)
    for _ in range(3):
        z = step(mechanism, z, u, options=SolverOptions(rtol=1e-12))
    tied = {mechanism.bodies[0].name, mechanism.joints[5].name}
    check_parameters(mechanism, z, u, only=lambda p: p.part in tied)


@pytest.mark.parametrize("softness", [(1.0, 0.0), (0.3, 1e-4)])
@pytest.mark.parametrize("height", [0.27, 0.9])
@pytest.mark.parametrize("law", ["impact", "linear", "nonlinear", "force"])
def test_a_block_on_a_slope_and_above_it(law, height, softness):
    rng = np.random.default_rng(0)
    origin, box = Origin(), Box(0.5, 0.5, 0.5, mass=1.0).body(name="box")
    contacts = contact_constraint(
        box, (0.1, 0.2, 1.0), friction_coefficient=0.4, contact_radius=0.02, contact_offset=(0, 0, 0.01),
        contact_origin=[(0.25, 0.25, -0.25), (-0.25, 0.2, -0.25), (0.1, -0.3, -0.2)], contact_type=law,
        softness=softness,
    )  # fmt: skip
    mechanism = Mechanism(origin, [box], [Floating(origin, box)], contacts)
    x = rng.normal(size=12) * 0.05
    x[2], x[8] = height, -0.5
    check_parameters(mechanism, minimal_to_maximal(mechanism, x), rng.normal(size=6), kappa=1e-4, e=3e-4)
    assert (mechanism.work.touch[:, 9].max() > 0.1) == (height < 0.5)  # it pushes, or it flies


@pytest.mark.parametrize("law", [LinearContact, NonlinearContact])
@pytest.mark.parametrize("pair", ["sphere", "capsule", "box", "string"])
def test_bodies_that_touch_one_another(pair, law):
    rng = np.random.default_rng(11)
    origin = Origin()
    lower, upper = (Body(m, np.diag(rng.uniform(0.05, 0.07, 3))) for m in (1.0, 2.0))
    at, other, along = rng.normal(size=3) * 0.05, rng.normal(size=3) * 0.05, np.array([0.1, 0.5, 0.2])
    collision, height, speed = {
        "sphere": (SphereSphereCollision(at, other, 0.3, 0.5), 0.6, -1.0),
        "capsule": (SphereCapsuleCollision(at, other + along, other - along, 0.3, 0.3), 0.65, -1.0),
        "box": (SphereBoxCollision(at, (0.3, -0.4, 0.5), (-0.3, 0.4, -0.5), 0.3), 0.78, -1.0),
        "string": (StringCollision(at, other, 1.2), 1.18, 1.0),
    }[pair]
    joints = [Floating(origin, lower), Floating(origin, upper)]
    mechanism = Mechanism(
        origin, [upper, lower], joints, [ContactConstraint(law(collision, 0.5), upper, lower)], timestep=0.02
    )
    x = rng.normal(size=24) * 0.1
    x[12:15] += 0.1, 0.1, height
    x[18:21] += 0.3, 0.2, speed
    check_parameters(mechanism, minimal_to_maximal(mechanism, x), rng.normal(size=12), kappa=1e-3, e=1e-4)
    assert mechanism.work.touch[0, 9] > 0.02  # it pushes


@pytest.mark.slow
def test_a_quadruped_on_its_feet():
    mechanism = gallery.quadruped(spring=100.0, damper=5.0, limited=True)
    z = rollout(mechanism, get_maximal_state(mechanism), 100)[-1]
    u = np.random.default_rng(2).normal(size=mechanism.compiled.inputs)
    check_parameters(mechanism, z, u, kappa=1e-4, e=2e-4)
    assert (mechanism.work.touch[:4, 9] > 0.1).all()
