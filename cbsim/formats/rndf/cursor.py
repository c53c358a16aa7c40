"""`Cursor`: position in the lines of an RNDF or MDF file, and problems common to all records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cbsim.errors import Location, Problems, did_you_mean
from cbsim.formats.values import quote

__all__ = ["Cursor"]

HINT_LENGTH = 40  # characters of a keyword that is compared with known ones
HINTS_UP_TO = 100  # problems of one file with such a hint, which costs a tenth of a millisecond


class Cursor:
    """Lines of a file, with the position of reading.

    Parameters
    ----------
    path : str
        The file, as the user named it.
    lines : list of str
        Its lines without comments.
    problems : Problems
        Collects problems.

    Attributes
    ----------
    read : int
        Last line that has been processed.
    end : int
        Line of ``end_file``; 0 before it.
    stray : list of int
        Lines of other text before the first record.
    """

    def __init__(self, path: str, lines: list[str], problems: Problems) -> None:
        self.path = path
        self.lines = lines
        self.problems = problems
        self.read = 0
        self.end = 0
        self.stray: list[int] = []

    @property
    def last_line(self) -> int:
        """The last line of the file that holds anything but blanks and comments; 1 if none does."""
        full = (line for line in range(len(self.lines), 0, -1) if self.text(line))
        return next(full, 1)

    def at(self, line: int, inside: str = "") -> Location:
        """Locate a line."""
        return Location(self.path, line, None, inside)

    def text(self, line: int) -> str:
        """Return a line without the blanks around it."""
        return self.lines[line - 1].strip()

    def rest(self, words: Sequence[str], line: int) -> str:
        """Give what follows the first word of a line."""
        return self.text(line)[len(words[0]) :].strip()

    def remark_rest(self, words: Sequence[str], line: int, columns: int) -> None:
        """Warn of text behind the last column of a record."""
        if len(words) > columns:
            message = f"{quote(' '.join(words[columns:]))} after {quote(words[0])} is ignored"
            self.problems.warning("W113", message, self.at(line))

    def remark_spelling(self, word: str, known: str, line: int) -> None:
        """Warn of a keyword in the wrong case."""
        self.problems.warning("W001", f"keyword {quote(word)} should be written '{known}'", self.at(line))

    def hint(self, word: str, keywords: Iterable[str]) -> str:
        """Suggest a keyword, while there are few problems."""
        if len(word) > HINT_LENGTH or len(self.problems) > HINTS_UP_TO:
            return ""
        return did_you_mean(word, keywords)

    def remark_ends(self) -> None:
        """Report text before the first and after the last record."""
        if self.stray:
            message = f"lines of other text before the first record, which are ignored: {len(self.stray)}"
            self.problems.warning("W004", message, self.at(self.stray[0]))
        if not self.end:
            self.problems.warning("W110", "'end_file' is missing", self.at(self.last_line))
            return
        rest = [line for line, text in enumerate(self.lines[self.end :], self.end + 1) if text and not text.isspace()]
        if rest:
            message = f"lines after 'end_file', which are ignored: {len(rest)}"
            self.problems.warning("W110", message, self.at(rest[0]))
