"""Many states at once: the bits of each are those that it has alone, on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import ModelError, StepError
from cbsim.multibody import (
    Collider,
    Floating,
    Mechanism,
    Origin,
    SolverOptions,
    Sphere,
    gallery,
    get_maximal_gradients,
    get_maximal_state,
    get_minimal_gradients,
    ground,
    maximal_gradients_batch,
    maximal_to_minimal,
    minimal_gradients_batch,
    rollout,
    rollout_batch,
    step,
    step_batch,
)


@pytest.fixture(scope="module")
def block():
    """Return a block that falls on the ground and slides, and the states on its way."""
    mechanism = gallery.block(timestep=0.01, velocity=(1, 0.3, 0))
    return mechanism, rollout(mechanism, get_maximal_state(mechanism), 60)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_state_of_a_batch_steps_as_it_does_alone(block, workers):
    mechanism, states = block
    u = np.random.default_rng(0).normal(size=(len(states), 6))
    after = step_batch(mechanism, states, u, workers=workers)
    for z, given, row in zip(states, u, after, strict=True):
        np.testing.assert_array_equal(row, step(mechanism, z, given))


def test_a_batch_of_many_steps_is_as_many_rollouts(block):
    mechanism, states = block
    u = np.full(6, 0.2)
    after = step_batch(mechanism, states.reshape(len(states), -1, 13), u, steps=7)
    assert after.shape == (len(states), 1, 13)
    for z, row in zip(states[::10], after[::10], strict=True):
        np.testing.assert_array_equal(row.ravel(), rollout(mechanism, z, 7, u)[-1])


@pytest.mark.parametrize("workers", [1, 3])
def test_every_state_of_a_batch_has_the_gradients_that_it_has_alone(block, workers):
    mechanism, states = block
    options = SolverOptions(kappa=1e-4)
    some = states[::6]
    x = np.array([maximal_to_minimal(mechanism, z) for z in some])
    by_joints = minimal_gradients_batch(mechanism, x, workers=workers, options=options)
    by_bodies = maximal_gradients_batch(mechanism, some, np.ones(6), workers=workers, options=options)
    for i in range(len(some)):
        for one, other in zip(by_joints, get_minimal_gradients(mechanism, x[i], options=options), strict=True):
            np.testing.assert_array_equal(one[i], other)
        alone = get_maximal_gradients(mechanism, some[i], np.ones(6), options=options)
        for one, other in zip(by_bodies, alone, strict=True):
            np.testing.assert_array_equal(one[i], other)


def test_wrong_batches_are_refused_by_what_is_wrong(block):
    mechanism, states = block
    with pytest.raises(ModelError, match=r"states have the shape \(61, 12\), expected \(states, 13\)"):
        step_batch(mechanism, states[:, :12])
    with pytest.raises(ModelError, match="there are 3 inputs for 61 states"):
        step_batch(mechanism, states, np.zeros((3, 6)))
    with pytest.raises(ModelError, match="states hold a number that is none, in row 4"):
        step_batch(mechanism, np.where(np.arange(len(states))[:, None] == 4, np.nan, states))
    with pytest.raises(ModelError, match="workers is 0"):
        step_batch(mechanism, states, workers=0)


def test_the_first_state_that_fails_is_named(block):
    mechanism, states = block
    options = SolverOptions(max_iter=0)
    with pytest.raises(StepError) as caught:
        step_batch(mechanism, states, options=options)
    assert caught.value.__notes__ == ["state 0 of those given"]
    with pytest.raises(StepError, match="worst at"):
        maximal_gradients_batch(mechanism, states, options=options)


def _thrown(count):
    """Blocks that are thrown, and what pushes them in every step."""
    random = np.random.default_rng(2)
    mechanism = gallery.block(timestep=0.01)
    z = np.tile(get_maximal_state(mechanism), (count, 1))
    z[:, 3:6], z[:, 10:13] = random.normal(size=(2, count, 3))
    return mechanism, z, 3.0 * random.normal(size=(count, 30, 6))


def _ball_pit(count):
    """Balls that fall on one another as colliders, of which rows need more and more room."""
    origin = Origin()
    balls = [Sphere(0.1, mass=0.1).body(name=f"ball {i}") for i in range(4)]
    solid = [ground(origin), *(Collider(ball, ball.shape) for ball in balls)]
    mechanism = Mechanism(origin, balls, [Floating(origin, ball) for ball in balls], colliders=solid)
    z = np.zeros((count, 4, 13))
    z[:, :, 6], z[:, :, 2] = 1.0, 0.1 + 0.21 * np.arange(4)
    z[:, :, :2] = 0.03 * np.random.default_rng(3).normal(size=(count, 4, 2))
    return mechanism, z.reshape(count, -1), 0.1 * np.random.default_rng(4).normal(size=(count, 30, 24))


@pytest.mark.parametrize("workers", [1, 2, 5, None])
@pytest.mark.parametrize("make", [_thrown, _ball_pit])
def test_every_trajectory_of_a_batch_is_the_one_that_it_is_alone(make, workers):
    mechanism, z, inputs = make(9)
    found = rollout_batch(mechanism, z, 50, inputs, workers=workers)
    assert found.is_solved.all()
    assert (found.steps == 50).all()
    for row, own, path in zip(z, inputs, found.states, strict=True):
        np.testing.assert_array_equal(path, rollout(mechanism, row, 50, own))


def test_inputs_may_be_those_of_all_rows_or_steps():
    mechanism, z, inputs = _thrown(3)
    shared = rollout_batch(mechanism, z.reshape(3, 1, 13), 20, inputs[:1])
    held = rollout_batch(mechanism, z, 20, inputs[0, 0])
    free = rollout_batch(mechanism, z, 20)
    for i, row in enumerate(z):
        np.testing.assert_array_equal(shared.states[i], rollout(mechanism, row, 20, inputs[0]))
        np.testing.assert_array_equal(held.states[i], rollout(mechanism, row, 20, inputs[0, 0]))
        np.testing.assert_array_equal(free.states[i], rollout(mechanism, row, 20))
    np.testing.assert_array_equal(rollout_batch(mechanism, z, 0).states[:, 0], z)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_row_that_fails_ends_there_and_the_others_go_on(workers):
    mechanism = gallery.pendulum()
    z = np.tile(get_maximal_state(mechanism), (4, 1))
    inputs = np.zeros((4, 20, 1))
    inputs[1, 7:] = 1e9  # through more than a quarter of a turn in any part of a step
    found = rollout_batch(mechanism, z, 20, inputs, workers=workers)
    assert found.steps.tolist() == [20, 7, 20, 20]
    assert found.is_solved.tolist() == [True, False, True, True]
    assert isinstance(found.errors[1], StepError)
    assert found.errors[1].time == pytest.approx(0.07)
    with pytest.raises(StepError) as alone:
        rollout(mechanism, z[1], 20, inputs[1])
    assert str(alone.value) == str(found.errors[1])
    np.testing.assert_array_equal(found.states[1, 8:], np.tile(found.states[1, 7], (13, 1)))
    np.testing.assert_array_equal(found.states[1, :8], rollout(mechanism, z[1], 7, inputs[1]))
    np.testing.assert_array_equal(found.states[3], found.states[0])


def test_wrong_sequences_are_refused_by_what_is_wrong():
    mechanism, z, inputs = _thrown(3)
    with pytest.raises(ModelError, match=r"inputs have the shape \(30, 6\), expected \(6,\), \(1, steps, 6\)"):
        rollout_batch(mechanism, z, 5, inputs[0])
    with pytest.raises(ModelError, match=r"inputs hold nan in row 1, step 4, place 2"):
        rollout_batch(mechanism, z, 5, np.where(np.arange(inputs.size).reshape(inputs.shape) == 206, np.nan, inputs))
    z[2, 6] = 3.0
    with pytest.raises(ModelError, match="orientation") as caught:
        rollout_batch(mechanism, z, 5, inputs)
    assert caught.value.__notes__ == ["state 2 of those given"]
