"""Gradients by parameters against differences of steps of mechanisms with others; closed forms; a toss."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import ModelError
from cbsim.multibody import (
    Body,
    Box,
    ContactConstraint,
    Floating,
    LinearContact,
    Mechanism,
    NonlinearContact,
    Origin,
    Parameter,
    Revolute,
    SolverOptions,
    SphereBoxCollision,
    SphereCapsuleCollision,
    SphereSphereCollision,
    StringCollision,
    contact_constraint,
    gallery,
    get_maximal_gradients,
    get_maximal_state,
    get_minimal_state,
    get_parameter_gradients,
    maximal_to_minimal,
    maximal_to_minimal_jacobian,
    minimal_to_maximal,
    parameters_of,
    rollout,
    rollout_parameter_gradients,
    set_input,
    set_minimal_state,
    step,
    with_parameters,
)  # fmt: skip
from tests.multibody.common import X
from tests.multibody.differences import check_parameters
from tests.multibody.test_gradients import twister
from tests.multibody.test_loop_joint_rows import CUTS, KINDS, fourbar, ring

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


@pytest.mark.parametrize(
    "kind",
    [
        *("Revolute", "Spherical"),
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("Fixed", "Orbital", "Cylindrical", "PlanarFree")),
    ],
)
def test_crooked_chains_of_joints(kind):
    options = {} if kind == "Fixed" else {"spring": 20.0, "damper": 0.5}
    mechanism, x, u = twister(kind, np.random.default_rng(len(kind)), **options)
    check_parameters(mechanism, minimal_to_maximal(mechanism, x), u)


def _closes(parameter):
    """Choose of a tree joint, the loop joint and the body between them what leaves the loop in its plane x = 0."""
    return parameter.part in {"rod 1", "b", "c"} and not parameter.quantity.endswith("vertex")


@pytest.mark.parametrize("kind", ["dampers", "motors", "friction", "soft stops", "all"])
def test_a_four_bar_whose_loop_is_a_chord(kind):
    mechanism = fourbar(CUTS["c"], KINDS[kind])
    z = rollout(mechanism, get_maximal_state(mechanism), 30, [2.0, 0.3, -1.0, 0.5])[-1]
    check_parameters(mechanism, z, [1.0, 0.2, -0.5, 0.4], kappa=1e-4, only=_closes)


@pytest.mark.parametrize("minimal", [False, True])
def test_a_vertex_that_no_loop_can_follow_has_no_gradient(minimal):
    """Out of the plane of a plane four-bar; within it, and for all else, there is one."""
    mechanism = fourbar(CUTS["c"], KINDS["dampers"])
    z = rollout(mechanism, get_maximal_state(mechanism), 30, [2.0, 0.3, -1.0, 0.5])[-1]
    slopes = get_parameter_gradients(mechanism, z, minimal=minimal)
    found = [(p.quantity, k) for p in parameters_of(mechanism) for k in range(len(p.values))]
    is_none = np.isnan(slopes)
    np.testing.assert_array_equal(is_none.all(axis=0), is_none.any(axis=0))
    np.testing.assert_array_equal(is_none[0], [q.endswith("vertex") and k == 0 for q, k in found])


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
    assert (mechanism.work.contact_work[:, 9].max() > 0.1) == (height < 0.5)  # it pushes, or it flies


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
    assert mechanism.work.contact_work[0, 9] > 0.02  # it pushes


@pytest.mark.slow
def test_a_quadruped_on_its_feet():
    mechanism = gallery.quadruped(spring=100.0, damper=5.0, limited=True)
    z = rollout(mechanism, get_maximal_state(mechanism), 100)[-1]
    u = np.random.default_rng(2).normal(size=mechanism.compiled.inputs)
    check_parameters(mechanism, z, u, kappa=1e-4, e=2e-4)
    assert (mechanism.work.contact_work[:4, 9] > 0.1).all()


def sensitivity_by_differences(mechanism, z, n, u, key, value, size):
    """Central differences of a whole trajectory in minimal coordinates, with the next term of the series taken off."""
    x, found = maximal_to_minimal(mechanism, z), []
    for k in (-2.0, -1.0, 1.0, 2.0):
        made = with_parameters(mechanism, {key: value + k * size})
        now = minimal_to_maximal(made, x)
        for _ in range(n):
            now = step(made, now, u, options=TIGHT)
        found.append(maximal_to_minimal(made, now))
    return (found[0] - 8.0 * found[1] + 8.0 * found[2] - found[3]) / (12.0 * size)


def tumbling():
    """Return a block with one rounded corner on the ground, sliding and turning, and a state of it."""
    mechanism = gallery.block(radius=0.01, friction=0.4, timestep=0.02)
    x = np.zeros(12)
    x[2], x[3:6], x[6:9], x[9:] = 0.35, (0.2, 0.1, 0.0), (1.0, 0.3, -0.5), (0.4, -0.7, 0.3)
    return mechanism, minimal_to_maximal(mechanism, x)


@pytest.mark.parametrize(
    ("make", "key", "value", "size"),
    [
        (tumbling, ("cube", "mass"), 1.0, 2e-4),
        (tumbling, ("corner_1", "friction_coefficient"), 0.4, 2e-4),
        (tumbling, ("corner_1", "contact_radius"), 0.01, 1e-5),
    ],
)
def test_a_trajectory_depends_on_parameters_as_its_differences_say(make, key, value, size):
    mechanism, z = make()
    name = next(p.part for p in parameters_of(mechanism) if p.quantity == key[1])
    key, u = (name, key[1]), np.array([0.3, 0.1, 0.0, 0.0, 0.1, 0.0])
    path, slopes = rollout_parameter_gradients(mechanism, z, 12, u, [key], options=TIGHT)
    assert slopes.shape == (13, 12, 1)
    assert not slopes[0].any()
    expected = sensitivity_by_differences(mechanism, z, 12, u, key, value, size)
    np.testing.assert_allclose(slopes[-1, :, 0], expected, rtol=0.0, atol=1e-5 * np.abs(expected).max() + 1e-9)
    assert np.abs(expected).max() > 1e-3
    now = z
    for k in range(12):
        np.testing.assert_allclose(path[k], now, atol=1e-9)
        now = step(mechanism, now, u, options=TIGHT)


def test_sensitivities_in_both_coordinates_are_one_through_the_joints():
    mechanism = gallery.pendulum(spring=2.0, damper=0.3)
    z, names = minimal_to_maximal(mechanism, [1.0, 0.5]), [("rod", "mass"), ("hinge", "damper")]
    path, by_joints = rollout_parameter_gradients(mechanism, z, 30, [0.2], names, options=TIGHT)
    same, by_bodies = rollout_parameter_gradients(mechanism, z, 30, [0.2], names, minimal=False, options=TIGHT)
    np.testing.assert_array_equal(path, same)
    np.testing.assert_allclose(
        maximal_to_minimal_jacobian(mechanism, path[-1]) @ by_bodies[-1], by_joints[-1], atol=1e-9
    )


def chebyshev(n, c):
    """T and U, Chebyshev's polynomials of both kinds up to degree n."""
    first, second = [1.0, c], [1.0, 2.0 * c]
    for _ in range(n):
        first.append(2.0 * c * first[-1] - first[-2])
        second.append(2.0 * c * second[-1] - second[-2])
    return first, second


