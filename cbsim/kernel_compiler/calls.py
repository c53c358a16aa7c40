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
from numba.core.datamodel.packer import ArgPacker, _flatten, _Unflattener
from numba.core.datamodel.registry import default_manager
from numba.core.imputils import fix_returning_optional, impl_ret_new_ref

from cbsim.kernel_compiler.rows import rows_of

__all__ = [
    "DATA",
    "ITEMS",
    "ITEM_SIZE",
    "MEMORY",
    "PARENT",
    "SHAPE",
    "STRIDES",
    "callable_by_kernels",
    "convention_of",
    "declare",
    "never_raises",
    "owns",
    "returns_as_is",
]

MEMORY, PARENT, ITEMS, ITEM_SIZE, DATA, SHAPE, STRIDES = range(7)  # fields of numba's arrays


def owns(context: Any, kind: types.Type) -> bool:
    """Tell whether values of a type own reference-counted memory."""
    return bool(context.data_model_manager[kind].contains_nrt_meminfo())


class BorrowedArrayModel(ArrayModel):
    """An array whose memory the caller keeps: pointer and shape, and strides where they do not follow from it.

    Parameters
    ----------
    row : tuple of int
        Lengths of the axes behind the first, if they are constants.
    """

    counted = False

    def __init__(self, manager: Any, kind: types.Array, row: tuple[int, ...] = ()) -> None:
        super().__init__(manager, kind)
        self._dimensions = kind.ndim
        self._packed = kind.layout == "C"
        self._row = row if len(row) == kind.ndim - 1 else ()
        fields = [] if self._packed else [(STRIDES, axis) for axis in range(kind.ndim)]
        lengths = [(SHAPE, axis) for axis in range(kind.ndim - len(self._row))]
        self._passed = [*([(MEMORY,)] if self.counted else []), (DATA,), *lengths, *fields]

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
        for length in self._row:
            made = builder.insert_value(made, shape[0].type(length), (SHAPE, len(shape)))
            shape.append(shape[0].type(length))
        if not shape:
            return made
        items = shape[-1]
        for axis in range(self._dimensions - 2, -1, -1):
            if self._packed:
                stride = _product(builder, items, items.type(self._item_size(builder.module)))
                made = builder.insert_value(made, stride, (STRIDES, axis))
            items = _product(builder, items, shape[axis])
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


def _product(builder: Any, one: Any, two: Any) -> Any:
    """Multiply, constants at once."""
    if isinstance(one, ir.Constant) and isinstance(two, ir.Constant):
        return one.type(one.constant * two.constant)
    return builder.mul(one, two)


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


class PartOfTuple:
    """A tuple of which only some fields are passed; the others are undefined.

    Parameters
    ----------
    manager : DataModelManager
    kind : BaseTuple
    usage : tuple
        Fields that are passed.
    """

    def __init__(self, manager: Any, kind: Any, usage: Any) -> None:
        self._blank = _blank(manager, kind)
        is_named = isinstance(kind, types.BaseNamedTuple)
        rows = rows_of(kind.instance_class) if is_named else ((),) * len(kind.types)
        self._fields = [(field, _model_of(manager, kind.types[field], used, rows[field])) for field, used in usage]

    def get_argument_type(self) -> tuple[Any, ...]:
        """Return the types of the arguments."""
        return tuple(model.get_argument_type() for _, model in self._fields)

    def as_argument(self, builder: Any, value: Any) -> tuple[Any, ...]:
        """Take the arguments from a tuple."""
        return tuple(model.as_argument(builder, builder.extract_value(value, (k,))) for k, model in self._fields)

    def from_argument(self, builder: Any, value: Any) -> Any:
        """Make the tuple from the arguments."""
        made = self._blank
        for (field, model), each in zip(self._fields, value, strict=True):
            made = builder.insert_value(made, model.from_argument(builder, each), (field,))
        return made


def _blank(manager: Any, kind: Any) -> ir.Constant:
    """Return an undefined value in which no memory is owned, so that references to it may be counted."""
    whole = manager[kind].get_value_type()
    if isinstance(kind, types.BaseTuple) and len(kind):
        return ir.Constant(whole, [_blank(manager, each) for each in kind.types])  # type: ignore[attr-defined]
    if isinstance(kind, types.Array):
        fields = whole.elements
        return ir.Constant(
            whole, [ir.Constant(each, None if k == MEMORY else ir.Undefined) for k, each in enumerate(fields)]
        )
    return ir.Constant(whole, ir.Undefined)


