"""Calls of device functions, with fewer arguments and instructions than numba's calling convention needs.

numba spells out every field of an array that it passes, so that a call with a table of thirty arrays has three hundred
arguments, and it looks at six kinds of status after each call. Here an array is passed as what cannot be computed from
its type and its shape, and a function that never raises is called without looking at its status.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.callconv import RETCODE_OK, CPUCallConv, excinfo_t
from numba.core.datamodel.models import ArrayModel
from numba.core.datamodel.packer import ArgPacker
from numba.core.datamodel.registry import default_manager
from numba.core.imputils import fix_returning_optional, impl_ret_new_ref

__all__ = ["DATA", "SHAPE", "STRIDES", "call_of", "convention_of", "declare", "never_raises", "owns"]

MEMORY, _PARENT, ITEMS, ITEM_SIZE, DATA, SHAPE, STRIDES = range(7)  # fields of numba's arrays


def owns(context: Any, kind: types.Type) -> bool:
    """Tell whether values of a type own reference-counted memory."""
    return bool(context.data_model_manager[kind].contains_nrt_meminfo())


class BorrowedArrayModel(ArrayModel):
    """An array whose memory the caller keeps: pointer and shape, and strides where they do not follow from it."""

    counted = False

    def __init__(self, manager: Any, kind: types.Array) -> None:
        super().__init__(manager, kind)
        self._dimensions = kind.ndim
        self._packed = kind.layout == "C"
        fields = [] if self._packed else [(STRIDES, axis) for axis in range(kind.ndim)]
        self._passed = [*([(MEMORY,)] if self.counted else []), (DATA,), *((SHAPE, axis) for axis in range(kind.ndim))]
        self._passed += fields

    def get_argument_type(self) -> tuple[Any, ...]:
        """Return the types of the arguments."""
        known = self.get_value_type().elements
        return tuple(known[path[0]].elements[path[1]] if len(path) > 1 else known[path[0]] for path in self._passed)

    def as_argument(self, builder: Any, value: Any) -> tuple[Any, ...]:
        """Take the arguments from an array."""
        return tuple(builder.extract_value(value, path) for path in self._passed)

    def from_argument(self, builder: Any, value: Any) -> Any:
        """Make the array from the arguments."""
        made = self._known(builder.module)
        for path, each in zip(self._passed, value, strict=True):
            made = builder.insert_value(made, each, path)
        shape = [each for path, each in zip(self._passed, value, strict=True) if path[0] == SHAPE]
        if not shape:
            return made
        items = shape[-1]
        for axis in range(self._dimensions - 2, -1, -1):
            if self._packed:
                stride = builder.mul(items, items.type(self._item_size(builder.module)))
                made = builder.insert_value(made, stride, (STRIDES, axis))
            items = builder.mul(items, shape[axis])
        return builder.insert_value(made, items, ITEMS)

    def _known(self, module: Any) -> Any:
        """Return an array with the fields that are the same for all arrays of this type."""
        kinds = self.get_value_type().elements
        size = self._item_size(module)
        fields: list[Any] = [kind(None if index < ITEMS else ir.Undefined) for index, kind in enumerate(kinds)]
        fields[ITEMS], fields[ITEM_SIZE] = kinds[ITEMS](1), kinds[ITEM_SIZE](size)
        if self._packed and self._dimensions:
            last = [kinds[STRIDES].element(ir.Undefined)] * (self._dimensions - 1)
            fields[STRIDES] = kinds[STRIDES]([*last, kinds[STRIDES].element(size)])
        return ir.Constant(self.get_value_type(), fields)

    def _item_size(self, _module: Any) -> int:
        return _item_size(self._fe_type.dtype)


class CountedArrayModel(BorrowedArrayModel):
    """An array with its reference count, for functions that return arrays."""

    counted = True


@cache
def _item_size(kind: types.Type) -> int:
    """Return the size [bytes] of an array's elements."""
    from numba.core.registry import cpu_target

    context: Any = cpu_target.target_context
    return int(context.get_abi_sizeof(context.get_data_type(kind)))


@cache
def _models(counted: bool) -> Any:
    manager = default_manager.copy()
    manager.register(types.Array, CountedArrayModel if counted else BorrowedArrayModel)
    return manager


class DeviceConvention(CPUCallConv):
    """numba's calling convention, with arrays that are passed as `BorrowedArrayModel` or `CountedArrayModel`."""

    def __init__(self, context: Any, counted: bool) -> None:
        super().__init__(context)
        self._counted = counted

    def _get_arg_packer(self, kinds: Any) -> ArgPacker:
        return _packer(self._counted, tuple(kinds))


@cache
def _packer(counted: bool, kinds: tuple[types.Type, ...]) -> ArgPacker:
    return ArgPacker(_models(counted), kinds)


def convention_of(context: Any, library: Any) -> DeviceConvention:
    """Return the convention of a device function: reference counts are passed to those that return memory."""
    return DeviceConvention(context, library.counts)


def declare(context: Any, module: Any, descriptor: Any, library: Any) -> Any:
    """Declare a device function in a module."""
    kind = convention_of(context, library).get_function_type(descriptor.restype, descriptor.argtypes)
    return cgutils.get_or_insert_function(module, kind, descriptor.mangled_name)


def call_of(descriptor: Any, library: Any) -> Callable[..., Any]:
    """Make the function that lowers calls of a device function."""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        convention = convention_of(context, library)
        function = declare(context, builder.module, descriptor, library)
        if library.raises:
            status, returned = convention.call_function(
                builder, function, descriptor.restype, descriptor.argtypes, arguments
            )
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            returned = fix_returning_optional(context, builder, signature, status, returned)
        else:
            returned = _call_safely(convention, builder, function, descriptor, arguments)
        return impl_ret_new_ref(context, builder, descriptor.restype, returned)

    make: Any = lower
    make.signature, make.libs = descriptor.argtypes, (library,)
    return lower


def _call_safely(convention: Any, builder: Any, function: Any, descriptor: Any, arguments: Any) -> Any:
    """Call a function that never raises."""
    passed = convention._get_arg_packer(descriptor.argtypes).as_arguments(builder, arguments)
    no_error = ir.Constant(ir.PointerType(ir.PointerType(excinfo_t)), None)
    out = cgutils.alloca_once(builder, function.function_type.args[0].pointee)
    builder.call(function, [out, no_error, *passed])
    return convention.context.get_returned_value(builder, descriptor.restype, builder.load(out))


def never_raises(function: Any) -> bool:
    """Tell whether a lowered function always returns successfully."""
    for block in function.blocks:
        end = block.terminator
        if end is not None and end.opname == "ret":
            code = end.operands[0]
            if not isinstance(code, ir.Constant) or code.constant != RETCODE_OK.constant:
                return False
    return True
