"""From edits to changes of text, in object files of version 2: attributes and elements in place, new ones in style."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from cbsim.editor.edits import Addition, Edit, Unpatchable, aligned
from cbsim.editor.manuscript import Manuscript, Patch
from cbsim.editor.markup import Element, Span, scan
from cbsim.formats.object_values import PARAMETERS
from cbsim.formats.objects_extensions import Extras, fits_xml, text_of
from cbsim.formats.objects_grammar import CHILDREN
from cbsim.formats.objects_writer import Attributes, Row, own_attributes, rows_of
from cbsim.spec.objects import TrafficObject

__all__ = ["patches"]

RANKS = {tag: rank for rank, tag in enumerate(CHILDREN)}
REST_OF_LINE = re.compile(r"[ \t]*(?:<!--[^\r\n]*?-->[ \t]*)*(?=[\r\n]|\Z)")
NEXT_LINE = re.compile(r"\r\n|\r|\n")
LINE_START = re.compile(r"(?:^|(?<=[\r\n]))[ \t]*\Z")
BLANK_LINES = re.compile(r"(?:(?:\r\n|\r|\n)[ \t]*)*\Z")


def patches(manuscript: Manuscript, objects: Sequence[TrafficObject], edit: Edit, *, anew: bool = False) -> list[Patch]:
    """Find the changes of text that an edit comes to.

    Parameters
    ----------
    manuscript : Manuscript
        The file.
    objects : sequence of TrafficObject
        What it says.
    edit : Edit
        What it shall say.
    anew : bool
        Write changed objects anew, whatever their text is now.
    """
    root = scan(manuscript.text)
    assert root is not None
    page = _Page(manuscript, root)
    found = list[Patch]()
    for row, item in edit.changed.items():
        element = page.objects[row]
        try:
            if anew:
                raise Unpatchable
            found += page.changes(element, objects[row], item)
        except Unpatchable:
            found.append(page.put(element.whole, page.block(item, element.prefix)))
    found += page.removals(edit.removed)
    if edit.name is not None:
        found += page.retitled(edit.name)
    if edit.added:
        found += page.additions(edit.added, objects)
    return found


@dataclass
class _Page:
    """A file of version 2 being changed; everything in it tells changes of its text."""

    manuscript: Manuscript
    root: Element

    @property
    def text(self) -> str:
        return self.manuscript.text

    @property
    def lone(self) -> bool:
        """Whether the file is a single object without its ``object_file``."""
        return self.root.name == "object"

    @cached_property
    def objects(self) -> list[Element]:
        return [self.root] if self.lone else self.root.named("object")

    # --- style -------------------------------------------------------------------------------------------------------
    def _indent(self, element: Element) -> str | None:
        """Blanks before an element that begins its line; None where it does not."""
        match = LINE_START.search(self.text, 0, element.whole.start)
        return None if match is None else match[0]

    def _common(self, found: Iterable[str | None], usual: str) -> str | None:
        ranked = Counter(found).most_common(1)
        return ranked[0][0] if ranked else usual

    @cached_property
    def indents(self) -> tuple[str | None, str | None]:
        """Blanks before objects and before their children; None where they stand on one line."""
        outer = self._common((self._indent(element) for element in self.objects), "")
        if not self.objects:
            outer = self._common((self._indent(child) for child in self.root.children), "  ")
        children = itertools.chain.from_iterable(element.children for element in self.objects)
        return outer, self._common((self._indent(child) for child in children), 2 * (outer or "  "))

    @cached_property
    def quote(self) -> str:
        """The quote of most attributes."""
        return "'" if self.text.count("='") > self.text.count('="') else '"'

    @cached_property
    def close(self) -> str:
        """How elements that are one tag end."""
        return " />" if self.text.count(" />") > self.text.count("/>") // 2 else "/>"

    def escaped(self, text: str, quote: str = "") -> str:
        """Text as content, or as the value of an attribute in quotes; signs the encoding lacks by their numbers."""
        if not fits_xml(text):
            raise Unpatchable
        safe = text_of(text)
        if quote:
            safe = safe.replace("\n", "&#10;").replace("\t", "&#9;")
            safe = safe.replace('"', "&quot;") if quote == '"' else safe.replace("'", "&apos;")
        return safe.encode(self.manuscript.codec, "xmlcharrefreplace").decode(self.manuscript.codec)

    def put(self, span: Span, text: str) -> Patch:
        """Replace a stretch of the text."""
        return Patch(span.start, self.text[span.start : span.end], text)

    # --- one object --------------------------------------------------------------------------------------------------
    def changes(self, element: Element, old: TrafficObject, new: TrafficObject) -> Iterator[Patch]:
        """Change the values of an object where they stand."""
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
        """Element whose attribute counts: a vehicle's parameters may stand at its wheels and its steering as well."""
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
        """Change all children of a tag; of one that may stand once, the last counts."""
        there = element.named(tag)
        if not CHILDREN[tag].many:
            there = there[-1:]
            old = old if there else []
        if len(there) != len(old):
            raise Unpatchable
        after, before = self._neighbours(element, tag, there, staying)
        for i, j in aligned(old, new):
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
        """Child behind which a new one of a tag belongs, if it is the first of them; else the one that it precedes."""
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
        """Write a new child behind another, else before another, on a line of its own where they have one."""
        beside = after or before
        assert beside is not None
        indent, newline = self._indent(beside), self.manuscript.newline
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
        """Write an object, without the blanks before it."""
        outer, inner = self.indents
        newline, extras, seen = self.manuscript.newline, Extras(item.extensions), Counter[str]()
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
        """Take an element out, with its line where it has one, and with the blank lines before it."""
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
        """Take objects out."""
        for row in sorted(rows):
            if self.lone:
                prefix = self.root.prefix
                yield self.put(self.root.whole, f"<{prefix}object_file>{self.manuscript.newline}</{prefix}object_file>")
            else:
                yield self.cut(self.objects[row].whole, lines_before=True)

    def retitled(self, name: str) -> Iterator[Patch]:
        """Name the file."""
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
        """Write new objects behind the last one."""
        newline = self.manuscript.newline
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
        """Tell what stands between objects: as between the last two, where that is blank."""
        if len(self.objects) > 1:
            between = self.text[self.objects[-2].whole.end : self.objects[-1].whole.start]
            if not between.strip():
                return between
        if outer is None:
            return ""
        return (2 if self.objects else 1) * self.manuscript.newline + outer

    def _copy(self, one: Addition, objects: Sequence[TrafficObject]) -> str:
        """Write an object as the one that it is a copy of, but for what differs."""
        assert one.like is not None
        source = self.objects[one.like]
        part = Manuscript(self.text[source.whole.start : source.whole.end], self.manuscript.codec)
        root = scan(part.text)
        assert root is not None
        try:
            return part.patched(_Page(part, root).changes(root, objects[one.like], one.item)).text
        except Unpatchable:
            return self.block(one.item, source.prefix)


def _stripped(text: str, span: Span) -> Span:
    """Leave out blanks at both ends of a stretch."""
    inner = text[span.start : span.end]
    if not inner.strip():
        return span
    return Span(span.start + len(inner) - len(inner.lstrip()), span.end - (len(inner) - len(inner.rstrip())))