def test_a_slider_on_a_spring_is_a_polynomial_of_its_stiffness_and_its_mass():
    """x_{n+1} = 2 c x_n − x_{n−1}, c = 1 − k h² / 2m, has the solution x_n = x₀ U_n(c) − x₋₁ U_{n−1}(c).

    And U_n' = ((n + 1) T_{n+1} − c U_n) / (c² − 1).
    """
    k, m, h, n, start, speed = 30.0, 1.0, 0.01, 200, 0.3, -0.4
    mechanism = gallery.slider(spring=k, gravity=0.0, timestep=h)
    names = [("rail", "spring"), (mechanism.bodies[0].name, "mass")]
    z = minimal_to_maximal(mechanism, [start, speed])
    path, slopes = rollout_parameter_gradients(mechanism, z, n, parameters=names, options=SolverOptions(rtol=1e-13))
    c = 1.0 - k * h * h / (2.0 * m)
    first, second = chebyshev(n + 1, c)
    before = start - h * speed
    assert maximal_to_minimal(mechanism, path[-1])[0] == pytest.approx(
        start * second[n] - before * second[n - 1], abs=1e-9
    )
    by_c = [((i + 1) * first[i + 1] - c * second[i]) / (c * c - 1.0) for i in (n, n - 1)]
    by_c = start * by_c[0] - before * by_c[1]
    assert slopes[-1, 0, 0] == pytest.approx(-by_c * h * h / (2.0 * m), rel=1e-8)
    assert slopes[-1, 0, 1] == pytest.approx(by_c * k * h * h / (2.0 * m * m), rel=1e-8)


