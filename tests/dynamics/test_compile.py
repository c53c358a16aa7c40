"""From descriptions to tables: who carries whom, which joints close loops, and what the kernels are told."""

import numpy as np
import pytest
from numba.core import config

from cbsim.dynamics.compile import compile_mechanism
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.kernels.minimal import maximal_to_minimal, minimal_to_maximal
from cbsim.dynamics.kernels.state import first_unsound
from cbsim.dynamics.kernels.step import advance
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.collisions import SphereSphereCollision
from cbsim.spec.mechanism.contacts import ContactConstraint, ImpactContact
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.prototypes import Floating, Orbital, Prismatic, Revolute, Spherical
from cbsim.spec.mechanism.shapes import Box

X, Y, Z = np.eye(3)


def bodies(names):
    return [Box(1, 2, 3, mass=1.0 + i).body(name=name) for i, name in enumerate(names)]


def test_links_stand_depth_first_in_the_order_of_the_joints():
    origin, (a, b, d, e) = Origin(), bodies("abde")
    joints = [Revolute(origin, a, X), Revolute(origin, d, X), Revolute(a, b, X), Revolute(d, e, X)]
    made = compile_mechanism(MechanismSpec(origin, [e, d, b, a], joints))
    assert made.spanning.links == (0, 2, 1, 3)
    assert made.model.link[:, c.PARENT].tolist() == [-1, 0, -1, 2]
    assert made.model.link[:, c.BODY].tolist() == [3, 2, 1, 0]
    assert made.model.link[:, c.INPUT].tolist() == [0, 2, 1, 3]
    assert made.inputs == 4


def test_the_joint_listed_last_closes_the_loop():
    origin, (a, b) = Origin(), bodies("ab")
    joints = [Revolute(origin, a, X), Revolute(a, b, X), Spherical(origin, b)]
    made = compile_mechanism(MechanismSpec(origin, [a, b], joints))
    assert (made.spanning.links, made.spanning.loop_joints) == ((0, 1), (2,))
    (row,) = made.model.link[2:]
    assert (row[c.PARENT], row[c.UP], row[c.CHILD], row[c.DOF]) == (-1, -1, 1, 3)
    assert row[c.FLAGS] == c.LOOP_JOINT


def test_a_joint_with_a_damper_carries_its_body_even_if_it_is_listed_last():
    origin, (a,) = Origin(), bodies("a")
    joints = [Revolute(origin, a, X), Revolute(origin, a, X, damper=1.0)]
    assert compile_mechanism(MechanismSpec(origin, [a], joints)).spanning == ((1,), (0,))


def test_bodies_that_carry_one_another_are_reached_from_the_origin_all_the_same():
    origin, (a, b) = Origin(), bodies("ab")
    joints = [Revolute(b, a, X), Spherical(a, b), Revolute(origin, a, X)]
    assert compile_mechanism(MechanismSpec(origin, [a, b], joints)).spanning == ((2, 1), (0,))


def test_a_row_says_what_the_description_says():
    origin, (a, b) = Origin(), bodies("ab")
    turned = np.array([0.8, 0.6, 0.0, 0.0])
    slot = Prismatic(a, b, Y, parent_vertex=X, child_vertex=Z, orientation_offset=turned, spring=3.0, damper=0.5,
                     spring_offset=(0.2,), joint_limits=(-1.0, 2.0))  # fmt: skip
    model = compile_mechanism(MechanismSpec(origin, [a, b], [Floating(origin, a), slot])).model
    row = model.joint[1]
    assert row[c.MASS] == 2.0
    np.testing.assert_allclose(row[c.INERTIA : c.INERTIA + 6], [*(2 / 12 * np.array([13, 10, 5])), 0, 0, 0])
    np.testing.assert_array_equal(row[c.PARENT_VERTEX : c.PARENT_VERTEX + 6], [*X, *Z])
    np.testing.assert_allclose(row[c.ORIENTATION : c.ORIENTATION + 4], turned)
    np.testing.assert_array_equal(row[c.SLIDE_AXES : c.SLIDE_AXES + 9].reshape(3, 3), [Y, X, -Z])
    assert (row[c.SPRING], row[c.DAMPER], row[c.SPRING_OFFSET]) == (3.0, 0.5, 0.2)
    assert model.link[1, c.FLAGS] == c.SPRUNG | c.DAMPED | c.OFFSET | c.ROWED
    assert model.row_link.tolist() == [[1, 0, c.STOP, -1, -1, -1]] * 2
    assert model.row.tolist() == [[1.0, -1.0, np.inf, 1.0, 0.0], [-1.0, 2.0, np.inf, 1.0, 0.0]]


@pytest.mark.parametrize("option", [{"damper": 1.0}, {"joint_limits": (-1, 1)}, {"orientation_offset": (0, 1, 0, 0)}])
def test_only_a_plain_floating_base_moves_along_the_axes_of_the_world(option):
    origin, (a,) = Origin(), bodies("a")
    plain = compile_mechanism(MechanismSpec(origin, [a], [Floating(origin, a)])).model
    other = compile_mechanism(MechanismSpec(origin, [a], [Floating(origin, a, **option)])).model
    assert plain.link[0, c.FLAGS] == c.FREE
    assert not other.link[0, c.FLAGS] & c.FREE


def test_a_contact_between_bodies_ties_their_links():
    origin, (a, b) = Origin(), bodies("ab")
    contact = ContactConstraint(ImpactContact(SphereSphereCollision(X, Y, 0.1, 0.2)), b, a)
    made = compile_mechanism(MechanismSpec(origin, [a, b], [Floating(origin, a), Floating(origin, b)], contact))
    (row,), (numbers,) = made.model.contact_link, made.model.contact
    assert (row[c.LAW], row[c.SHAPE], row[c.ONE], row[c.OTHER]) == (c.IMPACT, c.SPHERE, 1, 0)
    assert (row[c.ONE_OTHER], row[c.OTHER_ONE]) == (made.system.blocks[1, 0], made.system.blocks[0, 1])
    np.testing.assert_array_equal(numbers[c.ORIGIN : c.ORIGIN + 4], [*X, 0.1])
    assert numbers[c.OTHER_RADIUS] == 0.2


def test_long_chains_have_no_fill():
    origin, links = Origin(), bodies([f"b{i}" for i in range(300)])
    joints = [Orbital(up, low, X) for up, low in zip([origin, *links], links, strict=False)]
    made = compile_mechanism(MechanismSpec(origin, links, joints))
    assert made.model.blocks == 300
    assert len(made.model.fan) == 0


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_what_the_warm_up_compiles_is_all_that_the_face_needs():
    from cbsim.multibody import (
        gallery,
        get_maximal_state,
        get_minimal_state,
        mehrotra,
        rollout,
        simulate,
        step,
        step_minimal_coordinates,
    )
    from cbsim.multibody.warmup import every_mechanism

    every_mechanism()
    kernels = (advance, first_unsound, minimal_to_maximal, maximal_to_minimal)
    before = [set(kernel.signatures) for kernel in kernels]
    for name in ("pendulum", "block"):
        m = gallery.build(name)
        z, u = get_maximal_state(m), np.zeros(len(m.inputs))
        step(m, z, u)
        rollout(m, z.reshape(-1, 13), 3, np.zeros((3, len(u))))
        step_minimal_coordinates(m, get_minimal_state(m), u)
        simulate(m, 3, list(z))
        simulate(m, 3, z, lambda *_, u=u: u)
        mehrotra(m)
    assert [set(kernel.signatures) for kernel in kernels] == before
