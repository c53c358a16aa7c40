"""What replaces parts of numba's front end gives what numba gives, and only while a kernel compiles."""

from __future__ import annotations

import math
import operator
import warnings
from collections import namedtuple

import numpy as np
import pytest
from numba.core import compiler, config, errors, event, ir, ssa, typeinfer, types
from numba.core.registry import cpu_target
from numba.core.typing import signature
from numba.np import npyimpl

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


def test_types_of_constants_are_the_same():
    from cbsim.kernel_compiler.shortcuts import shortcuts

    context = cpu_target.typing_context
    context.refresh()
    constants = [operator.add, math.sqrt, np, np.sin, float, np.int64, abs, 3, 2.5, True]
    expected = list(map(context.resolve_value_type, constants))
    with shortcuts():
        assert [context.resolve_value_type(each) for _ in range(2) for each in constants] == expected * 2
        with pytest.raises(ValueError, match="Cannot determine Numba type"):
            context.resolve_value_type(test_types_of_constants_are_the_same)


def test_what_is_registered_meanwhile_is_found():
    from cbsim.kernel_compiler.shortcuts import shortcuts

    context, pattern = cpu_target.target_context, signature(types.float64, types.float64)

    def new(value):
        return value

    with shortcuts():
        context.refresh()
        with pytest.raises(NotImplementedError):
            context.get_function(new, pattern)
        npyimpl.registry.lower(new, types.float64)(lambda _context, _builder, _signature, arguments: arguments[0])
        assert context.get_function(new, pattern)


class Constraint:
    """Stands for a constraint on types: warns, or finds a type impossible."""

    def __init__(self, line, *, category=None, reason=None):
        self.loc, self.category, self.reason = ir.Loc("kernel.py", line), category, reason

    def __call__(self, _inference):
        if self.category is not None:
            warnings.warn(f"line {self.loc.line}", self.category, stacklevel=1)
        if self.reason is not None:
            raise self.reason


def test_warnings_and_errors_of_constraints_are_the_same():
    from cbsim.kernel_compiler.shortcuts import shortcuts

    def outcome():
        network, inference = typeinfer.ConstraintNetwork(), Constraint(0)
        inference.warnings = errors.WarningsFixer(errors.NumbaWarning)
        for each in (
            Constraint(1),
            Constraint(2, category=errors.NumbaPerformanceWarning),
            Constraint(3, reason=errors.TypingError("impossible")),
            Constraint(4, category=DeprecationWarning),
            Constraint(5, category=errors.NumbaPerformanceWarning, reason=errors.ForceLiteralArg({0})),
        ):
            network.append(each)
        with pytest.warns(DeprecationWarning, match="line 4"):
            found = network.propagate(inference)
        return [(type(each), str(each)) for each in found], dict(inference.warnings._warnings)

    expected = outcome()
    assert [kind for kind, _ in expected[0]] == [errors.TypingError, errors.ForceLiteralArg]
    assert len(expected[1]) == 2
    with shortcuts():
        assert outcome() == expected


def test_variables_get_the_same_names():
    from cbsim.kernel_compiler.shortcuts import shortcuts

    def statements():
        blocks = ssa.reconstruct_ssa(compiler.run_frontend(added)).blocks
        return [str(each) for block in blocks.values() for each in block.body]

    expected = statements()
    assert any("phi" in each for each in expected)
    with shortcuts():
        assert statements() == expected


def test_events_are_told_but_those_of_the_lock_of_llvm():
    from cbsim.kernel_compiler.shortcuts import shortcuts

    with event.install_recorder("numba:compile") as told, event.install_recorder("numba:llvm_lock") as locked:
        with shortcuts(), event.trigger_event("numba:compile", data={"dispatcher": None}):
            event.start_event("numba:llvm_lock")
            event.end_event("numba:llvm_lock")
        assert [each.is_start for _, each in told.buffer] == [True, False]
        assert not locked.buffer
