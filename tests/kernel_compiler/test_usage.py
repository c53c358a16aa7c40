"""Device functions are passed those fields of tuples that they or their callees use, and no others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core import config

from cbsim.jit import block_view, inlined, inner, kernel, view

compiled = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


class Inside(NamedTuple):
    heights: Any
    count: int


class Tables(NamedTuple):
    widths: Any
    lengths: Any
    inside: Inside
    factor: float


@inner
def width_of(tables, k):
    return tables.widths[k] * tables.factor


@inlined
def height_of(tables, k):
    inside = tables.inside
    return inside.heights[k]


@inner
def by_both(number, tables, pair, k):
    one = pair[0]
    return number * (width_of(tables, k) + height_of(tables, k) + one[k])


@inner
def through_a_tuple(tables, k):
    return by_both(*(2.0, tables), *((tables.lengths, tables.widths), k))


@inner
def one_of_two(tables, others, k):
    chosen = tables if k > 0 else others
    return chosen.lengths[k]


@inner
def in_a_loop(tables, count):
    total, inside = 0.0, tables.inside
    for k in range(count):
        inside = Inside(tables.lengths, k)
        total += inside.heights[k]
    return total + inside.count


@view
def same(tables):
    return tables


@inner
def after_a_view(tables, k):
    return same(tables).widths[k]


@inner
def with_room(tables, k):
    pair = tables, np.ones(3)
    return pair[1][k] + pair[0].widths[k]


@kernel
def everything(widths, lengths, heights, out):
    tables = Tables(widths, lengths, Inside(heights, 7), 3.0)
    out[0] = through_a_tuple(tables, 1)
    out[1] = one_of_two(tables, Tables(lengths, widths, tables.inside, 1.0), 0)
    out[2] = in_a_loop(tables, 3)
    out[3] = after_a_view(tables, 2)
    out[4] = with_room(tables, 1)


def usage_of(function: Any) -> Any:
    (result,) = function.dispatcher.overloads.values()
    return result.library.usage


@pytest.fixture(scope="module")
def found():
    out = np.zeros(5)
    widths, lengths, heights = np.arange(3.0), 10.0 + np.arange(3.0), 100.0 + np.arange(3.0)
    if not config.DISABLE_JIT:  # lowered here and now, not loaded from the cache
        from numba import typeof

        everything.get_call_template(tuple(map(typeof, (widths, lengths, heights, out))), {})
    everything(widths, lengths, heights, out)
    return out


def test_values_are_those_of_plain_python(found):
    np.testing.assert_array_equal(found, [2.0 * (3.0 + 101.0 + 11.0), 0.0, 10.0 + 11.0 + 12.0 + 2.0, 2.0, 2.0])


@compiled
def test_function_is_passed_the_fields_that_it_reads(found):
    assert usage_of(width_of) == (((0, None), (3, None)), None)
    assert usage_of(height_of) == (((2, ((0, None),)),), None)


@compiled
def test_function_is_passed_what_its_callees_read(found):
    assert usage_of(by_both) == (None, ((0, None), (2, ((0, None),)), (3, None)), ((0, None),), None)
    assert usage_of(through_a_tuple) == (((0, None), (1, None), (2, ((0, None),)), (3, None)), None)


@compiled
def test_tuple_that_a_variable_may_hold_is_passed_whole(found):
    assert usage_of(one_of_two) == (None, None, None)


@compiled
def test_field_whose_variable_is_assigned_again_is_passed_whole(found):
    assert usage_of(in_a_loop) == (((1, None), (2, None)), None)


@compiled
def test_tuple_that_is_returned_is_passed_whole(found):
    assert usage_of(same) == (None,)
    assert usage_of(after_a_view) == (None, None)


@kernel
def seconds(block, out):
    table = block_view(block, 1, (2, 3))
    cube = block_view(block, np.int32(1), (1, 2, 3))
    row = block_view(block, 4, (block.shape[0] - 4,))
    table[1, 1] = -1.0
    out[0], out[1], out[2], out[3] = table[1, 0], cube[0, 1, 2], row[0], table.shape[1]


def test_view_of_a_block_shares_its_memory_in_any_shape():
    block, out = np.arange(8.0), np.zeros(4)
    seconds(block, out)
    np.testing.assert_array_equal(out, [4.0, 6.0, 4.0, 3.0])
    assert block[5] == -1.0


@kernel
def sum_of_view(block):
    part = block_view(block, 1, (2,))
    return part[0] + part[1]


def test_view_of_a_read_only_block_can_be_read():
    block = np.arange(4.0)
    block.setflags(write=False)
    assert sum_of_view(block) == 3.0


@compiled
def test_view_of_a_read_only_block_cannot_be_written():
    from numba.core.errors import NumbaError

    block = np.arange(8.0)
    block.setflags(write=False)
    with pytest.raises(NumbaError):
        seconds(block, np.zeros(4))
