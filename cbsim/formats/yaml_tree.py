"""Tree of located values of a YAML document, shared by reading, overriding and locating.

Scalars follow the YAML 1.2 core schema, so that ``no`` is a word, ``1e3`` a number and ``010`` ten. Merge keys are
flattened; tags, repeated keys and keys that are not text are problems.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

import yaml

from cbsim.errors import Location, Problems
from cbsim.formats.reader import DEPTH_LIMIT, Source, yaml_lines
from cbsim.formats.values import quote
from cbsim.spec.number import Written

__all__ = [
    "ITEM_LIMIT",
    "Item",
    "Scalar",
    "index_in",
    "is_small",
    "locate",
    "names_in",
    "plain",
    "set_item",
    "shown",
    "tree",
    "typed",
]

ITEM_LIMIT = 200_000  # values of one document, aliases counted as often as they are used

Scalar = str | int | float | bool | None

WORDS: dict[str, Scalar] = {"": None, "~": None, "null": None, "true": True, "false": False}
INTEGER = re.compile(r"[-+]?[0-9]{1,4000}")  # longer ones are refused by int()
BASED = re.compile(r"0o[0-7]{1,4000}|0x[0-9a-fA-F]{1,4000}")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
ENDLESS = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
STANDARD = "tag:yaml.org,2002:"
RESOLVER = yaml.resolver.Resolver()
MERGE = STANDARD + "merge"
TAGS = frozenset(
    STANDARD + name for name in ("str", "int", "float", "bool", "null", "timestamp", "merge", "value", "map", "seq")
)


NO_KEYS: Mapping[str, Location] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Item:
    """One value of a document.

    Attributes
    ----------
    value : scalar, list of Item, or dict of Item
        The value.
    location : Location
        Where it begins.
    keys : dict
        Of a mapping: the place of each key.
    unquoted : bool
        A scalar whose text decides its type.
    """

    value: Scalar | list[Item] | dict[str, Item]
    location: Location
    keys: Mapping[str, Location] = field(default_factory=lambda: NO_KEYS)
    unquoted: bool = False


def typed(text: str) -> Scalar:
    """Give an unquoted scalar its type; numbers with a fraction remember their text."""
    word = text if text in ("True", "False", "Null", "TRUE", "FALSE", "NULL") else ""
    if text in WORDS or word:
        return WORDS[(word or text).lower()]
    if INTEGER.fullmatch(text):
        return int(text)
    if BASED.fullmatch(text):
        return int(text, 0)
    if FLOAT.fullmatch(text):
        number = float(text)
        return number if abs(number) == float("inf") else Written(text)
    if ENDLESS.fullmatch(text):
        return float(text.replace(".", ""))
    return text


def shown(value: object) -> str:
    """Write a value for a message: scalars in quotes and short, numbers as the file wrote them."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a mapping"
    if isinstance(value, Written):
        return quote(value.text)
    words = {None: "null", True: "true", False: "false"}
    return quote(words[value] if value is None or isinstance(value, bool) else str(value))


class _Builder:
    """Turns YAML nodes into items, each aliased node once."""

    def __init__(self, source: Source, problems: Problems) -> None:
        self.path = source.path
        self.problems = problems
        self.done: dict[int, tuple[Item, int]] = {}
        self.line_of = yaml_lines(source.text)
        text = source.text
        self.last_line = 1 + text.count("\n") + text.count("\r") - text.count("\r\n")

    def place(self, node: yaml.Node) -> Location:
        mark = node.start_mark
        if not mark:
            return Location(self.path)
        line = self.line_of(mark.line + 1)
        if line > self.last_line:  # where nothing follows '---' at the end of the text
            return Location(self.path, self.last_line)
        return Location(self.path, line, mark.column + 1)

    def build(self, node: yaml.Node) -> tuple[Item, int]:
        """Return the item and the depth below it, which aliases may add up."""
        if id(node) not in self.done:
            self.done[id(node)] = self._build(node)
        return self.done[id(node)]

    def _build(self, node: yaml.Node) -> tuple[Item, int]:
        place = self.place(node)
        if node.tag not in TAGS:
            self.problems.error("E808", f"the tag {shown(node.tag)} is not accepted", place, "leave the tag away")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, place)
        if isinstance(node, yaml.SequenceNode):
            built = [self.build(child) for child in node.value]
            return Item([item for item, _ in built], place), 1 + max((below for _, below in built), default=0)
        assert isinstance(node, yaml.ScalarNode)
        return _scalar(node, place), 1

    def _mapping(self, node: yaml.MappingNode, at: Location) -> tuple[Item, int]:
        own: dict[str, Item] = {}
        keys: dict[str, Location] = {}
        merged: list[Item] = []
        deepest = 0
        for key, child in node.value:
            place = self.place(key)
            item, below = self.build(child)
            deepest = max(deepest, below)
            if key.tag == MERGE:
                merged.extend(self._merged(item))
            elif not isinstance(key, yaml.ScalarNode):
                self.problems.error("E808", "a key must be text, not a list or a mapping", place)
            elif key.value in own:
                first = keys[key.value]
                self.problems.error("E802", f"the key {shown(key.value)} stands twice", place, also=first)
            else:
                own[key.value], keys[key.value] = item, place
        if merged:
            own, keys = _merge(merged, own, keys)
        return Item(own, at, keys), 1 + deepest

    def _merged(self, item: Item) -> list[Item]:
        bases = item.value if isinstance(item.value, list) else [item]
        good = [base for base in bases if isinstance(base.value, dict)]
        if len(good) < len(bases):
            self.problems.error("E808", "'<<' merges a mapping or a list of mappings", item.location)
        return good