def test_a_sliding_block_stops_after_v_squared_over_two_mu_g():
    """Every step takes mu g h off its velocity; the distance v² / (2 mu g) − v h / 2 falls by v² / (2 mu² g)."""
    mu, v, h, kappa = 0.5, 2.0, 0.002, 1e-8
    mechanism = gallery.block(friction=mu, timestep=h)
    x = get_minimal_state(mechanism)
    x[6] = v
    z = minimal_to_maximal(mechanism, x)
    names = [(contact.name, "friction_coefficient") for contact in mechanism.contacts]
    _, slopes = rollout_parameter_gradients(mechanism, z, 300, parameters=names, options=SolverOptions(kappa=kappa))
    by_mu = slopes[:, :, :].sum(axis=2)
    n = 100
    assert by_mu[n, 6] == pytest.approx(-9.81 * h * n, rel=1e-3)
    assert by_mu[n, 0] == pytest.approx(-9.81 * h * h * n * (n + 1) / 2, rel=1e-3)
    assert by_mu[-1, 0] == pytest.approx(-(v * v) / (2.0 * mu * mu * 9.81), rel=1e-2)
    assert by_mu[-1, 6] == pytest.approx(0.0, abs=1e-3)


def test_the_period_of_a_pendulum_by_mass_inertia_and_length():
    """phi = a cos(w t), w² = m g l / (J + m l²); the step is of second order, the amplitude small."""
    h, n, a, m, arm, inertia = 1e-3, 1500, 1e-4, 1.3, 0.5, 0.2
    origin, rod = Origin(), Body(m, np.diag([inertia, 0.15, 0.1]), name="rod")
    hinge = Revolute(origin, rod, X, child_vertex=(0, 0, arm), name="hinge")
    mechanism = Mechanism(origin, [rod], [hinge], timestep=h)
    swing = np.sqrt(m * 9.81 * arm / (inertia + m * arm * arm))
    rate = -a * (np.cos(0.0) - np.cos(swing * h)) / -h  # of the step before: phi is even in time
    z = minimal_to_maximal(mechanism, [a, rate])
    names = [("rod", "mass"), ("rod", "inertia"), ("hinge", "child_vertex")]
    path, slopes = rollout_parameter_gradients(mechanism, z, n, parameters=names, options=SolverOptions(rtol=1e-14))
    t, total = n * h, inertia + m * arm * arm
    assert maximal_to_minimal(mechanism, path[-1])[0] == pytest.approx(a * np.cos(swing * t), abs=1e-5 * a)
    by_swing = -a * t * np.sin(swing * t)
    by_mass = 0.5 * swing * (1.0 / m - arm * arm / total)
    by_arm = 0.5 * swing * (1.0 / arm - 2.0 * m * arm / total)
    for column, expected in ((0, by_mass), (1, -0.5 * swing / total), (9, by_arm)):
        assert slopes[-1, 0, column] == pytest.approx(by_swing * expected, rel=2e-3)


