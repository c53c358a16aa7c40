"""Many states at once: the bits of each are those that it has alone, on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import ModelError, StepError
from cbsim.multibody import (
    SolverOptions,
    gallery,
    get_maximal_gradients,
    get_maximal_state,
    get_minimal_gradients,
    maximal_gradients_batch,
    maximal_to_minimal,
    minimal_gradients_batch,
    rollout,
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
