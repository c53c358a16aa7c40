"""Tokens of an IRIT data file: brackets, quoted texts, and words up to a blank or a closing bracket."""

from __future__ import annotations

import re
from typing import NamedTuple

from cbsim.errors import Problems
from cbsim.formats.reader import Source
from cbsim.formats.values import quote

__all__ = ["CLOSE", "END", "LARGEST", "OPEN", "STRING", "WORD", "Stopped", "Token", "Tokens"]

OPEN, CLOSE, STRING, WORD, END = "[", "]", "string", "word", "end"
TOKEN = re.compile(r'[\s\0]*(?:(\[)|(\])|("(?:\\[^\n]|[^"\\\n]++)*+)("?)|([^\s\]\0]+))')
ROW = re.compile(r"[ \t\r\n]*((?:[-+]?[0-9.][0-9.eE+-]*[ \t\r\n]+)*[-+]?[0-9.][0-9.eE+-]*)[ \t\r\n]*\]")
LARGEST = 1e12  # largest coordinate; its square is still finite
LIMIT = 30_000_000  # tokens of a file; results stay below a few gigabytes


class Token(NamedTuple):
    """A word.

    Attributes
    ----------
    kind : str
        ``[``, ``]``, ``string``, ``word`` or ``end``.
    text : str
        Text; of a string without quotes and backslashes.
    at : int
        Offset in the text.
    closed : bool
        Whether a string has its closing quote; otherwise it ends with its line.
    """

    kind: str
    text: str
    at: int
    closed: bool = True


class Stopped(Exception):  # noqa: N818 (no error of ours: it leaves a record that has been complained about)
    """The text is not a record, which has been reported."""


class Tokens:
    """Tokens of a source, with one token of look-ahead.

    Attributes
    ----------
    ahead : Token
        The next word.
    depth : int
        Number of open brackets.
    """

    def __init__(self, source: Source, problems: Problems) -> None:
        self.source, self.problems = source, problems
        self.count = self.depth = 0
        self._at = 0
        self._line, self._counted = 1, 0
        self.ahead = self._scan()

    def line(self, token: Token) -> int:
        """Return the line of a token; requests are mostly in order, so that counting is linear."""
        if token.at < self._counted:
            return self.source.text.count("\n", 0, token.at) + 1
        self._line += self.source.text.count("\n", self._counted, token.at)
        self._counted = token.at
        return self._line

    def take(self, *, comment: bool = False) -> Token:
        """Take the next token; in comments it may be anything."""
        token = self.ahead
        if not token.closed and not comment:
            self.error("E050", f"the text {quote(chr(34) + token.text)} has no closing quote", token)
        self.depth += (token.kind == OPEN) - (token.kind == CLOSE)
        self.ahead = self._scan()
        return token

    def row(self) -> tuple[float, ...] | None:
        """Take a bracket with only numbers inside; otherwise return None and take nothing.

        Most of a file consists of such rows, which this reads in a fifth of the time of single tokens.
        """
        found = ROW.match(self.source.text, self._at) if self.ahead.kind == OPEN else None
        if found is None:
            return None
        try:
            values = tuple(map(float, found[1].split()))
        except ValueError:
            return None
        if max(map(abs, values)) > LARGEST:
            return None
        self.count += len(values)
        self._at = found.end()
        self.ahead = self._scan()
        return values

    def error(self, code: str, message: str, token: Token, hint: str = "") -> None:
        """Report a word."""
        self.problems.error(code, message, self.source.at(self.line(token)), hint)

    def stop(self, code: str, message: str, token: Token, hint: str = "") -> Stopped:
        """Report an error, and return the exception to raise."""
        self.error(code, message, token, hint)
        return Stopped()

    def recover(self, depth: int) -> None:
        """Skip until at most `depth` brackets are open; in a broken file, this may be its end."""
        if self.depth <= depth or self.ahead.kind == END:
            return
        text, at, match = self.source.text, self.ahead.at, TOKEN.match
        while self.depth > depth and self.count <= LIMIT and (found := match(text, at)) is not None:
            at = found.end()
            self.count += 1
            self.depth += (found[1] is not None) - (found[2] is not None)
        self._at = at
        self.ahead = self._scan()

    def _scan(self) -> Token:
        found = TOKEN.match(self.source.text, self._at)
        if found is None:
            return Token(END, "", len(self.source.text))
        self.count += 1
        if self.count > LIMIT:
            self.problems.error("E052", f"the file has more than {LIMIT} words", self.source.at(1))
            return Token(END, "", found.end())
        self._at = found.end()
        if found[1] or found[2]:
            return Token(OPEN if found[1] else CLOSE, found[1] or found[2], self._at - 1)
        if found[3] is None:
            return Token(WORD, found[5], found.start(5))
        return Token(STRING, re.sub(r"\\(.)", r"\1", found[3][1:]), found.start(3), bool(found[4]))
