"""Rows `behaviors`, `mechanism` and `simulate` of the blueprint, as far as they are not elsewhere.

A tossed box is in `tests/multibody/test_contacts.py`, forces from outside, inputs as impulses, rows of a storage and
another base in `test_face.py`, Dzhanibekov's body and a limited pendulum in `test_closed_forms.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.multibody import (
    SolverOptions,
    gallery,
    get_maximal_state,
    get_minimal_state,
    get_sdf,
    maximal_to_minimal,
    minimal_to_maximal,
    reduce_fixed_joints,
    rollout,
    set_floating_base,
    set_maximal_state,
    simulate,
    step,
)
from tests.multibody.blueprint.mechanisms import TIGHT, equipped, inputs_of


def test_a_quadruped_that_hardly_gives_settles_on_its_feet_and_sinks_nowhere():
    m = equipped(gallery.quadruped(timestep=0.05, limited=True, body_contacts=True), 30.0, 1000.0)
    s = simulate(m, 100)
    assert s.is_solved.all()
    assert min(gap.min() for gap in get_sdf(m, s)) > -1e-7
    assert np.abs(s.v[-1]).max() < 1e-2


@pytest.mark.parametrize("h", [0.1, 0.05, 0.01, 0.005])
def test_a_four_bar_that_is_pushed_at_random_stays_closed(h):
    m = gallery.fourbar(timestep=h, damper=1.0)
    steps = round(5.0 / h)
    push = np.repeat(np.random.default_rng(3).normal(size=(50, len(m.inputs))), steps // 50, axis=0)
    push[:, 2:] = 0.0
    path = rollout(m, get_maximal_state(m), steps, push, options=TIGHT)
    x = np.array([maximal_to_minimal(m, z) for z in path])
    angles = x[:, ::2]
    assert np.ptp(angles[:, 0]) > 0.3
    np.testing.assert_allclose(angles[:, 0] + angles[:, 1], angles[:, 2], atol=1e-9)  # opposite rods are parallel
    np.testing.assert_allclose(angles[:, 2] + angles[:, 3], angles[:, 0], atol=1e-9)


def test_a_quadruped_based_on_its_foot_moves_as_it_does_based_on_its_trunk():
    m = gallery.quadruped(spring=30.0, damper=1.0, timestep=0.01)
    z = get_maximal_state(m)
    set_maximal_state(m, z)
    other = set_floating_base(m, "FL_calf")
    assert other.joints[0].child.name == "FL_calf"
    u = 0.1 * np.random.default_rng(5).normal(size=len(m.inputs))
    u[:6] = 0.0  # of the base, which is another now
    for push in (0.0, 1.0):
        one = rollout(m, z, 30, push * u, options=TIGHT)
        two = rollout(other, z, 30, push * turned_round(m, other, u), options=TIGHT)
        np.testing.assert_allclose(two, one, rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", ["dzhanibekov", "snake"])
def test_bodies_that_fixed_joints_tie_move_for_five_seconds_as_the_one_that_they_are(name):
    m = gallery.build(name) if name != "snake" else gallery.snake(4, joint="Fixed", gravity=-1.0)
    x = get_minimal_state(m)
    if name == "snake":
        x[9:12] = 0.3, 2.0, -0.4
    z = minimal_to_maximal(m, x)
    set_maximal_state(m, z)
    one = reduce_fixed_joints(m)
    assert len(one.bodies) == 1
    options = SolverOptions(rtol=1e-11, btol=1e-8)
    steps = round(5.0 / m.timestep)
    tied = rollout(m, z, steps, options=options)[-1]
    merged = rollout(one, get_maximal_state(one), steps, options=options)[-1]
    set_maximal_state(m, tied)
    np.testing.assert_allclose(merged, get_maximal_state(reduce_fixed_joints(m)), rtol=0, atol=1e-5)


def test_under_a_contact_tied_bodies_move_as_one_to_the_first_order_of_the_step():
    apart = []
    for h in (0.01, 0.005, 0.0025):
        m = gallery.tippetop(timestep=h)
        z, one = get_maximal_state(m), reduce_fixed_joints(m)
        options, steps = SolverOptions(rtol=1e-9, btol=1e-7), round(0.2 / h)
        merged = rollout(one, get_maximal_state(one), steps, options=options)[-1]
        set_maximal_state(m, rollout(m, z, steps, options=options)[-1])
        apart.append(np.abs(get_maximal_state(reduce_fixed_joints(m)) - merged).max())
    assert apart[0] < 3e-4
    np.testing.assert_allclose(np.array(apart[:-1]) / apart[1:], 2.0, atol=0.1)  # impulses act at the end of the step


def turned_round(m, other, u):
    """Inputs of the same joints of a mechanism with another base, by name: a hinge turned round turns the same way."""
    names = [joint.name for joint in m.joints]
    out = np.zeros_like(u)
    for j, joint in enumerate(other.joints):
        out[other.input_index(j)] = u[m.input_index(names.index(joint.name))]
    return out


def test_what_hangs_at_rest_stays_there_until_it_is_pushed():
    m = gallery.pendulum(angle=0.0)
    z = get_maximal_state(m)
    assert np.abs(step(m, z) - z).max() < 1e-12
    assert np.abs(step(m, z, [1.0]) - z).max() > 1e-3


def test_velocities_of_a_half_cheetah_stand_where_the_blueprint_has_them():
    m = gallery.halfcheetah()
    rates = [k for j in m.compiled.spanning.links for k in range(*m.minimal_index(j)[1].indices(99))]
    assert rates == [3, 4, 5, 7, 9, 11, 13, 15, 17]  # [4, 5, 6, 8, …, 18] counted from one


def test_a_second_in_tenths_is_ten_nodes():
    m = gallery.pendulum(timestep=0.1)
    assert len(simulate(m, round(1.0 / m.timestep))) == 10


@pytest.mark.parametrize("name", gallery.GALLERY)
def test_half_a_second_of_every_mechanism_is_solved_and_comes_out_the_same_again(name):
    m = gallery.build(name)
    z = get_maximal_state(m)
    first, again = (simulate(m, 50, z, np.tile(inputs_of(m, 0.1), (50, 1))) for _ in range(2))
    assert first.is_solved.all()
    np.testing.assert_array_equal(first.x, again.x)
    np.testing.assert_array_equal(first.q, again.q)
    assert np.isfinite(get_minimal_state(m)).all()
