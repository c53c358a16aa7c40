"""Quicker versions of what numba's front end does for every statement, in place while a kernel compiles.

Each gives what numba's own gives. They are put in place under the lock that numba holds while it compiles, and taken
out before the lock is released: no function of another package is compiled with them, unless a kernel calls it. Other
threads that look types up meanwhile may meet `_hash_of`.

Replacements are functions of this module, which are never freed. CPython frees the old value of a class attribute
before it forgets where to find it: had that value held types, whose end runs Python code, freed memory would be called.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from numba.core import base, cpu, errors, event, ir, postproc, ssa, transforms, typeinfer, types, utils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.types.functions import BaseFunction
from numba.core.typing import context as typing_context

__all__ = ["REPLACEMENTS", "shortcuts"]

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
NUMBAS_START: Any = event.start_event
NUMBAS_END: Any = event.end_event
NUMBAS_LOADING: Any = cpu.CPUContext.load_additional_registries
NUMBAS_LOADING_TYPES: Any = typing_context.Context.load_additional_registries
NUMBAS_UNIFICATION: Any = typeinfer.TypeInferer.unify
NUMBAS_VALUE_TYPE: Any = typing_context.BaseContext.resolve_value_type

PERMANENT = frozenset({FunctionType, BuiltinFunctionType, ModuleType, type})
"""Kinds of constants whose type stays what it is while a kernel compiles."""

HASHES: dict[int, tuple[Any, int]] = {}
"""Identity of a type → the type, which is kept so that no other takes its place in memory, and its hash."""
CALL_TYPES: dict[tuple[Any, ...], tuple[Any, Any]] = {}
"""Identity of a function, types of arguments → the function and the signature of the call."""
VALUE_TYPES: dict[int, tuple[Any, Any]] = {}
"""Identity of a function, class or module → itself and its type."""
LOADED: dict[int, tuple[Any, int]] = {}
"""Identity of a context's table of registries → the table and the number of entries in them when they were loaded."""
TAKES_LOC: dict[Any, bool] = {}
"""Implementation of a function → whether it has a parameter ``loc``."""


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


def _hash_of(kind: Any) -> int:
    """Return the hash of a type: numba computes that of a tuple of tables anew, from all of its fields, each time."""
    known = HASHES.get(id(kind))
    if known is None:
        known = HASHES[id(kind)] = kind, NUMBAS_HASH(kind)
    return known[1]


def _call_type_of(function: Any, context: Any, arguments: Any, keywords: Any) -> Any:
    """Find the signature of a call of a built-in function, which numba resolves to infer types and again to lower."""
    if keywords:
        return NUMBAS_CALL_TYPE(function, context, arguments, keywords)
    key = (id(function), *arguments)  # by identity: an equal function has its own table of implementations
    known = CALL_TYPES.get(key)
    if known is None:
        known = CALL_TYPES[key] = function, NUMBAS_CALL_TYPE(function, context, arguments, keywords)
    return known[1]


def _takes_loc(function: Any) -> bool:
    """Tell whether an implementation has a parameter ``loc``, without its whole signature at each call."""
    known = TAKES_LOC.get(function)
    if known is None:
        known = TAKES_LOC[function] = "loc" in inspect.signature(function).parameters
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


def _start_event(kind: str, data: Any = None) -> None:
    """Tell of a beginning, but not of each call of LLVM, of which there are a hundred thousand."""
    if kind != "numba:llvm_lock" and event._registered.get(kind):
        NUMBAS_START(kind, data)


def _end_event(kind: str, data: Any = None, exc_details: Any = None) -> None:
    """Tell of an end."""
    if kind != "numba:llvm_lock" and event._registered.get(kind):
        NUMBAS_END(kind, data, exc_details)


def _entries(registries: Any) -> int:
    return sum(len(each) for registry in registries for each in vars(registry).values() if isinstance(each, list))


def _load(context: Any, load: Any) -> None:
    registries = context._registries
    known = LOADED.get(id(registries))
    if known is None or known[1] != _entries(registries):
        load(context)
        LOADED[id(registries)] = registries, _entries(registries)


def _load_implementations(context: Any) -> None:
    """Load new entries of numba's registries, which it looks through again and again for each call of a function."""
    _load(context, NUMBAS_LOADING)


