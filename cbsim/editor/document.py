"""`Document`: an object file with its history, what it says and what is wrong with it; it needs no window.

The text is the truth. A step of work is worked out as changes of the text, the changed text is read by the format's
own reader, and what it says must be what was asked for; so what is shown is what the file will give when it is run,
every complaint has its line, and undoing gives back the very bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cbsim.editor import record_edits, xml_edits
from cbsim.editor.edits import Edit, Unpatchable
from cbsim.editor.manuscript import Manuscript, Patch, inverse
from cbsim.errors import FileError, Location, Problem, Problems, Severity, UsageError
from cbsim.export.objects import to_v1, to_v2
from cbsim.formats import objects, objects_v1, read_as
from cbsim.formats.objects_extensions import text_of
from cbsim.formats.reader import Source
from cbsim.paths import Files
from cbsim.spec.objects import ObjectFile, TrafficObject
from cbsim.spec.road import RoadNetwork

__all__ = ["Document", "version_of"]

FORMATS = {1: objects_v1, 2: objects}
EDITS = {1: record_edits, 2: xml_edits}
EMPTY = {
    1: "0 // number of objects\n",
    2: '<?xml version="1.0" encoding="UTF-8"?>\n<object_file>\n  <name>{name}</name>\n</object_file>\n',
}
"""What a new file begins as."""
IMPLIED = re.compile(r"(object|mesh) [0-9]+")


@dataclass(frozen=True)
class Step:
    """A step of the history: what it did, and the changes of text that do it and undo it."""

    label: str
    done: tuple[Patch, ...]
    undone: tuple[Patch, ...]


class Document:
    """An object file that is being changed.

    Parameters
    ----------
    path : Path
        Where it is saved.
    data : bytes
        What it holds.
    version : int
        Of its format.

    Raises
    ------
    FileError
        If what it holds is so broken that objects of it are missing: its text has to be mended first.

    Attributes
    ----------
    spec : ObjectFile
        What it says.
    problems : Problems
        What its reader has to say to that.
    manuscript : Manuscript
        Its text.
    """

    spec: ObjectFile
    problems: Problems

    def __init__(self, path: Path, data: bytes, version: int) -> None:
        self.path, self.version = path, version
        self.manuscript = Manuscript.decode(data)
        self._done: list[Step] = []
        self._undone: list[Step] = []
        found = self._read(self.manuscript)
        self.spec, self.problems = found
        self._check_text()

    @classmethod
    def open(cls, path: Path, files: Files) -> Document:
        """Open a file.

        Raises
        ------
        FileError
            If it cannot be read, or is no object file.
        """
        problems = Problems()
        reading = read_as(("objects-v1", "objects-v2"), path, files, problems)
        if reading is None or reading.spec is None:
            raise FileError(problems)
        return cls(path, reading.source.data, 1 if reading.format.name == "objects-v1" else 2)

    @classmethod
    def new(cls, path: Path, version: int | None = None) -> Document:
        """Begin a file; its name chooses the version where none is named: ``.obj`` is version 1."""
        chosen = version or (1 if path.suffix.lower() == ".obj" else 2)
        text = EMPTY[chosen].format(name=text_of(path.stem))
        return cls(path, text.encode("utf-8"), chosen)

    # --- what it says ------------------------------------------------------------------------------------------------
    @property
    def objects(self) -> tuple[TrafficObject, ...]:
        """Its objects."""
        return self.spec.objects

    @property
    def data(self) -> bytes:
        """Its bytes."""
        return self.manuscript.data

    def line(self, number: int) -> str:
        """Text of a line, counted from 1, without blanks around it."""
        lines = (text for other, text in Source("", self.manuscript.text, b"").lines() if other == number)
        return next(lines, "").strip()

    def _read(self, manuscript: Manuscript) -> tuple[ObjectFile, Problems]:
        problems = Problems()
        source = Source.decode(self.path, manuscript.data)
        spec = FORMATS[self.version].read(source, problems)
        if spec is None:
            raise FileError(problems)
        return spec, problems

    def _check_text(self) -> None:
        """Refuse a file in which objects are lost, or whose values have no places that can be told."""
        if self.version == 1 and (self.spec.broken or any(one.code in {"E620", "E621"} for one in self.problems)):
            raise FileError(self.problems)
        try:
            EDITS[self.version].patches(self.manuscript, self.objects, Edit(""))
        except Unpatchable:
            place = Location(str(self.path), 1)
            message = "the values of this file have no places that could be told; it cannot be edited"
            raise FileError(Problem(Severity.ERROR, "E670", message, place)) from None

    # --- history -----------------------------------------------------------------------------------------------------
    @property
    def undoable(self) -> str:
        """What undoing would undo; empty where there is nothing."""
        return self._done[-1].label if self._done else ""

    @property
    def redoable(self) -> str:
        """What doing again would do; empty where there is nothing."""
        return self._undone[-1].label if self._undone else ""

    def do(self, edit: Edit) -> None:
        """Do a step of work.

        Raises
        ------
        UsageError
            If the format or the encoding of the file cannot hold what was asked for; nothing has changed then.
        """
        wanted = _kept(edit.applied(self.objects), self.version)
        name = self.spec.name if edit.name is None else edit.name
        trouble: Problems | None = None
        for anew in (False, True):
            try:
                patches = EDITS[self.version].patches(self.manuscript, self.objects, edit, anew=anew)
                patches = [patch for patch in patches if patch.before != patch.after]
                manuscript = self.manuscript.patched(patches)
                spec, problems = self._read(manuscript)
            except (Unpatchable, FileError, ValueError, OverflowError):  # the last two: overlaps, numbers that are none
                continue
            if spec.name == name and _same(_kept(spec.objects, self.version), wanted):
                if patches:
                    self._done.append(Step(edit.label, tuple(patches), inverse(patches)))
                    self._undone.clear()
                self.manuscript, self.spec, self.problems = manuscript, spec, problems
                return
            trouble = problems
        raise UsageError(_reason(trouble, self.problems, self.version))

    def undo(self) -> str:
        """Undo the last step; what it was, empty where there is none."""
        if not self._done:
            return ""
        step = self._done.pop()
        self._undone.append(step)
        self._take(step.undone)
        return step.label

    def redo(self) -> str:
        """Do again what was undone last; what it was, empty where there is nothing."""
        if not self._undone:
            return ""
        step = self._undone.pop()
        self._done.append(step)
        self._take(step.done)
        return step.label

    def _take(self, patches: Sequence[Patch]) -> None:
        self.manuscript = self.manuscript.patched(patches)
        self.spec, self.problems = self._read(self.manuscript)

    # --- versions ----------------------------------------------------------------------------------------------------
    def replaced(self, data: bytes) -> None:
        """Take other bytes as a step of work: what was rescued after a crash.

        Raises
        ------
        FileError
            If they are no such file.
        """
        found = Document(self.path, data, self.version)
        if found.manuscript.codec != self.manuscript.codec or found.manuscript.mark != self.manuscript.mark:
            self._done.clear()  # what was done before is told in another encoding
            self._undone.clear()
            self.manuscript = found.manuscript
        else:
            patches = (Patch(0, self.manuscript.text, found.manuscript.text),)
            self._done.append(Step("recover", patches, inverse(patches)))
            self._undone.clear()
            self.manuscript = self.manuscript.patched(patches)
        self.spec, self.problems = found.spec, found.problems

    def converted(self, path: Path, version: int, network: RoadNetwork | None, problems: Problems) -> Document:
        """Give the same objects as a file elsewhere, in a version; in the same one, it is the same text.

        Parameters
        ----------
        path : Path
            Where it will be saved.
        version : int
        network : RoadNetwork or None
            Lanes by which goals without waypoint are expanded for version 1.
        problems : Problems
            Gets what is lost.

        Raises
        ------
        FileError
            If the version cannot hold it.
        """
        if version == self.version:
            same = Document(path, self.data, version)
            same._done, same._undone = list(self._done), list(self._undone)
            return same
        own = Problems()
        spec = to_v1(self.spec, network, own) if version == 1 else to_v2(self.spec, own)
        problems.extend(own)
        own.raise_if_any()
        return Document(path, FORMATS[version].write(spec).encode("utf-8"), version)


def version_of(path: Path, usual: int) -> int:
    """Tell by a file's name which version it is meant to be."""
    return {".obj": 1, ".xml": 2}.get(path.suffix.lower(), usual)


