"""Rows `collisions` of the blueprint: what falls on another body rests there, and what runs into another stays out.

Derivatives of contacts are in `tests/dynamics/test_derivatives.py`, distances, points, normals and tangents in
`tests/multibody/test_contacts.py`, whom a contact ties in `tests/dynamics/test_compile.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.kernels import columns as c
from cbsim.multibody import (
    Box,
    Capsule,
    ContactConstraint,
    Fixed,
    Floating,
    ImpactContact,
    LinearContact,
    Mechanism,
    NonlinearContact,
    Origin,
    SolverOptions,
    Sphere,
    SphereBoxCollision,
    SphereCapsuleCollision,
    SphereSphereCollision,
    StringCollision,
    contact_normal,
    gallery,
    get_maximal_state,
    get_next_state,
    get_sdf,
    minimal_to_maximal,
    rollout,
    simulate,
)

LAWS = {"impact": ImpactContact, "linear": LinearContact, "nonlinear": NonlinearContact}
FINE = SolverOptions(rtol=1e-8, btol=1e-8)
BALLS = SphereSphereCollision((0, 0, 0), (0, 0, 0), 0.5, 0.5)


def pair(collision, law, below, *, fixed, gravity, h):
    """A ball of 1 kg that may touch another body, which stands still or floats."""
    origin = Origin()
    ball, other = Sphere(0.5, mass=1.0).body(name="ball"), below.body(name="other")
    model = LAWS[law](collision) if law == "impact" else LAWS[law](collision, 0.5)
    joints = [Floating(origin, ball, name="ball's"), (Fixed if fixed else Floating)(origin, other, name="other's")]
    return Mechanism(origin, [ball, other], joints, ContactConstraint(model, ball, other), gravity=gravity, timestep=h)


def placed(m, x, v=(0, 0, 0)):
    z = get_maximal_state(m).reshape(-1, 13)
    z[0, :6] = *x, *v
    return z.ravel()


@pytest.mark.parametrize("law", LAWS)
def test_a_ball_that_is_dropped_on_a_ball_rests_on_it(law):
    m = pair(BALLS, law, Sphere(0.5, mass=1.0), fixed=True, gravity=-9.81, h=0.1)
    s = simulate(m, 20, placed(m, (0, 0, 2.0)), options=FINE)
    assert s.is_solved.all()
    assert get_next_state(m)[2] == pytest.approx(1.0, abs=1e-6)
    assert np.abs(s.v[-1]).max() < 1e-6
    assert get_sdf(m, s)[0].min() > -1e-8


WAYS = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (-1, 2, 0.5)]


@pytest.mark.parametrize("fixed", [True, False], ids=["fixed", "floating"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("way", WAYS)
def test_balls_that_meet_head_on_do_not_enter_each_other_and_keep_their_direction(way, law, fixed):
    way = np.array(way) / np.linalg.norm(way)
    m = pair(BALLS, law, Sphere(0.5, mass=1.0), fixed=fixed, gravity=0.0, h=0.1)
    s = simulate(m, 20, placed(m, -2.9 * way, 5.0 * way), options=FINE)
    apart = np.linalg.norm(s.x[:, 0] - s.x[:, 1], axis=1)
    assert apart.min() > 1.0 - 1e-8
    assert apart[-1] < 1.0 + 1e-3  # with nothing to carry, s · gamma ≤ 1e-8 still keeps them apart a little
    total = s.v.sum(axis=1)
    across = s.v - (s.v @ way)[..., None] * way
    assert np.abs(across).max() < 1e-8
    if fixed:
        np.testing.assert_allclose(total[-1], 0.0, atol=1e-3)
    else:
        np.testing.assert_allclose(total, np.tile(5.0 * way, (20, 1)), atol=1e-6)
        np.testing.assert_allclose(s.v[-1], np.tile(2.5 * way, (2, 1)), atol=1e-3)


BELOW = {
    "capsule": (SphereCapsuleCollision((0, 0, 0), (0, -1.0, 0), (0, 1.0, 0), 0.5, 0.5), Capsule(0.5, 2.0, mass=1.0)),
    "box": (SphereBoxCollision.of_size(1.0, 1.0, 1.0, radius_sphere=0.5), Box(1.0, 1.0, 1.0, mass=1.0)),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", BELOW)
def test_a_ball_that_is_dropped_on_a_capsule_or_a_box_stays_on_top(name, law):
    collision, shape = BELOW[name]
    m = pair(collision, law, shape, fixed=True, gravity=-9.81, h=0.05)
    s = simulate(m, 20, placed(m, (0, 0, 1.5)), options=FINE)
    assert get_sdf(m, s)[0].min() > -1e-8
    end = get_next_state(m).reshape(-1, 13)
    assert end[0, 2] == pytest.approx(1.0, abs=1e-6)
    where = end[0, :3], end[0, 6:10], end[1, :3], end[1, 6:10]
    seen = collision.meet(*where)
    np.testing.assert_allclose(seen.parent_point, (0, 0, 0.5), atol=1e-6)
    np.testing.assert_allclose(seen.child_point, (0, 0, 0.5), atol=1e-6)
    np.testing.assert_allclose(contact_normal(collision, *where), (0, 0, 1), atol=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_a_ball_on_a_string_swings_no_farther_than_it_reaches(law):
    string = StringCollision((0, 0, 0), (0, 0, 0), 2.0)
    m = pair(string, law, Sphere(0.5, mass=1.0), fixed=True, gravity=-9.81, h=0.05)
    s = simulate(m, 40, placed(m, (1.0, 0.2, 0.5)), options=FINE)
    reach = np.linalg.norm(s.x[:, 0], axis=1)
    assert reach.max() < 2.0 + 1e-7
    assert reach.max() > 2.0 - 1e-3  # it does hang on it


SMALL = SphereSphereCollision((0, 0, 0), (0, 0, 0), 0.2, 0.2)
TIGHT = SolverOptions(rtol=1e-10, btol=1e-10)


def cubes(law):
    """Two cubes of 0.4 m, as contacts see them balls."""
    origin = Origin()
    one, other = (Box(0.4, 0.4, 0.4, mass=1.0).body(name=name) for name in ("one", "other"))
    model = LAWS[law](SMALL) if law == "impact" else LAWS[law](SMALL, 0.5)
    joints = [Floating(origin, one, name="one's"), Floating(origin, other, name="other's")]
    return Mechanism(origin, [one, other], joints, ContactConstraint(model, one, other, name="meet"), gravity=0.0)


@pytest.mark.parametrize("law", LAWS)
def test_bodies_that_meet_off_their_centres_are_solved_as_exactly_as_is_asked(law):
    for speed in np.linspace(1.0, 6.0, 21):
        m = cubes(law)
        s = simulate(m, 40, placed(m, (0.0, 0.0, 0.45), (0.2, 0.1, -speed)), options=TIGHT)
        assert get_sdf(m, s)[0].min() > -1e-10


@pytest.mark.parametrize("law", LAWS)
def test_what_touches_is_solved_as_exactly_as_is_asked_in_a_few_iterations(law):
    """The stiffness of contacts, ten orders of magnitude above that of masses, costs no digits of the increments."""
    random = np.random.default_rng(0)
    iterations = attempts = 0.0
    for _ in range(20):
        m = cubes(law)
        x = np.r_[random.normal(size=3) * 0.03 + (0, 0, 0.45), random.normal(size=9) * 0.4, np.zeros(12)]
        x[8] -= random.uniform(1.0, 6.0)
        rollout(m, minimal_to_maximal(m, x), 20, options=TIGHT)
        iterations, attempts = iterations + m.last[c.ITERATIONS], attempts + m.last[c.ATTEMPTS]
    assert iterations < 6.0 * 20 * 20
    assert attempts < 0.02 * 20 * 20


def test_a_step_that_fails_leaves_nothing_behind():
    m = cubes("linear")
    slow = placed(m, (0.0, 0.0, 0.45), (0.2, 0.1, -1.0))
    want = rollout(m, slow, 20, options=TIGHT)
    m.work.contact_work[:] = np.nan  # as a step that fails may leave it
    np.testing.assert_array_equal(rollout(m, slow, 20, options=TIGHT), want)


@pytest.mark.parametrize("name", ["ant", "halfcheetah", "hopper", "quadruped", "humanoid"])
def test_robots_that_fall_on_their_feet_are_solved_as_exactly_as_is_asked(name):
    m = gallery.build(name)
    simulate(m, 60, options=SolverOptions(rtol=1e-10, btol=1e-8))
    assert m.report[c.BILINEAR_LEFT] < 1e-8
