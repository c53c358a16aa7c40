"""Passes that most kernels do without run where a kernel needs them, and variables are found as numba finds them."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core import compiler, config, ir

from cbsim.jit import kernel
from cbsim.kernel_compiler import IS_PLAIN

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT or IS_PLAIN), reason="nothing is compiled by these passes")


def squares(n):
    return sum([k * k for k in range(n)])


def doubled(value):
    def twice(x):
        return 2.0 * x

    return twice(value) + 1.0


def fused(a, b):
    return a * b - np.sqrt(a)


def listed(value):
    return np.array([value, 2.0, 3.0])


def branching(values, n):
    total, last = 0.0, (0, 0)
    for k in range(n):
        if values[k, 0] > 0.0:
            total += values[k, 1] * values[k - 1, 0]
            last = (k, n - k)
    return total, last[0] + last[1]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (squares, (5,)),
        (doubled, (3.0,)),
        (fused, (np.arange(1.0, 9.0), np.arange(8.0))),
        (listed, (1.0,)),
        (branching, (np.arange(12.0).reshape(6, 2), 6)),
    ],
)
def test_closures_lists_and_whole_arrays_compile_as_before(function, arguments):
    assert np.array_equal(kernel(function)(*arguments), function(*arguments))


@pytest.mark.parametrize("function", [squares, doubled, fused, listed, branching])
def test_variables_of_statements_are_those_that_numba_finds(function):
    from cbsim.kernel_compiler.shortcuts import NUMBAS_SEARCH, shortcuts

    blocks = compiler.run_frontend(function, emit_dels=True).blocks
    statements = [statement for block in blocks.values() for statement in block.body]
    expected = [statement.list_vars() for statement in statements]
    with shortcuts():
        assert ir.Inst._rec_list_vars is not NUMBAS_SEARCH
        found = [statement.list_vars() for statement in statements]
    assert ir.Inst._rec_list_vars is NUMBAS_SEARCH
    assert [list(map(id, each)) for each in found] == [list(map(id, each)) for each in expected]
    assert sum(map(len, expected)) > 5
