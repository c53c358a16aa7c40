"""Contact points: what they tell of a step is what its bodies got in it."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbsim.dynamics.kernels import columns as c
from cbsim.errors import ModelError
from cbsim.multibody import (
    Box,
    Collider,
    ContactPoint,
    Floating,
    HeightField,
    Mechanism,
    Origin,
    SolverOptions,
    Sphere,
    contact_constraint,
    contact_points,
    gallery,
    get_maximal_state,
    ground,
    mehrotra,
    simulate,
    step,
)
from tests.multibody.common import Z

G = 9.81


def pile(masses, timestep=0.01, friction=0.5, *, size=1.0, floor=ground, restitution=0.0):
    """Cubes on one another, and the state in which they stand."""
    origin = Origin()
    bodies = [Box(size, size, size, mass=mass).body(name=f"cube {i}") for i, mass in enumerate(masses)]
    solid = [floor(origin), *(Collider(b, b.shape, friction, restitution, name=f"{b.name} solid") for b in bodies)]
    made = Mechanism(origin, bodies, [Floating(origin, b) for b in bodies], timestep=timestep, colliders=solid)
    z = np.zeros((len(masses), 13))
    z[:, 6], z[:, 2] = 1.0, size * (np.arange(len(masses)) + 0.5)
    return made, z


def got(points, name):
    """Impulse of all contacts on a body."""
    gives = [p.impulse for p in points if p.body == name] + [-p.impulse for p in points if p.other == name]
    return np.sum(gives, axis=0) if gives else np.zeros(3)


def exactly(mass, speed):
    """Options that leave little of such momenta."""
    scale = mass * max(speed, 1e-3)
    return SolverOptions(rtol=1e-9 * scale, btol=min(1e-4, 1e-6 * scale))


@given(
    st.floats(-3.0, 3.0), st.floats(0.2, 5.0), st.sampled_from([3e-4, 0.01, 0.05, 1.0]), st.floats(0.0, 1.5),
    st.tuples(*[st.floats(-1.0, 1.0)] * 2), st.floats(-2.0, 0.0),
)  # fmt: skip
def test_impulses_are_the_momentum_that_contacts_give(exponent, ratio, timestep, friction, slide, fall):
    """From grams to tonnes: against the ground, and between bodies, of which each gets the other's opposite."""
    mass = 10.0**exponent
    floor = partial(ground, friction_coefficient=friction)
    mechanism, z = pile([mass, ratio * mass], timestep, friction, floor=floor)
    z[1, 3:5], z[:, 5] = slide, fall
    options = exactly(mass, G * timestep)
    points = contact_points(mechanism, z, options=options)
    after = step(mechanism, z, options=options)
    for i, body in enumerate(mechanism.bodies):
        gained = body.mass * (after[i, 3:6] - z[i, 3:6] - timestep * mechanism.gravity)
        np.testing.assert_allclose(got(points, body.name), gained, atol=1e-6 * mass * (G * timestep + abs(fall)))
    for point in points:
        np.testing.assert_allclose(point.force * timestep, point.impulse)
        assert point.gap > -1e-6
        if mechanism.last[c.ATTEMPTS]:
            continue  # a step in parts, in which the normal turned
        across = point.impulse - point.normal_impulse * point.normal
        assert np.linalg.norm(across) <= friction * point.normal_impulse + 1e-6 * mass * (G * timestep + abs(fall))


def test_points_of_a_stack_name_who_touches_and_bear_what_is_above():
    mechanism, z = pile([1.0, 2.0])
    points = contact_points(mechanism, z, options=SolverOptions(rtol=1e-10, btol=1e-10))
    low = [p for p in points if p.other == "origin"]
    high = [p for p in points if p.other != "origin"]
    assert {p.body for p in low} == {"cube 0"}
    assert {p.colliders for p in low} == {("cube 0 solid", "ground")}
    assert {frozenset((p.body, p.other)) for p in high} == {frozenset(("cube 0", "cube 1"))}
    assert sum(p.normal_force for p in low) == pytest.approx(3.0 * G)
    assert sum(p.normal_force for p in high) == pytest.approx(2.0 * G)
    for p in points:
        np.testing.assert_allclose(np.abs(p.point[:2]), 0.5, atol=1e-6)
        np.testing.assert_allclose(p.point[2], 0.0 if p.other == "origin" else 1.0, atol=1e-6)
        np.testing.assert_allclose(np.abs(p.normal), Z, atol=1e-9)
        assert p.contact == ""


