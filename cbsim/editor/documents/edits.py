"""Edits of the objects in a file, independent of their representation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import NamedTuple, TypeVar

from cbsim.spec.objects import TrafficObject

__all__ = ["Addition", "Edit", "Unpatchable", "pair_entries"]

Entry = TypeVar("Entry")


class Unpatchable(Exception):  # noqa: N818  (nothing is wrong: the object has to be written rewrite)
    """The values of an object cannot be located in the text."""


class Addition(NamedTuple):
    """A new object, and the row of the object it duplicates, if any."""

    item: TrafficObject
    like: int | None = None


@dataclass(frozen=True)
class Edit:
    """One edit of a file.

    Attributes
    ----------
    label : str
        Description for the user, such as ``move``.
    changed : mapping
        Row of an object → its new value.
    added : tuple of Addition
        New objects, appended.
    removed : frozenset of int
        Rows of removed objects.
    name : str or None
        New name of the file's contents.
    """

    label: str
    changed: Mapping[int, TrafficObject] = field(default_factory=dict)
    added: tuple[Addition, ...] = ()
    removed: frozenset[int] = frozenset()
    name: str | None = None

    def applied(self, objects: Sequence[TrafficObject]) -> tuple[TrafficObject, ...]:
        """Return the objects after the edit."""
        kept = (self.changed.get(row, item) for row, item in enumerate(objects) if row not in self.removed)
        return (*kept, *(addition.item for addition in self.added))


def pair_entries(old: Sequence[Entry], new: Sequence[Entry]) -> Iterator[tuple[int | None, int | None]]:
    """Pair the entries of a list before and after an edit: equal ones first, then those between them in order.

    Yields
    ------
    tuple of (int or None, int or None)
        Rows before and after, in the order of the new list; None for an inserted or removed entry.
    """
    keys: dict[str, int] = {}
    first, second = ([keys.setdefault(repr(entry), len(keys)) for entry in entries] for entries in (old, new))
    for tag, i, j, k, m in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from zip(range(i, j), range(k, m), strict=True)
            continue
        both = min(j - i, m - k)
        yield from zip(range(i, i + both), range(k, k + both), strict=True)
        yield from ((row, None) for row in range(i + both, j))
        yield from ((None, row) for row in range(k + both, m))
