"""Loops over ranges, and `min`, `max` and `int` of numbers, do what they do in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core import config

from cbsim.jit import inner, kernel
from cbsim.kernel_compiler import IS_PLAIN

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
BOUNDS = [(0, 0), (0, 5), (-3, 4), (4, -3), (2, 2), (7, 8)]


@kernel
def run_loops(first, end, seen):
    n = 0
    for k in range(end):
        seen[n], n = k, n + 1
    for k in range(first, end):
        for m in range(k, end, 1):
            if m == k + 2:
                break
            seen[n], n = m, n + 1
    for k in range(end, first, -1):
        if k % 2 == 0:
            continue
        seen[n], n = k, n + 1
    for k in range(first, end, 2):
        seen[n], n = k, n + 1
    for k in range(end, first, -3):
        seen[n], n = k, n + 1
    return n


@kernel
def change_bounds(end, seen):
    n, first = 0, 1
    for k in range(first, end):
        first, end = 0, 2  # too late for this loop
        seen[n], n = k, n + 1
        k = 10  # noqa: PLW2901
    return n


@kernel
def range_of_two(is_long, end):
    total = 0
    numbers = range(end) if is_long else range(1, 3)
    for _ in range(2):
        for k in numbers:
            total += k
    return total + len(range(end))


@kernel
def unsigned_and_narrow(end, small, seen):
    n = 0
    for k in range(end):
        seen[n], n = k, n + 1
    for k in range(small, np.int32(3)):
        seen[n], n = k, n + 1
    return n


@kernel
def extremes(real, whole, short, seen):
    seen[0], seen[1] = max(real, 0), min(real, whole, 2.5)
    seen[2], seen[3] = max(whole, short), min(whole, 3, -1)
    seen[4], seen[5] = int(real), int(short)
    seen[6], seen[7] = max(real, np.nan), max(np.nan, real)
    seen[8], seen[9] = min((real, 2.0)), max(whole > 1, False)
    return int(whole) // 2


@inner
def last_of(numbers):
    found = 0.0
    for k in range(numbers.shape[0]):
        found = numbers[k]
    return found


@kernel
def last_of_all(numbers):
    return last_of(numbers)


@pytest.mark.parametrize(("first", "end"), BOUNDS)
def test_loops_over_ranges_take_the_numbers_of_plain_python(first, end):
    seen, expected = np.zeros(99), np.zeros(99)
    assert run_loops(first, end, seen) == run_loops.py_func(first, end, expected)
    np.testing.assert_array_equal(seen, expected)


def test_bounds_of_a_range_are_taken_when_it_is_made():
    seen = np.zeros(9)
    assert change_bounds(5, seen) == 4
    np.testing.assert_array_equal(seen[:4], [1, 2, 3, 4])


@pytest.mark.parametrize("is_long", [False, True])
def test_range_may_be_kept_and_run_through_again(is_long):
    assert range_of_two(is_long, 6) == range_of_two.py_func(is_long, 6)


def test_bounds_may_be_unsigned_or_narrow():
    seen, expected = np.zeros(9), np.zeros(9)
    given = np.uint64(2), np.int32(-1)
    assert unsigned_and_narrow(*given, seen) == unsigned_and_narrow.py_func(*given, expected)
    np.testing.assert_array_equal(seen, expected)


@pytest.mark.parametrize("real", [-1.5, -0.0, 0.0, 2.75, 7.0])
@pytest.mark.parametrize("whole", [-4, 0, 5])
def test_extremes_are_those_of_plain_python(real, whole):
    seen, expected = np.zeros(10), np.zeros(10)
    given = real, whole, np.int32(3)
    assert extremes(*given, seen) == extremes.py_func(*given, expected)
    np.testing.assert_array_equal(seen, expected)
    np.testing.assert_array_equal(np.signbit(seen), np.signbit(expected))


@pytest.mark.skipif(IS_PLAIN, reason="numba's own loops may raise")
def test_function_with_a_loop_never_raises():
    assert last_of_all(np.arange(3.0)) == 2.0
    (made,) = last_of.dispatcher.overloads.values()
    assert not made.library.raises
