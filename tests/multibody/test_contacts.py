"""Contacts: where they are, what they push with, and that the kernels see what the descriptions say."""

import numpy as np
import pytest

from cbsim.geometry.pose import rotate
from cbsim.multibody import (
    Box,
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
    SphereHalfSpaceCollision,
    SphereSphereCollision,
    StringCollision,
    contact_constraint,
    contact_location,
    contact_normal,
    contact_tangent,
    get_contact,
    get_maximal_state,
    get_next_state,
    get_sdf,
    mehrotra,
    momentum,
    rollout,
    simulate,
)
from cbsim.multibody.gallery import block, sphere
from tests.multibody.common import Z

TURNED = np.array([0.8, 0.2, -0.4, 0.4])
FINE = SolverOptions(rtol=1e-8, btol=1e-8)
PAIRS = {
    "sphere": SphereSphereCollision((0.1, 0, 0), (0, 0.1, 0), 0.3, 0.4),
    "capsule": SphereCapsuleCollision((0.1, 0, 0), (0, 0, -0.5), (0, 0.2, 0.5), 0.3, 0.2),
    "box": SphereBoxCollision.of_size(0.8, 0.6, 0.4, origin_sphere=(0.1, 0, 0), radius_sphere=0.2),
    "string": StringCollision((0.1, 0, 0), (0, 0, 0.2), 1.5),
}


def two(collision, law=NonlinearContact, gravity=0.0, h=0.01, fixed=False):
    """Two bodies that one contact couples; the second hangs in the world or stands still."""
    origin = Origin()
    a, b = Box(0.4, 0.4, 0.4, mass=1.0).body(name="a"), Box(0.8, 0.6, 0.4, mass=2.0).body(name="b")
    model = law(collision) if law is ImpactContact else law(collision, 0.5)
    joints = [Floating(origin, a), (Fixed if fixed else Floating)(origin, b, name="b's")]
    return Mechanism(origin, [a, b], joints, ContactConstraint(model, a, b, name="meet"), gravity=gravity, timestep=h)


def placed(m, xa, xb=(0, 0, 0), va=(0, 0, 0), vb=(0, 0, 0)):
    z = get_maximal_state(m).reshape(-1, 13)
    z[0, :6], z[1, :6] = (*xa, *va), (*xb, *vb)
    return z.ravel()


def test_a_half_space_contact_is_where_its_formulas_say():
    n = np.array([0.0, 0.6, 0.8])
    c = SphereHalfSpaceCollision(n, (0.1, 0.2, 0.3), 0.05, (0, 0, 1))
    x, q = np.array([1.0, 2.0, 3.0]), TURNED
    centre = x + rotate(q, (0.1, 0.2, 0.3))
    np.testing.assert_allclose(contact_location(c, x, q), centre - 0.05 * n)
    assert get_sdf(c, x, q) == pytest.approx(n @ (centre - (0, 0, 1)) - 0.05)
    np.testing.assert_array_equal(contact_normal(c, x, q), n)
    for model in (ImpactContact(c), LinearContact(c, 0.3), NonlinearContact(c, 0.3)):
        assert model.contact_radius == 0.05
        np.testing.assert_array_equal(model.contact_origin, (0.1, 0.2, 0.3))
        np.testing.assert_array_equal(model.contact_offset, (0, 0, 1))
        np.testing.assert_array_equal(model.contact_normal, n)
        np.testing.assert_array_equal(model.contact_tangent, c.contact_tangent)


@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 0, 0), (0, 1, 0), (1, 1e-5, 0), (0.3, -0.5, 0.2), (-1, 0, 0)])
def test_normal_and_tangents_are_an_orthonormal_frame(normal):
    c = SphereHalfSpaceCollision(normal)
    frame = np.concatenate([contact_tangent(c, np.zeros(3), TURNED), [c.contact_normal]])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-14)


@pytest.mark.parametrize("name", PAIRS)
def test_the_gap_changes_along_the_normal(name):
    pair, q = PAIRS[name], np.array([1.0, 0, 0, 0])
    x = np.array([0.9, 0.7, 0.6])
    n = contact_normal(pair, x, q, np.zeros(3), TURNED)
    step = 1e-6 * np.eye(3)
    slope = [
        (get_sdf(pair, x + e, q, np.zeros(3), TURNED) - get_sdf(pair, x - e, q, np.zeros(3), TURNED)) / 2e-6
        for e in step
    ]
    np.testing.assert_allclose(slope, n, atol=1e-8)
    assert np.linalg.norm(n) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["sphere", "capsule", "box"])
def test_points_that_would_touch_are_a_gap_apart(name):
    seen = PAIRS[name].meet((0.9, 0.7, 0.6), TURNED, (0.0, 0.1, 0.0), TURNED)
    np.testing.assert_allclose(seen.parent_point - seen.child_point, seen.distance * seen.normal, atol=1e-14)


def test_a_sphere_inside_a_box_leaves_by_the_nearest_face():
    pair = SphereBoxCollision.of_size(2.0, 2.0, 1.0, radius_sphere=0.1)
    q = np.array([1.0, 0, 0, 0])
    assert get_sdf(pair, (0.1, 0.2, 0.3), q, np.zeros(3), q) == pytest.approx(-0.2 - 0.1)
    np.testing.assert_array_equal(contact_normal(pair, (0.1, 0.2, 0.3), q, np.zeros(3), q), Z)
    assert (pair.width, pair.depth, pair.height) == (2.0, 2.0, 1.0)


