"""Locations of the records and values of objects in a version 1 file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cbsim.errors import Problems
from cbsim.formats.objects_v1.grammar import DIALECTS
from cbsim.formats.objects_v1.records import Cursor, Misfit, Record, path_text, read_records
from cbsim.formats.reader import Source

__all__ = ["Entry", "Line", "RecordText"]

LINE = re.compile(r"([^\r\n]*)(\r\n?|\n|\Z)")
PATHS = ("the vertices file", "the indices file", "the sensor's conf file")
TRIPLES = ("a waypoint", "the waypoint of the start position")


class Line(NamedTuple):
    """A line: its start, the end of its text, and the start of the next line."""

    start: int
    end: int
    next: int


@dataclass
class TracingCursor(Cursor):
    """A cursor that remembers the role of each record."""

    trail: list[tuple[str, int]] = field(default_factory=list)

    def take(self, what: str) -> Record:
        """Take the next record."""
        record = super().take(what)
        self.trail.append((what, self.index - 1))
        return record


class Entry(NamedTuple):
    """Values of a record: role, texts, character ranges, and line counted from 0."""

    role: str
    texts: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    line: int


class RecordText:
    """Lines and records of a file.

    Parameters
    ----------
    text : str
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = [Line(match.start(), match.end(1), match.end()) for match in LINE.finditer(text)]
        if len(self.lines) > 1 and self.lines[-2].end == self.lines[-2].next:
            self.lines.pop()  # an empty match at the end of text that does not end with a newline
        self._source = Source("", text, b"")
        self.records = read_records(self._source, Problems())
        self._at = {record.line: row for row, record in enumerate(self.records)}

    def trace(self, line: int) -> list[Entry]:
        """List the values of the object that starts on a line, counted from 1; empty if none starts there."""
        start = self._at.get(line)
        if start is None:
            return []
        for parse in DIALECTS.get(_code(self.records[start]), ()):
            cursor = TracingCursor(self._source, self.records, start)
            try:
                _, place = cursor.values("the object type", 1)
                parse(cursor, place)
            except Misfit:
                continue
            return [self.entry(role, self.records[row]) for role, row in cursor.trail]
        return []

    def count(self) -> Entry:
        """Locate the number of objects, the first record."""
        return self.entry("the number of objects", self.records[0])

    def entry(self, role: str, record: Record) -> Entry:
        """Locate the values of a record."""
        start, end, _ = self.lines[record.line - 1]
        raw = self.text[start:end]
        if role in PATHS:
            path = path_text(record.text)
            at = start + raw.index(path)
            return Entry(role, (path,), ((at, at + len(path)),), record.line - 1)
        spans = [match.span() for match in re.finditer(r"\S+", raw.split("//", 1)[0])]
        if role in TRIPLES and len(record.values) == 3 and raw[slice(*spans[0])].count(".") == 2:
            spans = _dotted(raw, spans[0][0])
        places = tuple((start + i, start + j) for i, j in spans[: len(record.values)])
        return Entry(role, record.values, places, record.line - 1)

    def around(self, entries: Sequence[Entry]) -> tuple[str, str]:
        """Text of a line before and after its values: blanks and comments."""
        line = self.lines[entries[0].line]
        return self.text[line.start : entries[0].spans[0][0]], self.text[entries[-1].spans[-1][1] : line.end]

    def is_blank(self, line: int) -> bool:
        """Return whether a line is blank."""
        start, end, _ = self.lines[line]
        return not self.text[start:end].strip()


def _code(record: Record) -> int:
    (text, *rest) = record.values
    return int(text) if not rest and text in {"0", "1", "2", "3"} else -1


def _dotted(raw: str, start: int) -> list[tuple[int, int]]:
    """Ranges of the numbers in ``1.2.3``."""
    return [match.span() for match in re.finditer(r"[0-9]+", raw) if match.start() >= start][:3]
