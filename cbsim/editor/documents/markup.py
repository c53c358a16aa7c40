"""Locations of elements, attributes and contents in XML text.

`lxml` reports what a text means but not where; this module locates it in text that `lxml` has accepted.
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
    """A half-open range of characters."""

    start: int
    end: int


class Attribute(NamedTuple):
    """An attribute: its range with leading blanks, its value without quotes, and the quote."""

    name: str
    whole: Span
    value: Span
    quote: str


@dataclass(slots=True)
class Element:
    """An element.

    Attributes
    ----------
    tag : str
        Tag as written, with prefix.
    whole : Span
        From its ``<`` to after its last ``>``.
    head : Span
        Start tag.
    inner : Span
        Between its tags; empty for a single tag.
    empty : bool
        Whether it is a single tag, ``<a/>``.
    source : (str, Span)
        The text, and the range of the attributes in it.
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
        """Attributes by name as written, parsed on first use."""
        if self._found is None:
            self._found = {one.name: one for one in _attributes(*self.source)}
        return self._found

    @property
    def prefix(self) -> str:
        """Namespace prefix with colon, or an empty string."""
        return self.tag[: self.tag.rfind(":") + 1]

    @property
    def name(self) -> str:
        """Tag without prefix."""
        return self.tag[len(self.prefix) :]

    @property
    def name_end(self) -> int:
        """End of the last attribute, or of the tag's name."""
        ends = [attribute.whole.end for attribute in self.attributes.values()]
        return max(ends, default=self.head.start + 1 + len(self.tag))

    def named(self, name: str) -> list[Element]:
        """Children of a name in this element's namespace, by prefix."""
        return [
            child
            for child in self.children
            if child.name == name
            and child.prefix == self.prefix
            and ("xmlns:" + self.prefix[:-1] if self.prefix else "xmlns") not in child.attributes
        ]


def scan(text: str) -> Element | None:
    """Locate the elements of a well-formed text; returns the root, or None."""
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
