"""Records of a v1 object file, and a cursor that checks their numbers of values.

The format consists of lines, not of free tokens: the number of values on a line distinguishes the dialects, and allows
reading to continue after an error (D1, D5). So a wrong count is a `Misfit`; a wrong value is merely a problem.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath, PureWindowsPath

from cbsim.errors import Location, Problems
from cbsim.formats.objects.values import check_anchor, is_path, number, whole
from cbsim.formats.reader import Source
from cbsim.formats.values import NUMBER, Complaint, Quantity, parse_number, parse_whole, quote
from cbsim.spec.objects import Triple
from cbsim.spec.road import PointId

__all__ = [
    "RECORD_LIMIT",
    "Cursor",
    "Misfit",
    "Record",
    "fits_path_record",
    "implied_mode",
    "path_text",
    "read_records",
]

RECORD_LIMIT = 500_000  # records of one file; a busy real file has a few hundred

PATH_COMMENT = re.compile(r"(?:^|(?<=\s))//.*")  # `onboard//x.conf` is a path (D7)
DOTTED = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")

WORDS = {1: "one number", 3: "three numbers on one line"}


class Misfit(Exception):  # noqa: N818  (not an error of the program: the records are not what the grammar expects)
    """The record at `index` does not match the grammar."""

    def __init__(self, index: int, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.index, self.code, self.message, self.hint = index, code, message, hint


@dataclass(slots=True)
class Record:
    """One line that is not blank: its number, and its text without leading and trailing blanks.

    Attributes
    ----------
    values : tuple of str
        Its leading numbers; without any, its first word.
    rest : str
        Rest of the line, without the comment.
    """

    line: int
    text: str
    values: tuple[str, ...] = field(init=False)
    rest: str = field(init=False)

    def __post_init__(self) -> None:
        tokens = self.text.split("//", 1)[0].split()
        if tokens[0].count(".") == 2 and DOTTED.fullmatch(tokens[0]):
            tokens[:1] = tokens[0].split(".")
        if len(tokens) == 1:
            self.values, self.rest = (tokens[0],), ""
            return
        count = 0
        for token in tokens:
            if not NUMBER.fullmatch(token):
                break
            count += 1
        self.values = tuple(tokens[: max(count, 1)])
        self.rest = " ".join(tokens[max(count, 1) :])


def path_text(text: str) -> str:
    """Take the file name of a path record: ``//`` begins a comment only after a blank."""
    return PATH_COMMENT.sub("", text, count=1).strip()


def is_numeric(text: str) -> bool:
    """Return whether a text consists of numbers, unlike file names."""
    return all(NUMBER.fullmatch(token) or DOTTED.fullmatch(token) for token in text.split())


def fits_path_record(text: str) -> bool:
    """Return whether a file name is read back unchanged from a line of its own."""
    return is_path(text) and path_text(text) == text and not is_numeric(text)


def implied_mode(path: str) -> str:
    """Tell how a v1 file means a mesh's path: ``full`` where it is absolute, else ``base``."""
    absolute = PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute()
    return "full" if absolute else "base"


def read_records(source: Source, problems: Problems) -> list[Record]:
    """Collect the records of a file: blank means blank in Unicode (D7); E620 past the limit."""
    records: list[Record] = []
    for line, raw in source.lines():
        text = raw.strip()
        if not text or text.startswith("//"):
            continue
        if len(records) == RECORD_LIMIT:
            problems.error("E620", f"more than {RECORD_LIMIT} records; the rest is not read", source.at(line))
            break
        records.append(Record(line, text))
    return records


@dataclass
class Cursor:
    """Reads records in order; value errors go to `problems`, a record that does not fit raises `Misfit`.

    Attributes
    ----------
    records : list of Record
        The whole file.
    index : int
        The next record.
    anchored : int
        Numbers read since the object's anchor; -1 before it. Measures the success of an attempt.
    """

    source: Source
    records: list[Record]
    index: int
    problems: Problems = field(default_factory=Problems)
    anchored: int = -1

    def place(self, record: Record) -> Location:
        """Locate a record."""
        return self.source.at(record.line)

    def take(self, what: str) -> Record:
        """Take the next record."""
        if self.index >= len(self.records):
            raise Misfit(self.index, "E603", f"the file ends where {what} should follow")
        self.index += 1
        return self.records[self.index - 1]

    def values(self, what: str, count: int) -> tuple[tuple[str, ...], Location]:
        """Take the values of a record of that many numbers, and its place."""
        record = self.numbers(what, count)
        return record.values, self.place(record)

    def numbers(self, what: str, count: int) -> Record:
        """Take a record of that many numbers."""
        record = self.take(what)
        if len(record.values) != count:
            self.index -= 1
            message = f"expected {what} ({WORDS[count]}), not {quote(record.text)}"
            raise Misfit(self.index, "E602", message)
        if record.rest:
            message, hint = f"unexpected {quote(record.rest)} after {what}", "comments start with //"
            self.problems.error("E610", message, self.place(record), hint)
        if self.anchored >= 0:
            self.anchored += 1
        return record

    def number(self, quantity: Quantity, what: str = "") -> float:
        """Take one number."""
        record = self.numbers(what or quantity.name, 1)
        value = parse_number(record.values[0], quantity)
        if not isinstance(value, Complaint):
            return value
        named = quantity._replace(name=what or quantity.name)
        return number(record.values[0], named, self.place(record), self.problems)

    def whole(self, what: str) -> tuple[int | None, Location]:
        """Take one whole number, 0 or more; None if it is invalid."""
        (text,), place = self.values(what, 1)
        return whole(text, what, place, self.problems), place

    def count(self, what: str) -> int:
        """Take a count, without which the records after it cannot be interpreted."""
        (text,) = self.numbers(what, 1).values
        value = parse_whole(text, what)
        if isinstance(value, Complaint):
            self.index -= 1
            raise Misfit(self.index, "E611" if value.out_of_range else "E604", value.message, value.hint)
        return value

    def triple(self, quantity: Quantity, upward: Quantity | None = None) -> Triple:
        """Take three records x, y, z, the last of which may be of another quantity."""
        kinds = quantity, quantity, upward or quantity
        return Triple(*(self.number(kind, f"{kind.name} {axis}") for kind, axis in zip(kinds, "xyz", strict=True)))

    def point(self, what: str, *, optional: bool) -> tuple[PointId | None, Location]:
        """Take a waypoint: segment, lane and waypoint on one line."""
        texts, place = self.values(what, 3)
        parts = [whole(text, part, place, self.problems) for part, text in zip(PARTS, texts, strict=True)]
        return check_anchor(tuple(parts), place, self.problems, optional=optional), place

    def anchor(self) -> tuple[PointId | None, Location]:
        """Take the anchor of an object."""
        found = self.point("the waypoint of the start position", optional=True)
        self.anchored = 0
        return found

    def path(self, what: str) -> tuple[str, Location]:
        """Take a file name; a number in its place means that a record is missing."""
        record = self.take(what)
        text = path_text(record.text)
        if is_numeric(text):
            self.index -= 1
            raise Misfit(self.index, "E602", f"expected {what} (a file name), not {quote(record.text)}")
        if not is_path(text):
            self.problems.error("E619", f"{what} {quote(text)} holds control characters", self.place(record))
        return text, self.place(record)


PARTS = ("segment", "lane", "waypoint")
