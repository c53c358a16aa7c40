"""Bodies that fixed joints tie: merged, they move as they did."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cbsim.errors import ModelError
from cbsim.multibody import (
    Body,
    Box,
    ContactConstraint,
    Cylindrical,
    Fixed,
    Floating,
    Mechanism,
    NonlinearContact,
    Orbital,
    Origin,
    Prismatic,
    Revolute,
    Sphere,
    SphereBoxCollision,
    SphereSphereCollision,
    contact_constraint,
    get_maximal_state,
    get_minimal_state,
    mechanical_energy,
    momentum,
    reduce_fixed_joints,
    set_maximal_state,
    set_minimal_state,
    simulate,
)
from cbsim.spec.mechanism.reduce import reduce_fixed

TURN = np.array([0.8, 0.36, -0.48, 0.0])


def lump(name, mass=1.0):
    return Body(mass, np.diag([0.02, 0.03, 0.04]), Box(0.1, 0.2, 0.3), name=name)


def train(kind=Revolute, **options):
    """A floating body, one fixed to it askew, one fixed to that, then a joint, and one more fixed behind it."""
    origin = Origin()
    a, b, c, d, e = bodies = [lump(name, 1.0 + 0.5 * k) for k, name in enumerate("abcde")]
    joints = [
        Floating(origin, a),
        Fixed(a, b, parent_vertex=(0.3, 0, 0.1), child_vertex=(0, -0.2, 0), orientation_offset=TURN),
        Fixed(b, c, parent_vertex=(0, 0.2, 0), orientation_offset=TURN),
        kind(c, d, (0.2, 0.5, -1.0), parent_vertex=(0.1, 0.2, 0.3), child_vertex=(-0.2, 0, 0), name="j", **options),
        Fixed(d, e, parent_vertex=(0, 0, 0.4), child_vertex=(0.1, 0, 0), orientation_offset=TURN),
    ]
    return Mechanism(origin, bodies, joints, gravity=-1.0)


@pytest.mark.parametrize("kind", [Revolute, Prismatic, Cylindrical, Orbital])
def test_a_merged_train_moves_as_the_whole_one(kind):
    """To rounding: in steps too, bodies that a joint makes rigid have the inertia of one that is."""
    whole = train(kind, spring=2.0, damper=0.1)
    x = 0.3 * np.random.default_rng(1).standard_normal(len(get_minimal_state(whole)))
    set_minimal_state(whole, x)
    merged = reduce_fixed_joints(whole)
    assert [body.name for body in merged.bodies] == ["a", "d"]
    one, other = simulate(whole, 200), simulate(merged, 200)
    np.testing.assert_allclose(mechanical_energy(merged, other), mechanical_energy(whole, one), atol=1e-8)
    np.testing.assert_allclose(momentum(merged, other), momentum(whole, one), atol=1e-8)
    np.testing.assert_allclose(other.q[:, 0], one.q[:, 0], atol=1e-8)


def test_the_state_of_the_merged_mechanism_is_that_of_the_whole_one():
    whole = train(joint_limits=(-1.0, 1.0))
    x = 0.2 * np.random.default_rng(2).standard_normal(len(get_minimal_state(whole)))
    set_minimal_state(whole, x)
    merged = reduce_fixed_joints(whole)
    np.testing.assert_allclose(get_minimal_state(merged)[-2:], x[-2:], atol=1e-12)
    mass = np.array([body.mass for body in whole.bodies])
    rows, few = (get_maximal_state(m).reshape(-1, 13) for m in (whole, merged))
    np.testing.assert_allclose(few[0, :3], mass[:3] @ rows[:3, :3] / mass[:3].sum(), atol=1e-13)
    np.testing.assert_allclose(few[0, 3:6], mass[:3] @ rows[:3, 3:6] / mass[:3].sum(), atol=1e-12)
    assert merged.joints[-1].rotational.joint_limits == pytest.approx((-1.0, 1.0))


def test_a_mechanism_without_fixed_joints_stays_what_it_is():
    origin, ball = Origin(), Sphere(0.5, mass=1.0).body(name="ball")
    alone = Mechanism(origin, [ball], [Floating(origin, ball)])
    again = reduce_fixed_joints(reduce_fixed_joints(alone))
    assert [body.name for body in again.bodies] == ["ball"]
    np.testing.assert_array_equal(again.bodies[0].inertia, ball.inertia)


def test_a_body_that_a_fixed_joint_ties_to_the_origin_keeps_it():
    origin, base, post, arm = Origin(), lump("base"), lump("post"), lump("arm")
    joints = [Fixed(origin, base), Fixed(base, post, parent_vertex=(0, 0, 1)), Revolute(post, arm, (1, 0, 0))]
    merged = reduce_fixed_joints(Mechanism(origin, [base, post, arm], joints))
    assert [body.name for body in merged.bodies] == ["base", "arm"]
    assert [joint.dof for joint in merged.joints] == [0, 1]


def test_shapes_and_contacts_stay_where_they_were_in_the_world():
    whole = train()
    e = whole.bodies[-1]
    foot = contact_constraint(e, (0, 0, 1), contact_origin=(0.1, 0.2, 0.3), contact_radius=0.05, name="foot")
    pair = ContactConstraint(
        NonlinearContact(SphereSphereCollision((0.1, 0, 0), (0, 0.1, 0), 0.01, 0.02)), whole.bodies[1], e, name="pair"
    )
    whole = Mechanism(Origin(), whole.bodies, whole.joints, [*foot, pair])
    x = 0.2 * np.random.default_rng(3).standard_normal(len(get_minimal_state(whole)))
    set_minimal_state(whole, x)
    merged = reduce_fixed_joints(whole)
    for before, after in zip(whole.contacts, merged.contacts, strict=True):
        np.testing.assert_allclose(meeting(merged, after), meeting(whole, before), atol=1e-12)
    assert len(merged.bodies[0].shape.shape) == 3


def meeting(mechanism, contact):
    z = get_maximal_state(mechanism).reshape(-1, 13)
    ends = [z[mechanism.bodies.index(end)] for end in (contact.parent, contact.child) if isinstance(end, Body)]
    found = contact.model.collision.meet(*(part for row in ends for part in (row[:3], row[6:10])))
    return np.concatenate([[found.distance], found.parent_point, found.child_point])


def test_loops_of_fixed_joints_are_merged_if_they_close_and_refused_if_not():
    origin, a, b, c = Origin(), lump("a"), lump("b"), lump("c")
    joints = [Floating(origin, a), Fixed(a, b, parent_vertex=(1, 0, 0)), Revolute(b, c, (1, 0, 0))]
    for place, fine in (((1, 0, 0), True), ((1, 0.1, 0), False)):
        spec = Mechanism(origin, [a, b, c], joints).spec
        again = [*spec.joints, Fixed(a, b, parent_vertex=place, name="again")]
        doubled = replace(spec, joints=tuple(again))
        if fine:
            assert len(reduce_fixed(doubled).spec.joints) == 2
        else:
            with pytest.raises(ModelError, match="joint 'again': closes a loop of fixed joints that is open"):
                reduce_fixed(doubled)


def test_a_box_that_would_be_turned_is_refused_by_name():
    whole = train()
    contact = ContactConstraint(NonlinearContact(SphereBoxCollision()), whole.bodies[3], whole.bodies[1], name="touch")
    whole = Mechanism(Origin(), whole.bodies, whole.joints, contact)
    set_maximal_state(whole, get_maximal_state(whole))
    with pytest.raises(ModelError, match="contact 'touch': its box would be turned"):
        reduce_fixed_joints(whole)
