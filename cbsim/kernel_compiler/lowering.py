"""Lowering passes of kernels and the numba pipelines that use them."""

from __future__ import annotations

import operator
from functools import cache
from typing import Any, ClassVar

from numba.core import compiler, ir, types
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering
from numba.core.typing.context import Context

from cbsim.kernel_compiler.calls import callable_by_kernels, owns
from cbsim.kernel_compiler.codegen import target_context
from cbsim.kernel_compiler.extremes import is_in_place, type_in_place
from cbsim.kernel_compiler.instructions import DeviceLower, KernelLower, SharedLower
from cbsim.kernel_compiler.kept import returns_views
from cbsim.kernel_compiler.libraries import (
    DeferredLibrary,
    DeviceLibrary,
    EntryLibrary,
    ScalarLibrary,
    SharedLibrary,
    VectorizedLibrary,
)
from cbsim.kernel_compiler.passes import SUBSTITUTES
from cbsim.kernel_compiler.usage import fields_used

__all__ = [
    "DeferredLowering",
    "DeviceLowering",
    "EntryLowering",
    "InlinedLowering",
    "ScalarLowering",
    "VectorizedLowering",
    "ViewLowering",
    "pipeline",
]

VIEWS = frozenset({"getitem", "static_getitem", "typed_getitem", "getattr", "cast", "exhaust_iter", "build_tuple"})
"""Expressions whose result is a view of an operand and owns no memory."""


def borrows(state: Any) -> bool:
    """Tell whether a typed function neither allocates nor returns memory, so that it need not count references."""
    context, kinds = state.targetctx, state.typemap
    if owns(context, state.return_type):
        return False
    for block in state.func_ir.blocks.values():
        for statement in block.body:
            if isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
                if owns(context, kinds[statement.value.name]):
                    return False
            elif isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Expr):
                made = statement.value.op not in VIEWS and not _takes(statement, kinds)
                if made and owns(context, kinds[statement.target.name]):
                    return False
    return True


def _takes(statement: ir.Assign, kinds: Any) -> bool:
    """Tell whether a call or an operator takes arrays as they are: a call of a `View`, or part of ``f(*a, *b)``."""
    expression: Any = statement.value
    function = kinds[expression.func.name] if expression.op == "call" else None
    if returns_views(function):
        return True
    if not isinstance(kinds[statement.target.name], types.BaseTuple):
        return False
    return expression.op == "binop" or getattr(function, "typing_key", None) is tuple


@register_pass(mutates_CFG=True, analysis_only=False)
class DeviceLowering(NativeLowering):
    """Lowers a device function and registers it with its callers, without machine code."""

    _name = "device_lowering"
    inline = False
    is_view = False
    is_narrowed = True  # whether fields of tuples that it does not use are not passed to it
    library: type[DeviceLibrary | SharedLibrary] = DeviceLibrary
    lowering_class = DeviceLower

    def run_pass(self, state: Any) -> bool:
        """Fill ``state.cr``."""
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        if isinstance(state.library, SharedLibrary):
            state.library.enable_object_caching()
        state.flags.no_compile = state.flags.no_cpython_wrapper = True
        state.flags.forceinline = self.inline
        state.library.counts = owns(state.targetctx, state.return_type) and not self.is_view
        if self.is_narrowed:
            state.library.usage = fields_used(state)
        if self.is_view or borrows(state):
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        super().run_pass(state)
        state.library.finalize()
        state.cr = state.cr._replace(cfunc=callable_by_kernels(state.targetctx, state.cr.fndesc, state.library))
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class InlinedLowering(DeviceLowering):
    """Lowers a device function that is inlined wherever it is called."""

    _name = "inlined_lowering"
    inline = True


@register_pass(mutates_CFG=True, analysis_only=False)
class ViewLowering(DeviceLowering):
    """Lowers a device function whose arrays, if it returns any, are views of its arguments."""

    _name = "view_lowering"
    is_view = True


@register_pass(mutates_CFG=True, analysis_only=False)
class VectorizedLowering(DeviceLowering):
    """Lowers a device function whose loops are vectorised."""

    _name = "vectorized_lowering"
    library = VectorizedLibrary


@register_pass(mutates_CFG=True, analysis_only=False)
class SharedLowering(DeviceLowering):
    """Lowers a device function and generates its machine code, once for all of its callers."""

    _name = "shared_lowering"
    library = SharedLibrary
    lowering_class = SharedLower


@register_pass(mutates_CFG=True, analysis_only=False)
class DeferredLowering(SharedLowering):
    """Lowers a deferred device function and generates its machine code; its stub passes it all fields of tuples."""

    _name = "deferred_lowering"
    is_narrowed = False
    library = DeferredLibrary


