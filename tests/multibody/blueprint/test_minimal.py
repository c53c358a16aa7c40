"""Rows `minimal` of the blueprint: minimal and maximal states of every mechanism, joint by joint and at once.

Snakes and twisters of every joint are in `tests/multibody/test_minimal.py` and `test_gradients.py`.

The Jacobian of every joint by itself (there of the humanoid's joints) is the block of its rows and of its bodies'
columns, and all others are zero; so the whole matrix is held against differences.
"""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.multibody import (
    gallery,
    get_maximal_state,
    get_minimal_state,
    maximal_to_minimal,
    maximal_to_minimal_jacobian,
    minimal_dimension,
    minimal_to_maximal,
    minimal_to_maximal_jacobian,
    rollout,
    set_minimal_coordinates,
    set_minimal_velocities,
)
from cbsim.multibody.gallery import snake
from tests.multibody.blueprint.mechanisms import chain_of, inputs_of
from tests.multibody.common import EXACT, KINDS
from tests.multibody.differences import gap, moved, slope


def there_and_back(mechanism, seed=100):
    x = np.random.default_rng(seed).uniform(0.0, 1.0, minimal_dimension(mechanism))
    np.testing.assert_allclose(maximal_to_minimal(mechanism, minimal_to_maximal(mechanism, x)), x, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_joints_of_a_long_snake_are_set_one_by_one(kind):
    random = np.random.default_rng(12)
    q = random.normal(size=4)
    m = snake(10, joint=kind, axes=random.normal(size=(9, 3)), orientation_offset=q / np.linalg.norm(q))
    want = random.uniform(0.0, 1.0, minimal_dimension(m))
    for j in random.permutation(len(m.joints)):
        coordinates, velocities = m.minimal_index(j)
        set_minimal_velocities(m, m.joints[j], want[velocities])
        set_minimal_coordinates(m, m.joints[j], want[coordinates])
    np.testing.assert_allclose(get_minimal_state(m), want, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", gallery.GALLERY)
def test_minimal_to_maximal_and_back_is_the_same_for_every_mechanism(name):
    there_and_back(gallery.build(name))


@pytest.mark.parametrize("kind", KINDS)
def test_minimal_to_maximal_and_back_is_the_same_for_a_pendulum_of_every_joint(kind):
    there_and_back(chain_of(kind))


def after_a_second(mechanism):
    """State after a second in which a small input pushes everywhere."""
    steps = round(1.0 / mechanism.timestep)
    return rollout(mechanism, get_maximal_state(mechanism), steps, inputs_of(mechanism, 0.01))[-1]


@pytest.mark.parametrize("name", gallery.GALLERY)
def test_maximal_to_minimal_and_back_is_the_same_after_a_second(name):
    m = gallery.build(name)
    z = after_a_second(m)
    assert np.abs(gap(minimal_to_maximal(m, maximal_to_minimal(m, z)), z)).max() < 1e-11


@pytest.mark.parametrize("kind", KINDS)
def test_maximal_to_minimal_and_back_is_the_same_after_long_steps(kind):
    m = chain_of(kind, timestep=0.1)
    z = rollout(m, get_maximal_state(m), 10, options=EXACT)[-1]
    assert np.abs(gap(minimal_to_maximal(m, maximal_to_minimal(m, z)), z)).max() < 1e-8


@pytest.mark.parametrize("name", gallery.GALLERY)
def test_jacobians_of_state_maps_of_every_mechanism_are_differences_and_invert_each_other(name):
    m = gallery.build(name)
    z = after_a_second(m)
    x = maximal_to_minimal(m, z)
    down, up = maximal_to_minimal_jacobian(m, z), minimal_to_maximal_jacobian(m, x)
    np.testing.assert_allclose(down @ up, np.eye(len(x)), atol=1e-10)
    lifted = slope(lambda d: gap(minimal_to_maximal(m, x + d), z), len(x), 1e-4)
    np.testing.assert_allclose(up, lifted, atol=1e-8 * max(1.0, np.abs(lifted).max()))

    def lowered(d):
        for k in np.flatnonzero(d):
            return maximal_to_minimal(m, moved(z.reshape(-1, 13), k, d[k]))
        return None

    expected = slope(lowered, 12 * len(m.bodies), 1e-4)
    np.testing.assert_allclose(down, expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("name", gallery.GALLERY)
def test_a_joint_depends_on_its_own_bodies_alone(name):
    m = gallery.build(name)
    down = maximal_to_minimal_jacobian(m, get_maximal_state(m))
    for j in m.compiled.spanning.links:
        coordinates, velocities = m.minimal_index(j)
        ends = [m.place_of[body] for body in (m.joints[j].parent, m.joints[j].child) if body is not m.origin]
        others = np.delete(np.arange(len(m.bodies)), ends)
        columns = (12 * others[:, None] + np.arange(12)).ravel()
        assert not down[coordinates.start : velocities.stop, columns].any()
