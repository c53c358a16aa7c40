"""Fields of tuples that a device function uses: the others are not passed to it.

Kernels share named tuples of thirty tables, of which most functions need a few. What a function passes on counts as
used as far as its callee, which is lowered before it, uses it.
"""

from __future__ import annotations

from operator import add
from typing import Any, TypeAlias

from numba.core import ir, types

__all__ = ["Usage", "fields_used"]

Usage: TypeAlias = "tuple[tuple[int, Usage], ...] | None"
"""Fields that are used of a value, each with those used of itself, in order; None for all of them."""
Value: TypeAlias = "tuple[int, ...] | list[Value] | None"
"""Where a value is found: number of an argument and path in it; values of a tuple that was made of others; None if
elsewhere."""


def fields_used(state: Any) -> tuple[Usage, ...] | None:
    """Find what a typed function uses of each of its arguments; None if none of them is a tuple.

    Parameters
    ----------
    state : numba.core.compiler.StateDict
        Of a function whose types are known.
    """
    return _Search(state).run() if any(isinstance(kind, types.BaseTuple) for kind in state.args) else None


class _Search:
    """Search in one function."""

    def __init__(self, state: Any) -> None:
        self._arguments, self._kinds, self._calls = state.args, state.typemap, state.calltypes
        self._statements = [each for _, block in sorted(state.func_ir.blocks.items()) for each in block.body]
        counts: dict[str, int] = {}
        for each in self._statements:
            if isinstance(each, ir.Assign):
                counts[each.target.name] = counts.get(each.target.name, 0) + 1
        self._single = {name for name, count in counts.items() if count == 1}
        self._values: dict[str, Value] = {}
        self._used: dict[int, Any] = {k: {} for k in range(len(self._arguments))}

    def run(self) -> tuple[Usage, ...]:
        before = -1
        while len(self._values) != before:  # blocks are not in the order of execution
            before = len(self._values)
            for each in self._statements:
                if isinstance(each, ir.Assign) and each.target.name in self._single:
                    value = self._find(each.value)
                    if value is not None:
                        self._values[each.target.name] = value
        for each in self._statements:
            self._note(each)
        return tuple(_frozen(self._used[k]) for k in range(len(self._arguments)))

    def _find(self, value: Any) -> Value:
        """Find where the value of an assignment comes from."""
        if isinstance(value, ir.Arg):
            return (value.index,) if isinstance(self._arguments[value.index], types.BaseTuple) else None
        if isinstance(value, ir.Var):
            return self._values.get(value.name)
        return self._result(value) if isinstance(value, ir.Expr) else None

    def _result(self, value: ir.Expr) -> Value:
        """Find where the result of an expression comes from."""
        known, found = self._values.get, None
        if value.op in ("getattr", "static_getitem"):
            field = self._field(value)
            found = None if field is None else _part(known(value.value.name), field)
        elif value.op == "exhaust_iter":
            found = known(value.value.name)
        elif value.op == "build_tuple":
            found = [known(each.name) for each in value.items]
        elif value.op == "binop" and value.fn is add and isinstance(self._kinds[value.lhs.name], types.BaseTuple):
            one, other = known(value.lhs.name), known(value.rhs.name)
            found = [*one, *other] if isinstance(one, list) and isinstance(other, list) else None
        elif self._is_tuple_of_tuple(value):
            found = known(value.args[0].name)
        return found

    def _field(self, value: ir.Expr) -> int | None:
        """Return the number of the field that an expression selects from a tuple; None if it does something else."""
        kind: Any = self._kinds[value.value.name]
        if not isinstance(kind, types.BaseTuple):
            return None
        if value.op == "getattr":
            return kind.fields.index(value.attr) if value.attr in getattr(kind, "fields", ()) else None  # type: ignore[attr-defined]
        return value.index if type(value.index) is int and 0 <= value.index < len(kind) else None

    def _is_tuple_of_tuple(self, value: ir.Expr) -> bool:
        """Tell whether an expression is ``tuple(values)``, part of ``f(*a, *b)``."""
        is_call = value.op == "call" and getattr(self._kinds[value.func.name], "typing_key", None) is tuple
        return is_call and len(value.args) == 1 and isinstance(self._kinds[value.args[0].name], types.BaseTuple)

    def _note(self, statement: Any) -> None:
        """Note what a statement uses."""
        if isinstance(statement, ir.Del):
            return
        if isinstance(statement, ir.Assign) and statement.target.name in self._single:
            value = statement.value
            if statement.target.name in self._values:  # noted where the target is used, but for a number or an array
                found = self._values[statement.target.name]
                if not isinstance(self._kinds[statement.target.name], types.BaseTuple):
                    self._mark(found, None)
                return
            if isinstance(value, ir.Expr) and value.op == "call" and self._note_call(value):
                return
        for each in statement.list_vars():
            self._mark(self._values.get(each.name), None)
        if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Arg):
            self._used[statement.value.index] = None

    def _note_call(self, call: ir.Expr) -> bool:
        """Note what a device function uses that is called; False for other functions."""
        dispatcher = getattr(self._kinds[call.func.name], "dispatcher", None)
        dispatcher = getattr(getattr(dispatcher, "device", None), "dispatcher", dispatcher)
        signature = self._calls.get(call)
        if dispatcher is None or signature is None or call.kws:
            return False
        result = dispatcher.overloads.get(tuple(map(types.unliteral, signature.args)))
        usage = getattr(getattr(result, "library", None), "usage", None)
        passed: list[Value] = [self._values.get(each.name) for each in call.args]
        if call.vararg is not None:
            rest = self._values.get(call.vararg.name)
            if not isinstance(rest, list):
                return False
            passed += rest
        if usage is None or len(usage) != len(passed):
            return False
        for value, used in zip(passed, usage, strict=True):
            self._mark(value, used)
        return True

    def _mark(self, value: Value, usage: Usage) -> None:
        """Mark the fields that are used of a value."""
        if isinstance(value, list):
            for k, used in [(k, None) for k in range(len(value))] if usage is None else usage:
                self._mark(value[k], used)
        elif value is not None:
            self._used[value[0]] = _merged(self._used[value[0]], value[1:], usage)


def _part(value: Value, field: int) -> Value:
    """Where a field of a value is found."""
    if value is None:
        return None
    return value[field] if isinstance(value, list) else (*value, field)


def _merged(tree: Any, path: tuple[int, ...], usage: Usage) -> Any:
    """Add what is used of a field at a path to a tree of fields, where None stands for all."""
    if tree is None or (not path and usage is None):
        return None
    if path:
        tree[path[0]] = _merged(tree.get(path[0], {}), path[1:], usage)
        return tree
    for field, used in usage or ():
        tree[field] = _merged(tree.get(field, {}), (), used)
    return tree


def _frozen(tree: Any) -> Usage:
    return None if tree is None else tuple((field, _frozen(tree[field])) for field in sorted(tree))