@register_pass(mutates_CFG=True, analysis_only=False)
class EntryLowering(NativeLowering):
    """Lowers an entry point."""

    _name = "entry_lowering"
    library: type[EntryLibrary] = EntryLibrary
    lowering_class = KernelLower

    def run_pass(self, state: Any) -> bool:
        """Fill ``state.cr``."""
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        if borrows(state):
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class ScalarLowering(EntryLowering):
    """Lowers an entry point whose loops are not vectorised."""

    _name = "scalar_lowering"
    library = ScalarLibrary


class FastFlags(compiler.Flags):
    """Compiler flags that compare by the flags that are set, not by every flag that exists."""

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, FastFlags) and self._values == other._values)

    def __hash__(self) -> int:
        return 0  # numba's own hash is constant too


PLAIN = (types.Integer, types.Float, types.Array)
OPERATORS = frozenset(
    getattr(operator, name)
    for each in ("add", "sub", "mul", "truediv", "floordiv", "mod")
    for name in (each, f"i{each}")
) | {operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.getitem, operator.neg}
"""Operators of numbers and arrays for which the value of an operand makes no difference."""


class CachingContext(Context):
    """Numba's typing context with a cache of the signatures of operators, built-in functions and attributes."""

    known: ClassVar[dict[tuple[Any, ...], tuple[Any, Any]]] = {}
    attributes: ClassVar[dict[tuple[Any, str], Any]] = {}

    @classmethod
    @cache
    def of(cls, context: Any) -> CachingContext:
        """Wrap a context; all of its tables are shared.

        One for all functions: numba keeps what it compiles for ``np.empty`` and its like once for each context.
        """
        made = cls.__new__(cls)
        made.__dict__.update(vars(context))
        return made

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Find the signature of a call."""
        if kws or type(func) is not types.Function:
            if func == "static_getitem" and type(args[1]) is int:
                return self._static_item(args)
            return self._look_up(func, args, kws)
        if func.key[0] in OPERATORS and any(type(each) is types.IntegerLiteral for each in args):
            general = tuple(map(types.unliteral, args))
            if all(isinstance(each, PLAIN) for each in general):
                args = general
        key = (id(func), *args)  # by identity: an equal function has its own table of implementations
        if key not in self.known:
            self.known[key] = func, self._look_up(func, args, kws)
        return self.known[key][1]

    def _static_item(self, args: Any) -> Any:
        """Find the signature of the selection of an item by its number."""
        key = "static_getitem", *args
        if key not in self.known:
            self.known[key] = None, self._look_up("static_getitem", args, ())
        return self.known[key][1]

    def resolve_getattr(self, typ: Any, attr: str) -> Any:
        """Find the type of an attribute."""
        if not isinstance(typ, (types.BaseNamedTuple, types.Array)):
            return super().resolve_getattr(typ, attr)
        key = typ, attr
        if key not in self.attributes:
            self.attributes[key] = super().resolve_getattr(typ, attr)
        return self.attributes[key]

    def _look_up(self, func: Any, args: Any, kws: Any) -> Any:
        if not kws and is_in_place(func, args):
            return type_in_place(self, func, args)
        find: Any = super().resolve_function_type
        return find(func, args, kws)


class QuickPasses(PassManager):
    """Passes that are run without events and timers, for each of which numba spells out the types of all arguments."""

    def _runPass(self, _index: int, compiler_pass: Any, state: Any) -> None:  # noqa: N802 (numba's name)
        compiler_pass.analysis = self._analysis
        compiler_pass.run_initialization(state)
        compiler_pass.run_pass(state)
        compiler_pass.run_finalizer(state)


def _passes_of(state: Any, own: dict[Any, Any]) -> PassManager:
    """Return the passes of numba, with others in place of some."""
    passes: Any = compiler.DefaultPassBuilder.define_nopython_pipeline(state)
    passes.passes[:] = [(own.get(each, each), why) for each, why in passes.passes]
    passes._ENFORCING = False  # numba would analyse lifetimes anew after each pass, which only lowering needs
    passes._finalized = False
    passes.finalize()
    passes.__class__ = QuickPasses
    return passes  # type: ignore[no-any-return]


def pipeline(lowering: type[NativeLowering]) -> type[compiler.CompilerBase]:
    """Make a compiler class with the given lowering pass in place of numba's."""
    own: dict[Any, Any] = {**SUBSTITUTES, NativeLowering: lowering}
    ready: list[tuple[dict[Any, Any], PassManager]] = []  # compiler flags, passes: numba analyses them each time

    class Pipeline(compiler.CompilerBase):
        def __init__(self, *arguments: Any) -> None:
            prepare: Any = super().__init__
            context, _, *before, flags, local = arguments
            steady = FastFlags()
            steady._values.update(flags._values)
            prepare(CachingContext.of(context), target_context(), *before, steady, local)

        def define_pipelines(self) -> list[Any]:
            flags = dict(self.state.flags._values)
            for known, passes in ready:
                if known == flags:
                    return [passes]
            passes = _passes_of(self.state, own)
            ready.append((flags, passes))
            return [passes]

    return Pipeline
