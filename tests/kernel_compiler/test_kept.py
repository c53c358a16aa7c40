"""References are counted to what a kernel allocates and returns, and to nothing that its caller keeps."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba.core import config
from numba.core.runtime import _nrt_python, rtsys
from numpy.typing import NDArray

from cbsim.jit import inner, kernel, view
from cbsim.kernel_compiler import IS_PLAIN

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


class Pair(NamedTuple):
    first: NDArray[np.float64]
    second: NDArray[np.float64]


class Tables(NamedTuple):
    pair: Pair
    rest: NDArray[np.float64]


@view
def tables_of(block):
    return Tables(Pair(first=block[:2], second=block[2:4]), block[4:])


@inner
def grown(numbers, count):
    if count <= numbers.shape[0]:
        return numbers
    larger = np.zeros(count)
    for k in range(numbers.shape[0]):
        larger[k] = numbers[k]
    return larger


@inner
def sum_of(pair, rest, numbers, made):
    return pair.first[0] + pair.second[0] + rest[0] + numbers.sum() + made[0].sum()


@inner
def with_more(tables, count):
    """Return arrays of the caller beside one that is allocated, in a tuple that also holds numbers."""
    pair = tables.pair
    made = (grown(pair.first, count), count)
    return Tables(Pair(made[0], pair.second), tables.rest), made[1]


@kernel
def add_up(block, count):
    total, tables = 0.0, tables_of(block)
    chosen = tables
    for k in range(count):
        more, n = with_more(tables, 1 + k)
        made = np.full(n, 1.0), k
        if k % 2 == 1:
            chosen = more
        total += sum_of(*(chosen.pair, chosen.rest), *(more.pair.first, made))
        total += sum_of(*(tables.pair, tables.rest), *(grown(tables.rest, 1 + k), made))
    return total


@kernel
def kept_and_made(first, second, count):
    pair = Pair(first, second)
    whole = Tables(pair, np.full(count, 2.0))
    return whole.pair, whole.rest, grown(second, count)


def test_all_that_is_allocated_is_freed_and_the_rest_is_kept():
    block = np.arange(7.0)
    expected, counts = add_up(block, 5), sys.getrefcount(block)
    statistics = rtsys.get_allocation_stats
    _nrt_python.memsys_enable_stats()
    try:
        before = statistics()
        for _ in range(20):
            assert add_up(block, 5) == expected
        after = statistics()
    finally:
        _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0
    assert sys.getrefcount(block) == counts


def test_what_is_returned_outlives_the_kernel():
    first, second = np.arange(3.0), np.arange(2.0)
    counts = sys.getrefcount(first), sys.getrefcount(second)
    for count in (1, 4):
        pair, rest, more = kept_and_made(first, second, count)
        np.testing.assert_array_equal(pair.first, first)
        np.testing.assert_array_equal(rest, np.full(count, 2.0))
        np.testing.assert_array_equal(more, [0.0, 1.0, 0.0, 0.0][: max(count, 2)])
        assert np.shares_memory(more, second) == (count == 1)
        del pair, rest, more
    assert (sys.getrefcount(first), sys.getrefcount(second)) == counts


@pytest.mark.skipif(IS_PLAIN, reason="numba passes all fields")
def test_function_that_returns_arrays_is_passed_the_fields_that_it_uses():
    add_up(np.arange(7.0), 1)
    (made,) = with_more.dispatcher.overloads.values()
    assert made.library.counts
    assert made.library.usage is not None
