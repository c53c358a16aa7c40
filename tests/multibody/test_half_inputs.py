"""`Translational.input` and `Rotational.input`: what a joint's inputs give its child in a step."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from cbsim.errors import ModelError
from cbsim.geometry.pose import rotate
from cbsim.multibody import (
    Floating,
    Mechanism,
    Motor,
    Origin,
    Prototype,
    Revolute,
    Rotational,
    Sphere,
    Translational,
    gallery,
    get_maximal_state,
    mehrotra,
    set_floating_base,
    set_input,
    set_springs,
    step,
    with_parameters,
)
from tests.multibody.common import EXACT, KINDS, X, Z

AXIS = np.array([1.0, 2.0, -0.5])
OFFSET = np.array([0.8, 0.36, 0.48, 0.0])


def pair(kind, mass, timestep=0.01, input_scaling=None):
    """Two balls, of which the one floats and the other hangs on its centre by a joint."""
    origin = Origin()
    one, two = (Sphere(0.3, mass=m * mass).body(name=n) for m, n in ((1.5, "one"), (1.0, "two")))
    joints = [Floating(origin, one), Prototype(kind, one, two, AXIS if needs_axis(kind) else None,
                                               orientation_offset=OFFSET, name="joint")]  # fmt: skip
    return Mechanism(origin, [one, two], joints, timestep=timestep, gravity=0.0, input_scaling=input_scaling)


def needs_axis(kind):
    return kind not in {"Fixed", "Spherical", "FixedOrientation", "Floating"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("mass", "timestep", "scaling"), [(1.0, 0.01, None), (1e-3, 3e-4, None), (1e3, 0.1, 1.0)])
def test_halves_are_what_the_step_gives_along_free_directions(kind, mass, timestep, scaling):
    """By differences of a step: what inputs add to the momentum of the child, as far as the joint lets it through."""
    mechanism = pair(kind, mass, timestep, scaling)
    joint = mechanism.joints[1]
    size = 1e-4 * mass / (timestep if scaling is None else 1.0)
    u = size * np.random.default_rng(1).normal(size=joint.dof)
    set_input(mechanism, u, "joint")
    z = get_maximal_state(mechanism).reshape(2, 13)
    after = step(mechanism, z, mechanism.inputs, options=EXACT)
    push = 1.0 * mass * after[1, 3:6]
    spin = mechanism.bodies[1].inertia @ after[1, 10:]  # whose axes are the joint's at first
    tolerance = 1e-7 * 1e-4 * mass + 1e-12
    for half, gained in ((joint.translational, push), (joint.rotational, spin)):
        assert half.input.shape == (3,)
        np.testing.assert_allclose(half.masks.free @ gained, half.masks.free @ half.input, atol=tolerance)
        np.testing.assert_allclose(half.masks.constrained @ half.input, 0.0, atol=1e-15 * size)
    impulse = np.r_[joint.translational.masks.free @ joint.translational.input,
                                 joint.rotational.masks.free @ joint.rotational.input]  # fmt: skip
    np.testing.assert_allclose(impulse, mechanism.input_scaling * joint.input, rtol=1e-12)


def test_halves_make_up_what_bodies_are_told():
    """`State.JF2` and `Jtau2` of both bodies, turned as the parent is."""
    mechanism = pair("Cylindrical", 2.0)
    z = get_maximal_state(mechanism).reshape(2, 13)
    z[:, 6:10] = OFFSET
    mechanism.pose[:] = z
    joint = mechanism.joints[1]
    set_input(mechanism, [2.0, 3.0], "joint")
    mehrotra(mechanism)
    force = rotate(OFFSET, joint.translational.input)
    np.testing.assert_allclose(mechanism.bodies[1].state.JF2, force)
    np.testing.assert_allclose(mechanism.bodies[0].state.JF2, -force)
    torque = rotate(OFFSET, rotate(OFFSET, joint.rotational.input))
    np.testing.assert_allclose(rotate(OFFSET, mechanism.bodies[1].state.Jtau2), torque)


def test_a_motor_gives_its_velocity_and_no_impulse():
    origin, body = Origin(), Sphere(0.3, mass=1.0).body()
    mechanism = Mechanism(origin, [body], [Revolute(origin, body, X, drives=[Motor(2.0)])])
    set_input(mechanism, [5.0])
    np.testing.assert_array_equal(mechanism.joints[0].rotational.input, 0.0)


def test_halves_belong_to_their_own_mechanism():
    mechanism = gallery.snake(links=3)
    half = mechanism.joints[1].rotational
    set_input(mechanism, [1.0], mechanism.joints[1])
    held = half.input.copy()
    others = [
        set_floating_base(mechanism, mechanism.bodies[-1].name),
        with_parameters(mechanism, {(mechanism.bodies[0].name, "mass"): 2.0}),
        copy.deepcopy(mechanism),
        pickle.loads(pickle.dumps(mechanism)),
    ]
    for other in others:
        set_input(other, np.zeros(len(other.inputs)))
        np.testing.assert_array_equal(other.joints[1].rotational.input, 0.0)
    np.testing.assert_array_equal(half.input, held)
    set_springs(mechanism, 1.0)
    np.testing.assert_array_equal(mechanism.joints[1].rotational.input, held)
    assert np.abs(held).max() == pytest.approx(0.01)


def test_a_half_without_a_joint_has_no_input():
    for half in (Translational(1, Z), Rotational(1, Z)):
        with pytest.raises(ModelError, match="belongs to no joint yet"):
            _ = half.input
