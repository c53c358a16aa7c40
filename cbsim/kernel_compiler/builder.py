"""Builder of LLVM IR that leaves out what nothing uses."""

from __future__ import annotations

from typing import Any

from llvmlite.ir import IRBuilder
from llvmlite.ir.instructions import InsertValue, Instruction, PhiInstr

__all__ = ["KernelBuilder"]


class KernelBuilder(IRBuilder):
    """Builder of instructions that takes a field from where it was put in, and otherwise once in each block.

    Descriptors of arrays are made whole, and of most only a field or two is taken. So an instruction that puts a field
    in, or multiplies, as strides are found, comes into its block when another one uses it, and otherwise never.
    """

    def __init__(self, block: Any) -> None:
        super().__init__(block)
        self._fields: dict[tuple[int, int, tuple[int, ...]], tuple[Any, Any]] = {}
        self._waiting: dict[int, tuple[int, Any]] = {}  # identity of an instruction → how many came before, itself
        self._count = 0

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        """Take a field from an aggregate."""
        path = tuple(idx) if isinstance(idx, (list, tuple)) else (idx,)
        while isinstance(agg, InsertValue):
            put = tuple(agg.indices)
            if put == path[: len(put)]:
                agg, path = agg.operands[1], path[len(put) :]
                if not path:
                    return agg
            elif path == put[: len(path)]:
                break
            else:
                agg = agg.operands[0]
        key = (id(self.block), id(agg), path)
        if key not in self._fields:
            self._fields[key] = super().extract_value(agg, path, name), agg
        return self._fields[key][0]

    def insert_value(self, agg: Any, value: Any, idx: Any, name: str = "") -> Any:
        """Put a field into an aggregate."""
        path = idx if isinstance(idx, (list, tuple)) else [idx]
        return self._wait(InsertValue(self.block, agg, value, path, name=name))

    def mul(self, lhs: Any, rhs: Any, name: str = "", flags: Any = ()) -> Any:
        """Multiply whole numbers."""
        return self._wait(Instruction(self.block, lhs.type, "mul", (lhs, rhs), name, flags))

    def phi(self, typ: Any, name: str = "", flags: Any = ()) -> Any:
        """Choose a value by the block before."""
        made = _Phi(self, typ, name, flags)
        self._insert(made)
        return made

    def place(self, value: Any) -> None:
        """Insert an instruction that waits, and those that it uses, where they were made."""
        found, todo = [], [value]
        while todo:
            waiting = self._waiting.pop(id(todo.pop()), None)
            if waiting is not None:
                found.append(waiting)
                todo += waiting[1].operands
        for _, each in sorted(found, key=lambda waiting: waiting[0]):
            if each.parent is self._block:
                super()._insert(each)
                continue
            place = self._block, self._anchor
            with self.goto_block(each.parent):
                super()._insert(each)
            self._block, self._anchor = place

    def forget(self) -> None:
        """Break the cycles by which instructions hold one another, when the function is complete."""
        self._fields.clear()
        self._waiting.clear()

    def _wait(self, made: Any) -> Any:
        self._count += 1
        self._waiting[id(made)] = self._count, made
        return made

    def _insert(self, instr: Any) -> None:
        for each in instr.operands:
            if id(each) in self._waiting:
                self.place(each)
        super()._insert(instr)


class _Phi(PhiInstr):
    """A choice among values that may wait to be inserted."""

    def __init__(self, builder: KernelBuilder, kind: Any, name: str, flags: Any) -> None:
        super().__init__(builder.block, kind, name=name, flags=flags)
        self._builder = builder

    def add_incoming(self, value: Any, block: Any) -> None:
        """Add a value."""
        self._builder.place(value)
        super().add_incoming(value, block)
