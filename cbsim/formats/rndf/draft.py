"""Drafts: mutable blocks under construction, in file order, with the lines of all fields."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

from cbsim.errors import Location
from cbsim.formats.rndf.grammar import Kind
from cbsim.spec.road import Extension

__all__ = ["NOWHERE", "Draft", "Run"]

NOWHERE = "\n"  # a prefix that never occurs


class Run(NamedTuple):
    """Consecutive points of a block, in columns."""

    numbers: Sequence[int]
    latitudes: Sequence[float]
    longitudes: Sequence[float]
    texts: Sequence[tuple[str, str]]
    lines: Sequence[int]


class Draft:
    """A block under construction.

    Attributes
    ----------
    kind : Kind
        Its row of the grammar.
    ids : tuple of int
        Its id; empty while it is unknown.
    line : int
        Where it starts.
    label : str
        Its id as text.
    prefix : str
        Prefix of the ids of its points.
    values : dict of str to value
        Values of its fields; None for malformed ones.
    places : dict of str to int
        The lines of its fields.
    options : dict of str to list
        Checkpoints, stops, exits and crossings.
    children : list of Draft
        Blocks inside, in file order.
    runs : list of Run
        Its points, in file order.
    count : int
        Number of points.
    broken : list of int
        Numbers of points with malformed coordinates, which are counted but not kept.
    extensions : list of Extension
        Unknown records.
    """

    __slots__ = (
        "broken",
        "children",
        "count",
        "extensions",
        "ids",
        "kind",
        "label",
        "line",
        "options",
        "places",
        "prefix",
        "runs",
        "values",
    )

    def __init__(self, kind: Kind, ids: tuple[int, ...], line: int) -> None:
        self.kind = kind
        self.line = line
        self.values: dict[str, Any] = {}
        self.places: dict[str, int] = {}
        self.options: dict[str, list[Any]] = {}
        self.children: list[Draft] = []
        self.runs: list[Run] = []
        self.count = 0
        self.broken: list[int] = []
        self.extensions: list[Extension] = []
        self.name(ids)

    def __str__(self) -> str:
        return f"{self.kind.name} {self.label}" if self.ids else f"the {self.kind.name}"

    def name(self, ids: tuple[int, ...]) -> None:
        """Set its id, which may be derived from its contents."""
        self.ids = ids
        self.label = f"{ids[0]}.{ids[1]}" if len(ids) == 2 else ".".join(map(str, ids))
        self.prefix = f"{self.label}." if ids and self.kind.points else NOWHERE

    def add_run(self, run: Run) -> None:
        """Append points by columns."""
        self.runs.append(run)
        self.count += len(run.numbers)

    def add_point(self, number: int, coordinates: tuple[float, float], texts: tuple[str, str], line: int) -> None:
        """Append one point."""
        if not (self.runs and isinstance(self.runs[-1].lines, list)):
            self.runs.append(Run([], [], [], [], []))
        columns: Sequence[list[Any]] = self.runs[-1]  # type: ignore[assignment]
        for column, value in zip(columns, (number, *coordinates, texts, line), strict=True):
            column.append(value)
        self.count += 1

    @property
    def points(self) -> Run:
        """All points, in file order."""
        if len(self.runs) == 1:
            return self.runs[0]
        return (
            Run(*(tuple(chain.from_iterable(column)) for column in zip(*self.runs, strict=True)))
            if self.runs
            else EMPTY
        )

    def of_kind(self, name: str) -> list[Draft]:
        """Children of one kind in file order."""
        return [child for child in self.children if child.kind.name == name]

    def location(self, path: str) -> Location:
        """Where it starts."""
        return Location(path, self.line, None, self.label)


EMPTY = Run((), (), (), (), ())
