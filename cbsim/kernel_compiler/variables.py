"""Analyses of the variables of a function that decide how they are lowered."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from numba.core import ir

__all__ = ["assignments_and_uses", "index_tuples"]


def assignments_and_uses(blocks: Any) -> tuple[dict[str, list[int]], dict[str, set[int]]]:
    """List the blocks in which each variable is assigned, once per assignment, and those that use it before its end."""
    assigned: dict[str, list[int]] = defaultdict(list)
    used: dict[str, set[int]] = defaultdict(set)
    for label, block in blocks.items():
        for statement in block.body:
            if isinstance(statement, ir.Assign):
                assigned[statement.target.name].append(label)
            if not isinstance(statement, ir.Del):
                for each in statement.list_vars():
                    used[each.name].add(label)
    return assigned, used


def index_tuples(blocks: Any) -> dict[str, list[tuple[str, str | None]]]:
    """Find tuples that do nothing but select from arrays: the names of array and value of each use."""
    uses: dict[str, list[tuple[str, str | None]]] = defaultdict(list)
    made: set[str] = set()
    other: set[str] = set()
    for block in blocks.values():
        for statement in block.body:
            value = statement.value if isinstance(statement, ir.Assign) else None
            if isinstance(value, ir.Expr) and value.op == "build_tuple":
                made.add(statement.target.name)
                other.update(each.name for each in value.items)
            elif isinstance(value, ir.Expr) and value.op == "getitem":
                uses[value.index.name].append((value.value.name, None))
                other.add(value.value.name)
            elif isinstance(statement, ir.SetItem):
                uses[statement.index.name].append((statement.target.name, statement.value.name))
                other.update((statement.target.name, statement.value.name))
            elif value is not None:
                other.update(each.name for each in statement.list_vars() if each.name != statement.target.name)
                other.add(statement.target.name)
            elif not isinstance(statement, ir.Del):
                other.update(each.name for each in statement.list_vars())
    return {name: uses[name] for name in made - other}
