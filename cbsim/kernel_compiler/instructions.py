"""Lowering of functions to LLVM IR, with fewer instructions than numba's for what kernels do most.

numba keeps a variable that is used in several blocks in memory, and copies an array's descriptor to memory for each
element that is read or written. LLVM finds all of that superfluous, but building, printing and reading it takes longer
than the optimisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from llvmlite.ir import Aggregate, Constant, FunctionType, IntType, Undefined, VoidType
from numba.core import cgutils, errors, ir, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.imputils import impl_ret_borrowed
from numba.core.lowering import Lower
from numba.np.arrayobj import load_item, store_item

from cbsim.kernel_compiler.builder import KernelBuilder
from cbsim.kernel_compiler.calls import (
    DATA,
    ITEM_SIZE,
    ITEMS,
    MEMORY,
    PARENT,
    SHAPE,
    STRIDES,
    convention_of,
    declare,
    never_raises,
    owns,
    returns_as_is,
)
from cbsim.kernel_compiler.codegen import lasting_name
from cbsim.kernel_compiler.extremes import is_in_place, lower_in_place
from cbsim.kernel_compiler.kept import counted_parts, parts_of_index
from cbsim.kernel_compiler.loops import Loops
from cbsim.kernel_compiler.target import CHECKS_INDICES
from cbsim.kernel_compiler.variables import assignments_and_uses, index_tuples

__all__ = ["DeviceLower", "KernelLower", "SharedLower"]

SCALARS = (types.Number, types.Boolean)
WORD, BYTES, STDERR = IntType(32), IntType(8).as_pointer(), 2


class KernelLower(Lower):
    """Lowers a function."""

    _disable_sroa_like_opt = False  # numba asks the compiler flags for each variable whether there is debug information

    _loops: Any = None  # loops in place, once variables are known

    def lower_block(self, block: Any) -> None:
        """Lower a block; numba prepares the message of an error before each statement."""
        self.pre_block(block)
        for statement in block.body:
            self.loc = statement.loc
            try:
                self.lower_inst(statement)
            except Exception:
                add_place: Any = errors.new_error_context  # type: ignore[attr-defined]
                made = partial(errors.LoweringError, loc=statement.loc)
                with add_place('lowering "{inst}" at {loc}', inst=statement, loc=statement.loc, errcls_=made):
                    raise
        self.post_block(block)

    def setup_function(self, fndesc: Any) -> None:
        """Declare the function, and open its first block."""
        super().setup_function(fndesc)
        self._open()

    def lower_normal_function(self, fndesc: Any) -> None:
        """Lower the function; then break cycles of references: the garbage collector would take longer to find them."""
        super().lower_normal_function(fndesc)
        builder: Any = self.builder
        builder.forget()
        self._loops = None
        for table in (self.varmap, self._blk_local_varmap, self._indices):
            table.clear()

    def _open(self) -> None:
        self.builder = KernelBuilder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    def _find_singly_assigned_variable(self) -> None:
        """Find variables that need no memory: assigned once, where each use is certain to come after."""
        super()._find_singly_assigned_variable()
        self._parts: dict[str, tuple[tuple[int, ...], ...]] = {}
        self._uncounted_names: dict[str, bool] = {}
        self._only_indices: set[str] = set()
        self._indices: dict[str, Sequence[Any]] = {}
        self._loops = None
        if self.func_ir.func_id.is_generator:
            return
        assigned, used = assignments_and_uses(self.blocks)
        self._counting, self._uncounted = self.context, self.context.subtarget(enable_nrt=False)
        self._parts = counted_parts(self, {name for name, blocks in assigned.items() if len(blocks) == 1})
        dominators = compute_cfg_from_blocks(self.blocks).dominators()
        for name, (block, *others) in assigned.items():
            if (
                not others
                and self._counts_nothing(name)
                and all(each == block or (each > block and block in dominators.get(each, ())) for each in used[name])
            ):
                self._singly_assigned_vars.add(name)
        self._loops = Loops(self, self._singly_assigned_vars)
        self._only_indices = {
            name
            for name, uses in index_tuples(self.blocks).items()
            if name in self._singly_assigned_vars and all(self._is_element(*use, name) for use in uses)
        }

    def _counts_nothing(self, name: str) -> bool:
        """Tell whether deleting a variable does nothing; numba deletes some twice, and clears them in memory."""
        if name not in self._uncounted_names:
            is_kept = self._parts.get(name) == ()
            nothing = not self.context.enable_nrt or is_kept or not owns(self.context, self.typeof(name))
            self._uncounted_names[name] = nothing
        return self._uncounted_names[name]

    def lower_inst(self, inst: Any) -> None:
        """Lower a statement; where the caller keeps the arrays that it makes, count no references."""
        if isinstance(inst, ir.Del):
            self.delvar(inst.value)
        elif not isinstance(inst, ir.Assign):
            super().lower_inst(inst)
        elif inst.target.name not in self._parts:
            self._assign(inst)
        else:
            self.context = self._uncounted
            try:
                self._assign(inst)
            finally:
                self.context = self._counting

    def _assign(self, statement: ir.Assign) -> None:
        """Lower an assignment as numba does, which also formats each as a message for debugging."""
        name, value = statement.target.name, statement.value
        made = self.lower_assign(self.typeof(name), statement)
        self._count(name, made, True)
        self.storevar(made, name, argidx=value.index + 1 if isinstance(value, ir.Arg) else None)

    def _count(self, name: str, value: Any, more: bool) -> None:
        """Count references to the parts of a variable that its caller doesn't keep."""
        for path in self._parts.get(name, ()):
            kind = self.typeof(name)
            for field in path:
                kind = kind.types[field]
            change = self._counting.nrt.incref if more else self._counting.nrt.decref
            change(self.builder, kind, self.builder.extract_value(value, path))

    def loadvar(self, name: str) -> Any:
        """Load a variable."""
        if name in self._blk_local_varmap:
            return self._blk_local_varmap[name]
        return self.builder.load(self.getvar(name))

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store a variable; only where references are counted is the value looked at that it had before."""
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        elif self._counts_nothing(name):
            self.builder.store(value, self.getvar(name))
        elif name in self._parts:
            self._count(name, self.builder.load(self.getvar(name)), False)
            self.builder.store(value, self.getvar(name))
        else:
            super().storevar(value, name, argidx)

    def _lower_call_RecursiveCall(self, fnty: Any, expr: Any, signature: Any) -> Any:  # noqa: N802
        """Refuse recursion, whose calls numba lowers by its own convention; plain numba compiles such kernels."""
        raise NotImplementedError("a kernel calls itself")

    def delvar(self, name: str) -> None:
        """Delete a variable: numba clears those in memory, too, that own none."""
        if self._counts_nothing(name):
            return
        if name not in self._parts:
            super().delvar(name)
        elif name in self._blk_local_varmap:
            self._count(name, self._blk_local_varmap[name], False)
        else:
            self._singly_assigned_vars.discard(name)
            place = self.getvar(name)
            self._count(name, self.builder.load(place), False)
            self.builder.store(Constant(place.type.pointee, None), place)

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        """Lower an assignment; of a tuple that only selects elements, keep the values."""
        name = inst.target.name
        part = None if self._loops is None else self._loops.lower(name, inst.value)
        if part is not None:
            return part
        if name not in self._only_indices:
            return super().lower_assign(ty, inst)
        items = inst.value.items
        values = [
            self.context.cast(self.builder, self.loadvar(each.name), self.typeof(each.name), kind)
            for each, kind in zip(items, ty.types, strict=True)
        ]
        self._indices[name] = values
        return Constant(self.context.get_value_type(ty), Undefined)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Lower an expression; take a part of a pair directly."""
        if expr.op in ("pair_first", "pair_second") and not owns(self.context, resty):
            return self.builder.extract_value(self.loadvar(expr.value.name), (int(expr.op == "pair_second"),))
        return super().lower_expr(resty, expr)

    def _lower_call_normal(self, fnty: Any, expr: Any, signature: Any) -> Any:
        """Lower a call; of ``min``, ``max`` and ``int`` of numbers, in place."""
        kinds = [self.typeof(each.name) for each in expr.args]
        if expr.kws or expr.vararg is not None or not is_in_place(fnty, kinds):
            return super()._lower_call_normal(fnty, expr, signature)
        context, builder = self.context, self.builder
        values = [
            context.cast(builder, self.loadvar(each.name), kind, given)
            for each, kind, given in zip(expr.args, kinds, signature.args, strict=True)
        ]
        return lower_in_place(context, builder, fnty, signature, values)

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Allocate memory for a variable; numba's is cleared first, as references to what it holds are counted."""
        if not self._counts_nothing(name):
            return super().alloca_lltype(name, lltype, datamodel)
        with self.builder.goto_entry_block():
            return self.builder.alloca(lltype, name=name)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Read an element of an array, or view a row of it."""
        if self._is_element(value.name, None, index.name):
            kind = self.typeof(value.name)
            element = load_item(self.context, self.builder, kind, self._place(value.name, index.name))
            return self.context.cast(self.builder, element, kind.dtype, resty)
        if self._is_row(value.name, index.name, resty):
            return self._row(value.name, index.name, resty)
        return super().lower_getitem(resty, expr, value, index, signature)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Write an element of an array."""
        if not self._is_element(target_var.name, value_var.name, index_var.name):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        kind, given = self.typeof(target_var.name), self.typeof(value_var.name)
        value = self.context.cast(self.builder, self.loadvar(value_var.name), given, signature.args[2])
        value = self.context.cast(self.builder, value, signature.args[2], kind.dtype)
        return store_item(self.context, self.builder, kind, value, self._place(target_var.name, index_var.name))

    def _is_element(self, array: str, value: str | None, index: str) -> bool:
        """Tell whether a statement reads, or writes a value to, one number in an array."""
        kind = self.typeof(array)
        return (
            self._are_numbers(array, index)
            and kind.ndim == len(parts_of_index(self.typeof(index)))
            and isinstance(kind.dtype, SCALARS)
            and (value is None or isinstance(self.typeof(value), SCALARS))
        )

    def _is_row(self, array: str, index: str, view: Any) -> bool:
        """Tell whether a statement selects a part of an array by numbers, for its first axes."""
        return self._are_numbers(array, index) and type(view) is types.Array and view.layout in "CA"

    def _are_numbers(self, array: str, index: str) -> bool:
        """Tell whether an array, as kernels have them, is indexed by whole numbers alone."""
        kind = self.typeof(array)
        return (
            type(kind) is types.Array
            and kind.layout in "CA"
            and kind.aligned
            and all(isinstance(each, types.Integer) for each in parts_of_index(self.typeof(index)))
        )

    def _place(self, array: str, index: str) -> Any:
        """Point to an element of an array, or to the begin of a row."""
        kind, kinds = self.typeof(array), parts_of_index(self.typeof(index))
        builder, descriptor, indices = self.builder, self.loadvar(array), self._indices.get(index)
        if indices is None:
            given = self.loadvar(index)
            indices = cgutils.unpack_tuple(builder, given) if isinstance(given.type, Aggregate) else [given]

        def size(axis: int) -> Any:
            return builder.extract_value(descriptor, (SHAPE, axis))

        whole = [self._whole(each, kinds[axis], size, axis) for axis, each in enumerate(indices)]
        data = builder.extract_value(descriptor, (DATA,))
        if kind.layout == "A":
            steps = [builder.mul(builder.extract_value(descriptor, (STRIDES, n)), each) for n, each in enumerate(whole)]
            return cgutils.pointer_add(builder, data, _total(builder, steps))
        terms = [*whole]
        for axis in range(min(len(whole), kind.ndim - 1)):
            step = size(axis + 1)
            for other in range(axis + 2, kind.ndim):
                step = builder.mul(step, size(other))
            terms[axis] = builder.mul(whole[axis], step)
        return builder.gep(data, [_total(builder, terms)])

    def _row(self, array: str, index: str, view: Any) -> Any:
        """View the part of an array behind its first axes."""
        builder, descriptor, place = self.builder, self.loadvar(array), self._place(array, index)
        first = self.typeof(array).ndim - view.ndim
        made, items = Constant(self.context.get_value_type(view), Undefined), None
        for axis in range(view.ndim):
            length = builder.extract_value(descriptor, (SHAPE, first + axis))
            stride = builder.extract_value(descriptor, (STRIDES, first + axis))
            made = builder.insert_value(builder.insert_value(made, length, (SHAPE, axis)), stride, (STRIDES, axis))
            items = length if items is None else builder.mul(items, length)
        for field in (MEMORY, PARENT, ITEM_SIZE):
            made = builder.insert_value(made, builder.extract_value(descriptor, (field,)), (field,))
        made = builder.insert_value(builder.insert_value(made, items, (ITEMS,)), place, (DATA,))
        return impl_ret_borrowed(self.context, builder, view, made)

    def _whole(self, index: Any, kind: Any, size: Any, axis: int) -> Any:
        """Convert an index; a negative constant counts from the end, and nothing else may be negative."""
        builder = self.builder
        if not kind.signed:
            index = self.context.cast(builder, index, kind, types.uintp)
        else:
            index = self.context.cast(builder, index, kind, types.intp)
            if isinstance(index, Constant) and isinstance(index.constant, int) and index.constant < 0:
                index = builder.add(index, size(axis))
        if CHECKS_INDICES:
            self._check(index, size(axis))
        return index

    def _check(self, index: Any, size: Any) -> None:
        """End the process with a message if an index is out of range."""
        builder, line = self.builder, cast(ir.Loc, self.loc)
        with builder.if_then(builder.icmp_unsigned(">=", index, size), likely=False):
            text = f"{line.filename}:{line.line}: error: index %lld, expected 0 to less than %lld\n\0"
            kind = FunctionType(WORD, [WORD, BYTES], var_arg=True)
            show = cgutils.get_or_insert_function(builder.module, kind, "dprintf")
            message = cgutils.global_constant(builder, "outside", cgutils.make_bytearray(text.encode()))
            place = builder.bitcast(message, BYTES)
            builder.call(show, [WORD(STDERR), place, index, size])
            stop = cgutils.get_or_insert_function(builder.module, FunctionType(VoidType(), []), "abort")
            builder.call(stop, [])