@pytest.mark.parametrize("law", [ImpactContact, LinearContact, NonlinearContact])
@pytest.mark.parametrize("name", ["sphere", "capsule", "box"])
def test_bodies_that_collide_keep_their_momentum_and_stay_apart(name, law):
    m = two(PAIRS[name], law)
    z = placed(m, (0.2, 0.05, 1.5), va=(0.1, 0.0, -3.0))
    s = simulate(m, 60, z, options=FINE)
    assert get_sdf(m, s)[0].min() > -1e-7
    total = (s.v * np.array([1.0, 2.0])[None, :, None]).sum(axis=1)
    np.testing.assert_allclose(total, np.tile(total[0], (60, 1)), atol=1e-6)
    assert np.abs(s.v[-1, 1]).max() > 0.1  # they did collide
    spin = momentum(m, s)[:, 3:]
    assert np.abs(spin[-1] - spin[0]).max() < 0.03  # of first order: impulses act where the bodies are after the step


def test_what_a_collision_does_to_angular_momentum_goes_with_the_step():
    lost = []
    for h in (0.01, 0.001):
        m = two(PAIRS["sphere"], h=h)
        s = simulate(m, round(0.6 / h), placed(m, (0.2, 0.05, 1.5), va=(0.1, 0.0, -3.0)), options=FINE)
        spin = momentum(m, s)[:, 3:]
        lost.append(np.abs(spin[-1] - spin[0]).max())
    assert lost[1] < 0.3 * lost[0]


def test_a_string_lets_nothing_go_farther_than_its_length():
    m = two(PAIRS["string"], ImpactContact, gravity=-9.81, fixed=True)
    s = simulate(m, 300, placed(m, (0.2, 0.0, -0.5)), options=FINE)
    assert get_sdf(m, s)[0].min() > -1e-7
    assert np.linalg.norm(s.x[-1, 0]) < 2.0


@pytest.mark.parametrize("contact_type", ["impact", "linear", "nonlinear"])
def test_what_rests_is_carried_by_its_weight(contact_type):
    m = sphere(friction=0.5, mass=2.0, contact_type=contact_type)
    z = rollout(m, [0, 0, 0.5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0], 20, options=FINE)[-1]
    m.pose[:] = z.reshape(1, 13)
    assert mehrotra(m, options=FINE) == "success"
    foot = get_contact(m, "ground")
    assert foot.impulses[0] == pytest.approx(2.0 * 9.81 * 0.01, rel=1e-4)
    assert len(foot.impulses) == len(foot.impulses_dual) == {"impact": 1, "linear": 6, "nonlinear": 4}[contact_type]
    assert foot.impulses_dual[0] == pytest.approx(get_next_state(m)[2] - 0.5, abs=1e-7)


def test_in_a_stack_the_lower_contact_carries_both():
    origin = Origin()
    low, top = Sphere(0.5, mass=1.0).body(name="low"), Sphere(0.5, mass=3.0).body(name="top")
    contacts = [
        contact_constraint(low, Z, contact_radius=0.5, name="ground"),
        ContactConstraint(NonlinearContact(SphereSphereCollision(0, 0, 0.5, 0.5), 0.5), top, low, name="between"),
    ]
    m = Mechanism(origin, [low, top], [Floating(origin, low), Floating(origin, top)], contacts)
    s = simulate(m, 30, placed(m, (0, 0, 0.5), (0, 0, 1.5)), options=FINE)
    assert get_contact(m, "ground").impulses[0] == pytest.approx(4.0 * 9.81 * 0.01, rel=1e-5)
    assert get_contact(m, "between").impulses[0] == pytest.approx(3.0 * 9.81 * 0.01, rel=1e-5)
    assert s.x[-1, 1, 2] - s.x[-1, 0, 2] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("h", [0.1, 0.05, 0.01, 0.005])
def test_a_tossed_cube_comes_to_rest_on_a_face(h):
    m = block(friction=0.1, timestep=h)
    z = np.array([0, 0, 0.75, 1, 1.5, 1, 1, 0, 0, 0, 5 * h, 4 * h, 2 * h])
    s = simulate(m, round(5 / h), z, options=SolverOptions(rtol=1e-6, btol=1e-6))
    end = get_next_state(m)
    assert end[2] == pytest.approx(0.25, abs=1e-3)
    assert np.abs(end[3:6]).max() < 1e-8
    assert min(gap.min() for gap in get_sdf(m, s)) > -1e-6
    assert s.is_solved.all()
    assert len(get_sdf(m, s)) == 8


def test_several_contacts_are_made_and_named_in_one_call():
    cube, other = Box(1, 1, 1, mass=1.0).body(name="cube"), Box(1, 1, 1, mass=1.0).body(name="other")
    four = contact_constraint(cube, [Z] * 4, name="foot", contact_radius=[0, 1, 2, 3])
    assert [k.name for k in four] == ["foot_1", "foot_2", "foot_3", "foot_4"]
    assert [k.model.contact_radius for k in four] == [0, 1, 2, 3]
    both = contact_constraint([cube, other], Z, friction_coefficient=(0.1, 0.2), name=("left", "right"))
    assert [(k.parent, k.name, k.model.mu) for k in both] == [(cube, "left", 0.1), (other, "right", 0.2)]
    assert contact_constraint(cube, Z, contact_type="impact")[0].model.mu == 0.0


def test_a_floor_can_be_anywhere():
    m = sphere()
    origin, ball = m.origin, m.bodies[0]
    high = contact_constraint(ball, Z, contact_radius=0.5, contact_offset=(0, 0, 2.0))
    m = Mechanism(origin, [ball], [Floating(origin, ball)], high)
    end = rollout(m, [0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0], 200, options=FINE)[-1]
    assert end[2] == pytest.approx(2.5, abs=1e-6)
