"""Spans of YAML nodes in their text, and patches that keep what stands around them: comments, order, indents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from cbsim.editor.documents.source_buffer import Patch
from cbsim.errors import FileError, Problems, UsageError
from cbsim.formats.reader import Source, read_yaml
from cbsim.formats.yaml_tree import typed
from cbsim.spec.number import number_text

__all__ = ["YamlSpans", "flow_text", "quoted"]

PLAIN = re.compile(r"[^\W\d_](?:[\w .\-/+]*[\w.\-/+])?|[0-9]+\.[0-9]+\.[0-9]+")
"""Scalars that need no quotes, neither in flow nor in block style."""
COMMENT = re.compile(r"(?m)(?:^|[ \t])#")
END = re.compile(r"\r\n|\r|\n|\Z")


def quoted(text: str, style: str | None = None) -> str:
    """Write a text as a YAML scalar, in a style (a quote, or none) where it can have it."""
    if style == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    if not style and PLAIN.fullmatch(text) and typed(text) == text:
        return text
    return json.dumps(text, ensure_ascii=False)


def flow_text(value: Any) -> str:
    """Write plain values in flow style."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)}: {flow_text(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow_text, value)) + "]"
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return quoted(value) if isinstance(value, str) else number_text(value)


class YamlSpans:
    """Nodes of a YAML text, and patches of them.

    Parameters
    ----------
    text : str
        The text, which its reader accepts.
    newline : str
        How lines end.
    """

    def __init__(self, text: str, newline: str = "\n") -> None:
        self.text, self.newline = text, newline
        problems = Problems()
        root = read_yaml(Source("", text, b""), problems)
        if root is None:
            raise FileError(problems)
        self.root: yaml.Node = root

    # --- nodes -------------------------------------------------------------------------------------------------------
    def find(self, node: yaml.Node, *path: str | int) -> yaml.Node | None:
        """Return the node at a path of keys and numbers, or None."""
        here: yaml.Node | None = node
        for part in path:
            if isinstance(here, yaml.MappingNode):
                here = next((value for key, value in here.value if key.value == part), None)
            elif isinstance(here, yaml.SequenceNode) and isinstance(part, int) and part < len(here.value):
                here = here.value[part]
            else:
                return None
        return here

    def walk(self, node: yaml.Node | None, done: set[int] | None = None) -> Iterator[tuple[str, yaml.Node]]:
        """Yield all keys with their values below a node, what aliases share once."""
        done = set() if done is None else done
        if node is None or id(node) in done:
            return
        done.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                yield str(key.value), value
                yield from self.walk(value, done)
        elif isinstance(node, yaml.SequenceNode):
            for value in node.value:
                yield from self.walk(value, done)

    def start(self, node: yaml.Node) -> int:
        """Return where a node begins."""
        return int(node.start_mark.index)

    def end(self, node: yaml.Node) -> int:
        """Return where a node ends, without what a block collection has behind its last value."""
        if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            if isinstance(last, tuple):
                key, last = last
                return max(self.end(last) if self.start(last) < self.end(last) else 0, self.end(key) + 1)
            return self.end(last)
        end = int(node.end_mark.index)
        while isinstance(node, yaml.ScalarNode) and node.style in ("|", ">") and self.text[end - 1] in "\r\n":
            end -= 1
        return end

    def line_end(self, at: int) -> int:
        """Return the beginning of the next line, or the end of the text."""
        found = END.search(self.text, at)
        assert found is not None
        return found.end()

    def line_start(self, at: int) -> int:
        """Return the beginning of a line."""
        return max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1

    def _is_first(self, at: int) -> bool:
        """Return whether only blanks stand before a place in its line."""
        return not self.text[self.line_start(at) : at].strip()

    # --- patches -----------------------------------------------------------------------------------------------------
    def put(self, node: yaml.Node, text: str) -> Patch:
        """Replace a node.

        Raises
        ------
        UsageError
            If it has an anchor, a tag or a parameter, which would get lost.
        """
        start, end = self.start(node), self.end(node)
        before = self.text[start:end]
        if before[:1] in ("&", "*", "!"):
            raise UsageError("the text has an anchor, an alias or a tag there: change it as text")
        if isinstance(node, yaml.ScalarNode) and "${" in node.value:
            raise UsageError(f"the text has the parameter {node.value} there: change it as text")
        if isinstance(node, yaml.CollectionNode):
            if "${" in before and "${" not in text:
                raise UsageError("the text has parameters there, which would get lost: change it as text")
            if COMMENT.search(before):
                raise UsageError("the text has comments there, which would get lost: change it as text")
        return Patch(start, before, text)

    def put_scalar(self, node: yaml.Node, value: str | float) -> Patch:
        """Replace a scalar, in the quotes that it has."""
        style = node.style if isinstance(node, yaml.ScalarNode) else None
        return self.put(node, quoted(value, style) if isinstance(value, str) else number_text(value))

    def put_value(self, owner: yaml.MappingNode, name: str, text: str) -> list[Patch]:
        """Replace the value of a key by a flow text, or add the key behind the others."""
        key, node = next((pair for pair in owner.value if pair[0].value == name), (None, None))
        if key is None or node is None:
            return [self.insert_key(owner, name, text)]
        patch, colon = self.put(node, text), self.text.index(":", self.end(key)) + 1
        gap = self.text[colon : patch.start]
        if gap.strip() or not set(gap) & set("\r\n"):
            return [patch]
        return [Patch(colon, gap + patch.before, " " + text)]

    def insert_key(self, owner: yaml.MappingNode, name: str, text: str, *, first: bool = False) -> Patch:
        """Add a key to a mapping, as its first or its last one."""
        entry = f"{name}: {text}"
        if owner.flow_style:
            if first or not owner.value:
                return Patch(self.start(owner) + 1, "", entry + (", " if owner.value else ""))
            return Patch(self.end(owner.value[-1][1]), "", ", " + entry)
        indent = " " * owner.start_mark.column
        if first:
            return Patch(self.start(owner.value[0][0]), "", entry + self.newline + indent)
        return self._new_lines(self.line_end(self.end(owner)), indent + entry)

    def append_key(self, owner: yaml.MappingNode, lines: Sequence[str]) -> Patch:
        """Append the lines of a key to a mapping in block style."""
        indent = " " * owner.start_mark.column
        return self._new_lines(self.line_end(self.end(owner)), self.newline.join(indent + line for line in lines))

    def _new_lines(self, at: int, text: str) -> Patch:
        """Insert lines at the beginning of a line, or at the end of a text that may lack its last newline."""
        is_open = at > 0 and self.text[at - 1] not in "\r\n"
        return Patch(at, "", self.newline + text if is_open else text + self.newline)

    def append(self, items: yaml.SequenceNode, entries: Sequence[tuple[str, str]]) -> Patch:
        """Append a mapping to a list, written as the last one there is: in flow style, or one key a line."""
        flow = "{" + ", ".join(f"{key}: {text}" for key, text in entries) + "}"
        if not items.value:
            if not items.flow_style:
                raise UsageError("the list is empty: write its first entry as text")
            return Patch(self.start(items) + 1, "", flow)
        last = items.value[-1]
        if items.flow_style:
            at = self.start(last)
            own_line = len(items.value) > 1 and self._is_first(at)
            gap = self.newline + self.text[self.line_start(at) : at] if own_line else " "
            return Patch(self.end(last), "", f",{gap}{flow}")
        indent = " " * items.start_mark.column
        dash = self._dash(items, len(items.value) - 1)
        gap = self.text[dash + 1 : self.start(last)]
        gap = gap if gap.strip(" ") == "" else " "
        if isinstance(last, yaml.MappingNode) and last.flow_style:
            lines = f"{indent}-{gap}{flow}"
        else:
            inner = self.newline + indent + " " + " " * len(gap)
            lines = f"{indent}-{gap}" + inner.join(f"{key}: {text}" for key, text in entries)
        return self._new_lines(self.line_end(self.end(last)), lines)

    def _dash(self, items: yaml.SequenceNode, number: int) -> int:
        """Find the dash of an item of a block list."""
        before = self.end(items.value[number - 1]) if number else self.start(items)
        place = self.start(items.value[number])
        while place >= before:
            line = self.line_start(place)
            dash = line + items.start_mark.column
            if dash >= before and self.text[dash : dash + 1] == "-" and not self.text[line:dash].strip():
                return dash
            place = line - 1
        raise UsageError("the text has no place that could be told there: change it as text")

    def remove(self, owner: yaml.MappingNode, name: str, number: int) -> list[Patch]:
        """Remove an item of the list under a key; comments before it stay."""
        items = self.find(owner, name)
        assert isinstance(items, yaml.SequenceNode)
        node = items.value[number]
        if items.flow_style:
            return self._remove_from_flow(items, number)
        start = self.line_start(self._dash(items, number))
        end = self.line_end(self.end(node))
        patches = [Patch(start, self.text[start:end], "")]
        if len(items.value) == 1:
            key = next(key for key, _ in owner.value if key.value == name)
            patches.append(Patch(self.text.index(":", self.end(key)) + 1, "", " []"))
        return patches

    def _remove_from_flow(self, items: yaml.SequenceNode, number: int) -> list[Patch]:
        nodes = items.value
        start, end = self.start(nodes[number]), self.end(nodes[number])
        if number + 1 < len(nodes):
            end = self.start(nodes[number + 1])
            return [Patch(start, self.text[start:end], "")]
        comma = self._comma(end, self.end(items))
        if comma is None and number:
            comma = self._comma(self.end(nodes[number - 1]), start)
        while start and self.text[start - 1] in " \t" and (comma is None or start - 1 > comma):
            start -= 1
        patches = [Patch(start, self.text[start:end], "")]
        return patches if comma is None else [*patches, Patch(comma, ",", "")]

    def _comma(self, start: int, end: int) -> int | None:
        """Find the comma between two places, outside comments."""
        place = start
        while place < end:
            if self.text[place] == ",":
                return place
            place = self.line_end(place) if self.text[place] == "#" else place + 1
        return None
