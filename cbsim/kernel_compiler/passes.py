"""Passes of numba's front end that most kernels do not need.

Each of numba's own versions analyses the lifetimes of all variables once or twice, for every function.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba.core import ir, types
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes
from numba.np.ufunc.dufunc import DUFunc

__all__ = ["SUBSTITUTES", "ArrayRewrites", "ClosureInlining"]

ARRAY_OPERATORS = ("unary", "binop")


def _assigned_expressions(state: Any) -> Iterator[tuple[str, Any]]:
    """Yield the name of each variable that an expression is assigned to, and the expression."""
    for block in state.func_ir.blocks.values():
        for statement in block.body:
            if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Expr):
                yield statement.target.name, statement.value


@register_pass(mutates_CFG=True, analysis_only=False)
class ClosureInlining(InlineClosureLikes):
    """Inlines closures and comprehensions where a function has any."""

    _name = "closure_inlining"

    def run_pass(self, state: Any) -> bool:
        """Change ``state.func_ir``."""
        if all(expression.op not in ("make_function", "build_list") for _, expression in _assigned_expressions(state)):
            return False
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class ArrayRewrites(NopythonRewrites):
    """Rewrites expressions of whole arrays where a function has any."""

    _name = "array_rewrites"

    def run_pass(self, state: Any) -> bool:
        """Change ``state.func_ir``."""
        kinds = state.typemap
        if any(_is_rewritten(kinds, *each) for each in _assigned_expressions(state)) or any(
            isinstance(kind, types.StringLiteral) for kind in kinds.values()
        ):
            return bool(super().run_pass(state))
        return False


def _is_rewritten(kinds: Any, target: str, expression: Any) -> bool:
    """Tell whether numba may rewrite an expression: an operator or a ufunc of arrays, or an array of a list."""
    if expression.op == "build_list":
        return True
    if not isinstance(kinds.get(target), types.Array):
        return False
    if expression.op == "call":
        function = getattr(kinds.get(expression.func.name), "typing_key", None)
        return isinstance(function, (np.ufunc, DUFunc))
    return expression.op in ARRAY_OPERATORS


SUBSTITUTES = {InlineClosureLikes: ClosureInlining, NopythonRewrites: ArrayRewrites}
"""Pass of numba → the one that takes its place."""
