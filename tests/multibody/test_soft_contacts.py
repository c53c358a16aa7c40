"""Contacts that give way, and friction limited by a force, against ODE's figures and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import ModelError
from cbsim.multibody import (
    Body,
    Box,
    ContactConstraint,
    Floating,
    ForceContact,
    ImpactContact,
    LinearContact,
    Mechanism,
    NonlinearContact,
    Origin,
    SolverOptions,
    Sphere,
    SphereCapsuleCollision,
    SphereHalfSpaceCollision,
    SphereSphereCollision,
    contact_constraint,
    get_maximal_state,
    mehrotra,
    minimal_to_maximal,
    momentum,
    rollout,
    set_minimal_state,
    simulate,
)
from tests.multibody.common import Z
from tests.multibody.differences import check

G, H = 9.81, 0.01
FINE = SolverOptions(rtol=1e-12, btol=1e-12)
TIGHT = SolverOptions(rtol=1e-9, btol=1e-7)  # as far as rounding lets contacts that grip
LAWS = {"impact": ImpactContact, "linear": LinearContact, "nonlinear": NonlinearContact, "force": ForceContact}
FEET = [(x, y, -0.5) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]


def crate(law, mu, mass=1.0, **options):
    """A cube of 1 m on four points."""
    origin, cube = Origin(), Box(1, 1, 1, mass=mass).body(name="cube")
    contacts = contact_constraint(
        cube, Z, friction_coefficient=mu, contact_origin=FEET, contact_type=law, name="foot", **options
    )
    return Mechanism(origin, [cube], [Floating(origin, cube)], contacts)


def state(height=0.5, velocity=(0, 0, 0)):
    return np.array([0, 0, height, *velocity, 1, 0, 0, 0, 0, 0, 0], float)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("erp", "cfm"), [(1.0, 0.01), (0.5, 0.01), (0.2, 0.003)])
def test_a_soft_ground_sinks_by_cfm_h_force_over_erp(law, erp, cfm):
    path = rollout(crate(law, 0.5, softness=(erp, cfm)), state(), 500, options=FINE)
    assert 0.5 - path[-1, 2] == pytest.approx(cfm * H * G / 4 / erp, rel=1e-6)
    if (erp, cfm) == (1.0, 0.01):
        assert 0.5 - path[-1, 2] == pytest.approx(2.4525e-4, rel=1e-6)  # ODE


@pytest.mark.parametrize("law", LAWS)
def test_a_penetration_goes_away_by_the_same_share_in_every_step(law):
    m = crate(law, 0.5, softness=(0.3, 0.0))
    m.gravity = -1000.0 / 0.3  # pressed on, so that it does not fly off
    path = rollout(m, state(0.4), 20, options=FINE)
    np.testing.assert_allclose(0.5 - path[:, 2], 0.1 * 0.7 ** np.arange(21), atol=1e-8)


def test_compliance_and_error_reduction_are_a_spring_and_a_damper():
    """Stiffness erp / (h cfm) and damping (1 − erp) / cfm, implicit (docs/theory/contact.md §7)."""
    erp, cfm, mass = 0.4, 0.02, 1.0
    k, d = erp / (H * cfm), (1 - erp) / cfm
    y, v = -0.02, 0.0
    path = rollout(crate("impact", 0.0, softness=(erp, cfm)), state(0.48), 2, options=FINE)
    for n in range(1, 3):  # then it would pull
        # 4 feet: m (v' − v) = −h (4 k y' + 4 d v' + m g), y' = y + h v'
        v = (v - H * (4 * k * y / mass + G)) / (1 + 4 * H * (H * k + d) / mass)
        y += H * v
        assert path[n, 2] - 0.5 == pytest.approx(y, abs=1e-9)


@pytest.mark.parametrize(("mass", "deceleration"), [(1.0, 2.0), (2.0, 1.0)])
def test_a_force_limit_of_half_a_newton_at_four_points_slows_a_crate(mass, deceleration):
    path = rollout(crate("force", 0.5, mass), state(velocity=(3, 0, 0)), 140)
    np.testing.assert_allclose(np.diff(path[5:, 3]) / H, -deceleration, rtol=1e-6)  # ODE: 2.000 and 1.000
    coulomb = rollout(crate("nonlinear", 0.5, mass), state(velocity=(3, 0, 0)), 40)
    assert -np.diff(coulomb[5:, 3]).mean() / H == pytest.approx(0.5 * G, rel=1e-3)


def test_a_force_limit_counts_along_each_tangent():
    path = rollout(crate("force", 0.5), state(velocity=(3, 1, 0)), 40)
    np.testing.assert_allclose(np.diff(path[5:, 3:5], axis=0) / H, -2.0, rtol=1e-6)


def test_a_force_limit_holds_what_is_weaker_for_good():
    m = crate("force", 0.5)
    path = rollout(m, state(), 500, [1.9, -1.5, 0, 0, 0, 0])
    assert np.abs(path[:, :2]).max() < 1e-4
    gone = rollout(m, state(), 101, [2.5, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(np.diff(gone[1:, 3]) / H, 0.5, rtol=1e-4)


def test_a_force_limit_does_not_act_through_the_air():
    path = rollout(crate("force", 1e3), state(0.6, (1, 0, 0)), 12)
    np.testing.assert_allclose(path[:, 3], 1.0, atol=1e-12)
    landed = rollout(crate("force", 1e3), state(0.6, (1, 0, 0)), 40)
    assert abs(landed[-1, 3]) < 1e-6


def test_without_a_force_there_is_no_friction():
    one, other = crate("force", 0.0), crate("impact", 0.0)
    np.testing.assert_allclose(
        rollout(one, state(0.55, (1, 2, 0)), 50, options=FINE),
        rollout(other, state(0.55, (1, 2, 0)), 50, options=FINE),
        atol=1e-9,
    )


def test_rigid_contacts_are_those_of_a_softness_that_is_none():
    soft = crate("nonlinear", 0.5, softness=(1.0, 0.0), restitution=0.0)
    hard = crate("nonlinear", 0.5)
    z = state(0.6, (1, 0.5, -1))
    np.testing.assert_array_equal(rollout(soft, z, 80), rollout(hard, z, 80))


def pair(law, **options):
    """Two free bodies of which one runs into the other."""
    origin = Origin()
    one, other = (Box(0.4, 0.3, 0.5, mass=m).body(name=n) for n, m in (("one", 1.0), ("other", 2.0)))
    collision = SphereCapsuleCollision((0.05, 0, 0), (0, -0.3, 0), (0, 0.3, 0), 0.2, 0.2)
    model = LAWS[law](collision, **options) if law == "impact" else LAWS[law](collision, 0.5, **options)
    m = Mechanism(origin, [one, other], [Floating(origin, one), Floating(origin, other)],
                  ContactConstraint(model, one, other, name="meet"), gravity=0.0)  # fmt: skip
    x = np.zeros(24)
    x[:3], x[6:12] = (0.01, 0.02, 0.39), (0.1, 0.3, -1.0, 0.2, 0.1, 0.3)
    set_minimal_state(m, x)
    return m


@pytest.mark.parametrize("law", LAWS)
def test_soft_contacts_of_bodies_keep_momentum(law):
    m = pair(law, softness=(0.5, 0.01))
    storage = simulate(m, 60, get_maximal_state(m), options=TIGHT)
    kept = momentum(m, storage)
    np.testing.assert_allclose(kept[:, :3], kept[:1, :3].repeat(60, axis=0), atol=1e-8)
    assert np.abs(storage.v[-1, 1] - storage.v[0, 1]).max() > 0.1


@pytest.mark.parametrize("law", LAWS)
def test_gradients_of_soft_contacts_with_the_ground_are_differences(law):
    rng = np.random.default_rng(5)
    origin, box = Origin(), Box(0.5, 0.5, 0.5, mass=1.0).body(name="box")
    corners = [(x, y, z) for x in (-0.25, 0.25) for y in (-0.25, 0.25) for z in (-0.25, 0.25)]
    contacts = contact_constraint(
        box, Z, friction_coefficient=0.6, contact_origin=corners, contact_radius=0.01, contact_type=law,
        softness=(0.6, 0.02),
    )  # fmt: skip
    m = Mechanism(origin, [box], [Floating(origin, box)], contacts, timestep=0.02)
    x = rng.normal(size=12) * 0.1
    x[2], x[6:9] = 0.24, (0.5, 0.1, -0.5)
    check(m, x, rng.normal(size=6), kappa=1e-3, e=5e-6)


@pytest.mark.parametrize("law", LAWS)
def test_gradients_of_soft_contacts_between_bodies_are_differences(law):
    rng = np.random.default_rng(11)
    origin = Origin()
    lower, upper = Body(1.0, np.diag([0.05, 0.06, 0.07])), Body(2.0, np.diag([0.06, 0.05, 0.08]))
    at, other = rng.normal(size=3) * 0.05, rng.normal(size=3) * 0.05
    collision = SphereSphereCollision(at, other, 0.3, 0.5)
    options = {"softness": (0.5, 0.01)}
    model = LAWS[law](collision, **options) if law == "impact" else LAWS[law](collision, 0.5, **options)
    m = Mechanism(origin, [upper, lower], [Floating(origin, lower), Floating(origin, upper)],
                  [ContactConstraint(model, upper, lower)], timestep=0.02)  # fmt: skip
    x = rng.normal(size=24) * 0.1
    x[12:15] += 0.1, 0.1, 0.66
    x[18:21] += 0.3, 0.2, -1.0
    check(m, x, rng.normal(size=12), kappa=1e-3, e=2e-6)


def test_a_force_limited_contact_shows_its_five_impulses():
    m = crate("force", 0.5)
    m.pose[:] = state()
    mehrotra(m)
    normal, *workspaces = m.contacts[0].impulses
    assert normal == pytest.approx(G * H / 4, rel=1e-3)
    np.testing.assert_allclose(workspaces, 0.5 * H, rtol=1e-6)  # no friction: as much room on both sides
    assert len(m.contacts[0].impulses_dual) == 5


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"restitution": 1.1}, "restitution is 1.1, expected 0 to 1"),
        ({"restitution": -0.1}, "restitution is -0.1, expected a finite number of at least 0"),
        ({"softness": 0.5}, "softness is 0.5, expected (erp, cfm)"),
        ({"softness": (0.0, 0.0)}, "erp of softness is 0, expected more than 0"),
        ({"softness": (1.0, np.nan)}, "cfm of softness is nan"),
    ],
)
def test_wrong_softness_is_named(options, text):
    with pytest.raises(ModelError) as told:
        contact_constraint(Sphere(1.0, mass=1.0).body(), Z, **options)
    assert text in str(told.value)
    with pytest.raises(ModelError, match="ForceContact: friction_coefficient is -1"):
        ForceContact(SphereHalfSpaceCollision(Z, (0, 0, 0), 0.0, (0, 0, 0)), -1.0)


def test_many_contacts_take_one_restitution_each():
    contacts = contact_constraint(Sphere(1.0, mass=1.0).body(), [Z, -Z], restitution=[0.2, 0.7], softness=(0.5, 0.1))
    assert [c.model.restitution for c in contacts] == [0.2, 0.7]
    assert [c.model.softness for c in contacts] == [(0.5, 0.1)] * 2


def test_a_crate_on_soft_ground_comes_to_rest_from_a_tumble():
    m = crate("nonlinear", 0.5, softness=(0.5, 1e-3))
    x = np.zeros(12)
    x[2], x[3:6], x[6:9] = 1.2, (0.4, 0.3, 0.2), (0.5, 0.0, 0.0)
    path = rollout(m, minimal_to_maximal(m, x), 600)
    assert np.abs(path[-1, 3:6]).max() < 1e-4
    assert path[-1, 2] < 0.75


@pytest.mark.parametrize("law", LAWS)
def test_a_light_body_beside_a_heavy_one_sinks_in_as_it_should_with_default_options(law):
    origin, heavy, light = (
        Origin(),
        Sphere(0.5, mass=10.0).body(name="heavy"),
        Sphere(0.5, mass=0.01).body(name="light"),
    )
    contacts = [
        contact
        for body in (heavy, light)
        for contact in contact_constraint(
            body, Z, contact_radius=0.5, contact_type=law, softness=(0.5, 0.01), name=f"foot of {body.name}"
        )
    ]
    m = Mechanism(origin, [heavy, light], [Floating(origin, heavy), Floating(origin, light)], contacts)
    z = get_maximal_state(m).reshape(-1, 13)
    z[:, 2], z[1, 0] = 0.5, 3.0
    end = rollout(m, z.ravel(), 500)[-1].reshape(-1, 13)
    np.testing.assert_allclose(0.5 - end[:, 2], 0.01 * H * G / 0.5 * np.array([10.0, 0.01]), rtol=5e-3)
