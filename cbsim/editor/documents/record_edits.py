"""Patches of version 1 object files: values within their records, new records in the style of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from cbsim.editor.documents.edits import Addition, Edit, Unpatchable, pair_entries
from cbsim.editor.documents.record_spans import Entry, RecordText
from cbsim.editor.documents.source_buffer import Patch, SourceBuffer
from cbsim.formats.objects_v1.writer import write
from cbsim.spec.objects import Kind, ObjectFile, TrafficObject

__all__ = ["patches"]

Group = tuple[Entry, ...]

LISTS = {"a waypoint": "goals", "angle": "script", "the sensor's conf file": "sensors"}
"""Role of the last record of a list entry → the list."""
FIRSTS = ("speed", "the sensor type")
"""Roles of the first record of a list entry."""


def patches(
    buffer: SourceBuffer, objects: Sequence[TrafficObject], edit: Edit, *, rewrite: bool = False
) -> list[Patch]:
    """Convert an edit to patches; parameters as in `cbsim.editor.documents.xml_edits.patches`."""
    patcher = _Patcher(buffer, objects)
    found = list[Patch]()
    for row, item in edit.changed.items():
        own = patcher.entries[row]
        if rewrite:
            found.append(patcher.replaced(own, item))
        else:
            found += patcher.changes(own, objects[row], item)
    found += [patcher.cut(patcher.entries[row]) for row in sorted(edit.removed)]
    if edit.name is not None:
        raise Unpatchable
    if edit.added:
        found.append(patcher.additions(edit.added))
    total = len(objects) + len(edit.added) - len(edit.removed)
    if total != len(objects):
        found += patcher.put(patcher.sheet.count(), (str(total),))
    return found


class _Patcher:
    """Creates patches of a version 1 file."""

    def __init__(self, buffer: SourceBuffer, objects: Sequence[TrafficObject]) -> None:
        self.buffer, self.objects = buffer, objects
        self.sheet = RecordText(buffer.text)
        self.entries = [self.sheet.trace(item.location.line or 0) for item in objects]
        if not all(self.entries):
            raise Unpatchable

    # --- style -------------------------------------------------------------------------------------------------------
    @cached_property
    def _styles(self) -> dict[tuple[str, str], Counter[tuple[str, str]]]:
        """(kind of object or empty, role) → text around the values on their lines, with counts."""
        styles: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
        for item, own in zip(self.objects, self.entries, strict=True):
            for entry in own:
                for kind in (str(item.kind), ""):
                    styles.setdefault((kind, entry.role), Counter())[self.sheet.around([entry])] += 1
        return styles

    def _line(self, kind: Kind, entry: Entry, usual: str) -> str:
        """Format a record in the most common style of its role, else with a default comment."""
        for key in ((str(kind), entry.role), ("", entry.role)):
            if key in self._styles:
                before, after = self._styles[key].most_common(1)[0][0]
                return before + " ".join(entry.texts) + after
        comments = any("//" in after for found in self._styles.values() for _, after in found) or not self._styles
        return " ".join(entry.texts) + (usual if comments else "")

    def block(self, item: TrafficObject) -> list[str]:
        """Lines of an object."""
        sheet, own = _canonical(item)
        return [self._line(item.kind, entry, sheet.around([entry])[1]) for entry in own]

    # --- one object --------------------------------------------------------------------------------------------------
    def changes(self, own: list[Entry], old: TrafficObject, new: TrafficObject) -> Iterator[Patch]:
        """Patch the values of an object in place."""
        (_, before), (sheet, after) = _canonical(old), _canonical(new)
        implied = any(one.role == "the controller" for one in before) and all(
            one.role != "the controller" for one in own
        )
        if implied:  # the published sample's dialect implies the controller, but requires waypoints
            before = _without(before, "the controller")
            after = _without(after, "the controller") if new.goals else after
        if [one.role for one in before] != [one.role for one in own]:
            raise Unpatchable
        there, old_groups, new_groups = _groups(own), _groups(before), _groups(after)
        line = own[0].line
        for i, j in _paired(old_groups, new_groups):
            if i is not None and j is not None:
                for entry, was, will in zip(there[i], old_groups[i], new_groups[j], strict=True):
                    if was.texts != will.texts:
                        yield from self.put(entry, will.texts)
                line = there[i][-1].line
            elif i is not None:
                for entry in there[i]:
                    start, _, following = self.sheet.lines[entry.line]
                    yield Patch(start, self.sheet.text[start:following], "")
            elif j is not None:
                texts = [self._line(new.kind, one, sheet.around([one])[1]) for one in new_groups[j]]
                yield self._insert(line, texts)

    def put(self, entry: Entry, texts: tuple[str, ...]) -> Iterator[Patch]:
        """Patch the values of a record."""
        for (start, end), old, new in zip(entry.spans, entry.texts, texts, strict=True):
            if old != new:
                yield Patch(start, self.sheet.text[start:end], new)

    def _insert(self, line: int, texts: Sequence[str]) -> Patch:
        """Insert lines after a line."""
        newline = self.buffer.newline
        return Patch(self.sheet.lines[line].end, "", "".join(newline + text for text in texts))

    def replaced(self, own: list[Entry], item: TrafficObject) -> Patch:
        """Rewrite the lines of an object."""
        start, end = self.sheet.lines[own[0].line].start, self.sheet.lines[own[-1].line].end
        return Patch(start, self.sheet.text[start:end], self.buffer.newline.join(self.block(item)))

    def cut(self, own: list[Entry]) -> Patch:
        """Remove an object with the blank lines before it."""
        first = own[0].line
        while first > 0 and self.sheet.is_blank(first - 1):
            first -= 1
        start, end = self.sheet.lines[first].start, self.sheet.lines[own[-1].line].next
        return Patch(start, self.sheet.text[start:end], "")

    # --- the file ----------------------------------------------------------------------------------------------------
    def additions(self, added: Sequence[Addition]) -> Patch:
        """Append new objects."""
        last = self.entries[-1][-1] if self.entries else self.sheet.count()
        lines = list[str]()
        for one in added:
            lines += [*[""] * self._gap, *(self._copy(one) if one.like is not None else self.block(one.item))]
        return self._insert(last.line, lines)

    @property
    def _gap(self) -> int:
        """Number of blank lines between objects, as between the last two."""
        if len(self.entries) < 2:
            return 1
        between = range(self.entries[-2][-1].line + 1, self.entries[-1][0].line)
        return len(between) if all(self.sheet.is_blank(line) for line in between) else 1

    def _copy(self, one: Addition) -> list[str]:
        """Duplicate the text of an object, and patch what differs."""
        assert one.like is not None
        own, item = self.entries[one.like], self.objects[one.like]
        start, end = self.sheet.lines[own[0].line].start, self.sheet.lines[own[-1].line].end
        part = SourceBuffer(self.sheet.text[start:end], self.buffer.codec)
        first = replace(item, location=item.location._replace(line=1))
        patcher = _Patcher(part, [first])
        copied = RecordText(part.patched(patcher.changes(patcher.entries[0], first, one.item)).text)
        return [copied.text[line.start : line.end] for line in copied.lines]


def _canonical(item: TrafficObject) -> tuple[RecordText, list[Entry]]:
    """Write an object with the format's writer, and locate its records."""
    sheet = RecordText(write(ObjectFile("", (item,), 1)))
    return sheet, sheet.trace(sheet.records[1].line)


