"""Parameters as one vector: what is set is there, and is what gradients differentiate by."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import ModelError
from cbsim.multibody import (
    SolverOptions,
    gallery,
    get_body,
    get_data,
    get_maximal_state,
    get_minimal_state,
    get_parameter_gradients,
    minimal_to_maximal,
    parameters_of,
    rollout,
    set_data,
    set_input,
    simulate,
    step,
    with_parameters,
)

SMOOTH = SolverOptions(rtol=1e-11)


@pytest.mark.parametrize("name", ["pendulum", "fourbar", "block", "quadruped", "tippetop"])
def test_all_parameters_as_they_are_change_nothing(name):
    mechanism = gallery.build(name)
    simulate(mechanism, 3)
    data, z = get_data(mechanism), get_maximal_state(mechanism)
    assert len(data) == sum(len(p.values) for p in parameters_of(mechanism))
    bodies, after = mechanism.bodies, rollout(mechanism, z, 3)
    set_data(mechanism, data)
    assert mechanism.bodies is bodies
    np.testing.assert_array_equal(get_data(mechanism), data)
    np.testing.assert_array_equal(rollout(mechanism, z, 3), after)


@pytest.mark.parametrize("name", ["pendulum", "block", "snake", "cartpole"])
def test_what_is_set_is_there(name):
    mechanism = gallery.build(name)
    chosen = [p for p in parameters_of(mechanism) if p.quantity not in {"inertia", "center_of_mass"}]
    data = get_data(mechanism, chosen)
    new = data * (1.0 + 0.1 * np.random.default_rng(0).random(len(data)))
    x = get_minimal_state(mechanism)
    set_input(mechanism, np.ones(len(mechanism.inputs)))
    other = with_parameters(mechanism, dict(zip([p[:2] for p in chosen], split(chosen, new), strict=True)))
    set_data(mechanism, new, chosen)
    np.testing.assert_array_equal(get_data(mechanism, chosen), new)
    np.testing.assert_allclose(get_minimal_state(mechanism), x, atol=1e-14)
    assert (mechanism.inputs == 1.0).all()
    z = get_maximal_state(other)
    np.testing.assert_array_equal(step(mechanism, z), step(other, z))


def split(chosen, values):
    return np.split(values, np.cumsum([len(p.values) for p in chosen])[:-1])


def test_entries_are_the_columns_of_gradients():
    """By central differences: every column of a pendulum with a spring, but where the centre of mass is."""
    mechanism = gallery.pendulum(spring=2.0, damper=0.3)
    z = minimal_to_maximal(mechanism, [0.7, 1.0])
    chosen = [p for p in parameters_of(mechanism) if not p.quantity.endswith(("vertex", "of_mass"))]
    slopes = np.asarray(get_parameter_gradients(mechanism, z, parameters=chosen))
    data = get_data(mechanism, chosen)
    assert slopes.shape[1] == len(data)
    for k in range(len(data)):
        sides = []
        for e in (1e-5, -1e-5):
            set_data(mechanism, data + e * np.eye(len(data))[k], chosen)
            sides.append(step(mechanism, z, options=SMOOTH))
        change = (sides[0] - sides[1]) / 2e-5
        for rows, columns in ((slice(0, 6), slice(0, 6)), (slice(9, 12), slice(10, 13))):
            np.testing.assert_allclose(slopes[rows, k], change[columns], atol=1e-6)
    set_data(mechanism, data, chosen)


def test_parts_stay_the_parts_of_the_mechanism():
    mechanism = gallery.pendulum()
    rod = mechanism.bodies[0]
    set_data(mechanism, [3.0], [("rod", "mass")])
    assert get_body(mechanism, rod) is mechanism.bodies[0]
    assert mechanism.bodies[0].mass == 3.0
    simulate(mechanism, 5)
    np.testing.assert_array_equal(rod.state.x2, mechanism.bodies[0].state.x2)


def test_a_centre_of_mass_moves_by_what_is_set():
    mechanism = gallery.pendulum()
    chosen = [("rod", "center_of_mass")]
    before = mechanism.joints[0].translational.vertices[1]
    set_data(mechanism, [0.0, 0.0, 0.1], chosen)
    np.testing.assert_allclose(mechanism.joints[0].translational.vertices[1], before - (0.0, 0.0, 0.1))
    np.testing.assert_array_equal(get_data(mechanism, chosen), 0.0)


def test_what_cannot_be_is_refused_and_changes_nothing():
    mechanism = gallery.pendulum()
    data = get_data(mechanism)
    with pytest.raises(ModelError, match=r"the data has the shape \(2,\), expected \(1,\)"):
        set_data(mechanism, [1.0, 2.0], [("rod", "mass")])
    with pytest.raises(ModelError, match="mass is -1 kg, expected more than 0"):
        set_data(mechanism, [-1.0], [("rod", "mass")])
    with pytest.raises(ModelError, match="the data has nan at 0"):
        set_data(mechanism, [np.nan], [("rod", "mass")])
    with pytest.raises(ModelError, match="twice"):
        set_data(mechanism, [1.0, 2.0], [("rod", "mass"), ("rod", "mass")])
    with pytest.raises(ModelError, match="did you mean 'mass'"):
        get_data(mechanism, [("rod", "mas")])
    np.testing.assert_array_equal(get_data(mechanism), data)
