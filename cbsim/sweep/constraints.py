"""Constraints between parameters: ``gap > 2 * speed and kind != 'bus'``, evaluated without Python's `eval`."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cbsim.errors import FileError as _FileError
from cbsim.errors import Location, Problem, Severity, UsageError, did_you_mean

__all__ = ["Constraint"]

MOST_CHARACTERS, MOST_NODES = 2000, 200
BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
COMPARISONS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
UNARY: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.Not: operator.not_, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {"abs": abs, "max": max, "min": min}
BRACED = re.compile(r"\$\{([^{}]*)\}")


class Constraint:
    """A condition on a point of the space.

    Parameters
    ----------
    text : str
        Comparisons, arithmetic, ``and``, ``or``, ``not``, ``abs``, ``min`` and ``max``, over names of varied keys.
    names : sequence of str
        The varied keys.

    Raises
    ------
    FileError
        If a name is not varied (E807).
    UsageError
        If it is no such condition.
    """

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self.text = text
        plain = BRACED.sub(r"\1", text)
        if len(plain) > MOST_CHARACTERS:
            raise self._wrong(f"is longer than {MOST_CHARACTERS} characters")
        try:
            tree = ast.parse(plain.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self._wrong("is no condition such as 'gap > 2 * speed'") from None
        if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
            raise self._wrong("is too long")
        self._names = names
        self._value = self._compiled(tree.body)

    def __call__(self, point: Mapping[str, Any]) -> bool:
        """Whether a point satisfies it."""
        try:
            return bool(self._value(point))
        except (TypeError, ArithmeticError, ValueError) as reason:
            raise self._wrong(f"cannot be evaluated: {reason}") from None

    def _wrong(self, what: str) -> UsageError:
        return UsageError(f"the constraint '{self.text[:200]}' {what}")

    def _compiled(self, node: ast.AST) -> Callable[[Mapping[str, Any]], Any]:  # noqa: PLR0911 - kinds of nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str):
            constant = node.value
            return lambda _: constant
        if isinstance(node, ast.Name | ast.Attribute):
            name = self._dotted(node)
            return lambda point: point[name]
        if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
            binary, left, right = BINARY[type(node.op)], self._compiled(node.left), self._compiled(node.right)
            return lambda point: binary(left(point), right(point))
        if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
            unary, operand = UNARY[type(node.op)], self._compiled(node.operand)
            return lambda point: unary(operand(point))
        if isinstance(node, ast.BoolOp):
            parts = self._all(node.values)
            decide = all if isinstance(node.op, ast.And) else any
            return lambda point: decide(part(point) for part in parts)
        if isinstance(node, ast.Compare) and all(type(op) in COMPARISONS for op in node.ops):
            terms = self._all([node.left, *node.comparators])
            tests = [COMPARISONS[type(op)] for op in node.ops]
            return lambda point: _chain(tests, [term(point) for term in terms])
        if isinstance(node, ast.List | ast.Tuple):
            items = self._all(node.elts)
            return lambda point: [item(point) for item in items]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
            function, arguments = FUNCTIONS[node.func.id], self._all(node.args)
            if not node.keywords:
                return lambda point: function(*(argument(point) for argument in arguments))
        raise self._wrong("has more than comparisons, arithmetic, and, or, not, abs, min and max")

    def _all(self, nodes: Iterable[ast.AST]) -> list[Callable[[Mapping[str, Any]], Any]]:
        return [self._compiled(node) for node in nodes]

    def _dotted(self, node: ast.AST) -> str:
        """Name of a varied key, which may be a path."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        name = ".".join([*([node.id] if isinstance(node, ast.Name) else ["?"]), *reversed(parts)])
        if name not in self._names:
            hint = did_you_mean(name, self._names) or f"varied are {', '.join(self._names) or 'none'}"
            place = Location(f"constraint '{self.text[:200]}'")
            raise _FileError(Problem(Severity.ERROR, "E807", f"'{name}' is not varied", place, hint))
        return name


def _chain(tests: list[Callable[[Any, Any], Any]], values: list[Any]) -> bool:
    return all(test(a, b) for test, a, b in zip(tests, values[:-1], values[1:], strict=True))