def _load_types(context: Any) -> None:
    """Load new entries of numba's registries of types."""
    _load(context, NUMBAS_LOADING_TYPES)


def _value_type(context: Any, value: Any) -> Any:
    """Return the type of a constant; numba asks each operator whether it is a buffer, which raises an exception."""
    if type(value) not in PERMANENT:
        return NUMBAS_VALUE_TYPE(context, value)
    known = VALUE_TYPES.get(id(value))
    if known is None:
        known = VALUE_TYPES[id(value)] = value, NUMBAS_VALUE_TYPE(context, value)
    return known[1]


def _propagate(network: Any, inference: Any) -> list[Exception]:
    """Execute all constraints on types; numba prepares for warnings before each of them."""
    found: list[Exception] = []
    others: list[warnings.WarningMessage] = []  # given on at the end: here they would be caught again
    fixer = inference.warnings
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", fixer._category)
        for constraint in network.constraints:
            try:
                constraint(inference)
            except errors.ForceLiteralArg as reason:
                found.append(reason)
            except errors.TypingError as reason:
                located = errors.TypingError(str(reason), loc=constraint.loc, highlighting=False)
                found.append(utils.chain_exception(located, reason))
            for each in caught:
                if issubclass(each.category, fixer._category):
                    place = constraint.loc.filename or each.filename, constraint.loc.line or each.lineno
                    fixer._warnings[(*place, each.category)].add(str(each.message))
                else:
                    others.append(each)
            caught.clear()
    for each in others:
        warnings.warn_explicit(str(each.message), each.category, each.filename, each.lineno)
    return found


def _unify(inference: Any, raise_errors: bool = True) -> Any:
    """Find the final types; break the cycle that holds all that was inferred, for which the collector takes long."""
    found = NUMBAS_UNIFICATION(inference, raise_errors)
    vars(inference).clear()
    return found


def _rename(states: Any, block: Any, handler: Any) -> Iterator[Any]:
    """Pass the statements of a block to a handler, without a message on each of them."""
    for statement in block.body:
        act = handler.on_assign if isinstance(statement, ir.Assign) else handler.on_other
        yield act(states, statement)


REPLACEMENTS: tuple[tuple[Any, str, Any, Any], ...] = (
    (ir.Inst, "_rec_list_vars", NUMBAS_SEARCH, _list_variables),
    (types.Type, "__hash__", NUMBAS_HASH, _hash_of),
    (BaseFunction, "get_call_type", NUMBAS_CALL_TYPE, _call_type_of),
    (base, "_has_loc", base._has_loc, _takes_loc),
    (postproc.PostProcessor, "run", NUMBAS_LIFETIMES, _find_lifetimes),
    (event, "start_event", NUMBAS_START, _start_event),
    (event, "end_event", NUMBAS_END, _end_event),
    (cpu.CPUContext, "load_additional_registries", NUMBAS_LOADING, _load_implementations),
    (typing_context.Context, "load_additional_registries", NUMBAS_LOADING_TYPES, _load_types),
    (typing_context.BaseContext, "resolve_value_type", NUMBAS_VALUE_TYPE, _value_type),
    (typeinfer.ConstraintNetwork, "propagate", typeinfer.ConstraintNetwork.propagate, _propagate),
    (typeinfer.TypeInferer, "unify", NUMBAS_UNIFICATION, _unify),
    (ssa, "_run_ssa_block_pass", ssa._run_ssa_block_pass, _rename),
)
"""Owner and name of each function that is replaced, numba's own and the quicker one."""


class _Depth:
    """How many kernels compile: one that another one calls may be compiled meanwhile, by the same thread."""

    count = 0


@contextmanager
def shortcuts() -> Iterator[None]:
    """Put the quicker versions in place, and keep other threads from compiling."""
    with global_compiler_lock:
        _Depth.count += 1
        try:
            if _Depth.count == 1:
                for owner, name, _, quick in REPLACEMENTS:
                    setattr(owner, name, quick)
            yield
        finally:
            _Depth.count -= 1
            if not _Depth.count:
                for owner, name, numbas, _ in REPLACEMENTS:
                    setattr(owner, name, numbas)
                for table in (CALL_TYPES, HASHES, VALUE_TYPES, LOADED):
                    table.clear()
