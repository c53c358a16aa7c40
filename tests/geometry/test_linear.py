"""Linear algebra in a fixed order: as numpy has it, to rounding."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.geometry.linear import cholesky, norm, substitute, times

SHAPES = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)),
    ((6, 5, 2, 3), (5, 3, 4)), ((0, 3), (3,)), ((2, 0), (0, 4)),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SHAPES)
def test_products_are_those_of_numpy(one, other):
    random = np.random.default_rng(1)
    a, b = random.normal(size=one), random.normal(size=other)
    found = times(a, b)
    assert found.shape == (a @ b).shape
    np.testing.assert_allclose(found, a @ b, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("keepdims", [True, False])
def test_lengths_are_those_of_numpy(axis, keepdims):
    a = np.random.default_rng(2).normal(size=(4, 3))
    np.testing.assert_allclose(
        norm(a, axis, keepdims=keepdims), np.linalg.norm(a, axis=axis, keepdims=keepdims), rtol=1e-15
    )


@pytest.mark.parametrize("n", [0, 1, 3, 12])
def test_a_factor_gives_its_matrix_back_and_solves(n):
    random = np.random.default_rng(n)
    half = random.normal(size=(n, n))
    a = half @ half.T + np.eye(n)
    lower = cholesky(a)
    np.testing.assert_allclose(lower @ lower.T, a, atol=1e-12)
    right = random.normal(size=(n, 2))
    np.testing.assert_allclose(lower @ substitute(lower, right), right, atol=1e-12)


def test_a_direction_without_inertia_is_left_out():
    a = np.diag([4.0, 0.0, 9.0])
    np.testing.assert_array_equal(cholesky(a, 1e-12), np.diag([2.0, 0.0, 3.0]))
    np.testing.assert_array_equal(substitute(np.diag([2.0, 0.0, 3.0]), np.ones((3, 1)))[:, 0], [0.5, 0.0, 1.0 / 3.0])
