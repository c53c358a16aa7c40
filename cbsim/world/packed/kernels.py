"""Slicing of packed blocks: tables of a World from a `cbsim.world.packed.Pack`, columns of a Snapshot.

The layout is declared once: by the fields of a named tuple and their annotations, by `cbsim.world.tables.COLUMNS` and
by the fields of `Layout`. The slicing functions are generated from these declarations at import.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, get_type_hints

from cbsim.jit import block_view, view
from cbsim.world.events.tables import EventTables
from cbsim.world.people.tables import People
from cbsim.world.tables import COLUMNS, Constants, Layout, Shapes, State
from cbsim.world.traffic.tables import Crossings, Demand, Road, Sides, Surroundings
from cbsim.world.traffic.zones.tables import Zones

__all__ = [
    "constants_of", "crossings_of", "demand_of", "events_of", "people_of", "road_of", "shapes_of",
    "sides_of", "state_of", "surroundings_of", "unpacker", "zones_of",
]  # fmt: skip


def unpacker(kind: Any, *before: Any) -> Any:
    """Make a device function that slices the values of a named tuple from a pack.

    Parameters
    ----------
    kind : type
        A `NamedTuple` of numbers, arrays and others of its like. An array of more than one dimension is `Annotated`
        with the shape of one of its rows, with its own shape and -1 for one length that is worked out, or with the name
        of another field that has as many rows.
    *before : type
        Named tuples whose values stand before it in the pack.
    """
    kinds = dict[str, Any]()
    result, _ = _tuple_of(kind, sum(map(_count, before)), kinds)
    return _device_function(f"{kind.__name__.lower()}_of", "pack", result, [], kinds)


def _count(kind: Any) -> int:
    """Count the values of a named tuple and of those in it."""
    return sum(_count(hint) if hasattr(hint, "_fields") else 1 for hint in get_type_hints(kind).values())


def _tuple_of(kind: Any, first: int, kinds: dict[str, Any]) -> tuple[str, int]:
    """Generate the expression of a named tuple whose values begin at a number; return that after the last, too."""
    values, k, kinds[kind.__name__] = list[str](), first, kind
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if hasattr(hint, "_fields"):
            value, k = _tuple_of(hint, k, kinds)
        else:
            value, k = _value(hint, k, first, kind), k + 1
        values.append(f"{name}={value}")
    return f"{kind.__name__}({', '.join(values)})", k


def _value(hint: Any, k: int, first: int, kind: Any) -> str:
    """Generate the expression of value number k of a pack from the annotation of its field."""
    row: Any = getattr(hint, "__metadata__", ((),))[0]
    plain = getattr(hint, "__origin__", hint) if row else hint
    block = int(plain is int or _is_whole(plain))
    begin, length = f"pack[1][{2 * k}]", f"(pack[1][{2 * k + 1}] - pack[1][{2 * k}])"
    if plain is int or plain is float:
        return f"pack[{block}][{begin}]"
    shape = [length]
    if isinstance(row, str):
        other = first + kind._fields.index(row)
        rows = f"(pack[1][{2 * other + 1}] - pack[1][{2 * other}])"
        shape = [rows, f"{length} // max({rows}, 1)"]
    elif -1 in row:
        shape = [str(size) if size >= 0 else f"{length} // {-math.prod(row)}" for size in row]
    elif row:
        shape = [f"{length} // {math.prod(row)}", *map(str, row)]
    return f"block_view(pack[{block}], {begin}, ({', '.join(shape)},))"


def _is_whole(array: Any) -> bool:
    """Whether an annotation is that of an integer array."""
    return "int64" in str(array)


def _slices() -> tuple[list[str], str]:
    """Generate the source that slices the columns of a Snapshot: the end of each in its block, and the tuple."""
    lines, values = [f"{', '.join(field.name for field in fields(Layout))} = sizes"], []
    ends = {"float": "0", "int": "0"}
    for name, block, rows, width, *_ in COLUMNS:
        count = "1" if rows == "one" else rows
        lines.append(f"end_{name} = {ends[block]} + {width} * {count}")
        shape = f"{count}, {width}" if width > 1 else f"{count},"
        values.append(f"{name}=block_view({block}s, {ends[block]}, ({shape}))")
        ends[block] = f"end_{name}"
    return lines, f"State({', '.join(values)})"


def _device_function(name: str, parameters: str, result: str, lines: list[str], kinds: dict[str, Any]) -> Any:
    """Compile a device function from its source."""
    source = "\n    ".join([f"def {name}({parameters}):", *lines, f"return {result}"])
    names = {**kinds, "block_view": block_view, "max": max, "__name__": __name__}
    exec(compile(source, __file__, "exec"), names)
    made = names[name]
    made.__doc__ = f"`{next(iter(kinds))}`, sliced from blocks."
    return view(made)


constants_of = unpacker(Constants)
shapes_of = unpacker(Shapes, Constants)
state_of = _device_function("state_of", "floats, ints, sizes", *_slices()[::-1], {"State": State})
road_of = unpacker(Road, Constants, Shapes)
crossings_of = unpacker(Crossings, Constants, Shapes, Road)
surroundings_of = unpacker(Surroundings, Constants, Shapes, Road, Crossings)
sides_of = unpacker(Sides, Constants, Shapes, Road, Crossings, Surroundings)
demand_of = unpacker(Demand, Constants, Shapes, Road, Crossings, Surroundings, Sides)
TRAFFIC = Road, Crossings, Surroundings, Sides, Demand
zones_of = unpacker(Zones, Constants, Shapes, *TRAFFIC)
events_of = unpacker(EventTables, Constants, Shapes, *TRAFFIC, Zones)
people_of = unpacker(People, Constants, Shapes, *TRAFFIC, Zones, EventTables)