class DeviceLower(KernelLower):
    """Lowers a device function."""

    def setup_function(self, fndesc: Any) -> None:
        """Declare the function."""
        made = declare(self.context, self.module, fndesc, self.library)
        convention_of(self.context, self.library).decorate_function(made, fndesc.args, fndesc.argtypes)
        if fndesc.inline:
            made.attributes.add("alwaysinline")
        self.function = made
        self.entry_block = made.append_basic_block("entry")
        self._open()

    def extract_function_arguments(self) -> Any:
        """Take the arguments."""
        convention = convention_of(self.context, self.library)
        self.fnargs = convention.decode_arguments(self.builder, self.fndesc.argtypes, self.function)
        return self.fnargs

    def lower_inst(self, inst: Any) -> None:
        """Lower a statement; return values as they are where numba would take them apart and make them anew."""
        if isinstance(inst, ir.Return) and returns_as_is(self.context, self.fndesc.restype):
            self.call_conv.return_value(self.builder, self.loadvar(inst.value.name))
        else:
            super().lower_inst(inst)

    def lower_normal_function(self, fndesc: Any) -> None:
        """Lower the function, and note whether it can raise."""
        super().lower_normal_function(fndesc)
        self.library.raises = not never_raises(self.function)


class SharedLower(DeviceLower):
    """Lowers a shared device function."""

    def setup_function(self, fndesc: Any) -> None:
        """Declare the function by a name that callers in other processes know too."""
        fndesc.mangled_name = lasting_name(fndesc)
        super().setup_function(fndesc)


def _total(builder: Any, terms: Sequence[Any]) -> Any:
    total, *rest = terms
    for each in rest:
        total = builder.add(total, each)
    return total
