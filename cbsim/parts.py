"""How numba is asked to compile kernels: what only kernels call is a part, optimised once, where it ends up.

Left to itself, numba optimises every function, makes machine code of it, and does both again in each function that
calls it, level by level. Here a part is only lowered, and whatever Python calls gathers its parts, all levels of them,
each once, makes them private to itself, and has the whole optimised and translated together.

Five more things cost most of the time in front of that, and are left out:

- A part is compiled for types, not for the values of literals that numba sees in its callers first.
- A part that neither allocates nor returns arrays borrows them from its caller, and counts no references.
- The compiler's options are looked up for every call and every operator: they compare by what is set.
- What an operator gives for two types is found out once, not wherever it stands.
- Garbage is not collected while a kernel is compiled.

This leans on numba's inside: its `code library`_ and its pipeline, which a project may customise.

.. _code library: https://numba.readthedocs.io/en/stable/developer/architecture.html
"""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from llvmlite.binding import parse_assembly
from numba.core import compiler, ir, types
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_machinery import register_pass
from numba.core.environment import lookup_environment
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering
from numba.core.typing.context import Context

__all__ = ["Door", "Inlined", "Inside", "Wide"]

OPTIONS = {
    "nopython": True,
    "fastmath": False,
    "error_model": "numpy",
    "nogil": True,
    "boundscheck": None,
    "no_cfunc_wrapper": True,  # nobody calls kernels from C, and the door costs time to compile
}
ENVIRONMENT = "_ZN08NumbaEnv"  # how the names of its variables begin
VIEWS = frozenset({"getitem", "static_getitem", "typed_getitem", "getattr", "cast", "exhaust_iter", "build_tuple"})
"""Expressions that give what lies in another value, and own nothing of it."""


class Gatherer(JITCodeLibrary):
    """Code with all the parts that it needs, at any remove, each once."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._gathered: set[int] = set()

    def add_linking_library(self, library: Any) -> None:
        """Take a library along, and what a part needs in its turn."""
        if id(library) in self._gathered:
            return
        self._gathered.add(id(library))
        super().add_linking_library(library)
        if isinstance(library, PartLibrary):
            for needed in library._linking_libraries:
                self.add_linking_library(needed)


def optimise(library: Any, *, loop_vectorize: bool) -> None:
    """Optimise the code of a library in one go.

    Numba's own first of two rounds gathers counts of references, of which parts have none. Loops of kernels are mostly
    over three or six numbers: run several rounds at a time they are no faster, and take a fifth longer to compile.
    """
    manager, builder = library._codegen._module_pass_manager(opt=2, loop_vectorize=loop_vectorize, slp_vectorize=False)
    manager.run(library._final_module, builder)


class PartLibrary(Gatherer):
    """Code of a part as it was lowered: nothing is linked, and there is no machine code."""

    def finalize(self) -> None:
        """Leave it as it is."""
        self._raise_if_finalized()
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        # numba would mark functions to be dropped unless what is there already calls them; whoever does may come later
        return self._final_module


class WideLibrary(PartLibrary):
    """Code of a part whose loops run several rounds at a time."""

    def finalize(self) -> None:
        """Optimise it by itself, before it is among others."""
        optimise(self, loop_vectorize=True)
        super().finalize()


class DoorLibrary(Gatherer):
    """Machine code of what Python calls, with its parts inside."""

    def finalize(self) -> None:
        """Link the parts before what numba brings, of which only what has been called by then is taken."""
        self._linking_libraries = sorted(self._linking_libraries, key=lambda each: not isinstance(each, PartLibrary))
        super().finalize()

    def _optimize_final_module(self) -> None:
        parts = [library._final_module for library in self._linking_libraries if isinstance(library, PartLibrary)]
        inside = {function.name for part in parts for function in part.functions if not function.is_declaration}
        for function in self._final_module.functions:
            if function.name in inside and not function.is_declaration:
                function.linkage = "internal"  # so that nothing is kept of what has been inlined
        optimise(self, loop_vectorize=False)

    def _finalize_final_module(self) -> None:
        super()._finalize_final_module()
        codegen: Any = self._codegen
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name) if variable.name.startswith(ENVIRONMENT) else None
            if environment is not None:
                codegen.set_env(variable.name, environment)

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Give machine code to be kept on disk, and in place of what callers link, which they never do, its names."""
        self._ensure_finalized()
        names = (each.name for each in self._final_module.functions if not each.is_declaration)
        stubs = "".join(f'define void @"{name}"() {{ ret void }}\n' for name in names)
        return self.name, "object", (self._get_compiled_object(), parse_assembly(stubs).as_bitcode())


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

    def run_pass(self, state: Any) -> bool:
        """Fill ``state.cr``."""
        state.library = DoorLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


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


