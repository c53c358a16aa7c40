"""Where things stand in XML text: elements with the places of their names, attributes and contents.

`lxml` says what a text means, but not where: this finds the places, in characters, of a text that it has accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Attribute", "Element", "Span", "scan"]

NAME = r"[^\s<>/=\"']+"
TOKEN = re.compile(
    rf"""<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<!DOCTYPE(?:[^\[>]*\[.*?\])?[^>]*>
    |</(?P<ended>{NAME})\s*>|<(?P<name>{NAME})(?P<attributes>(?:\s+{NAME}\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(?P<empty>/?)>""",
    re.DOTALL | re.VERBOSE,
)
ATTRIBUTE = re.compile(rf"""(?P<lead>\s+)(?P<name>{NAME})\s*=\s*(?P<quote>["'])(?P<value>.*?)(?P=quote)""", re.DOTALL)


class Span(NamedTuple):
    """A stretch of text, from a character up to before another."""

    start: int
    end: int


class Attribute(NamedTuple):
    """An attribute: all of it with the blanks before it, its value without quotes, and the quote."""

    name: str
    whole: Span
    value: Span
    quote: str


@dataclass(slots=True)
class Element:
    """An element of a text.

    Attributes
    ----------
    tag : str
        As written, with its prefix.
    whole : Span
        From its ``<`` to after its last ``>``.
    head : Span
        Its start tag.
    inner : Span
        Between its tags; empty where it is one tag.
    empty : bool
        Whether it is one tag, ``<a/>``.
    source : (str, Span)
        The text, and where in it the attributes stand.
    children : list of Element
    """

    tag: str
    whole: Span
    head: Span
    inner: Span
    empty: bool
    source: tuple[str, Span] = field(repr=False)
    children: list[Element] = field(default_factory=list)
    _found: dict[str, Attribute] | None = field(default=None, repr=False)

    @property
    def attributes(self) -> dict[str, Attribute]:
        """Its attributes by name as written; found when they are first asked for."""
        if self._found is None:
            self._found = {one.name: one for one in _attributes(*self.source)}
        return self._found

    @property
    def prefix(self) -> str:
        """Prefix of its namespace, with the colon; empty where there is none."""
        return self.tag[: self.tag.rfind(":") + 1]

    @property
    def name(self) -> str:
        """Its tag without the prefix."""
        return self.tag[len(self.prefix) :]

    @property
    def name_end(self) -> int:
        """Where the last attribute ends, or the tag's name where there is none."""
        ends = [attribute.whole.end for attribute in self.attributes.values()]
        return max(ends, default=self.head.start + 1 + len(self.tag))

    def named(self, name: str) -> list[Element]:
        """Children of that name in this element's namespace: those with its own prefix that declare no other."""
        return [
            child
            for child in self.children
            if child.name == name
            and child.prefix == self.prefix
            and ("xmlns:" + self.prefix[:-1] if self.prefix else "xmlns") not in child.attributes
        ]


def scan(text: str) -> Element | None:
    """Find the root element of a well-formed text; None where there is none."""
    stack, root = list[Element](), None
    for match in TOKEN.finditer(text):
        if match["ended"] is not None:
            if stack:
                done = stack.pop()
                done.inner = Span(done.head.end, match.start())
                done.whole = Span(done.head.start, match.end())
        elif match["name"] is not None:
            head = Span(*match.span())
            source = text, Span(*match.span("attributes"))
            element = Element(match["name"], head, head, Span(head.end, head.end), bool(match["empty"]), source)
            if stack:
                stack[-1].children.append(element)
            elif root is None:
                root = element
            if not element.empty:
                stack.append(element)
    return root


def _attributes(text: str, span: Span) -> Iterator[Attribute]:
    for match in ATTRIBUTE.finditer(text, *span):
        yield Attribute(match["name"], Span(*match.span()), Span(*match.span("value")), match["quote"])
