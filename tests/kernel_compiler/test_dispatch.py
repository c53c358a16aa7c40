"""Device functions are lowered once, linked into the entry points that reach them, and never called by Python."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest
from numba import typeof
from numba.core import config
from numba.core.errors import NumbaError

from cbsim.jit import inlined, inner, kernel, narrow, wide

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


@inner
def third_of(values, k):
    return values[k] / 3.0


@inner
def rows_of(table, count):
    return table[:count], np.zeros(count)


@inlined
def doubled(value):
    return 2.0 * value


@kernel
def swap(table):
    last = table.shape[0] - 1
    for k in range(table.shape[0] // 2):
        table[k, 0], table[last - k, 0] = table[last - k, 0], table[k, 0]


@kernel
def sum_of_thirds(table):
    swap(table)
    total = third_of(table[0], 0)  # a literal index first, then one of a loop
    for n in range(1, table.shape[0] + 1):
        rows, room = rows_of(table, n)
        for k in range(room.shape[0]):
            room[k] = doubled(rows[k, 0])
        total += third_of(room, n - 1)
    return total


@inner
def shared(value):
    return value + 1.0


@inner
def never(value):
    return shared(value)


@inner
def always(value):
    return shared(value) * 2.0


@kernel
def chosen(value, switch):
    return never(value) if switch is None else always(value)


def test_device_function_first_reached_from_a_dead_branch_is_linked_for_the_live_one():
    assert chosen(1.0, True) == 4.0
    assert chosen(1.0, None) == 2.0


def test_device_functions_at_any_depth_give_the_results_of_plain_python():
    table = np.arange(12.0).reshape(4, 3)
    expected = table[3, 0] / 3.0 + sum(2.0 * table[3 - k, 0] / 3.0 for k in range(4))
    assert sum_of_thirds(table) == pytest.approx(expected, abs=1e-12)
    np.testing.assert_array_equal(table[:, 0], [9.0, 6.0, 3.0, 0.0])


def test_device_function_is_compiled_for_types_and_not_for_literals():
    sum_of_thirds.get_call_template((typeof(np.ones((2, 2))),), {})  # compiled as a device function, never cached
    assert len(third_of.dispatcher.overloads) == 1
    assert len(rows_of.dispatcher.overloads) == 1


def test_device_function_raises_a_type_error_when_python_calls_it():
    sum_of_thirds(np.ones((2, 2)))
    with pytest.raises(TypeError, match="third_of is a device function"):
        third_of(np.ones(2), 0)


def test_kernel_is_called_by_python_and_by_kernels_alike():
    table = np.arange(6.0).reshape(3, 2)
    swap(table)
    np.testing.assert_array_equal(table, [[4.0, 1.0], [2.0, 3.0], [0.0, 5.0]])


def test_inlined_kernel_is_called_by_python_too():
    assert doubled(1.5) == 3.0


def test_references_to_arrays_are_the_same_after_a_call_that_made_views_and_arrays():
    table = np.ones((50, 2))
    sum_of_thirds(table)
    before = sys.getrefcount(table)
    for _ in range(10):
        sum_of_thirds(table)
    assert sys.getrefcount(table) == before


def test_only_entry_points_are_cached_on_disk():
    sum_of_thirds(np.ones((2, 2)))
    assert sum_of_thirds.stats.cache_hits or sum_of_thirds.stats.cache_misses
    assert third_of.dispatcher.stats.cache_path is None


@wide
def add_into(out, table, times):
    for k in range(out.shape[0]):
        out[k] += times * table[k]


@narrow
def add_all(out, tables):
    for i in range(tables.shape[0]):
        add_into(out, tables[i], 0.1 * i)


def test_vectorised_device_function_in_a_scalar_kernel_gives_the_bits_of_a_scalar_loop():
    tables = np.random.default_rng(1).normal(size=(7, 1003))
    out = np.zeros(1003)
    add_all(out, tables)
    expected = np.zeros(1003)
    for i, table in enumerate(tables):
        expected += 0.1 * i * table
    np.testing.assert_array_equal(out, expected)
    add_all.get_call_template((typeof(out), typeof(tables)), {})  # compiled as a device function, never cached
    (compiled,) = add_into.dispatcher.overloads.values()
    assert " x double>" in str(compiled.library._final_module)  # several numbers to an instruction


def test_garbage_collection_resumes_after_a_compilation_whether_it_succeeds_or_fails():
    @kernel
    def once(value):
        return value + missing  # noqa: F821

    assert gc.isenabled()
    with pytest.raises(NumbaError, match="missing"):
        once(1.0)
    assert gc.isenabled()
    swap(np.ones((2, 3), dtype=np.float32))
    assert gc.isenabled()


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_modules_are_linked_in_pairs_in_their_order(count):
    from llvmlite.binding import parse_assembly

    from cbsim.kernel_compiler.libraries import joined

    call = "declare void @f{1}()\ndefine void @f{0}() {{\n  call void @f{1}()\n  ret void\n}}"
    whole = joined([parse_assembly(call.format(k, k + 1)) for k in range(count)])
    assert [each.name for each in whole.functions if not each.is_declaration] == [f"f{k}" for k in range(count)]