class Part(CPUDispatcher):
    """A kernel that only kernels call."""

    compiler_class = pipeline(PartLowering)

    def __init__(self, py_func: Callable[..., Any], *_: Any, **__: Any) -> None:
        super().__init__(py_func, targetoptions=dict(OPTIONS), pipeline_class=self.compiler_class)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Find the code for the types of a call, whatever is known of its values."""
        named = {name: types.unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(map(types.unliteral, args)), named)

    def add_overload(self, cres: Any) -> None:
        """Keep compiled code for callers; there is none that Python could run."""
        self.overloads[tuple(cres.signature.args)] = cres


class InlinedPart(Part):
    """A part that is put wherever it is called."""

    compiler_class = pipeline(InlinedLowering)


class WidePart(Part):
    """A part whose loops run several rounds at a time."""

    compiler_class = pipeline(WideLowering)


@contextmanager
def _somewhere() -> Iterator[None]:
    """Stand in a folder that exists: numba asks where it is, and a working directory may have been deleted."""
    try:
        Path.cwd()
    except OSError:
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir(tempfile.gettempdir())
            yield
        finally:
            os.fchdir(here)
            os.close(here)
    else:
        yield


@contextmanager
def _uncollected() -> Iterator[None]:
    """Leave garbage lying meanwhile: looking through the compiler's tables for it again and again takes a fifth."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class Door(CPUDispatcher):
    """A kernel that Python calls; kernels that call it as well take it as a part."""

    compiler_class = pipeline(DoorLowering)

    def __init__(self, py_func: Callable[..., Any], *_: Any, **__: Any) -> None:
        super().__init__(py_func, targetoptions=dict(OPTIONS), pipeline_class=self.compiler_class)
        self.inside = Inside(py_func)

    def compile(self, sig: Any) -> Any:
        """Make machine code for a call by Python, or find it on disk."""
        if isinstance(vars(self)["_cache"], NullCache):
            self.enable_caching()  # not before: it tries whether the folder can be written
        with _somewhere(), _uncollected():
            return super().compile(sig)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Find the code for a call by a kernel."""
        return self.inside.part.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Find the code that a kernel has chosen."""
        return self.inside.part.get_overload(sig)


class Inside:
    """What only kernels call: a `Part` once one does, for there are hundreds of them and a start uses none."""

    part_class = Part

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function

    @cached_property
    def part(self) -> Any:
        """The `Part`, which is what numba knows."""
        return self.part_class(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        return self.part._numba_type_

    def __call__(self, *_: Any) -> Any:
        """Refuse."""
        raise TypeError(f"{self.py_func.__name__} is called by kernels alone")


class Wide(Inside):
    """What only kernels call, with loops that run several rounds at a time."""

    part_class = WidePart


class Inlined(Inside):
    """What is put wherever kernels call it; Python may call it too."""

    part_class = InlinedPart

    @cached_property
    def door(self) -> Door:
        """What Python calls."""
        return Door(self.py_func)

    def __call__(self, *arguments: Any) -> Any:
        """Call the door."""
        return self.door(*arguments)
