"""Variables whose arrays the caller of a function keeps, wholly or in part: no references to those are counted."""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import Any, TypeAlias

from numba.core import ir, types

from cbsim.kernel_compiler.calls import owns

__all__ = ["counted_parts", "parts_of_index", "returns_views"]

Path: TypeAlias = tuple[int, ...]
"""Fields that lead to a part of a tuple."""
WHOLE: tuple[Path, ...] = ((),)


def counted_parts(lower: Any, names: set[str]) -> dict[str, tuple[Path, ...]]:
    """Find variables of which some arrays are kept by the caller until the function returns.

    Parameters
    ----------
    lower : Lower
        What lowers the function.
    names : set of str
        Variables that are assigned once.

    Returns
    -------
    parts : dict
        Variable → those parts of it to whose arrays references are counted: none, or some. Of all other variables, and
        of what is returned, each reference is.
    """
    found: dict[str, tuple[Path, ...]] = {}
    if not lower.context.enable_nrt:
        return found
    search = _Search(lower, found)
    for _, block in sorted(lower.blocks.items()):
        for statement in block.body:
            if isinstance(statement, ir.Assign) and statement.target.name in names:
                name = statement.target.name
                parts = search.parts(statement.value) if owns(lower.context, lower.typeof(name)) else WHOLE
                if parts != WHOLE:
                    found[name] = parts
    return found


class _Search:
    """Search in one function."""

    def __init__(self, lower: Any, found: dict[str, tuple[Path, ...]]) -> None:
        self._lower, self._found = lower, found

    def parts(self, value: Any) -> tuple[Path, ...]:
        """Return the counted parts of what is assigned to a variable."""
        if isinstance(value, ir.Var):
            return self._known(value)
        if not isinstance(value, ir.Expr):
            return () if isinstance(value, ir.Arg) else WHOLE
        return self._of_expression(value)

    def _of_expression(self, value: ir.Expr) -> tuple[Path, ...]:
        if value.op in ("getattr", "static_getitem"):
            return self._field(value)
        if value.op == "exhaust_iter":
            return self._known(value.value)
        if value.op == "cast":  # what is returned
            return WHOLE if owns(self._lower.context, self._lower.fndesc.restype) else self._known(value.value)
        if value.op == "getitem":  # an array of indices selects a copy
            kinds = parts_of_index(self._lower.typeof(value.index.name))
            return WHOLE if any(isinstance(each, types.Array) for each in kinds) else self._view(value.value)
        return self._made(value)

    def _known(self, variable: ir.Var) -> tuple[Path, ...]:
        if not owns(self._lower.context, self._lower.typeof(variable.name)):
            return ()
        return self._found.get(variable.name, WHOLE)

    def _view(self, variable: ir.Var) -> tuple[Path, ...]:
        """Return the counted parts of a view, or of an item that is not known."""
        return WHOLE if self._known(variable) else ()

    def _field(self, value: ir.Expr) -> tuple[Path, ...]:
        """Return the counted parts of a field."""
        kind: Any = self._lower.typeof(value.value.name)
        field = value.index if value.op == "static_getitem" else None
        if value.op == "getattr" and value.attr in getattr(kind, "fields", ()):
            field = kind.fields.index(value.attr)
        if not isinstance(kind, types.BaseTuple) or type(field) is not int or field < 0:
            return self._view(value.value)
        known = self._known(value.value)
        return WHOLE if known == WHOLE else tuple(path[1:] for path in known if path[0] == field)

    def _made(self, value: ir.Expr) -> tuple[Path, ...]:
        """Return the counted parts of a tuple that is made of others, or of what a function returns."""
        if value.op == "build_tuple":
            return self._joined(value.items)
        if value.op == "binop" and value.fn is add and isinstance(self._lower.typeof(value.lhs.name), types.BaseTuple):
            one, other = self._each(value.lhs), self._each(value.rhs)
            first = len(self._lower.typeof(value.lhs.name))
            return (*one, *((first + path[0], *path[1:]) for path in other))
        if value.op == "call" and value.vararg is None:
            function = self._lower.typeof(value.func.name)
            if returns_views(function):
                return ()
            if getattr(function, "typing_key", None) is tuple and not value.kws:
                return self._known(value.args[0])
            if isinstance(function, types.NamedTupleClass):
                fields, given = function.instance_class._fields, dict(value.kws)
                return self._joined([*value.args, *(given[each] for each in fields[len(value.args) :])])
        return WHOLE

    def _each(self, variable: ir.Var) -> tuple[Path, ...]:
        """Return the counted parts of a tuple, field by field where it is counted as a whole."""
        known, kinds = self._known(variable), self._lower.typeof(variable.name).types
        return (
            tuple((k,) for k, kind in enumerate(kinds) if owns(self._lower.context, kind)) if known == WHOLE else known
        )

    def _joined(self, items: Sequence[ir.Var]) -> tuple[Path, ...]:
        return tuple((k, *path) for k, item in enumerate(items) for path in self._known(item))


def returns_views(function: Any) -> bool:
    """Tell whether a function is a `cbsim.kernel_compiler.View`, from its type."""
    return getattr(getattr(function, "dispatcher", None), "returns_views", False)


def parts_of_index(index: types.Type) -> Sequence[Any]:
    """Return the types of an index for each axis."""
    kind: Any = index
    return kind.types if isinstance(index, types.BaseTuple) else (index,)
