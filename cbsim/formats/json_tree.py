"""Parser of JSON to a tree of located values; common deviations from JSON are read with a warning.

`json` of the standard library locates errors only, not values, and ends at the first error. The tree is that of
`cbsim.formats.yaml_tree`. Accepted beyond the standard, because real files have them: comments, commas before a closing
bracket, and tabs or line ends inside texts.
"""

from __future__ import annotations

import bisect
import json
import re

from cbsim.errors import Location, Problems
from cbsim.formats.reader import DEPTH_LIMIT, Source
from cbsim.formats.values import quote
from cbsim.formats.yaml_tree import Item
from cbsim.spec.number import Written

__all__ = ["ITEM_LIMIT", "parse"]

ITEM_LIMIT = 2_000_000  # values of a file

TOKEN = re.compile(
    r"[ \t\r\n]*+(?:(?P<comment>//[^\r\n]*|/\*.*?\*/)|(?P<sign>[{}\[\]:,])"
    r'|(?P<text>"(?:[^"\\]++|\\.)*+")|(?P<word>[^\s{}\[\]:,"/]+)|)',
    re.DOTALL,
)
NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,400})(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,4})?")
WORDS = {"true": True, "false": False, "null": None}


class _StopError(Exception):
    """The rest of the text cannot be parsed, which has been reported."""


class _Parser:
    """Recursive-descent parser; every method leaves `kind` and `token` at the next token."""

    def __init__(self, source: Source, problems: Problems) -> None:
        self.source, self.problems, self.text = source, problems, source.text
        self.starts = [0, *(m.end() for m in re.finditer(r"\r\n?|\n", self.text))]
        self.at = self.begin = 0
        self.kind, self.token = "", ""
        self.items = 0
        self.told: set[str] = set()
        self.next()

    def place(self, offset: int | None = None) -> Location:
        offset = self.begin if offset is None else offset
        line = bisect.bisect_right(self.starts, offset)
        return Location(self.source.path, line, offset - self.starts[line - 1] + 1)

    def stop(self, message: str, hint: str = "") -> _StopError:
        found = quote(self.token) if self.kind else "the end of the file"
        self.problems.error("E020", f"not well-formed JSON: {message}, found {found}", self.place(), hint)
        return _StopError()

    def loosely(self, what: str) -> None:
        """Report a deviation from JSON, once of each kind."""
        if what not in self.told:
            self.told.add(what)
            self.problems.warning("W960", f"JSON has no {what}; read all the same", self.place())

    def next(self) -> None:
        while True:
            match = TOKEN.match(self.text, self.at)
            assert match is not None  # it takes blanks, or nothing, before what is no token
            self.at = match.end()
            kind = match.lastgroup
            if kind is None:
                self.begin = self.at
                self.kind, self.token = ("", "") if self.at >= len(self.text) else ("other", self.text[self.at])
                if self.kind and self.token in '"/':
                    what = "a text without an end" if self.token == '"' else "a comment without an end"
                    raise self.stop(what)
                return
            self.begin, self.kind, self.token = match.start(kind), kind, match[kind]
            if kind != "comment":
                return
            self.loosely("comments")

    def value(self, depth: int) -> Item:
        self.items += 1
        place = self.place()
        if self.items > ITEM_LIMIT:
            self.problems.error("E023", f"JSON has more than {ITEM_LIMIT} values", place)
            raise _StopError
        if depth > DEPTH_LIMIT:
            self.problems.error("E022", f"JSON is nested deeper than {DEPTH_LIMIT}", place)
            raise _StopError
        if self.token == "{" and self.kind == "sign":
            return self.mapping(depth, place)
        if self.token == "[" and self.kind == "sign":
            return self.sequence(depth, place)
        if self.kind == "text":
            return Item(self.string(), place)
        if self.kind == "word":
            return Item(self.word(), place, unquoted=True)
        raise self.stop("a value was expected")

    def word(self) -> Written | int | bool | None:
        token = self.token
        if token in WORDS:
            self.next()
            return WORDS[token]
        match = NUMBER.fullmatch(token)
        if match is None:
            hint = "texts stand in double quotes" if token[0].isalpha() or token[0] in "'_" else ""
            if token.lower().lstrip("+-") in ("nan", "inf", "infinity"):
                hint = "only finite numbers are numbers in JSON"
            raise self.stop("a number, a text in quotes, true, false or null was expected", hint)
        try:
            number = Written(token) if match[2] or match[3] else int(token)
        except ValueError:
            raise self.stop("a number this large is none") from None
        self.next()
        return number

    def string(self) -> str:
        token = self.token
        if token.isascii() and token.isprintable() and "\\" not in token:  # as nearly all, which saves half of the time
            self.next()
            return token[1:-1]
        if re.search(r"[\x00-\x1f]", token):
            self.loosely("tabs or line ends inside texts")
        try:
            text = json.loads(token, strict=False)
        except ValueError:
            raise self.stop("a backslash stands before what JSON does not escape") from None
        self.next()
        # a lone half of a surrogate pair is not a character, and could be neither printed nor written
        return str(text).encode("utf-8", "replace").decode("utf-8")

    def sequence(self, depth: int, place: Location) -> Item:
        self.next()
        values: list[Item] = []
        while not self.closes("]"):
            values.append(self.value(depth + 1))
            self.separate("]")
        return Item(values, place)

    def mapping(self, depth: int, place: Location) -> Item:
        self.next()
        values: dict[str, Item] = {}
        keys: dict[str, Location] = {}
        while not self.closes("}"):
            if self.kind != "text":
                raise self.stop("a key in double quotes was expected")
            where = self.place()
            key = self.string()
            if self.token != ":" or self.kind != "sign":
                raise self.stop(f"a colon was expected after the key {quote(key)}")
            self.next()
            value = self.value(depth + 1)
            if key in values:
                text = f"the key {quote(key)} stands twice; the last one counts"
                self.problems.warning("W961", text, where, also=keys[key])
            values[key], keys[key] = value, where
            self.separate("}")
        return Item(values, place, keys)

    def closes(self, bracket: str) -> bool:
        if self.kind == "sign" and self.token == bracket:
            self.next()
            return True
        return False

    def separate(self, bracket: str) -> None:
        if self.kind == "sign" and self.token == bracket:
            return
        if self.kind != "sign" or self.token != ",":
            raise self.stop(f"a comma or '{bracket}' was expected")
        self.next()
        if self.kind == "sign" and self.token == bracket:
            self.loosely(f"comma before '{bracket}'")


def parse(source: Source, problems: Problems) -> Item | None:
    """Parse JSON.

    Returns
    -------
    Item or None
        None if it is not well-formed (E020), too deep (E022) or too large (E023).
    """
    try:
        parser = _Parser(source, problems)
        item = parser.value(1)
        if parser.kind:
            raise parser.stop("nothing was expected after the end of the value")
    except _StopError:
        return None
    return item