def _kept(items: Sequence[TrafficObject], version: int) -> tuple[TrafficObject, ...]:
    """Objects as a version keeps them, for comparison.

    Version 1 has no names and no descriptions of sensors; a name that stands in for one is made of the object's place.
    """
    if version == 2:
        return tuple(replace(item, name="") if IMPLIED.fullmatch(item.name) else item for item in items)
    return tuple(
        replace(
            item,
            name="",
            sensors=tuple(replace(one, type_code=one.type_code or 0, description=None) for one in item.sensors),
        )
        for item in items
    )


def _same(found: Sequence[TrafficObject], wanted: Sequence[TrafficObject]) -> bool:
    """Tell whether a file says what was asked for; extensions too, which specs do not compare."""
    return len(found) == len(wanted) and all(
        one == other and _lasting(one) == _lasting(other) for one, other in zip(found, wanted, strict=True)
    )


def _lasting(item: TrafficObject) -> list[str]:
    """Extensions that stay what they are when entries of lists come and go: those of entries go with them."""
    return [text for text in item.extensions if not text.startswith(("goal[", "sensor[", "script["))]


def _reason(found: Problems | None, before: Problems, version: int) -> str:
    """Say why a step could not be done: what the reader says to it that it did not say before."""
    known = {(one.code, one.message) for one in before}
    new = [one for one in found or () if (one.code, one.message) not in known]
    errors = [one for one in new if one.severity is Severity.ERROR] or new
    if errors:
        return errors[0].message
    return f"a file of version {version} has no place for that"