@pytest.mark.parametrize("law", ["impact", "linear", "nonlinear"])
def test_stated_contacts_are_told_by_name_beside_colliders(law):
    origin, ball = Origin(), Sphere(0.5, mass=2.0).body(name="ball")
    foot = contact_constraint(ball, Z, contact_radius=0.5, friction_coefficient=0.3, name="foot", contact_type=law)
    block = Box(1, 1, 1, mass=1.0).body(name="block")
    mechanism = Mechanism(
        origin, [block, ball], [Floating(origin, block), Floating(origin, ball)], foot,
        colliders=[ground(origin), Collider(block, block.shape)],
    )  # fmt: skip
    z = np.zeros((2, 13))
    z[:, 6], z[:, 2], z[1, 0], z[1, 3] = 1.0, 0.5, 3.0, 4.0
    first, *others = contact_points(mechanism, z, options=SolverOptions(rtol=1e-10, btol=1e-10))
    assert (first.body, first.other, first.contact, first.colliders) == ("ball", "origin", "foot", ("", ""))
    assert {p.body for p in others} == {"block"}
    slide = 0.0 if law == "impact" else -0.3 * 2.0 * G  # it slips at 4 m/s
    np.testing.assert_allclose(first.force, (slide, 0.0, 2.0 * G), atol=1e-4)


def test_terrain_is_named_where_one_of_its_triangles_is_touched():
    def field(origin):
        return Collider(origin, HeightField(heights=np.zeros((5, 5)), spacing=1.0), name="field")

    mechanism, z = pile([1.0], floor=field)
    points = contact_points(mechanism, z)
    assert {p.colliders for p in points} == {("cube 0 solid", "field")}
    assert sum(p.normal_force for p in points) == pytest.approx(G, rel=1e-3)


def test_a_step_in_parts_tells_the_impulses_of_all_of_them():
    mechanism, z = pile([1.0])
    options = SolverOptions(order=4, rtol=1e-10, btol=1e-10)
    points = contact_points(mechanism, z, options=options)
    gained = step(mechanism, z, options=options)[0, 3:6] - z[0, 3:6] - 0.01 * mechanism.gravity
    assert mechanism.last[c.ATTEMPTS] > 0.0  # more than one: what touches is met in parts
    np.testing.assert_allclose(got(points, "cube 0"), gained, atol=1e-9)


def test_what_bounces_is_told_by_the_impulse_that_turned_it_back():
    mechanism, z = pile([2.0], restitution=1.0)
    z[0, 2], z[0, 5] = 0.501, -3.0
    points = contact_points(mechanism, z, options=SolverOptions(rtol=1e-10, btol=1e-10))
    assert got(points, "cube 0")[2] == pytest.approx(2.0 * (2 * 3.0 + 0.01 * G), rel=1e-2)


def test_the_own_state_has_points_of_its_last_solve():
    mechanism, z = pile([1.0, 1.0])
    assert mechanism.contact_points() == ()
    simulate(mechanism, 5, z)
    stands = mechanism.contact_points()
    assert sum(p.normal_force for p in stands if p.other == "origin") == pytest.approx(2.0 * G, rel=1e-3)
    higher = z.copy()
    higher[:, 2] += 5.0, 10.0
    assert contact_points(mechanism, higher) == ()
    assert len(mechanism.contact_points()) == len(stands)  # steps on other states leave them
    mechanism.gravity = -1.0
    assert mehrotra(mechanism) == "success"
    lighter = sum(p.normal_force for p in mechanism.contact_points() if p.other == "origin")
    assert lighter == pytest.approx(2.0, rel=1e-2)


def test_a_point_is_frozen_and_owns_its_numbers():
    mechanism = gallery.sphere()
    z = get_maximal_state(mechanism)
    [point] = contact_points(mechanism, z)
    assert isinstance(point, ContactPoint)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.gap = 1.0
    kept = point.impulse.copy()
    simulate(mechanism, 3, z + np.eye(13)[2])
    step(mechanism, z + np.eye(13)[2])
    np.testing.assert_array_equal(point.impulse, kept)


def test_a_wrong_state_is_refused():
    with pytest.raises(ModelError, match="shape"):
        contact_points(gallery.sphere(), np.zeros(3))