@pytest.mark.parametrize("kind", ["Revolute", "Spherical", "PlanarFree"])
def test_without_other_forces_only_ratios_of_masses_matter(kind):
    """Euler's theorem: sum over masses and inertias of value · slope is 0, as z does not change with their scale."""
    mechanism, x, _ = twister(kind, np.random.default_rng(5))
    names = [p for p in parameters_of(mechanism) if p.quantity in {"mass", "inertia"}]
    slopes = get_parameter_gradients(mechanism, minimal_to_maximal(mechanism, x), None, names, options=TIGHT)
    values = np.concatenate([p.values for p in names])
    np.testing.assert_allclose(slopes @ values, 0.0, atol=1e-10 * np.abs(slopes * values).max())


def test_ground_that_is_moved_carries_everything_along():
    """z₊(z + d, ground + d) = z₊ + d: slopes by the ground are those of what is held, less by the body."""
    mechanism, z = tumbling()
    by_body, _ = get_maximal_gradients(mechanism, z, options=TIGHT)
    names = [(contact.name, "contact_offset") for contact in mechanism.contacts]
    by_ground = get_parameter_gradients(mechanism, z, None, names, options=TIGHT).reshape(12, -1, 3).sum(axis=1)
    np.testing.assert_allclose(by_body[:, :3] + by_ground, np.eye(12)[:, :3], atol=1e-8)


@pytest.mark.parametrize(("mass", "friction"), [(1.3, 0.35), (0.7, 0.65), (1.3, 0.65), (0.7, 0.35)])
def test_mass_and_friction_are_identified_from_a_toss(mass, friction):
    """Gauss and Newton on positions with noise of 1 mm, from starts that are 30 % off; forces make mass seen.

    The toss is simulated with hard contacts, the model's are as soft as kappa. With 1 mm of noise the standard error of
    the mass is 0.8 %, so errors of a toss at default tolerances, 0.3 %, could decide whether 1 % holds: it is exact.
    """
    origin, box = Origin(), Box(0.4, 0.3, 0.2, mass=1.0).body(name="box")
    corners = [(x, y, z) for x in (-0.2, 0.2) for y in (-0.15, 0.15) for z in (-0.1, 0.1)]
    contacts = contact_constraint(box, (0, 0, 1), friction_coefficient=0.5, contact_origin=corners, name="corner")
    thrown = Mechanism(origin, [box], [Floating(origin, box)], contacts)
    rough = [(contact.name, "friction_coefficient") for contact in contacts]
    x, n = np.zeros(12), 150
    x[2], x[6:9], x[9:] = 0.25, (2.0, 0.5, 0.3), (0.5, -0.4, 2.0)
    z, u = minimal_to_maximal(thrown, x), np.zeros((n, 6))
    u[:, 0], u[:, 1] = 2.0 * np.sin(0.2 * np.arange(n)), 1.5 * np.cos(0.13 * np.arange(n))
    toss = rollout(thrown, z, n, u, options=SolverOptions(rtol=1e-10, btol=1e-11))
    seen = toss[:, :3].ravel() + 1e-3 * np.random.default_rng(0).normal(size=3 * (n + 1))

    def predict(p):
        model = with_parameters(thrown, {("box", "mass"): p[0], **dict.fromkeys(rough, p[1])})
        path, slopes = rollout_parameter_gradients(
            model, z, n, u, [("box", "mass"), *rough], minimal=False, options=SolverOptions(kappa=1e-6)
        )
        slopes = np.stack([slopes[:, :3, 0], slopes[:, :3, 1:].sum(axis=2)], axis=2)
        return path[:, :3].ravel() - seen, slopes.reshape(-1, 2)

    p = np.array([mass, friction])
    off, slopes = predict(p)
    for _ in range(10):
        full = -np.linalg.lstsq(slopes, off, rcond=None)[0]
        for share in (1.0, 0.5, 0.25, 0.125):
            then, steeper = predict(p + share * full)
            if then @ then < off @ off:
                break
        p, off, slopes = p + share * full, then, steeper
        if np.abs(full).max() < 1e-6:
            break
    np.testing.assert_allclose(p, [1.0, 0.5], rtol=0.01)


