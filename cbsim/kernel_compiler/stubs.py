"""Stubs of deferred device functions, which callers link in their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.compiler import compile_result
from numba.core.serialize import dumps

from cbsim.kernel_compiler.calls import callable_by_kernels, convention_of, declare, owns
from cbsim.kernel_compiler.codegen import lasting_name, target_context
from cbsim.kernel_compiler.deferred import FAILED, RESOLVER, Unit, note_units
from cbsim.kernel_compiler.libraries import DeviceLibrary
from cbsim.kernel_compiler.shared import Descriptor

__all__ = ["stub_of"]

PLACE, CODE = ir.IntType(8).as_pointer(), ir.IntType(32)
WORD = 8  # [bytes] of a pointer


class Named(NamedTuple):
    """What `lasting_name` has to know of a function."""

    modname: str
    qualname: str
    argtypes: tuple[types.Type, ...]


def stub_of(function: Callable[..., Any], arguments: tuple[types.Type, ...], returned: types.Type) -> Any:
    """Make what callers link in place of a deferred function.

    Parameters
    ----------
    function : callable
    arguments : tuple of Type
    returned : Type

    Returns
    -------
    stub : CompileResult
    """
    context = target_context()
    place = function.__module__, function.__qualname__
    symbol = lasting_name(Named(*place, arguments))
    descriptor = Descriptor(f"{symbol}.stub", returned, arguments)
    library: Any = DeviceLibrary(context.codegen(), descriptor.mangled_name)
    library.unit = Unit(symbol, *place, dumps(arguments))
    library.counts = owns(context, returned)  # all fields of tuples are passed: nothing is known of what it uses
    note_units([library.unit])
    library.add_ir_module(_module(context, descriptor, library, symbol))
    library.finalize()
    made: Any = compile_result(
        signature=returned(*arguments), fndesc=descriptor, library=library, objectmode=False,
        entry_point=callable_by_kernels(context, descriptor, library),
    )  # fmt: skip
    return made


def _module(context: Any, descriptor: Descriptor, library: Any, symbol: str) -> Any:
    """Make the module of a stub: it calls the function through a pointer, and asks for that at the first call."""
    module = context.create_module(descriptor.mangled_name)
    function = declare(context, module, descriptor, library)
    names = [f"argument{k}" for k in range(len(descriptor.argtypes))]
    convention_of(context, library).decorate_function(function, names, descriptor.argtypes)
    builder: Any = ir.IRBuilder(function.append_basic_block("entry"))
    pointer: Any = ir.GlobalVariable(module, PLACE, f"{symbol}.pointer")
    pointer.linkage, pointer.initializer = "internal", PLACE(None)
    with cgutils.if_unlikely(builder, cgutils.is_null(builder, builder.load_atomic(pointer, "acquire", WORD))):
        ask = cgutils.get_or_insert_function(module, ir.FunctionType(PLACE, [PLACE]), RESOLVER)
        found = builder.call(ask, [context.insert_const_string(module, symbol)])
        with cgutils.if_unlikely(builder, cgutils.is_null(builder, found)):
            builder.ret(CODE(FAILED))
        builder.store_atomic(found, pointer, "release", WORD)
    address = builder.bitcast(builder.load_atomic(pointer, "acquire", WORD), function.type)
    builder.ret(builder.call(address, function.args))
    return module