def _model_of(manager: Any, kind: types.Type, usage: Any, row: tuple[int, ...] = ()) -> Any:
    """Return the model of an argument of which some fields are used, as `fields_used` has them."""
    if usage is not None:
        return PartOfTuple(manager, kind, usage)
    return type(manager[kind])(manager, kind, row) if row and isinstance(kind, types.Array) else manager[kind]


class PartialPacker(ArgPacker):
    """numba's list of the arguments of a function, without fields of tuples that it does not use."""

    def __init__(self, manager: Any, kinds: Any, usage: Any) -> None:
        self._nargs = len(kinds)
        used = usage or (None,) * len(kinds)
        self._dm_args = [_model_of(manager, kind, each) for kind, each in zip(kinds, used, strict=True)]
        passed = [model.get_argument_type() for model in self._dm_args]
        self._unflattener, self._be_args = _Unflattener(passed), list(_flatten(passed))


class DeviceConvention(CPUCallConv):
    """numba's calling convention, with arrays that are passed as `BorrowedArrayModel` or `CountedArrayModel`."""

    def __init__(self, context: Any, library: Any) -> None:
        super().__init__(context)
        self._library = library

    def _get_arg_packer(self, kinds: Any) -> ArgPacker:
        library = self._library
        if library.packer is None:  # a library is of one function, for one list of types
            library.packer = PartialPacker(_models(library.counts), kinds, library.usage)
        packer: ArgPacker = library.packer
        return packer


def convention_of(context: Any, library: Any) -> DeviceConvention:
    """Return the convention of a device function: reference counts are passed to those that return memory."""
    return DeviceConvention(context, library)


def declare(context: Any, module: Any, descriptor: Any, library: Any) -> Any:
    """Declare a device function in a module."""
    kind = convention_of(context, library).get_function_type(descriptor.restype, descriptor.argtypes)
    return cgutils.get_or_insert_function(module, kind, descriptor.mangled_name)


def call_of(descriptor: Any, library: Any) -> Callable[..., Any]:
    """Make the function that lowers calls of a device function."""
    as_is: bool | None = None  # known after the first call: comparing types of large tuples takes longer than a call

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        nonlocal as_is
        if as_is is None:
            as_is = returns_as_is(context, descriptor.restype)
        convention = convention_of(context, library)
        function = declare(context, builder.module, descriptor, library)
        passed = convention._get_arg_packer(descriptor.argtypes).as_arguments(builder, arguments)
        out = _room(builder, function.function_type.args[0].pointee)
        error = ir.PointerType(excinfo_t)
        if library.raises:
            reason = cgutils.alloca_once(builder, error)
            code = builder.call(function, [out, reason, *passed])
            status = convention._get_return_status(builder, code, builder.load(reason))
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            returned = _returned(context, builder, descriptor.restype, out, as_is)
            returned = fix_returning_optional(context, builder, signature, status, returned)
        else:
            builder.call(function, [out, ir.Constant(ir.PointerType(error), None), *passed])
            returned = _returned(context, builder, descriptor.restype, out, as_is)
        return impl_ret_new_ref(context, builder, descriptor.restype, returned)

    make: Any = lower
    make.signature, make.libs = descriptor.argtypes, (library,)
    return lower


def callable_by_kernels(context: Any, descriptor: Any, library: Any) -> object:
    """Register how calls of a device function are lowered; return what stands in for the address that it lacks."""
    key, implementation = object(), call_of(descriptor, library)
    context._defns[key].append(implementation, implementation.signature)  # type: ignore[attr-defined]
    return key


def _room(builder: Any, kind: Any) -> Any:
    """Allocate memory for what a function returns; numba's is cleared first, field by field."""
    with builder.goto_entry_block():
        return builder.alloca(kind)


def _returned(context: Any, builder: Any, kind: types.Type, out: Any, as_is: bool) -> Any:
    """Load what a function returned."""
    returned = builder.load(out)
    return returned if as_is else context.get_returned_value(builder, kind, returned)


def returns_as_is(context: Any, kind: types.Type) -> bool:
    """Tell whether a value is returned as it is used: numba takes tuples of arrays apart and makes them anew."""
    model = context.data_model_manager[kind]
    return not isinstance(kind, types.Optional) and bool(model.get_value_type() == model.get_return_type())


def never_raises(function: Any) -> bool:
    """Tell whether a lowered function always returns successfully."""
    for block in function.blocks:
        end = block.terminator
        if end is not None and end.opname == "ret":
            code = end.operands[0]
            if not isinstance(code, ir.Constant) or code.constant != RETCODE_OK.constant:
                return False
    return True
