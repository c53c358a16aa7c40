"""Gradients against central differences of the step itself, at inputs that are not zero."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cbsim.errors import ModelError
from cbsim.geometry.pose import multiply
from cbsim.multibody import (
    Body,
    Box,
    ContactConstraint,
    Floating,
    ImpactContact,
    LinearContact,
    Mechanism,
    NonlinearContact,
    Origin,
    Prototype,
    Revolute,
    SolverOptions,
    Sphere,
    SphereBoxCollision,
    SphereCapsuleCollision,
    SphereSphereCollision,
    Spherical,
    StringCollision,
    contact_constraint,
    get_maximal_gradients,
    get_minimal_gradients,
    maximal_to_minimal,
    maximal_to_minimal_jacobian,
    minimal_dimension,
    minimal_to_maximal,
    minimal_to_maximal_jacobian,
    rollout_gradients,
    step,
    step_minimal_coordinates,
)
from cbsim.spec.mechanism.joints import PROTOTYPES
from tests.multibody.differences import check, gap, moved, slope

H = 0.02


def twister(kind, rng, bodies=3, limits=None, **options):
    """Return a floating chain of a joint about changing axes, crooked everywhere, and a state of it."""
    origin = Origin()
    parts = [Body(1.0 + 0.2 * i, _inertia(rng)) for i in range(bodies)]
    joints = [Floating(origin, parts[0])]
    slides, turns = PROTOTYPES[kind]
    x = [rng.normal(size=12) * 0.3]
    for parent, child in itertools.pairwise(parts):
        q, dof = rng.normal(size=4), slides + turns
        x.append(rng.normal(size=2 * dof) * 0.3)
        bounds = None if limits is None or not dof else limits(x[-1][:dof], rng)
        joints.append(
            Prototype(
                kind, parent, child, rng.normal(size=3) if {slides, turns} & {1, 2} else None,
                parent_vertex=(0.5, 0.1, 0.0), child_vertex=(-0.5, 0.0, 0.1),
                orientation_offset=q / np.linalg.norm(q), joint_limits=bounds,
                spring_offset=rng.normal(size=dof) * 0.3, **options,
            )
        )  # fmt: skip
    mechanism = Mechanism(origin, parts, joints, timestep=H)
    x = np.concatenate(x)
    return mechanism, x, rng.normal(size=mechanism.compiled.inputs)


def _inertia(rng):
    a = rng.normal(size=(3, 3)) * 0.1
    return a @ a.T * 0.3 + np.diag([0.05, 0.06, 0.07])


@pytest.mark.parametrize("kind", PROTOTYPES)
def test_every_joint_with_spring_damper_and_input(kind):
    rng = np.random.default_rng(list(PROTOTYPES).index(kind))
    dof = sum(PROTOTYPES[kind])
    check(*twister(kind, rng, spring=20.0 * bool(dof), damper=0.5 * bool(dof)))


@pytest.mark.parametrize("kind", ["Revolute", "Cylindrical", "Orbital", "Spherical", "PlanarFree"])
def test_joint_limits_that_hold(kind):
    def limits(now, rng):
        return now - rng.uniform(0.001, 0.03, now.shape), now + rng.uniform(0.001, 0.03, now.shape)

    rng = np.random.default_rng(7 + list(PROTOTYPES).index(kind))
    check(*twister(kind, rng, limits=limits), kappa=1e-3)


def test_a_spring_of_a_floating_base():
    rng = np.random.default_rng(3)
    origin, body = Origin(), Body(1.0, _inertia(rng))
    joint = Floating(origin, body, spring=30.0, spring_offset=rng.normal(size=6) * 0.2)
    check(Mechanism(origin, [body], [joint], timestep=H), rng.normal(size=12) * 0.4, rng.normal(size=6))


LAWS = {"impact": ImpactContact, "linear": LinearContact, "nonlinear": NonlinearContact}


@pytest.mark.parametrize("kappa", [1e-3, 1e-5])
@pytest.mark.parametrize("law", LAWS)
def test_a_box_that_slides_and_tumbles_on_the_ground(law, kappa):
    rng = np.random.default_rng(5)
    origin, box = Origin(), Box(0.5, 0.5, 0.5, mass=1.0).body(name="box")
    corners = [(x, y, z) for x in (-0.25, 0.25) for y in (-0.25, 0.25) for z in (-0.25, 0.25)]
    contacts = contact_constraint(
        box, (0, 0, 1), friction_coefficient=0.6, contact_origin=corners, contact_radius=0.01, contact_type=law
    )
    mechanism = Mechanism(origin, [box], [Floating(origin, box)], contacts, timestep=H)
    x = rng.normal(size=12) * 0.1
    x[2], x[6:9] = 0.27, (0.5, 0.1, -0.5)
    check(mechanism, x, rng.normal(size=6), kappa=kappa, e=5e-7 if kappa < 1e-4 else 5e-6)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("pair", ["sphere", "capsule", "box", "string"])
def test_pairs_of_bodies_in_contact(pair, law):
    rng = np.random.default_rng(11)
    origin = Origin()
    lower, upper = Body(1.0, _inertia(rng)), Body(2.0, _inertia(rng))
    at, other, along = rng.normal(size=3) * 0.05, rng.normal(size=3) * 0.05, np.array([0.1, 0.5, 0.2])
    collision, height, speed = {
        "sphere": (SphereSphereCollision(at, other, 0.3, 0.5), 0.6, -1.0),
        "capsule": (SphereCapsuleCollision(at, other + along, other - along, 0.3, 0.3), 0.65, -1.0),
        "box": (SphereBoxCollision.of_size(0.6, 0.8, 1.0, radius_sphere=0.3, origin_sphere=at), 0.78, -1.0),
        "string": (StringCollision(at, other, 1.2), 1.18, 1.0),
    }[pair]
    model = LAWS[law](collision) if law == "impact" else LAWS[law](collision, 0.5)
    joints = [Floating(origin, lower), Floating(origin, upper)]
    contact = ContactConstraint(model, upper, lower)
    mechanism = Mechanism(origin, [upper, lower], joints, [contact], timestep=H)
    x = rng.normal(size=24) * 0.1
    x[12:15] += 0.1, 0.1, height
    x[18:21] += 0.3, 0.2, speed
    check(mechanism, x, rng.normal(size=12), kappa=1e-3, e=2e-6)
    assert mechanism.work.contact_work[0, 9] > 0.02  # it pushes


def test_a_loop_that_a_chord_closes():
    rng = np.random.default_rng(2)
    origin = Origin()
    rods = [Box(0.05, 0.05, 1.0, mass=1.0 + 0.1 * i).body(name=f"rod {i}") for i in range(4)]
    top, low = (0.0, 0.0, 0.5), (0.0, 0.0, -0.5)
    hang = {"child_vertex": top}
    joints = [
        Revolute(origin, rods[0], (1, 0, 0), **hang),
        Revolute(rods[0], rods[1], (1, 0, 0), parent_vertex=low, damper=0.2, **hang),
        Revolute(origin, rods[2], (1, 0, 0), **hang),
        Revolute(rods[2], rods[3], (1, 0, 0), parent_vertex=low, spring=3.0, **hang),
        Revolute(rods[1], rods[3], (1, 0, 0), parent_vertex=low, child_vertex=low, spring=20.0, spring_offset=[0.2]),
    ]
    mechanism = Mechanism(origin, rods, joints, timestep=0.01)
    a, b = np.pi / 4 + 0.25, np.pi / 4 - 0.25
    x = np.zeros(8)
    x[::2] = a, b - a, b, a - b
    u = rng.normal(size=5)
    for _ in range(5):
        x = step_minimal_coordinates(mechanism, x, u, options=SolverOptions(rtol=1e-12))
    check(mechanism, x, u)


def test_a_loop_in_space_with_every_kind_of_chord():
    for seed, kind in enumerate(("Spherical", "Orbital", "Cylindrical", "PlanarOrbital", "PlanarFree", "FreeRevolute")):
        rng = np.random.default_rng(seed)
        origin = Origin()
        parts = [Body(1.0 + 0.1 * i, _inertia(rng)) for i in range(5)]
        at = {"parent_vertex": (0.5, 0.1, 0.0), "child_vertex": (-0.5, 0.0, 0.1)}
        joints = [Floating(origin, parts[0])]
        joints += [Spherical(parts[i], parts[j], **at) for i, j in ((0, 1), (1, 2), (0, 3), (3, 4))]
        x = rng.normal(size=36) * 0.1
        z = minimal_to_maximal(Mechanism(origin, parts, joints, timestep=0.01), x).reshape(-1, 13)
        q1, q2 = z[2, 6:10], z[4, 6:10]
        back = q1 * (1.0, -1.0, -1.0, -1.0)
        at["child_vertex"] = np.array([0.5, 0.1, 0.0])
        apart = z[4, :3] + _turned(q2, at["child_vertex"]) - z[2, :3]
        at["parent_vertex"] = _turned(back, apart)
        loop_joint = Prototype(
            kind, parts[2], parts[4], rng.normal(size=3), orientation_offset=multiply(back, q2), spring=20.0, **at
        )  # fmt: skip
        mechanism = Mechanism(origin, parts, [*joints, loop_joint], timestep=0.01)
        u = rng.normal(size=mechanism.compiled.inputs)
        for _ in range(3):
            x = step_minimal_coordinates(mechanism, x, u, options=SolverOptions(rtol=1e-12))
        check(mechanism, x, u)


def _turned(q, v):
    return multiply(multiply(q, np.r_[0.0, v]), q * (1.0, -1.0, -1.0, -1.0))[1:]


@pytest.mark.parametrize("kind", PROTOTYPES)
def test_jacobians_of_state_maps_are_differences_and_invert_each_other(kind):
    mechanism, x, _ = twister(kind, np.random.default_rng(40 + list(PROTOTYPES).index(kind)))
    z = minimal_to_maximal(mechanism, x)
    down, up = maximal_to_minimal_jacobian(mechanism, z), minimal_to_maximal_jacobian(mechanism, x)
    np.testing.assert_allclose(down @ up, np.eye(len(x)), atol=1e-11)
    lifted = slope(lambda d: gap(minimal_to_maximal(mechanism, x + d), z), len(x), 1e-5)
    np.testing.assert_allclose(up, lifted, atol=1e-7 * max(1.0, np.abs(lifted).max()))

    def lowered(d):
        for k in np.flatnonzero(d):
            return maximal_to_minimal(mechanism, moved(z.reshape(-1, 13), k, d[k]))
        return None

    expected = slope(lowered, 12 * len(mechanism.bodies), 1e-5)
    np.testing.assert_allclose(down, expected, atol=1e-7 * np.abs(expected).max())


def test_minimal_gradients_are_maximal_ones_seen_through_the_maps():
    mechanism, x, u = twister("Cylindrical", np.random.default_rng(1))
    z, options = minimal_to_maximal(mechanism, x), SolverOptions(rtol=1e-12)
    by_bodies, pushed = get_maximal_gradients(mechanism, z, u, options=options)
    by_joints, given = get_minimal_gradients(mechanism, x, u, options=options)
    down = maximal_to_minimal_jacobian(mechanism, step(mechanism, z, u, options=options))
    np.testing.assert_allclose(down @ by_bodies @ minimal_to_maximal_jacobian(mechanism, x), by_joints, atol=1e-8)
    np.testing.assert_allclose(down @ pushed, given, atol=1e-10)


def test_without_kappa_contacts_are_as_soft_as_btol():
    origin, ball = Origin(), Sphere(0.5, mass=1.0).body()
    contact = contact_constraint(ball, (0, 0, 1), contact_radius=0.5)
    mechanism = Mechanism(origin, [ball], [Floating(origin, ball)], contact)
    x, u = np.zeros(12), np.array([0.5, 0.2, 0.1, 0.0, 0.3, 0.0])
    x[2] = 0.501
    hard = get_minimal_gradients(mechanism, x, u, options=SolverOptions(btol=1e-5))
    soft = get_minimal_gradients(mechanism, x, u, options=SolverOptions(btol=1e-9, kappa=1e-5))
    for one, other in zip(hard, soft, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_gradients_of_a_rollout_are_those_of_its_steps():
    mechanism, x, u = twister("Revolute", np.random.default_rng(8), damper=0.3)
    path, by_state, by_input = rollout_gradients(mechanism, minimal_to_maximal(mechanism, x), 5, u)
    assert path.shape == (6, 39)
    assert by_state.shape == (5, len(x), len(x))
    for k in range(5):
        one, other = get_minimal_gradients(mechanism, maximal_to_minimal(mechanism, path[k]), u)
        np.testing.assert_allclose(by_state[k], one, atol=1e-7)
        np.testing.assert_allclose(by_input[k], other, atol=1e-9)
    np.testing.assert_allclose(path[-1], _step_in_parts(mechanism, path[0], u, 5), atol=1e-10)


def _step_in_parts(mechanism, z, u, n):
    for _ in range(n):
        z = step(mechanism, z, u, options=SolverOptions(rtol=1e-11))
    return z


def test_a_body_that_cannot_move_has_empty_minimal_gradients():
    origin, block = Origin(), Sphere(1.0, mass=1.0).body()
    mechanism = Mechanism(origin, [block], [Prototype("Fixed", origin, block)])
    by_state, by_input = get_minimal_gradients(mechanism, [])
    assert by_state.shape == by_input.shape == (0, 0)
    by_bodies, _ = get_maximal_gradients(mechanism, minimal_to_maximal(mechanism, []))
    np.testing.assert_allclose(by_bodies[:3], 0.0, atol=1e-14)  # whoever moves it, it comes back
    assert minimal_dimension(mechanism) == 0


def test_other_maps_than_the_plain_step_are_refused():
    mechanism, x, _ = twister("Revolute", np.random.default_rng(0))
    for options in (SolverOptions(order=4), SolverOptions(nodal_start=True)):
        with pytest.raises(ModelError, match="order 2"):
            get_minimal_gradients(mechanism, x, options=options)
    with pytest.raises(ModelError, match="the input"):
        get_minimal_gradients(mechanism, x, [1.0])
