"""Minimal and maximal coordinates say the same, for every joint, wherever it stands and however it moves."""

import numpy as np
import pytest

from cbsim.multibody import (
    get_joint,
    get_minimal_state,
    maximal_dimension,
    maximal_to_minimal,
    minimal_dimension,
    minimal_to_maximal,
    set_minimal_coordinates,
    set_minimal_state,
    set_minimal_velocities,
    step,
    step_minimal_coordinates,
    zero_coordinates,
    zero_velocities,
)
from cbsim.multibody.gallery import snake
from tests.multibody.common import EXACT, KINDS, X, Y, Z


def random_snake(kind, seed):
    random = np.random.default_rng(seed)
    q = random.normal(size=4)
    m = snake(4, joint=kind, axes=random.normal(size=(3, 3)), orientation_offset=q / np.linalg.norm(q))
    return m, random.uniform(0.0, 1.0, minimal_dimension(m))


@pytest.mark.parametrize("kind", KINDS)
def test_minimal_to_maximal_and_back_is_the_same(kind):
    for seed in range(5):
        m, x = random_snake(kind, seed)
        np.testing.assert_allclose(maximal_to_minimal(m, minimal_to_maximal(m, x)), x, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_maximal_to_minimal_and_back_is_the_same_after_steps_too(kind):
    m, x = random_snake(kind, 7)
    z = minimal_to_maximal(m, x)
    for _ in range(3):
        z = step(m, z, options=EXACT)
    back = minimal_to_maximal(m, maximal_to_minimal(m, z)).reshape(-1, 13)
    z = z.reshape(-1, 13)
    np.testing.assert_allclose(np.abs((back[:, 6:10] * z[:, 6:10]).sum(axis=1)), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.delete(back, range(6, 10), axis=1), np.delete(z, range(6, 10), axis=1), atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_velocities_are_differences_over_the_step_before(kind):
    m, x = random_snake(kind, 3)
    h = m.timestep
    z = minimal_to_maximal(m, x)
    after = maximal_to_minimal(m, step(m, z, options=EXACT))
    for joint in m.joints:
        coordinates, velocities = joint.minimal_index
        slides = joint.translational.free
        if joint.rotational.free < 2:
            want = (after[coordinates] - x[coordinates]) / h
            np.testing.assert_allclose(after[velocities], want, rtol=0, atol=1e-10)
        else:
            want = (after[coordinates] - x[coordinates])[:slides] / h
            np.testing.assert_allclose(after[velocities][:slides], want, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_in_minimal_coordinates_is_the_step_in_maximal_ones(kind):
    m, x = random_snake(kind, 11)
    z = step(m, minimal_to_maximal(m, x))
    np.testing.assert_array_equal(step_minimal_coordinates(m, x), maximal_to_minimal(m, z))
    assert len(z) == maximal_dimension(m) == 13 * 4


def test_one_joint_can_be_set_without_the_others():
    m, x = random_snake("Cylindrical", 2)
    set_minimal_state(m, x)
    set_minimal_coordinates(m, "joint_2", (0.3, -0.4))
    set_minimal_velocities(m, get_joint(m, "joint_2"), (1.0, 2.0))
    want = x.copy()
    coordinates, velocities = get_joint(m, "joint_2").minimal_index
    want[coordinates], want[velocities] = (0.3, -0.4), (1.0, 2.0)
    np.testing.assert_allclose(get_minimal_state(m), want, rtol=0, atol=1e-10)


def test_zeroing_sets_coordinates_or_velocities_and_leaves_the_other():
    m, x = random_snake("Orbital", 2)
    set_minimal_state(m, x)
    zero_velocities(m)
    y = get_minimal_state(m)
    for joint in m.joints:
        coordinates, velocities = joint.minimal_index
        np.testing.assert_allclose(y[coordinates], x[coordinates], rtol=0, atol=1e-12)
        np.testing.assert_allclose(y[velocities], 0.0, atol=1e-12)
    set_minimal_state(m, x)
    zero_coordinates(m)
    y = get_minimal_state(m)
    for joint in m.joints:
        coordinates, velocities = joint.minimal_index
        np.testing.assert_allclose(y[coordinates], 0.0, atol=1e-12)
        np.testing.assert_allclose(y[velocities], x[velocities], rtol=0, atol=1e-10)


def test_axes_of_a_joint_are_right_handed_and_end_with_its_own():
    for axis in (X, Y, Z, X + Y + Z, -Z, X - 3 * Y):
        for kind in ("Revolute", "Orbital", "Planar"):
            m = snake(2, joint=kind, axes=axis)
            half = m.joints[1].rotational if kind != "Planar" else m.joints[1].translational
            frame = np.stack([half.axis_mask1, half.axis_mask2, half.axis_mask3])
            np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-15)
            assert np.linalg.det(frame) == pytest.approx(1.0)
            np.testing.assert_allclose(frame[2], axis / np.linalg.norm(axis))
