"""Quicker versions of what numba's front end does for every statement, in place while a kernel compiles.

Each gives what numba's own gives. They are kept out of other packages' compilations, as far as those are not at work
in another thread at the same time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from numba.core import base, event, ir, postproc, transforms, types
from numba.core.types.functions import BaseFunction

__all__ = ["shortcuts"]

NO_VARIABLES = frozenset(
    {
        *(ir.Loc, ir.Const, ir.Global, ir.FreeVar, ir.Arg, ir.UndefinedType),
        *(str, int, float, bool, type(None), type(abs)),
    }
)
"""Most of what statements hold besides variables; the last is the type of operators."""

NUMBAS_SEARCH: Any = ir.Inst._rec_list_vars
NUMBAS_HASH: Any = types.Type.__hash__
NUMBAS_CALL_TYPE: Any = BaseFunction.get_call_type
NUMBAS_LIFETIMES: Any = postproc.PostProcessor.run
NO_TIMER: AbstractContextManager[None] = nullcontext()


def _list_variables(statement: Any, value: Any) -> list[Any]:
    """List the variables in a part of a statement, in order, as `numba.core.ir.Inst._rec_list_vars` does."""
    found: list[Any] = []
    _collect(statement, value, found)
    return found


def _collect(statement: Any, value: Any, found: list[Any]) -> None:
    kind = type(value)
    if kind is ir.Expr:
        value = value._kws
        kind = dict
    if kind is ir.Var:
        found.append(value)
    elif kind is dict or kind is list or kind is tuple:
        for each in value.values() if kind is dict else value:
            kind = type(each)
            if kind is ir.Var:
                found.append(each)
            elif kind not in NO_VARIABLES:
                _collect(statement, each, found)
    elif kind not in NO_VARIABLES:
        found.extend(NUMBAS_SEARCH(statement, value))


class Hashes(dict[int, tuple[Any, int]]):
    """Hashes of types: numba computes that of a tuple of tables anew, from all of its fields, at each look-up."""

    def of(self, kind: Any) -> int:
        """Return the hash of a type, which is kept so that no other type takes its place in memory."""
        known = self.get(id(kind))
        if known is None:
            known = self[id(kind)] = kind, NUMBAS_HASH(kind)
        return known[1]


class CallTypes(dict[tuple[Any, ...], tuple[Any, Any]]):
    """Signatures of calls of built-in functions, which numba resolves once to infer types and once to lower."""

    def of(self, function: Any, context: Any, arguments: Any, keywords: Any) -> Any:
        """Find the signature of a call."""
        if keywords:
            return NUMBAS_CALL_TYPE(function, context, arguments, keywords)
        key = (id(function), *arguments)  # by identity: an equal function has its own table of implementations
        known = self.get(key)
        if known is None:
            known = self[key] = function, NUMBAS_CALL_TYPE(function, context, arguments, keywords)
        return known[1]


class Parameters(dict[Any, bool]):
    """Whether implementations of functions take a ``loc``, without the whole signature at each call."""

    def takes_loc(self, function: Any) -> bool:
        """Tell whether a function has a parameter of this name."""
        known = self.get(function)
        if known is None:
            known = self[function] = "loc" in inspect.signature(function).parameters
        return known


def _find_lifetimes(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Prepare the analysis of lifetimes; do it where numba inserts what ends them, or where a pass asks for it."""
    function = self.func_ir
    if emit_dels or function.is_generator:
        NUMBAS_LIFETIMES(self, emit_dels, extend_lifetimes)
        return
    function.blocks = transforms.canonicalize_cfg(function.blocks)
    function.variable_lifetime = postproc.VariableLifetime(function.blocks)
    function.generator_info = None


def _install_timer(_kind: str, _callback: Callable[[float], object]) -> AbstractContextManager[None]:
    """Measure nothing: every call of LLVM would tell the timers of all functions that are being compiled."""
    return NO_TIMER


def _replacements() -> list[tuple[Any, str, Any]]:
    hashes, calls, parameters = Hashes(), CallTypes(), Parameters()

    def hash_of(kind: Any) -> int:
        return hashes.of(kind)

    def call_type_of(function: Any, context: Any, arguments: Any, keywords: Any) -> Any:
        return calls.of(function, context, arguments, keywords)

    return [
        (ir.Inst, "_rec_list_vars", _list_variables),
        (types.Type, "__hash__", hash_of),
        (BaseFunction, "get_call_type", call_type_of),
        (base, "_has_loc", parameters.takes_loc),
        (postproc.PostProcessor, "run", _find_lifetimes),
        (event, "install_timer", _install_timer),
    ]


@contextmanager
def shortcuts() -> Iterator[None]:
    """Put the quicker versions in place."""
    before = []
    for owner, name, quick in _replacements():
        before.append((owner, name, vars(owner)[name]))
        setattr(owner, name, quick)
    try:
        yield
    finally:
        for owner, name, numbas in before:
            setattr(owner, name, numbas)