def _merge(
    bases: Sequence[Item], own: dict[str, Item], keys: dict[str, Location]
) -> tuple[dict[str, Item], dict[str, Location]]:
    """Merge mappings: a mapping's own keys win, then those of the first base; bases are laid down from the last on."""
    values: dict[str, Item] = {}
    places: dict[str, Location] = {}
    for base in reversed(bases):
        assert isinstance(base.value, dict)
        values.update(base.value)
        places.update(base.keys)
    return {**values, **own}, {**places, **keys}


def _scalar(node: yaml.ScalarNode, place: Location) -> Item:
    """Type a scalar; ``!!str 5`` is text although it is not quoted."""
    value = node.value if node.style else typed(node.value)
    if not isinstance(value, str) and _forced_to_text(node):
        return Item(node.value, place)
    return Item(value, place, unquoted=not node.style)


def _forced_to_text(node: yaml.ScalarNode) -> bool:
    if node.tag != STANDARD + "str":
        return False
    implied = RESOLVER.resolve(yaml.ScalarNode, node.value, (True, False))  # type: ignore[no-untyped-call]
    return bool(implied != node.tag)


def tree(node: yaml.Node, source: Source, problems: Problems) -> Item | None:
    """Turn a node graph into a tree of items.

    Returns
    -------
    Item or None
        None if aliases make it too deep (E022) or too large (E023).
    """
    item, depth = _Builder(source, problems).build(node)
    if depth > DEPTH_LIMIT:
        problems.error("E022", f"YAML is nested deeper than {DEPTH_LIMIT}", item.location)
        return None
    return item if is_small(item, problems) else None


def is_small(item: Item, problems: Problems) -> bool:
    """Return whether a tree has few enough values, whatever is shared counted as often as it is used; else E023."""
    if _size(item, {}) <= ITEM_LIMIT:
        return True
    problems.error("E023", f"YAML has more than {ITEM_LIMIT} values", item.location)
    return False


def _children(item: Item) -> Iterable[Item]:
    if isinstance(item.value, dict):
        return item.value.values()
    return item.value if isinstance(item.value, list) else ()


def _size(item: Item, sizes: dict[int, int]) -> int:
    """Count values; values shared by several items are counted once per item but visited once."""
    if not isinstance(item.value, list | dict):
        return 1
    if id(item.value) not in sizes:
        sizes[id(item.value)] = 1 + sum(_size(child, sizes) for child in _children(item))
    return sizes[id(item.value)]


def plain(item: Item) -> Any:
    """Strip the places: mappings, lists and scalars as Python has them."""
    if isinstance(item.value, dict):
        return {key: plain(child) for key, child in item.value.items()}
    if isinstance(item.value, list):
        return [plain(child) for child in item.value]
    return item.value


def locate(item: Item, path: Sequence[str | int], *, key: bool = False) -> Location:
    """Find the place of a key path, or of the deepest part of it that exists.

    Parameters
    ----------
    item : Item
        The root.
    path : sequence of str or int
        Keys and list indices; ``x``, ``y``, ``z`` also name the items of a list of three.
    key : bool
        The place of the last key instead of its value's.
    """
    place = item.location
    for number, part in enumerate(path, 1):
        child = child_of(item, str(part))
        if child is None:
            break
        place = item.keys.get(str(part), child.location) if key and number == len(path) else child.location
        item = child
    return place._replace(inside=".".join(map(str, path)))


def child_of(item: Item, name: str) -> Item | None:
    """Look one step down a key path."""
    if isinstance(item.value, dict):
        return item.value.get(name)
    if isinstance(item.value, list):
        index = index_in(item, name)
        return None if index is None else item.value[index]
    return None


def index_in(item: Item, name: str) -> int | None:
    """Find an entry of a list by a step of a key path: its number, or else its name."""
    assert isinstance(item.value, list)
    index = list_index(name, len(item.value))
    return next((n for n, one in enumerate(names_in(item)) if one == name), None) if index is None else index


def names_in(item: Item) -> list[str]:
    """Names of the entries of a list, where they have one: their key `name`, else their file's without ending."""
    entries = (one.value for one in item.value) if isinstance(item.value, list) else ()
    return [_name_of(entry) for entry in entries]


def _name_of(entry: object) -> str:
    if not isinstance(entry, dict):
        return ""
    named = [entry[key].value for key in ("name", "file") if key in entry]
    if not named or not isinstance(named[0], str):
        return ""
    return named[0] if "name" in entry else PurePosixPath(named[0]).stem


def list_index(name: str, length: int) -> int | None:
    """Read a list index out of a key path; the axes name the items of a list of three."""
    axis = "xyz".find(name) if len(name) == 1 and length == 3 else -1
    index = axis if axis >= 0 else int(name) if name.isdecimal() and len(name) < 9 else length
    return index if index < length else None


def set_item(item: Item, path: Sequence[str], new: Item, expand: Callable[[Item, Sequence[str]], Item]) -> Item:
    """Copy a tree with one value replaced or added; what aliases share elsewhere stays as it was.

    Parameters
    ----------
    expand : callable
        Given an item that is neither mapping nor list and the rest of the path: the mapping it is short for.
    """
    if not path:
        return new
    head, rest = path[0], path[1:]
    if not isinstance(item.value, dict | list):
        item = expand(item, path)
    child = child_of(item, head) or Item(None, new.location)
    changed = set_item(child, rest, new, expand)
    if isinstance(item.value, list):
        index = index_in(item, head)
        return replace(item, value=[changed if i == index else old for i, old in enumerate(item.value)])
    assert isinstance(item.value, dict)
    keys = {**item.keys, head: item.keys.get(head, new.location)}
    return replace(item, value={**item.value, head: changed}, keys=keys)
