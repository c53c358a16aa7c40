"""Linear algebra in a fixed order: as numpy has it, to rounding."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.geometry import linear
from cbsim.geometry.linear import (
    cholesky,
    det,
    eigh,
    eigvalsh,
    inv,
    lstsq,
    matrix_power,
    matrix_rank,
    norm,
    null_space,
    pinv,
    solve,
    substitute,
    svd,
    svdvals,
    times,
)  # fmt: skip

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


# --- systems ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (12, 12), (5, 3, 3), (2, 4, 6, 6)])
def test_systems_are_solved_as_numpy_solves_them(shape):
    random = np.random.default_rng(shape[-1])
    a, b = random.normal(size=shape), random.normal(size=(*shape[:-1], 2))
    np.testing.assert_allclose(solve(a, b), np.linalg.solve(a, b), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(times(inv(a), a), np.broadcast_to(np.eye(shape[-1]), shape), atol=1e-10)


def test_a_pivot_that_is_next_to_none_gives_infinity_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert solve(np.diag([5e-324, 1.0]), np.ones(2)).tolist() == [np.inf, 1.0]


def test_a_system_that_needs_its_rows_exchanged_is_solved():
    a = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [4.0, 0.0, 0.0]])
    np.testing.assert_array_equal(solve(a, np.array([1.0, 2.0, 4.0])), [1.0, 1.0, 1.0])
    assert det(a) == 8.0
    assert not np.isfinite(inv(np.zeros((2, 2)))).any()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_determinants_and_powers_are_those_of_numpy(n):
    a = np.random.default_rng(n).normal(size=(n, n))
    assert det(a) == pytest.approx(np.linalg.det(a))
    for power in (-3, -1, 0, 1, 5):
        np.testing.assert_allclose(matrix_power(a, power), np.linalg.matrix_power(a, power), rtol=1e-6, atol=1e-8)


# --- axes -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 2, 3, 6, 25, 60])
def test_axes_are_at_right_angles_and_give_the_matrix_back(n):
    half = np.random.default_rng(n).normal(size=(n, n))
    a = half + half.T
    values, axes = eigh(a)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a), atol=1e-12 * n)
    np.testing.assert_allclose(axes.T @ axes, np.eye(n), atol=1e-12)
    np.testing.assert_allclose(axes @ np.diag(values) @ axes.T, a, atol=1e-12 * n)


def test_small_moments_are_found_beside_large_ones():
    np.testing.assert_array_equal(eigvalsh(np.diag([1.0, 1e-20, 1e-9])), [1e-20, 1e-9, 1.0])
    turned = np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])
    assert eigvalsh(turned @ np.diag([2.0, 2.0, 1e-12]) @ turned.T) == pytest.approx([1e-12, 2.0, 2.0])


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 9), st.integers(0, 10**6))
def test_singular_values_and_least_squares_are_those_of_numpy(m, n, rank, seed):
    random = np.random.default_rng(seed)
    rank = min(m, n, rank)
    a = random.normal(size=(m, rank)) @ random.normal(size=(rank, n)) * 10.0 ** random.uniform(-6, 6)
    size = np.linalg.norm(a, 2)
    left, values, right = svd(a)
    np.testing.assert_allclose(values, np.linalg.svd(a, compute_uv=False), atol=1e-13 * size)
    np.testing.assert_allclose(svdvals(a), values, atol=1e-13 * size)
    np.testing.assert_allclose((left * values) @ right[: len(values)], a, atol=1e-13 * size)
    np.testing.assert_allclose(right @ right.T, np.eye(n), atol=1e-12)
    np.testing.assert_allclose(a @ right[rank:].T, 0.0, atol=1e-13 * size)
    b = random.normal(size=m)
    np.testing.assert_allclose(
        lstsq(a, b, 1e-9) * size, np.linalg.lstsq(a, b, rcond=1e-9)[0] * size, rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(pinv(a, 1e-9) * size, np.linalg.pinv(a, 1e-9) * size, rtol=1e-6, atol=1e-6)
    assert matrix_rank(a, 1e-9 * size) == rank


@pytest.mark.parametrize(
    ("m", "n", "rank"),
    [(90, 33, 33), (33, 90, 20), (90, 40, 0), (40, 40, 40), (200, 60, 5), (60, 200, 59)],
)
def test_singular_values_of_many_columns_are_those_of_numpy(m, n, rank):
    random = np.random.default_rng(m)
    a = random.normal(size=(m, rank)) @ random.normal(size=(rank, n)) * 1e5
    size = max(float(np.linalg.norm(a, 2)), 1.0)
    left, values, right = svd(a)
    np.testing.assert_allclose(values, np.linalg.svd(a, compute_uv=False), atol=1e-13 * size)
    np.testing.assert_allclose(svdvals(a), values, atol=1e-13 * size)
    np.testing.assert_allclose((left * values) @ right[: len(values)], a, atol=1e-13 * size)
    np.testing.assert_allclose(left[:, :rank].T @ left[:, :rank], np.eye(rank), atol=1e-11)
    np.testing.assert_allclose(right @ right.T, np.eye(n), atol=1e-12)
    np.testing.assert_allclose(a @ right[rank:].T, 0.0, atol=1e-13 * size)
    assert (values[rank:] < 1e-12 * size).all()
    for b in (random.normal(size=m), random.normal(size=(m, 2))):
        expected = np.linalg.lstsq(a, b, rcond=1e-9)[0]
        np.testing.assert_allclose(lstsq(a, b, 1e-9) * size, expected * size, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("m", "n", "rank"), [(4, 6, 3), (90, 40, 31), (40, 90, 40), (50, 50, 50), (5, 60, 0)])
def test_a_null_space_is_all_that_a_matrix_takes_to_nothing(m, n, rank):
    random = np.random.default_rng(n)
    a = random.normal(size=(m, rank)) @ random.normal(size=(rank, n))
    axes = null_space(a, 1e-9)
    assert axes.shape == (n - rank, n)
    np.testing.assert_allclose(axes @ axes.T, np.eye(n - rank), atol=1e-12)
    np.testing.assert_allclose(a @ axes.T, 0.0, atol=1e-12 * max(float(np.abs(a).max(initial=0.0)), 1.0) * n)


def test_many_rows_that_say_the_same_are_not_turned(monkeypatch):
    """A hundred joints between the same two bodies took 0.35 s for each slope, now 4 ms."""
    turned = []
    sorted_columns = linear._sorted_columns
    monkeypatch.setattr(linear, "_sorted_columns", lambda a: turned.append(a.shape) or sorted_columns(a))
    a = np.tile(np.random.default_rng(0).normal(size=(6, 100)), (100, 1))
    svd(a)
    svdvals(a)
    assert turned == [(100, 6), (100, 6)]


@pytest.mark.parametrize("call", [svd, eigh, svdvals])
@pytest.mark.parametrize("n", [3, 40])
def test_what_is_not_finite_ends(call, n):
    with np.errstate(all="ignore"):
        call(np.full((n, n), np.nan))
        call(np.full((n, n), 1e308))