@pytest.mark.parametrize("name", gallery.GALLERY)
def test_parameters_put_back_as_they_are_change_nothing(name):
    mechanism = gallery.build(name)
    listed = parameters_of(mechanism)
    same = with_parameters(mechanism, {p[:2]: p.values for p in listed})
    assert parameters_of(same) == listed
    for one, other in zip(same.compiled.model, mechanism.compiled.model, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(same.pose, mechanism.pose, atol=1e-12)
    assert not {id(node) for node in same.spec.nodes} & {id(node) for node in mechanism.spec.nodes}


def test_a_changed_mechanism_goes_on_from_where_the_first_one_is():
    mechanism = gallery.pendulum()
    set_minimal_state(mechanism, [0.4, 1.0])
    set_input(mechanism, [0.7])
    heavier = with_parameters(mechanism, {("rod", "mass"): 2.0, ("hinge", "child_vertex"): (0.0, 0.0, 0.6)})
    np.testing.assert_allclose(get_minimal_state(heavier), [0.4, 1.0], atol=1e-14)
    assert heavier.inputs == pytest.approx([0.7])
    assert (heavier.bodies[0].mass, mechanism.bodies[0].mass) == (2.0, 1.0)
    np.testing.assert_array_equal(heavier.joints[0].translational.vertices[1], (0.0, 0.0, 0.6))


def test_columns_stand_in_the_order_asked_for_and_have_the_same_bits_twice():
    mechanism, z = tumbling()
    every = parameters_of(mechanism)
    slopes = get_parameter_gradients(mechanism, z, options=TIGHT)
    assert slopes.shape == (12, sum(len(p.values) for p in every))
    np.testing.assert_array_equal(slopes, get_parameter_gradients(mechanism, z, options=TIGHT))
    asked = [("cube", "inertia"), Parameter("cube", "mass")]
    chosen = get_parameter_gradients(mechanism, z, None, asked, options=TIGHT)
    np.testing.assert_allclose(chosen, slopes[:, [1, 2, 3, 4, 5, 6, 0]], atol=1e-12)
    assert get_parameter_gradients(mechanism, z, None, []).shape == (12, 0)


def test_mistakes_name_their_part():
    mechanism, z = tumbling()
    for names, text in (
        ([("cubee", "mass")], "did you mean 'cube'"),
        ([("cube", "maas")], r"'cube'.*did you mean 'mass'"),
        ([("origin", "mass")], "'origin'"),
        ([["cube", "mass"]], r"expected \(part, quantity\)"),
        (7, "expected a sequence"),
        (["mass"], r"expected \(part, quantity\)"),
    ):
        with pytest.raises(ModelError, match=text):
            get_parameter_gradients(mechanism, z, None, names)
    with pytest.raises(ModelError, match=r"'cube'.*inertia has the shape"):
        with_parameters(mechanism, {("cube", "inertia"): [1.0, 2.0]})
    with pytest.raises(ModelError, match=r"cube.*mass is -1"):
        with_parameters(mechanism, {("cube", "mass"): -1.0})
    with pytest.raises(ModelError, match="expected a mapping"):
        with_parameters(mechanism, [("cube", "mass")])
    with pytest.raises(ModelError, match="order 2"):
        get_parameter_gradients(mechanism, z, options=SolverOptions(order=4))
