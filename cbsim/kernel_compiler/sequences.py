"""Ranges and views of arrays, in fewer instructions than numba's.

numba makes ranges, slices and iterators in memory and tests at run time whether their step is zero or negative, which
takes a hundred instructions for each loop or view. LLVM drops most of them, but not for nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from llvmlite.ir import Constant, Undefined
from numba.core import cgutils, types

from cbsim.kernel_compiler.calls import DATA, ITEM_SIZE, ITEMS, MEMORY, PARENT, SHAPE, STRIDES

__all__ = [
    "RANGE_ITEM",
    "has_step_one",
    "iterator_of",
    "next_of",
    "range_of",
    "row_of",
    "slice_of",
    "sliced",
]

RANGE_ITEM = types.Pair(types.int64, types.boolean)
"""Type of what a loop over a range gets from its iterator."""
STEP = 2  # field of ranges and slices
INDEX = types.intp


def _made_of(context: Any, builder: Any, kind: types.Type, fields: Sequence[Any]) -> Any:
    """Make a value of its fields."""
    made = Constant(context.get_value_type(kind), Undefined)
    for number, field in enumerate(fields):
        made = builder.insert_value(made, field, number)
    return made


def range_of(context: Any, builder: Any, *ends: Any) -> Any:
    """Make a range of step one."""
    start, stop = ends if len(ends) > 1 else (ends[0].type(0), ends[0])
    return _made_of(context, builder, types.range_state64_type, (start, stop, stop.type(1)))


def has_step_one(builder: Any, value: Any) -> bool:
    """Tell whether a range or a slice is known to have step one."""
    step = builder.extract_value(value, STEP)
    return isinstance(step, Constant) and bool(step.constant == 1)


def iterator_of(context: Any, builder: Any, value: Any) -> Any:
    """Make the iterator of a range of step one: memory of the next value, stop, step, memory of how many remain."""
    start, stop, step = (builder.extract_value(value, field) for field in range(3))
    zero, difference = start.type(0), builder.sub(stop, start)
    count = builder.select(builder.icmp_signed(">", difference, zero), difference, zero)
    place, remaining = (cgutils.alloca_once(builder, start.type) for _ in range(2))
    builder.store(start, place)
    builder.store(count, remaining)
    return _made_of(context, builder, types.range_iter64_type, (place, stop, step, remaining))


def next_of(context: Any, builder: Any, iterator: Any) -> Any:
    """Make the pair of the next value of a range and of whether there is one."""
    place, step, remaining = (builder.extract_value(iterator, field) for field in (0, STEP, 3))
    count, value = builder.load(remaining), builder.load(place)
    is_valid = builder.icmp_signed(">", count, count.type(0))
    with builder.if_then(is_valid):
        builder.store(builder.sub(count, count.type(1), flags=["nsw"]), remaining)
        builder.store(builder.add(value, step), place)
    return _made_of(context, builder, RANGE_ITEM, (value, is_valid))


def slice_of(context: Any, builder: Any, start: Any, stop: Any) -> Any:
    """Make a slice of step one; None stands for an end of the sequence."""
    kind = context.get_value_type(INDEX)
    start = kind(0) if start is None else start
    stop = kind(sys.maxsize) if stop is None else stop
    return _made_of(context, builder, types.slice2_type, (start, stop, kind(1)))


def sliced(context: Any, builder: Any, kind: types.Array, array: Any, which: Any) -> Any:
    """Make the view of a contiguous array that a slice of step one selects along the first axis."""
    sizes = [builder.extract_value(array, (SHAPE, axis)) for axis in range(kind.ndim)]
    start, stop = (_clamped(builder, builder.extract_value(which, field), sizes[0]) for field in range(2))
    length = builder.sub(stop, start)
    length = builder.select(builder.icmp_signed("<=", length, length.type(0)), length.type(0), length)
    row = _product(builder, sizes[1:])
    data = builder.gep(builder.extract_value(array, DATA), [_times(builder, start, row)])
    made = builder.insert_value(array, data, DATA)
    made = builder.insert_value(made, length, (SHAPE, 0))
    made = builder.insert_value(made, _times(builder, length, row), ITEMS)
    return _counted(context, builder, kind, made)


def row_of(context: Any, builder: Any, kind: types.Array, row: types.Array, array: Any, index: Any) -> Any:
    """Make the view of a row of a contiguous array of two or more axes."""
    axes = range(1, kind.ndim)
    sizes = [builder.extract_value(array, (SHAPE, axis)) for axis in axes]
    items = _product(builder, sizes)
    made = Constant(context.get_value_type(row), Undefined)
    for field in (MEMORY, PARENT, ITEM_SIZE):
        made = builder.insert_value(made, builder.extract_value(array, field), field)
    made = builder.insert_value(made, items, ITEMS)
    made = builder.insert_value(
        made, builder.gep(builder.extract_value(array, DATA), [builder.mul(index, items)]), DATA
    )
    for axis in axes:
        made = builder.insert_value(made, sizes[axis - 1], (SHAPE, axis - 1))
        made = builder.insert_value(made, builder.extract_value(array, (STRIDES, axis)), (STRIDES, axis - 1))
    return _counted(context, builder, row, made)


def _clamped(builder: Any, bound: Any, size: Any) -> Any:
    """Make a bound of a slice one within the array."""
    zero = size.type(0)
    if isinstance(bound, Constant) and bound.constant == 0:
        return zero
    if isinstance(bound, Constant) and bound.constant == sys.maxsize:
        return size
    if not (isinstance(bound, Constant) and bound.constant > 0):
        wrapped = builder.add(bound, size)
        bound = builder.select(builder.icmp_signed("<", bound, zero), wrapped, bound)
        bound = builder.select(builder.icmp_signed("<", bound, zero), zero, bound)
    return builder.select(builder.icmp_signed(">=", bound, size), size, bound)


def _product(builder: Any, sizes: Sequence[Any]) -> Any:
    """Multiply sizes; None if there are none."""
    product = None
    for size in reversed(sizes):
        product = _times(builder, size, product)
    return product


def _times(builder: Any, one: Any, other: Any) -> Any:
    return one if other is None else builder.mul(one, other)


def _counted(context: Any, builder: Any, kind: types.Type, view: Any) -> Any:
    if context.enable_nrt:
        context.nrt.incref(builder, kind, view)
    return view
