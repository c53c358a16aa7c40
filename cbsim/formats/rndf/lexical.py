"""Lexer of RNDF and MDF files: from text to lines without comments.

Complaints that concern characters rather than records are made here, each kind once per file: I002 mixed line ends,
I003 trailing blanks, E005 unterminated comment, W006 characters that are not ASCII text, E013 too many lines.
Every pass over the text is linear, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cbsim.errors import Problems
from cbsim.formats.reader import Source
from cbsim.formats.values import Complaint, Quantity, parse_number, quote
from cbsim.spec.number import Written
from cbsim.spec.road import PointId
from cbsim.units import FOOT, MPH

__all__ = [
    "COLUMNS",
    "LINE_LIMIT",
    "NUMBERS",
    "WHOLE_DIGITS",
    "WHOLE_MOST",
    "Parser",
    "feet",
    "identifier",
    "mph",
    "name_faults",
    "number",
    "point_id",
    "read_lines",
    "whole",
]

Parser = Callable[[str], Any]  # parses a text to a value or a Complaint

LINE_LIMIT = 2_000_000  # the largest file known has 54 032 lines; this bounds memory at about one gigabyte
COLUMNS = 6  # largest number of splits of a line; no record has more columns, and a hostile line may have millions
ID_LENGTH = 20  # characters of an id; each part then fits 64 bits
REMEMBERED = 256  # texts per kind of number
NUMBERS = {str(number): number for number in range(1000)}  # nearly all parts of ids; a look-up is faster than parsing
WHOLE_DIGITS = 9  # longer whole numbers are errors, and very long ones would take time that grows with their square

WHOLE_MOST = 32_768  # largest whole number of the format, after DARPA's change of 21 November 2006
NAME_LENGTH = 128  # characters of a name, after the same change
FORBIDDEN = {" ": "a space", "\t": "a tab", "\\": "a backslash", "*": "an asterisk"}  # in a name

LINE_ENDS = {"CR LF": re.compile(r"\r\n"), "LF": re.compile(r"(?<!\r)\n"), "CR": re.compile(r"\r(?!\n)")}
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
OPEN_COMMENT = re.compile(r"/\*[^\n]*")
NOT_TEXT = re.compile(r"[^\x01-\x7f]")
INVISIBLE = ("\ufeff", "\u200b", "\u2060")  # marks of editors that Python does not count as blanks
MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def read_lines(source: Source, problems: Problems) -> list[str] | None:
    """Return the lines of a source without comments; item i is line i + 1 of the file.

    Returns
    -------
    list of str or None
        None if there are more than `LINE_LIMIT` lines.
    """
    text = _with_one_line_end(source, problems)
    if text.count("\n") >= LINE_LIMIT:
        problems.error("E013", f"more than the {LINE_LIMIT} lines that are read", source.at(LINE_LIMIT))
        return None
    _remark_trailing_blanks(text, source, problems)
    text = _with_plain_characters(text, source, problems)
    return _without_comments(text, source, problems).split("\n")


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _with_one_line_end(source: Source, problems: Problems) -> str:
    """Convert CR LF and CR to LF; report mixed line ends."""
    text = source.text
    if "\r" not in text:
        return text
    both = text.count("\r\n")
    counts = {"CR LF": both, "LF": text.count("\n") - both, "CR": text.count("\r") - both}
    used = [name for name in sorted(counts, key=lambda name: counts[name]) if counts[name]]
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if len(used) > 1:
        first = LINE_ENDS[used[0]].search(text)
        position = first.start() if first else 0
        line = _line(text[:position].replace("\r\n", "\n").replace("\r", "\n"), position)
        mix = ", ".join(f"{counts[name]} × {name}" for name in reversed(used))
        problems.info("I002", f"line ends are mixed: {mix}; here is the first {used[0]}", source.at(line))
    return plain


def _remark_trailing_blanks(text: str, source: Source, problems: Problems) -> None:
    endings = (" \n", "\t\n")
    count = sum(map(text.count, endings))
    if count:
        first = min(position for position in map(text.find, endings) if position >= 0)
        problems.info("I003", f"lines that end with blanks: {count}; here is the first", source.at(_line(text, first)))


def _with_plain_characters(text: str, source: Source, problems: Problems) -> str:
    """Report characters other than ASCII text, and replace invisible ones by blanks."""
    if source.data.startswith(MARKS):
        problems.warning("W006", "the file starts with a byte order mark; it should be plain ASCII", source.at(1))
    first = None if text.isascii() and "\0" not in text else NOT_TEXT.search(text)
    if first is None:
        return text
    count = len(text) - len(text.encode("ascii", "ignore")) + text.count("\0")
    kind = "no-break space" if first[0] == "\N{NO-BREAK SPACE}" else f"U+{ord(first[0]):04X}"
    message = f"characters that are not ASCII text: {count}; here is the first, {kind}"
    problems.warning("W006", message, source.at(_line(text, first.start())))
    for mark in INVISIBLE:
        text = text.replace(mark, " ")
    return text


def _without_comments(text: str, source: Source, problems: Problems) -> str:
    """Replace each comment by its line ends, or by a blank; an unterminated one ends with its line.

    Comments do not nest and do not know ``//``. Up to the last terminator every search ends, so that the whole is
    linear; behind it nothing is searched twice either.
    """
    if "/*" not in text:
        return text
    end = text.rfind("*/") + 2 if "*/" in text else 0
    head = COMMENT.sub(lambda comment: "\n" * comment[0].count("\n") or " ", text[:end])
    tail = text[end:]
    # what is still open in the head is '/*/' at its very end: its star belongs to the opening, not to a terminator
    rest = head + tail
    opening = rest.find("/*", max(len(head) - 3, 0))
    if opening < 0:
        return rest
    problems.error(
        "E005",
        "comment is not terminated; it is taken to end with its line",
        source.at(_line(rest, opening)),
        "close it with '*/'",
    )
    return rest[:opening] + OPEN_COMMENT.sub(" ", rest[opening:])


def point_id(text: str) -> PointId | None:
    """Parse ``M.N.P``; None if the text is not of that form."""
    try:
        segment, lane, point = text.split(".", 3)
        return PointId(NUMBERS[segment], NUMBERS[lane], NUMBERS[point])
    except ValueError:
        return None
    except KeyError:
        ids = identifier(text, 3)
        return None if ids is None else PointId(*ids)


def identifier(text: str, parts: int) -> tuple[int, ...] | None:
    """Parse an id of 1 to 3 dotted whole numbers; None if the text is not of that form."""
    if len(text) > ID_LENGTH or not text.isascii() or not text.replace(".", "").isdigit():
        return None
    pieces = text.split(".")
    return tuple(map(int, pieces)) if len(pieces) == parts and "" not in pieces else None


def whole(text: str) -> int | Complaint:
    """Parse a whole number that is not negative."""
    if text.isdigit() and len(text) <= WHOLE_DIGITS and text.isascii():
        return int(text)
    return Complaint(f"expected a whole number, not {quote(text)}")


def name_faults(name: str) -> str:
    """Describe what other programs cannot read in a name; empty if it is one plain word or empty."""
    faults = [what for character, what in FORBIDDEN.items() if character in name]
    if len(name) > NAME_LENGTH:
        faults.append(f"more than {NAME_LENGTH} characters")
    return " and ".join(faults)


def feet(name: str) -> Parser:
    """Make a parser of widths in feet, giving metres."""
    return Memory(Quantity(name, "ft", FOOT, least=0.0)).__getitem__


def mph(name: str) -> Parser:
    """Make a parser of speeds in miles per hour, giving metres per second."""
    return Memory(Quantity(name, "mph", MPH, least=0.0)).__getitem__


def number(name: str, unit: str = "") -> Parser:
    """Make a parser of plain numbers, such as degrees that stay degrees."""
    return Memory(Quantity(name, unit)).__getitem__


class Memory(dict[str, Written | Complaint]):
    """Cache of parsed texts: files repeat a few widths thousands of times."""

    def __init__(self, quantity: Quantity) -> None:
        super().__init__()
        self.quantity = quantity

    def __missing__(self, text: str) -> Written | Complaint:
        value = parse_number(text, self.quantity)
        if len(self) < REMEMBERED and len(text) <= ID_LENGTH:
            self[text] = value
        return value
