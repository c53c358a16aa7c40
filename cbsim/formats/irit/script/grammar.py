"""Grammar of scripts: statements as trees of calls, operators, names and literals.

Precedence, low to high: ``:``, ``&& ||`` (equal), ``= == != <= >= < >`` (equal, from the right), ``+ -``, ``* /``,
``^``, unary ``- !``; all others from the left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cbsim.errors import Location, Problems
from cbsim.formats.irit.script.words import END, NAME, NUMBER, SIGN, TEXT, Word, words_of
from cbsim.formats.reader import Source
from cbsim.formats.values import quote

__all__ = ["Call", "Literal", "Name", "Node", "Operation", "Routine", "Sequence", "parse", "within"]

LEVELS = (("&&", "||"), ("=", "==", "!=", "<=", ">=", "<", ">"), ("+", "-"), ("*", "/"), ("^",))
RIGHT = 1  # the level whose operators bind from the right
RANK = {sign: rank for rank, signs in enumerate(LEVELS) for sign in signs}
DEPTH = 60  # of brackets; Python's own stack holds some ten times as many


@dataclass(frozen=True, slots=True)
class Literal:
    """A number or a text."""

    value: float | str
    place: Location


@dataclass(frozen=True, slots=True)
class Name:
    """A variable."""

    name: str
    place: Location


@dataclass(frozen=True, slots=True)
class Call:
    """``name(arguments)``, control structures included."""

    name: str
    arguments: tuple[Node, ...]
    place: Location


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator on one value or two; ``=`` among them."""

    sign: str
    values: tuple[Node, ...]
    place: Location


@dataclass(frozen=True, slots=True)
class Sequence:
    """``a : b : c``."""

    parts: tuple[Node, ...]
    place: Location


@dataclass(frozen=True, slots=True)
class Routine:
    """``function(parameters) : locals : body``, or ``procedure``."""

    parameters: tuple[str, ...]
    own: tuple[str, ...]
    body: Node
    returns: bool
    place: Location


Node = Literal | Name | Call | Operation | Sequence | Routine


class _WrongError(Exception):
    """What stands here is not a statement; it has been reported."""


def within(node: Node) -> Iterator[Node]:
    """Return a tree and all below it."""
    waiting = [node]
    while waiting:
        item = waiting.pop()
        yield item
        if isinstance(item, Call):
            waiting += item.arguments
        elif isinstance(item, Operation):
            waiting += item.values
        elif isinstance(item, Sequence):
            waiting += item.parts
        elif isinstance(item, Routine):
            waiting.append(item.body)


def parse(source: Source, problems: Problems) -> list[Node]:
    """Parse a script; a statement with an error (E060) is left out."""
    parser, found = _Parser(source, problems), []
    while parser.ahead.kind != END:
        try:
            if parser.ahead.text == ";" and parser.ahead.kind == SIGN:
                parser.take()
                continue
            found.append(parser.statement())
        except _WrongError:
            parser.recover()
    return found


class _Parser:
    def __init__(self, source: Source, problems: Problems) -> None:
        self.source, self.problems = source, problems
        self.words = words_of(source, problems)
        self.next, self.depth = 0, 0

    @property
    def ahead(self) -> Word:
        return self.words[self.next]

    def take(self) -> Word:
        word = self.ahead
        self.next = min(self.next + 1, len(self.words) - 1)
        return word

    def recover(self) -> None:
        """Continue after the next ``;``."""
        self.depth = 0
        while self.ahead.kind != END and self.take()[:2] != (SIGN, ";"):
            pass

    def wrong(self, expected: str) -> _WrongError:
        word = self.ahead
        what = "the end of the file" if word.kind == END else quote(word.text)
        self.problems.error("E060", f"expected {expected}, not {what}", self.source.at(word.line))
        return _WrongError()

    def is_sign(self, *signs: str) -> bool:
        return self.ahead.kind == SIGN and self.ahead.text in signs

    def expect(self, sign: str) -> None:
        if not self.is_sign(sign):
            raise self.wrong(f"'{sign}'")
        self.take()

    def statement(self) -> Node:
        node = self.sequence()
        self.expect(";")
        return node

    def sequence(self) -> Node:
        place = self.source.at(self.ahead.line)
        parts = [self.expression(0)]
        while self.is_sign(":"):
            self.take()
            if self.is_sign(";", ")", ","):  # a colon too many at the end
                break
            parts.append(self.expression(0))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts), place)

    def expression(self, rank: int) -> Node:
        """Parse operators of a level and above."""
        left = self.unary()
        while self.ahead.kind == SIGN and RANK.get(self.ahead.text, -1) >= rank:
            sign = self.take()
            level = RANK[sign.text]
            right = self.expression(level if level == RIGHT else level + 1)
            left = Operation(sign.text, (left, right), self.source.at(sign.line))
        return left

    def unary(self) -> Node:
        signs: list[Word] = []
        while self.is_sign("-", "!", "+"):
            signs.append(self.take())
        node = self.primary()
        for sign in reversed(signs):
            if sign.text != "+":
                node = Operation(sign.text, (node,), self.source.at(sign.line))
        return node

    def number(self) -> float:
        word = self.take()
        value = float(word.text)
        if math.isinf(value):
            self.problems.error("E060", f"the number {quote(word.text)} is too large", self.source.at(word.line))
            raise _WrongError
        return value

    def primary(self) -> Node:
        word = self.ahead
        place = self.source.at(word.line)
        if word.kind == NUMBER:
            return Literal(self.number(), place)
        if word.kind == TEXT:
            return Literal(self.take().text, place)
        if word.kind == SIGN and word.text == "(":
            self.take()
            node = self.inside(self.sequence)
            self.expect(")")
            return node
        if word.kind != NAME:
            raise self.wrong("a value")
        self.take()
        if not self.is_sign("("):
            return Name(word.text, place)
        if word.text in ("function", "procedure"):
            return self.routine(word)
        return Call(word.text, tuple(self.arguments()), place)

    def inside(self, part: Callable[[], Node]) -> Node:
        self.depth += 1
        if self.depth > DEPTH:
            self.problems.error("E065", f"brackets are nested more than {DEPTH} deep", self.source.at(self.ahead.line))
            raise _WrongError
        node = part()
        self.depth -= 1
        return node

    def arguments(self) -> Iterator[Node]:
        self.expect("(")
        if not self.is_sign(")"):
            yield self.inside(self.sequence)
            while self.is_sign(","):
                self.take()
                yield self.inside(self.sequence)
        self.expect(")")

    def routine(self, word: Word) -> Node:
        place = self.source.at(word.line)
        parameters = []
        for node in self.arguments():
            if not isinstance(node, Name):
                self.problems.error("E060", "a parameter is a name", node.place)
                raise _WrongError
            parameters.append(node.name)
        own: list[str] = []
        self.expect(":")
        while self.ahead.kind == NAME and self.words[self.next + 1][:2] == (SIGN, ":"):
            own.append(self.take().text)
            self.take()
        return Routine(tuple(parameters), tuple(own), self.sequence(), word.text == "function", place)
