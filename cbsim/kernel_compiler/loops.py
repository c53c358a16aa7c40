"""Loops over ranges whose step is 1 or -1, in a few instructions.

numba counts the rounds of any loop ahead, by a division, and returns an error if the step is 0, so that a function with
a loop might raise, and each of its callers would have to look.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from llvmlite.ir import Constant, Undefined
from numba.core import ir, types

__all__ = ["Loops"]


class Range(NamedTuple):
    """A loop over a range.

    Attributes
    ----------
    name, call : str
        Variables to which the iterator and the range are assigned first.
    numbers : list of Var
        Arguments of ``range``.
    step : int
        1 or -1.
    followers : frozenset of str
        Names of the variables that hold the iterator.
    """

    name: str
    call: str
    numbers: Sequence[Any]
    step: int
    followers: frozenset[str]


class Loops:
    """Loops of one function over ranges whose step is 1 or -1.

    Parameters
    ----------
    lower : Lower
        What lowers the function.
    singles : set of str
        Variables that are assigned once, before they are used.
    """

    def __init__(self, lower: Any, singles: Any) -> None:
        self._lower = lower
        self._ranges = _plain_ranges(lower.blocks, lower.fndesc.typemap, singles)
        self._calls = {each.call: each for each in self._ranges.values()}
        self._bounds: dict[str, tuple[Any, Any]] = {}
        self._places: dict[str, tuple[Any, Any, Any]] = {}

    def lower(self, name: str, value: Any) -> Any:
        """Lower what is assigned to a variable if it is part of such a loop; None for everything else."""
        if name in self._calls:
            return self._note_bounds(self._calls[name])
        if name in self._ranges:
            return self._begin(self._ranges[name])
        if isinstance(value, ir.Expr) and value.op == "iternext" and value.value.name in self._places:
            return self._next(name, *self._places[value.value.name])
        return None

    def _note_bounds(self, loop: Range) -> Any:
        """Take the bounds when ``range`` is called: they may change in the loop."""
        lower, kind = self._lower, self._lower.typeof(loop.call)
        context, builder = lower.context, lower.builder
        given = [
            context.cast(builder, lower.loadvar(each.name), lower.typeof(each.name), kind.dtype)
            for each in loop.numbers[:2]
        ]
        first = context.get_constant(kind.dtype, 0)
        self._bounds[loop.call] = (first, given[0]) if len(given) == 1 else (given[0], given[1])
        return Constant(context.get_value_type(kind), Undefined)

    def _begin(self, loop: Range) -> Any:
        """Store the first number."""
        builder = self._lower.builder
        first, end = self._bounds[loop.call]
        with builder.goto_entry_block():
            place = builder.alloca(first.type)
        builder.store(first, place)
        for each in loop.followers:
            self._places[each] = place, end, first.type(loop.step)
        return Constant(self._lower.context.get_value_type(self._lower.typeof(loop.name)), Undefined)

    def _next(self, name: str, place: Any, end: Any, step: Any) -> Any:
        """Make the pair of the next number, which nothing reads behind the end, and whether it is in the range."""
        builder = self._lower.builder
        pair = Constant(self._lower.context.get_value_type(self._lower.typeof(name)), Undefined)
        number = builder.load(place)
        is_inside = builder.icmp_signed("<" if step.constant > 0 else ">", number, end)
        builder.store(builder.add(number, step, flags=["nsw"]), place)
        return builder.insert_value(builder.insert_value(pair, number, (0,)), is_inside, (1,))


def _plain_ranges(blocks: Any, kinds: Any, singles: Any) -> dict[str, Range]:
    """Find the loops: by the name of the variable to which the iterator is assigned first."""
    made, uses = _assignments(blocks)
    found = {}
    for name, value in made.items():
        if name not in singles or not isinstance(value, ir.Expr) or value.op != "getiter":
            continue
        call: Any = made.get(value.value.name)
        if value.value.name not in singles or len(uses[value.value.name]) > 1 or not _is_range(call, kinds):
            continue
        step = _step_of(call, kinds)
        followers = _followers(name, uses, singles)
        if step is not None and followers is not None:
            found[name] = Range(name, value.value.name, call.args, step, followers)
    return found


def _assignments(blocks: Any) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """List what is assigned last to each variable, and the statements that use each, but for those that end it."""
    made: dict[str, Any] = {}
    uses: dict[str, list[Any]] = {}
    for block in blocks.values():
        for statement in block.body:
            if isinstance(statement, ir.Assign):
                made[statement.target.name] = statement.value
            if not isinstance(statement, ir.Del):
                for each in statement.list_vars():
                    if not isinstance(statement, ir.Assign) or each.name != statement.target.name:
                        uses.setdefault(each.name, []).append(statement)
    return made, uses


def _is_range(call: Any, kinds: Any) -> bool:
    """Tell whether an expression is a call of ``range`` with whole numbers that have a sign."""
    if not isinstance(call, ir.Expr) or call.op != "call" or call.kws or call.vararg is not None:
        return False
    dtype = getattr(getattr(kinds[call.func.name], "typing_key", None), "__name__", None)
    numbers = [types.unliteral(kinds[each.name]) for each in call.args]
    return dtype == "range" and all(isinstance(each, types.Integer) and getattr(each, "signed", 0) for each in numbers)


def _step_of(call: Any, kinds: Any) -> int | None:
    """Return the step of a range if it is 1 or -1."""
    if len(call.args) < 3:
        return 1
    step = getattr(kinds[call.args[2].name], "literal_value", None)
    return step if step in (1, -1) else None


def _followers(name: str, uses: Any, singles: Any) -> frozenset[str] | None:
    """Return the names of the variables that hold an iterator; None if something else is done with it than to go on."""
    found, todo = {name}, [name]
    while todo:
        for statement in uses.get(todo.pop(), ()):
            if not isinstance(statement, ir.Assign):
                return None
            target, value = statement.target.name, statement.value
            if isinstance(value, ir.Var):
                if target not in singles:
                    return None
                found.add(target)
                todo.append(target)
            elif not isinstance(value, ir.Expr) or value.op != "iternext":
                return None
    return frozenset(found)
