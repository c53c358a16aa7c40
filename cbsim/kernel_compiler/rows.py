"""Shapes of the rows of tables in named tuples, from the annotations of their fields.

A row's place in a table follows from its length. Where that is a constant, as an annotation has it, an element is found
by an instruction or two, and neither length nor stride takes a register, or a place on the stack.
"""

from __future__ import annotations

from functools import cache
from typing import Any, get_type_hints

__all__ = ["rows_of"]


@cache
def rows_of(kind: type) -> tuple[tuple[int, ...], ...]:
    """Return the shape of a row for each field of a named tuple, empty where it is not annotated with one.

    Annotations are those of `cbsim.world.packed.kernels.unpacker`: the shape of a row, or with -1 that of the table.
    """
    hints = get_type_hints(kind, include_extras=True)
    found = []
    for name in kind._fields:  # type: ignore[attr-defined]
        shape: Any = getattr(hints.get(name), "__metadata__", ((),))[0]
        shape = () if isinstance(shape, str) else tuple(shape)  # as many rows as another table: of any length
        shape = shape[1:] if -1 in shape else shape
        found.append(shape if -1 not in shape else ())
    return tuple(found)
