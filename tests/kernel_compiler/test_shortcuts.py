"""What replaces parts of numba's front end gives what numba gives, and only while a kernel compiles."""

from __future__ import annotations

import operator
from collections import namedtuple

import numpy as np
import pytest
from numba.core import compiler, config, types
from numba.core.registry import cpu_target

from cbsim.kernel_compiler import IS_PLAIN

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT or IS_PLAIN), reason="nothing is compiled by these hooks")

LITERAL = types.IntegerLiteral(3)
TABLE = types.Array(types.float64, 2, "C")


def added(values, n):
    total = 0.0
    for k in range(n):
        if values[k] > 0.0:
            total += values[k]
    return total


def test_numbas_own_are_put_back():
    from cbsim.kernel_compiler.shortcuts import REPLACEMENTS, shortcuts

    def parts():
        return [vars(owner)[name] for owner, name, _, _ in REPLACEMENTS]

    own, quick = [each[2] for each in REPLACEMENTS], [each[3] for each in REPLACEMENTS]
    assert parts() == own
    with shortcuts():
        with shortcuts():
            assert parts() == quick
        assert parts() == quick
    assert parts() == own


def test_hashes_of_types_are_the_same():
    from cbsim.kernel_compiler.shortcuts import shortcuts

    pair = namedtuple("pair", "one other")
    kinds = [types.float64, LITERAL, TABLE, types.NamedTuple((TABLE, types.int64), pair), types.UniTuple(TABLE, 3)]
    expected = list(map(hash, kinds))
    with shortcuts():
        assert [hash(kind) for _ in range(2) for kind in kinds] == expected * 2
    assert list(map(hash, kinds)) == expected


def test_lifetimes_end_where_they_did():
    from cbsim.kernel_compiler.shortcuts import shortcuts

    def ends():
        blocks = compiler.run_frontend(added, emit_dels=True).blocks
        return [[str(each) for each in block.body] for block in blocks.values()]

    expected = ends()
    with shortcuts():
        found = ends()
    assert found == expected
    assert any(each.startswith("del ") for block in expected for each in block)


@pytest.mark.parametrize("arguments", [(types.int64, LITERAL), (LITERAL, types.float64), (TABLE, LITERAL)])
def test_literals_make_no_difference_to_operators(arguments):
    from cbsim.kernel_compiler.lowering import OPERATORS, CachingContext

    context = cpu_target.typing_context
    context.refresh()
    quick, compared = CachingContext.of(context), 0
    for each in OPERATORS - {operator.neg}:
        function = context.resolve_value_type(each)
        try:
            expected = function.get_call_type(context, arguments, {})
        except Exception:
            continue
        assert quick.resolve_function_type(function, arguments, {}) == expected
        compared += 1
    assert compared > 0


def test_attributes_of_tables_are_those_that_numba_finds():
    from cbsim.kernel_compiler.lowering import CachingContext

    context = cpu_target.typing_context
    quick = CachingContext.of(context)
    assert quick.resolve_getattr(TABLE, "shape") == types.UniTuple(types.intp, 2)
    assert quick.resolve_getattr(TABLE, "shape") is quick.resolve_getattr(TABLE, "shape")
    assert quick.resolve_getattr(TABLE, "nothing") is None
    assert np.dtype(str(quick.resolve_getattr(TABLE, "T").dtype)) == np.float64
