"""Instructions that Python does not have, for kernels: products of words, bit patterns, views, and loads ahead."""

from __future__ import annotations

import math
from typing import Any

from numba.core import config

__all__ = ["bits_of", "block_view", "float_of", "multiply_high", "prefetch"]

if config.DISABLE_JIT:  # type: ignore[attr-defined]
    import numpy as np

    def multiply_high(one: Any, two: Any) -> Any:
        """Return the upper 64 bits of the product of two unsigned 64-bit integers."""
        return np.uint64((int(one) * int(two)) >> 64)

    def bits_of(number: Any) -> Any:
        """Return the bit pattern of a float64."""
        return np.float64(number).view(np.uint64)

    def float_of(bits: Any) -> Any:
        """Return the float64 with a given bit pattern."""
        return np.uint64(bits).view(np.float64)

    def prefetch(array: Any, row: Any) -> None:
        """Load the line of the cache in which a row of an array begins, ahead of its use."""

    def block_view(block: Any, begin: Any, shape: Any) -> Any:
        """View a part of a flat array as an array of some shape."""
        return block[begin : begin + math.prod(shape)].reshape(shape)

else:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.core.imputils import impl_ret_borrowed
    from numba.extending import intrinsic

    unpacked: Any = cgutils.unpack_tuple
    WORD, WIDE, REAL = ir.IntType(64), ir.IntType(128), ir.DoubleType()
    PLACE, FLAG = ir.IntType(8).as_pointer(), ir.IntType(32)
    TO_READ = [ir.Constant(FLAG, value) for value in (0, 3, 1)]  # read, keep, data
    PREFETCH = ir.FunctionType(ir.VoidType(), (PLACE, FLAG, FLAG, FLAG))

    @intrinsic
    def multiply_high(_context: Any, _one: Any, _two: Any) -> Any:
        """Return the upper 64 bits of the product of two unsigned 64-bit integers; compiles to one instruction."""

        def build(_: Any, builder: Any, __: Any, values: Any) -> Any:
            one, two = (builder.zext(value, WIDE) for value in values)
            return builder.trunc(builder.lshr(builder.mul(one, two), WIDE(64)), WORD)

        return types.uint64(types.uint64, types.uint64), build

    @intrinsic
    def bits_of(_context: Any, _number: Any) -> Any:
        """Return the bit pattern of a float64."""
        return types.uint64(types.float64), lambda _, builder, __, values: builder.bitcast(values[0], WORD)

    @intrinsic
    def float_of(_context: Any, _bits: Any) -> Any:
        """Return the float64 with a given bit pattern."""
        return types.float64(types.uint64), lambda _, builder, __, values: builder.bitcast(values[0], REAL)

    @intrinsic
    def block_view(_context: Any, block: Any, begin: Any, shape: Any) -> Any:
        """View a part of a flat array as an array of some shape, without looking whether it fits.

        A slice that is reshaped does the same in ten times the code: it clamps both ends, and it may raise.
        """
        kind = types.Array(block.dtype, len(shape), "C", readonly=not block.mutable)

        def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            whole = context.get_value_type(signature.return_type)
            cast, known = context.cast, builder.extract_value
            place = cast(builder, values[1], signature.args[1], types.intp)
            sizes = [
                cast(builder, each, item, types.intp)
                for each, item in zip(unpacked(builder, values[2]), signature.args[2].types, strict=True)
            ]
            # fields of numba's arrays: memory, parent, number of items, size of one [bytes], data, shape, strides
            parts: list[Any] = [known(values[0], k) for k in range(len(whole.elements) - 2)]  # as in the flat array
            parts[4] = builder.gep(parts[4], [place])
            strides, items = [parts[3]], sizes[-1]
            for size in reversed(sizes[:-1]):
                strides.insert(0, builder.mul(items, parts[3]))
                items = builder.mul(items, size)
            parts[2] = items
            made = ir.Constant(whole, ir.Undefined)
            for k, part in enumerate(parts):
                made = builder.insert_value(made, part, k)
            for k, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
                made = builder.insert_value(builder.insert_value(made, size, (5, k)), stride, (6, k))
            return impl_ret_borrowed(context, builder, signature.return_type, made)

        return kind(block, begin, shape), build

    @intrinsic
    def prefetch(_context: Any, array: Any, _row: Any) -> Any:
        """Load the line of the cache in which a row of an array begins, ahead of its use; any row will do."""

        def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            table = context.make_array(signature.args[0])(context, builder, values[0])
            step = builder.mul(values[1], builder.extract_value(table.strides, 0))
            place = builder.inttoptr(builder.add(builder.ptrtoint(table.data, WORD), step), PLACE)
            hint = builder.module.declare_intrinsic("llvm.prefetch", (PLACE,), PREFETCH)
            builder.call(hint, [place, *TO_READ])
            return context.get_dummy_value()

        return types.void(array, types.int64), build
