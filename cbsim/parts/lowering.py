"""How kernels are lowered, and the pipelines that numba compiles them by."""

from __future__ import annotations

from typing import Any, ClassVar

from numba.core import compiler, ir, types
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering
from numba.core.typing.context import Context

from cbsim.parts.libraries import DoorLibrary, NarrowLibrary, PartLibrary, WideLibrary

__all__ = ["DoorLowering", "InlinedLowering", "NarrowLowering", "PartLowering", "WideLowering", "pipeline"]

VIEWS = frozenset({"getitem", "static_getitem", "typed_getitem", "getattr", "cast", "exhaust_iter", "build_tuple"})
"""Expressions that give what lies in another value, and own nothing of it."""


def owns(context: Any, kind: types.Type) -> bool:
    """Tell whether values of a type hold on to memory."""
    return bool(context.data_model_manager[kind].contains_nrt_meminfo())


def borrows(state: Any) -> bool:
    """Tell whether a typed function makes no memory and hands none out, so that it need not count references."""
    context, kinds = state.targetctx, state.typemap
    if owns(context, state.return_type):
        return False
    for block in state.func_ir.blocks.values():
        for statement in block.body:
            if isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
                if owns(context, kinds[statement.value.name]):
                    return False
            elif isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Expr):
                made = statement.value.op not in VIEWS
                if made and owns(context, kinds[statement.target.name]):
                    return False
    return True


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):
    """Lowers a part, and makes it known to its callers without any machine code."""

    _name = "part_lowering"
    inline = False
    library: type[PartLibrary] = PartLibrary

    def run_pass(self, state: Any) -> bool:
        """Fill ``state.cr``."""
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = state.flags.no_cpython_wrapper = True
        state.flags.forceinline = self.inline
        if borrows(state):
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        super().run_pass(state)
        state.library.finalize()
        key = object()  # stands for the address, which a part does not have
        state.targetctx.insert_user_function(key, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=key)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class InlinedLowering(PartLowering):
    """Lowers a part that is put wherever it is called."""

    _name = "inlined_lowering"
    inline = True


@register_pass(mutates_CFG=True, analysis_only=False)
class WideLowering(PartLowering):
    """Lowers a part whose loops run several rounds at a time."""

    _name = "wide_lowering"
    library = WideLibrary


@register_pass(mutates_CFG=True, analysis_only=False)
class DoorLowering(NativeLowering):
    """Lowers what Python calls."""

    _name = "door_lowering"
    library: type[DoorLibrary] = DoorLibrary

    def run_pass(self, state: Any) -> bool:
        """Fill ``state.cr``."""
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class NarrowLowering(DoorLowering):
    """Lowers what Python calls and is done number by number."""

    _name = "narrow_lowering"
    library = NarrowLibrary


class SteadyFlags(compiler.Flags):
    """Options of the compiler that compare by those that are set, not by all that could be."""

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, SteadyFlags) and self._values == other._values)

    def __hash__(self) -> int:
        return 0  # numba's own is the same for all as well


class KnowingContext(Context):
    """Numba's own typing context, which remembers what an operator or a built-in function gives for types."""

    known: ClassVar[dict[tuple[Any, ...], tuple[Any, Any]]] = {}

    @classmethod
    def of(cls, context: Any) -> KnowingContext:
        """Look at a context in this way: everything in it is shared."""
        made = cls.__new__(cls)
        made.__dict__.update(vars(context))
        return made

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Find the signature of a call."""
        if kws or type(func) is not types.Function:
            return self._look_up(func, args, kws)
        key = (id(func), *args)  # a function like it is not the same: each keeps what its calls are translated to
        if key not in self.known:
            self.known[key] = func, self._look_up(func, args, kws)
        return self.known[key][1]

    def _look_up(self, func: Any, args: Any, kws: Any) -> Any:
        find: Any = super().resolve_function_type
        return find(func, args, kws)


def pipeline(lowering: type[NativeLowering]) -> type[compiler.CompilerBase]:
    """Make a compiler that lowers in its own way."""

    class Pipeline(compiler.CompilerBase):
        def __init__(self, *arguments: Any) -> None:
            prepare: Any = super().__init__
            context, *before, flags, local = arguments
            steady = SteadyFlags()
            steady._values.update(flags._values)
            prepare(KnowingContext.of(context), *before, steady, local)

        def define_pipelines(self) -> list[Any]:
            passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.passes[:] = [(lowering if each is NativeLowering else each, why) for each, why in passes.passes]
            passes._finalized = False
            passes.finalize()
            return [passes]

    return Pipeline
