"""Patches of version 2 object files: attributes and elements in place, new ones in the style of the file."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from cbsim.editor.documents.edits import Addition, Edit, Unpatchable, pair_entries
from cbsim.editor.documents.markup import Element, Span, scan
from cbsim.editor.documents.source_buffer import Patch, SourceBuffer
from cbsim.formats.objects.grammar import CHILDREN
from cbsim.formats.objects.values import PARAMETERS
from cbsim.formats.objects.writer import Attributes, Row, own_attributes, rows_of
from cbsim.formats.xml_text import Extras, fits_xml, text_of
from cbsim.spec.objects import TrafficObject

__all__ = ["patches"]

RANKS = {tag: rank for rank, tag in enumerate(CHILDREN)}
REST_OF_LINE = re.compile(r"[ \t]*(?:<!--[^\r\n]*?-->[ \t]*)*(?=[\r\n]|\Z)")
NEXT_LINE = re.compile(r"\r\n|\r|\n")
LINE_START = re.compile(r"(?:^|(?<=[\r\n]))[ \t]*\Z")
BLANK_LINES = re.compile(r"(?:(?:\r\n|\r|\n)[ \t]*)*\Z")


def patches(
    buffer: SourceBuffer, objects: Sequence[TrafficObject], edit: Edit, *, rewrite: bool = False
) -> list[Patch]:
    """Convert an edit to patches.

    Parameters
    ----------
    buffer : SourceBuffer
        Text of the file.
    objects : sequence of TrafficObject
        Its current objects.
    edit : Edit
        Edit to apply.
    rewrite : bool
        Rewrite changed objects instead of patching their values.
    """
    root = scan(buffer.text)
    assert root is not None
    patcher = _Patcher(buffer, root)
    found = list[Patch]()
    for row, item in edit.changed.items():
        element = patcher.objects[row]
        try:
            if rewrite:
                raise Unpatchable
            found += patcher.changes(element, objects[row], item)
        except Unpatchable:
            found.append(patcher.put(element.whole, patcher.block(item, element.prefix)))
    found += patcher.removals(edit.removed)
    if edit.name is not None:
        found += patcher.retitled(edit.name)
    if edit.added:
        found += patcher.additions(edit.added, objects)
    return found


@dataclass
class _Patcher:
    """Creates patches of a version 2 file."""

    buffer: SourceBuffer
    root: Element

    @property
    def text(self) -> str:
        return self.buffer.text

    @property
    def lone(self) -> bool:
        """Whether the file is a single object without ``object_file``."""
        return self.root.name == "object"

    @cached_property
    def objects(self) -> list[Element]:
        return [self.root] if self.lone else self.root.named("object")

    # --- style -------------------------------------------------------------------------------------------------------
    def _indent(self, element: Element) -> str | None:
        """Indentation of an element that starts its line, else None."""
        match = LINE_START.search(self.text, 0, element.whole.start)
        return None if match is None else match[0]

    def _common(self, found: Iterable[str | None], usual: str) -> str | None:
        ranked = Counter(found).most_common(1)
        return ranked[0][0] if ranked else usual

    @cached_property
    def indents(self) -> tuple[str | None, str | None]:
        """Indentations of objects and of their children; None if they share a line."""
        outer = self._common((self._indent(element) for element in self.objects), "")
        if not self.objects:
            outer = self._common((self._indent(child) for child in self.root.children), "  ")
        children = itertools.chain.from_iterable(element.children for element in self.objects)
        return outer, self._common((self._indent(child) for child in children), 2 * (outer or "  "))

    @cached_property
    def quote(self) -> str:
        """Most common quote of attributes."""
        return "'" if self.text.count("='") > self.text.count('="') else '"'

    @cached_property
    def close(self) -> str:
        """How self-closing tags end."""
        return " />" if self.text.count(" />") > self.text.count("/>") // 2 else "/>"

    def escaped(self, text: str, quote: str = "") -> str:
        """Escape text as content or as an attribute value; characters outside the encoding become references."""
        if not fits_xml(text):
            raise Unpatchable
        safe = text_of(text)
        if quote:
            safe = safe.replace("\n", "&#10;").replace("\t", "&#9;")
            safe = safe.replace('"', "&quot;") if quote == '"' else safe.replace("'", "&apos;")
        return safe.encode(self.buffer.codec, "xmlcharrefreplace").decode(self.buffer.codec)

    def put(self, span: Span, text: str) -> Patch:
        """Replace a range of the text."""
        return Patch(span.start, self.text[span.start : span.end], text)

    # --- one object --------------------------------------------------------------------------------------------------
    def changes(self, element: Element, old: TrafficObject, new: TrafficObject) -> Iterator[Patch]:
        """Patch the values of an object in place."""
        before, after = own_attributes(old), own_attributes(new)
        for name in dict.fromkeys([*before, *after]):
            if before.get(name) != after.get(name):
                yield from self._set(self._holder(element, name), name, after.get(name))
        tags = dict.fromkeys(row.tag for row in (*rows_of(old), *rows_of(new)))
        rows = {tag: [[row for row in rows_of(item) if row.tag == tag] for item in (old, new)] for tag in tags}
        going = [tag for tag, (_, there) in rows.items() if not there]
        staying = [child for child in element.children if child.name not in going]
        for tag, (first, second) in rows.items():
            if first != second:
                yield from self._listed(element, tag, first, second, staying)

    def _holder(self, element: Element, name: str) -> Element:
        """Element whose attribute takes effect: vehicle parameters may also be on its wheels or steering."""
        if name in PARAMETERS:
            for tag in ("steering", "wheels"):
                for child in element.named(tag)[-1:]:
                    if name in child.attributes:
                        return child
        return element

    def _set(self, element: Element, name: str, value: str | None) -> Iterator[Patch]:
        there = element.attributes.get(name)
        if there is None and value is not None:
            quote = self.quote
            text = f" {name}={quote}{self.escaped(value, quote)}{quote}"
            yield self.put(Span(element.name_end, element.name_end), text)
        elif there is not None and value is None:
            yield self.put(there.whole, "")
        elif there is not None and value is not None:
            stripped = _stripped(self.text, there.value)
            yield self.put(stripped, self.escaped(value, there.quote))

    def _listed(
        self, element: Element, tag: str, old: list[Row], new: list[Row], staying: list[Element]
    ) -> Iterator[Patch]:
        """Patch all children of a tag; of a tag that may occur once, the last one takes effect."""
        there = element.named(tag)
        if not CHILDREN[tag].many:
            there = there[-1:]
            old = old if there else []
        if len(there) != len(old):
            raise Unpatchable
        after, before = self._neighbours(element, tag, there, staying)
        for i, j in pair_entries(old, new):
            if i is not None and j is not None:
                yield from self._changed(there[i], old[i], new[j])
                after = there[i]
            elif i is not None:
                yield self.cut(there[i].whole)
            elif j is not None:
                yield self._insert(after, before, self._child(new[j], element.prefix))

    def _neighbours(
        self, element: Element, tag: str, there: list[Element], staying: list[Element]
    ) -> tuple[Element | None, Element | None]:
        """Child after which the first child of a tag is inserted, else the child before which it is."""
        if there:
            return None, there[0]
        if element.empty or not staying:
            raise Unpatchable
        known = [child for child in staying if RANKS.get(child.name, len(RANKS)) < RANKS[tag]]
        return (known[-1], None) if known else (None, staying[0])

    def _changed(self, element: Element, old: Row, new: Row) -> Iterator[Patch]:
        for name in dict.fromkeys([*old.attributes, *new.attributes]):
            if old.attributes.get(name) != new.attributes.get(name):
                yield from self._set(element, name, new.attributes.get(name))
        if old.text != new.text and new.text is not None:
            text = self.escaped(new.text)
            if element.empty:
                open_ = self.text[element.head.start : element.head.end].removesuffix("/>").rstrip()
                yield self.put(element.head, f"{open_}>{text}</{element.tag}>")
            elif "<" in self.text[element.inner.start : element.inner.end]:
                yield self.put(element.inner, text)
            else:
                yield self.put(_stripped(self.text, element.inner), text)

    def _insert(self, after: Element | None, before: Element | None, text: str) -> Patch:
        """Insert a child after or before another, on its own line if the other has one."""
        beside = after or before
        assert beside is not None
        indent, newline = self._indent(beside), self.buffer.newline
        if after is not None:
            rest = REST_OF_LINE.match(self.text, after.whole.end)
            if indent is None or rest is None:
                return self.put(Span(after.whole.end, after.whole.end), text)
            return self.put(Span(rest.end(), rest.end()), f"{newline}{indent}{text}")
        start = beside.whole.start
        if indent is None:
            return self.put(Span(start, start), text)
        start -= len(indent)
        return self.put(Span(start, start), f"{indent}{text}{newline}")

    def _child(self, row: Row, prefix: str, attributes: str = "", content: str = "") -> str:
        start = f"<{prefix}{row.tag}{self._written(row.attributes)}{attributes}"
        if row.text is None and not content:
            return start + self.close
        return f"{start}>{self.escaped(row.text or '')}{content}</{prefix}{row.tag}>"

    def _written(self, attributes: Attributes) -> str:
        quote = self.quote
        listed = ((name, value) for name, value in attributes.items() if value is not None)
        return "".join(f" {name}={quote}{self.escaped(value, quote)}{quote}" for name, value in listed)

    def block(self, item: TrafficObject, prefix: str) -> str:
        """Text of an object without its indentation."""
        outer, inner = self.indents
        newline, extras, seen = self.buffer.newline, Extras(item.extensions), Counter[str]()
        children = list[str]()
        for row in rows_of(item):
            seen[row.tag] += 1
            path = f"{row.tag}[{seen[row.tag]}]"
            children.append(self._child(row, prefix, extras.attributes(path), "".join(extras.elements(path))))
        before = "" if inner is None else newline + inner
        last = "" if inner is None else newline + (outer or "")
        head = f"<{prefix}object{self._written(own_attributes(item))}{extras.attributes()}>"
        parts = [before + child for child in (*children, *extras.elements())]
        return "".join([head, *parts, last, f"</{prefix}object>"])

    def cut(self, span: Span, *, lines_before: bool = False) -> Patch:
        """Remove an element with its line, and optionally the blank lines before it."""
        start = LINE_START.search(self.text, 0, span.start)
        rest = REST_OF_LINE.match(self.text, span.end)
        if start is None or rest is None:
            return self.put(span, "")
        follows = NEXT_LINE.match(self.text, rest.end())
        begin, end = start.start(), rest.end() if follows is None else follows.end()
        if lines_before:
            blank = BLANK_LINES.search(self.text, 0, begin)
            first = NEXT_LINE.match(self.text, blank.start()) if blank is not None else None
            begin = begin if first is None else first.end()
        return self.put(Span(begin, end), "")

    # --- the file ----------------------------------------------------------------------------------------------------
    def removals(self, rows: Iterable[int]) -> Iterator[Patch]:
        """Remove objects."""
        for row in sorted(rows):
            if self.lone:
                prefix = self.root.prefix
                yield self.put(self.root.whole, f"<{prefix}object_file>{self.buffer.newline}</{prefix}object_file>")
            else:
                yield self.cut(self.objects[row].whole, lines_before=True)

    def retitled(self, name: str) -> Iterator[Patch]:
        """Change the name of the file's contents."""
        if self.lone:
            raise Unpatchable
        named = self.root.named("name")
        if named:
            yield from self._changed(named[-1], Row("name", {}, None), Row("name", {}, name))
        elif self.root.children:
            yield self._insert(None, self.root.children[0], self._child(Row("name", {}, name), self.root.prefix))
        else:
            raise Unpatchable

    def additions(self, added: Sequence[Addition], objects: Sequence[TrafficObject]) -> Iterator[Patch]:
        """Append new objects."""
        newline = self.buffer.newline
        outer = self.indents[0]
        prefix = self.root.prefix
        texts = [self._copy(one, objects) if one.like is not None else self.block(one.item, prefix) for one in added]
        if self.lone:
            start, end = self.root.whole
            yield self.put(Span(start, start), f"<{prefix}object_file>{newline}")
            tail = "".join(f"{newline}{newline}{text}" for text in texts)
            yield self.put(Span(end, end), f"{tail}{newline}</{prefix}object_file>")
            return
        gap = self._gap(outer)
        last = (self.objects or self.root.children)[-1:]
        if self.root.empty:
            open_ = self.text[self.root.head.start : self.root.head.end].removesuffix("/>").rstrip()
            body = "".join(f"{newline}  {text}" for text in texts)
            yield self.put(self.root.head, f"{open_}>{body}{newline}</{self.root.tag}>")
        elif last:
            rest = REST_OF_LINE.match(self.text, last[0].whole.end)
            end = last[0].whole.end if rest is None or outer is None else rest.end()
            yield self.put(Span(end, end), "".join(gap + text for text in texts))
        else:
            inner = self.root.inner
            yield self.put(inner, self.text[inner.start : inner.end].rstrip() + "".join(
                f"{newline}  {text}" for text in texts) + newline)  # fmt: skip

    def _gap(self, outer: str | None) -> str:
        """Text between objects, as between the last two if that is blank."""
        if len(self.objects) > 1:
            between = self.text[self.objects[-2].whole.end : self.objects[-1].whole.start]
            if not between.strip():
                return between
        if outer is None:
            return ""
        return (2 if self.objects else 1) * self.buffer.newline + outer

    def _copy(self, one: Addition, objects: Sequence[TrafficObject]) -> str:
        """Duplicate the text of an object, and patch what differs."""
        assert one.like is not None
        source = self.objects[one.like]
        part = SourceBuffer(self.text[source.whole.start : source.whole.end], self.buffer.codec)
        root = scan(part.text)
        assert root is not None
        try:
            return part.patched(_Patcher(part, root).changes(root, objects[one.like], one.item)).text
        except Unpatchable:
            return self.block(one.item, source.prefix)


def _stripped(text: str, span: Span) -> Span:
    """Strip blanks from both ends of a range."""
    inner = text[span.start : span.end]
    if not inner.strip():
        return span
    return Span(span.start + len(inner) - len(inner.lstrip()), span.end - (len(inner) - len(inner.rstrip())))