def _without(entries: list[Entry], role: str) -> list[Entry]:
    return [entry for entry in entries if entry.role != role]


def _groups(entries: Sequence[Entry]) -> list[Group]:
    """Group the records of each list entry; other records stay single."""
    groups, open_ = list[Group](), list[Entry]()
    for entry in entries:
        if open_ or entry.role in FIRSTS:
            open_.append(entry)
            if entry.role in LISTS:
                groups.append(tuple(open_))
                open_ = []
        else:
            groups.append((entry,))
    return groups


def _paired(old: Sequence[Group], new: Sequence[Group]) -> Iterator[tuple[int | None, int | None]]:
    """Pair records before and after by role, and list entries with `pair_entries`."""
    keys = [[_key(group) for group in groups] for groups in (old, new)]
    done = set[int]()
    for j, key in enumerate(keys[1]):
        if j in done:
            continue
        rows = [i for i, other in enumerate(keys[0]) if other == key]
        others = [k for k, other in enumerate(keys[1]) if other == key]
        done.update(others)
        for i, k in pair_entries([_texts(old[i]) for i in rows], [_texts(new[k]) for k in others]):
            yield (None if i is None else rows[i]), (None if k is None else others[k])
    for i, key in enumerate(keys[0]):
        if key not in keys[1]:
            yield i, None


def _key(group: Group) -> str:
    return LISTS.get(group[-1].role, group[-1].role) if len(group) > 1 else group[0].role


def _texts(group: Group) -> list[tuple[str, ...]]:
    return [entry.texts for entry in group]
